package annotate_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waymark-trace/waymark/annotate"
)

// wicked panics whatever it is asked.
type wicked struct{}

func (wicked) Error() string                { panic("Error") }
func (wicked) String() string               { panic("String") }
func (wicked) Is(error) bool                { panic("Is") }
func (wicked) As(any) bool                  { panic("As") }
func (wicked) Unwrap() error                { panic("Unwrap") }
func (wicked) MarshalJSON() ([]byte, error) { panic("MarshalJSON") }
func (wicked) Format(fmt.State, rune)       { panic("Format") }
func (wicked) GoString() string             { panic("GoString") }

// An error or a value whose every method panics is reported like another, and is handed on as it is.
func TestValuesThatPanic(t *testing.T) {
	t.Parallel()
	c, spans := start(t, live(&memorySink{}))
	got, err := annotate.Call(t.Context(), "returns", wicked{}, func(ctx context.Context, w wicked) (wicked, error) {
		annotate.SetError(ctx, "", w)
		annotate.SetAttributes(ctx, "w", w, "list", []any{w}, "map", map[string]any{"w": w})
		c.SetTags(ctx, "a")
		c.SetMetadata(ctx, "w", w)
		return w, w
	}, c)
	if _, same := err.(wicked); !same || got != (wicked{}) { //nolint:errorlint // errors.As would call its methods, which panic
		t.Errorf("got %T and %T", got, err)
	}
	func() {
		defer func() {
			if p := recover(); p != (wicked{}) {
				t.Errorf("panicked with %T", p)
			}
		}()
		_ = c.Do(t.Context(), "panics", func(context.Context) error { panic(wicked{}) })
	}()
	seq := annotate.Seq2("streams", func(context.Context, int) iter.Seq2[any, error] {
		return func(yield func(any, error) bool) { _ = yield(wicked{}, nil) && yield(nil, wicked{}) }
	}, c)
	for _, err := range seq(t.Context(), 1) {
		_ = err // comparing it is safe, nothing else is
	}
	if err := c.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"returns", "panics", "streams"} {
		spans.Span(name).Err().One()
	}
}

// A nil function panics in the caller, as it does without tracing, and its span ends.
func TestNilFunction(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	panics := func(name string, f func()) {
		defer func() {
			if recover() == nil {
				t.Errorf("%s: no panic", name)
			}
			spans.Span(name).Err().One()
		}()
		f()
	}
	panics("call", func() { _, _ = annotate.Func[int, int]("call", nil, c)(t.Context(), 1) })
	panics("do", func() { _ = c.Do(t.Context(), "do", nil) })
	panics("seq", func() {
		for range annotate.Seq[int, int]("seq", nil, c)(t.Context(), 1) {
		}
	})
	panics("chan", func() { annotate.Chan[int, int]("chan", nil, c)(t.Context(), 1) })
}

type sinkFunc func(context.Context) error

func (f sinkFunc) Write(ctx context.Context, _ annotate.Interaction) error { return f(ctx) }

// Shutdown keeps its deadline with a sink that never comes back, and one that ends its goroutine
// loses only what it was given.
func TestSinkThatNeverReturns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		c, _ := start(t, live(sinkFunc(func(context.Context) error { <-release; return nil })))
		for range 2000 {
			_, _ = annotate.Call(t.Context(), "x", "", echo, c)
		}
		began := time.Now()
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			err := c.Shutdown(ctx)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("shutdown: %v", err)
			}
		}
		if d := time.Since(began); d > 2*time.Second {
			t.Errorf("shutdown took %v", d)
		}
		close(release)
		synctest.Wait()
		if got := c.Stats(); got.Reported+got.Unreported+got.Failed != 2000 {
			t.Errorf("%+v do not add up to 2000", got)
		}
	})
	c, _ := start(t, live(sinkFunc(func(context.Context) error { runtime.Goexit(); return nil })))
	for range 100 {
		_, _ = annotate.Call(t.Context(), "x", "", echo, c)
	}
	if err := c.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	if got := c.Stats(); got.Reported+got.Unreported+got.Failed != 100 {
		t.Errorf("goexit: %+v do not add up to 100", got)
	}
}

// Streams ranged over by many at once, stopped at once, or pulled and forgotten.
func TestStreamsInManyGoroutines(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	numbers := annotate.Seq("numbers", func(context.Context, int) iter.Seq[int] {
		return func(yield func(int) bool) {
			for i := range 100 {
				if !yield(i) {
					return
				}
			}
		}
	}, c)(t.Context(), 1)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			for n := range numbers {
				if n == i {
					return
				}
			}
		})
	}
	wg.Wait()
	next, stop := iter.Pull(numbers)
	next()
	stop()
	stop()
	spans.Span("numbers").Times(51)
	next, stop = iter.Pull(numbers) // not stopped yet: its span is open, nothing else is held up
	defer stop()
	next()
	if err := c.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// A hundred thousand tags and huge values are cut, counted, and do not make each other slow.
func TestHugeValues(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	tags := make([]string, 100_000)
	for i := range tags {
		tags[i] = fmt.Sprint("tag", i)
	}
	big := strings.Repeat("x", 16<<20)
	_, _ = annotate.Call(t.Context(), "huge", big, func(ctx context.Context, in string) (map[string]string, error) {
		c.SetTags(ctx, tags...)
		c.SetMetadata(ctx, "big", big)
		annotate.SetAttributes(ctx, big, big)
		return map[string]string{in: in}, errors.New(in)
	}, c)
	if err := c.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	size := 0
	for _, a := range spans.Span("huge").One().Attributes {
		size += len(a.Key) + len(a.Value.AsString()) + 32*len(a.Value.AsArray())
	}
	if size > 8<<20 {
		t.Errorf("the span has %d bytes of attributes", size)
	}
	if c.Stats().Unannotated == 0 {
		t.Error("no tag was counted as left out")
	}
}
