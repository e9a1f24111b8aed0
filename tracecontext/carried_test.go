package tracecontext_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/tracecontext"
)

// odd is a list of which TraceState holds only b and c.
const odd = "1st=x,b=2,t@1=y,c=3,b=old"

func remote(t *testing.T, parent, state string) context.Context {
	t.Helper()
	h := propagation.HeaderCarrier{"Traceparent": {parent}}
	if state != "" {
		h["Tracestate"] = []string{state}
	}
	return tracecontext.New().Extract(t.Context(), h)
}

func sent(ctx context.Context) string {
	h := http.Header{}
	tracecontext.New().Inject(ctx, propagation.HeaderCarrier(h))
	return h.Get("tracestate")
}

// Spec: https://www.w3.org/TR/trace-context-2/#mutating-the-tracestate-field
func TestChangedTracestate(t *testing.T) {
	t.Parallel()
	insert := func(kv ...string) func(trace.TraceState) trace.TraceState {
		return func(ts trace.TraceState) trace.TraceState {
			for i := 0; i < len(kv); i += 2 {
				var err error
				if ts, err = ts.Insert(kv[i], kv[i+1]); err != nil {
					panic(err)
				}
			}
			return ts
		}
	}
	remove := func(keys ...string) func(trace.TraceState) trace.TraceState {
		return func(ts trace.TraceState) trace.TraceState {
			for _, k := range keys {
				ts = ts.Delete(k)
			}
			return ts
		}
	}
	odd32 := "1st=1," + numbered(31)
	tests := []struct {
		name, in string
		change   func(trace.TraceState) trace.TraceState
		want     string
	}{
		{"nothing", odd, remove(), odd},
		{"added", odd, insert("me", "1"), "me=1," + odd},
		{"added twice", odd, insert("me", "1", "you", "2"), "you=2,me=1," + odd},
		{"updated moves to the front and has one entry", odd, insert("b", "new"), "b=new,1st=x,t@1=y,c=3"},
		{"updated to the same value", odd, insert("c", "3"), "c=3,1st=x,b=2,t@1=y,b=old"},
		{"front one updated to the same value", "b=2,1st=x,c=3", insert("b", "2"), "b=2,1st=x,c=3"},
		{"deleted with its duplicates", odd, remove("b"), "1st=x,t@1=y,c=3"},
		{"all that can be deleted", odd, remove("b", "c"), "1st=x,t@1=y"},
		{"added and deleted", odd, func(ts trace.TraceState) trace.TraceState { return insert("me", "1")(ts.Delete("c")) }, "me=1,1st=x,b=2,t@1=y,b=old"},
		{"only members that cannot be held", "1st=x,2nd=y", insert("me", "1"), "me=1,1st=x,2nd=y"},
		{"32 and one more drops from the right", odd32, insert("me", "1"), "me=1,1st=1," + numbered(30)},
		{"32 and two more", odd32, insert("me", "1", "you", "2"), "you=2,me=1,1st=1," + numbered(29)},
		{"an ordinary list", "a=1,b=2", insert("b", "3"), "b=3,a=1"},
		{"an ordinary list of 32", numbered(32), insert("me", "1"), "me=1," + numbered(31)},
	}
	for _, tt := range tests {
		ctx := remote(t, parent, tt.in)
		sc := trace.SpanContextFromContext(ctx)
		sc = sc.WithTraceState(tt.change(sc.TraceState())).WithSpanID(trace.SpanID{9})
		if got := sent(trace.ContextWithSpanContext(ctx, sc)); got != tt.want {
			t.Errorf("%s: %q is sent on as\n %q, want\n %q", tt.name, tt.in, got, tt.want)
		}
		if got := sent(ctx); got != tt.in {
			t.Errorf("%s: the context itself was changed: %q is sent on as %q", tt.name, tt.in, got)
		}
	}
}

