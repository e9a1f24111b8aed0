package middleware

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
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
	write    error
}

// judge sets the status of the span. 1xx to 4xx leave it unset, and Ok is never set.
// Spec: https://github.com/open-telemetry/semantic-conventions/blob/v1.43.0/docs/http/http-spans.md#status
func (x *exchange) judge(sc *scratch, v verdict) {
	read := x.body.err.get()
	switch {
	case isAbort(v.panicked):
	case v.panicked != nil:
		x.exception(sc, v)
	case !x.returned:
		x.fail(sc, goexit, "the handler called runtime.Goexit")
	case v.told != nil:
		x.fail(sc, errorType(v.told), fmt.Sprint(v.told))
	case v.status >= http.StatusInternalServerError:
		x.fail(sc, strconv.Itoa(v.status), "")
	case v.write != nil:
		x.fail(sc, errorType(v.write), "write response: "+fmt.Sprint(v.write))
	case read != nil:
		x.fail(sc, errorType(read), "read request: "+fmt.Sprint(read))
	}
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
	t, message := typeName(v.panicked), clip(fmt.Sprint(v.panicked), maxMessage)
	stack := debug.Stack()
	if len(v.stack) > 0 && !strings.Contains(string(stack), routesFrame) {
		stack = v.stack // the panic came from another goroutine (http.TimeoutHandler), which Routes has seen
	}
	x.span.AddEvent(semconv.ExceptionEventName, trace.WithAttributes(
		semconv.ExceptionTypeKey.String(t),
		semconv.ExceptionMessageKey.String(message),
		semconv.ExceptionStacktraceKey.String(clip(string(stack), maxStack)),
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
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
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
