package annotate_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/annotate"
	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/experiment"
)

type memorySink struct {
	mu  sync.Mutex
	got []annotate.Interaction
	err error
}

func (s *memorySink) Write(_ context.Context, x annotate.Interaction) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.Name == "panics" {
		panic("sink")
	}
	s.got = append(s.got, x)
	return s.err
}

func live(sink annotate.Sink) func(*annotate.Config) {
	return func(c *annotate.Config) { c.Live, c.Sink = true, sink }
}

// The outermost span is one interaction, with what the package's setters say of it.
func TestLive(t *testing.T) {
	t.Parallel()
	sink := &memorySink{}
	c, spans := start(t, live(sink))
	outer := annotate.Func("outer", func(ctx context.Context, q string) (string, error) {
		setAll(c, ctx)
		ctx, s := c.Span(ctx, "inner", annotate.Live(true))
		s.SetInput("of the inner span alone")
		annotate.SetInput(ctx, "as asked")
		s.End(nil)
		return "answer to " + q, nil
	}, annotate.Agent, c)
	if _, err := outer(t.Context(), "raw"); err != nil {
		t.Error(err)
	}
	_, _ = annotate.Call(t.Context(), "failed", "fail", echo, c)
	_, _ = annotate.Call(t.Context(), "opted out", "", echo, c, annotate.Live(false))
	_, _ = annotate.Call(experiment.Mark(t.Context()), "experiment", "", echo, c)
	_, _ = annotate.Call(t.Context(), "private", "secret", echo, c, annotate.NoInput(), annotate.NoOutput())
	_, _ = annotate.Call(t.Context(), "redacted", "secret", echo, c, annotate.RedactInput(func(string) any { panic(1) }), annotate.NoOutput())
	if err := c.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	want := []annotate.Interaction{
		{Name: "outer", Kind: annotate.Agent, Input: "as asked", Output: "answer to raw", User: "u1", Session: "s1", Tags: []string{"beta", "eu"}, Metadata: json.RawMessage(`{"tier":"pro","seats":3}`)},
		{Name: "failed", Kind: annotate.Chain, Input: "fail", Failed: true, Error: "out of paper"},
		{Name: "private", Kind: annotate.Chain},
		{Name: "redacted", Kind: annotate.Chain, Input: annotate.RedactionFailed},
	}
	if diff := cmp.Diff(want, sink.got, cmpopts.IgnoreFields(annotate.Interaction{}, "Time", "TraceID", "SpanID", "DurationNano"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("interactions (-want +got)\n%s", diff)
	}
	if x := sink.got[0]; x.TraceID != spans.Span("outer").One().TraceID.String() || x.DurationNano <= 0 || x.Time.IsZero() {
		t.Errorf("interaction %+v", x)
	}
	// The output of the span is what the span itself was told.
	spans.has(t, "inner", wanted{annotate.InputValueKey: "as asked"})
	if got := c.Stats(); got.Reported != 4 {
		t.Errorf("stats %+v", got)
	}
}

// What a mask has given another key is not the interaction's any more.
func TestLiveWithoutWhatIsRenamed(t *testing.T) {
	t.Parallel()
	sink := &memorySink{}
	renamed := []attribute.Key{annotate.InputValueKey, annotate.OutputValueKey, annotate.UserIDKey, annotate.SessionIDKey, annotate.TagsKey, annotate.MetadataKey, "exception.message"}
	tracing, err := bootstrap.Start(t.Context(), bootstrap.Config{
		App: "shop", NoGlobals: true, Logger: discard, Processors: []sdktrace.SpanProcessor{annotate.NewProcessor()},
		Lookup: env.Map{"SHOP_TRACING": "true", "OTEL_TRACES_EXPORTER": "none"},
		Mask: func(kv attribute.KeyValue) (attribute.KeyValue, bool) {
			if slices.Contains(renamed, kv.Key) {
				kv.Key += ".hash"
			}
			return kv, true
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tracing.Shutdown(context.Background()) })
	c, err := annotate.New(annotate.Config{Tracing: tracing, Live: true, Sink: sink})
	if err != nil {
		t.Fatal(err)
	}
	ctx, s := c.Span(t.Context(), "x", annotate.Input("in"))
	setAll(c, ctx)
	c.SetOutput(ctx, "out")
	s.SetError("bad", nil)
	s.End(nil)
	if err := c.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	want := []annotate.Interaction{{Name: "x", Kind: annotate.Chain, Failed: true}}
	if diff := cmp.Diff(want, sink.got, cmpopts.IgnoreFields(annotate.Interaction{}, "Time", "TraceID", "SpanID", "DurationNano"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("interactions (-want +got)\n%s", diff)
	}
}

func TestLiveOptsInAndSampleRate(t *testing.T) {
	t.Parallel()
	sink := &memorySink{}
	c, _ := start(t, func(c *annotate.Config) { c.Sink, c.LiveSampleRate = sink, 0.5 })
	for i := range 200 {
		id := trace.TraceID{1, 8: byte(i * 37), 9: byte(i)}
		sc := trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: trace.SpanID{1}, TraceFlags: trace.FlagsSampled, Remote: true})
		_, _ = annotate.Call(trace.ContextWithSpanContext(t.Context(), sc), "x", "", echo, c, annotate.Live(true))
		_, _ = annotate.Call(trace.ContextWithSpanContext(t.Context(), sc), "y", "", echo, c)
	}
	if err := c.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	for _, x := range sink.got {
		id, err := trace.TraceIDFromHex(x.TraceID)
		if err != nil || x.Name != "x" || id[8] >= 0x80 {
			t.Errorf("reported %s of %s", x.Name, x.TraceID)
		}
	}
	if n := len(sink.got); n < 60 || n > 140 {
		t.Errorf("%d of 200 were reported", n)
	}
}

func TestSinkThatFails(t *testing.T) {
	t.Parallel()
	sink := &memorySink{err: errOut}
	c, _ := start(t, live(sink))
	_, _ = annotate.Call(t.Context(), "fails", "", echo, c)
	_, _ = annotate.Call(t.Context(), "panics", "", echo, c)
	if err := c.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	if got := c.Stats(); got.Failed != 2 || got.Reported != 0 {
		t.Errorf("stats %+v", got)
	}
}

func TestJSONLSink(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "live", "interactions.jsonl")
	sink := annotate.NewJSONLSink(path)
	c, _ := start(t, live(sink))
	for _, in := range []string{"a <b>", "line\nbreak"} {
		_, _ = annotate.Call(t.Context(), "answer", in, echo, c)
	}
	if err := errors.Join(c.Flush(t.Context()), sink.Close(), sink.Close()); err != nil {
		t.Error(err)
	}
	_, _ = annotate.Call(t.Context(), "answer", "again", echo, c)
	if err := c.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var inputs []string
	for line := range strings.Lines(string(data)) {
		var x annotate.Interaction
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		inputs = append(inputs, x.Input)
	}
	if diff := cmp.Diff([]string{"a <b>", "line\nbreak", "again"}, inputs); diff != "" {
		t.Error(diff)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := sink.Close(); err != nil {
		t.Error(err)
	}
}

func TestJSONLSinkRotates(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.jsonl")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(annotate.MaxJSONLSinkBytes-1000), f.Close()); err != nil {
		t.Fatal(err)
	}
	sink := annotate.NewJSONLSink(path)
	for range 20 {
		if err := sink.Write(t.Context(), annotate.Interaction{Input: strings.Repeat("x", 100)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Error(err)
	}
	now, err := os.Stat(path)
	old, oldErr := os.Stat(strings.TrimSuffix(path, ".jsonl") + ".1.jsonl")
	if err != nil || oldErr != nil || now.Size() > 20*400 || old.Size() > annotate.MaxJSONLSinkBytes {
		t.Errorf("%v, %v, %v, %v", now, err, old, oldErr)
	}
}

// A file that is full already is rotated when it is opened.
func TestJSONLSinkOpensAFullFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.jsonl")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(annotate.MaxJSONLSinkBytes), f.Close()); err != nil {
		t.Fatal(err)
	}
	sink := annotate.NewJSONLSink(path)
	if err := errors.Join(sink.Write(t.Context(), annotate.Interaction{Input: "x"}), sink.Close()); err != nil {
		t.Fatal(err)
	}
	now, err := os.Stat(path)
	if err != nil || now.Size() > 1000 {
		t.Errorf("%v, %v", now, err)
	}
}

func TestJSONLSinkLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("on Windows, making a symbolic link takes a privilege")
	}
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	if err := errors.Join(os.WriteFile(target, nil, 0o600), os.Symlink(target, filepath.Join(dir, "x.jsonl"))); err != nil {
		t.Fatal(err)
	}
	if err := annotate.NewJSONLSink(filepath.Join(dir, "x.jsonl")).Write(t.Context(), annotate.Interaction{}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("Write through a link: %v", err)
	}
}
