package workqueue_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/waymark-trace/waymark/internal/workqueue"
)

// One worker does the items in order, also when an item ends its goroutine.
func TestOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got []int
		q := workqueue.New(1, func(_ context.Context, i int) {
			got = append(got, i)
			if i == 2 {
				runtime.Goexit()
			}
		})
		for i := range 5 {
			q.Put(i)
		}
		if err := q.Wait(t.Context()); err != nil || !slices.Equal(got, []int{0, 1, 2, 3, 4}) || q.Dropped() != 0 {
			t.Errorf("%v, %v, %d dropped", got, err, q.Dropped())
		}
	})
}

// Work that hangs holds as many goroutines as there are workers, for as long as an
// item may take, and what does not fit is counted.
func TestBounds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		block := make(chan struct{})
		q := workqueue.New(3, func(ctx context.Context, _ int) {
			select {
			case <-ctx.Done():
			case <-block:
			}
		})
		const puts = workqueue.MaxWaiting + 10
		begin := time.Now()
		for i := range puts {
			q.Put(i)
			synctest.Wait()
		}
		if got := q.Dropped(); got != puts-workqueue.MaxWaiting-3 {
			t.Errorf("%d were dropped", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), workqueue.ItemTimeout/2)
		defer cancel()
		if err := q.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait: %v", err)
		}
		if took := time.Since(begin); took != workqueue.ItemTimeout/2 {
			t.Errorf("Put and Wait took %v", took)
		}
		close(block)
		if err := q.Wait(t.Context()); err != nil {
			t.Errorf("Wait: %v", err)
		}
	})
}

// Close ends what runs and drops what waits; Open begins anew.
func TestCloseAndOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		done := 0
		q := workqueue.New(1, func(ctx context.Context, hangs bool) {
			if hangs {
				<-ctx.Done()
			}
			if !hangs && ctx.Err() == nil {
				done++
			}
		})
		q.Put(true)
		q.Put(false)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := q.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close: %v", err)
		}
		if err := q.Close(t.Context()); err != nil {
			t.Errorf("second Close: %v", err)
		}
		q.Put(false)
		if got := q.Dropped(); got != 2 || done != 0 {
			t.Errorf("%d were dropped, %d done", got, done)
		}
		q.Open()
		q.Open() // which changes nothing
		q.Put(false)
		if err := q.Close(t.Context()); err != nil || done != 1 || q.Dropped() != 2 {
			t.Errorf("after Open: %v, %d done, %d dropped", err, done, q.Dropped())
		}
	})
}

// An item that is done is not kept while others wait.
func TestDoneItemsAreLetGo(t *testing.T) {
	t.Parallel()
	block := make(chan struct{})
	q := workqueue.New(1, func(_ context.Context, item *[1 << 20]byte) {
		if item == nil {
			<-block
		}
	})
	item := new([1 << 20]byte)
	gone := weak.Make(item)
	q.Put(item)
	for range 10 {
		q.Put(nil)
	}
	for end := time.Now().Add(30 * time.Second); gone.Value() != nil; runtime.GC() {
		if time.Now().After(end) {
			t.Fatal("the item is kept")
		}
	}
	close(block)
	if err := q.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}

// Close ends the context of what runs when its own time is over.
func TestCloseEndsWhatRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var ended time.Duration
		q := workqueue.New(1, func(ctx context.Context, _ int) { <-ctx.Done(); ended = time.Since(begin) })
		q.Put(1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := q.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close: %v", err)
		}
		synctest.Wait()
		if ended != time.Second {
			t.Errorf("the item's context ended after %v", ended)
		}
	})
}
