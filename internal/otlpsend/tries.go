package otlpsend

import "sync"

// Tries is what the requests of one [Client.Send] have come to so far. It may be
// asked while Send runs. A nil one takes all calls.
type Tries struct {
	OnReached   func()      // a request is on its way
	OnUnreached func(error) // a request got no connection; nothing of it was sent

	mu     sync.Mutex
	out    bool // a request is on its way, and has no answer
	unsure bool // one was taken, or ended without an answer
}

// MayHaveArrived reports whether any span may have arrived.
func (t *Tries) MayHaveArrived() bool {
	if t == nil {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.out || t.unsure
}

// Leave takes that bytes of a request may leave from here on.
func (t *Tries) Leave() {
	if t == nil {
		return
	}
	t.mu.Lock()
	first := !t.out
	t.out = true
	t.mu.Unlock()
	if first && t.OnReached != nil {
		t.OnReached()
	}
}

func (t *Tries) unreached(err error) {
	if t != nil && t.OnUnreached != nil {
		t.OnUnreached(err)
	}
}

// ended takes the end of a request.
func (t *Tries) ended(r reply) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.out = false
	t.unsure = t.unsure || r.verdict == taken || r.uncertain
}
