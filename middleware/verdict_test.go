package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/capture/capturetest"
	"github.com/waymark-trace/waymark/internal/request"
	"github.com/waymark-trace/waymark/middleware"
	"github.com/waymark-trace/waymark/traces"
)

// wantException wants one event and no other: the SDK must not record the panic again.
func wantException(tb testing.TB, s *traces.Span, typ, message, frame string) {
	tb.Helper()
	got := slices.Collect(s.Exceptions())
	if len(got) != 1 || len(s.Events) != 1 {
		tb.Fatalf("events %v, want one exception", s.Events)
	}
	if e := got[0]; e.Type != typ || e.Message != message || !strings.Contains(e.Stacktrace, frame) {
		tb.Errorf("exception = %q, %q; stack shows %s: %v", e.Type, e.Message, frame, strings.Contains(e.Stacktrace, frame))
	}
}

type customPanic struct{ code int }

type uncomparable []int

func (uncomparable) Error() string { return "uncomparable" }

func nilDereference() {
	var p *customPanic
	_ = p.code //nolint:govet // on purpose
}

func TestPanicValues(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, typ, message string
		do                 func()
	}{
		{"string", "string", "boom", func() { panic("boom") }},
		{"int", "int", "7", func() { panic(7) }},
		{"struct", "github.com/waymark-trace/waymark/middleware_test.customPanic", "{3}", func() { panic(customPanic{3}) }},
		{"pointer", "*middleware_test.customPanic", "&{3}", func() { panic(&customPanic{3}) }},
		{"nil", "*runtime.PanicNilError", "panic called with nil argument", func() { panic(nil) }}, //nolint:govet // on purpose
		{"runtime error", "runtime.errorString", "runtime error: invalid memory address or nil pointer dereference", nilDereference},
		{"uncomparable error", "github.com/waymark-trace/waymark/middleware_test.uncomparable", "uncomparable", func() { panic(uncomparable{1}) }},
		{"wrapped abort is a panic", "*fmt.wrapError", "x: net/http: abort Handler", func() { panic(fmt.Errorf("x: %w", http.ErrAbortHandler)) }},
		{"long message", "string", strings.Repeat("x", 4096), func() { panic(strings.Repeat("x", 10000)) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tr, value := panicsWith(t, muxOf("/a", func(http.ResponseWriter, *http.Request) { tt.do() }), get("/a"))
			if value == nil {
				t.Fatal("the panic was swallowed")
			}
			s := tr.Span("GET /a").Err().Attr("error.type", tt.typ).NoAttr("http.response.status_code").One()
			wantException(t, s, tt.typ, tt.message, "TestPanicValues")
		})
	}
}

type pair[A, B any] struct{}

// The name of a type with parameters has those of its parameters in it.
func TestLongTypeName(t *testing.T) {
	t.Parallel()
	type four = pair[pair[customPanic, customPanic], pair[customPanic, customPanic]]
	tr, _ := panicsWith(t, muxOf("/a", func(http.ResponseWriter, *http.Request) { panic(pair[four, four]{}) }), get("/a"))
	v, _ := tr.Span("GET /a").Err().One().Attr("error.type")
	if got := v.AsString(); len(got) != 256 || !strings.HasPrefix(got, "github.com/waymark-trace/waymark/middleware_test.pair[") {
		t.Errorf("error.type is %d bytes: %s", len(got), got)
	}
}

func TestPanicAfterTheHeaderKeepsTheCode(t *testing.T) {
	t.Parallel()
	tr, _ := panicsWith(t, status2(http.StatusAccepted, func() { panic("boom") }), get("/"))
	tr.Span("GET").Err().Attr("http.response.status_code", 202).Attr("error.type", "string")
}

func TestInvalidStatusCodeIsAPanicWithoutACode(t *testing.T) {
	t.Parallel()
	tr, value := panicsWith(t, status(42), get("/"))
	if !strings.Contains(fmt.Sprint(value), "42") {
		t.Errorf("raised again: %v", value)
	}
	tr.Span("GET").Err().Attr("error.type", "string").NoAttr("http.response.status_code")
}

