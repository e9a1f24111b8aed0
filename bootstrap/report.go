package bootstrap

import (
	"fmt"
	"log/slog"
	"strings"
)

// Report is the account of all destinations.
type Report struct {
	Destinations []DestinationReport `json:"destinations"`
}

// DestinationReport is the account of one destination, in sampled spans. At any
// time Ended = Queued + Exported + Failed + Dropped; after Shutdown nothing is
// queued.
type DestinationReport struct {
	Name   string `json:"name"`   // file, otlp, console, otlp/stdout
	Target string `json:"target"` // path or endpoint, for people

	Started   uint64 `json:"started"`   // spans that began
	Ended     uint64 `json:"ended"`     // spans that ended
	Open      uint64 `json:"open"`      // began and have not ended
	Queued    uint64 `json:"queued"`    // ended, neither exported nor given up
	Exported  uint64 `json:"exported"`  // taken by the file or the backend
	Failed    uint64 `json:"failed"`    // could not be exported, or were cleared by another process
	Uncertain uint64 `json:"uncertain"` // of Failed: no answer came, may have arrived
	Dropped   uint64 `json:"dropped"`   // past a bound (spans, 64 MiB), or after Shutdown; never sent
	Discarded uint64 `json:"discarded"` // exported, and gone since, with an old part of the file or one that was deleted
}

// Lost is how many spans a destination did not get for certain.
func (d DestinationReport) Lost() uint64 { return d.Failed + d.Dropped }

// Lost is how many spans were lost, over all destinations.
func (r Report) Lost() uint64 {
	var n uint64
	for _, d := range r.Destinations {
		n += d.Lost()
	}
	return n
}

// String is the account in one line for people.
func (r Report) String() string {
	parts := make([]string, 0, len(r.Destinations))
	for _, d := range r.Destinations {
		parts = append(parts, d.String())
	}
	return strings.Join(parts, "; ")
}

// String is the account of one destination in one line for people.
func (d DestinationReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d ended, %d exported, %d lost", d.Name, d.Ended, d.Exported, d.Lost())
	for _, n := range []struct {
		word  string
		count uint64
	}{
		{"failed", d.Failed},
		{"may have arrived", d.Uncertain},
		{"dropped", d.Dropped},
		{"queued", d.Queued},
		{"still open", d.Open},
		{"discarded since", d.Discarded},
	} {
		if n.count > 0 {
			fmt.Fprintf(&b, ", %d %s", n.count, n.word)
		}
	}
	return b.String()
}

// LogValue puts the account into groups, one per destination.
func (r Report) LogValue() slog.Value {
	groups := make([]slog.Attr, 0, len(r.Destinations))
	for _, d := range r.Destinations {
		groups = append(groups, slog.Any(strings.ReplaceAll(d.Name, "/", "_"), d))
	}
	return slog.GroupValue(groups...)
}

// LogValue has the numbers that are not zero, under the names of the fields.
func (d DestinationReport) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("target", d.Target)}
	for _, n := range []slog.Attr{
		slog.Uint64("started", d.Started),
		slog.Uint64("ended", d.Ended),
		slog.Uint64("open", d.Open),
		slog.Uint64("queued", d.Queued),
		slog.Uint64("exported", d.Exported),
		slog.Uint64("failed", d.Failed),
		slog.Uint64("uncertain", d.Uncertain),
		slog.Uint64("dropped", d.Dropped),
		slog.Uint64("discarded", d.Discarded),
	} {
		if n.Value.Uint64() > 0 {
			attrs = append(attrs, n)
		}
	}
	return slog.GroupValue(attrs...)
}

// Report returns the account so far. It is empty when tracing is off.
func (t *Tracing) Report() Report {
	if t.hub == nil {
		return Report{}
	}
	return t.hub.report()
}
