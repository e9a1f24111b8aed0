package suite

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"

	"github.com/google/pprof/profile"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/benchmarks/internal/measure"
	"github.com/waymark-trace/waymark/jsonlexport"
)

// sized is a discarding writer that knows how much it has seen.
type sized struct{ bytes int64 }

func (s *sized) Write(p []byte) (int, error) {
	s.bytes += int64(len(p))
	return len(p), nil
}

// ignore is a processor that does nothing, which makes the SDK take its snapshot.
type ignore struct{ keeper }

func (*ignore) OnEnd(sdktrace.ReadOnlySpan) {}

// scaleTable is the cost of a span as it grows in each direction, with our
// exporter and with the SDK alone.
func (s *Suite) scaleTable() Table {
	t := Table{
		Title:   "Scale",
		Note:    "CPU time a span (a request, where requests are said), with a 64 MB live heap: the SDK with a processor that does nothing, the same with our exporter to memory, and what is between them.",
		Columns: []string{"what grows", "to", "SDK alone", "with the file", "ours", "bytes a span", "lost"},
	}
	live := measure.Heap(64 << 20)
	defer runtime.KeepAlive(live)
	for _, n := range []int{0, 1, 4, 8, 16, 32, 64, 128} {
		kvs := Attributes(0, n)
		t.Rows = append(t.Rows, s.scaleRow("attributes", strconv.Itoa(n), 1, spanWith(kvs)))
	}
	for _, n := range []int{10, 100, 1 << 10, 10 << 10, 64 << 10} {
		kvs := []attribute.KeyValue{attribute.String("shop.value", strings.Repeat("v", n))}
		t.Rows = append(t.Rows, s.scaleRow("bytes of a value", strconv.Itoa(n), 1, spanWith(kvs)))
	}
	for _, n := range []int{1, 10, 100, 1_000, 10_000, 100_000} {
		t.Rows = append(t.Rows, s.scaleRow("spans a trace", strconv.Itoa(n), n, func(tp trace.TracerProvider, times int) {
			tracer := tp.Tracer("github.com/example/shop")
			for i := range times {
				Trace(context.Background(), tracer, i, n, 10)
			}
		}))
	}
	for _, n := range []int{1, 10, 100, 1_000} {
		t.Rows = append(t.Rows, s.scaleRow("requests at a time", strconv.Itoa(n), n, concurrently(n)))
	}
	return t
}

// spanWith makes spans with the attributes.
func spanWith(kvs []attribute.KeyValue) func(trace.TracerProvider, int) {
	return func(tp trace.TracerProvider, times int) {
		tracer := tp.Tracer("github.com/example/shop")
		for range times {
			_, span := tracer.Start(context.Background(), "GET /users/{id}")
			span.SetAttributes(kvs...)
			span.End()
		}
	}
}

// concurrently serves requests through the middleware: each of n goroutines as
// many as it is told.
func concurrently(n int) func(trace.TracerProvider, int) {
	clients := map[trace.TracerProvider][]measure.Case{}
	return func(tp trace.TracerProvider, times int) {
		if clients[tp] == nil {
			h := Ours(tp)
			for range n {
				clients[tp] = append(clients[tp], serve("", h, false))
			}
		}
		var wg sync.WaitGroup
		for _, c := range clients[tp] {
			wg.Go(func() { c.Run(times) })
		}
		wg.Wait()
	}
}

