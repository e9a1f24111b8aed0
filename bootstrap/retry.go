package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Retries of one export. The batch processor's export timeout bounds them too.
const (
	retryFirst = time.Second
	retryMost  = 10 * time.Second
	retryFor   = time.Minute
)

var (
	errExportTimeout = fmt.Errorf("export timeout: %w", context.DeadlineExceeded)
	errStopped       = errors.New("the exporter is shut down")
)

// retry calls try until it says that there is no use in another call, or until
// ctx ends or a minute has gone. Between calls it waits, twice as long each time,
// or as long as try says.
func retry(ctx context.Context, try func() (again bool, after time.Duration, err error)) error {
	begin := time.Now()
	for pause := retryFirst; ; pause = min(2*pause, retryMost) {
		again, after, err := try()
		if err == nil || !again {
			return err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
		// Many programs lose one backend at the same moment.
		wait := max(after, pause/2+rand.N(pause)) //nolint:gosec // spreads load
		if time.Since(begin)+wait > retryFor {
			return fmt.Errorf("not exported within %v: %w", retryFor, err)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}
