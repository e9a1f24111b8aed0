package annotate_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/annotate"
	"github.com/waymark-trace/waymark/traces"
)

// words yields n words; at fail (from 0) it yields an error, at blow it panics.
type words struct{ n, fail, blow int }

func speak(_ context.Context, w words) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for i := range w.n {
			if i == w.blow {
				panic(errOut)
			}
			if i == w.fail && !yield("lost ", errOut) || i != w.fail && !yield("w ", nil) {
				return
			}
		}
	}
}

func TestStreamEndings(t *testing.T) {
	t.Parallel()
	type ranger = iter.Seq2[string, error]
	all := func(s ranger) {
		for _, err := range s {
			_ = err // the span's matter
		}
	}
	for _, tt := range []struct {
		name   string
		in     words
		use    func(ranger)
		panics any
		output string // "-": no span
		status traces.StatusCode
	}{
		{"whole", words{3, -1, -1}, all, nil, "w w w ", traces.StatusUnset},
		{"empty", words{0, -1, -1}, all, nil, "", traces.StatusUnset},
		{"break", words{3, -1, -1}, func(s ranger) {
			for _, err := range s {
				_ = err
				break
			}
		}, nil, "w ", traces.StatusUnset},
		{"error in the middle", words{3, 1, -1}, all, nil, "w w ", traces.StatusError},
		{"panic of the producer", words{3, -1, 2}, all, errOut, "w w ", traces.StatusError},
		{"panic of the loop", words{3, -1, -1}, func(s ranger) {
			for _, err := range s {
				_ = err
				panic("loop")
			}
		}, "loop", "w ", traces.StatusError},
		{"pull and stop", words{3, -1, -1}, func(s ranger) {
			next, stop := iter.Pull2(s)
			_, _, _ = next()
			_, _, _ = next()
			stop()
		}, nil, "w w ", traces.StatusUnset},
		{"never ranged", words{3, -1, -1}, func(ranger) {}, nil, "-", traces.StatusUnset},
	} {
		for form, wrap := range map[string]func(*annotate.Client) func(context.Context, words) ranger{
			"Seq2": func(c *annotate.Client) func(context.Context, words) ranger {
				return annotate.Seq2("stream", speak, annotate.LLM, c)
			},
			"Seq": func(c *annotate.Client) func(context.Context, words) ranger {
				one := annotate.Seq("stream", func(ctx context.Context, w words) iter.Seq[string] {
					return func(yield func(string) bool) {
						for word, err := range speak(ctx, w) {
							_ = err
							if !yield(word) {
								return
							}
						}
					}
				}, annotate.LLM, c)
				return func(ctx context.Context, w words) ranger {
					return func(yield func(string, error) bool) {
						for word := range one(ctx, w) {
							if !yield(word, nil) {
								return
							}
						}
					}
				}
			},
		} {
			if form == "Seq" && tt.in.fail >= 0 {
				continue
			}
			t.Run(form+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				c, spans := start(t)
				panicked := func() (p any) {
					defer func() { p = recover() }()
					tt.use(wrap(c)(t.Context(), tt.in))
					return nil
				}()
				if panicked != tt.panics {
					t.Errorf("panicked with %v, want %v", panicked, tt.panics)
				}
				if tt.output == "-" {
					if n := len(spans.Spans().All()); n != 0 {
						t.Errorf("%d spans", n)
					}
					return
				}
				s := spans.Span("stream").One()
				if got := texts(s.Attributes)[annotate.OutputValueKey]; got != tt.output || s.Status.Code != tt.status {
					t.Errorf("output %q, status %+v; want %q, %v", got, s.Status, tt.output, tt.status)
				}
				if got := texts(s.Attributes)[annotate.SpanKindKey]; got != "LLM" {
					t.Errorf("kind %q", got)
				}
			})
		}
	}
}

// The producer's spans are below the stream's; what the loop starts between chunks is not.
func TestStreamIsCurrentWhileAdvancing(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	ctx, root := c.Span(t.Context(), "root")
	numbers := annotate.Seq("stream", func(ctx context.Context, n int) iter.Seq[int] {
		return func(yield func(int) bool) {
			for i := range n {
				library(ctx, "advance")
				if !yield(i) {
					return
				}
			}
		}
	}, c)
	for range numbers(ctx, 1) {
		library(ctx, "between")
		if id := trace.SpanContextFromContext(ctx).SpanID().String(); id != root.SpanID() {
			t.Errorf("the loop's current span is %s", id)
		}
	}
	for range numbers(ctx, 0) {
	}
	root.End(nil)
	var streams []traces.SpanID
	for _, s := range spans.Spans().All() {
		if s.Name == "stream" {
			streams = append(streams, s.SpanID)
		}
	}
	if len(streams) != 2 {
		t.Fatalf("%d runs are %d spans", 2, len(streams))
	}
	if p := spans.Span("advance").One().ParentID; p != streams[0] {
		t.Errorf("the producer's span is below %v", p)
	}
	if p := spans.Span("between").One().ParentID.String(); p != root.SpanID() {
		t.Errorf("the loop's span is below %v", p)
	}
}

