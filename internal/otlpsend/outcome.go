package otlpsend

import (
	"slices"
	"time"
)

// Outcome is what became of spans that were sent.
type Outcome struct {
	Sent      int64    // taken by the receiver
	Refused   int64    // not taken, for good
	TooLarge  int64    // of Refused: alone larger than the receiver takes
	Uncertain int64    // not sent, as far as is known, but may have arrived
	Retries   int64    // requests that were made again
	Reasons   []string // what the receiver said about refused spans; a few
}

// Done is the number of spans whose fate is known.
func (o *Outcome) Done() int64 { return o.Sent + o.Refused }

// Add adds the outcome of other spans.
func (o *Outcome) Add(other Outcome) {
	o.Sent += other.Sent
	o.Refused += other.Refused
	o.TooLarge += other.TooLarge
	o.Uncertain += other.Uncertain
	o.Retries += other.Retries
	for _, r := range other.Reasons {
		o.reason(r)
	}
}

func (o *Outcome) take(n int64, r reply) {
	rejected := min(max(r.rejected, 0), n)
	o.Sent += n - rejected
	o.Refused += rejected
	o.reason(r.message)
}

func (o *Outcome) refuse(n int64, r reply) {
	o.Refused += n
	if r.verdict == tooLarge {
		o.TooLarge += n
	}
	if r.uncertain {
		o.Uncertain += n
	}
	o.reason(r.err.Error())
}

func (o *Outcome) lose(n int64, r reply) {
	if r.uncertain {
		o.Uncertain += n
	}
}

func (o *Outcome) reason(text string) {
	const most = 5
	if text != "" && len(o.Reasons) < most && !slices.Contains(o.Reasons, text) {
		o.Reasons = append(o.Reasons, text)
	}
}

// verdict is what follows from the end of one request.
type verdict int

const (
	taken    verdict = iota // but for the spans that were rejected
	refused                 // the spans of this request, for good
	tooLarge                // fewer spans may do
	later                   // the request may be made again
	hopeless                // no request will do
)

// reply is the end of one request.
type reply struct {
	verdict   verdict
	rejected  int64         // of spans that were taken
	message   string        // about them
	err       error         // when they were not
	uncertain bool          // they were not, as far as is known, but may have arrived
	after     time.Duration // not again before; negative: the receiver did not say
}
