package bootstrap

import (
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// The same Ctrl-C can come twice, or four times; a second one is a decision.
func TestSignalDeliveredTwiceIsOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		signals := make(chan os.Signal, 4)
		var ended []time.Duration
		begin := time.Now()
		stop := watchSecond(signals, func() { ended = append(ended, time.Since(begin)) })
		for _, wait := range []time.Duration{0, time.Millisecond, 400 * time.Millisecond} {
			time.Sleep(wait)
			signals <- os.Interrupt
			synctest.Wait()
		}
		if len(ended) != 0 {
			t.Errorf("ended after %v by the first signal delivered twice", ended)
		}
		time.Sleep(99 * time.Millisecond)
		signals <- os.Interrupt
		synctest.Wait()
		stop()
		if len(ended) != 1 || ended[0] != 500*time.Millisecond {
			t.Errorf("ended after %v, want 500 ms", ended)
		}
	})
}
