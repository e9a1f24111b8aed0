package otlpsend

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// failing is a transport that fails with reply so many times.
type failing struct {
	fails, tries int
	reply        reply
	at           []time.Time
}

func (f *failing) post(context.Context, []byte, *Tries) reply {
	f.at = append(f.at, time.Now())
	if f.tries++; f.tries <= f.fails {
		return f.reply
	}
	return reply{}
}

func (f *failing) close() error { return nil }

func TestRetry(t *testing.T) {
	t.Parallel()
	errDown := errors.New("down")
	for _, c := range []struct {
		name     string
		deadline time.Duration // of the context; 0: none
		after    time.Duration // what the receiver says
		fails    int
		verdict  verdict
		tries    int // that are made; negative: at least
		min, max time.Duration
		want     []error // in the error
	}{
		{name: "at once", tries: 1},
		{name: "at the third try", after: -1, fails: 2, tries: 3, verdict: later, min: 1500 * time.Millisecond, max: 3 * time.Second},
		{name: "no use", fails: 1, verdict: hopeless, tries: 1, want: []error{errDown}},
		{name: "when the receiver says", fails: 1, after: 20 * time.Second, verdict: later, tries: 2, min: 20 * time.Second, max: 20 * time.Second},
		{name: "never later than the bound", fails: 1000, after: time.Hour, verdict: later, tries: 1, want: []error{errDown}},
		{name: "for a minute", after: -1, fails: 1000, verdict: later, tries: -8, min: 50 * time.Second, max: time.Minute, want: []error{errDown}},
		{name: "until the deadline", after: -1, fails: 1000, verdict: later, deadline: 2 * time.Second, tries: -2, min: 2 * time.Second, max: 2 * time.Second, want: []error{errDown, context.DeadlineExceeded}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if c.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.deadline)
					defer cancel()
				}
				f := &failing{fails: c.fails, reply: reply{verdict: c.verdict, after: c.after, err: errDown}}
				client := &Client{cfg: Config{RetryFor: time.Minute, Backoff: time.Second, MaxBackoff: 10 * time.Second}, transport: f}
				begin := time.Now()
				_, err := client.Send(ctx, 1, func(int, int) ([]byte, error) { return nil, nil }, nil)
				if took := time.Since(begin); took < c.min || took > c.max {
					t.Errorf("took %v, want %v to %v", took, c.min, c.max)
				}
				if c.tries >= 0 && f.tries != c.tries || c.tries < 0 && (f.tries < -c.tries || f.tries > 20) {
					t.Errorf("%d tries, want %d", f.tries, c.tries)
				}
				if (err == nil) != (c.want == nil) {
					t.Errorf("error %v, want %v", err, c.want)
				}
				for _, want := range c.want {
					if !errors.Is(err, want) {
						t.Errorf("error %v, want %v in it", err, want)
					}
				}
			})
		})
	}
}

// The pause doubles from try to try, up to the bound, and half of it is chance.
func TestBackoffDoubles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &failing{fails: 6, reply: reply{verdict: later, after: -1, err: errors.New("down")}}
		client := &Client{cfg: Config{RetryFor: time.Hour, Backoff: time.Second, MaxBackoff: 10 * time.Second}, transport: f}
		if _, err := client.Send(t.Context(), 1, func(int, int) ([]byte, error) { return nil, nil }, nil); err != nil {
			t.Fatal(err)
		}
		for i, seconds := range []int{1, 2, 4, 8, 10, 10} {
			most := time.Duration(seconds) * time.Second
			if pause := f.at[i+1].Sub(f.at[i]); pause < most/2 || pause > most {
				t.Errorf("pause %d is %v, want %v to %v", i, pause, most/2, most)
			}
		}
	})
}
