package tracefile

import "github.com/waymark-trace/waymark/traces"

// tracesData reads an OTLP document: TracesData, ExportTraceServiceRequest,
// and Tempo's form of it. The scanner stands before it.
func (d *decoder) tracesData() {
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		switch key := d.s.Key(); string(key) {
		case "resourceSpans", "resource_spans", "batches":
			if d.s.Peek() == '[' {
				d.found(OTLPJSONLines)
			}
			for ok := d.s.Begin('['); ok && d.s.More(']'); {
				d.resourceSpans()
			}
		case "trace", "result": // the answers of Tempo and of Jaeger's third API wrap the document
			if d.s.Peek() != '{' {
				d.s.Skip()
				continue
			}
			d.tracesData()
		default:
			d.unknown("the document", key)
		}
	}
}

// resourceSpans reads spans of one resource, which may come after them.
func (d *decoder) resourceSpans() {
	first := len(d.out)
	var resource, schema []byte
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		switch key := d.s.Key(); string(key) {
		case "resource":
			resource = d.s.Raw()
		case "scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans":
			for ok := d.s.Begin('['); ok && d.s.More(']'); {
				d.scopeSpans()
			}
		case "schemaUrl", "schema_url":
			schema = append(schema, d.s.Text()...)
		default:
			d.unknown("resourceSpans", key)
		}
	}
	if len(d.out) == first || d.s.Err() != nil {
		return
	}
	r := d.resource(resource, schema)
	for _, sp := range d.out[first:] {
		sp.Resource = r
	}
}

func (d *decoder) resource(raw, schema []byte) *traces.Resource {
	key := append(append(append([]byte(nil), schema...), 0), raw...)
	return lookup(&d.shared.mu, d.shared.resources, key, func() *traces.Resource {
		r := &traces.Resource{SchemaURL: string(schema)}
		d.object("resource", raw, func(key []byte) {
			switch string(key) {
			case "attributes":
				r.Attributes = d.attributes(nil)
			case "droppedAttributesCount", "dropped_attributes_count":
				r.DroppedAttributes = d.s.Uint32()
			default:
				d.unknown("resource", key)
			}
		})
		return r
	})
}

func (d *decoder) scopeSpans() {
	first := len(d.out)
	var scope, schema []byte
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		switch key := d.s.Key(); string(key) {
		case "scope", "instrumentationLibrary", "instrumentation_library":
			scope = d.s.Raw()
		case "spans":
			for ok := d.s.Begin('['); ok && d.s.More(']'); {
				d.span()
			}
		case "schemaUrl", "schema_url":
			schema = append(schema, d.s.Text()...)
		default:
			d.unknown("scopeSpans", key)
		}
	}
	if len(d.out) == first || d.s.Err() != nil {
		return
	}
	sc := d.scope(scope, schema)
	for _, sp := range d.out[first:] {
		sp.Scope = sc
	}
}

func (d *decoder) scope(raw, schema []byte) *traces.Scope {
	key := append(append(append([]byte(nil), schema...), 0), raw...)
	return lookup(&d.shared.mu, d.shared.scopes, key, func() *traces.Scope {
		sc := &traces.Scope{SchemaURL: string(schema)}
		d.object("scope", raw, func(key []byte) {
			switch string(key) {
			case "name":
				sc.Name = string(d.s.Text())
			case "version":
				sc.Version = string(d.s.Text())
			case "attributes":
				sc.Attributes = d.attributes(nil)
			case "droppedAttributesCount", "dropped_attributes_count":
				sc.DroppedAttributes = d.s.Uint32()
			default:
				d.unknown("scope", key)
			}
		})
		return sc
	})
}
