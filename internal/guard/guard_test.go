package guard_test

import (
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waymark-trace/waymark/internal/guard"
)

var errOwn = errors.New("own")

func TestCall(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		f    func() error
		want error
	}{
		{"returns", func() error { return nil }, nil},
		{"fails", func() error { return errOwn }, errOwn},
		{"ends its goroutine", func() error { runtime.Goexit(); return nil }, guard.ErrGoexit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var g guard.Guard
			if err := guard.Call(tt.f); !errors.Is(err, tt.want) {
				t.Errorf("Call: %v, want %v", err, tt.want)
			}
			if err := g.Call("x", tt.f); !errors.Is(err, tt.want) {
				t.Errorf("Guard.Call: %v, want %v", err, tt.want)
			}
		})
	}
}

func TestPanicIsAnError(t *testing.T) {
	t.Parallel()
	var g guard.Guard
	for _, call := range []func(func() error) error{guard.Call, func(f func() error) error { return g.Call(1, f) }} {
		err := call(func() error { panic(errOwn) })
		var p *guard.PanicError
		if !errors.As(err, &p) || p.Value != errOwn || p.Error() != "panic with a *errors.errorString" { //nolint:errorlint // the value itself
			t.Errorf("%v", err)
		}
	}
}

// A call that hangs is left behind once; those of its kind are not made while it
// hangs, others are.
func TestCallThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g guard.Guard
		release := make(chan struct{})
		hang := func() error { <-release; return nil }
		begin := time.Now()
		if err := g.Call("hangs", hang); !errors.Is(err, guard.ErrLate) || time.Since(begin) != guard.Limit {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		begin = time.Now()
		if err := g.Call("hangs", hang); !errors.Is(err, guard.ErrBusy) || time.Since(begin) != 0 {
			t.Errorf("the second: %v after %v", err, time.Since(begin))
		}
		if err := g.Call("other", func() error { return errOwn }); !errors.Is(err, errOwn) {
			t.Errorf("another kind: %v", err)
		}
		close(release)
		synctest.Wait()
		if err := g.Call("hangs", hang); err != nil {
			t.Errorf("after the return: %v", err)
		}
	})
}

// Calls that begin together are bounded in number, and all of them are accounted for.
func TestManyThatHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g guard.Guard
		release := make(chan struct{})
		results := make(chan error, 2*guard.MaxRunning)
		for range cap(results) {
			go func() { results <- g.Call("x", func() error { <-release; return nil }) }()
		}
		late, busy := 0, 0
		for range cap(results) {
			switch err := <-results; {
			case errors.Is(err, guard.ErrLate):
				late++
			case errors.Is(err, guard.ErrBusy):
				busy++
			default:
				t.Errorf("%v", err)
			}
		}
		if late != guard.MaxRunning || busy != guard.MaxRunning {
			t.Errorf("%d late, %d busy, want %d of each", late, busy, guard.MaxRunning)
		}
		close(release)
		synctest.Wait()
		for range guard.MaxRunning {
			if err := g.Call("x", func() error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A call that returns at the very limit is either in time or accounted for as late.
func TestCallThatReturnsAtTheLimit(t *testing.T) {
	t.Parallel()
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			var g guard.Guard
			err := g.Call("x", func() error { time.Sleep(guard.Limit); return errOwn })
			if !errors.Is(err, errOwn) && !errors.Is(err, guard.ErrLate) {
				t.Errorf("%v", err)
			}
			synctest.Wait()
			if err := g.Call("x", func() error { return nil }); err != nil {
				t.Errorf("the next: %v", err)
			}
		})
	}
}

func BenchmarkCall(b *testing.B) {
	var g guard.Guard
	b.ReportAllocs()
	for b.Loop() {
		_ = g.Call("x", func() error { return nil })
	}
}
