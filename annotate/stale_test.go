package annotate_test

import (
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/waymark-trace/waymark/annotate"
)

// racedSpan lets another setter come between what the first one knows and what it writes.
type racedSpan struct {
	noop.Span
	between func()
	tags    string
}

func (*racedSpan) IsRecording() bool { return true }

func (s *racedSpan) SetAttributes(kvs ...attribute.KeyValue) {
	if f := s.between; f != nil {
		s.between = nil
		f()
	}
	for _, kv := range kvs {
		if kv.Key == annotate.TagsKey {
			s.tags = kv.Value.String()
		}
	}
}

// An older state is never what stays on a span.
func TestOlderStateDoesNotStay(t *testing.T) {
	t.Parallel()
	c, _ := start(t)
	ctx, root := c.Span(t.Context(), "root")
	defer root.End(nil)
	span := &racedSpan{}
	inner := trace.ContextWithSpan(ctx, span)
	span.between = func() { c.SetTags(inner, "second") }
	c.SetTags(inner, "first")
	if want := `["first","second"]`; span.tags != want {
		t.Errorf("tags %s, want %s", span.tags, want)
	}
}
