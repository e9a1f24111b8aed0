package bootstrap_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/capture/capturetest"
	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/traces/render"
)

// resourceOf starts with these variables and returns the resource of a span.
func resourceOf(t *testing.T, vars env.Map, change ...func(*bootstrap.Config)) map[string]string {
	t.Helper()
	_, tr := capturetest.Start(t)
	all := none()
	maps.Copy(all, vars)
	tracing, _ := start(t, all, append(change, withProcessor(tr.Processor()))...)
	makeSpans(t, tracing.TracerProvider(), 1)
	got := map[string]string{}
	for _, a := range tr.Spans().One().Resource.Attributes {
		got[a.Key] = strings.Trim(render.FormatValue(a.Value), "'")
	}
	return got
}

func TestResource(t *testing.T) {
	t.Parallel()
	got := resourceOf(t, env.Map{"OTEL_RESOURCE_ATTRIBUTES": "team=a%2Cb,host.name=box"}, func(c *bootstrap.Config) {
		c.Version, c.Environment = "v1.2.3", "staging"
	})
	for key, want := range map[string]string{
		"service.name": "shop", "service.version": "v1.2.3", "deployment.environment.name": "staging",
		"team": "a,b", "host.name": "box", "telemetry.sdk.language": "go", "process.runtime.name": "go",
	} {
		if got[key] != want {
			t.Errorf("%s: %q, want %q", key, got[key], want)
		}
	}
	for _, key := range []string{"service.instance.id", "os.type", "process.pid", "process.executable.name"} {
		if got[key] == "" {
			t.Errorf("no %s", key)
		}
	}
	// Command lines and owners hold secrets.
	for key := range got {
		if strings.HasPrefix(key, "process.command") || key == "process.owner" {
			t.Errorf("%s is in the resource", key)
		}
	}
}

