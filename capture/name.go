package capture

import (
	"reflect"
	"runtime"
	"strings"
)

// callerName is the name of the function that called the caller of callerName.
func callerName() string {
	pcs := make([]uintptr, 1)
	if runtime.Callers(3, pcs) == 0 {
		return "block"
	}
	frame, _ := runtime.CallersFrames(pcs).Next()
	return shortName(frame.Function)
}

// functionName is the name of a function value.
func functionName(fn any) string {
	f := runtime.FuncForPC(reflect.ValueOf(fn).Pointer())
	if f == nil {
		return "block"
	}
	return shortName(f.Name())
}

// shortName makes K.m of example.com/a/b.(*K).m-fm, and f of a/b.f.func1.2: a
// closure goes by the name of the function that it is in.
func shortName(full string) string {
	name := strings.TrimSuffix(full, "-fm")
	if generic := strings.IndexByte(name, '['); generic >= 0 {
		rest := name[generic:]
		name = name[:generic]
		if end := strings.LastIndexByte(rest, ']'); end >= 0 {
			name += rest[end+1:]
		}
	}
	name = name[strings.LastIndexByte(name, '/')+1:]
	if _, after, ok := strings.Cut(name, "."); ok {
		name = after
	}
	parts := strings.Split(strings.NewReplacer("(*", "", "(", "", ")", "").Replace(name), ".")
	for len(parts) > 1 && isClosure(parts[len(parts)-1]) {
		parts = parts[:len(parts)-1]
	}
	return strings.Join(parts, ".")
}

// isClosure reports whether the compiler made up a part of a name: func1, 2,
// gowrap3, deferwrap1, or nothing (in "glob..func1").
func isClosure(part string) bool {
	for _, prefix := range []string{"func", "gowrap", "deferwrap", ""} {
		if n, ok := strings.CutPrefix(part, prefix); ok && strings.Trim(n, "0123456789") == "" && (n != "" || prefix == "") {
			return true
		}
	}
	return strings.HasSuffix(part, "-range1")
}

// calledByGoexit reports whether the deferred function that calls it runs because
// of runtime.Goexit, which nothing else tells: recover returns nil then.
//
// It is called from End's own closure inside sync.Once, so it looks for the first
// frame outside of this package and sync.
func calledByGoexit() bool {
	pcs := make([]uintptr, 16)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		frame, more := frames.Next()
		switch {
		case strings.HasPrefix(frame.Function, ScopeName+".(*Capture).End"), strings.HasPrefix(frame.Function, "sync."):
		default:
			return frame.Function == "runtime.Goexit"
		}
		if !more {
			return false
		}
	}
}
