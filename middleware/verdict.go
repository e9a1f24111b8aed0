package middleware

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"runtime/debug"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/internal/semconv"
)

// goexit is the error.type of a handler that ended its goroutine.
const goexit = "runtime.Goexit"

// verdict is what may make a span an error, in the order in which it counts.
type verdict struct {
	panicked any
	stack    []byte
	told     error // SetError of the record
	status   int
	failure  failure
	left     bool // the client has left, of which the failure comes
}

// failure is the first failure to send the response, else to receive the request.
type failure struct {
	doing string
	err   error
}

func (x *exchange) failure() failure {
	if err := x.response.err.get(); err != nil {
		return failure{"write response: ", err}
	}
	return failure{"read request: ", x.body.err.get()}
}

// judge sets the status of the span. 1xx to 4xx leave it unset, and Ok is never set.
// Spec: https://github.com/open-telemetry/semantic-conventions/blob/v1.43.0/docs/http/http-spans.md#status
func (x *exchange) judge(sc *scratch, v verdict) {
	switch {
	case isAbort(v.panicked):
	case v.panicked != nil:
		x.exception(sc, v)
	case !x.returned:
		x.fail(sc, goexit, "the handler called runtime.Goexit")
	case v.told != nil:
		x.fail(sc, errorType(v.told), x.message(v.told))
	case v.status >= http.StatusInternalServerError:
		x.fail(sc, strconv.Itoa(v.status), "")
	case v.failure.err != nil && !v.left:
		x.fail(sc, errorType(v.failure.err), v.failure.doing+x.message(v.failure.err))
	}
}

// message is the text of an error or a panic as the span may have it: without secrets, and without the address and port
// of the client, which would make every message another.
func (x *exchange) message(v any) string {
	m := x.h.secrets.Message(v, maxMessage)
	if _, port := splitHostPort(x.outer.RemoteAddr); port != 0 {
		m = strings.ReplaceAll(m, x.outer.RemoteAddr, "client")
	}
	return clip(m, maxMessage)
}

func (x *exchange) fail(sc *scratch, errType, description string) {
	sc.str(semconv.ErrorTypeKey, errType)
	x.span.SetStatus(codes.Error, clip(description, maxMessage))
}

// isAbort reports the panic by which a handler cuts a response off on purpose.
func isAbort(panicked any) bool {
	err, ok := panicked.(error)
	return ok && sameError(err, http.ErrAbortHandler)
}

// sameError compares as net/http does; an error that cannot be compared is not the sentinel.
func sameError(err, sentinel error) bool {
	return reflect.TypeOf(err) == reflect.TypeOf(sentinel) && err == sentinel //nolint:errorlint // net/http exempts the value itself only
}

func (x *exchange) exception(sc *scratch, v verdict) {
	t, message := typeName(v.panicked), x.message(v.panicked)
	stack := debug.Stack()
	if len(v.stack) > 0 && !strings.Contains(string(stack), routesFrame) {
		stack = v.stack // the panic came from another goroutine (http.TimeoutHandler), which Routes has seen
	}
	x.span.AddEvent(semconv.ExceptionEventName, trace.WithAttributes(
		semconv.ExceptionTypeKey.String(t),
		semconv.ExceptionMessageKey.String(message),
		semconv.ExceptionStacktraceKey.String(clip(x.h.secrets.Text(string(stack), maxStack), maxStack)),
	))
	x.fail(sc, t, message)
}

// isError is errors.Is for errors of other people, whose methods may panic: a nil pointer in an error does, and
// would break the response off.
func isError(err, target error) (is bool) {
	defer func() { _ = recover() }()
	return errors.Is(err, target)
}

// errorType returns a name of low cardinality for err.
func errorType(err error) (name string) {
	defer func() {
		if recover() != nil { // out of a method of err
			name = typeName(err)
		}
	}()
	switch {
	case errors.Is(err, context.Canceled):
		return "canceled"
	case isTimeout(err):
		return "timeout"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "unexpected_eof"
	}
	return typeName(err)
}

// typeName names the type of v as the SDK names exceptions.
func typeName(v any) string {
	t := reflect.TypeOf(v)
	name := t.String()
	if t.PkgPath() != "" && t.Name() != "" {
		name = t.PkgPath() + "." + t.Name()
	}
	return clip(name, maxTypeName)
}
