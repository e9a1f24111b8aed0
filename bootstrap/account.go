package bootstrap

import "sync"

// account is the exact account of one destination. Each span that ended is in
// exactly one place: waiting (queued or in flight), exported, failed, dropped.
type account struct {
	mu         sync.Mutex
	limit      int // of waiting
	limitBytes int // of bytes
	waiting    int // spans that ended, neither exported nor given up
	bytes      int // that those hold, and others which were exported with them
	inFlight   int // of waiting, in the hands of the exporter
	final      bool

	ended, exported, failed, uncertain, dropped uint64
}

// end takes a span that ended and holds so many bytes; false: it is dropped.
func (a *account) end(bytes int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended++
	if a.final || a.waiting >= a.limit || bytes > a.limitBytes-a.bytes {
		a.dropped++
		return false
	}
	a.waiting++
	a.bytes += bytes
	return true
}

// release takes that spans which hold so many bytes are gone.
func (a *account) release(bytes int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.bytes -= bytes
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

// settle takes what became of n spans.
func (a *account) settle(n int, r result) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.final {
		return // counted as failed already
	}
	a.inFlight -= n
	a.waiting -= n
	a.exported += uint64(n - r.failed) //nolint:gosec // 0 <= failed <= n
	a.failed += uint64(r.failed)       //nolint:gosec // not negative
	a.uncertain += uint64(r.uncertain) //nolint:gosec // not negative
}

// finish closes the account: what is with the exporter has failed, and may have
// arrived when mayHaveArrived says so; what still waits has not, and what ends later
// is dropped.
func (a *account) finish(mayHaveArrived func() bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.final {
		return
	}
	a.final = true
	a.failed += uint64(a.inFlight) //nolint:gosec // not negative
	if a.inFlight > 0 && mayHaveArrived() {
		a.uncertain += uint64(a.inFlight)
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
