package bootstrap

import (
	"errors"
	"fmt"
)

// ErrSpansLost is in the error of [Tracing.Shutdown] when nothing else is wrong
// than that spans were lost. When a hook or a profile failed too, the error
// tells the loss in its text alone. [Tracing.Serve] does not return it: a
// program that wants to know asks [Report.Lost] or calls Shutdown again.
var ErrSpansLost = errors.New("spans lost")

// lossError says what was lost, and why as far as it is known.
type lossError struct {
	text  string
	cause error
}

func (e lossError) Error() string        { return e.text }
func (e lossError) Is(target error) bool { return target == ErrSpansLost }
func (e lossError) Unwrap() error        { return e.cause }

// beside is a loss next to another failure: its text.
func beside(err error) error {
	if errors.Is(err, ErrSpansLost) {
		return errors.New(err.Error())
	}
	return err
}

// spansLost is "1 span lost" and "2 spans lost".
func spansLost(n uint64) string {
	if n == 1 {
		return "1 span lost"
	}
	return fmt.Sprintf("%d spans lost", n)
}
