package suite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/waymark-trace/waymark/benchmarks/internal/measure"
	"github.com/waymark-trace/waymark/jsonlexport"
)

// export is the case of one exporter under batches.
func export(name string, e sdktrace.SpanExporter, spans []sdktrace.ReadOnlySpan) measure.Case {
	return measure.Case{Name: name, Run: func(n int) {
		for range n {
			if err := e.ExportSpans(context.Background(), spans); err != nil {
				panic(err) // a benchmark of what fails is none
			}
		}
	}}
}

// stdout is the rival that writes readable JSON.
func stdout(w io.Writer) sdktrace.SpanExporter {
	e, err := stdouttrace.New(stdouttrace.WithWriter(w))
	if err != nil {
		panic(err)
	}
	return e
}

// pdata builds the Collector's data and marshals it.
type pdata struct{ w io.Writer }

func (pdata) Shutdown(context.Context) error { return nil }

func (p pdata) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	b, err := (&ptrace.JSONMarshaler{}).MarshalTraces(build(spans))
	if err != nil {
		return err
	}
	_, err = p.w.Write(append(b, '\n'))
	return err
}

func build(spans []sdktrace.ReadOnlySpan) ptrace.Traces {
	traces := ptrace.NewTraces()
	rs := traces.ResourceSpans().AppendEmpty()
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName(spans[0].InstrumentationScope().Name)
	ss.Scope().SetVersion(spans[0].InstrumentationScope().Version)
	put(rs.Resource().Attributes(), spans[0].Resource().Attributes())
	ss.Spans().EnsureCapacity(len(spans))
	for _, s := range spans {
		to := ss.Spans().AppendEmpty()
		to.SetTraceID(pcommon.TraceID(s.SpanContext().TraceID()))
		to.SetSpanID(pcommon.SpanID(s.SpanContext().SpanID()))
		to.SetParentSpanID(pcommon.SpanID(s.Parent().SpanID()))
		to.SetFlags(uint32(s.SpanContext().TraceFlags()) | 0x100)
		to.SetName(s.Name())
		to.SetKind(ptrace.SpanKind(s.SpanKind())) //nolint:gosec // a small number
		to.SetStartTimestamp(pcommon.NewTimestampFromTime(s.StartTime()))
		to.SetEndTimestamp(pcommon.NewTimestampFromTime(s.EndTime()))
		put(to.Attributes(), s.Attributes())
		for _, ev := range s.Events() {
			e := to.Events().AppendEmpty()
			e.SetName(ev.Name)
			e.SetTimestamp(pcommon.NewTimestampFromTime(ev.Time))
			put(e.Attributes(), ev.Attributes)
		}
	}
	return traces
}

func put(m pcommon.Map, kvs []attribute.KeyValue) {
	m.EnsureCapacity(len(kvs))
	for _, kv := range kvs {
		switch kv.Value.Type() {
		case attribute.STRING:
			m.PutStr(string(kv.Key), kv.Value.AsString())
		case attribute.INT64:
			m.PutInt(string(kv.Key), kv.Value.AsInt64())
		case attribute.BOOL:
			m.PutBool(string(kv.Key), kv.Value.AsBool())
		case attribute.FLOAT64:
			m.PutDouble(string(kv.Key), kv.Value.AsFloat64())
		default:
			panic(fmt.Sprintf("no attribute of %v here", kv.Value.Type()))
		}
	}
}

// otlp is otlptrace's transform with an encoding after it, and no network.
func otlp(encode func(proto.Message) ([]byte, error)) sdktrace.SpanExporter {
	return otlptrace.NewUnstarted(client(encode))
}

type client func(proto.Message) ([]byte, error)

func (client) Start(context.Context) error { return nil }
func (client) Stop(context.Context) error  { return nil }
func (c client) UploadTraces(_ context.Context, rs []*tracepb.ResourceSpans) error {
	_, err := c(&collector.ExportTraceServiceRequest{ResourceSpans: rs})
	return err
}

func ours(w io.Writer) *jsonlexport.Exporter { return jsonlexport.NewWriter(w) }

// perSpan is what "no allocation a span" is as a number: two a batch, by which its
// caller waits for it, and what the garbage collector takes out of the pools.
const perSpan = 0.005

