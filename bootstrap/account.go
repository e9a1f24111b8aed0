package bootstrap

import "sync"

// account is the exact account of one destination. Each span that ended is in
// exactly one place: waiting (queued or in flight), exported, failed, dropped.
type account struct {
	mu       sync.Mutex
	limit    int
	waiting  int // ended, neither exported nor given up
	inFlight int // of those, in the hands of the exporter
	final    bool

	ended, exported, failed, uncertain, dropped uint64
}

// end takes a span that ended; false: it is dropped.
func (a *account) end() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended++
	if a.final || a.waiting >= a.limit {
		a.dropped++
		return false
	}
	a.waiting++
	return true
}

// begin says that n spans go to the exporter; false: too late.
func (a *account) begin(n int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.final {
		return false
	}
	a.inFlight += n
	return true
}

// settle takes the outcome of an export of n spans.
func (a *account) settle(n, failed int, uncertain bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.final {
		return // counted as failed already
	}
	a.inFlight -= n
	a.waiting -= n
	a.exported += uint64(n - failed) //nolint:gosec // 0 <= failed <= n
	a.failed += uint64(failed)       //nolint:gosec // not negative
	if uncertain {
		a.uncertain += uint64(failed) //nolint:gosec // not negative
	}
}

// finish closes the account: what is with the exporter may have arrived, unless
// nothing has been sent; what still waits has not, and what ends later is dropped.
func (a *account) finish(nothingSent bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.final {
		return
	}
	a.final = true
	a.failed += uint64(a.inFlight) //nolint:gosec // not negative
	if !nothingSent {
		a.uncertain += uint64(a.inFlight) //nolint:gosec // not negative
	}
	a.dropped += uint64(a.waiting - a.inFlight) //nolint:gosec // inFlight is part of waiting
	a.waiting, a.inFlight = 0, 0
}

func (a *account) report() DestinationReport {
	a.mu.Lock()
	defer a.mu.Unlock()
	return DestinationReport{
		Ended:     a.ended,
		Queued:    uint64(a.waiting), //nolint:gosec // not negative
		Exported:  a.exported,
		Failed:    a.failed,
		Uncertain: a.uncertain,
		Dropped:   a.dropped,
	}
}

func (a *account) lost() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.failed + a.dropped
}