func TestServiceName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		vars env.Map
		want string
	}{
		{"the App", nil, "shop"},
		{"resource attribute", env.Map{"OTEL_RESOURCE_ATTRIBUTES": "service.name=till"}, "till"},
		{"variable", env.Map{"OTEL_RESOURCE_ATTRIBUTES": "service.name=till", "OTEL_SERVICE_NAME": "desk"}, "desk"},
		{"placeholder", env.Map{"OTEL_SERVICE_NAME": "unknown_service"}, "shop"},
		{"placeholder with a name", env.Map{"OTEL_RESOURCE_ATTRIBUTES": "service.name=unknown_service:go"}, "shop"},
		{"no placeholder", env.Map{"OTEL_SERVICE_NAME": "unknown_service_prod"}, "unknown_service_prod"},
	} {
		if got := resourceOf(t, c.vars)["service.name"]; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestInstancesDiffer(t *testing.T) {
	t.Parallel()
	a, b := resourceOf(t, nil), resourceOf(t, nil)
	if a["service.instance.id"] == b["service.instance.id"] {
		t.Error("two Starts have one service.instance.id")
	}
}

func TestSamplers(t *testing.T) {
	t.Parallel()
	remote := func(sampled bool) context.Context {
		sc := trace.SpanContextFromContext(spanContext()).WithRemote(true)
		if sampled {
			sc = sc.WithTraceFlags(trace.FlagsSampled)
		}
		return trace.ContextWithSpanContext(context.Background(), sc)
	}
	for _, c := range []struct {
		name, arg                    string
		root, underSampled, underNot bool
	}{
		{"", "", true, true, false},
		{"always_on", "", true, true, true},
		{"always_off", "", false, false, false},
		{"traceidratio", "0", false, false, false},
		{"traceidratio", "", true, true, true},
		{"parentbased_always_on", "", true, true, false},
		{"PARENTBASED_ALWAYS_OFF", "", false, true, false},
		{"parentbased_traceidratio", "0", false, true, false},
		{"jaeger_remote", "", true, true, false},
	} {
		vars := none()
		vars["OTEL_TRACES_SAMPLER"], vars["OTEL_TRACES_SAMPLER_ARG"] = c.name, c.arg
		tracing, _ := start(t, vars, withProcessor(discard{}))
		sampled := func(ctx context.Context) bool {
			_, span := tracing.TracerProvider().Tracer("x").Start(ctx, "x")
			defer span.End()
			return span.SpanContext().IsSampled()
		}
		got := []bool{sampled(context.Background()), sampled(remote(true)), sampled(remote(false))}
		if want := []bool{c.root, c.underSampled, c.underNot}; !slices.Equal(got, want) {
			t.Errorf("%s %s: root, under a sampled, under an unsampled parent: %v, want %v", c.name, c.arg, got, want)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	vars := none()
	maps.Copy(vars, env.Map{
		"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": "2", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT": "3", "OTEL_SPAN_EVENT_COUNT_LIMIT": "1",
		"OTEL_SPAN_LINK_COUNT_LIMIT": "0", "OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT": "1",
	})
	tracing, _ := start(t, vars, withProcessor(tr.Processor()))
	attrs := trace.WithAttributes(attribute.String("a", "long value"), attribute.Int("b", 1), attribute.Int("c", 1))
	_, span := tracing.TracerProvider().Tracer("x").Start(t.Context(), "x", attrs, trace.WithLinks(trace.Link{SpanContext: trace.SpanContextFromContext(spanContext())}))
	span.AddEvent("1", attrs)
	span.AddEvent("2", attrs)
	span.End()
	s := tr.Span("x").Attr("a", "lon").One()
	if len(s.Attributes) != 2 || len(s.Events) != 1 || len(s.Events[0].Attributes) != 1 || len(s.Links) != 0 {
		t.Errorf("attributes %v, events %v, links %v", s.Attributes, s.Events, s.Links)
	}
}

func TestPropagators(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		variable string
		want     []string // headers of an outgoing request
	}{
		{"", []string{"Baggage", "Traceparent"}},
		{" TraceContext , b3,TRACECONTEXT", []string{"B3", "Traceparent"}},
		{"b3multi", []string{"X-B3-Sampled", "X-B3-Spanid", "X-B3-Traceid"}},
		{"jaeger", []string{"Uber-Trace-Id"}},
		{"xray", []string{"X-Amzn-Trace-Id"}},
		{"ottrace", []string{"Ot-Baggage-User", "Ot-Tracer-Sampled", "Ot-Tracer-Spanid", "Ot-Tracer-Traceid"}},
		{"baggage", []string{"Baggage"}},
		{"none", nil},
		{"nonsense", []string{"Baggage", "Traceparent"}},
	} {
		vars := none()
		vars["OTEL_PROPAGATORS"] = c.variable
		tracing, _ := start(t, vars, withProcessor(discard{}))
		var got []string
		transport := tracing.Transport(roundTripper(func(r *http.Request) (*http.Response, error) {
			for key := range r.Header {
				got = append(got, key)
			}
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
		}))
		member, err := baggage.NewMember("user", "ada")
		if err != nil {
			t.Fatal(err)
		}
		bag, err := baggage.New(member)
		if err != nil {
			t.Fatal(err)
		}
		req := httptest.NewRequestWithContext(baggage.ContextWithBaggage(t.Context(), bag), http.MethodGet, "http://x/", nil)
		resp, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		slices.Sort(got)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q: headers (-want +got):\n%s", c.variable, diff)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// serveOne sends one request through the middleware.
func serveOne(t *testing.T, tracing *bootstrap.Tracing, method, target string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(http.ResponseWriter, *http.Request) {})
	tracing.Middleware()(mux).ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), method, target, nil))
}

