package annotate

import (
	"encoding/json"
	"log/slog"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

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
