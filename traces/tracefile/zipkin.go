package tracefile

import (
	"strings"

	"github.com/waymark-trace/waymark/traces"
)

// What Zipkin says of a span and OpenTelemetry has no name for.
const (
	keyZipkinShared = "zipkin.shared" // a server span that has the id of its client's
	keyZipkinDebug  = "zipkin.debug"
)

// zipkin reads a span of Zipkin's v2 JSON. A server span with "shared" has the
// id of its client's span; the caller sees two spans of one id, and the
// attribute zipkin.shared on the second.
func (d *decoder) zipkin() {
	sp := d.beginSpan()
	sp.Kind = traces.KindInternal // which has no name in Zipkin
	var duration uint64
	var local, remote zipkinEndpoint
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
			remote = d.zipkinEndpoint()
		case "shared":
			sp.Attributes = d.zipkinFlag(sp.Attributes, keyZipkinShared)
		case "debug":
			sp.Attributes = d.zipkinFlag(sp.Attributes, keyZipkinDebug)
		default:
			d.unknown("span", key)
		}
	}
	if sp.StartUnixNano > 0 {
		sp.EndUnixNano = after(sp.StartUnixNano, duration)
	} else if duration > 0 {
		d.skip("duration of a span without a start")
	}
	sp.Resource = d.serviceResource(local.service)
	local.service = ""
	sp.Attributes = local.addTo(sp.Attributes, zipkinLocal)
	sp.Attributes = remote.addTo(sp.Attributes, zipkinRemote)
	d.untag(sp)
	d.emit(sp)
}

// zipkinFlag adds an attribute that is true, if the flag is.
func (d *decoder) zipkinFlag(list []traces.Attribute, key string) []traces.Attribute {
	if d.s.Bool() {
		return append(list, traces.Attribute{Key: key, Value: traces.Bool(true)})
	}
	return list
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
