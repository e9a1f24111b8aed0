package middleware_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/baggage"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/capture/capturetest"
	"github.com/waymark-trace/waymark/internal/recorder"
	"github.com/waymark-trace/waymark/middleware"
)

// live returns the bytes of the heap that are in use.
func live() int64 {
	var m runtime.MemStats
	for range 3 { // what a pool holds takes two
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// upload is a form with one file.
func upload(size int) (body []byte, contentType string) {
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	part, _ := m.CreateFormFile("file", "photo.jpg")
	_, _ = part.Write(make([]byte, size))
	_ = m.Close()
	return b.Bytes(), m.FormDataContentType()
}

// A job may keep the context, the span or the writer of its request for hours: what the handler has parsed goes.
func TestWhatIsKeptKeepsNoRequest(t *testing.T) { //nolint:paralleltest // it measures the heap
	const uploads, most = 200, 1 << 10
	body, contentType := upload(1 << 20)
	sdk, dropping := sdktrace.NewTracerProvider(), sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()))
	limits := sdktrace.SpanLimits{AttributeCountLimit: 128, AttributeValueLengthLimit: -1}
	ours, oursDropping := recorder.New(recorder.Config{Limits: limits}), recorder.New(recorder.Config{Sampler: sdktrace.NeverSample()})
	keepContext := func(_ http.ResponseWriter, r *http.Request) any { return context.WithoutCancel(r.Context()) }
	keepSpan := func(_ http.ResponseWriter, r *http.Request) any { return trace.SpanFromContext(r.Context()) }
	for _, tt := range []struct {
		name string
		tp   trace.TracerProvider
		keep func(http.ResponseWriter, *http.Request) any
		most int64
	}{
		{"context", ours, keepContext, most},
		{"context, not sampled", oursDropping, keepContext, most},
		{"writer", ours, func(w http.ResponseWriter, _ *http.Request) any { return w }, most},
		{"span", ours, keepSpan, 4 << 10},
		{"SDK: context", sdk, keepContext, most},
		{"SDK: context, not sampled", dropping, keepContext, most},
		{"SDK: span", sdk, keepSpan, 4 << 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var mu sync.Mutex
			var kept []any
			srv := httptest.NewServer(middleware.New(muxOf("POST /upload/{album}", func(w http.ResponseWriter, r *http.Request) {
				if err := r.ParseMultipartForm(2 << 20); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				kept = append(kept, tt.keep(w, r))
			}), middleware.WithTracerProvider(tt.tp)))
			defer srv.Close()
			send := func() {
				resp, err := srv.Client().Post(srv.URL+"/upload/7?size=1", contentType, bytes.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
			kept = make([]any, 0, uploads+1)
			send() // the connection, the pools
			before := live()
			for range uploads {
				send()
			}
			after := live()
			runtime.KeepAlive(kept)
			each := (after - before) / uploads
			t.Logf("%d bytes each", each)
			if each > tt.most {
				t.Errorf("%d bytes are kept for each request, want at most %d", each, tt.most)
			}
		})
	}
}

// keepContext serves one request and returns the context that its handler had.
func keepContext(tb testing.TB, tp trace.TracerProvider, r *http.Request) context.Context {
	tb.Helper()
	kept := make(chan context.Context, 1)
	middleware.New(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		kept <- context.WithoutCancel(r.Context())
	}), middleware.WithTracerProvider(tp), middleware.WithPropagators(w3c())).ServeHTTP(httptest.NewRecorder(), r)
	return <-kept
}

// A job that goes on after the request is part of its trace, by whichever tracer.
func TestAKeptContextIsStillOfItsTrace(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	r := get("/", "Traceparent", callerHead, "Baggage", "tenant=7")
	r = r.WithContext(context.WithValue(r.Context(), ctxKey{}, "outside"))
	ctx := keepContext(t, tr.TracerProvider(), r)
	server := tr.Span("GET").One()

	span := trace.SpanFromContext(ctx)
	if span.IsRecording() {
		t.Error("the server span records after its end")
	}
	if sc := span.SpanContext(); sc.SpanID() != trace.SpanID(server.SpanID) || sc.TraceID().String() != callerID || !sc.IsSampled() || sc.IsRemote() {
		t.Errorf("the span of the context is %v", sc)
	}
	for name, tp := range map[string]trace.TracerProvider{"job": tr.TracerProvider(), "client": span.TracerProvider()} {
		_, child := tp.Tracer("test").Start(ctx, name)
		child.End()
		if s := tr.Span(name).One(); s.ParentID != server.SpanID || s.TraceID != server.TraceID {
			t.Errorf("%s has the parent %v, want %v", name, s.ParentID, server.SpanID)
		}
	}
	if got := baggage.FromContext(ctx).Member("tenant").Value(); got != "7" {
		t.Errorf("baggage tenant = %q", got)
	}
	if got := ctx.Value(ctxKey{}); got != "outside" {
		t.Errorf("value = %v", got)
	}
}

