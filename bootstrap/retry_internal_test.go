package bootstrap

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestRetry(t *testing.T) {
	t.Parallel()
	errDown := errors.New("down")
	for _, c := range []struct {
		name     string
		deadline time.Duration // of the context; 0: none
		after    time.Duration // what the backend says
		fails    int           // tries that fail
		final    bool          // the last of them has no use in another
		tries    int           // that are made
		min, max time.Duration // taken
		want     []error       // in the error
	}{
		{name: "at once", tries: 1},
		{name: "at the third try", fails: 2, tries: 3, min: 1500 * time.Millisecond, max: 4500 * time.Millisecond},
		{name: "no use", fails: 1, final: true, tries: 1, want: []error{errDown}},
		{name: "when the backend says", fails: 1, after: 20 * time.Second, tries: 2, min: 20 * time.Second, max: 20 * time.Second},
		{name: "never later than the bound", fails: 1000, after: time.Hour, tries: 1, want: []error{errDown}},
		{name: "for a minute", fails: 1000, tries: -1, min: 45 * time.Second, max: time.Minute, want: []error{errDown}},
		{name: "until the deadline", fails: 1000, deadline: 2 * time.Second, tries: -1, min: 2 * time.Second, max: 2 * time.Second, want: []error{errDown, context.DeadlineExceeded}},
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
				begin, n := time.Now(), 0
				err := retry(ctx, func() (bool, time.Duration, error) {
					if n++; n > c.fails {
						return false, 0, nil
					}
					return !c.final || n < c.fails, c.after, errDown
				})
				if took := time.Since(begin); took < c.min || took > max(c.max, c.min) {
					t.Errorf("took %v, want %v to %v", took, c.min, c.max)
				}
				if c.tries >= 0 && n != c.tries || c.tries < 0 && (n < 2 || n > 40) {
					t.Errorf("%d tries, want %d", n, c.tries)
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
