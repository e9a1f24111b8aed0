package capture

import (
	"fmt"
	"reflect"

	"github.com/waymark-trace/waymark/internal/boundjson"
	"github.com/waymark-trace/waymark/internal/guard"
)

// maxTextBytes is about how much is shown of a value that has no text of its own.
const maxTextBytes = 4 << 10

// textOf is what the block's error, or what it threw, says of itself. Its methods are
// the program's: one that hangs or ends its goroutine is not to keep the window open.
func textOf(v any) string {
	var g guard.Guard
	var said string
	err := g.Call(nil, func() (err error) {
		said, err = say(v)
		return err
	})
	if err != nil {
		return boundjson.Unencodable(v)
	}
	return said
}

func say(v any) (string, error) {
	switch v.(type) {
	case error, fmt.Stringer, fmt.Formatter:
		return fmt.Sprint(v), nil
	}
	if left := maxTextBytes; isPrintable(reflect.ValueOf(v), &left) {
		return fmt.Sprint(v), nil
	}
	var e boundjson.Encoder
	text, whole, err := e.Encode(v, maxTextBytes)
	if !whole {
		text = append(text, "…"...)
	}
	return string(text), err
}

// isPrintable reports whether v has an end that is near: fmt does not see that a value
// holds itself, and a stack that overflows ends the program.
func isPrintable(v reflect.Value, left *int) bool {
	if *left--; *left < 0 {
		return false
	}
	switch v.Kind() { //nolint:exhaustive // the others hold nothing
	case reflect.String:
		*left -= v.Len()
	case reflect.Pointer, reflect.Interface:
		return v.IsNil() || isPrintable(v.Elem(), left)
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if !isPrintable(it.Key(), left) || !isPrintable(it.Value(), left) {
				return false
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if !isPrintable(v.Index(i), left) {
				return false
			}
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			if !isPrintable(field, left) {
				return false
			}
		}
	}
	return *left >= 0
}
