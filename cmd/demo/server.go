package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/annotate"
	"github.com/waymark-trace/waymark/bootstrap"
)

// scopeName is the instrumentation scope of the demo's own spans.
const scopeName = "github.com/waymark-trace/waymark/cmd/demo"

// The stream sends this many events, this far apart.
const (
	streamEvents = 5
	streamPause  = 2 * time.Millisecond
)

// reportTime is how long the slow route works.
const reportTime = 25 * time.Millisecond

var (
	errSoldOut = errors.New("sold out")
	errBackend = errors.New("warehouse unreachable")
)

// shop is the demo's server: a small shop with every kind of route.
type shop struct {
	tracer  trace.Tracer
	client  *http.Client
	baseURL string        // where the shop reaches itself
	served  atomic.Uint64 // requests that reached the server
	notes   *annotate.Client
	advise  func(context.Context, string) iter.Seq[string]
}

// newShop returns the shop and how it is served: counted, then traced, then
// routed.
func newShop(tracing *bootstrap.Tracing, baseURL string) (*shop, http.Handler) {
	s := &shop{
		tracer:  tracing.TracerProvider().Tracer(scopeName),
		client:  &http.Client{Transport: tracing.Transport(http.DefaultTransport)},
		baseURL: baseURL,
	}
	s.notes, _ = annotate.New(annotate.Config{Tracing: tracing}) // nothing in it fails
	s.advise = annotate.Seq("advise", advice, annotate.LLM, s.notes)
	traced := tracing.Middleware()(s.mux())
	return s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.served.Add(1)
		traced.ServeHTTP(w, r)
	})
}

// routes are what -self-load calls in equal shares; the paths of mux.
func (s *shop) routes() []string {
	return []string{"/hello/ada", "/checkout/42", "/report", "/fail", "/panic", "/events"}
}

// mux is the shop without tracing.
func (s *shop) mux() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.index)
	mux.HandleFunc("GET /hello/{name}", s.hello)
	mux.HandleFunc("GET /checkout/{id}", s.checkout)
	mux.HandleFunc("GET /price/{id}", s.price)
	mux.HandleFunc("GET /report", s.report)
	mux.HandleFunc("GET /fail", s.fail)
	mux.HandleFunc("GET /panic", s.panics)
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("GET /ask/{user}", s.ask)
	return mux
}

func (s *shop) index(w http.ResponseWriter, _ *http.Request) {
	for _, path := range append(s.routes(), "/ask/ada") {
		fmt.Fprintln(w, s.baseURL+path)
	}
}

// hello is the fast route.
func (s *shop) hello(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "hello, %s\n", r.PathValue("name"))
}

// checkout has child spans and calls the shop itself.
func (s *shop) checkout(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if err := s.reserve(r.Context(), id); err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	price, err := s.askPrice(r.Context(), id)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	s.charge(r.Context(), price)
	fmt.Fprintf(w, "order %s: %s\n", id, price)
}

func (s *shop) reserve(ctx context.Context, id string) error {
	_, span := s.tracer.Start(ctx, "reserve", trace.WithAttributes(attribute.String("shop.item", id)))
	defer span.End()
	if id == "0" {
		span.SetStatus(codes.Error, errSoldOut.Error())
		return errSoldOut
	}
	return nil
}

func (s *shop) charge(ctx context.Context, price string) {
	_, span := s.tracer.Start(ctx, "charge", trace.WithAttributes(attribute.String("shop.price", price)))
	defer span.End()
	span.AddEvent("authorized")
}

// askPrice is the outgoing call; its client span and the server span that it
// causes are of the same trace.
func (s *shop) askPrice(ctx context.Context, id string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.baseURL+"/price/"+id, http.NoBody)
	if err != nil {
		return "", err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	return string(body), err
}

func (s *shop) price(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "%d EUR", 10+len(r.PathValue("id")))
}

// report is the slow route.
func (s *shop) report(w http.ResponseWriter, r *http.Request) {
	_, span := s.tracer.Start(r.Context(), "add up")
	defer span.End()
	select {
	case <-time.After(reportTime):
		fmt.Fprintln(w, "all is well")
	case <-r.Context().Done():
		span.SetStatus(codes.Error, "canceled")
	}
}

// fail answers 503.
func (s *shop) fail(w http.ResponseWriter, r *http.Request) {
	_, span := s.tracer.Start(r.Context(), "ask warehouse")
	span.RecordError(errBackend)
	span.SetStatus(codes.Error, errBackend.Error())
	span.End()
	http.Error(w, errBackend.Error(), http.StatusServiceUnavailable)
}

// panics never answers.
func (s *shop) panics(http.ResponseWriter, *http.Request) {
	panic(errors.New("a bug in the shop"))
}

// events is a stream of server-sent events.
func (s *shop) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	stream := http.NewResponseController(w)
	for i := range streamEvents {
		fmt.Fprint(w, "data: "+strconv.Itoa(i)+"\n\n")
		if err := stream.Flush(); err != nil {
			return
		}
		select {
		case <-time.After(streamPause):
		case <-r.Context().Done():
			return
		}
	}
}

// ask streams advice. Its trace says who asked, what, and what the answer was.
func (s *shop) ask(w http.ResponseWriter, r *http.Request) {
	s.notes.SetUser(r.Context(), r.PathValue("user"))
	s.notes.SetTags(r.Context(), "demo")
	for word := range s.advise(r.Context(), "what shall I buy?") {
		fmt.Fprint(w, word)
		if http.NewResponseController(w).Flush() != nil {
			return
		}
	}
}

// advice stands for a language model.
func advice(_ context.Context, _ string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, word := range []string{"a ", "warm ", "hat\n"} {
			if !yield(word) {
				return
			}
		}
	}
}
