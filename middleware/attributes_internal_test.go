package middleware

import (
	"strings"
	"testing"
	"unicode/utf8"

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

// A query is cut before and after its secrets are replaced: what stands for a secret may be longer than it.
func TestQueryIsBounded(t *testing.T) {
	t.Parallel()
	s := newSettings(config{})
	for _, tt := range []struct {
		name, raw string
		length    int
	}{
		{"no secret", strings.Repeat("a", 1<<20), maxQuery},
		{"secrets alone", strings.Repeat("sig=x&", 1<<17), 2 * maxQuery},
		{"no UTF-8", "a=\xff", len("a=\uFFFD")},
	} {
		got := s.urlQuery(tt.raw)
		if len(got) > tt.length || len(got) < tt.length-utf8.UTFMax || strings.Contains(got, "=x") || !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes, want %d; secrets %v, valid %v", tt.name, len(got), tt.length, strings.Contains(got, "=x"), utf8.ValidString(got))
		}
	}
}
