// Package guard calls functions of the program: one that panics, ends its goroutine
// or does not return is an error, and does nothing else to who calls it.
package guard

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// Limit is how long [Guard.Call] waits.
	Limit = time.Second
	// MaxRunning is how many functions run in a [Guard] at a time.
	MaxRunning = 256
)

var (
	// ErrGoexit is a function that has ended its goroutine, as testing.T.FailNow does.
	ErrGoexit = errors.New("runtime.Goexit")
	// ErrLate is a function that has not returned within [Limit].
	ErrLate = fmt.Errorf("no return within %v", Limit)
	// ErrBusy is a function that was not called: one of the same kind is late, or as
	// many as [MaxRunning] run.
	ErrBusy = errors.New("not called, an earlier call has not returned")
)

// PanicError is a function that has panicked.
type PanicError struct{ Value any }

// Error does not show the value, whose methods are the program's as well.
func (e *PanicError) Error() string { return fmt.Sprintf("panic with a %T", e.Value) }

// Call calls f on a goroutine of its own and returns when f has: with f's error, a
// [*PanicError] or [ErrGoexit].
func Call(f func() error) error {
	result := make(chan error, 1)
	go run(f, func(err error) { result <- err })
	return <-result
}

// run calls f and gives end its error, whatever f does.
func run(f func() error, end func(error)) {
	err := ErrGoexit // stays when f ends the goroutine
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{p}
		}
		end(err)
	}()
	err = f()
}

// Guard also bounds how long it waits and how much runs. It is safe for concurrent
// use; the zero value is ready.
type Guard struct {
	mu      sync.Mutex
	running int
	late    map[any]int // calls that were left behind and still run, by kind
}

// Call is the function [Call] for at most [Limit], after which it leaves f behind and
// returns [ErrLate]. While a call of the same kind, which is any comparable value, is
// left behind, it returns [ErrBusy] at once. What f has set is to be read only when
// the error is neither of the two.
func (g *Guard) Call(kind any, f func() error) error {
	if !g.enter(kind) {
		return ErrBusy
	}
	left := false // behind; guarded by mu
	result := make(chan error, 1)
	go run(f, func(err error) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.leave(kind, left)
		result <- err
	})
	timer := time.NewTimer(Limit)
	defer timer.Stop()
	select {
	case err := <-result:
		return err
	case <-timer.C:
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case err := <-result: // it came with the timer
		return err
	default:
	}
	left = true
	if g.late == nil {
		g.late = map[any]int{}
	}
	g.late[kind]++
	return ErrLate
}

func (g *Guard) enter(kind any) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running >= MaxRunning || g.late[kind] > 0 {
		return false
	}
	g.running++
	return true
}

// leave is under mu.
func (g *Guard) leave(kind any, left bool) {
	g.running--
	if !left {
		return
	}
	if g.late[kind]--; g.late[kind] == 0 {
		delete(g.late, kind)
	}
}
