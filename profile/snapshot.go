package profile

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"
)

// maxParts bounds what rolling CPU profiles leave on the disk.
const maxParts = 100

// takeSnapshots runs until Stop. A disk that hangs stops the snapshots, not the
// collectors and not Stop.
func (r *recording) takeSnapshots() {
	defer close(r.snapshotsDone)
	ticker := time.NewTicker(r.cfg.snapshots)
	defer ticker.Stop()
	failed := 0
	for {
		select {
		case <-r.quit:
			if failed > 0 {
				r.cfg.logger.Warn("snapshots not written", slog.Int("count", failed))
			}
			return
		case <-ticker.C:
			if err := safely("snapshot", r.takeSnapshot); err != nil {
				if failed++; failed == 1 {
					r.cfg.logger.Warn("snapshot not written", slog.Any("error", err))
				}
			}
		}
	}
}

func (r *recording) takeSnapshot() error {
	var firstErr error
	keep := func(err error) {
		if firstErr == nil {
			firstErr = err
		}
	}
	for _, kind := range r.kinds {
		t, sampled, ok := r.takeOne(kind)
		switch {
		case !ok:
		case sampled:
			keep(r.savePart(t))
		default:
			keep(r.save(t, r.base+"."+kind+".snapshot.pprof", snapshot))
		}
	}
	keep(r.saveManifest(time.Time{}, ""))
	return firstErr
}

// takeOne takes one kind and lets it go on. A collector that cannot begin again,
// because somebody was faster with a CPU profile, is over.
func (r *recording) takeOne(kind string) (t taken, sampled, ok bool) {
	r.taking.Lock()
	defer r.taking.Unlock()
	c := r.collectors[kind]
	if c == nil || r.finished {
		return taken{}, false, false
	}
	t = take(kind, c, false)
	if sampled = c.sampled(); sampled {
		if err := safely(kind, c.start); err != nil {
			r.giveUp(kind, fmt.Errorf("%w; it ends with the last snapshot", err))
		}
	}
	return t, sampled, true
}

func (r *recording) giveUp(kind string, err error) {
	delete(r.collectors, kind)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.pending, kind)
	r.lost = append(r.lost, err)
	r.missing = append(r.missing, manifestMissing{kind, err.Error()})
}

// savePart writes the next part and drops the oldest above the bound.
func (r *recording) savePart(t taken) error {
	r.mu.Lock()
	r.parts[t.kind]++
	path := fmt.Sprintf("%s.%s.part%04d.pprof", r.base, t.kind, r.parts[t.kind])
	r.mu.Unlock()
	err := r.save(t, path, part)

	r.mu.Lock()
	defer r.mu.Unlock()
	isPart := func(f file) bool { return f.kind == t.kind && f.role == part }
	var n int
	for _, f := range r.files {
		if isPart(f) {
			n++
		}
	}
	if i := slices.IndexFunc(r.files, isPart); n > maxParts && ignoreMissing(os.Remove(r.files[i].path)) == nil {
		r.files = slices.Delete(r.files, i, i+1)
		r.droppedParts++
	}
	return err
}
