package annotate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/annotate"
	"github.com/waymark-trace/waymark/capture/capturetest"
	"github.com/waymark-trace/waymark/middleware"
)

// library makes a span as any other library does.
func library(ctx context.Context, name string) {
	_, s := trace.SpanFromContext(ctx).TracerProvider().Tracer("another/library").Start(ctx, name)
	s.End()
}

var wantWho = wanted{
	annotate.UserIDKey: "u1", annotate.SessionIDKey: "s1", annotate.TagsKey: []string{"beta", "eu"}, annotate.MetadataKey: `{"tier":"pro","seats":3}`,
}

func setAll(c *annotate.Client, ctx context.Context) { //nolint:revive // the client is the subject
	c.SetUser(ctx, "u1")
	c.SetSession(ctx, "s1")
	c.SetTags(ctx, "beta", "", "beta")
	c.SetTags(ctx, "eu", "beta")
	c.SetMetadata(ctx, "tier", "free", "_private", 1)
	c.SetMetadata(ctx, map[string]any{"seats": 3, "tier": "pro"})
}

// From an inner span the whole trace learns who it is for: the spans around it, what starts later, in
// whatever library; what has ended stays.
func TestWhoOutsideOfARequest(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	ctx, root := c.Span(t.Context(), "root")
	library(ctx, "before")
	mid, m := c.Span(ctx, "mid")
	inner, i := c.Span(mid, "inner")
	setAll(c, inner)
	i.End(nil)
	library(inner, "later, from the inner context")
	library(ctx, "later, from the outer context")
	m.End(nil)
	root.End(nil)
	library(trace.ContextWithSpan(t.Context(), trace.SpanFromContext(ctx)), "out of reach")
	for _, name := range []string{"root", "mid", "inner", "later, from the inner context", "later, from the outer context"} {
		spans.has(t, name, wantWho)
	}
	spans.has(t, "before", wanted{annotate.UserIDKey: "", annotate.TagsKey: "", annotate.MetadataKey: ""})
	spans.has(t, "out of reach", wanted{annotate.UserIDKey: ""})
}

// Without a trace nothing happens; with a foreign span alone, that span is all there is.
func TestWhoWithoutATrace(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	setAll(c, t.Context())
	library(t.Context(), "nothing")
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans.Processor()))
	ctx, s := tp.Tracer("x").Start(t.Context(), "foreign")
	c.SetUser(ctx, "u1")
	s.End()
	spans.has(t, "foreign", wanted{annotate.UserIDKey: "u1"})
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	ctx, s := c.Span(t.Context(), "x")
	c.SetMetadata(ctx,
		"s", `quote " <b>`, "i", int8(-1), "f", 2.5, "b", false, "_reserved", "x", "", "no key",
		"list", []int{1, 2}, "map", map[string]any{"a": 1}, "nan", nan(), "attr", attribute.IntValue(4), "nil", nil)
	s.End(nil)
	got := spans.attrs(t, "x")[annotate.MetadataKey]
	want := `{"s":"quote \" <b>","i":-1,"f":2.5,"b":false,"list":"[1,2]","map":"{\"a\":1}","nan":"NaN","attr":4,"nil":"null"}`
	if got != want {
		t.Errorf("metadata\n%s, want\n%s", got, want)
	}
	if !json.Valid([]byte(got)) {
		t.Error("metadata is no JSON")
	}
}

func nan() float64 { var zero float64; return zero / zero }

func TestWhoIsBounded(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	ctx, s := c.Span(t.Context(), "x")
	for i := range 200 {
		c.SetTags(ctx, strconv.Itoa(i))
		c.SetMetadata(ctx, strconv.Itoa(i), i)
	}
	c.SetUser(ctx, strings.Repeat("u", 5000))
	s.End(nil)
	got := spans.attrs(t, "x")
	var meta map[string]int
	if err := json.Unmarshal([]byte(got[annotate.MetadataKey]), &meta); err != nil || len(meta) != 128 {
		t.Errorf("%d entries of metadata, %v", len(meta), err)
	}
	if n := strings.Count(got[annotate.TagsKey], ",") + 1; n != 128 {
		t.Errorf("%d tags", n)
	}
	if len(got[annotate.UserIDKey]) > 1100 || !strings.HasSuffix(got[annotate.UserIDKey], "…[truncated 3976 bytes]") {
		t.Errorf("user has %d bytes", len(got[annotate.UserIDKey]))
	}
	if d := c.Stats().Unannotated; d != 144 {
		t.Errorf("%d were dropped, want 144", d)
	}
}

