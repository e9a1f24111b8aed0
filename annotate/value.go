package annotate

import (
	"encoding/json"
	"log/slog"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"

	"github.com/waymark-trace/waymark/internal/boundjson"
)

// encode writes a value as OpenInference wants inputs and outputs: strings, numbers and bools as text, all
// else as JSON. What is longer than limit is cut, marked, and then text in any case, for cut JSON is none.
// A value that cannot be encoded, or whose methods do not return, is named by its type. It takes no more time
// and memory than limit asks for, and what it returns shares no memory with the value.
func (c *Client) encode(v any, limit int) (text, mime string) {
	switch v := v.(type) {
	case joined:
		return string(v), MIMEText
	case string:
		return cut(v, limit), MIMEText
	case json.RawMessage:
		text := cut([]byte(v), limit)
		if len(v) <= limit && json.Valid(v) && text == string(v) {
			return text, MIMEJSON
		}
		return text, MIMEText
	case []byte:
		if utf8.Valid(v[:boundary(v, limit)]) {
			return cut(v, limit), MIMEText
		}
	case error:
		return c.causeText(v, limit), MIMEText
	case time.Duration:
		return v.String(), MIMEText
	case json.Marshaler: // before the kinds: a number may have a form of its own
	default:
		r := reflect.ValueOf(v)
		if r.Kind() == reflect.String {
			return cut(r.String(), limit), MIMEText
		}
		if text, ok := scalarText(r); ok {
			return text, MIMEText
		}
	}
	return c.encodeJSON(v, limit)
}

func (c *Client) encodeJSON(v any, limit int) (text, mime string) {
	encoded, whole, err := c.marshal(v, limit)
	switch {
	case err != nil:
		return boundjson.Unencodable(v), MIMEText
	case !whole:
		return cutOff(encoded, limit, -1), MIMEText
	case len(encoded) > limit:
		return cut(encoded, limit), MIMEText
	}
	if text := valid(string(encoded)); len(text) == len(encoded) { // a json.Marshaler may write anything
		return text, MIMEJSON
	}
	return cut(encoded, limit), MIMEText
}

// marshal is the JSON of v, or its beginning; see [boundjson.Encoder.Encode]. A method that misbehaves is
// counted.
func (c *Client) marshal(v any, limit int) (text []byte, whole bool, err error) {
	defer func() {
		if p := recover(); p != nil { // of reflection: methods are called elsewhere
			text, whole, err = nil, false, errPanic
		}
	}()
	text, whole, err = c.json.Encode(v, limit)
	c.noteMisbehavior("encode", v, err)
	return text, whole, err
}

func scalarText(v reflect.Value) (string, bool) {
	switch {
	case v.Kind() == reflect.Bool:
		return strconv.FormatBool(v.Bool()), true
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10), true
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10), true
	case v.CanFloat():
		return strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits()), true
	}
	return "", false
}

// toAttribute makes an attribute of any value: scalars and slices of scalars are themselves, all else is text
// as in encode. So are slices that are longer than limit allows.
func (c *Client) toAttribute(key string, v any, limit int) attribute.KeyValue {
	k := attribute.Key(cutKey(key, limit))
	switch v := v.(type) {
	case attribute.Value:
		return c.fromValue(k, v, limit)
	case string:
		return k.String(cut(v, limit))
	case []string:
		return k.StringSlice(cutAll(v, limit))
	case []bool:
		if len(v) <= limit {
			return k.BoolSlice(v)
		}
	case []int:
		if len(v) <= limit/wordBytes {
			return k.IntSlice(v)
		}
	case []int64:
		if len(v) <= limit/wordBytes {
			return k.Int64Slice(v)
		}
	case []float64:
		if len(v) <= limit/wordBytes {
			return k.Float64Slice(v)
		}
	case error, time.Duration, json.Marshaler:
	default:
		if kv, ok := scalarAttribute(k, reflect.ValueOf(v), limit); ok {
			return kv
		}
	}
	text, _ := c.encode(v, limit)
	return k.String(text)
}

// wordBytes is the size of a number in a slice.
const wordBytes = 8

// fromValue bounds a value that is OpenTelemetry's already.
func (c *Client) fromValue(k attribute.Key, v attribute.Value, limit int) attribute.KeyValue {
	switch v.Type() {
	case attribute.EMPTY, attribute.BOOL, attribute.INT64, attribute.FLOAT64:
		return attribute.KeyValue{Key: k, Value: v}
	case attribute.BYTESLICE:
		if b := v.AsByteSlice(); len(b) <= limit {
			return attribute.KeyValue{Key: k, Value: v}
		}
	case attribute.SLICE, attribute.MAP:
		if text, whole, err := c.marshal(v, limit); err == nil && whole && len(text) <= limit {
			return attribute.KeyValue{Key: k, Value: v}
		}
	case attribute.STRING, attribute.STRINGSLICE, attribute.BOOLSLICE, attribute.INT64SLICE, attribute.FLOAT64SLICE:
	}
	return c.toAttribute(string(k), v.AsInterface(), limit)
}

func scalarAttribute(k attribute.Key, v reflect.Value, limit int) (attribute.KeyValue, bool) {
	switch {
	case v.Kind() == reflect.String:
		return k.String(cut(v.String(), limit)), true
	case v.Kind() == reflect.Bool:
		return k.Bool(v.Bool()), true
	case v.CanInt():
		return k.Int64(v.Int()), true
	case v.CanUint():
		if u := v.Uint(); u > 1<<63-1 {
			return k.String(strconv.FormatUint(u, 10)), true
		}
		return k.Int64(int64(v.Uint())), true //nolint:gosec // checked above
	case v.CanFloat():
		return k.Float64(v.Float()), true
	}
	return attribute.KeyValue{}, false
}

// logged is the value of a slog.Attr; a group is an object. Groups without end are cut.
func (c *Client) logged(v slog.Value, depth int) any {
	if v.Kind() == slog.KindLogValuer {
		valuer, said := v.Any(), v
		if c.guarded("LogValue", valuer, func() error { said = resolved(said); return nil }) != nil {
			return boundjson.Unencodable(valuer)
		}
		v = said
	}
	if v.Kind() != slog.KindGroup || depth > maxNested {
		return v.Any()
	}
	o := boundjson.Object{}
	for _, a := range v.Group() {
		o = append(o, boundjson.Member{Name: a.Key, Value: c.logged(a.Value, depth+1)})
	}
	return o
}

// resolved asks a value what it says, which may be another one to ask. Not Value.Resolve, which says where a
// method has panicked in place of the value.
func resolved(v slog.Value) slog.Value {
	for range maxNested {
		if v.Kind() != slog.KindLogValuer {
			return v
		}
		v = v.LogValuer().LogValue()
	}
	return slog.StringValue(boundjson.Unencodable(v.Any()))
}

// jsonText encodes a short string, or a number; "" when it cannot.
func jsonText(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}
