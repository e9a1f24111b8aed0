package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/internal/request"
	"github.com/waymark-trace/waymark/middleware"
)

func wantException(tb testing.TB, s span, typ, message, frame string) {
	tb.Helper()
	for _, e := range s.Events() {
		if e.Name != "exception" {
			continue
		}
		got := map[attribute.Key]string{}
		for _, kv := range e.Attributes {
			got[kv.Key] = kv.Value.AsString()
		}
		if got["exception.type"] != typ || got["exception.message"] != message || !strings.Contains(got["exception.stacktrace"], frame) {
			tb.Errorf("exception = %q, %q; stack shows %s: %v", got["exception.type"], got["exception.message"], frame,
				strings.Contains(got["exception.stacktrace"], frame))
		}
		return
	}
	tb.Error("no exception event")
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
			s, value := panicsWith(t, muxOf("/a", func(http.ResponseWriter, *http.Request) { tt.do() }), get("/a"))
			if value == nil {
				t.Fatal("the panic was swallowed")
			}
			s.wantName("GET /a").wantStatus(codes.Error).want("error.type", tt.typ, "http.response.status_code", "")
			if len(s.Events()) != 1 {
				t.Errorf("%d events, want 1", len(s.Events()))
			}
			wantException(t, s, tt.typ, tt.message, "TestPanicValues")
		})
	}
}

func TestPanicAfterTheHeaderKeepsTheCode(t *testing.T) {
	t.Parallel()
	s, _ := panicsWith(t, status2(http.StatusAccepted, func() { panic("boom") }), get("/"))
	s.wantStatus(codes.Error).want("http.response.status_code", "202", "error.type", "string")
}

func TestInvalidStatusCodeIsAPanicWithoutACode(t *testing.T) {
	t.Parallel()
	s, value := panicsWith(t, status(42), get("/"))
	if !strings.Contains(fmt.Sprint(value), "42") {
		t.Errorf("raised again: %v", value)
	}
	s.wantStatus(codes.Error).want("http.response.status_code", "", "error.type", "string")
}

func TestPanicRecordingOfTheSDKStaysOut(t *testing.T) {
	t.Parallel()
	for _, opts := range [][]sdktrace.TracerProviderOption{nil, {sdktrace.WithoutPanicRecording()}} {
		rec := newRecorder(t, opts...)
		func() {
			defer func() { _ = recover() }()
			rec.wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("boom") })).ServeHTTP(httptest.NewRecorder(), get("/"))
		}()
		if n := len(rec.only(t).Events()); n != 1 {
			t.Errorf("%d events, want 1", n)
		}
	}
}

func TestGoexit(t *testing.T) {
	t.Parallel()
	rec := newRecorder(t)
	var wg sync.WaitGroup
	wg.Go(func() {
		rec.wrap(muxOf("/a", func(http.ResponseWriter, *http.Request) { runtime.Goexit() })).ServeHTTP(httptest.NewRecorder(), get("/a"))
	})
	wg.Wait()
	rec.only(t).wantName("GET /a").wantStatus(codes.Error).want("error.type", "runtime.Goexit", "http.response.status_code", "")
}

// TimeoutHandler runs the handler in another goroutine and raises its panic in ours, whose stack says nothing.
func TestPanicUnderTimeoutHandlerHasTheStackOfTheHandler(t *testing.T) {
	t.Parallel()
	h := http.TimeoutHandler(middleware.Routes(muxOf("/a/{b}", func(http.ResponseWriter, *http.Request) { nilDereference() })), patience, "")
	s, _ := panicsWith(t, h, get("/a/1"))
	s.wantName("GET /a/{b}").wantStatus(codes.Error)
	wantException(t, s, "runtime.errorString", "runtime error: invalid memory address or nil pointer dereference", "nilDereference")
}

func TestPanicThroughRoutesHasOneFullStack(t *testing.T) {
	t.Parallel()
	s, _ := panicsWith(t, copying(middleware.Routes(muxOf("/a/{b}", func(http.ResponseWriter, *http.Request) { nilDereference() }))), get("/a/1"))
	s.wantName("GET /a/{b}")
	wantException(t, s, "runtime.errorString", "runtime error: invalid memory address or nil pointer dereference", "copying")
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
	s, _ := one(t, recovering, get("/a"))
	s.wantName("GET /a").wantStatus(codes.Error).want("error.type", "500", "http.response.status_code", "500")
	if len(s.Events()) != 0 {
		t.Error("a recovered panic is an event")
	}
}

func TestStatusByCode(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]codes.Code{
		101: codes.Unset, 200: codes.Unset, 204: codes.Unset, 304: codes.Unset, 400: codes.Unset, 404: codes.Unset,
		429: codes.Unset, 499: codes.Unset, 500: codes.Error, 599: codes.Error, 600: codes.Error,
	} {
		s, _ := one(t, status(code), get("/"))
		s.wantStatus(want).want("http.response.status_code", strconv.Itoa(code))
		errType := ""
		if want == codes.Error {
			errType = strconv.Itoa(code)
		}
		s.want("error.type", errType)
	}
	s, _ := one(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), get("/"))
	s.wantStatus(codes.Unset).want("http.response.status_code", "200")
}

// failing is a writer whose client is gone.
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
			rec := newRecorder(t)
			h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusCreated)
				way(w)
			})
			gone := &net.OpError{Op: "write", Err: os.NewSyscallError("write", syscall.EPIPE)}
			rec.wrap(h).ServeHTTP(failing{httptest.NewRecorder(), gone}, get("/"))
			rec.only(t).wantStatus(codes.Error).want("error.type", "*net.OpError", "http.response.status_code", "201")
		})
	}
}

func TestWriteErrorsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, err := range []error{http.ErrBodyNotAllowed, http.ErrHijacked} {
		rec := newRecorder(t)
		h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotModified)
			_, _ = w.Write([]byte("x"))
		})
		rec.wrap(h).ServeHTTP(failing{httptest.NewRecorder(), err}, get("/"))
		rec.only(t).wantStatus(codes.Unset).want("error.type", "")
	}

	// The response to a HEAD is whole with its header.
	rec := newRecorder(t)
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write([]byte("x"))
	})
	rec.wrap(h).ServeHTTP(failing{httptest.NewRecorder(), io.ErrClosedPipe}, httptest.NewRequest(http.MethodHead, "/", http.NoBody))
	rec.only(t).wantStatus(codes.Unset).want("error.type", "")
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
		s, _ := one(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			request.FromContext(r.Context()).SetError(tt.err)
		}), get("/"))
		s.wantStatus(codes.Error).want("error.type", tt.want)
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
		s, _ := one(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.ReadAll(r.Body)
			w.WriteHeader(http.StatusBadRequest)
		}), r)
		s.want("error.type", tt.want, "http.response.status_code", "400")
	}
}

// What the layers of a request say about its user is on the server span, whoever started it.
func TestRecordAttributesReachTheServerSpan(t *testing.T) {
	t.Parallel()
	s, _ := one(t, copying(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		request.FromContext(r.Context()).SetAttributes(attribute.String("user.id", "u1"))
	})), get("/"))
	s.want("user.id", "u1")
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
		s, _ := one(t, status(http.StatusOK), get("/").WithContext(ctx))
		s.wantStatus(codes.Unset).want("waymark.http.end", want)
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
		s, _ := one(t, tt.h, get("/"))
		s.want("waymark.http.stream", tt.want)
	}
}
