// Package funcname says what a span is called after a function: f, Type.method for
// methods, and for a closure the function that it is in.
package funcname

import (
	"reflect"
	"runtime"
	"strings"
)

// Of returns the name of a function value; "" when fn is none or has none.
func Of(fn any) string {
	v := reflect.ValueOf(fn)
	if v.Kind() != reflect.Func || v.IsNil() {
		return ""
	}
	f := runtime.FuncForPC(v.Pointer())
	if f == nil {
		return ""
	}
	return Short(f.Name())
}

// Caller returns the name of the function that called the caller of Caller, or for
// skip above 0 of one so many calls further out; "" when there is none.
func Caller(skip int) string {
	const own = 3 // Callers, Caller, and who called it
	pcs := make([]uintptr, 1)
	if runtime.Callers(own+skip, pcs) == 0 {
		return ""
	}
	frame, _ := runtime.CallersFrames(pcs).Next()
	return Short(frame.Function)
}

// Short makes K.m of the symbol example.com/a/b.(*K[...]).m-fm, and f of
// example.com/a/b.f.func1.2-range1. When the compiler inlines g, in which a closure
// is, into f, the symbol has both, and so has the name: f.g.
func Short(symbol string) string {
	name := withoutTypeArguments(strings.TrimSuffix(symbol, "-fm"))
	name = name[strings.LastIndexByte(name, '/')+1:]
	if _, after, ok := strings.Cut(name, "."); ok { // dots of a package's name are escaped
		name = after
	}
	if method := strings.LastIndex(name, ".(*"); method >= 0 {
		name = name[method+1:] // before it stands a function that the method is inlined into
	}
	parts := strings.Split(strings.NewReplacer("(*", "", "(", "", ")", "").Replace(name), ".")
	for i, part := range parts {
		parts[i] = withoutRange(part)
	}
	for len(parts) > 1 && isMadeUp(parts[len(parts)-1]) {
		parts = parts[:len(parts)-1]
	}
	return strings.Join(parts, ".")
}

// withoutTypeArguments removes what stands in brackets, which may hold paths of its
// own.
func withoutTypeArguments(name string) string {
	if strings.IndexByte(name, '[') < 0 {
		return name
	}
	var b strings.Builder
	depth := 0
	for _, c := range name {
		switch {
		case c == '[':
			depth++
		case c == ']' && depth > 0:
			depth--
		case depth == 0:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// withoutRange removes the mark of a loop body over a function: f-range1.
func withoutRange(part string) string {
	name, number, ok := strings.Cut(part, "-range")
	if ok && isNumber(number) {
		return name
	}
	return part
}

// isMadeUp reports whether the compiler made up a part of a name: func1, 2, gowrap3,
// deferwrap1, or nothing, as in "glob..func1".
func isMadeUp(part string) bool {
	if part == "" || isNumber(part) {
		return true
	}
	for _, prefix := range []string{"func", "gowrap", "deferwrap"} {
		if number, ok := strings.CutPrefix(part, prefix); ok && isNumber(number) {
			return true
		}
	}
	return false
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
