package notebook

import (
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

// limits is how long the kernel is waited for: to open its end of the pipe, to
// take what is written, and to have read it.
type limits struct{ open, write, read time.Duration }

func defaultLimits() limits { return limits{5 * time.Second, 10 * time.Second, 2 * time.Second} }

const pollInterval = time.Millisecond

type mimeType string

// displayData is the part of GoNB's message that is needed. It has no type in
// common with GoNB's own, not even a map of strings: gob describes a type once per
// stream, and a program that uses GoNB's package too writes to the same one.
type displayData struct {
	Data map[mimeType]any
}

// kernels are the pipes of this process, which in a notebook is one. GoNB reads
// one gob stream per program, so that it has to stay open between two results.
//
//nolint:gochecknoglobals // the pipe is the process's, told by its environment
var kernels = struct {
	mu   sync.Mutex
	open map[string]*kernel
}{open: map[string]*kernel{}}

// kernel is the notebook's end of a program's output.
type kernel struct {
	file *os.File
	gob  *gob.Encoder
}

// send gives HTML to the kernel that reads the pipe, and returns once it has read
// it: GoNB does not look into the pipe of a program that has ended.
func send(path, html string, limit limits) error {
	kernels.mu.Lock()
	defer kernels.mu.Unlock()
	k := kernels.open[path]
	if k == nil {
		file, err := openPipe(path, limit.open)
		if err != nil {
			return err
		}
		k = &kernel{file, gob.NewEncoder(file)}
		kernels.open[path] = k
	}
	err := k.file.SetWriteDeadline(time.Now().Add(limit.write))
	if err == nil {
		err = k.gob.Encode(displayData{map[mimeType]any{"text/html": html}})
	}
	if err != nil {
		// A stream that broke off cannot be taken up again.
		delete(kernels.open, path)
		return errors.Join(err, k.file.Close())
	}
	for end := time.Now().Add(limit.read); unread(k.file) > 0 && time.Now().Before(end); {
		time.Sleep(pollInterval)
	}
	return nil
}

// openPipe opens the pipe once the kernel has opened it for reading. Opening it in
// the plain way would wait for that without end.
func openPipe(path string, timeout time.Duration) (*os.File, error) {
	info, err := os.Stat(path) //nolint:gosec // the environment names it
	if err != nil {
		return nil, err
	}
	if info.Mode()&os.ModeNamedPipe == 0 {
		return nil, fmt.Errorf("GONB_PIPE %q: not a named pipe", path)
	}
	for end := time.Now().Add(timeout); ; time.Sleep(pollInterval) {
		file, err := os.OpenFile(path, os.O_WRONLY|nonblock, 0) //nolint:gosec // as above
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, syscall.ENXIO) || time.Now().After(end) {
			return nil, err
		}
	}
}
