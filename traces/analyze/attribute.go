package analyze

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/traces"
)

// metadata is the attribute that holds a trace's metadata: one JSON object, as OpenInference has it.
const metadata = "metadata"

// AttributeOf returns an attribute of the span, else one of its resource, else, for metadata.KEY, that entry of the span's
// metadata, and whether there is one.
func AttributeOf(span *traces.Span, key string) (traces.Value, bool) {
	if v, ok := span.Attr(key); ok {
		return v, true
	}
	if span.Resource != nil {
		if v, ok := traces.Lookup(span.Resource.Attributes, key); ok {
			return v, true
		}
	}
	entry, ok := strings.CutPrefix(key, metadata+".")
	if !ok {
		return traces.Value{}, false
	}
	held, ok := span.Attr(metadata)
	if !ok {
		return traces.Value{}, false
	}
	if held.Kind() == traces.ValueMap {
		return traces.Lookup(held.AsMap(), entry)
	}
	var entries map[string]json.RawMessage
	if json.Unmarshal([]byte(held.AsString()), &entries) != nil {
		return traces.Value{}, false
	}
	raw, ok := entries[entry]
	return jsonValue(raw), ok
}

// jsonValue is a JSON value as an attribute has it; objects and arrays are text.
func jsonValue(raw json.RawMessage) traces.Value {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return traces.Value{}
	}
	switch v := v.(type) {
	case nil:
		return traces.Value{}
	case string:
		return traces.String(v)
	case bool:
		return traces.Bool(v)
	case float64:
		if i, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
			return traces.Int(i)
		}
		return traces.Double(v)
	}
	return traces.String(string(raw))
}
