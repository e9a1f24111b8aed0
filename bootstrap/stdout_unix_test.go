//go:build unix

package bootstrap_test

import (
	"os"
	"strings"
	"testing"
)

// The reader of standard output can go, as `| head` does: spans are lost and
// counted, and the program goes on.
func TestClosedStandardOutput(t *testing.T) {
	t.Parallel()
	for _, exporter := range []string{"otlp/stdout", "console"} {
		t.Run(exporter, func(t *testing.T) {
			t.Parallel()
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = w.Close() }()
			c := newChild(t, "spans", "SPANS=5", "OTEL_TRACES_EXPORTER="+exporter)
			c.cmd.Stdout = w
			if err := c.cmd.Run(); err != nil {
				t.Errorf("the program ended with %v\n%s", err, &c.out)
			}
			if want := "5 ended, 0 exported, 5 lost"; !strings.Contains(c.out.String(), want) {
				t.Errorf("no %q in: %s", want, &c.out)
			}
		})
	}
}
