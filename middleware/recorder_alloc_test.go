package middleware_test

import (
	"context"
	"net/http"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/internal/recorder"
	"github.com/waymark-trace/waymark/middleware"
)

// ignoring is a processor that keeps nothing.
type ignoring struct{}

func (ignoring) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (ignoring) OnEnd(sdktrace.ReadOnlySpan)                     {}
func (ignoring) ForceFlush(context.Context) error                { return nil }
func (ignoring) Shutdown(context.Context) error                  { return nil }

// The allocations of a request whose span is of Waymark's own provider, the mux's included; with the SDK's a
// sampled one takes 12 (TestAllocations).
func TestAllocationsOfOurProvider(t *testing.T) {
	if middleware.RaceEnabled {
		t.Skip("the race detector allocates too: the plain run counts")
	}
	for _, tt := range []struct {
		name    string
		sampler sdktrace.Sampler
		most    float64
	}{
		{"sampled", sdktrace.AlwaysSample(), 7},
		{"not sampled", sdktrace.NeverSample(), 6},
	} {
		tp := recorder.New(recorder.Config{
			Sampler: tt.sampler, Limits: sdktrace.SpanLimits{AttributeValueLengthLimit: -1, AttributeCountLimit: 128},
			Processors: []sdktrace.SpanProcessor{ignoring{}},
		})
		h, w, r, fresh := waymark(tp), &benchWriter{http.Header{}}, benchRequest(false), new(http.Request)
		r = r.WithContext(context.WithValue(r.Context(), http.ServerContextKey, &http.Server{Handler: h}))
		got := testing.AllocsPerRun(1000, func() {
			*fresh = *r // the mux leaves the route on it
			h.ServeHTTP(w, fresh)
		})
		t.Logf("%s: %v allocations", tt.name, got)
		if got > tt.most {
			t.Errorf("%s: %v allocations, want at most %v", tt.name, got, tt.most)
		}
	}
}
