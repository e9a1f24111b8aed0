package capture_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/capture"
)

type solver struct{}

func (solver) byValue(ctx context.Context, n int) (string, error) {
	span(ctx, "inside")
	return strings.Repeat("x", n), nil
}

func (*solver) byPointer(ctx context.Context) error {
	span(ctx, "inside")
	return nil
}

func double[T any](_ context.Context, v T) ([]T, error) { return []T{v, v}, nil }

func generic(ctx context.Context, v int) ([]int, error) { return double(ctx, v) }

func TestFunc(t *testing.T) {
	t.Parallel()
	tp, _ := provider()
	var res *capture.Result
	opts := []capture.Option{capture.WithTracerProvider(tp), capture.Into(&res)}
	with := func(more ...capture.Option) []capture.Option { return append(opts[:2:2], more...) }

	out, err := capture.Func(solver{}.byValue, opts...)(t.Context(), 3)
	if out != "xxx" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	wantNames(t, res, "solver.byValue", "inside")

	if err := capture.Func0((&solver{}).byPointer, opts...)(t.Context()); err != nil {
		t.Error(err)
	}
	wantNames(t, res, "solver.byPointer", "inside")

	if _, err := capture.Func(double[int], opts...)(t.Context(), 1); err != nil {
		t.Error(err)
	}
	wantNames(t, res, "double")
	if _, err := capture.Func(generic, opts...)(t.Context(), 1); err != nil {
		t.Error(err)
	}
	wantNames(t, res, "generic")

	boom := errors.New("boom")
	closure := func(context.Context, int) (int, error) { return 7, boom }
	n, err := capture.Func(closure, opts...)(t.Context(), 1)
	if n != 7 || err != boom { //nolint:errorlint // the error itself is wanted, not one that wraps it
		t.Errorf("%d, %v, want what the function returns", n, err)
	}
	wantNames(t, res, "TestFunc")
	if !res.Root().Failed() {
		t.Error("the root is not marked")
	}

	_, _ = capture.Func(closure, with(capture.Name("named"), capture.Scope("scope"))...)(t.Context(), 1)
	wantNames(t, res, "named")
	if res.Root().ScopeName() != "scope" {
		t.Errorf("scope %q", res.Root().ScopeName())
	}
}

func TestOutput(t *testing.T) {
	t.Parallel()
	tp, _ := provider()
	boom := errors.New("boom")
	path := filepath.Join(t.TempDir(), "not", "there", "out.json")
	events := func() int {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		var doc struct {
			TraceEvents []struct{ Ph, Name string } `json:"traceEvents"`
		}
		if err := json.Unmarshal(data, &doc); err != nil {
			t.Error(err)
		}
		return len(doc.TraceEvents)
	}
	fn := func(fail error) func(context.Context) error {
		return func(ctx context.Context) error { span(ctx, "inside"); return fail }
	}
	if err := capture.Func0(fn(nil), capture.WithTracerProvider(tp), capture.Output(path))(t.Context()); err != nil || events() < 2 {
		t.Errorf("%v, %d events", err, events())
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := capture.Func0(fn(boom), capture.WithTracerProvider(tp), capture.Output(path))(t.Context()); !errors.Is(err, boom) || events() < 2 {
		t.Errorf("%v, %d events", err, events())
	}
	rest, _ := os.ReadDir(filepath.Dir(path))
	if len(rest) != 1 {
		t.Errorf("left behind: %v", rest)
	}

	// A file stands where the folder should be.
	bad := capture.Output(filepath.Join(path, "x.json"))
	if err := capture.Func0(fn(nil), capture.WithTracerProvider(tp), bad)(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "capture: save: ") {
		t.Errorf("error %v", err)
	}
	var log strings.Builder
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	err := capture.Func0(fn(boom), capture.WithTracerProvider(tp), bad, capture.WithLogger(logger))(t.Context())
	if err != boom { //nolint:errorlint // alone, not joined
		t.Errorf("error %v, want boom alone", err)
	}
	if !strings.Contains(log.String(), "capture: save: ") {
		t.Errorf("log %q", log.String())
	}
}

func TestOutputOnPanic(t *testing.T) {
	t.Parallel()
	tp, _ := provider()
	path := filepath.Join(t.TempDir(), "out.json")
	defer func() {
		if r := recover(); r != "boom" {
			t.Errorf("recovered %v", r)
		}
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}()
	_ = capture.Func0(func(context.Context) error { panic("boom") }, capture.WithTracerProvider(tp), capture.Output(path))(t.Context())
}

func numbers(ctx context.Context, n int) iter.Seq[int] {
	span(ctx, "prepare")
	return func(yield func(int) bool) {
		for i := range n {
			span(ctx, "step")
			if !yield(i) {
				return
			}
		}
	}
}

func TestSeq(t *testing.T) {
	t.Parallel()
	tp, _ := provider()
	var res *capture.Result
	seq := capture.Seq(numbers, capture.WithTracerProvider(tp), capture.Into(&res))(t.Context(), 5)
	if res != nil {
		t.Error("captured before the loop")
	}
	for i := range seq {
		if res != nil {
			t.Error("the window is closed inside the loop")
		}
		if i == 1 {
			break
		}
	}
	wantNames(t, res, "numbers", "prepare", "step", "step")
	res = nil
	sum := 0
	for i := range seq { // again
		sum += i
	}
	wantNames(t, res, "numbers", "prepare", "step", "step", "step", "step", "step")
	if sum != 10 || res.Root().Failed() {
		t.Errorf("sum %d, root %+v", sum, res.Root())
	}

	func() {
		defer func() {
			if r := recover(); r != "in the loop" {
				t.Errorf("recovered %v", r)
			}
		}()
		for range seq {
			panic("in the loop")
		}
	}()
	if s := res.Root().Status; s.Message != "panic: in the loop" {
		t.Errorf("status %+v", s)
	}
}

// Of several errors the last is the block's.
func TestSeq2OfErrors(t *testing.T) {
	t.Parallel()
	tp, _ := provider()
	var res *capture.Result
	seq := capture.Seq2(func(context.Context, int) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			_ = yield(1, errors.New("first")) && yield(2, errors.New("second")) && yield(3, nil)
		}
	}, capture.WithTracerProvider(tp), capture.Into(&res))
	n := 0
	for _, err := range seq(t.Context(), 0) {
		if err != nil || n == 2 {
			n++
		}
	}
	if n != 3 || res.Root().Status.Message != "second" {
		t.Errorf("%d values, root %+v", n, res.Root())
	}
}

