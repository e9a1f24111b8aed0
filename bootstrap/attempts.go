package bootstrap

import (
	"context"
	"sync"
)

// attempts is what the tries of one export have come to, which the exporters'
// retries hide. It travels in the context of the export. A nil one takes all
// calls: an exporter is used without it, too.
type attempts struct {
	onRefused func(error)
	onSent    func()

	mu      sync.Mutex
	running bool // and it is not known whether it has sent
	tried   bool
	sent    bool  // bytes of the export may have reached the backend
	refusal error // of the last try that made no connection
}

type attemptsKey struct{}

func withAttempts(ctx context.Context, a *attempts) context.Context {
	return context.WithValue(ctx, attemptsKey{}, a)
}

func attemptsOf(ctx context.Context) *attempts {
	a, _ := ctx.Value(attemptsKey{}).(*attempts)
	return a
}

// begin says that a try runs which may send at any time.
func (a *attempts) begin() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running = true
}

// connected says that a try has a connection.
func (a *attempts) connected() {
	if a == nil {
		return
	}
	a.mu.Lock()
	a.running, a.tried, a.sent = false, true, true
	a.mu.Unlock()
	a.onSent()
}

// refused says that a try got no connection, so that nothing has been sent. One
// that was given up is no news of the backend.
func (a *attempts) refused(ctx context.Context, err error) {
	if a == nil {
		return
	}
	givenUp := ctx.Err() != nil
	a.mu.Lock()
	a.running, a.tried = false, true
	if !givenUp {
		a.refusal = err
	}
	a.mu.Unlock()
	if !givenUp {
		a.onRefused(err)
	}
}

// nothingSent says that nothing can have arrived.
func (a *attempts) nothingSent() bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.tried && !a.sent && !a.running
}

// cause is why nothing was sent, or else err.
func (a *attempts) cause(err error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.tried && !a.sent && a.refusal != nil {
		return a.refusal
	}
	return err
}

// reach is whether a destination's last try got a connection.
type reach struct {
	mu      sync.Mutex
	refused bool
	giveUp  func() // called while it is refused; nil: not yet
}

func (r *reach) set(refused bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused = refused
	if r.refused && r.giveUp != nil {
		r.giveUp()
	}
}

// give calls f now when the last try was refused, and at each one that will be.
func (r *reach) give(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.giveUp = f
	if r.refused {
		f()
	}
}
