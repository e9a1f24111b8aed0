package tracefile

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/waymark-trace/waymark/traces"
)

// Reader reads the spans of one or more files. It serves one goroutine.
type Reader struct {
	cfg    config
	files  []source
	follow func(yield func(*traces.Span, error) bool) // instead of files

	report  Report // of the files that were read
	current *file  // being read
}

// source is one file, not yet open.
type source struct {
	name string
	open func() (io.ReadCloser, error)
}

// Open prepares to read the file at path, or the parts in the folder at path.
// In an App's folder these are spans.1.jsonl, spans.jsonl and the files of
// other processes, in this order; in any other folder all regular files by
// name, but hidden ones. Nothing but the names is looked at yet; the error is
// that of the file system.
func Open(path string, opts ...Option) (*Reader, error) {
	r := &Reader{cfg: newConfig(opts)}
	names, err := filesAt(path, r.cfg)
	if err != nil {
		return nil, fmt.Errorf("tracefile: %w", err)
	}
	for _, name := range names {
		r.files = append(r.files, source{name: name, open: func() (io.ReadCloser, error) {
			return os.Open(name) //nolint:gosec // the caller's file
		}})
	}
	return r, nil
}

// NewReader prepares to read from r, like standard input, which it does not
// close. Such a reader gives its spans once. Leaving the loop over them early
// waits until a Read that is under way returns.
func NewReader(r io.Reader, opts ...Option) *Reader {
	cfg := newConfig(opts)
	open := func() (io.ReadCloser, error) { return io.NopCloser(r), nil }
	return &Reader{cfg: cfg, files: []source{{name: cfg.name, open: open}}}
}

// ReadAll reads a file or folder whole. The error is the one that Spans ends
// with; the spans read before it are returned with it.
func ReadAll(path string, opts ...Option) ([]*traces.Span, Report, error) {
	r, err := Open(path, opts...)
	if err != nil {
		return nil, Report{}, err
	}
	spans, err := r.All()
	return spans, r.Report(), err
}

// All reads what is left of the spans.
func (r *Reader) All() ([]*traces.Span, error) {
	var list []*traces.Span
	for sp, err := range r.Spans() {
		if err != nil {
			return list, err
		}
		list = append(list, sp)
	}
	return list, nil
}

// Spans returns the spans in the order of the files, each a new one that is
// the caller's for good; Resource and Scope are shared between spans and are
// not to be changed. What cannot be read is passed over and is in the
// [Reader.Report]. An error comes once, at the end, with a nil span: a file
// that cannot be read, or that is no span file at all, which is named with
// what was seen in it. Each loop over Spans begins anew, and the report with
// it.
func (r *Reader) Spans() iter.Seq2[*traces.Span, error] {
	if r.follow != nil {
		return r.follow
	}
	return func(yield func(*traces.Span, error) bool) {
		r.report, r.current = Report{}, nil
		shared := newShared()
		var refused []error
		for _, src := range r.files {
			f := &file{cfg: r.cfg, name: src.name, shared: shared, yield: yield}
			r.current = f
			err := f.read(src)
			refusal := len(r.files) > 1 && errors.As(err, new(*NotSpansError))
			if refusal { // is one entry, instead of what was skipped before it
				f.skips = skips{}
			}
			r.report, r.current = r.Report(), nil
			switch {
			case err == nil:
			case errors.Is(err, errStopped):
				return
			case refusal:
				refused = append(refused, err)
				r.report.refuse(src.name, err)
			default:
				yield(nil, fmt.Errorf("tracefile: %w", err))
				return
			}
		}
		if len(refused) > 0 && len(refused) == len(r.files) {
			yield(nil, fmt.Errorf("tracefile: %w", refused[0]))
		}
	}
}

// Report returns the account of the loop over Spans so far.
func (r *Reader) Report() Report {
	if r.current == nil {
		return r.report
	}
	return r.report.with(r.current)
}

// NotSpansError is in the error of a loop over a file that is no span file.
type NotSpansError struct {
	File string
	Saw  string // what it is instead, as far as can be told
}

func (e *NotSpansError) Error() string { return e.File + ": not a span file: " + e.Saw }

// errStopped ends a reading whose loop was left.
var errStopped = errors.New("stopped")