type delta struct{ s string }

func (d delta) Delta() string { return d.s }

func stream[C any](t *testing.T, chunks []C, opts ...annotate.StreamOption) map[attribute.Key]string {
	t.Helper()
	c, spans := start(t, func(c *annotate.Config) { c.MaxCapturedBytes = 60 })
	f := annotate.Seq("stream", func(context.Context, int) iter.Seq[C] { return slices.Values(chunks) }, append(opts, c)...)
	if got := slices.Collect(f(t.Context(), 0)); len(got) != len(chunks) {
		t.Errorf("%d chunks of %d arrived", len(got), len(chunks))
	}
	return spans.attrs(t, "stream")
}

func TestChunksAreJoined(t *testing.T) {
	t.Parallel()
	raw := func(texts ...string) []json.RawMessage {
		out := make([]json.RawMessage, len(texts))
		for i, s := range texts {
			out[i] = json.RawMessage(s)
		}
		return out
	}
	type openAI struct {
		Choices []struct {
			Delta struct {
				Content string `json:"content,omitempty"`
			} `json:"delta"`
		} `json:"choices"`
	}
	var chat [3]openAI
	for i, s := range []string{"a", "b", ""} {
		if err := json.Unmarshal([]byte(`{"choices":[{"delta":{"content":"`+s+`"}}]}`), &chat[i]); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name         string
		got          map[attribute.Key]string
		output, mime string
	}{
		{"strings", stream(t, []string{"a", "é", ""}), "aé", annotate.MIMEText},
		{"bytes", stream(t, [][]byte{[]byte("a"), []byte("b")}), "ab", annotate.MIMEText},
		{"deltas", stream(t, []delta{{"a"}, {"b"}}), "ab", annotate.MIMEText},
		{"stringers", stream(t, []time.Duration{time.Second, time.Minute}), "1s1m0s", annotate.MIMEText},
		{"structs of a chat", stream(t, chat[:]), "ab", annotate.MIMEText},
		{"completions", stream(t, raw(`{"choices":[{"text":"a"}]}`, `{"choices":[{"text":"b"}]}`)), "ab", annotate.MIMEText},
		{"responses", stream(t, raw(`{"type":"response.created"}`, `{"type":"response.output_text.delta","delta":"ab"}`)), "ab", annotate.MIMEText},
		{"messages", stream(t, raw(`{"type":"message_start"}`, `{"type":"content_block_delta","delta":{"type":"text_delta","text":"ab"}}`, `{"type":"ping"}`)), "ab", annotate.MIMEText},
		{"candidates", stream(t, raw(`{"candidates":[{"content":{"parts":[{"text":"a"},{"text":"b"}]}}]}`)), "ab", annotate.MIMEText},
		{"message", stream(t, raw(`{"message":{"content":"a"}}`, `{"message":{"content":"b"}}`)), "ab", annotate.MIMEText},
		{"any", stream(t, []any{"a", 1, map[string]any{"b": 2}}), `["a",1,{"b":2}]`, annotate.MIMEJSON},
		{"numbers", stream(t, []int{1, 2}), "[1,2]", annotate.MIMEJSON},
		{"other objects", stream(t, raw(`{"type":"x"}`, `{}`, `{"choices":[{}]}`)), `[{"type":"x"},{},{"choices":[{}]}]`, annotate.MIMEJSON},
		{"none", stream[string](t, nil), "", annotate.MIMEText},
		{"long", stream(t, []string{strings.Repeat("a", 59), "é", "bcd"}), strings.Repeat("a", 59) + "…[truncated 5 bytes]", annotate.MIMEText},
		{"long list", stream(t, slices.Repeat([]int{12345678}, 20)), "[" + strings.Repeat("12345678,", 7)[:59] + "…[truncated", ""},
	} {
		got, mime := tt.got[annotate.OutputValueKey], tt.got[annotate.OutputMIMETypeKey]
		if tt.mime != "" && (got != tt.output || mime != tt.mime) || !strings.HasPrefix(got, tt.output[:min(30, len(tt.output))]) {
			t.Errorf("%s: %q, %s; want %q", tt.name, got, mime, tt.output)
		}
		if len(got) > 100 {
			t.Errorf("%s: %d bytes", tt.name, len(got))
		}
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	sum := annotate.Join(func(acc, n int) (int, error) { return acc + n, nil })
	fails := annotate.Join(func(acc, n int) (int, error) {
		if n == 2 {
			return 0, errOut
		}
		return acc + n, nil
	})
	blows := annotate.Join(func(int, int) (int, error) { panic("join") })
	other := annotate.Join(func(acc string, s string) (string, error) { return acc + s, nil })
	for _, tt := range []struct {
		name string
		opt  annotate.StreamOption
		want string
	}{{"sum", sum, "6"}, {"error", fails, annotate.JoinFailed}, {"panic", blows, annotate.JoinFailed}, {"another type", other, annotate.JoinFailed}} {
		if got := stream(t, []int{1, 2, 3}, tt.opt)[annotate.OutputValueKey]; got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	if annotate.JoinFailed != "<join error>" {
		t.Errorf("the marker is %q", annotate.JoinFailed)
	}
}

func TestStreamRedaction(t *testing.T) {
	t.Parallel()
	upper := annotate.RedactOutput(func(s string) any { return len(s) })
	if got := stream(t, []string{"ab", "c"}, upper)[annotate.OutputValueKey]; got != "3" {
		t.Errorf("redacted %q", got)
	}
	if got := stream(t, []string{strings.Repeat("secret", 30)}, annotate.RedactOutput(func(string) any { panic(1) }))[annotate.OutputValueKey]; got != annotate.RedactionFailed {
		t.Errorf("redacted %q", got)
	}
	got := stream(t, []string{"secret"}, annotate.NoOutput(), annotate.NoInput())
	if _, ok := got[annotate.OutputValueKey]; ok || got[annotate.InputValueKey] != "" {
		t.Errorf("NoOutput: %v", got)
	}
}

func TestChan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, spans := start(t)
		produce := func(ctx context.Context, n int) <-chan string {
			ch := make(chan string)
			go func() {
				defer close(ch)
				for range n {
					select {
					case ch <- "a":
					case <-ctx.Done():
						return
					}
				}
			}()
			return ch
		}
		var got []string
		for s := range annotate.Chan("whole", produce, c)(t.Context(), 3) {
			got = append(got, s)
		}
		if len(got) != 3 {
			t.Errorf("received %q", got)
		}
		spans.has(t, "whole", wanted{annotate.OutputValueKey: "aaa", annotate.InputValueKey: "3"})

		ctx, cancel := context.WithCancel(t.Context())
		ch := annotate.Chan("left early", produce, c)(ctx, 3)
		<-ch
		cancel()
		synctest.Wait() // neither side is left behind, though nobody receives
		if s := spans.Span("left early").One(); s.Status.Code != traces.StatusUnset || !strings.HasPrefix(texts(s.Attributes)[annotate.OutputValueKey], "a") {
			t.Errorf("status %+v", s.Status)
		}

		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		ch = annotate.Chan("deadline", produce, c)(ctx, 3)
		time.Sleep(2 * time.Second) // of the bubble: the deadline is over
		if _, ok := <-ch; ok {
			t.Error("the channel is open")
		}
		if s := spans.Span("deadline").One(); s.Status.Code != traces.StatusError {
			t.Errorf("status %+v", s.Status)
		}
		if ch := annotate.Chan("", produce, offClient(t))(t.Context(), 0); ch == nil {
			t.Error("without tracing there is no channel")
		}
	})
}

