package annotate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/annotate"
	"github.com/waymark-trace/waymark/traces/render"
)

type loop struct {
	*Inner
}

// Inner embeds itself.
type Inner struct {
	*Inner
	Secret string
}

// Values that hold themselves do not exhaust the stack, which no program survives.
func TestValuesThatHoldThemselves(t *testing.T) {
	t.Parallel()
	embedded := &Inner{Secret: "s3cret"}
	embedded.Inner = embedded
	var self any
	self = &self
	slice := []any{nil}
	slice[0] = slice
	m := map[string]any{}
	m["m"] = m
	for name, in := range map[string]any{"embedded": loop{embedded}, "pointer": self, "slice": slice, "map": m} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, spans := start(t)
			hide := annotate.Redact(func(string, any) any { return "hidden" })
			_, err := annotate.Call(t.Context(), "x", in, func(context.Context, any) (any, error) { return in, nil }, hide, annotate.NoOutput(), c)
			if err != nil {
				t.Error(err)
			}
			if got := spans.attrs(t, "x")[annotate.InputValueKey]; strings.Contains(got, "s3cret") || !strings.Contains(got, "hidden") && got != annotate.RedactionFailed {
				t.Errorf("input = %q", got)
			}
		})
	}
}

// What a program throws and recovers may hold itself, too.
func TestPanicThatHoldsItself(t *testing.T) {
	t.Parallel()
	m := map[string]any{}
	m["m"] = m
	c, spans := start(t)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is gone")
			}
		}()
		_ = c.Do(t.Context(), "x", func(context.Context) error { panic(m) })
	}()
	if got := spans.Span("x").One().Status.Message; got == "" {
		t.Error("no description")
	}
}

// A nil context is the background everywhere.
func TestNilContext(t *testing.T) {
	t.Parallel()
	var none context.Context
	for name, f := range map[string]func(*annotate.Client){
		"With":        func(*annotate.Client) { annotate.With(none, annotate.User("u"), annotate.Baggage()) },
		"Suppress":    func(*annotate.Client) { annotate.Suppress(none) },
		"FromBaggage": func(*annotate.Client) { annotate.FromBaggage(none) },
		"Span":        func(c *annotate.Client) { _, s := c.Span(none, "x"); s.End(nil) },
		"setters": func(c *annotate.Client) {
			c.SetUser(none, "u")
			annotate.SetInput(none, 1)
			annotate.TraceID(none)
		},
		"Chan": func(c *annotate.Client) {
			out := annotate.Chan("x", func(context.Context, int) <-chan int {
				in := make(chan int)
				go func() { defer close(in); in <- 1 }()
				return in
			}, c)(none, 1)
			for range out {
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, _ := start(t)
				f(c)
			})
		})
	}
}

// A line that a full disk or a killed program has left half does not spoil the next one.
func TestJSONLSinkAfterATornLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "live.jsonl")
	if err := os.WriteFile(path, []byte(`{"time":"2026-`), 0o600); err != nil {
		t.Fatal(err)
	}
	sink := annotate.NewJSONLSink(path)
	if err := sink.Write(t.Context(), annotate.Interaction{Name: "next"}); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	var x annotate.Interaction
	if err := json.Unmarshal(lines[len(lines)-1], &x); err != nil || x.Name != "next" {
		t.Errorf("the last line is %q: %v", lines[len(lines)-1], err)
	}
}

// The event of a score is cut as its attributes are.
func TestGenAIScoreIsCut(t *testing.T) {
	t.Parallel()
	c, spans := start(t, func(c *annotate.Config) { c.GenAI, c.MaxCapturedBytes = true, 100 })
	m := annotate.MetricFunc("m", func(context.Context, annotate.Sample) (annotate.Score, error) {
		return annotate.Score{Value: 1, Label: strings.Repeat("l", 9000), Explanation: strings.Repeat("e", 9000) + "\xff", Annotator: strings.Repeat("a", 9000)}, nil
	})
	_, _ = annotate.Call(t.Context(), "x", "in", echo, annotate.Metrics(m), c)
	if err := c.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := spans.Span("evaluate m").One()
	all := s.Attributes
	for _, e := range s.Events {
		all = append(all, e.Attributes...)
	}
	for _, a := range all {
		if n := len(render.FormatValue(a.Value)); n > 1100 {
			t.Errorf("%s has %d bytes", a.Key, n)
		}
	}
}

// A slog group is an object.
func TestSlogGroup(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	_, s := c.Span(t.Context(), "x")
	s.SetAttributes(slog.GroupAttrs("g", slog.Int("a", 1)))
	s.End(nil)
	if got := spans.attrs(t, "x")["g"]; !strings.Contains(got, "a") || !strings.Contains(got, "1") {
		t.Errorf("g = %q", got)
	}
}

// counted counts the processors on a provider.
type counted struct {
	*sdktrace.TracerProvider
	on map[sdktrace.SpanProcessor]int
}

func (p *counted) RegisterSpanProcessor(s sdktrace.SpanProcessor)   { p.on[s]++ }
func (p *counted) UnregisterSpanProcessor(s sdktrace.SpanProcessor) { p.on[s] = max(p.on[s]-1, 0) }

// A program that goes to and fro between providers does not pile up processors.
func TestProcessorIsOnceOnAProvider(t *testing.T) { // not parallel: it changes the global provider
	old := otel.GetTracerProvider()
	defer otel.SetTracerProvider(old)
	c, err := annotate.New(annotate.Config{Force: true})
	if err != nil {
		t.Fatal(err)
	}
	one := &counted{sdktrace.NewTracerProvider(), map[sdktrace.SpanProcessor]int{}}
	two := &counted{sdktrace.NewTracerProvider(), map[sdktrace.SpanProcessor]int{}}
	for range 3 {
		for _, p := range []*counted{one, two} {
			otel.SetTracerProvider(p)
			_, s := c.Span(t.Context(), "x")
			s.End(nil)
		}
	}
	for _, p := range []*counted{one, two} {
		for _, n := range p.on {
			if n != 1 {
				t.Errorf("the processor is %d times on a provider", n)
			}
		}
		if len(p.on) != 1 {
			t.Errorf("%d processors", len(p.on))
		}
	}
}

// What no comparison holds for is no share.
func TestRateThatIsNoNumber(t *testing.T) {
	t.Parallel()
	sink := &memorySink{}
	c, _ := start(t, live(sink), func(c *annotate.Config) { c.LiveSampleRate = math.NaN() })
	_, s := c.Span(t.Context(), "x")
	s.End(nil)
	if err := c.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(sink.got); n != 0 {
		t.Errorf("%d interactions, want none", n)
	}
}

// A sink gets no more of an error than the span does.
func TestErrorIsCutForTheSink(t *testing.T) {
	t.Parallel()
	sink := &memorySink{}
	c, _ := start(t, live(sink))
	_, s := c.Span(t.Context(), "x")
	s.SetError(strings.Repeat("d", 1<<20), nil)
	s.End(nil)
	if err := c.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(sink.got[0].Error); n > 5<<10 {
		t.Errorf("%d bytes", n)
	}
}
