package analyze

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/traces"
)

// valueText is a value as people write it in a query: a text as it is, numbers in decimals, the members of an array with
// commas between them.
func valueText(v traces.Value) string {
	switch v.Kind() {
	case traces.ValueString:
		return v.AsString()
	case traces.ValueBool:
		return strconv.FormatBool(v.AsBool())
	case traces.ValueInt:
		return strconv.FormatInt(v.AsInt(), 10)
	case traces.ValueDouble:
		return strconv.FormatFloat(v.AsDouble(), 'g', -1, 64)
	case traces.ValueBytes:
		return base64.StdEncoding.EncodeToString([]byte(v.AsBytes()))
	case traces.ValueArray:
		parts := make([]string, 0, len(v.AsArray()))
		for _, m := range v.AsArray() {
			parts = append(parts, valueText(m))
		}
		return strings.Join(parts, ",")
	case traces.ValueMap:
		parts := make([]string, 0, len(v.AsMap()))
		for _, kv := range v.AsMap() {
			parts = append(parts, kv.Key+":"+valueText(kv.Value))
		}
		return strings.Join(parts, ",")
	default:
		return ""
	}
}
