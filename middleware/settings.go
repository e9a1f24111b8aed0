package middleware

import (
	"fmt"
	"net/http"
	"reflect"
	"sync/atomic"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/waymark-trace/waymark/internal/redact"
	"github.com/waymark-trace/waymark/internal/semconv"
)

// ScopeName is the instrumentation scope of the server spans.
const ScopeName = "github.com/waymark-trace/waymark/middleware"

// settings is a config made ready for requests.
type settings struct {
	config
	skipped  map[string]bool
	secrets  redact.Redactor
	proxies  proxies
	request  []header
	response []header
	tracers  atomic.Pointer[resolved]
}

func newSettings(c config) *settings {
	s := &settings{
		config:   c,
		secrets:  redact.New(c.redacted...),
		proxies:  newProxies(c.trusted),
		request:  newHeaders(semconv.HTTPRequestHeaderPrefix, c.requestHeader),
		response: newHeaders(semconv.HTTPResponseHeaderPrefix, c.responseHeader),
	}
	if len(c.methods) == 0 {
		s.methods = knownMethods()
	}
	if len(c.skip) > 0 {
		s.skipped = make(map[string]bool, len(c.skip))
		for _, p := range c.skip {
			s.skipped[p] = true
		}
	}
	return s
}

// knownMethods are those that are recorded by name, the frequent ones first.
func knownMethods() []string {
	return []string{
		http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodHead, http.MethodOptions,
		http.MethodPatch, http.MethodConnect, http.MethodTrace, "QUERY",
	}
}

// wants reports whether r gets a span.
func (s *settings) wants(r *http.Request) bool {
	if s.skipped != nil && s.skipped[r.URL.Path] {
		return false
	}
	for _, f := range s.filters {
		if !f(r) {
			return false
		}
	}
	return true
}

// resolved is a provider and what follows from it.
type resolved struct {
	provider trace.TracerProvider
	tracer   trace.Tracer // nil: the provider does nothing
}

// tracer returns the tracer of the provider as it is now, and nil when that one does nothing. The global
// provider is asked at each request: it may be set, or set again, long after New. Asking it for a tracer
// each time would cost a lock and a map lookup, so the last answer is kept.
func (s *settings) tracer() trace.Tracer {
	tp := s.provider
	if tp == nil {
		tp = otel.GetTracerProvider()
	}
	if last := s.tracers.Load(); last != nil && sameProvider(last.provider, tp) {
		return last.tracer
	}
	res := &resolved{provider: tp}
	if !isNoop(tp) {
		res.tracer = tp.Tracer(ScopeName, trace.WithSchemaURL(semconv.SchemaURL))
	}
	s.tracers.Store(res)
	return res.tracer
}

func (s *settings) propagator() propagation.TextMapPropagator {
	if s.propagators != nil {
		return s.propagators
	}
	return otel.GetTextMapPropagator()
}

// off reports whether there is nothing to do: the provider does nothing, and no propagator has a field.
func (s *settings) off() bool {
	return s.tracer() == nil && len(s.propagator().Fields()) == 0
}

// spare keeps a panic of what is hooked into tracing away from the request; it is deferred itself.
func (s *settings) spare(what string) { s.tell(what, recover()) }

// tell reports the value of a panic, if there is one.
func (s *settings) tell(what string, panicked any) {
	if panicked != nil {
		otel.Handle(fmt.Errorf("middleware: %s: panic: %s", what, s.secrets.Message(panicked, maxMessage)))
	}
}

// sameProvider compares by identity. A provider that is a struct with, say, a slice cannot be compared
// without a panic; it is never the same.
func sameProvider(a, b trace.TracerProvider) bool {
	t := reflect.TypeOf(a)
	return t == reflect.TypeOf(b) && t.Comparable() && a == b
}

func isNoop(tp trace.TracerProvider) bool {
	switch tp.(type) {
	case noop.TracerProvider, *noop.TracerProvider:
		return true
	}
	// The deprecated no-op provider of the trace package has no exported type.
	t := reflect.TypeOf(tp)
	return t.PkgPath() == "go.opentelemetry.io/otel/trace" && t.Name() == "noopTracerProvider"
}
