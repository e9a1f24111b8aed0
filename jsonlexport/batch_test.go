package jsonlexport_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/jsonlexport"
)

// A batch of spans of every size, two scopes in turn, one that panics among them:
// spans are encoded where their line lies, and one that does not fit there goes to
// the next line whole.
func TestBatchOfSpansOfEverySize(t *testing.T) {
	t.Parallel()
	const aim = 512 << 10
	var want []string
	var spans []sdktrace.ReadOnlySpan
	for i, kb := range []int{1, 2, 1, 7, 9, 200, 1, 480, 1, 1, 300, 300, 600, 1, 490, 6, 6, 6, 20, 3} {
		s := stub(fmt.Sprintf("span %d", i))
		s.InstrumentationScope.Name = fmt.Sprintf("scope %d", i%7/4)
		s.Attributes = []attribute.KeyValue{attribute.String("value", strings.Repeat("v", kb<<10))}
		want = append(want, s.Name)
		spans = append(spans, s.Snapshot())
		if i == 9 {
			spans = append(spans, nil, sampledOnly{s.Snapshot()})
		}
	}
	var out bytes.Buffer
	e := jsonlexport.NewWriter(&out)
	for range 2 { // the second time with the buffers of the first
		out.Reset()
		if err := e.ExportSpans(soon(t), spans); err == nil {
			t.Error("no error for the span that panics")
		}
		seen := map[string]int{}
		for line := range bytes.Lines(out.Bytes()) {
			n := 0
			for _, td := range decodeLines(t, line) {
				scope := td.ResourceSpans().At(0).ScopeSpans().At(0)
				for i := range scope.Spans().Len() {
					seen[scope.Spans().At(i).Name()]++
					n++
				}
			}
			if len(line) > aim && n > 1 {
				t.Errorf("a line of %d spans has %d bytes", n, len(line))
			}
		}
		for _, name := range want {
			if seen[name] != 1 {
				t.Errorf("%s is there %d times", name, seen[name])
			}
		}
	}
	if err := e.Shutdown(soon(t)); err == nil {
		t.Error("Shutdown does not tell of the span that panicked")
	}
	s := e.Stats()
	if checkBalance(t, s); s.Failed != 2 || s.Exported != 2*uint64(len(want)) {
		t.Errorf("stats %+v", s)
	}
}
