package boundjson

import "reflect"

// place is where a value lies that can hold itself. Two values of different types, or
// of different lengths, may begin at one address.
type place struct {
	at     uintptr
	length int
	kind   reflect.Type
}

func canHoldItself(v reflect.Value) bool {
	return v.Kind() == reflect.Pointer || v.Kind() == reflect.Map || v.Kind() == reflect.Slice
}

// placeOf is where a value is that can hold itself.
func placeOf(v reflect.Value) place {
	p := place{at: v.Pointer(), kind: v.Type()}
	if v.Kind() == reflect.Slice {
		p.length = v.Len()
	}
	return p
}
