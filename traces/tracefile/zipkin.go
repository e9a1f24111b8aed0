package tracefile

import (
	"strings"

	"github.com/waymark-trace/waymark/traces"
)

// zipkin reads a span of Zipkin's v2 JSON. A server span with "shared" has the
// id of its client's span; the caller sees two spans of one id, and the
// attribute zipkin.shared on the second.
func (d *decoder) zipkin() {
	sp := d.beginSpan()
	sp.Kind = traces.KindInternal // which has no name in Zipkin
	var duration uint64
	var local zipkinEndpoint
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		switch key := d.s.Key(); string(key) {
		case "traceId":
			d.need(d.paddedID(sp.TraceID[:], "trace id"))
		case "id":
			d.need(d.paddedID(sp.SpanID[:], "span id"))
		case "parentId":
			d.need(d.paddedID(sp.ParentID[:], "span id"))
		case "name":
			sp.Name = d.names.string(d.s.Text())
		case "kind":
			d.zipkinKind(sp)
		case "timestamp":
			sp.StartUnixNano = micros(d.s.Uint64())
		case "duration":
			duration = micros(d.s.Uint64())
		case "tags":
			sp.Attributes = append(sp.Attributes, d.plainMap(0)...)
		case "annotations":
			sp.Events = d.zipkinAnnotations()
		case "localEndpoint":
			local = d.zipkinEndpoint()
		case "remoteEndpoint":
			remote := d.zipkinEndpoint()
			sp.Attributes = remote.append(sp.Attributes, "peer.service", "network.peer")
		case "shared", "debug":
			name := "zipkin." + string(key)
			if d.s.Bool() {
				sp.Attributes = append(sp.Attributes, traces.Attribute{Key: name, Value: traces.Bool(true)})
			}
		default:
			d.unknown("span", key)
		}
	}
	sp.EndUnixNano = sp.StartUnixNano + duration
	sp.Resource = d.serviceResource(local.service)
	local.service = ""
	sp.Attributes = local.append(sp.Attributes, "", "network.local")
	d.untag(sp)
	d.emit(sp)
}

func (d *decoder) zipkinKind(sp *traces.Span) {
	text := string(d.s.Text())
	if text == "" {
		return
	}
	var ok bool
	if sp.Kind, ok = kindOf(text); !ok {
		d.skip("unknown span kind " + clip(text))
	}
}

func (d *decoder) zipkinAnnotations() (list []traces.Event) {
	for ok := d.s.Begin('['); ok && d.s.More(']'); {
		var e traces.Event
		for ok := d.s.Begin('{'); ok && d.s.More('}'); {
			switch key := d.s.Key(); string(key) {
			case "timestamp":
				e.TimeUnixNano = micros(d.s.Uint64())
			case "value":
				e.Name = d.names.string(d.s.Text())
			default:
				d.unknown("annotation", key)
			}
		}
		list = append(list, e)
	}
	return list
}

// zipkinEndpoint is a peer or the service itself.
type zipkinEndpoint struct {
	service, address string
	port             int64
}

func (d *decoder) zipkinEndpoint() (e zipkinEndpoint) {
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		switch key := d.s.Key(); string(key) {
		case "serviceName":
			e.service = d.names.string(d.s.Text())
		case "ipv4", "ipv6":
			if text := d.names.string(d.s.Text()); text != "" {
				e.address = text
			}
		case "port":
			e.port = d.s.Int64()
		default:
			d.unknown("endpoint", key)
		}
	}
	return e
}

// append adds what is known of an endpoint as attributes.
func (e zipkinEndpoint) append(list []traces.Attribute, service, network string) []traces.Attribute {
	if e.service != "" {
		list = append(list, traces.Attribute{Key: service, Value: traces.String(e.service)})
	}
	if e.address != "" {
		list = append(list, traces.Attribute{Key: network + ".address", Value: traces.String(e.address)})
	}
	if e.port != 0 {
		list = append(list, traces.Attribute{Key: network + ".port", Value: traces.Int(e.port)})
	}
	return list
}

// serviceResource is the shared resource of which only the service is known.
func (d *decoder) serviceResource(name string) *traces.Resource {
	if strings.EqualFold(name, noServiceName) {
		name = ""
	}
	return lookup(&d.shared.mu, d.shared.resources, []byte("service\x00"+name), func() *traces.Resource {
		r := &traces.Resource{}
		if name != "" {
			r.Attributes = []traces.Attribute{{Key: keyServiceName, Value: traces.String(name)}}
		}
		return r
	})
}
