package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"sync/atomic"

	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/spansource"
	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/analyze"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

// call is one call of a verb.
type call struct {
	verb     verb
	stdin    io.Reader
	stdout   io.Writer
	progress *progress // and stderr
	lookup   env.Lookup
	flags    *flag.FlagSet
	app      string
	json     bool
	budgets  []analyze.Budget // of check
	sel      selection
	read     int64 // spans, by the last loop over all
}

func newCall(v verb, stdin io.Reader, stdout, stderr io.Writer, lookup env.Lookup) *call {
	c := &call{verb: v, stdin: stdin, stdout: stdout, progress: newProgress(stderr, lookup.Lookup), lookup: lookup}
	c.flags = flag.NewFlagSet(v.name, flag.ContinueOnError)
	c.flags.SetOutput(io.Discard)
	return c
}

// warn prints one line on stderr. What is in it may come from a file.
func (c *call) warn(format string, args ...any) {
	c.progress.warn(fmt.Sprintf(format, args...))
}

// sourceFlags, selectFlags and jsonFlag are the flags that verbs share.
func (c *call) sourceFlags() { c.flags.StringVar(&c.app, "app", "", "") }

func (c *call) selectFlags() {
	c.flags.Func("trace", "", c.sel.setTrace)
	c.flags.Func("where", "", c.sel.addWhere)
}

func (c *call) jsonFlag() { c.flags.BoolVar(&c.json, "json", false, "") }

// parse reads flags before, between and after the files, which it returns.
func (c *call) parse(args []string) ([]string, error) {
	var files []string
	for {
		if err := c.flags.Parse(args); errors.Is(err, flag.ErrHelp) {
			return nil, err
		} else if err != nil {
			return nil, usageError{err.Error()}
		}
		rest := c.flags.Args()
		if len(rest) == 0 {
			return files, nil
		}
		if done := len(args) - len(rest); done > 0 && args[done-1] == "--" {
			return append(files, rest...), nil
		}
		files = append(files, rest[0])
		args = rest[1:]
	}
}

// source reads the arguments of a verb that takes files alone, and opens these.
func (c *call) source(ctx context.Context, args []string) (*spansource.Source, error) {
	files, err := c.parse(args)
	if err != nil {
		return nil, err
	}
	return c.open(ctx, files)
}

// open finds the files to read, says which if nobody named them, and finds out which window was asked for.
func (c *call) open(ctx context.Context, files []string) (*spansource.Source, error) {
	src, err := c.find(files, false)
	if err != nil {
		return nil, err
	}
	return src, c.resolveWindow(ctx, src)
}

func (c *call) find(files []string, wait bool) (*spansource.Source, error) {
	src, err := spansource.Find(spansource.Query{
		Paths: files, App: c.app, Stdin: c.stdin, Lookup: c.lookup.Lookup, File: c.tracesFile, Wait: wait,
	})
	if errors.Is(err, spansource.ErrBoth) {
		return nil, usageError{err.Error()}
	}
	if err == nil && src.Note() != "" {
		c.warn("%s", src.Note())
	}
	return src, err
}

// findPrevious finds the files of the App's previous run.
func (c *call) findPrevious() (*spansource.Source, error) {
	src, err := spansource.Find(spansource.Query{App: c.app, Stdin: c.stdin, Lookup: c.lookup.Lookup, File: c.tracesFile, Previous: true})
	if err == nil && src.Note() != "" {
		c.warn("%s", src.Note())
	}
	return src, err
}

// tracesFile is what <APP>_TRACES_FILE says.
func (c *call) tracesFile(app string) string {
	settings, _ := env.Parse(app, c.lookup)
	return settings.TracesFile.V
}

// maxSkips is how many of the things that were passed over are printed.
const maxSkips = 10

// account reports what was passed over in the files, and what fits nothing in them.
func (c *call) account(r tracefile.Report) {
	if r.Spans == 0 {
		c.warn("there are no spans in %s", fileNames(r.Files))
	} else {
		c.unmatched()
	}
	if r.Total == 0 {
		return
	}
	listed := int64(0)
	for i, s := range r.Skipped {
		if i == maxSkips {
			break
		}
		listed += max(s.Count, 1)
		c.warn("%s", s.String())
	}
	if rest := r.Total - listed; rest > 0 {
		c.warn("and %d more that were passed over", rest)
	}
}

func fileNames(files []tracefile.File) string {
	switch len(files) {
	case 0:
		return "it"
	case 1:
		return files[0].Name
	default:
		return fmt.Sprintf("%s and %d more", files[0].Name, len(files)-1)
	}
}

// spans are the spans of the source; how many were read is the progress. When
// they are read again, it is known of how many.
func (c *call) spans(ctx context.Context, src *spansource.Source, opts ...tracefile.Option) iter.Seq2[*traces.Span, error] {
	return func(yield func(*traces.Span, error) bool) {
		var n atomic.Int64
		of := c.read
		c.progress.say(func() string {
			if of > 0 {
				return fmt.Sprintf("%d of %s read again", n.Load(), terminal.Count(of, "span"))
			}
			return terminal.Count(n.Load(), "span") + " read"
		})
		for span, err := range src.Spans(ctx, opts...) {
			n.Add(1)
			if !yield(span, err) {
				return
			}
		}
		c.read = n.Load()
		c.progress.say(func() string { return terminal.Count(n.Load(), "span") + " read, working on them" })
	}
}

// each calls f with the spans of the source and reports what was passed over.
func (c *call) each(ctx context.Context, src *spansource.Source, f func(*traces.Span), opts ...tracefile.Option) error {
	for span, err := range c.spans(ctx, src, opts...) {
		if err != nil {
			return err
		}
		f(span)
	}
	c.account(src.Report())
	return nil
}

// output runs f with a buffer before stdout.
func (c *call) output(f func(io.Writer) error) error {
	bw := bufio.NewWriterSize(c.progress.beforeOutput(c.stdout), 64<<10)
	if err := f(bw); err != nil {
		return err
	}
	return bw.Flush()
}

// printJSON writes one JSON document on one line.
func (c *call) printJSON(v any) error {
	return c.output(func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		return enc.Encode(v)
	})
}

// printJSONList writes a JSON document whose last field is a list, item by item.
func (c *call) printJSONList(key string, items iter.Seq[any]) error {
	return c.output(func(w io.Writer) error {
		if _, err := fmt.Fprintf(w, `{"schema":%q,%q:[`, c.schema(), key); err != nil {
			return err
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		for item := range items {
			if err := enc.Encode(item); err != nil {
				return err
			}
			if _, err := w.Write(bytes.TrimSuffix(b.Bytes(), []byte("\n"))); err != nil {
				return err
			}
			b.Reset()
			b.WriteByte(',')
		}
		_, err := io.WriteString(w, "]}\n")
		return err
	})
}

// printTable writes a table.
func (c *call) printTable(t *terminal.Table) error {
	return c.output(func(w io.Writer) error {
		_, err := t.WriteTo(w)
		return err
	})
}

// schema is the name of a verb's JSON.
func (c *call) schema() string { return "waymark." + c.verb.name + "/v1" }

// filter passes on the spans that keep wants.
func filter(spans iter.Seq2[*traces.Span, error], keep func(*traces.Span) bool) iter.Seq2[*traces.Span, error] {
	return func(yield func(*traces.Span, error) bool) {
		for span, err := range spans {
			if (err != nil || keep(span)) && !yield(span, err) {
				return
			}
		}
	}
}
