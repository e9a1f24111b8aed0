package middleware

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/internal/request"
	"github.com/waymark-trace/waymark/internal/semconv"
)

// exchange is one recorded request and its response. What the handler gets of it lies in two allocations: this one
// goes with the request, the other (kept) stays as long as the program holds it (ADR 0131). An error and chosen headers
// take more.
type exchange struct {
	inner    http.Request // as the handler gets it; first, since a finalizer needs the start of an allocation
	live     request.Live
	kept     *kept
	w        http.ResponseWriter // as the server gave it
	body     body
	h        *handler
	span     trace.Span
	outer    *http.Request // as the server gave it; a goroutine that outlives the handler may not look at it
	method   string        // as it came; the conventions' is h.method's
	started  string        // the route that the span was started with
	response response
	returned bool // the handler has returned: no panic, no Goexit
	much     bool // sharesMuch of the request
}

// serve calls the handler and ends the span, whatever happens.
func (x *exchange) serve(w http.ResponseWriter) {
	defer func() {
		// Recovered and raised again rather than left alone: only so does the span learn the value. The
		// handler's frames are still on the stack, for us and for the server's log.
		var panicked any
		if !x.returned {
			panicked = recover()
		}
		x.end(panicked)
		if panicked != nil {
			panic(panicked)
		}
	}()
	x.h.next.ServeHTTP(w, &x.inner)
	x.returned = true
}

// end gives the span what is known now and ends it.
func (x *exchange) end(panicked any) {
	defer x.h.spare("a span was not ended") // by a processor: the response is on its way and must get there
	defer x.kept.end()
	x.handOver()
	if x.returned {
		x.finish()
	}
	final := x.kept.ctx.Record.Close()
	stream, status := x.stream()
	route := own(x.route(final.Route, status), x.much)

	sc := getScratch()
	if route != x.started {
		sc.str(semconv.HTTPRouteKey, route)
		x.span.SetName(x.h.names.get(spanMethod(x.h.method(x.method)), route, x.inner.Pattern))
	}
	sc.num(semconv.HTTPResponseStatusCodeKey, status)
	sc.str(semconv.HTTPStreamKey, stream)
	failed := x.failure()
	end := x.early(panicked, failed.err)
	sc.str(semconv.HTTPEndKey, end)
	sc.network(x.outer)
	x.judge(sc, verdict{
		panicked: panicked, stack: final.Stack, told: final.Err, status: status,
		failure: failed, left: end == semconv.EndClientDisconnected,
	})
	sc.set(x.span)
	if headers := x.response.headers.Load(); headers != nil {
		x.span.SetAttributes(*headers...)
	}
	x.span.SetAttributes(final.Attributes...)
	drop(x.span, final.Dropped)
	sc.release()
	// Not deferred: the SDK's End would find the panic a second time.
	x.span.End()
}

// drop lets a span count n attributes that it has not got: it counts those that are not valid among the dropped.
func drop(span trace.Span, n int) {
	const atOnce = 16 // the SDK grows by them
	for ; n > 0; n -= atOnce {
		span.SetAttributes(make([]attribute.KeyValue, min(n, atOnce))...)
	}
}

// finish notes the header that net/http sends for a handler that has sent none.
func (x *exchange) finish() {
	if x.response.status.Load() == 0 && x.response.flags.Load()&flagHijacked == 0 {
		x.prepare()
		x.sent(http.StatusOK)
	}
}

// stream returns the kind of stream that the response was, "" for none, and the status code, 0 for none. On a
// hijacked connection the code passes us by; who hijacks an upgrade request answers 101 (the WebSocket libraries
// refuse before they hijack).
func (x *exchange) stream() (string, int) {
	status, flags := int(x.response.status.Load()), x.response.flags.Load()
	switch {
	case status == http.StatusSwitchingProtocols:
		return semconv.StreamUpgrade, status
	case flags&flagHijacked != 0 && status == 0 && isUpgrade(x.outer.Header):
		return semconv.StreamUpgrade, http.StatusSwitchingProtocols
	case flags&flagHijacked != 0:
		return semconv.StreamHijack, status
	case flags&flagSSE != 0:
		return semconv.StreamSSE, status
	case x.response.flushes.Load() > 1:
		return semconv.StreamFlushed, status
	}
	return "", status
}

func isUpgrade(h http.Header) bool {
	if h.Get("Upgrade") == "" {
		return false
	}
	for _, v := range h["Connection"] {
		for token := range strings.SplitSeq(v, ",") {
			if strings.EqualFold(strings.TrimSpace(token), "upgrade") {
				return true
			}
		}
	}
	return false
}

// early returns how the request ended before its time, "" when it did not. failed is the failure of a read or a write.
func (x *exchange) early(panicked any, failed error) string {
	switch {
	case isAbort(panicked):
		return semconv.EndAborted
	case failed != nil && isTimeout(failed): // the server then cancels the context as if the client had left
		return semconv.EndTimeout
	case failed != nil && hasLeft(failed):
		return semconv.EndClientDisconnected
	}
	ctx := x.outer.Context()
	switch err := ctx.Err(); {
	case err == nil, x.response.flags.Load()&flagHijacked != 0, x.method == http.MethodHead:
		// The server itself cancels the context of a hijacked request, and over HTTP/2 that of a HEAD, whose stream
		// ends with the header while the handler still writes.
		return ""
	case errors.Is(err, context.DeadlineExceeded):
		return semconv.EndTimeout
	case !isError(context.Cause(ctx), context.Canceled):
		return semconv.EndCanceled
	}
	return semconv.EndClientDisconnected
}

// handOver does so for the request of the exchange.
func (x *exchange) handOver() {
	given := x.outer.Body
	if x.body.ReadCloser != nil {
		given = &x.body
	}
	x.h.handOver(x.outer, &x.inner, given)
}