func (s *Suite) scaleRow(what, to string, spans int, do func(trace.TracerProvider, int)) []string {
	var out sized
	e := jsonlexport.NewWriter(&out)
	with := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(e), sdktrace.WithRawSpanLimits(limits()))
	bare := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(&ignore{}), sdktrace.WithRawSpanLimits(limits()))
	quick := *s
	quick.Rounds, quick.Slice = s.Rounds/2, s.Slice/2 // there are many rows
	series := quick.alternate(
		measure.Case{Name: "sdk", Run: func(n int) { do(bare, n) }},
		measure.Case{Name: "file", Run: func(n int) { do(with, n) }, End: func() { _ = e.ForceFlush(context.Background()) }},
	)
	shutdown(bare)
	shutdown(with)
	st := e.Stats()
	a, b, n := series[0], series[1], float64(spans)
	return []string{
		what, to, nanos(a.Median(measure.CPU) / n), nanos(b.Median(measure.CPU) / n), nanos(measure.Difference(b, a, measure.CPU) / n), number(math.Round(float64(out.bytes) / float64(max(1, st.Exported)))),
		strconv.FormatUint(st.Ended-st.Exported, 10),
	}
}

// limits are the SDK's defaults, but for what the table grows.
func limits() sdktrace.SpanLimits {
	l := sdktrace.NewSpanLimits()
	l.AttributeCountLimit = 128
	return l
}

// contentionTable says what more cores would meet: the only lock that all
// requests share, how long it is held, and how long it is waited for.
func (s *Suite) contentionTable() (Table, error) {
	t := Table{
		Title:   "Contention",
		Note:    "Requests through the middleware to the exporter, 1,000 at a time. The share is that of CPU time spent while holding the exporter's lock (a CPU profile); the wait is that of the mutex profile, over all mutexes. A share of 1/n is what keeps more than n cores from going quicker.",
		Columns: []string{"GOMAXPROCS", "CPU a request", "share under the lock", "cores until it is full", "waiting a request"},
	}
	for _, procs := range []int{2, 4, 8} {
		row, err := contention(procs)
		if err != nil {
			return t, err
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

func contention(procs int) ([]string, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	e := jsonlexport.NewWriter(io.Discard)
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(e))
	defer shutdown(tp)
	const each, clients = 300, 1000
	const requests = each * clients
	serveAll := concurrently(clients)
	serveAll(tp, each/10)

	before, err := mutexWait()
	if err != nil {
		return nil, err
	}
	defer runtime.SetMutexProfileFraction(runtime.SetMutexProfileFraction(1))
	var cpu bytes.Buffer
	if err := pprof.StartCPUProfile(&cpu); err != nil {
		return nil, err
	}
	start := measure.ProcessCPU()
	serveAll(tp, each)
	took := measure.ProcessCPU() - start
	pprof.StopCPUProfile()
	after, err := mutexWait()
	if err != nil {
		return nil, err
	}
	share, err := shareOf(&cpu, "jsonlexport.(*Exporter).enqueue")
	if err != nil {
		return nil, err
	}
	full := "–"
	if share > 0 {
		full = number(math.Round(1 / share))
	}
	return []string{
		strconv.Itoa(procs), nanos(float64(took) / requests), number(100*share) + " %", full, nanos(float64(after-before) / requests),
	}, nil
}

// shareOf returns the share of samples of a CPU profile in which the function is on the stack.
func shareOf(r io.Reader, function string) (float64, error) {
	p, err := profile.Parse(r)
	if err != nil {
		return 0, fmt.Errorf("read profile: %w", err)
	}
	var in, all int64
	for _, sample := range p.Sample {
		v := sample.Value[len(sample.Value)-1]
		all += v
		for _, loc := range sample.Location {
			if has(loc, function) {
				in += v
				break
			}
		}
	}
	return float64(in) / float64(max(1, all)), nil
}

func has(loc *profile.Location, function string) bool {
	for _, line := range loc.Line {
		if line.Function != nil && strings.HasSuffix(line.Function.Name, function) {
			return true
		}
	}
	return false
}

// mutexWait is what the goroutines have waited for mutexes so far, in nanoseconds.
func mutexWait() (int64, error) {
	var b bytes.Buffer
	if err := pprof.Lookup("mutex").WriteTo(&b, 0); err != nil {
		return 0, err
	}
	p, err := profile.Parse(&b)
	if err != nil {
		return 0, err
	}
	var sum int64
	for _, sample := range p.Sample {
		sum += sample.Value[len(sample.Value)-1]
	}
	return sum, nil
}
