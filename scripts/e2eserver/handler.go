package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/bootstrap"
)

const scopeName = "github.com/waymark-trace/waymark/scripts/e2eserver"

// maxBurst bounds what one request may make.
const maxBurst = 100_000

type server struct {
	tracing *bootstrap.Tracing
	tracer  trace.Tracer
	client  *http.Client
}

// newHandler serves the routes with tracing, and the account without.
func newHandler(tracing *bootstrap.Tracing) http.Handler {
	s := &server{
		tracing: tracing,
		tracer: tracing.TracerProvider().Tracer(scopeName,
			trace.WithInstrumentationVersion("1.2.3"),
			trace.WithSchemaURL("https://example.test/schema"),
			trace.WithInstrumentationAttributes(attribute.Int("scope.rank", 7))),
		client: &http.Client{Transport: tracing.Transport(http.DefaultTransport), Timeout: time.Minute},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello/{name}", s.hello)
	mux.HandleFunc("GET /kinds", s.kinds)
	mux.HandleFunc("GET /burst", s.burst)
	mux.HandleFunc("GET /call", s.call)
	mux.HandleFunc("GET /child", s.child)
	outer := http.NewServeMux()
	outer.HandleFunc("GET /report", s.report)
	outer.Handle("/", tracing.Middleware()(mux))
	return outer
}

func (s *server) report(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(s.tracing.Report())
}

func (s *server) hello(w http.ResponseWriter, r *http.Request) {
	_, span := s.tracer.Start(r.Context(), "greet", trace.WithAttributes(attribute.String("name", r.PathValue("name"))))
	span.End()
	fmt.Fprintf(w, "hello, %s\n", r.PathValue("name"))
}

// everyKind is an attribute of each kind, with the values that encodings get
// wrong.
func everyKind() []attribute.KeyValue {
	return []attribute.KeyValue{
		{Key: "empty"},
		attribute.Bool("bool", true),
		attribute.Bool("bool.false", false),
		attribute.Int64("int.zero", 0),
		attribute.Int64("int.min", math.MinInt64),
		attribute.Int64("int.max", math.MaxInt64),
		attribute.Float64("float", 0.1),
		attribute.Float64("float.whole", 3),
		attribute.Float64("float.tiny", math.SmallestNonzeroFloat64),
		attribute.Float64("float.huge", math.MaxFloat64),
		attribute.Float64("float.negative_zero", math.Copysign(0, -1)),
		attribute.Float64("float.nan", math.NaN()),
		attribute.Float64("float.inf", math.Inf(1)),
		attribute.Float64("float.minus_inf", math.Inf(-1)),
		attribute.String("string", "<a href=\"x\">&amp;</a> \u2028 \x00 \x1f \\ é 🜁"),
		attribute.String("string.empty", ""),
		attribute.String("", "of the empty key"),
		attribute.BoolSlice("bools", []bool{true, false}),
		attribute.Int64Slice("ints", []int64{1, math.MinInt64, math.MaxInt64}),
		attribute.Float64Slice("floats", []float64{0.5, math.NaN(), math.Inf(1)}),
		attribute.StringSlice("strings", []string{"", "a", "\t"}),
		attribute.StringSlice("strings.empty", []string{}),
		attribute.ByteSlice("bytes", []byte{0, 1, 0xfb, 0xff}),
		attribute.ByteSlice("bytes.empty", nil),
		attribute.Slice("mixed", attribute.IntValue(1), attribute.StringValue("two"), attribute.Value{},
			attribute.SliceValue(attribute.BoolValue(true)), attribute.MapValue(attribute.Int("k", 1))),
		attribute.Map("map", attribute.String("a", "b"), attribute.Map("inner", attribute.Float64("pi", 3.25)), attribute.ByteSlice("raw", []byte("\xff"))),
	}
}

// kinds makes spans with everything that a span can hold.
func (s *server) kinds(w http.ResponseWriter, r *http.Request) {
	for _, kind := range []trace.SpanKind{
		trace.SpanKindInternal, trace.SpanKindServer, trace.SpanKindClient, trace.SpanKindProducer, trace.SpanKindConsumer,
	} {
		s.kind(r.Context(), kind)
	}
	fmt.Fprintln(w, "made")
}

func (s *server) kind(ctx context.Context, kind trace.SpanKind) {
	state, err := trace.ParseTraceState("vendor=value,other@tenant=x")
	if err != nil {
		panic(err)
	}
	elsewhere := trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{15: 9}, SpanID: trace.SpanID{7: 9}, TraceFlags: trace.FlagsSampled, TraceState: state, Remote: true,
	})
	here := trace.SpanContextFromContext(ctx)
	_, span := s.tracer.Start(ctx, "every "+kind.String(), trace.WithSpanKind(kind),
		trace.WithAttributes(everyKind()...),
		trace.WithLinks(
			trace.Link{SpanContext: elsewhere, Attributes: everyKind()},
			trace.Link{SpanContext: here}))
	defer span.End()
	span.AddEvent("bare")
	span.AddEvent("full", trace.WithAttributes(everyKind()...), trace.WithTimestamp(time.Unix(1, 23)))
	switch kind {
	case trace.SpanKindClient:
		span.RecordError(errors.New("broken \"pipe\""))
		span.SetStatus(codes.Error, "broken \"pipe\"")
	case trace.SpanKindConsumer:
		span.SetStatus(codes.Ok, "")
	default:
	}
}

// burst ends n spans, with so many bytes each, before it answers.
func (s *server) burst(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.FormValue("n"))
	size, err2 := strconv.Atoi(r.FormValue("bytes"))
	if err = errors.Join(err, err2); err != nil || n < 0 || n > maxBurst || size < 0 || size > 1<<20 {
		http.Error(w, "n and bytes must be numbers in bounds", http.StatusBadRequest)
		return
	}
	ballast := strings.Repeat("x", size)
	for i := range n {
		_, span := s.tracer.Start(r.Context(), "burst", trace.WithAttributes(attribute.Int("i", i), attribute.String("ballast", ballast)))
		span.End()
	}
	fmt.Fprintln(w, n)
}

// call gets the URL and answers with what it got; the tests name none but
// servers of their own.
func (s *server) call(w http.ResponseWriter, r *http.Request) {
	req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, r.FormValue("url"), http.NoBody)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	resp, err := s.client.Do(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, io.LimitReader(resp.Body, 1<<20))
}