func TestMiddlewareFollowsTheVariables(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	vars := none()
	vars["SHOP_TRACES_SKIP"] = "/healthz"
	vars["OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS"] = "GET,BREW"
	tracing, _ := start(t, vars, withProcessor(tr.Processor()))
	serveOne(t, tracing, http.MethodGet, "/healthz")
	serveOne(t, tracing, "BREW", "/pot")
	serveOne(t, tracing, http.MethodPost, "/pot")
	tr.Span("BREW /").Attr("http.request.method", "BREW")
	tr.Span("HTTP /").Attr("http.request.method", "_OTHER")
	tr.Spans().Times(2)
}

// OTEL_SDK_DISABLED: no spans, and a caller's trace goes on to the next server.
func TestSDKDisabledStillPropagates(t *testing.T) {
	t.Parallel()
	tracing, _ := start(t, env.Map{"OTEL_SDK_DISABLED": "true"}, withProcessor(discard{}))
	if tracing.Enabled() || tracing.Destination() != "" {
		t.Error("spans are made")
	}
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	var got string
	handler := tracing.Middleware()(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		transport := tracing.Transport(roundTripper(func(out *http.Request) (*http.Response, error) {
			got = out.Header.Get("Traceparent")
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
		}))
		resp, err := transport.RoundTrip(httptest.NewRequestWithContext(r.Context(), http.MethodGet, "http://next/", nil))
		if err != nil {
			t.Error(err)
			return
		}
		_ = resp.Body.Close()
	}))
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	r.Header.Set("Traceparent", parent)
	handler.ServeHTTP(httptest.NewRecorder(), r)
	if got != parent {
		t.Errorf("the next server gets %q, want %q", got, parent)
	}
}

func TestStrictMakesFindingsErrors(t *testing.T) {
	t.Parallel()
	tracing, err := bootstrap.Start(t.Context(), bootstrap.Config{
		App: "shop", NoGlobals: true, Strict: true, Logger: (&logs{}).logger(),
		Lookup: env.Map{"SHOP_TRACING": "1", "OTEL_TRACES_EXPORTER": "console,zipkin", "OTEL_TRACES_SAMPLER": "x"},
	})
	var f env.Finding
	if !errors.As(err, &f) || !strings.Contains(err.Error(), "zipkin") || !strings.Contains(err.Error(), "OTEL_TRACES_SAMPLER") {
		t.Errorf("Start: %v", err)
	}
	if !tracing.Enabled() {
		t.Error("tracing is off")
	}
	if err := shutdown(t, tracing); err != nil {
		t.Error(err)
	}
}

func TestInstrument(t *testing.T) {
	t.Parallel()
	var got trace.TracerProvider
	ran := 0
	hooks := func(c *bootstrap.Config) {
		c.Instrument = []func(trace.TracerProvider) error{
			nil,
			func(trace.TracerProvider) error { ran++; panic("library") },
			func(trace.TracerProvider) error { ran++; return errors.New("no library") },
			func(tp trace.TracerProvider) error { ran++; got = tp; return nil },
		}
	}
	tracing, out := start(t, none(), hooks, withProcessor(discard{}))
	if got != tracing.TracerProvider() || ran != 3 {
		t.Errorf("%d hooks ran, the last with %T", ran, got)
	}
	if l := out.lines(t, "library not instrumented"); len(l) != 2 {
		t.Errorf("log: %s", out)
	}
	ran = 0
	start(t, env.Map{"SHOP_TRACING": "0"}, hooks)
	if ran != 0 {
		t.Error("hooks run while tracing is off")
	}
}

