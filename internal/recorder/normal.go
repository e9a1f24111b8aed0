package recorder

import (
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// normal is the value of a span's attribute as it is recorded: keys of maps are
// unique, what is nested too deep is empty, and texts and bytes are cut.
//
// Spec: https://github.com/open-telemetry/opentelemetry-specification/blob/v1.60.0/specification/common/README.md#attribute-limits
func normal(v attribute.Value, limits *sdktrace.SpanLimits) attribute.Value {
	if t := v.Type(); t == attribute.SLICE || t == attribute.MAP {
		v, _ = shallow(v, limits.AttributeValueDepthLimit)
	}
	if limit := limits.AttributeValueLengthLimit; limit >= 0 {
		v, _ = short(v, limit)
	}
	return v
}

// shallow gives maps unique keys, of which the last wins, and empties arrays and
// maps below depth; a negative depth is no limit. It reports whether it has
// changed anything.
func shallow(v attribute.Value, depth int) (attribute.Value, bool) {
	switch v.Type() {
	case attribute.BOOLSLICE, attribute.INT64SLICE, attribute.FLOAT64SLICE, attribute.STRINGSLICE, attribute.BYTESLICE:
		if depth == 0 {
			return attribute.Value{}, true
		}
	case attribute.SLICE:
		if depth == 0 {
			return attribute.Value{}, true
		}
		return eachOf(v, func(member attribute.Value) (attribute.Value, bool) { return shallow(member, depth-1) })
	case attribute.MAP:
		if depth == 0 {
			return attribute.Value{}, true
		}
		return shallowMap(v, depth-1)
	default:
		return v, false
	}
	return v, false
}

func shallowMap(v attribute.Value, depth int) (attribute.Value, bool) {
	kvs := v.AsMap() // a copy, sorted by key
	unique, changed := kvs[:0], false
	for i, kv := range kvs {
		if i+1 < len(kvs) && kvs[i+1].Key == kv.Key {
			changed = true
			continue
		}
		var other bool
		kv.Value, other = shallow(kv.Value, depth)
		changed = changed || other
		unique = append(unique, kv)
	}
	if !changed {
		return v, false
	}
	return attribute.MapValue(unique...), true
}

// short cuts texts after limit characters and bytes after limit bytes, also
// nested ones. It reports whether it has changed anything.
func short(v attribute.Value, limit int) (attribute.Value, bool) {
	switch v.Type() {
	case attribute.STRING:
		s, changed := cut(v.AsString(), limit)
		if changed {
			v = attribute.StringValue(s)
		}
		return v, changed
	case attribute.BYTESLICE:
		if b := v.AsByteSlice(); len(b) > limit {
			return attribute.ByteSliceValue(b[:limit]), true
		}
	case attribute.STRINGSLICE:
		return shortStrings(v, limit)
	case attribute.SLICE:
		return eachOf(v, func(member attribute.Value) (attribute.Value, bool) { return short(member, limit) })
	case attribute.MAP:
		kvs, changed := v.AsMap(), false
		for i := range kvs {
			var other bool
			kvs[i].Value, other = short(kvs[i].Value, limit)
			changed = changed || other
		}
		if changed {
			return attribute.MapValue(kvs...), true
		}
	default:
		return v, false
	}
	return v, false
}

func shortStrings(v attribute.Value, limit int) (attribute.Value, bool) {
	list, changed := v.AsStringSlice(), false
	for i := range list {
		var other bool
		list[i], other = cut(list[i], limit)
		changed = changed || other
	}
	if !changed {
		return v, false
	}
	return attribute.StringSliceValue(list), true
}

// eachOf applies f to the members of an array.
func eachOf(v attribute.Value, f func(attribute.Value) (attribute.Value, bool)) (attribute.Value, bool) {
	members, changed := v.AsSlice(), false
	for i := range members {
		var other bool
		members[i], other = f(members[i])
		changed = changed || other
	}
	if !changed {
		return v, false
	}
	return attribute.SliceValue(members...), true
}

// cut returns a copy of the first limit characters of s, without the bytes among
// them that are not UTF-8; what has no more bytes than limit stays as it is.
func cut(s string, limit int) (string, bool) {
	if len(s) <= limit {
		return s, false
	}
	var b strings.Builder
	for count := 0; count < limit && s != ""; {
		r, size := utf8.DecodeRuneInString(s)
		if r != utf8.RuneError || size > 1 {
			b.WriteString(s[:size])
			count++
		}
		s = s[size:]
	}
	return b.String(), true
}

// normalAll is normal for the attributes of an event or a link, the values of
// which have no limit of length. The result is the caller's own.
func normalAll(kvs []attribute.KeyValue, limit int, limits *sdktrace.SpanLimits) (kept []attribute.KeyValue, dropped int) {
	if limit >= 0 && len(kvs) > limit {
		kvs, dropped = kvs[:limit], len(kvs)-limit
	}
	if len(kvs) == 0 {
		return nil, dropped
	}
	kept = make([]attribute.KeyValue, len(kvs))
	for i, kv := range kvs {
		kv.Value, _ = shallow(kv.Value, limits.AttributeValueDepthLimit)
		kept[i] = kv
	}
	return kept, dropped
}

// normalSet is shallow for the attributes of a scope.
func normalSet(set attribute.Set, depth int) attribute.Set {
	kvs, changed := set.ToSlice(), false
	for i := range kvs {
		var other bool
		kvs[i].Value, other = shallow(kvs[i].Value, depth)
		changed = changed || other
	}
	if !changed {
		return set
	}
	return attribute.NewSet(kvs...)
}
