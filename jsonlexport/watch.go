package jsonlexport

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// sweepInterval is how often the file is looked after that is being written.
const sweepInterval = time.Minute

// begin looks, before the lines of a round, whether lock and file are still ours
// and where they were: people and cleaners by age delete, move and empty them.
func (f *file) begin() {
	unlocked := f.keepLock()
	if f.f != nil {
		f.keepData()
	}
	switch {
	case f.f != nil: // without a lock as well, for another cannot get it either
	case unlocked != nil:
		f.err = unlocked
	default:
		f.reopen()
	}
	f.sweep()
}

// keepLock takes a lock that was lost again. When another has it by now, it
// leaves the file and claims one beside it.
func (f *file) keepLock() error {
	if holds(f.lock(), f.held) {
		return nil
	}
	if err := os.MkdirAll(f.Dir(), 0o700); err != nil {
		return err
	}
	err := f.retake()
	if !errors.Is(err, errLocked) {
		return err
	}
	f.shut(nil)
	c, err := claimNames(f.want, f.cfg.logger)
	if err == nil {
		f.claim = c
	}
	return err
}

// retake takes a lock that was lost again, and accounts for what happened to the
// spans while it was free. The error is errLocked when another has the lock.
func (f *file) retake() error {
	if f.held != nil {
		_ = f.held.Close() // of a file that is deleted
	}
	var err error
	f.held, err = takeLock(f.lock())
	taken := errors.Is(err, errLocked)
	if err != nil && !taken {
		f.tell(gone{why: fmt.Errorf("the lock of %s was deleted or replaced, and cannot be taken again: %w", f.data(), err)})
		return err
	}
	why := fmt.Errorf("%s was deleted or replaced while %s was being written", f.lock(), f.data())
	lost := f.lost(taken)
	if lost > 0 {
		why = fmt.Errorf("%w, so that another process could clear it: %d spans that had been written are gone", why, lost)
	}
	f.tell(gone{lost: lost, why: why})
	return err
}

// lost returns how many of our spans have gone since the lock was lost, and
// forgets them. Who has taken the lock clears the file, or renames it to keep it.
func (f *file) lost(taken bool) (n uint64) {
	cleared := taken && f.inPlace()
	if cleared || !f.intact() {
		n += f.spans
		f.spans = 0
	}
	if cleared || !f.oldIntact() {
		n += f.oldSpans
		f.oldSpans = 0
	}
	if taken { // what is left is there, but not ours
		f.spans, f.oldSpans = 0, 0
	}
	return n
}

// inPlace reports whether the open file is the one at its path.
func (f *file) inPlace() bool { return f.f == nil || holds(f.data(), f.f) }

// intact reports whether what we wrote is still in the file, wherever it is.
func (f *file) intact() bool {
	if f.f == nil {
		return true // unknown
	}
	info, err := f.f.Stat()
	if err != nil || deleted(info) {
		return false
	}
	head, err := headOf(f.f)
	return err == nil && bytes.HasPrefix(head, f.head)
}

// oldIntact reports whether the old part is still there, under its name or that
// of the previous run.
func (f *file) oldIntact() bool {
	for _, path := range []string{f.old(), f.prevOld()} {
		now, err := os.Lstat(path)
		if err == nil && f.oldInfo != nil && os.SameFile(now, f.oldInfo) && now.Size() == f.oldInfo.Size() {
			return true
		}
	}
	return false
}

// keepData closes a file that is no longer at its path. What was in it counts as
// discarded, not as lost, while the lock is ours: no other process of ours did it.
func (f *file) keepData() {
	now, err := os.Lstat(f.data())
	open, openErr := f.f.Stat()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.leaveFile("%s was deleted or moved while it was being written, it is made anew")
	case err != nil || openErr != nil:
		// The folder cannot be looked at; the open file still takes what is written.
	case !os.SameFile(now, open):
		f.leaveFile("%s was replaced while it was being written")
	default:
		if open.Size() < f.size {
			f.tell(gone{discarded: f.spans, why: fmt.Errorf("%s was emptied while it was being written", f.data())})
			f.spans = 0
		}
		f.size = open.Size()
	}
}

func (f *file) leaveFile(what string) {
	g := gone{why: fmt.Errorf(what, f.data())}
	if !f.intact() {
		g.discarded = f.spans
	}
	f.tell(g)
	f.spans = 0
	f.shut(nil)
}

// sweep keeps the lock as young as the file, for cleaners by age, and bounds what
// children leave that a program starts all its life.
func (f *file) sweep() {
	now := time.Now()
	if now.Sub(f.swept) < sweepInterval {
		return
	}
	f.swept = now
	_ = os.Chtimes(f.lock(), now, now) // a lock that is deleted is noticed
	if !f.owner {
		return
	}
	if n := f.clearLeftovers(maxLeftovers); n > 0 {
		f.tell(gone{why: fmt.Errorf("the files of %d processes that have ended were removed beside %s, %d are kept", n, f.data(), maxLeftovers)})
	}
}
