package annotate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/annotate"
	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

// childKey names the scenario that the test binary runs instead of the tests: the default client, the globals
// and the process's own variables need a process of their own.
const childKey = "WAYMARK_TEST_CHILD"

func TestMain(m *testing.M) {
	if name := os.Getenv(childKey); name != "" {
		check := &checker{}
		scenarios[name](check)
		os.Exit(min(check.failures, 1))
	}
	os.Exit(m.Run())
}

var scenarios = map[string]func(*checker){
	"lazy": lazyScenario, "late": lateScenario, "off": offScenario, "new": newScenario, "secret": secretScenario,
	"default": defaultScenario, "parts": partsScenario, "unasked": unaskedScenario,
}

// checker reports what is wrong in a scenario.
type checker struct{ failures int }

func (c *checker) that(ok bool, format string, args ...any) {
	if !ok {
		c.failures++
		fmt.Fprintf(os.Stderr, format+"\n", args...)
	}
}

func (c *checker) well(err error) { c.that(err == nil, "%v", err) }

// child runs a scenario with the variables and returns its standard output and its state home.
func child(t *testing.T, name string, vars ...string) (stdout, home string) {
	t.Helper()
	home = t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append([]string{childKey + "=" + name, "XDG_STATE_HOME=" + home, "HOME=" + home, "PATH=" + os.Getenv("PATH"), "SystemRoot=" + os.Getenv("SystemRoot")}, vars...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		t.Errorf("%s: %v\n%s", name, err, &errOut)
	}
	return out.String(), home
}

// read returns the spans of an App's file by name.
func read(t *testing.T, home, app string) map[string]*traces.Span {
	t.Helper()
	spans, _, err := tracefile.ReadAll(filepath.Join(home, app, "traces", "spans.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]*traces.Span{}
	for _, s := range spans {
		byName[s.Name] = s
	}
	return byName
}

func attr(s *traces.Span, key attribute.Key) string {
	if s == nil {
		return "no span"
	}
	v, ok := s.Attr(string(key))
	if !ok {
		return ""
	}
	return valueText(v)
}

// valueText is a value as text: of lists and maps only that there is one.
func valueText(v traces.Value) string {
	switch v.Kind() {
	case traces.ValueString:
		return v.AsString()
	case traces.ValueInt:
		return strconv.FormatInt(v.AsInt(), 10)
	case traces.ValueArray:
		var texts []string
		for _, e := range v.AsArray() {
			texts = append(texts, valueText(e))
		}
		return strings.Join(texts, ",")
	default:
		return "value"
	}
}

// Nothing is started but by the first span: tracing begins with defaults, under the switch that has the
// executable's name.
func TestLazyStart(t *testing.T) {
	t.Parallel()
	exe := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	prefix := strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(exe))
	_, home := child(t, "lazy", prefix+"_TRACING=true")
	spans := read(t, home, exe)
	if s := spans["first"]; attr(s, annotate.SpanKindKey) != "CHAIN" || attr(s, annotate.UserIDKey) != "u1" || attr(s, "k199") != "199" {
		t.Errorf("spans %v", spans)
	}
	if s := spans["wrapped"]; attr(s, annotate.InputValueKey) != "1" || attr(s, annotate.OutputValueKey) != "2" {
		t.Errorf("spans %v", spans)
	}
	if s := spans["of a library"]; attr(s, annotate.TagsKey) == "" {
		t.Errorf("spans %v", spans)
	}
	_, home = child(t, "lazy") // the switch is off
	if entries, err := os.ReadDir(home); err != nil || len(entries) != 0 {
		t.Errorf("with the switch off there are %v, %v", entries, err)
	}
}

// A program whose switch is off stays off, whatever the executable's own switch says, and hears of a bad
// variable once.
func TestLazyStartAfterOff(t *testing.T) {
	t.Parallel()
	exe := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	_, home := child(t, "off", env.Prefix(exe)+env.SuffixTracing+"=true", "SHOP_TRACING=yes")
	if entries, err := os.ReadDir(home); err != nil || len(entries) != 0 {
		t.Errorf("with the switch off there are %v, %v", entries, err)
	}
}

func offScenario(check *checker) {
	var log bytes.Buffer
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	tracing, err := bootstrap.Start(context.Background(), bootstrap.Config{App: "shop"})
	check.well(err)
	check.that(bootstrap.Running() == tracing, "the tracing that is off does not run")
	_, span := annotate.Span(context.Background(), "first")
	check.that(!span.Recording(), "a span records")
	span.End(nil)
	check.that(strings.Count(log.String(), "SHOP_TRACING") == 1 && strings.Count(log.String(), "\n") == 1, "the log is %s", &log)
	check.well(tracing.Shutdown(context.Background()))
}

func lazyScenario(check *checker) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	wrapped := annotate.Func("wrapped", func(_ context.Context, n int) (int, error) { return n + 1, nil })
	check.well(annotate.Do(context.Background(), "first", func(ctx context.Context) error {
		annotate.SetUser(ctx, "u1")
		for i := range 200 { // more than OpenTelemetry's default limit
			annotate.SetAttribute(ctx, fmt.Sprint("k", i), i)
		}
		n, err := wrapped(ctx, 1)
		check.that(n == 2, "wrapped = %d", n)
		_, s := otel.Tracer("library").Start(annotate.With(ctx, annotate.Tags("t")), "of a library")
		s.End()
		return err
	}))
	check.well(annotate.Flush(context.Background()))
	if t := bootstrap.Running(); t != nil {
		check.well(t.Shutdown(context.Background()))
		check.that(bootstrap.Running() == nil, "runs after Shutdown")
	}
}

