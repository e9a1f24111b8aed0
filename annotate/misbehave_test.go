package annotate_test

import (
	"context"
	"iter"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/waymark-trace/waymark/annotate"
	"github.com/waymark-trace/waymark/internal/guard"
)

// misbehaving does what it is told in each of its methods.
type misbehaving struct{ do func() }

func (m misbehaving) MarshalJSON() ([]byte, error) { m.do(); return []byte(`"done"`), nil }
func (m misbehaving) LogValue() slog.Value         { m.do(); return slog.StringValue("done") }

type misbehavingText struct{ do func() }

func (m misbehavingText) String() string { m.do(); return "done" }

type misbehavingDelta struct{ do func() }

func (m misbehavingDelta) Delta() string { m.do(); return "done" }

type misbehavingError struct{ do func() }

func (m misbehavingError) Error() string { m.do(); return "done" }

// ways are the places in which the package runs code of the program in the middle of its work. Each makes a
// span "x", and says which of its attributes shows what the code has said.
var ways = []struct {
	name string
	run  func(c *annotate.Client, do func())
	key  attribute.Key
	gone string // what is there instead of "done"
}{
	{"MarshalJSON of an input", func(c *annotate.Client, do func()) {
		_, s := c.Span(context.Background(), "x", annotate.Input(misbehaving{do}))
		s.End(nil)
	}, "input.value", "<not encodable: annotate_test.misbehaving>"},
	{"MarshalJSON of an output", func(c *annotate.Client, do func()) {
		_, _ = annotate.Call(context.Background(), "x", 1, func(context.Context, int) (misbehaving, error) { return misbehaving{do}, nil }, c)
	}, "output.value", "<not encodable: annotate_test.misbehaving>"},
	{"MarshalJSON of an attribute", func(c *annotate.Client, do func()) {
		_, s := c.Span(context.Background(), "x")
		s.SetAttribute("a", misbehaving{do})
		s.End(nil)
	}, "a", "<not encodable: annotate_test.misbehaving>"},
	{"LogValue", func(c *annotate.Client, do func()) {
		_, s := c.Span(context.Background(), "x")
		s.SetAttributes(slog.Any("a", misbehaving{do}))
		s.End(nil)
	}, "a", "<not encodable: annotate_test.misbehaving>"},
	{"Error", func(c *annotate.Client, do func()) {
		_ = c.Do(context.Background(), "x", func(ctx context.Context) error {
			annotate.SetAttribute(ctx, "a", misbehavingError{do})
			return nil
		})
	}, "a", "<not encodable: annotate_test.misbehavingError>"},
	{"RedactInput", func(c *annotate.Client, do func()) {
		_, _ = annotate.Call(context.Background(), "x", 1, func(context.Context, int) (int, error) { return 0, nil },
			annotate.RedactInput(func(int) any { do(); return "done" }), c)
	}, "input.value", annotate.RedactionFailed},
	{"Redact", func(c *annotate.Client, do func()) {
		_, _ = annotate.Call(context.Background(), "x", 1, func(context.Context, int) (int, error) { return 0, nil },
			annotate.Redact(func(string, any) any { do(); return "done" }), c)
	}, "input.value", annotate.RedactionFailed},
	{"RedactOutput", func(c *annotate.Client, do func()) {
		_, _ = annotate.Call(context.Background(), "x", 1, func(context.Context, int) (int, error) { return 0, nil },
			annotate.RedactOutput(func(int) any { do(); return "done" }), c)
	}, "output.value", annotate.RedactionFailed},
	{"Join", func(c *annotate.Client, do func()) {
		oneChunk(c, 1, annotate.Join(func(string, int) (string, error) { do(); return "done", nil }))
	}, "output.value", annotate.JoinFailed},
	{"String of a chunk", func(c *annotate.Client, do func()) { oneChunk(c, misbehavingText{do}) }, "output.value", annotate.JoinFailed},
	{"Delta of a chunk", func(c *annotate.Client, do func()) { oneChunk(c, misbehavingDelta{do}) }, "output.value", annotate.JoinFailed},
	{"MarshalJSON of a chunk", func(c *annotate.Client, do func()) { oneChunk(c, []misbehaving{{do}}) }, "output.value", "<not encodable: []annotate_test.misbehaving>"},
}

func oneChunk[C any](c *annotate.Client, chunk C, opts ...annotate.StreamOption) {
	one := annotate.Seq("x", func(context.Context, int) iter.Seq[C] { return func(yield func(C) bool) { yield(chunk) } }, append(opts, c)...)
	for range one(context.Background(), 1) {
	}
}