// The context of a request ends as the server's does, before and after the handler's return.
func TestAKeptContextEndsWithTheServers(t *testing.T) {
	t.Parallel()
	outer, cancel := context.WithDeadline(t.Context(), time.Now().Add(patience))
	defer cancel()
	contexts := make(chan context.Context, 2)
	middleware.New(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		if _, ok := ctx.Deadline(); !ok || ctx.Err() != nil || ctx.Done() != outer.Done() {
			t.Error("the context is not the server's")
		}
		derived, stop := context.WithCancel(ctx)
		t.Cleanup(stop)
		contexts <- ctx
		contexts <- derived
	}), middleware.WithTracerProvider(testSDK(t))).ServeHTTP(httptest.NewRecorder(), get("/").WithContext(outer))
	kept, derived := <-contexts, <-contexts
	if _, ok := kept.Deadline(); !ok || kept.Err() != nil || kept.Done() != outer.Done() {
		t.Error("the context is not the server's after the handler's return")
	}
	cancel()
	<-derived.Done()
	if !errors.Is(kept.Err(), context.Canceled) || !errors.Is(derived.Err(), context.Canceled) {
		t.Errorf("Err = %v, %v", kept.Err(), derived.Err())
	}
}

// adding is a provider whose tracers put something of theirs into the context, or have a span of their own.
type adding struct {
	trace.TracerProvider
	own bool
}

func (p adding) Tracer(name string, opts ...trace.TracerOption) trace.Tracer {
	return addingTracer{p.TracerProvider.Tracer(name, opts...), p.own}
}

type addingTracer struct {
	trace.Tracer
	own bool
}

type ownSpan struct{ trace.Span }

func (t addingTracer) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	inner, span := t.Tracer.Start(ctx, name, opts...)
	if t.own {
		span = &ownSpan{span}
		return trace.ContextWithSpan(ctx, span), span
	}
	return trace.ContextWithSpan(context.WithValue(inner, ctxKey{}, "tracer's"), span), span
}

// What a tracer that is not the SDK alone has in the context, it finds there as long as the context lives.
func TestAKeptContextHasWhatOtherTracersNeed(t *testing.T) {
	t.Parallel()
	if got := keepContext(t, adding{testSDK(t), false}, get("/")).Value(ctxKey{}); got != "tracer's" {
		t.Errorf("value = %v", got)
	}
	if got, ok := trace.SpanFromContext(keepContext(t, adding{testSDK(t), true}, get("/"))).(*ownSpan); !ok {
		t.Errorf("span = %T", got)
	}
}

func testSDK(tb testing.TB) *sdktrace.TracerProvider {
	tb.Helper()
	tp := sdktrace.NewTracerProvider()
	tb.Cleanup(func() { _ = tp.Shutdown(context.Background()) })
	return tp
}

// After the handler's return a writer answers instead of reaching into a response that the server has ended:
// net/http would panic over HTTP/2, and could write into another response over HTTP/1.
func TestAKeptWriterAnswers(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"1.1", "2"} {
		_, tr := capturetest.Start(t)
		kept := make(chan http.ResponseWriter, 1)
		srv := serveVersion(t, version, wrap(tr, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "ok")
			kept <- w
		})))
		resp, err := srv.Client().Get(srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if string(body) != "ok" || err != nil {
			t.Fatalf("%s: body %q, %v", version, body, err)
		}
		tr.Wait("GET", 1)
		late(t, <-kept)
	}
}

func late(t *testing.T, w http.ResponseWriter) {
	t.Helper()
	w.Header().Set("X-Late", "1")
	w.WriteHeader(http.StatusTeapot)
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
	if c, ok := w.(http.CloseNotifier); ok { //nolint:staticcheck // it exists
		<-c.CloseNotify()
	}
	c := http.NewResponseController(w)
	_, written := io.WriteString(w, "late")
	_, copied := io.Copy(w, strings.NewReader("late"))
	_, direct := w.Write([]byte("late"))
	_, _, hijacked := c.Hijack()
	for name, err := range map[string]error{
		"WriteString": written, "ReadFrom": copied, "Write": direct, "Hijack": hijacked, "Flush": c.Flush(),
		"SetReadDeadline": c.SetReadDeadline(time.Time{}), "SetWriteDeadline": c.SetWriteDeadline(time.Time{}),
		"EnableFullDuplex": c.EnableFullDuplex(),
	} {
		if err == nil {
			t.Errorf("%s after the handler's return is no error", name)
		}
	}
	if u, ok := w.(interface{ Unwrap() http.ResponseWriter }); !ok || u.Unwrap() != nil {
		t.Error("Unwrap leads to a writer after the handler's return")
	}
}