func TestPanicRecordingOfTheSDKStaysOut(t *testing.T) {
	t.Parallel()
	for _, opts := range [][]sdktrace.TracerProviderOption{nil, {sdktrace.WithoutPanicRecording()}} {
		_, tr := capturetest.Start(t, capturetest.WithProviderOptions(opts...))
		func() {
			defer func() { _ = recover() }()
			wrap(tr, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("boom") })).ServeHTTP(httptest.NewRecorder(), get("/"))
		}()
		if s := tr.Span("GET").One(); len(s.Events) != 1 {
			t.Errorf("events %v, want 1", s.Events)
		}
	}
}

func TestGoexit(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	var wg sync.WaitGroup
	wg.Go(func() {
		wrap(tr, muxOf("/a", func(http.ResponseWriter, *http.Request) { runtime.Goexit() })).ServeHTTP(httptest.NewRecorder(), get("/a"))
	})
	wg.Wait()
	tr.Span("GET /a").Err().Attr("error.type", "runtime.Goexit").NoAttr("http.response.status_code")
}

// TimeoutHandler runs the handler in another goroutine and raises its panic in ours, whose stack says nothing.
func TestPanicUnderTimeoutHandlerHasTheStackOfTheHandler(t *testing.T) {
	t.Parallel()
	h := http.TimeoutHandler(middleware.Routes(muxOf("/a/{b}", func(http.ResponseWriter, *http.Request) { nilDereference() })), patience, "")
	tr, _ := panicsWith(t, h, get("/a/1"))
	wantException(t, tr.Span("GET /a/{b}").Err().One(), "runtime.errorString", "runtime error: invalid memory address or nil pointer dereference", "nilDereference")
}

func TestPanicThroughRoutesHasOneFullStack(t *testing.T) {
	t.Parallel()
	tr, _ := panicsWith(t, copying(middleware.Routes(muxOf("/a/{b}", func(http.ResponseWriter, *http.Request) { nilDereference() }))), get("/a/1"))
	wantException(t, tr.Span("GET /a/{b}").One(), "runtime.errorString", "runtime error: invalid memory address or nil pointer dereference", "copying")
}

func TestRecoveredPanicIsWhatWasAnswered(t *testing.T) {
	t.Parallel()
	recovering := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if recover() != nil {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}()
		middleware.Routes(muxOf("/a", func(http.ResponseWriter, *http.Request) { panic("x") })).ServeHTTP(w, r)
	})
	tr := one(t, recovering, get("/a"))
	s := tr.Span("GET /a").Err().Attr("error.type", "500").Attr("http.response.status_code", 500).One()
	if len(s.Events) != 0 {
		t.Error("a recovered panic is an event")
	}
}

func TestStatusByCode(t *testing.T) {
	t.Parallel()
	for _, code := range []int{101, 200, 204, 304, 400, 404, 429, 499} {
		one(t, status(code), get("/")).Span("GET").NoErr().Attr("http.response.status_code", code).NoAttr("error.type")
	}
	for _, code := range []int{500, 599, 600} {
		one(t, status(code), get("/")).Span("GET").Err().Attr("http.response.status_code", code).Attr("error.type", strconv.Itoa(code))
	}
	tr := one(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), get("/"))
	tr.Span("GET").NoErr().Attr("http.response.status_code", 200)
}

// failing is a writer that fails.
type failing struct {
	*httptest.ResponseRecorder
	err error
}

func (f failing) Write([]byte) (int, error)       { return 0, f.err }
func (f failing) WriteString(string) (int, error) { return 0, f.err }
func (f failing) FlushError() error               { return f.err }
func (f failing) ReadFrom(r io.Reader) (int64, error) {
	n, _ := io.Copy(io.Discard, r)
	return n, f.err
}

func TestFailedWrites(t *testing.T) {
	t.Parallel()
	write := func(w http.ResponseWriter) { _, _ = w.Write([]byte("x")) }
	ways := map[string]func(http.ResponseWriter){
		"Write":       write,
		"WriteString": func(w http.ResponseWriter) { _, _ = io.WriteString(w, "x") },
		"ReadFrom":    func(w http.ResponseWriter) { _, _ = as[io.ReaderFrom](w).ReadFrom(strings.NewReader("x")) },
		"Flush":       func(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() },
		"the first counts": func(w http.ResponseWriter) {
			write(w)
			_, _ = w.Write(nil)
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, tr := capturetest.Start(t)
			h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusCreated)
				way(w)
			})
			full := &fs.PathError{Op: "write", Path: "/cache", Err: syscall.ENOSPC}
			wrap(tr, h).ServeHTTP(failing{httptest.NewRecorder(), full}, get("/"))
			tr.Span("GET").Err().Attr("error.type", "*fs.PathError").Attr("http.response.status_code", 201).NoAttr("waymark.http.end")
		})
	}
}

func TestWriteErrorsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, err := range []error{http.ErrBodyNotAllowed, http.ErrHijacked} {
		_, tr := capturetest.Start(t)
		h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotModified)
			_, _ = w.Write([]byte("x"))
		})
		wrap(tr, h).ServeHTTP(failing{httptest.NewRecorder(), err}, get("/"))
		tr.Span("GET").NoErr().NoAttr("error.type")
	}

	// The response to a HEAD is whole with its header, also where HEAD is not among the methods that count.
	for name, opts := range map[string][]middleware.Option{"HEAD": nil, "HTTP": {middleware.WithKnownMethods(http.MethodGet)}} {
		_, tr := capturetest.Start(t)
		h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusOK)
			_, _ = w.Write([]byte("x"))
		})
		wrap(tr, h, opts...).ServeHTTP(failing{httptest.NewRecorder(), io.ErrClosedPipe}, httptest.NewRequest(http.MethodHead, "/", http.NoBody))
		tr.Span(name).NoErr().NoAttr("error.type")
	}
}

func TestErrorTypes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want string
	}{
		{context.Canceled, "canceled"},
		{os.ErrDeadlineExceeded, "timeout"},
		{context.DeadlineExceeded, "timeout"},
		{fmt.Errorf("read: %w", io.ErrUnexpectedEOF), "unexpected_eof"},
		{errors.New("x"), "*errors.errorString"},
	} {
		tr := one(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			request.FromContext(r.Context()).SetError(tt.err)
		}), get("/"))
		tr.Span("GET").Err().Attr("error.type", tt.want)
	}
}

// brokenBody fails as a connection does.
type brokenBody struct{ err error }

func (b brokenBody) Read([]byte) (int, error) { return 0, b.err }
func (b brokenBody) Close() error             { return nil }

func TestFailedReads(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want string
	}{
		{io.ErrUnexpectedEOF, "unexpected_eof"},
		{io.EOF, ""},
		{http.ErrBodyReadAfterClose, ""},
		{&http.MaxBytesError{Limit: 1}, ""},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", brokenBody{tt.err})
		tr := one(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.ReadAll(r.Body)
			w.WriteHeader(http.StatusBadRequest)
		}), r)
		text(tr.Span("POST").Attr("http.response.status_code", 400), "error.type", tt.want)
	}
}

// What the layers of a request say about its user is on the server span, whoever started it.
func TestRecordAttributesReachTheServerSpan(t *testing.T) {
	t.Parallel()
	tr := one(t, copying(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		request.FromContext(r.Context()).SetAttributes(attribute.String("user.id", "u1"))
	})), get("/"))
	tr.Span("GET").Attr("user.id", "u1")
}

func TestEarlyEnds(t *testing.T) {
	t.Parallel()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	caused, cause := context.WithCancelCause(t.Context())
	cause(errors.New("shutting down"))
	late, stop := context.WithTimeout(t.Context(), -1)
	defer stop()
	for want, ctx := range map[string]context.Context{
		"client_disconnected": canceled, "canceled": caused, "timeout": late, "": t.Context(),
	} {
		tr := one(t, status(http.StatusOK), get("/").WithContext(ctx))
		text(tr.Span("GET").NoErr(), "waymark.http.end", want)
	}
}

func TestStreams(t *testing.T) {
	t.Parallel()
	flushes := func(n int, contentType string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			for range n {
				_, _ = w.Write([]byte("data: x\n\n"))
				as[http.Flusher](w).Flush()
			}
		}
	}
	for _, tt := range []struct {
		name string
		h    http.Handler
		want string
	}{
		{"plain", flushes(0, "text/plain"), ""},
		{"one flush", flushes(1, "text/plain"), ""},
		{"two flushes", flushes(2, "application/x-ndjson"), "flushed"},
		{"sse", flushes(1, "Text/Event-Stream; charset=utf-8"), "sse"},
		{"101", status(http.StatusSwitchingProtocols), "upgrade"},
	} {
		tr := one(t, tt.h, get("/"))
		text(tr.Span("GET"), "waymark.http.stream", tt.want)
	}
}
