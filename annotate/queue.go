package annotate

import (
	"context"
	"sync"
	"time"
)

const (
	// maxQueued is how many calls, and how many interactions, wait at most.
	maxQueued = 1024
	// itemTimeout bounds the context of one item.
	itemTimeout = 30 * time.Second
)

// queue does work off the request path: bounded, in order, by a few goroutines that exist only while there is
// work. What does not fit is dropped and counted.
type queue[T any] struct {
	do      func(context.Context, T)
	workers int

	mu      sync.Mutex
	items   []T
	running int
	closed  bool
	stop    chan struct{} // closed with the queue
	idle    chan struct{} // closed when the work is done; nil when nobody waits
	dropped int64
}

func newQueue[T any](workers int, do func(context.Context, T)) *queue[T] {
	return &queue[T]{do: do, workers: workers, stop: make(chan struct{})}
}

// put adds an item, or drops it.
func (q *queue[T]) put(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || len(q.items) >= maxQueued {
		q.dropped++
		return
	}
	q.items = append(q.items, item)
	if q.running < q.workers {
		q.running++
		go q.work()
	}
}

func (q *queue[T]) work() {
	defer q.leave()
	for {
		item, stop, ok := q.next()
		if !ok {
			return
		}
		q.one(item, stop)
	}
}

// one does one item; its context ends with the queue.
func (q *queue[T]) one(item T, stop <-chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), itemTimeout)
	defer cancel()
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-stop:
			cancel()
		case <-done:
		}
	}()
	q.do(ctx, item)
}

func (q *queue[T]) next() (item T, stop <-chan struct{}, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return item, nil, false
	}
	var zero T
	item, q.items[0] = q.items[0], zero
	q.items = q.items[1:]
	return item, q.stop, true
}

// leave ends a worker, also one whose item has ended its goroutine.
func (q *queue[T]) leave() {
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

// wait waits until there is no work left.
func (q *queue[T]) wait(ctx context.Context) error {
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

// close takes nothing more and waits for the work there is. What is left when ctx ends is dropped.
func (q *queue[T]) close(ctx context.Context) error {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	err := q.wait(ctx)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropped += int64(len(q.items))
	q.items = nil
	select {
	case <-q.stop:
	default:
		close(q.stop)
	}
	return err
}

// open takes work again.
func (q *queue[T]) open() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		q.closed, q.stop = false, make(chan struct{})
	}
}

func (q *queue[T]) lost() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}
