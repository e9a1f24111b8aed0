package middleware

import (
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// What is too much is left out: a panic here would cost the span.
func TestScratchIsBounded(t *testing.T) {
	t.Parallel()
	s := getScratch()
	defer s.release()
	for range maxAttributes {
		s.str("a", "text")
		s.num("b", 1)
	}
	if got := len(s.attrs[:s.n]); got != maxAttributes {
		t.Errorf("%d attributes, want %d", got, maxAttributes)
	}
	s.str("empty", "")
	s.num("zero", 0)
	s.start()
}

// What is pooled keeps nothing of the request it was used for.
func TestScratchForgets(t *testing.T) {
	t.Parallel()
	s := getScratch()
	defer s.release()
	s.str("a", "secret")
	s.more = []attribute.KeyValue{attribute.String("b", "secret")}
	_ = append(s.options[:0], s.start(), trace.WithLinks(trace.Link{}))
	s.forget()
	if s.attrs[0].Valid() || s.options[0] != nil || s.options[1] != nil || s.more != nil || s.n != 0 {
		t.Error("a scratch keeps what it was given")
	}
}
