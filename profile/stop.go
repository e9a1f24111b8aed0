package profile

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"
)

// taken is a profile in memory.
type taken struct {
	kind string
	data []byte
	note string
	err  error
}

// take takes one profile; last says that the collector ends with it.
func take(kind string, c collector, last bool) taken {
	t := taken{kind: kind}
	t.err = safely(kind, func() (err error) {
		t.data, err = c.collect(last)
		t.note = c.note()
		return err
	})
	return t
}

// finish is the work of Stop. It has a goroutine of its own, because Stop may
// not wait for a disk longer than it was told.
func (r *recording) finish(reason string) {
	defer close(r.stopped)
	r.stopErr = safely("stop", func() error {
		close(r.quit)
		profiles := r.takeAll()
		<-r.snapshotsDone
		stop := time.Now().UTC()
		errs := slices.Clone(r.lost)
		for _, t := range profiles {
			errs = append(errs, r.save(t, r.base+"."+t.kind+".pprof", final))
			if t.kind == kindGoroutine {
				close(r.goroutinesDone)
			}
		}
		if r.goroutines.Load() {
			<-r.goroutinesDone // WriteGoroutines may still be at it
		}
		r.removeSnapshots()
		errs = append(errs, r.saveManifest(stop, reason))
		r.log()
		return errors.Join(errs...)
	})
}

// takeAll ends all collectors, in the order of Kinds, before any file is
// written.
func (r *recording) takeAll() []taken {
	r.taking.Lock()
	defer r.taking.Unlock()
	r.finished = true
	var profiles []taken
	for _, kind := range r.kinds {
		c := r.collectors[kind]
		if c == nil || kind == kindGoroutine && !r.goroutines.CompareAndSwap(false, true) {
			continue
		}
		profiles = append(profiles, take(kind, c, true))
		c.release()
	}
	return profiles
}

// save writes a profile and keeps the books.
func (r *recording) save(t taken, path string, ro role) error {
	err := t.err
	written := false
	if len(t.data) > 0 {
		werr := safely(t.kind, func() error { return r.cfg.writeFile(path, t.data) })
		if written = werr == nil; !written {
			err = errors.Join(err, fmt.Errorf("%s: %w", t.kind, werr))
		}
	} else if err == nil {
		err = fmt.Errorf("%s: the profile is empty", t.kind)
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	if written {
		f := file{kind: t.kind, path: path, bytes: len(t.data), note: t.note, role: ro}
		if i := slices.IndexFunc(r.files, func(old file) bool { return old.path == path }); i >= 0 {
			r.files[i] = f
		} else {
			r.files = append(r.files, f)
		}
	}
	if ro == final {
		delete(r.pending, t.kind)
		if err != nil {
			r.missing = append(r.missing, manifestMissing{t.kind, err.Error()})
		}
	}
	return err
}

func (r *recording) saveManifest(stop time.Time, reason string) error {
	r.mu.Lock()
	data, err := r.manifest(stop, reason)
	r.mu.Unlock()
	if err != nil {
		return err
	}
	err = safely("manifest", func() error { return r.cfg.writeFile(r.manifestPath(), data) })
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.hasManifest = true
	}
	if !stop.IsZero() {
		delete(r.pending, "manifest")
	}
	return err
}

// removeSnapshots removes what a final profile has replaced.
func (r *recording) removeSnapshots() {
	r.mu.Lock()
	defer r.mu.Unlock()
	done := map[string]bool{}
	for _, f := range r.files {
		done[f.kind] = done[f.kind] || f.role == final
	}
	r.files = slices.DeleteFunc(r.files, func(f file) bool {
		return f.role == snapshot && done[f.kind] && ignoreMissing(os.Remove(f.path)) == nil
	})
}

// log tells people what there is of each kind and how to open it.
func (r *recording) log() {
	r.mu.Lock()
	files := slices.Clone(r.files)
	r.mu.Unlock()
	for _, kind := range r.kinds {
		var size, n int
		var open string
		for _, f := range files {
			if f.kind == kind {
				size, n, open = size+f.bytes, n+1, pprofCommand(f.path)
			}
		}
		if n > 1 {
			open = partsCommand(r.base, kind)
		}
		if n > 0 {
			r.cfg.logger.Info("profile written", slog.String("kind", kind),
				slog.Int("files", n), slog.Int("bytes", size), slog.String("open", open))
		}
	}
}
