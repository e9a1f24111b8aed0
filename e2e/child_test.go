package e2e_test

import "testing"

// A trace goes on in a child process that inherits the variables; what is
// missing or malformed is a new trace, never an error.
func TestChildProcess(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, query string
		below, off  bool // the child's span is below the server's; there is none
	}{
		{name: "inherits", below: true},
		{name: "nothing to inherit", query: "?TRACEPARENT="},
		{name: "malformed", query: "?TRACEPARENT=00-nonsense-01"},
		{name: "switched off", query: "?E2E_TRACING=false", off: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, nil)
			if got := s.get(t, "/child"+c.query); got != "child ended\n" {
				t.Errorf("answer %q", got)
			}
			if e := s.stop(t); e.Error != "" || e.Report.of(t, "file").Exported != 1 {
				t.Errorf("the server ended with %+v", e)
			}
			// The child's span is in a file of the child's own.
			spans := s.spans(t)
			parent := spans.one(t, "GET /child")
			if c.off {
				if len(spans) != 1 {
					t.Errorf("spans %v of a child that is off", spans.names())
				}
				return
			}
			child := spans.one(t, "work of the child")
			if below := child.TraceID == parent.TraceID && child.ParentID == parent.SpanID; below != c.below {
				t.Errorf("the child's span is below the server's: %t; %+v", below, child)
			}
			if !c.below && child.ParentID != "" {
				t.Errorf("the child's span has parent %s, want a root", child.ParentID)
			}
		})
	}
}
