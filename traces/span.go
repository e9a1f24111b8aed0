package traces

import (
	"iter"
	"math"
	"time"
)

// Attr returns the value of an attribute of the span, and whether it has one.
// See [Lookup].
func (s *Span) Attr(key string) (Value, bool) { return Lookup(s.Attributes, key) }

// Service returns the resource's service.name, or "".
func (s *Span) Service() string {
	if s.Resource == nil {
		return ""
	}
	v, _ := Lookup(s.Resource.Attributes, "service.name")
	return v.AsString()
}

// ScopeName returns the name of the instrumentation scope, or "".
func (s *Span) ScopeName() string {
	if s.Scope == nil {
		return ""
	}
	return s.Scope.Name
}

// Failed reports whether the span's status is Error.
func (s *Span) Failed() bool { return s.Status.Code == StatusError }

// Open reports whether the span has no end: it was written before it ended, or
// by a writer that knew none.
func (s *Span) Open() bool { return s.EndUnixNano == 0 }

// Duration returns the time from start to end. It is zero when either is not
// known, negative for a span that ends before it starts (clocks are set back),
// and stays inside the range of a time.Duration, which is 292 years.
func (s *Span) Duration() time.Duration {
	if s.StartUnixNano == 0 || s.EndUnixNano == 0 {
		return 0
	}
	if s.EndUnixNano >= s.StartUnixNano {
		return time.Duration(min(s.EndUnixNano-s.StartUnixNano, math.MaxInt64))
	}
	return -time.Duration(min(s.StartUnixNano-s.EndUnixNano, math.MaxInt64))
}

// Start returns the start in UTC, or the zero time when it is not known.
func (s *Span) Start() time.Time { return instant(s.StartUnixNano) }

// End returns the end in UTC, or the zero time when it is not known.
func (s *Span) End() time.Time { return instant(s.EndUnixNano) }

// Time returns the instant of the event in UTC, or the zero time when it is not
// known.
func (e *Event) Time() time.Time { return instant(e.TimeUnixNano) }

func instant(unixNano uint64) time.Time {
	if unixNano == 0 {
		return time.Time{}
	}
	// In two parts, because half the range of a uint64 is negative as an int64.
	return time.Unix(int64(unixNano/1e9), int64(unixNano%1e9)).UTC() //nolint:gosec // both parts fit
}

// RemoteParent reports whether the parent is in another process, and whether
// the writer said so at all.
//
// Spec: https://github.com/open-telemetry/opentelemetry-proto/blob/v1.9.0/opentelemetry/proto/trace/v1/trace.proto
// (bits 8 and 9 of flags).
func (s *Span) RemoteParent() (remote, known bool) {
	const hasIsRemote, isRemote = 1 << 8, 1 << 9
	return s.Flags&isRemote != 0, s.Flags&hasIsRemote != 0
}

// Exception is what an event named "exception" says.
//
// Spec: https://github.com/open-telemetry/semantic-conventions/blob/v1.43.0/docs/exceptions/exceptions-spans.md
type Exception struct {
	Type       string // exception.type: "*errors.errorString"
	Message    string // exception.message
	Stacktrace string // exception.stacktrace
	Time       time.Time
}

// Exceptions yields the span's exception events in their order: the errors that
// the program recorded.
func (s *Span) Exceptions() iter.Seq[Exception] {
	return func(yield func(Exception) bool) {
		for i := range s.Events {
			e := &s.Events[i]
			if e.Name != "exception" {
				continue
			}
			text := func(key string) string {
				v, _ := Lookup(e.Attributes, key)
				return v.AsString()
			}
			x := Exception{
				Type: text("exception.type"), Message: text("exception.message"),
				Stacktrace: text("exception.stacktrace"), Time: e.Time(),
			}
			if !yield(x) {
				return
			}
		}
	}
}