// A client that was there before tracing follows it: also its second life, and its shutdown waits for the
// scores.
func TestTracingComesLater(t *testing.T) {
	t.Parallel()
	_, home := child(t, "late", "SHOP_TRACING=true", "SHOP_TRACES_KEEP=false")
	spans := read(t, home, "shop")
	for _, name := range []string{"second life", "evaluate slow", "of a library"} {
		if spans[name] == nil {
			t.Errorf("no span %q in %v", name, spans)
		}
	}
	if s := spans["of a library"]; attr(s, annotate.UserIDKey) != "u2" {
		t.Errorf("the library's span is of %q", attr(s, annotate.UserIDKey))
	}
	if _, err := os.Stat(filepath.Join(home, "shop", "live", "interactions.jsonl")); err != nil {
		t.Error(err)
	}
}

func lateScenario(check *checker) {
	c, err := annotate.New(annotate.Config{Bootstrap: bootstrap.Config{App: "off", Logger: slog.New(slog.DiscardHandler)}, Live: true})
	check.well(err)
	slow := annotate.Metrics(annotate.MetricFunc("slow", func(context.Context, annotate.Sample) (annotate.Score, error) {
		time.Sleep(20 * time.Millisecond) // a metric that is at work when Shutdown begins, which has to wait for it
		return annotate.Score{Value: 1}, nil
	}))
	work := annotate.Func("second life", func(ctx context.Context, _ int) (int, error) {
		c.SetUser(ctx, "u2")
		_, s := otel.Tracer("library").Start(ctx, "of a library")
		s.End()
		return 0, nil
	}, slow)
	_, err = work(context.Background(), 0)
	check.well(err)
	for range 2 {
		tracing, err := bootstrap.Start(context.Background(), bootstrap.Config{App: "shop", Logger: slog.New(slog.DiscardHandler)})
		check.well(err)
		check.that(bootstrap.Running() == tracing, "another tracing runs")
		_, err = work(context.Background(), 0)
		check.well(err)
		check.well(tracing.Shutdown(context.Background()))
	}
	_, err = work(context.Background(), 0) // after the last shutdown
	check.well(err)
	s := c.Stats()
	check.that(s.Scored == 2 && s.Reported == 2 && s.Failed == 0, "stats %+v", s)
}

// What New is told goes before the variables, and a second New gives the first client.
func TestNew(t *testing.T) {
	t.Parallel()
	_, home := child(t, "new", "SHOP_TRACING=true", "OTEL_SERVICE_NAME=other", "OTEL_RESOURCE_ATTRIBUTES=team=a", "OTEL_TRACES_SAMPLER=always_off")
	s := read(t, home, "shop")["one"]
	if s == nil {
		t.Fatal("no span")
	}
	got := map[string]string{}
	for _, a := range s.Resource.Attributes {
		got[a.Key] = valueText(a.Value)
	}
	for key, want := range map[string]string{
		"service.name": "annotated", "service.version": "v1", "deployment.environment.name": "test", "openinference.project.name": "ä project, 50%", "team": "a",
	} {
		if got[key] != want {
			t.Errorf("%s = %q, want %q", key, got[key], want)
		}
	}
}

