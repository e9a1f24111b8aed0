package e2e_test

import (
	"fmt"
	"strings"
	"testing"
)

// More than a Collector takes in one request arrives in several.
func TestLargeBatches(t *testing.T) {
	t.Parallel()
	for name, protocol := range protocols {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCollector(t, collectorConfig{})
			s := startServer(t, otlpVars(protocol, c.address(protocol)), "-also-file")
			s.get(t, "/burst?n=1000&bytes=10000") // 10 MB; gRPC takes 4 MiB
			eventually(t, "the spans are exported", func() (bool, string) {
				a := s.otlp(t)
				return a.Exported == 1001, fmt.Sprintf("%+v", a)
			})
			if e := s.stop(t); e.Error != "" {
				t.Errorf("the server ended with %q", e.Error)
			}
			c.end(t)
			sameSpans(t, c.spans(t), s.spans(t))
		})
	}
}

// A span that is larger than the Collector takes is lost alone, and told with what
// helps.
func TestSpanTooLarge(t *testing.T) {
	t.Parallel()
	for name, protocol := range protocols {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCollector(t, collectorConfig{limit: 1})
			s := startServer(t, otlpVars(protocol, c.address(protocol)))
			s.get(t, "/burst?n=1&bytes=1048576")
			s.get(t, "/burst?n=200&bytes=10000")
			eventually(t, "the spans are decided about", func() (bool, string) {
				a := s.otlp(t)
				return a.Ended == 203 && a.Queued == 0, fmt.Sprintf("%+v", a)
			})
			if a := s.stop(t).Report.of(t, "otlp"); a.Exported != 202 || a.Failed != 1 || a.Uncertain != 0 {
				t.Errorf("account %+v, want one failed", a)
			}
			if log := s.log.String(); !strings.Contains(log, "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT") {
				t.Errorf("the variable that helps is not in the log: %s", log)
			}
			c.end(t)
			if n := len(c.spans(t)); n != 202 {
				t.Errorf("%d spans have arrived, want 202", n)
			}
		})
	}
}
