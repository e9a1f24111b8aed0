package doctor

import (
	"fmt"
	"testing"

	"github.com/waymark-trace/waymark/traces"
)

// TestTablesAreBounded fills what is remembered of spans over its bounds.
func TestTablesAreBounded(t *testing.T) {
	t.Parallel()
	d := New()
	const most = 10_000 // texts
	for i := range 2 * most {
		var letters []byte
		for n := i + 1; n > 0; n /= 20 {
			letters = append(letters, 'g'+byte(n%20))
		}
		d.Add(&traces.Span{
			TraceID: traces.TraceID{1}, SpanID: traces.SpanID{1}, StartUnixNano: 1, EndUnixNano: 2,
			Name: fmt.Sprintf("%s/%d", letters, i), Scope: &traces.Scope{Name: string(letters)},
		}, true)
	}
	if len(d.texts) > most || len(d.names.patterns) > maxPatterns || len(d.names.scopes) > maxPatterns {
		t.Errorf("%d texts, %d patterns, %d scopes", len(d.texts), len(d.names.patterns), len(d.names.scopes))
	}
}
