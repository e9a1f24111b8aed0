package suite

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"runtime"
	"time"

	httptrace "github.com/DataDog/dd-trace-go/contrib/net/http/v2"
	"github.com/DataDog/dd-trace-go/v2/ddtrace/tracer"
	"github.com/getsentry/sentry-go"
	sentryhttp "github.com/getsentry/sentry-go/http"
	"go.elastic.co/apm/module/apmhttp/v2"
	"go.elastic.co/apm/v2"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/benchmarks/internal/measure"
)

// nowhere answers every request of an agent's client at once.
type nowhere struct{}

func (nowhere) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader([]byte("{}"))), Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}, nil
}

// silent drops what dd-trace-go has to say.
type silent struct{}

func (silent) Log(string) {}

// stream is Elastic's transport to nowhere.
type stream struct{}

func (stream) SendStream(_ context.Context, r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

// wrapRival wraps the program with another vendor's middleware. They live in
// globals, hence a process for each.
func wrapRival(name string) (h http.Handler, stop func(), err error) {
	switch name {
	case "dd-trace-go":
		err = tracer.Start(tracer.WithHTTPClient(&http.Client{Transport: nowhere{}}), tracer.WithLogger(silent{}), tracer.WithService("bench"))
		return httptrace.WrapHandler(Mux(), "bench", "GET /users/{id}"), tracer.Stop, err
	case "elastic apmhttp":
		t, err := apm.NewTracerOptions(apm.TracerOptions{ServiceName: "bench", Transport: stream{}})
		if err != nil {
			return nil, nil, err
		}
		return apmhttp.Wrap(Mux(), apmhttp.WithTracer(t)), t.Close, nil
	case "sentry-go":
		err = sentry.Init(sentry.ClientOptions{Dsn: "http://key@127.0.0.1/1", EnableTracing: true, TracesSampleRate: 1, HTTPTransport: nowhere{}})
		return sentryhttp.New(sentryhttp.Options{}).Handle(Mux()), func() { sentry.Flush(time.Second) }, err
	}
	return nil, nil, fmt.Errorf("no rival %q", name)
}

// rivalChild measures otelhttp and one rival in turn.
func rivalChild(t Task) (Reading, error) {
	h, stop, err := wrapRival(t.Pipeline)
	if err != nil {
		return Reading{}, err
	}
	defer stop()
	live := measure.Heap(64 << 20)
	defer runtime.KeepAlive(live)
	tp := sdk(sdktrace.AlwaysSample())
	defer shutdown(tp)
	return Reading{Series: measure.Alternate(t.Spans, t.Slice, serve(t.Pipeline, h, false), serve("otelhttp", Otelhttp(tp), false))}, nil
}

// middlewareTable has all middleware, and the limits: the bare handler, and the
// SDK's span alone.
func (s *Suite) middlewareTable() Table {
	live := measure.Heap(64 << 20)
	defer runtime.KeepAlive(live)
	series := s.pooled(func() ([]measure.Case, func()) {
		var tps [4]*sdktrace.TracerProvider
		for i := range tps {
			tps[i] = sdk(sdktrace.AlwaysSample())
		}
		stop := func() {
			for _, tp := range tps {
				shutdown(tp)
			}
		}
		return []measure.Case{
			flushed(serve("otelhttp", Otelhttp(tps[0]), false), tps[0]),
			flushed(serve("Waymark", Ours(tps[1]), false), tps[1]),
			serve("limit: bare mux and handler", Mux(), false),
			flushed(spanAlone("limit: the SDK's span alone, 8 attributes at the start", tps[2], 8, 0), tps[2]),
			flushed(spanAlone("limit: the SDK's span alone, 8 attributes at the start, 5 later", tps[3], 8, 5), tps[3]),
		}, stop
	})
	t := Table{
		Title:   "Middleware",
		Note:    "All sampled, a 64 MB live heap, exporters and agents that discard. The last three ran in processes of their own, beside otelhttp. What they drop under this load is not counted here.",
		Columns: []string{"handler", "time", "CPU", "allocs", "bytes", "× otelhttp"},
	}
	row := func(x, base measure.Series) {
		t.Rows = append(t.Rows, []string{
			x.Name, nanos(x.Median(measure.Wall)), nanos(x.Median(measure.CPU)), number(math.Round(x.Median(measure.Allocs))),
			number(math.Round(x.Median(measure.Bytes))), number(measure.Ratio(x, base, s.clock.metric)),
		})
	}
	for _, x := range series {
		row(x, series[0])
	}
	for _, name := range []string{"dd-trace-go", "elastic apmhttp", "sentry-go"} {
		r, err := once(Task{Do: "rival", Pipeline: name, Spans: s.Rounds, Slice: s.Slice})
		if err != nil {
			s.fail(fmt.Errorf("%s: %w", name, err))
			continue
		}
		row(r.Series[0], r.Series[1])
	}
	return t
}

// spanAlone is Start, SetAttributes and End, without HTTP.
func spanAlone(name string, tp *sdktrace.TracerProvider, atStart, later int) measure.Case {
	t := tp.Tracer("github.com/example/shop")
	all := Attributes(0, atStart+later)
	return measure.Case{Name: name, Run: func(n int) {
		for range n {
			_, span := t.Start(context.Background(), "GET /users/{id}", startOptions(all[:atStart])...)
			if later > 0 {
				span.SetAttributes(all[atStart:]...)
			}
			span.End()
		}
	}}
}
