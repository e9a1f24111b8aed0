package suite

import (
	"context"
	"math"
	"net/http"
	"reflect"
	"runtime"
	"slices"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/waymark-trace/waymark/benchmarks/internal/measure"
	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/env"
)

// serve is the case of one handler, that of a server, under one request.
func serve(name string, h http.Handler, traceparent bool) measure.Case {
	w, r := newResponseWriter(), Request(traceparent)
	r = r.WithContext(context.WithValue(r.Context(), http.ServerContextKey, &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}))
	fresh := new(http.Request)
	return measure.Case{Name: name, Run: func(n int) {
		for range n {
			*fresh = *r // the mux and the wrappers leave the route on it
			h.ServeHTTP(w, fresh)
		}
	}}
}

// middlewareGoals are P1 and P2.
func (s *Suite) middlewareGoals(heaps []int) {
	for _, heap := range heaps {
		live := measure.Heap(heap << 20)
		s.sampled(heap)
		s.notSampled(heap)
		runtime.KeepAlive(live)
	}
}

// pooled makes the middleware and its providers anew s.Rounds times, each for one way there and back, and returns the
// means of the two as the rounds of one series for each case. How long a span takes to its processor's goroutine depends on
// who sleeps and who wakes whom, which one instance keeps for seconds: the ratios of two differ by a tenth. Every other
// instance begins at the other end, or its two ways would have otelhttp after ours once, and ours after otelhttp twice.
func (s *Suite) pooled(instance func() (cases []measure.Case, stop func())) []measure.Series {
	var all []measure.Series
	for i := range s.Rounds {
		cases, stop := instance()
		s.slow(cases)
		if i%2 == 1 {
			slices.Reverse(cases)
		}
		series := measure.Alternate(2, s.Slice, cases...)
		if i%2 == 1 {
			slices.Reverse(series)
		}
		stop()
		if all == nil {
			all = make([]measure.Series, len(series))
		}
		for i, x := range series {
			all[i].Name = x.Name
			all[i].Samples = append(all[i].Samples, x.Mean())
		}
	}
	return all
}

// against runs our middleware and otelhttp in turn, in pairs of providers.
func (s *Suite) against(sampler sdktrace.Sampler, traceparent bool) (ours, rival measure.Series) {
	series := s.pooled(func() ([]measure.Case, func()) {
		a, b := sdk(sampler), sdk(sampler)
		return []measure.Case{
			flushed(serve("ours", Ours(a), traceparent), a),
			flushed(serve("otelhttp", Otelhttp(b), traceparent), b),
		}, func() { shutdown(a); shutdown(b) }
	})
	return series[0], series[1]
}

// flushed ends each slice with an empty queue: what one side leaves in it would be worked off on the other's time.
func flushed(c measure.Case, tp *sdktrace.TracerProvider) measure.Case {
	c.End = func() { _ = tp.ForceFlush(context.Background()) }
	return c
}

func (s *Suite) sampled(heap int) {
	s.pair("P1", heap, "sampled, batch processor that discards", sdktrace.AlwaysSample(),
		atMost(0.60, 0.50, "×"), atMost(14, none(), " allocs"), atMost(17, none(), " allocs"))
}

func (s *Suite) notSampled(heap int) {
	s.pair("P2", heap, "not sampled", sdktrace.NeverSample(),
		atMost(0.30, 0.20, "×"), atMost(7, none(), " allocs"), atMost(10, none(), " allocs"))
}

// pair adds the rows of one sampler: time and allocations, without and with a traceparent.
func (s *Suite) pair(id string, heap int, what string, sampler sdktrace.Sampler, time, allocs, allocsParent Goal) {
	for _, traceparent := range []bool{false, true} {
		ours, rival := s.against(sampler, traceparent)
		label := "middleware, " + what
		if traceparent {
			label += ", with a traceparent"
			allocs = allocsParent
		}
		s.timeRow(id, label+heapLabel(heap), ours, rival, time)
		if heap == 0 {
			continue // as many as on the other heap
		}
		s.add(Row{
			ID: id, What: label, Steady: true, Goal: allocs, Value: math.Round(ours.Median(measure.Allocs)),
			Ours: number(math.Round(ours.Median(measure.Allocs))) + " allocs", Rival: "otelhttp " + number(math.Round(rival.Median(measure.Allocs))) + " allocs",
		})
	}
}

// off is P3: with the switch off the handler is the program's own.
func (s *Suite) off() {
	mux := Mux()
	tracing, err := bootstrap.Start(context.Background(), bootstrap.Config{App: "bench", Lookup: env.Map{}})
	if err != nil {
		s.fail(err)
		return
	}
	defer func() { _ = tracing.Shutdown(context.Background()) }()
	wrapped := tracing.Middleware()(mux)
	same := 0.0
	if reflect.ValueOf(wrapped).Pointer() == reflect.ValueOf(mux).Pointer() {
		same = 1
	}
	series := s.alternate(serve("ours", wrapped, false), serve("otelhttp", Otelhttp(noop.NewTracerProvider()), false), serve("bare", mux, false))
	ours, rival, floor := series[0].Median(measure.Allocs), series[1].Median(measure.Allocs), series[2].Median(measure.Allocs)
	s.add(
		Row{ID: "P3", What: "off: the same handler value (1: yes)", Ours: number(same), Rival: "otelhttp, no-op provider: no", Value: same, Goal: atLeast(1, none(), ""), Steady: true},
		Row{
			ID: "P3", What: "off: allocations beyond the handler's own", Ours: number(math.Round(ours-floor)) + " allocs",
			Rival: "otelhttp, no-op provider " + number(math.Round(rival-floor)) + " allocs", Value: math.Round(ours - floor), Goal: atMost(0, none(), " allocs"), Steady: true,
		},
	)
}