// exportGoals are P4 and P5.
func (s *Suite) exportGoals(heaps []int) {
	for _, heap := range heaps {
		live := measure.Heap(heap << 20)
		spans := Batch(BatchSize)
		e := ours(io.Discard)
		// By number, not by time: in a short slice on a busy machine the pools that
		// the collector has emptied before it would count.
		allocs := float64(max(1, s.Slowdown)) * measure.Times(export("ours", e, spans), 500).Allocs / BatchSize
		series := s.alternate(export("ours", e, spans), export("stdouttrace", stdout(io.Discard), spans), export("pdata", pdata{io.Discard}, spans))
		s.fail(e.Shutdown(context.Background()))
		what := "export to memory, batches of 512" + heapLabel(heap)
		s.speedRow("P4", what, series[0], series[1], atLeast(25, 35, "×"), "spans", BatchSize)
		if heap > 0 {
			s.add(Row{
				ID: "P4", What: what + ", a span: none, and no more than two a batch", Steady: true, Value: allocs, Goal: atMost(perSpan, none(), " allocs"),
				Ours: number(allocs) + " allocs", Rival: "stdouttrace " + number(series[1].Median(measure.Allocs)/BatchSize) + " allocs",
			})
		}
		s.speedRow("P5", what, series[0], series[2], atLeast(4, 6, "×"), "spans", BatchSize)
		runtime.KeepAlive(live)
	}
}

// writeGoal is P6: the file against a bare write of the same bytes.
func (s *Suite) writeGoal() {
	dir, err := os.MkdirTemp("", "waymark-bench-")
	if err != nil {
		s.fail(err)
		return
	}
	defer func() { s.fail(os.RemoveAll(dir)) }()
	spans := Batch(BatchSize)
	line := lineOf(spans)

	var e *jsonlexport.Exporter
	oursCase := measure.Case{
		Name:  "ours",
		Begin: func() { e = must(jsonlexport.New(filepath.Join(dir, "ours", "spans.jsonl"))) },
		Run:   func(n int) { export("", e, spans).Run(n) },
		End:   func() { s.fail(e.Shutdown(context.Background())) },
	}
	var f *os.File
	raw := measure.Case{
		Name:  "write",
		Begin: func() { f = must(os.Create(filepath.Join(dir, "raw"))) }, //nolint:gosec // our own folder
		Run: func(n int) {
			for range n {
				if _, err := f.Write(line); err != nil {
					panic(err)
				}
			}
		},
		End: func() { s.fail(f.Close()) },
	}
	series := s.alternate(oursCase, raw)
	s.speedRow("P6", "export with write, batches of 512", series[0], series[1], atLeast(0.14, 0.30, "×"), "spans", BatchSize)
}

// lineOf returns what ExportSpans writes for the spans.
func lineOf(spans []sdktrace.ReadOnlySpan) []byte {
	var c collect
	e := ours(&c)
	if err := errors.Join(e.ExportSpans(context.Background(), spans), e.Shutdown(context.Background())); err != nil {
		panic(err)
	}
	return c
}

type collect []byte

func (c *collect) Write(p []byte) (int, error) {
	*c = append(*c, p...)
	return len(p), nil
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// exportTable has every exporter and the physical limits beside it.
func (s *Suite) exportTable() Table {
	spans := Batch(BatchSize)
	line := lineOf(spans)
	into := make([]byte, len(line))
	e := ours(io.Discard)
	cases := []measure.Case{
		export("Waymark, to memory", e, spans),
		export("stdouttrace", stdout(io.Discard), spans),
		export("otlptrace, protojson (ids in base64: not OTLP/JSON)", otlp(protojson.Marshal), spans),
		export("otlptrace, protobuf", otlp(proto.Marshal), spans),
		export("pdata, JSON", pdata{io.Discard}, spans),
		{Name: "limit: copy of the bytes", Run: func(n int) {
			for range n {
				copy(into, line)
			}
		}},
		{Name: "limit: reading the fields of the spans", Run: func(n int) {
			for range n {
				touch(spans)
			}
		}},
		{Name: "limit: search for a newline in the bytes", Run: func(n int) {
			for range n {
				runtime.KeepAlive(newlines(line))
			}
		}},
	}
	series := s.alternate(cases...)
	s.fail(e.Shutdown(context.Background()))
	t := Table{
		Title:   "Exporters",
		Note:    fmt.Sprintf("Batches of %d spans of the SDK with ten attributes, %d bytes a span as OTLP/JSON.", BatchSize, len(line)/BatchSize),
		Columns: []string{"exporter", "time a batch", "CPU a batch", "spans/s", "allocs/span", "× Waymark"},
	}
	for _, x := range series {
		t.Rows = append(t.Rows, []string{
			x.Name, nanos(x.Median(measure.Wall)), nanos(x.Median(measure.CPU)), number(BatchSize * 1e9 / x.Median(s.clock.metric)),
			number(x.Median(measure.Allocs) / BatchSize), number(measure.Ratio(x, series[0], s.clock.metric)),
		})
	}
	return t
}
