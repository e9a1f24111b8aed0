package annotate

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/waymark-trace/waymark/internal/boundjson"
)

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
		plain := plainOf(v)
		if text, whole, err := c.marshal(plain, limit); err == nil && whole && len(text) <= limit {
			return attribute.KeyValue{Key: k, Value: copyOf(v)}
		}
		text, _ := c.encode(plain, limit)
		return k.String(text)
	case attribute.STRING, attribute.STRINGSLICE, attribute.BOOLSLICE, attribute.INT64SLICE, attribute.FLOAT64SLICE:
	}
	return c.toAttribute(string(k), v.AsInterface(), limit)
}

// plainOf is a value of OpenTelemetry as one of Go: its own JSON takes memory for all of it.
func plainOf(v attribute.Value) any {
	switch v.Type() { //nolint:exhaustive // the others are plain
	case attribute.FLOAT64:
		if f := v.AsFloat64(); math.IsNaN(f) || math.IsInf(f, 0) {
			return v.String()
		}
	case attribute.SLICE:
		var list []any
		for _, element := range v.AsSlice() {
			list = append(list, plainOf(element))
		}
		return list
	case attribute.MAP:
		var object boundjson.Object
		for _, kv := range v.AsMap() {
			object = append(object, boundjson.Member{Name: string(kv.Key), Value: plainOf(kv.Value)})
		}
		return object
	}
	return v.AsInterface()
}

// copyOf shares no text with v.
func copyOf(v attribute.Value) attribute.Value {
	switch v.Type() { //nolint:exhaustive // the others hold no text, or a copy
	case attribute.STRING:
		return attribute.StringValue(copied(v.AsString()))
	case attribute.STRINGSLICE:
		return attribute.StringSliceValue(cutAll(v.AsStringSlice(), math.MaxInt))
	case attribute.SLICE:
		list := v.AsSlice()
		for i := range list {
			list[i] = copyOf(list[i])
		}
		return attribute.SliceValue(list...)
	case attribute.MAP:
		kvs := v.AsMap()
		for i := range kvs {
			kvs[i] = attribute.KeyValue{Key: attribute.Key(copied(string(kvs[i].Key))), Value: copyOf(kvs[i].Value)}
		}
		return attribute.MapValue(kvs...)
	}
	return v
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