func newScenario(check *checker) {
	var log bytes.Buffer
	cfg := annotate.Config{
		Bootstrap: bootstrap.Config{App: "shop", Logger: slog.New(slog.NewTextHandler(&log, nil))},
		Project:   "ä project, 50%", ServiceName: "annotated", Version: "v1", Environment: "test", TraceSampleRate: 1,
		Instrument: []func(trace.TracerProvider) error{
			nil,
			func(tp trace.TracerProvider) error {
				check.that(tp == otel.GetTracerProvider(), "another provider")
				annotate.SetUser(context.Background(), "not a deadlock")
				return errors.New("library too old")
			},
			func(trace.TracerProvider) error { panic("library broken") },
		},
	}
	c, err := annotate.New(cfg)
	check.that(err != nil && strings.Contains(err.Error(), "library too old") && strings.Contains(err.Error(), "library broken"), "New: %v", err)
	check.that(annotate.Default() == c, "the first client is not the default one")
	again, err := annotate.New(annotate.Config{Project: "x"})
	check.that(again == c && errors.Is(err, annotate.ErrExists), "New again: %v", err)
	forced, err := annotate.New(annotate.Config{Force: true, Project: "x", Logger: cfg.Bootstrap.Logger})
	check.that(forced != c && err == nil, "New with Force: %v", err)
	check.that(strings.Contains(log.String(), "fields=Project"), "nothing says that Project does not apply: %s", &log)
	check.that(annotate.Default() == forced, "the forced client is not the default one")
	annotate.SetDefault(c)
	check.that(annotate.Default() == c, "SetDefault has no effect")
	annotate.SetDefault(nil)
	check.that(annotate.Default() == forced, "SetDefault(nil) has no effect")
	ctx, s := annotate.Span(context.Background(), "one")
	c.SetAttribute(ctx, "not mine", 1)
	forced.SetAttribute(ctx, "mine", 1)
	s.End(nil)
	check.well(bootstrap.Running().Shutdown(context.Background()))
}

// The client of the tracing that a program has begun itself is the default one, so that its sink gets what the
// package's functions make; it stays so while its tracing runs.
func TestClientWithTracingIsTheDefault(t *testing.T) {
	t.Parallel()
	child(t, "default", "SHOP_TRACING=true")
	child(t, "unasked", "SHOP_TRACING=true")
}

func defaultScenario(check *checker) {
	quiet := slog.New(slog.DiscardHandler)
	begin := func() *bootstrap.Tracing {
		tracing, err := bootstrap.Start(context.Background(), bootstrap.Config{App: "shop", Logger: quiet})
		check.well(err)
		return tracing
	}
	var log bytes.Buffer
	newClient := func(cfg annotate.Config) (*annotate.Client, *memorySink) {
		sink := &memorySink{}
		cfg.Live, cfg.Sink, cfg.Logger = true, sink, slog.New(slog.NewTextHandler(&log, nil))
		c, err := annotate.New(cfg)
		check.well(err)
		return c, sink
	}
	reports := func(sink *memorySink, what string) {
		before := len(sink.got)
		check.well(annotate.Do(context.Background(), "x", func(context.Context) error { return nil }))
		check.well(annotate.Flush(context.Background()))
		check.that(len(sink.got) == before+1, "%s: the sink got %d", what, len(sink.got)-before)
	}
	tracing := begin()
	first, sink := newClient(annotate.Config{Tracing: tracing})
	check.that(annotate.Default() == first, "the first client is not the default one")
	reports(sink, "first")
	check.that(log.Len() == 0, "log: %s", &log)
	second, _ := newClient(annotate.Config{Tracing: tracing})
	check.that(second != first && annotate.Default() == first, "a second client is the default one")
	check.that(strings.Contains(log.String(), "another annotate client is the default one"), "nothing tells that the second sink gets nothing: %s", &log)
	reports(sink, "first, beside another")
	forced, sink := newClient(annotate.Config{Tracing: tracing, Force: true})
	check.that(annotate.Default() == forced, "the forced client is not the default one")
	reports(sink, "forced")
	check.well(tracing.Shutdown(context.Background()))
	check.that(annotate.Default() == forced, "the default client goes with its tracing")
	tracing = begin()
	last, sink := newClient(annotate.Config{Tracing: tracing})
	check.that(annotate.Default() == last, "the client of the tracing that runs is not the default one")
	reports(sink, "of the second tracing")
	annotate.SetDefault(first)
	newClient(annotate.Config{Tracing: tracing, Force: true})
	check.that(annotate.Default() == first, "SetDefault does not hold")
	check.well(tracing.Shutdown(context.Background()))
}