// A trace that cannot be saved is logged when a panic goes on, which has the word.
func TestOutputThatFailsWhilePanicking(t *testing.T) {
	t.Parallel()
	tp, _ := provider()
	var log strings.Builder
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	defer func() {
		if p := recover(); p != "boom" || !strings.Contains(log.String(), "capture: save: ") {
			t.Errorf("panic %v, log %q", p, log.String())
		}
	}()
	_ = capture.Func0(func(context.Context) error { panic("boom") },
		capture.WithTracerProvider(tp), capture.Output(t.TempDir()), capture.WithLogger(logger))(t.Context())
}

// A block that cannot be captured saves nothing, and says why.
func TestOutputOfNothing(t *testing.T) {
	t.Parallel()
	tp, _ := provider()
	path := filepath.Join(t.TempDir(), "out.json")
	_, c := capture.Start(t.Context(), "block", capture.WithTracerProvider(struct{ trace.TracerProvider }{tp}), capture.Output(path))
	var err error
	c.End(&err)
	if _, there := os.Stat(path); !errors.Is(err, capture.ErrNoSDK) || there == nil {
		t.Errorf("error %v, file: %v", err, there)
	}
}

func lines(ctx context.Context, last error) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		span(ctx, "read")
		if yield("a", nil) {
			yield("", last)
		}
	}
}

func TestSeq2(t *testing.T) {
	t.Parallel()
	tp, _ := provider()
	var res *capture.Result
	seq := capture.Seq2(lines, capture.WithTracerProvider(tp), capture.Into(&res))
	boom := errors.New("boom")
	var got error
	for _, err := range seq(t.Context(), boom) {
		got = err
	}
	if !errors.Is(got, boom) || res.Root().Status.Message != "boom" {
		t.Errorf("error %v, root %+v", got, res.Root())
	}
	wantNames(t, res, "lines", "read")
	for _, err := range seq(t.Context(), nil) {
		if err != nil {
			t.Error(err)
		}
	}
	if res.Root().Failed() {
		t.Errorf("root %+v", res.Root())
	}
}

// A sequence has nowhere else to say that its trace could not be saved.
func TestSeqTellsHandler(t *testing.T) {
	tp, _ := provider()
	old := otel.GetErrorHandler()
	defer otel.SetErrorHandler(old)
	var told error
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { told = err }))
	dir := t.TempDir() // a folder cannot be replaced by a file
	for range capture.Seq(numbers, capture.WithTracerProvider(tp), capture.Output(dir))(t.Context(), 2) {
	}
	if told == nil || !strings.HasPrefix(told.Error(), "capture: save: ") {
		t.Errorf("told %v", told)
	}
	if rest, _ := os.ReadDir(filepath.Dir(dir)); len(rest) != 1 {
		t.Errorf("left behind: %v", rest)
	}
}
