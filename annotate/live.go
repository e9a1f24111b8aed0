package annotate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/waymark-trace/waymark/internal/statepath"
)

// Interaction is one use of the program as its users know it: the outermost span of this package, of a trace
// that is sampled and not inside an experiment. Its texts are masked as those of spans are.
type Interaction struct {
	Time         time.Time       `json:"time"`
	TraceID      string          `json:"trace_id"`
	SpanID       string          `json:"span_id"`
	Name         string          `json:"name"`
	Kind         Kind            `json:"kind"`
	Input        string          `json:"input,omitempty"`
	Output       string          `json:"output,omitempty"`
	User         string          `json:"user,omitempty"`
	Session      string          `json:"session,omitempty"`
	Tags         []string        `json:"tags,omitempty"`
	Metadata     json.RawMessage `json:"metadata,omitempty"`
	Failed       bool            `json:"failed,omitempty"`
	Error        string          `json:"error,omitempty"`
	DurationNano int64           `json:"duration_nano"`
}

// Sink takes live interactions, one at a time, off the request path. At most 1024 wait; more are dropped and
// counted. A sink that is an io.Closer is closed by [Client.Shutdown] when the client has made it.
type Sink interface {
	Write(context.Context, Interaction) error
}

// report gives an interaction to the sink.
func (c *Client) report(ctx context.Context, x Interaction) {
	err := errGoexit // stays when the sink ends the goroutine
	defer func() {
		if err != nil {
			c.failures.note(fmt.Errorf("annotate: sink: %w", err))
			return
		}
		c.reported.Add(1)
	}()
	err = c.write(ctx, x)
}

func (c *Client) write(ctx context.Context, x Interaction) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %s", errPanic, errorText(p))
		}
	}()
	if c.cfg.Sink != nil {
		return c.cfg.Sink.Write(Suppress(ctx), x)
	}
	s, err := c.defaultSink()
	if err != nil {
		return err
	}
	return s.Write(ctx, x)
}

// defaultSink makes the file in the App's folder. Only the queue's one worker calls it.
func (c *Client) defaultSink() (*JSONLSink, error) {
	if s := c.sink.Load(); s != nil {
		return s, nil
	}
	t := c.tracing.Load()
	if t == nil {
		return nil, errNoApp
	}
	spans, err := statepath.TracesFile(t.Plan().App, c.cfg.Bootstrap.Variables().Lookup)
	if err != nil {
		return nil, err
	}
	s := NewJSONLSink(filepath.Join(filepath.Dir(filepath.Dir(spans)), "live", "interactions.jsonl"))
	c.sink.Store(s)
	return s, nil
}

var (
	errNoApp      = errors.New("no App whose folder it could be, set Config.Sink")
	errNotRegular = errors.New("not a regular file")
)

func (c *Client) closeSink() error {
	if s := c.sink.Load(); s != nil {
		return s.Close()
	}
	return nil
}

// MaxJSONLSinkBytes is the size past which a [JSONLSink] starts a new file.
const MaxJSONLSinkBytes = 64 << 20

// JSONLSink appends interactions to a file, one line of JSON each:
//
//	{"time":"2026-03-01T12:00:00Z","trace_id":"…","span_id":"…","name":"answer","kind":"CHAIN","input":"…","duration_nano":1200}
//
// The file is the owner's alone. Past 64 MiB it becomes NAME.1.jsonl, in place of the one before. A
// JSONLSink is safe for concurrent use.
type JSONLSink struct {
	path string

	mu   sync.Mutex
	file *os.File
	size int64
}

var _ Sink = (*JSONLSink)(nil)

// NewJSONLSink returns a sink for the file at path. It is opened, and its folder made, with the first
// interaction.
func NewJSONLSink(path string) *JSONLSink { return &JSONLSink{path: path} }

// Write appends a line.
func (s *JSONLSink) Write(_ context.Context, x Interaction) error {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if err := e.Encode(x); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.open(int64(line.Len())); err != nil {
		return err
	}
	n, err := s.file.Write(line.Bytes())
	s.size += int64(n)
	if err != nil { // perhaps half of the line: open looks at how the file ends
		err = errors.Join(err, s.file.Close())
		s.file = nil
	}
	return err
}

// open makes the file ready for n more bytes.
func (s *JSONLSink) open(n int64) error {
	if s.file != nil && s.size+n > MaxJSONLSinkBytes {
		if err := s.rotate(); err != nil {
			return err
		}
	}
	if s.file != nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	if info, err := os.Lstat(s.path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("open %s: %w", s.path, errNotRegular)
	}
	f, err := os.OpenFile(s.path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	size, err := endLine(f, info.Size())
	if err != nil {
		return errors.Join(err, f.Close())
	}
	s.file, s.size = f, size
	if s.size+n > MaxJSONLSinkBytes && s.size > 0 {
		if err := s.rotate(); err != nil {
			return err
		}
		return s.open(n)
	}
	return nil
}

// endLine ends the line that a full disk or a killed program has left half, and returns the size of the file.
func endLine(f *os.File, size int64) (int64, error) {
	if size == 0 {
		return 0, nil
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, size-1); err != nil || last[0] == '\n' {
		return size, err
	}
	n, err := f.WriteString("\n")
	return size + int64(n), err
}

func (s *JSONLSink) rotate() error {
	err := s.file.Close()
	s.file, s.size = nil, 0
	if err != nil {
		return err
	}
	return os.Rename(s.path, strings.TrimSuffix(s.path, ".jsonl")+".1.jsonl")
}

// Close closes the file; the next Write opens it again.
func (s *JSONLSink) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}
