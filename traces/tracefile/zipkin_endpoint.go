package tracefile

import (
	"net/netip"

	"github.com/waymark-trace/waymark/traces"
)

// zipkinEndpoint is a peer or the service itself.
type zipkinEndpoint struct {
	service, address string
	port             int64
}

// zipkinKeys are the attributes that hold an endpoint.
// Spec: https://github.com/open-telemetry/opentelemetry-specification/blob/v1.60.0/specification/trace/sdk_exporters/zipkin.md#remote-endpoint
type zipkinKeys struct{ service, address, port string }

//nolint:gochecknoglobals // constants
var (
	zipkinLocal  = zipkinKeys{address: "network.local.address", port: "network.local.port"} // the service is the resource's
	zipkinRemote = zipkinKeys{service: "peer.service", address: "network.peer.address", port: "network.peer.port"}
)

func (d *decoder) zipkinEndpoint() (e zipkinEndpoint) {
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		switch key := d.s.Key(); string(key) {
		case "serviceName":
			e.service = d.names.string(d.s.Text())
		case "ipv4", "ipv6":
			text := d.names.string(d.s.Text())
			if text != "" && e.address != "" {
				d.skip("second address of an endpoint")
				continue
			}
			e.address = text
		case "port":
			e.port = d.s.Int64()
		default:
			d.unknown("endpoint", key)
		}
	}
	return e
}

// addTo adds what is known of an endpoint to attributes, in which it may stand as
// tags too.
func (e zipkinEndpoint) addTo(list []traces.Attribute, keys zipkinKeys) []traces.Attribute {
	if e.service != "" {
		list = addToTags(list, keys.service, traces.String(e.service))
	}
	if e.address != "" {
		list = addToTags(list, keys.address, traces.String(e.address))
	}
	if e.port != 0 {
		list = addToTags(list, keys.port, traces.Int(e.port))
	}
	return list
}

// addToTags adds an attribute, in the place of a tag that says the same.
func addToTags(list []traces.Attribute, key string, v traces.Value) []traces.Attribute {
	for i, a := range list {
		if a.Key == key && a.Value.AsString() == valueText(v) {
			list[i].Value = v
			return list
		}
	}
	return append(list, traces.Attribute{Key: key, Value: v})
}

// endpointOf is what an endpoint can hold of the attributes of a span.
func endpointOf(sp *traces.Span, keys zipkinKeys) (e zipkinEndpoint) {
	text := func(key string) string {
		v, _ := sp.Attr(key)
		return v.AsString()
	}
	if keys.service != "" {
		e.service = text(keys.service)
	}
	if address := text(keys.address); address != "" {
		if ip, err := netip.ParseAddr(address); err == nil && ip.Zone() == "" {
			e.address = address
		}
	}
	if v, _ := sp.Attr(keys.port); v.AsInt() > 0 && v.AsInt() < 1<<16 {
		e.port = v.AsInt()
	}
	return e
}
