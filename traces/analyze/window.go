package analyze

import (
	"errors"
	"time"
)

// Window is a span of time in Unix nanoseconds: from From up to To, which is not in it. Zero is without a bound.
type Window struct{ From, To uint64 }

// Holds reports whether what starts at an instant is in the window.
func (w Window) Holds(start uint64) bool { return start >= w.From && (w.To == 0 || start < w.To) }

// extent is the time from the first start to the last end.
type extent struct{ from, to uint64 }

func (e *extent) add(from, to uint64) {
	if from == 0 {
		return
	}
	if e.from == 0 || from < e.from {
		e.from = from
	}
	e.to = max(e.to, from, to)
}

// seconds is the length of the extent, at least one.
func (e extent) seconds() float64 {
	return max(float64(e.to-e.from)/float64(time.Second), 1)
}

// ParseTime reads a time as people write it: "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02 15:04",
// "2006-01-02", "15:04:05", "15:04", all with or without parts of a second. Without a zone it is in UTC; without a date it
// is the last such time up to newest.
func ParseTime(text string, newest time.Time) (time.Time, error) {
	for _, layout := range [...]string{
		time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly,
	} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	for _, layout := range [...]string{time.TimeOnly, "15:04"} {
		clock, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		newest = newest.UTC()
		day := time.Date(newest.Year(), newest.Month(), newest.Day(), 0, 0, 0, 0, time.UTC)
		t := day.Add(clock.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)))
		if t.After(newest) {
			t = t.AddDate(0, 0, -1)
		}
		return t, nil
	}
	return time.Time{}, errors.New("want a time like 12:03, 12:03:05, 2026-01-31 or 2026-01-31T12:03:05Z")
}
