package middleware

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/waymark-trace/waymark/internal/request"
)

// However many attributes there are, all reach the span, at its start and at its end.
func TestScratchLosesNothing(t *testing.T) {
	t.Parallel()
	for n := range 3 * maxAttributes {
		s := getScratch()
		var want []attribute.KeyValue
		for i := range n {
			kv := attribute.Int(fmt.Sprint("n", i), i+1)
			if i%2 == 0 {
				kv = attribute.String(fmt.Sprint("s", i), "text")
				s.str(kv.Key, "text")
			} else {
				s.num(kv.Key, i+1)
			}
			want = append(want, kv)
		}
		s.str("empty", "")
		s.num("zero", 0)
		cfg := trace.NewSpanStartConfig(s.start(trace.WithSpanKind(trace.SpanKindServer))...)
		set := &settable{}
		s.set(set)
		s.release()
		for when, got := range map[string][]attribute.KeyValue{"start": cfg.Attributes(), "end": set.attrs} {
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(attribute.Value{})); diff != "" {
				t.Fatalf("%d at the %s (-want +got):\n%s", n, when, diff)
			}
		}
	}
}

type settable struct {
	noop.Span
	attrs []attribute.KeyValue
}

func (s *settable) SetAttributes(kvs ...attribute.KeyValue) { s.attrs = append(s.attrs, kvs...) }

// What the record of a request could not take, the span counts among the dropped.
func TestDroppedAttributesAreCounted(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 16, 17, 1000} {
		ended := tracetest.NewSpanRecorder()
		tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(ended))
		New(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			for range n {
				request.FromContext(r.Context()).SetAttributes(attribute.KeyValue{})
			}
		}), WithTracerProvider(tp)).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", http.NoBody))
		if got := ended.Ended()[0].DroppedAttributes(); got != n {
			t.Errorf("%d dropped attributes, want %d", got, n)
		}
	}
}

// What is pooled keeps nothing of the request it was used for.
func TestScratchForgets(t *testing.T) {
	t.Parallel()
	s := getScratch()
	defer s.release()
	s.str("a", "secret")
	s.more = []attribute.KeyValue{attribute.String("b", "secret")}
	_ = append(s.start(trace.WithSpanKind(trace.SpanKindServer)), trace.WithLinks(trace.Link{}))
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