func unaskedScenario(check *checker) {
	tracing, err := bootstrap.Start(context.Background(), bootstrap.Config{App: "shop", Logger: slog.New(slog.DiscardHandler)})
	check.well(err)
	annotate.SetUser(context.Background(), "u") // makes a client
	made := annotate.Default()
	again, err := annotate.New(annotate.Config{})
	check.that(again == made && errors.Is(err, annotate.ErrExists), "New: %v", err)
	own, err := annotate.New(annotate.Config{Tracing: tracing})
	check.well(err)
	check.that(own != made && annotate.Default() == own, "what Default has made does not give way")
	check.well(tracing.Shutdown(context.Background()))
}

// A secret that another library puts into attributes is in no destination.
func TestSecretsAreInNoDestination(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var received bytes.Buffer
	backend := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.Copy(&received, r.Body)
	}))
	defer backend.Close()
	stdout, home := child(t, "secret", "SHOP_TRACING=true", "OTEL_TRACES_EXPORTER=otlp,console", "OTEL_EXPORTER_OTLP_ENDPOINT="+backend.URL,
		"OPENINFERENCE_HIDE_INPUTS=nonsense", "OPENINFERENCE_HIDE_OUTPUTS=TRUE")
	file, err := os.ReadFile(filepath.Join(home, "shop", "traces", "spans.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	live, err := os.ReadFile(filepath.Join(home, "shop", "live", "interactions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	for destination, data := range map[string][]byte{"file": file, "OTLP": received.Bytes(), "console": []byte(stdout), "live": live} {
		if bytes.Contains(data, []byte(secret)) {
			t.Errorf("%s has the secret", destination)
		}
		if !bytes.Contains(data, []byte("visible")) || !bytes.Contains(data, []byte("__REDACTED__")) {
			t.Errorf("%s has lost what is no secret: %d bytes", destination, len(data))
		}
	}
	for _, data := range [][]byte{file, received.Bytes(), []byte(stdout)} {
		for _, key := range []string{"llm.token_count.prompt", "gen_ai.usage.input_tokens", "seen by the sampler"} {
			if !bytes.Contains(data, []byte(key)) {
				t.Errorf("%s is hidden too", key)
			}
		}
	}
}

// What a variable hides of a call is hidden in the whole of it too, whatever form the program gives it: also in
// what is cut, and in live interactions.
func TestHiddenPartsAreInNoDestination(t *testing.T) {
	t.Parallel()
	for variable, hidden := range map[string][]string{
		"OPENINFERENCE_HIDE_INPUT_IMAGES=true":              {pictureText},
		"OPENINFERENCE_BASE64_IMAGE_MAX_LENGTH=30":          {pictureText},
		"OPENINFERENCE_HIDE_LLM_TOOLS=true":                 {"a secret tool"},
		"OPENINFERENCE_HIDE_LLM_INVOCATION_PARAMETERS=true": {"0.0625"},
		"OPENINFERENCE_HIDE_EMBEDDINGS_VECTORS=true":        {"0.4242"},
		"OPENINFERENCE_HIDE_INPUT_TEXT=true":                {"a secret question"},
		"OPENINFERENCE_HIDE_INPUT_MESSAGES=true":            {"a secret question", pictureText, "a secret tool"},
		"SHOP_TRACES_KEEP=true":                             nil, // hides nothing: all of it is there
	} {
		t.Run(variable, func(t *testing.T) {
			t.Parallel()
			stdout, home := child(t, "parts", "SHOP_TRACING=true", "OTEL_TRACES_EXPORTER=console", variable)
			for _, name := range []string{"traces/spans.jsonl", "live/interactions.jsonl"} {
				file, err := os.ReadFile(filepath.Join(home, "shop", filepath.FromSlash(name)))
				if err != nil {
					t.Fatal(err)
				}
				for _, data := range []string{string(file), stdout} {
					for _, content := range []string{pictureText, "a secret tool", "0.0625", "0.4242", "a secret question"} {
						if has := strings.Contains(data, content); has && slices.Contains(hidden, content) || !has && hidden == nil && name != "live/interactions.jsonl" {
							t.Errorf("%s: has %q: %v", name, content, has)
						}
					}
				}
			}
		})
	}
}

// pictureText is an image's base64, as far as it is looked for.
const pictureText = "iVBORw0KGgpzZWNyZXQgcGl4ZWxz"

func partsScenario(check *checker) {
	c, err := annotate.New(annotate.Config{
		Live: true, MaxCapturedBytes: 2000,
		Bootstrap: bootstrap.Config{App: "shop", AlsoFile: true, Logger: slog.New(slog.DiscardHandler)},
	})
	check.well(err)
	type request struct {
		Model       string    `json:"model"`
		Question    string    `json:"prompt"`
		Picture     []byte    `json:"picture"`
		Tools       []string  `json:"tools"`
		Temperature float64   `json:"temperature"`
		Vector      []float64 `json:"vector"`
	}
	in := request{"m", "a secret question", []byte("\x89PNG\r\n\x1a\nsecret pixels, and more of them"), []string{"a secret tool"}, 0.0625, []float64{0.4242}}
	for _, more := range []string{"", strings.Repeat("x", 3000)} { // the second one is cut
		_, err := annotate.Call(context.Background(), "x", in, func(context.Context, request) (string, error) { return more, nil }, c)
		check.well(err)
		_, s := c.Span(context.Background(), "y", annotate.Input([]any{in, more}))
		s.End(nil)
	}
	check.well(c.Flush(context.Background()))
	check.well(bootstrap.Running().Shutdown(context.Background()))
}

const secret = "hunter2-correct-horse"

func secretScenario(check *checker) {
	c, err := annotate.New(annotate.Config{
		Live: true, GenAI: true,
		Bootstrap: bootstrap.Config{
			App: "shop", AlsoFile: true, Logger: slog.New(slog.NewTextHandler(os.Stdout, nil)),
			Mask: func(kv attribute.KeyValue) (attribute.KeyValue, bool) {
				if kv.Key == "user.id" {
					kv.Value = attribute.StringValue("__REDACTED__")
				}
				return kv, kv.Key != "password"
			},
		},
	})
	check.well(err)
	password := attribute.String("password", secret)
	ctx, s := c.Span(context.Background(), "visible", annotate.LLM, annotate.Input(secret), annotate.Attributes(password))
	c.SetUser(ctx, secret)
	s.SetOutput(map[string]string{"text": secret})
	s.SetAttributes(annotate.Message(annotate.LLMInputMessages, 0, "user", secret)...)
	s.SetAttributes(annotate.Message(annotate.LLMOutputMessages, 0, "assistant", secret)...)
	s.SetAttributes(annotate.LLMTokensPromptKey.Int(7), attribute.Bool("seen by the sampler", true))
	library := otel.Tracer("library", trace.WithInstrumentationAttributes(password))
	_, foreign := library.Start(ctx, "visible too",
		trace.WithAttributes(password, annotate.InputValueKey.String(secret), annotate.OutputValueKey.String(secret)),
		trace.WithLinks(trace.Link{SpanContext: trace.SpanContextFromContext(ctx), Attributes: []attribute.KeyValue{password}}))
	foreign.AddEvent("e", trace.WithAttributes(password))
	foreign.SetAttributes(attribute.String("llm.prompts.0.prompt.text", secret), attribute.String("gen_ai.input.messages", secret), attribute.String("gen_ai.output.messages", secret))
	foreign.End()
	s.End(nil)
	check.well(c.Flush(context.Background()))
	check.well(bootstrap.Running().Shutdown(context.Background()))
}
