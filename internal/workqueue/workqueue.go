// Package workqueue does work off the path of a request: in order, by a few
// goroutines that exist only while there is work, in bounded memory. Who puts work
// in never waits; what does not fit is counted.
package workqueue

import (
	"context"
	"sync"
	"time"
)

const (
	// MaxWaiting is how many items wait at most.
	MaxWaiting = 1024
	// ItemTimeout bounds the context of one item.
	ItemTimeout = 30 * time.Second
)

// Queue is work that waits and is done. It is safe for concurrent use; make one
// with [New].
type Queue[T any] struct {
	do      func(context.Context, T)
	workers int

	mu      sync.Mutex
	items   []T
	running int
	closed  bool
	life    context.Context //nolint:containedctx // of the items; it ends with the queue
	end     context.CancelFunc
	idle    chan struct{} // closed when the work is done; nil when nobody waits
	dropped int64
}

// New makes an open queue whose items are given to do, by at most so many goroutines
// at a time. The context of do ends after [ItemTimeout], and with the queue. A panic
// of do ends the program: it recovers what may panic.
func New[T any](workers int, do func(context.Context, T)) *Queue[T] {
	q := &Queue[T]{do: do, workers: workers}
	q.begin()
	return q
}

func (q *Queue[T]) begin() {
	q.life, q.end = context.WithCancel(context.Background()) //nolint:gosec // Close calls it
}

// Put adds an item, or drops it when [MaxWaiting] wait already or the queue is closed.
func (q *Queue[T]) Put(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || len(q.items) >= MaxWaiting {
		q.dropped++
		return
	}
	q.items = append(q.items, item)
	if q.running < q.workers {
		q.running++
		go q.work()
	}
}

func (q *Queue[T]) work() {
	defer q.leave()
	for {
		item, life, ok := q.next()
		if !ok {
			return
		}
		q.one(life, item)
	}
}

func (q *Queue[T]) one(life context.Context, item T) {
	ctx, cancel := context.WithTimeout(life, ItemTimeout)
	defer cancel()
	q.do(ctx, item)
}

func (q *Queue[T]) next() (item T, life context.Context, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return item, nil, false
	}
	var zero T
	item, q.items[0] = q.items[0], zero
	q.items = q.items[1:]
	return item, q.life, true
}

// leave ends a worker, also one whose item has ended its goroutine.
func (q *Queue[T]) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) > 0 {
		go q.work()
		return
	}
	q.running--
	if q.running == 0 && q.idle != nil {
		close(q.idle)
		q.idle = nil
	}
}

// Wait waits until there is no work left, or until ctx ends, whose cause it returns.
func (q *Queue[T]) Wait(ctx context.Context) error {
	q.mu.Lock()
	if q.running == 0 {
		q.mu.Unlock()
		return nil
	}
	if q.idle == nil {
		q.idle = make(chan struct{})
	}
	idle := q.idle
	q.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close takes nothing more and waits for the work there is. What is left when ctx
// ends is dropped, and the error is the cause. It may be called twice.
func (q *Queue[T]) Close(ctx context.Context) error {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	err := q.Wait(ctx)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropped += int64(len(q.items))
	q.items = nil
	q.end()
	return err
}

// Open takes work again after Close.
func (q *Queue[T]) Open() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		q.closed = false
		q.begin()
	}
}

// Dropped is the number of items that were not done.
func (q *Queue[T]) Dropped() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}