// Profiles do not depend on the switch, and a folder that cannot be made is a
// finding at once.
func TestProfiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "profiles")
	tracing, _ := start(t, env.Map{"SHOP_TRACING": "0", "SHOP_PROFILE_DIR": dir, "SHOP_PROFILE": "heap,goroutine"})
	if tracing.Enabled() {
		t.Error("tracing is on")
	}
	if err := shutdown(t, tracing); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	files := strings.Join(dirNames(t, dir), " ")
	for _, want := range []string{".heap.pprof", ".goroutine.pprof", ".profiles.json"} {
		if !strings.Contains(files, want) {
			t.Errorf("no %s in %s", want, files)
		}
	}
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tracing, out := start(t, env.Map{"SHOP_PROFILE_DIR": filepath.Join(blocked, "x")})
	if f := tracing.Plan().Findings; len(f) != 1 || f[0].Key != "SHOP_PROFILE_DIR" || f[0].Used != "no profiles" {
		t.Errorf("findings of a bad folder: %v", f)
	}
	if l := out.lines(t, "doubtful configuration"); len(l) != 1 {
		t.Errorf("log of a bad folder: %s", out)
	}
	if err := shutdown(t, tracing); err != nil {
		t.Errorf("Shutdown after a bad folder: %v", err)
	}
}

// Start, work and Shutdown leave no goroutine: the bubble would fail.
func TestLifecycleLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, vars := range map[string]env.Map{
		"off":      {"SHOP_TRACING": "false"},
		"disabled": {"OTEL_SDK_DISABLED": "true"},
		"file":     nil,
		"none":     none(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				for range 3 {
					tracing, _ := start(t, vars, withProcessor(discard{}))
					makeSpans(t, tracing.TracerProvider(), 100)
					done := make(chan error, 4)
					for range cap(done) {
						go func() { done <- tracing.Shutdown(context.Background()) }()
					}
					for range cap(done) {
						if err := <-done; err != nil {
							t.Errorf("Shutdown: %v", err)
						}
					}
					balance(t, tracing.Report())
				}
			})
		})
	}
}

func TestShutdownObeysItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		tracing, _ := start(t, none(), withProcessor(hangingProcessor{release: release}))
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if err := tracing.Shutdown(ctx); err == nil {
			t.Error("Shutdown: no error although a processor hangs")
		}
		if d := time.Since(begin); d > 4*time.Second {
			t.Errorf("Shutdown took %v", d)
		}
		close(release)
	})
}

type hangingProcessor struct {
	discard
	release chan struct{}
}

func (p hangingProcessor) ForceFlush(context.Context) error { <-p.release; return nil }

func TestNoGlobals(t *testing.T) {
	t.Parallel()
	tracing, _ := start(t, none(), withProcessor(discard{}))
	if otel.GetTracerProvider() == tracing.TracerProvider() || len(otel.GetTextMapPropagator().Fields()) != 0 {
		t.Error("a global was set")
	}
	second, _ := start(t, none(), withProcessor(discard{}))
	if second == tracing {
		t.Error("two Starts without globals share a handle")
	}
}

var _ sdktrace.SpanProcessor = hangingProcessor{}

const bubblesVar = "WAYMARK_TEST_BUBBLES"

// A program's tests may each run in a bubble of their own, and the tracing of the process is in all of them: that it
// has ended is not asked of a channel, which only one bubble may touch.
func TestRunningInManyBubbles(t *testing.T) {
	t.Parallel()
	if os.Getenv(bubblesVar) == "" { // once more, in a process whose globals nobody else uses
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRunningInManyBubbles$")
		child.Env = append(os.Environ(), bubblesVar+"=1")
		if out, err := child.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	for _, on := range []string{"true", "false", "true"} {
		synctest.Test(t, func(t *testing.T) {
			if bootstrap.Running() != nil {
				t.Error("tracing runs after its Shutdown in the bubble before")
			}
			tracing, err := bootstrap.Start(t.Context(), bootstrap.Config{
				App: "shop", Logger: slog.New(slog.DiscardHandler), Lookup: env.Map{"SHOP_TRACING": on, "OTEL_TRACES_EXPORTER": "none"},
			})
			if err != nil || bootstrap.Running() != tracing {
				t.Errorf("Start = %v; it runs: %v", err, bootstrap.Running() == tracing)
			}
			if err := tracing.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