func TestChan2(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	boom := func(name string, fn func(context.Context, int) (<-chan int, error)) (p any) {
		defer func() { p = recover() }()
		ch, err := annotate.Chan2(name, fn, c)(t.Context(), 0)
		if ch != nil || name == "error" && !errors.Is(err, errOut) {
			t.Errorf("%s: %v, %v", name, ch, err)
		}
		return nil
	}
	boom("error", func(context.Context, int) (<-chan int, error) { return nil, errOut })
	boom("nil", func(context.Context, int) (<-chan int, error) { return nil, nil })
	if p := boom("panic", func(context.Context, int) (<-chan int, error) { panic(errOut) }); p != any(errOut) {
		t.Errorf("panicked with %v", p)
	}
	for name, want := range map[string]traces.StatusCode{"error": traces.StatusError, "nil": traces.StatusUnset, "panic": traces.StatusError} {
		if s := spans.Span(name).One(); s.Status.Code != want {
			t.Errorf("%s: status %+v", name, s.Status)
		}
	}
}

// The span's error is the first of a stream's.
func TestFirstErrorOfAStream(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	seq := annotate.Seq2("x", func(context.Context, int) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) { _ = yield(1, errOut) && yield(2, errors.New("second")) }
	}, c)
	for _, err := range seq(t.Context(), 0) {
		_ = err
	}
	if s := spans.Span("x").One(); s.Status.Message != "out of paper" {
		t.Errorf("status %+v", s.Status)
	}
}

// A list of chunks that is cut has no holes: what comes after the first that does not fit is left out too.
func TestListOfChunksHasNoHoles(t *testing.T) {
	t.Parallel()
	c, spans := start(t, func(c *annotate.Config) { c.MaxCapturedBytes = 40 })
	seq := annotate.Seq("x", func(context.Context, int) iter.Seq[any] {
		return slices.Values([]any{1, strings.Repeat("x", 39), 2, []int{3}})
	}, c)
	for range seq(t.Context(), 0) {
	}
	spans.has(t, "x", wanted{annotate.OutputValueKey: `[1,"…[3 more chunks]"]`})
}
