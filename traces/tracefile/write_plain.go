package tracefile

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/internal/otlpjson"
	"github.com/waymark-trace/waymark/traces"
)

// appendPlain appends a value in JSON's own types. Numbers keep theirs: a
// floating-point number has a dot or an exponent. What JSON has no type for
// becomes a string.
func appendPlain(b []byte, v traces.Value) []byte {
	switch v.Kind() {
	case traces.ValueString:
		return otlpjson.AppendString(b, v.AsString())
	case traces.ValueBool:
		return strconv.AppendBool(b, v.AsBool())
	case traces.ValueInt:
		return strconv.AppendInt(b, v.AsInt(), 10)
	case traces.ValueDouble:
		return appendPlainDouble(b, v.AsDouble())
	case traces.ValueBytes:
		b = append(b, '"')
		b = base64.StdEncoding.AppendEncode(b, []byte(v.AsBytes()))
		return append(b, '"')
	case traces.ValueArray:
		b = append(b, '[')
		for i, m := range v.AsArray() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendPlain(b, m)
		}
		return append(b, ']')
	case traces.ValueMap:
		return appendPlainMap(b, v.AsMap())
	default:
		return append(b, "null"...)
	}
}

func appendPlainDouble(b []byte, f float64) []byte {
	start := len(b)
	b = otlpjson.AppendDouble(b, f)
	if !strings.ContainsAny(string(b[start:]), ".e\"") {
		b = append(b, '.', '0')
	}
	return b
}

func appendPlainMap(b []byte, list []traces.Attribute) []byte {
	b = append(b, '{')
	for i, a := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = otlpjson.AppendString(b, a.Key)
		b = append(b, ':')
		b = appendPlain(b, a.Value)
	}
	return append(b, '}')
}

// plainLosses notes what appendPlainMap cannot hold.
func (l *losses) plainLosses(path string, list []traces.Attribute) {
	seen := map[string]bool{}
	for _, a := range list {
		if seen[a.Key] {
			l.add(path+a.Key, "key twice in an object")
		}
		seen[a.Key] = true
		l.plainLoss(path+a.Key, a.Value)
	}
}

func (l *losses) plainLoss(key string, v traces.Value) {
	switch v.Kind() {
	case traces.ValueBytes:
		l.add(key, "bytes written as base64 string")
	case traces.ValueDouble:
		if f := v.AsDouble(); math.IsNaN(f) || math.IsInf(f, 0) {
			l.add(key, "double written as string")
		}
	case traces.ValueArray:
		for _, m := range v.AsArray() {
			l.plainLoss(key, m)
		}
	case traces.ValueMap:
		l.plainLosses(key+".", v.AsMap())
	default:
	}
}

// valueText is a value as text for a format that has only strings.
func valueText(v traces.Value) string {
	switch v.Kind() {
	case traces.ValueString:
		return v.AsString()
	case traces.ValueEmpty:
		return ""
	case traces.ValueBytes:
		return base64.StdEncoding.EncodeToString([]byte(v.AsBytes()))
	case traces.ValueDouble:
		return strings.Trim(string(otlpjson.AppendDouble(nil, v.AsDouble())), `"`)
	default:
		return string(appendPlain(nil, v))
	}
}

// kindName names the kinds of values in messages.
func kindName(k traces.ValueKind) string {
	if k == traces.ValueEmpty {
		return "empty value"
	}
	return k.String()
}
