package capture

import (
	"cmp"
	"runtime"
	"strings"

	"github.com/waymark-trace/waymark/internal/funcname"
)

// callerName is the name of the function that called the caller of callerName.
func callerName() string { return cmp.Or(funcname.Caller(1), "block") }

// functionName is the name of a function value.
func functionName(fn any) string { return cmp.Or(funcname.Of(fn), "block") }

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