// Code of the program that ends its goroutine, panics or hangs costs its own value: the call goes on, after a
// bounded time, its span ends, and it is counted.
func TestCodeThatMisbehaves(t *testing.T) {
	t.Parallel()
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, spans := start(t)
				release := make(chan struct{})
				for i, tt := range []struct {
					name string
					do   func()
					late bool
				}{
					{"well", func() {}, false},
					{"goexit", runtime.Goexit, false},
					{"panic", func() { panic("secret") }, false},
					{"hang", func() { <-release }, true},
					{"hang again", func() { <-release }, false},
				} {
					begin, returned := time.Now(), false
					done := make(chan struct{})
					go func() {
						defer close(done)
						way.run(c, tt.do)
						returned = true
					}()
					<-done
					if took := time.Since(begin); !returned || (took > 0) != tt.late || took > guard.Limit {
						t.Errorf("%s: returned: %v after %v", tt.name, returned, took)
					}
					want := "done"
					if i > 0 {
						want = way.gone
					}
					all := spans.Span("x").All()
					if len(all) != i+1 {
						t.Fatalf("%s: %d spans, want %d", tt.name, len(all), i+1)
					}
					// a list of chunks, and a string as JSON, are in brackets and quotes
					if got := strings.Trim(texts(all[i].Attributes)[way.key], `["]`); got != want {
						t.Errorf("%s: %s is %q, want %q", tt.name, way.key, got, want)
					}
					if failed := c.Stats().Failed; failed != int64(i) {
						t.Errorf("%s: %d failed, want %d", tt.name, failed, i)
					}
				}
				close(release)
				synctest.Wait()
			})
		})
	}
}

// An error that misbehaves when it is asked for its text is the span's all the same, and goes to the caller.
func TestErrorThatMisbehaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, spans := start(t, live(&memorySink{}))
		release := make(chan struct{})
		for name, do := range map[string]func(){"goexit": runtime.Goexit, "panic": func() { panic(1) }, "hang": func() { <-release }} {
			returned := false
			done := make(chan struct{})
			go func() {
				defer close(done)
				err := c.Do(context.Background(), name, func(context.Context) error { return misbehavingError{do} })
				_, returned = err.(misbehavingError) //nolint:errorlint // the error itself
			}()
			<-done
			if s := spans.Span(name).Err().One(); !returned || s.Status.Message != "<not encodable: annotate_test.misbehavingError>" {
				t.Errorf("%s: returned: %v, status %+v", name, returned, s.Status)
			}
		}
		close(release)
		synctest.Wait()
		if err := c.Flush(t.Context()); err != nil || c.Stats().Reported != 3 {
			t.Errorf("%+v, %v", c.Stats(), err)
		}
	})
}

type metricFunctions struct {
	name  func() string
	score func() (annotate.Score, error)
}

func (m metricFunctions) Name() string { return m.name() }

func (m metricFunctions) Score(context.Context, annotate.Sample) (annotate.Score, error) {
	return m.score()
}

// A metric that ends its goroutine, as require does in a test, takes no other metric with it, and is counted.
func TestMetricsThatEndTheirGoroutine(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	named := func(name string) func() string { return func() string { return name } }
	good := func() (annotate.Score, error) { return annotate.Score{Value: 1}, nil }
	_, _ = annotate.Call(t.Context(), "x", "", echo, c, annotate.Metrics(
		metricFunctions{named("first"), good},
		metricFunctions{func() string { runtime.Goexit(); return "" }, good},
		metricFunctions{func() string { panic("no name") }, good},
		metricFunctions{named("exits"), func() (annotate.Score, error) { runtime.Goexit(); return good() }},
		metricFunctions{named("panics"), func() (annotate.Score, error) { panic("no score") }},
		metricFunctions{named("last"), good},
	))
	if err := c.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	if got := c.Stats(); got.Scored != 2 || got.Failed != 4 {
		t.Errorf("stats %+v", got)
	}
	for name, message := range map[string]string{"exits": "runtime.Goexit", "panics": "panic: no score"} {
		if s := spans.Span("evaluate " + name).One(); s.Status.Message != message {
			t.Errorf("%s: status %+v", name, s.Status)
		}
	}
	spans.Span("evaluate last").NoErr().One()
	spans.Span("evaluate metric").Err().Times(2)
}