// Blocks nest, and the spans of other libraries in them are annotated too.
func TestWithNests(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	ctx, root := c.Span(t.Context(), "root")
	outer := annotate.With(ctx, annotate.User("outer"), annotate.Session("s"), annotate.Tags("a", "b"), annotate.Meta("k", 1, "l", 2, "_no", 1), nil)
	inner := annotate.With(outer, annotate.User("inner"), annotate.Session(""), annotate.Tags("b", "c"), annotate.Meta("l", 3), annotate.Tags("d"))
	library(outer, "outer")
	library(inner, "inner")
	library(ctx, "outside")
	fresh, f := c.Span(inner, "new root", annotate.LLM)
	f.End(nil)
	library(fresh, "below")
	root.End(nil)
	spans.has(t, "outer", wanted{annotate.UserIDKey: "outer", annotate.SessionIDKey: "s", annotate.TagsKey: []string{"a", "b"}, annotate.MetadataKey: `{"k":1,"l":2}`})
	in := wanted{annotate.UserIDKey: "inner", annotate.SessionIDKey: "s", annotate.TagsKey: []string{"a", "b", "c", "d"}, annotate.MetadataKey: `{"k":1,"l":3}`}
	spans.has(t, "inner", in)
	spans.has(t, "new root", in)
	spans.has(t, "below", in)
	none := wanted{annotate.UserIDKey: "", annotate.SessionIDKey: "", annotate.TagsKey: "", annotate.MetadataKey: ""}
	spans.has(t, "outside", none)
	spans.has(t, "root", none)
}

// The trace's user stands behind the block's; tags and metadata of both are there. A span that was opened
// outside of the block does not get what the block says.
func TestWithAndSet(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	ctx, root := c.Span(t.Context(), "root")
	block := annotate.With(ctx, annotate.User("block"), annotate.Tags("block"))
	inner, s := c.Span(block, "in the block")
	c.SetUser(block, "trace")
	c.SetTags(inner, "trace")
	c.SetSession(inner, "s")
	library(inner, "later in the block")
	library(ctx, "later outside")
	s.End(nil)
	root.End(nil)
	inBlock := wanted{annotate.UserIDKey: "block", annotate.TagsKey: []string{"trace", "block"}, annotate.SessionIDKey: "s"}
	outside := wanted{annotate.UserIDKey: "trace", annotate.TagsKey: []string{"trace"}, annotate.SessionIDKey: "s"}
	spans.has(t, "in the block", inBlock)
	spans.has(t, "later in the block", inBlock)
	spans.has(t, "later outside", outside)
	spans.has(t, "root", outside)

	ctx, root = c.Span(t.Context(), "another root")
	c.SetTags(annotate.With(ctx, annotate.User("block")), "trace")
	root.End(nil)
	spans.has(t, "another root", wanted{annotate.UserIDKey: "", annotate.TagsKey: []string{"trace"}})
}

// Inside a request the server span and every later span learn it, without a copy of the request.
func TestWhoInARequest(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	tp := provider(t, c)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /chat/{id}", func(_ http.ResponseWriter, r *http.Request) {
		library(r.Context(), "before")
		ctx, s := c.Span(r.Context(), "answer")
		setAll(c, ctx)
		s.End(nil)
		library(r.Context(), "after")
		library(annotate.With(r.Context(), annotate.User("other"), annotate.Tags("block")), "block")
	})
	h := middleware.New(mux, middleware.WithTracerProvider(tp))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/chat/7", http.NoBody))
	spans.has(t, "GET /chat/{id}", wantWho)
	spans.has(t, "GET /chat/{id}", wanted{"http.route": "/chat/{id}"})
	spans.has(t, "answer", wantWho)
	spans.has(t, "after", wantWho)
	spans.has(t, "before", wanted{annotate.UserIDKey: ""})
	spans.has(t, "block", wanted{
		annotate.UserIDKey: "other", annotate.SessionIDKey: "s1", annotate.TagsKey: []string{"beta", "eu", "block"}, annotate.MetadataKey: `{"tier":"pro","seats":3}`,
	})
}

