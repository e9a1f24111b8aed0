package jsonlexport

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	maxBeside    = 1000 // how many exporters of one process may write beside one file
	maxLeftovers = 1000 // processes whose files stay beside that of a running owner
)

// claim is a span file that is locked for us.
type claim struct {
	names
	held  *os.File // the open lock file; nil when it is lost
	owner bool     // of the path that was asked for
}

// claimNames locks want, or names beside it when another has want.
func claimNames(want names, logger *slog.Logger) (claim, error) {
	lock, err := takeLock(want.lock())
	if err == nil {
		return claim{names: want, held: lock, owner: true}, nil
	}
	if !errors.Is(err, errLocked) {
		return claim{}, err
	}
	for i := 1; i <= maxBeside; i++ {
		n := names{want.Beside(os.Getpid(), i)}
		lock, err = takeLock(n.lock())
		if errors.Is(err, errLocked) {
			continue
		}
		if err != nil {
			return claim{}, err
		}
		if checkAll(n.parts(false)) != nil {
			_ = dropLock(lock)
			continue
		}
		logger.Warn("span file is in use by another process or exporter, writing beside it",
			slog.String("file", want.data()), slog.String("used", n.data()))
		return claim{names: n, held: lock}, nil
	}
	return claim{}, fmt.Errorf("lock %s: %d exporters of this process write beside it", want.data(), maxBeside)
}

func checkAll(paths []string) error {
	for _, p := range paths {
		if err := checkPath(p); err != nil {
			return err
		}
	}
	return nil
}

// release gives the claim up. The owner's lock file stays: it is one, and its
// name is what the next process looks for.
func (c *claim) release() error {
	if c.held == nil {
		return nil
	}
	if c.owner {
		return freeLock(c.held)
	}
	return dropLock(c.held)
}

// clearLeftovers removes the files that other processes left beside ours, but
// for the newest of them, if nobody has their lock and they are span files. What
// cannot be removed stays for the next time. It says of how many it was.
func (c *claim) clearLeftovers(keep int) (cleared int) {
	files, err := c.Files()
	if err != nil {
		return 0
	}
	var all []names
	for _, f := range files { // sorted: those of one exporter stand together
		n := names{f.Names}
		if n != c.names && !slices.Contains(all[max(0, len(all)-1):], n) {
			all = append(all, n)
		}
	}
	if len(all) <= keep {
		return 0
	}
	slices.SortFunc(all, func(a, b names) int { return written(a).Compare(written(b)) })
	for _, n := range all[:len(all)-keep] {
		if clearLeftover(n) {
			cleared++
		}
	}
	return cleared
}

// written is when the file was written last; long ago when there is none.
func written(n names) time.Time {
	info, err := os.Lstat(n.data())
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func clearLeftover(n names) bool {
	if checkAll(n.parts(false)) != nil {
		return false
	}
	lock, err := takeLock(n.lock())
	if err != nil {
		return false
	}
	for _, p := range n.parts(false) {
		_ = os.Remove(p)
	}
	_ = dropLock(lock)
	return true
}

// clear removes what an earlier run left under our names, or keeps it as the
// previous run. The file itself is emptied later, when it is open.
func (c *claim) clear(keepPrevious bool) error {
	info, err := os.Lstat(c.data())
	if keepPrevious && c.owner && err == nil && info.Size() > 0 {
		return errors.Join(move(c.data(), c.prev()), move(c.old(), c.prevOld()))
	}
	return remove(c.old())
}

// move renames from to to; when there is no from, there is no to afterwards.
func move(from, to string) error {
	err := os.Rename(from, to)
	if errors.Is(err, fs.ErrNotExist) {
		return remove(to)
	}
	return err
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func absolute(path string) (string, error) {
	if path == "" {
		return "", errors.New("the path of the span file is empty")
	}
	return filepath.Abs(path)
}
