package boundjson

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// field is a member that encoding/json makes of a struct's field, perhaps one of an
// embedded struct.
type field struct {
	name      string
	index     []int
	tagged    bool // the name is that of the tag
	omitEmpty bool
	omitZero  bool
	quoted    bool
}

// level is a struct type, and how one gets to it from the outermost.
type level struct {
	t     reflect.Type
	index []int
}

// candidates returns the fields of t and of what it embeds, those of a name that is
// there several times included.
func candidates(t reflect.Type) []field {
	var all []field
	visited := map[reflect.Type]bool{}
	for now := []level{{t: t}}; len(now) > 0; {
		count := map[reflect.Type]int{}
		for _, l := range now {
			count[l.t]++
		}
		var next []level
		for _, l := range now {
			if visited[l.t] {
				continue
			}
			visited[l.t] = true
			own, embedded := directly(l)
			all = append(all, own...)
			if count[l.t] > 1 { // each of them hides the other
				all = append(all, own...)
			}
			next = append(next, embedded...)
		}
		now = next
	}
	return all
}

// directly returns the fields that one struct has itself, and the structs that it
// embeds.
func directly(l level) (own []field, embedded []level) {
	for i := range l.t.NumField() {
		sf := l.t.Field(i)
		elem := sf.Type
		if elem.Kind() == reflect.Pointer {
			elem = elem.Elem()
		}
		tag := sf.Tag.Get("json")
		if tag == "-" || !sf.IsExported() && (!sf.Anonymous || elem.Kind() != reflect.Struct) {
			continue
		}
		index := append(slices.Clip(l.index), i)
		name, options := parseTag(tag)
		if name == "" && sf.Anonymous && elem.Kind() == reflect.Struct {
			embedded = append(embedded, level{elem, index})
			continue
		}
		own = append(own, field{
			name: cmp.Or(name, sf.Name), index: index, tagged: name != "",
			omitEmpty: slices.Contains(options, "omitempty"),
			omitZero:  slices.Contains(options, "omitzero"),
			quoted:    slices.Contains(options, "string") && isQuotable(sf.Type),
		})
	}
	return own, embedded
}

func parseTag(tag string) (name string, options []string) {
	parts := strings.Split(tag, ",")
	if valid := strings.TrimFunc(parts[0], func(c rune) bool {
		return unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c)
	}); valid != "" {
		return "", parts[1:]
	}
	return parts[0], parts[1:]
}

// isQuotable reports whether the tag's option string means something for a type.
func isQuotable(t reflect.Type) bool {
	if t.Name() == "" && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() { //nolint:exhaustive // the others are not quoted
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return true
	}
	return false
}

// dominant leaves one field of each name: the outermost, of several at the same depth
// the one with a tag; where that is not one, none.
func dominant(all []field) []field {
	slices.SortStableFunc(all, func(a, b field) int {
		return cmp.Or(
			strings.Compare(a.name, b.name),
			cmp.Compare(len(a.index), len(b.index)),
			-compareBool(a.tagged, b.tagged),
		)
	})
	var kept []field
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].name == all[0].name {
			n++
		}
		if n == 1 || len(all[0].index) != len(all[1].index) || all[0].tagged != all[1].tagged {
			kept = append(kept, all[0])
		}
		all = all[n:]
	}
	slices.SortFunc(kept, func(a, b field) int { return slices.Compare(a.index, b.index) })
	return kept
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// of returns the field's value in a struct; it is false behind a nil pointer.
func (f *field) of(v reflect.Value) (reflect.Value, bool) {
	for _, i := range f.index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return reflect.Value{}, false
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v, true
}