// provider is the provider of a client's spans.
func provider(tb testing.TB, c *annotate.Client) trace.TracerProvider {
	tb.Helper()
	ctx, s := c.Span(tb.Context(), "provider")
	defer s.End(nil)
	return trace.SpanFromContext(ctx).TracerProvider()
}

// Ids never leave with the baggage unless somebody asks for it, on both sides.
func TestBaggageOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	ctx, s := c.Span(t.Context(), "caller")
	c.SetUser(ctx, "u1")
	ctx = annotate.With(ctx, annotate.User("u1"), annotate.Session("s 1"), annotate.Tags("x"))
	if n := baggage.FromContext(ctx).Len(); n != 0 {
		t.Fatalf("the baggage has %d members", n)
	}
	ctx = annotate.With(ctx, annotate.Baggage())
	s.End(nil)
	carried := baggage.ContextWithBaggage(t.Context(), baggage.FromContext(ctx))
	callee, plain := c.Span(carried, "not asked")
	plain.End(nil)
	if annotate.FromBaggage(t.Context()) != t.Context() {
		t.Error("FromBaggage without baggage makes a context")
	}
	_, asked := c.Span(annotate.FromBaggage(callee), "asked")
	asked.End(nil)
	spans.has(t, "not asked", wanted{annotate.UserIDKey: ""})
	spans.has(t, "asked", wanted{annotate.UserIDKey: "u1", annotate.SessionIDKey: "s 1", annotate.TagsKey: ""})
}

// A provider of the program with the processor of its own.
func TestNewProcessor(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	spans := recorder{tr}
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(annotate.NewProcessor()), sdktrace.WithSpanProcessor(spans.Processor()))
	ctx, s := tp.Tracer("x").Start(annotate.With(t.Context(), annotate.User("u1")), "root")
	library(ctx, "child")
	s.End()
	if err := tp.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	spans.has(t, "root", wanted{annotate.UserIDKey: "u1"})
	spans.has(t, "child", wanted{annotate.UserIDKey: "u1"})
}

// No tag of 64 goroutines is lost, on the open spans and on what starts later.
func TestManyAnnotateOneTrace(t *testing.T) {
	t.Parallel()
	const goroutines = 64
	c, spans := start(t)
	tp := provider(t, c)
	work := func(ctx context.Context) {
		ctx, s := c.Span(ctx, "work")
		var wg sync.WaitGroup
		for i := range goroutines {
			wg.Go(func() {
				c.SetTags(ctx, fmt.Sprintf("t%02d", i))
				c.SetMetadata(ctx, fmt.Sprintf("m%02d", i), i)
				c.SetUser(ctx, "u")
				inner, s := c.Span(ctx, "inner"+strconv.Itoa(i))
				c.SetSession(inner, "s")
				s.SetAttribute("i", i)
				s.End(nil)
			})
		}
		wg.Wait()
		s.End(nil)
		library(ctx, "later")
	}
	check := func(spans recorder, name string) {
		t.Helper()
		got := spans.attrs(t, name)
		tags := map[string]bool{}
		v, _ := spans.Span(name).One().Attr(string(annotate.TagsKey))
		for _, tag := range v.AsArray() {
			tags[tag.AsString()] = true
		}
		if len(tags) != goroutines || strings.Count(got[annotate.MetadataKey], ":") != goroutines {
			t.Errorf("%s: %d tags, metadata %s", name, len(tags), got[annotate.MetadataKey])
		}
		if got[annotate.UserIDKey] != "u" || got[annotate.SessionIDKey] != "s" {
			t.Errorf("%s: %v", name, got)
		}
	}
	h := middleware.New(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { work(r.Context()) }), middleware.WithTracerProvider(tp))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	for _, name := range []string{"GET", "work", "later"} {
		check(spans, name)
	}
	other, outside := start(t)
	c = other
	ctx, root := c.Span(t.Context(), "root")
	work(ctx)
	root.End(nil)
	for _, name := range []string{"root", "work", "later"} {
		check(outside, name)
	}
}
