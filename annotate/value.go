package annotate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
)

// encode writes a value as OpenInference wants inputs and outputs: strings, numbers and bools as text, all
// else as JSON. What is longer than limit is cut, marked, and then text in any case, for cut JSON is none.
// It never panics: a value that cannot be encoded is named by its type.
func encode(v any, limit int) (text, mime string) {
	if done, ok := v.(joined); ok {
		return string(done), MIMEText
	}
	text, mime = encodeWhole(v)
	if short := cut(text, limit); len(short) != len(text) || short != text {
		return short, MIMEText
	}
	return text, mime
}

func encodeWhole(v any) (text, mime string) {
	defer func() {
		if recover() != nil {
			text, mime = unencodable(v), MIMEText
		}
	}()
	switch v := v.(type) {
	case string:
		return v, MIMEText
	case json.RawMessage:
		if json.Valid(v) {
			return string(v), MIMEJSON
		}
		return string(v), MIMEText
	case []byte:
		if utf8.Valid(v) {
			return string(v), MIMEText
		}
	case error:
		return v.Error(), MIMEText
	case time.Duration:
		return v.String(), MIMEText
	case json.Marshaler: // before the kinds: a number may have a form of its own
	default:
		if text, ok := scalarText(reflect.ValueOf(v)); ok {
			return text, MIMEText
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return unencodable(v), MIMEText
	}
	return strings.TrimSuffix(b.String(), "\n"), MIMEJSON
}

func unencodable(v any) string { return fmt.Sprintf("<not encodable: %T>", v) }

func scalarText(v reflect.Value) (string, bool) {
	switch v.Kind() { //nolint:exhaustive // the others are no scalars
	case reflect.String:
		return v.String(), true
	case reflect.Bool:
		return strconv.FormatBool(v.Bool()), true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10), true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return strconv.FormatUint(v.Uint(), 10), true
	case reflect.Float32, reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits()), true
	}
	return "", false
}

// cut shortens s to at most limit bytes at the boundary of a character and says how much is missing. Bytes
// that are no UTF-8 are replaced.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return valid(s)
	}
	end := boundary(s, limit)
	return valid(s[:end]) + truncated(len(s)-end)
}

// cutAll copies list until limit bytes are used; what stands in place of the rest says how much is missing.
func cutAll(list []string, limit int) []string {
	short := make([]string, 0, min(len(list), limit+1))
	for i, s := range list {
		if limit -= len(s); limit < 0 {
			short = append(short, cut(s, limit+len(s)))
			if more := len(list) - i - 1; more > 0 {
				short = append(short, "…[truncated "+strconv.Itoa(more)+" strings]")
			}
			break
		}
		short = append(short, valid(s))
	}
	return short
}

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// boundary is the last boundary of a character of s that is not behind limit.
func boundary(s string, limit int) int {
	end := min(max(limit, 0), len(s))
	for end > 0 && end < len(s) && !utf8.RuneStart(s[end]) && limit-end < utf8.UTFMax {
		end--
	}
	return end
}

func truncated(n int) string { return "…[truncated " + strconv.Itoa(n) + " bytes]" }

// jsonOf encodes any value. What has no JSON, such as NaN or a function, is a string that says so.
func jsonOf(v any) json.RawMessage {
	text, mime := encodeWhole(v)
	if mime == MIMEJSON {
		return json.RawMessage(text)
	}
	if _, scalar := scalarText(reflect.ValueOf(v)); scalar {
		if number := jsonText(v); number != "" {
			return json.RawMessage(number)
		}
	}
	return json.RawMessage(jsonText(text))
}

// jsonText encodes a string or number; "" when it cannot.
func jsonText(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// toAttribute makes an attribute of any value: scalars and slices of scalars are themselves, all else is text
// as in encode.
func toAttribute(key string, v any, limit int) attribute.KeyValue {
	k := attribute.Key(cut(key, limit))
	switch v := v.(type) {
	case attribute.Value:
		switch v.Type() { //nolint:exhaustive // the others are not cut
		case attribute.STRING:
			return k.String(cut(v.AsString(), limit))
		case attribute.STRINGSLICE:
			return k.StringSlice(cutAll(v.AsStringSlice(), limit))
		}
		return attribute.KeyValue{Key: k, Value: v}
	case string:
		return k.String(cut(v, limit))
	case []string:
		return k.StringSlice(cutAll(v, limit))
	case []bool:
		return k.BoolSlice(v)
	case []int:
		return k.IntSlice(v)
	case []int64:
		return k.Int64Slice(v)
	case []float64:
		return k.Float64Slice(v)
	case error, time.Duration, json.Marshaler:
	default:
		if kv, ok := scalarAttribute(k, reflect.ValueOf(v), limit); ok {
			return kv
		}
	}
	text, _ := encode(v, limit)
	return k.String(text)
}

func scalarAttribute(k attribute.Key, v reflect.Value, limit int) (attribute.KeyValue, bool) {
	switch v.Kind() { //nolint:exhaustive // the others are no scalars
	case reflect.String:
		return k.String(cut(v.String(), limit)), true
	case reflect.Bool:
		return k.Bool(v.Bool()), true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return k.Int64(v.Int()), true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if u := v.Uint(); u > 1<<63-1 {
			return k.String(strconv.FormatUint(u, 10)), true
		}
		return k.Int64(int64(v.Uint())), true //nolint:gosec // checked above
	case reflect.Float32, reflect.Float64:
		return k.Float64(v.Float()), true
	}
	return attribute.KeyValue{}, false
}

// logged is the value of a slog.Attr; a group is an object. Groups without end are cut.
func logged(v slog.Value, depth int) any {
	v = v.Resolve()
	if v.Kind() != slog.KindGroup || depth > maxNested {
		return v.Any()
	}
	o := object{}
	for _, a := range v.Group() {
		o = append(o, field{a.Key, logged(a.Value, depth+1)})
	}
	return o
}