func TestListIsBoundToTheTrace(t *testing.T) {
	t.Parallel()
	tp := sdktrace.NewTracerProvider()
	tracer := tp.Tracer("test")
	ctx := remote(t, parent, odd)

	child, span := tracer.Start(ctx, "child")
	defer span.End()
	grandchild, span := tracer.Start(child, "grandchild")
	defer span.End()
	root, span := tracer.Start(grandchild, "new root", trace.WithNewRoot())
	defer span.End()
	under, span := tracer.Start(root, "under the new root")
	defer span.End()

	check := func(ctx context.Context, name, want string) {
		t.Helper()
		if got := sent(ctx); got != want {
			t.Errorf("%s: tracestate %q, want %q", name, got, want)
		}
	}
	check(child, "child", odd)
	check(grandchild, "grandchild", odd)
	check(context.WithoutCancel(child), "detached", odd)
	check(root, "new root", "")
	check(under, "under the new root", "")
}

// A second request read into the same context replaces the first one's list,
// also within one trace.
func TestSecondExtractReplaces(t *testing.T) {
	t.Parallel()
	p := tracecontext.New()
	for _, second := range []string{"", "d=4", "2nd=z", "not valid"} {
		ctx := remote(t, parent, odd)
		h := propagation.HeaderCarrier{"Traceparent": {parent}, "Tracestate": {second}}
		want := second
		if second == "not valid" {
			want = ""
		}
		if got := sent(p.Extract(ctx, h)); got != want {
			t.Errorf("a second tracestate %q is sent on as %q, want %q", second, got, want)
		}
	}
}

// stateSampler changes the TraceState, as probability samplers do.
type stateSampler struct{ random *bool }

func (s stateSampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	psc := trace.SpanContextFromContext(p.ParentContext)
	*s.random = psc.TraceFlags().IsRandom()
	ts, err := psc.TraceState().Insert("ot", "th:8")
	if err != nil {
		panic(err)
	}
	return sdktrace.SamplingResult{Decision: sdktrace.RecordAndSample, Tracestate: ts}
}

func (stateSampler) Description() string { return "stateSampler" }

// The whole road: otelhttp's handler, the SDK with a sampler that writes into
// TraceState, otelhttp's transport, the next service.
func TestThroughOTelHTTP(t *testing.T) {
	t.Parallel()
	next := make(chan http.Header, 1)
	backend := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { next <- r.Header.Clone() }))
	defer backend.Close()

	var random bool
	tp := sdktrace.NewTracerProvider(sdktrace.WithSampler(stateSampler{&random}))
	opts := []otelhttp.Option{otelhttp.WithPropagators(tracecontext.New()), otelhttp.WithTracerProvider(tp)}
	client := &http.Client{Transport: otelhttp.NewTransport(http.DefaultTransport, opts...)}
	call := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, backend.URL, nil)
		if err != nil {
			t.Error(err)
			return
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		closeBody(t, resp)
	})
	tests := []struct {
		name string
		opts []otelhttp.Option
		want string
	}{
		{"trusted", opts, "ot=th:8," + odd},
		{"public endpoint", append([]otelhttp.Option{otelhttp.WithPublicEndpointFn(func(*http.Request) bool { return true })}, opts...), "ot=th:8"},
	}
	for _, tt := range tests {
		front := httptest.NewServer(otelhttp.NewHandler(call, "front", tt.opts...))
		defer front.Close()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, front.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("traceparent", "00-"+ids+"-02")
		first, second, _ := strings.Cut(odd, ",b=2")
		req.Header["Tracestate"] = []string{first, "b=2" + second}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		closeBody(t, resp)
		h := <-next
		if got := h.Get("tracestate"); got != tt.want {
			t.Errorf("%s: the next service got tracestate %q, want %q", tt.name, got, tt.want)
		}
		sameTrace := strings.Contains(h.Get("traceparent"), traceID)
		if wantSame := tt.name == "trusted"; sameTrace != wantSame {
			t.Errorf("%s: the next service got traceparent %q, want the same trace: %v", tt.name, h.Get("traceparent"), wantSame)
		}
		if sameTrace && !strings.HasSuffix(h.Get("traceparent"), "-03") {
			t.Errorf("%s: traceparent %q, want the random flag kept and sampled added (03)", tt.name, h.Get("traceparent"))
		}
	}
}

func closeBody(t *testing.T, resp *http.Response) {
	t.Helper()
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
}
