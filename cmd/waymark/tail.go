package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/render"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

const tailUsage = `usage: waymark tail [flags] [FILE]

Follows a growing file of lines, or all files of an App's folder, through truncation
and rotation, and prints a line for each chosen span when it has ended, until
interrupted. A file that is not there yet is waited for.

  -all            begin with what is there already, in a folder with the old parts
  -tree           draw the trace half a second after its root has ended, or what
                  there is of it when a span has ended whose caller is another
                  program
` + selectUsage + `  -json           a line of JSON per span, schema waymark.tail/v1
` + sourceUsage

func runTail(ctx context.Context, c *call, args []string) error {
	var all, tree bool
	c.sourceFlags()
	c.selectFlags()
	c.jsonFlag()
	c.flags.BoolVar(&all, "all", false, "")
	c.flags.BoolVar(&tree, "tree", false, "")
	files, err := c.parse(args)
	switch {
	case err != nil:
		return err
	case len(files) > 1 || len(files) == 1 && files[0] == "-":
		return usagef("want one file")
	case tree && c.json:
		return usagef("either -tree or -json")
	}
	if err := c.ofSpans(); err != nil {
		return err
	}
	src, err := c.find(files, true)
	if err != nil {
		return err
	}
	var opts []tracefile.Option
	if !all {
		opts = append(opts, tracefile.WithFromEnd())
	}
	t := &tailing{call: c, color: terminal.Color(c.stdout, c.lookup.Lookup)}
	show := t.line
	switch {
	case tree:
		show = t.tree
	case c.json:
		show = t.json
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	r := src.Follow(ctx, opts...)
	if err := t.follow(r, show); err != nil {
		return err
	}
	switch r := r.Report(); {
	case r.Total > 0:
		c.account(r)
	case r.Spans > 0:
		c.unmatched()
	}
	return nil
}

// tailing prints spans as they come, each in one write.
type tailing struct {
	call  *call
	color bool

	waiting map[traces.TraceID]*unfinished
	order   []traces.TraceID // as they came
	spans   int
	ended   []ending // traces whose root has ended, as they came
}

// unfinished is what there is of a trace that has not been drawn.
type unfinished struct {
	spans []*traces.Span
	due   time.Time // when it is drawn; zero while its root has not ended
}

type ending struct {
	id  traces.TraceID
	due time.Time
}

// settle is how long a trace waits after its root has ended. A line of the file
// has spans of one scope, and the root's line may come first; all are written
// within the 200 ms of jsonlexport, and read after a poll.
const settle = 500 * time.Millisecond

// follow shows spans as they come, and traces as they are due.
func (t *tailing) follow(r *tracefile.Reader, show func(*traces.Span) error) error {
	type item struct {
		span *traces.Span
		err  error
	}
	items, left := make(chan item), make(chan struct{})
	defer close(left)
	go func() {
		defer close(items)
		for span, err := range r.Spans() {
			select {
			case items <- item{span, err}:
			case <-left:
				return
			}
		}
	}()
	for {
		var due <-chan time.Time
		if len(t.ended) > 0 {
			due = time.After(time.Until(t.ended[0].due))
		}
		var err error
		select {
		case it, more := <-items:
			if !more {
				return t.flush()
			}
			err = it.err
			if err == nil && t.call.sel.matches(it.span) {
				err = show(it.span)
			}
		case <-due:
			err = t.drawEnded()
		}
		if err != nil {
			return err
		}
	}
}

func (t *tailing) line(span *traces.Span) error {
	status := ""
	if span.Failed() {
		status = "  [ERROR]"
		if m := span.Status.Message; m != "" {
			status = "  [ERROR: " + terminal.Cut(m, 60) + "]"
		}
		if t.color {
			status = "\x1b[31m" + status + "\x1b[0m"
		}
	}
	at := "-"
	if !span.Open() {
		at = span.End().Format("15:04:05.000")
	}
	_, err := fmt.Fprintf(t.call.stdout, "%s  %10s  %s  %s%s  %s\n", at, render.FormatDuration(int64(span.Duration())),
		cell(span.Service()), cell(span.Name), status, span.TraceID)
	return err
}

func (t *tailing) json(span *traces.Span) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		Schema string `json:"schema"`
		spanJSON
	}{t.call.schema(), nodeJSON(traces.NewSet([]*traces.Span{span}).Roots()[0])})
	if err != nil {
		return err
	}
	_, err = t.call.stdout.Write(line.Bytes())
	return err
}

// maxWaiting bounds the spans that wait for their root. Past it, the trace that
// has waited longest is drawn without one.
const maxWaiting = 10000

// tree keeps spans until their root has ended: children end before.
func (t *tailing) tree(span *traces.Span) error {
	if t.waiting == nil {
		t.waiting = map[traces.TraceID]*unfinished{}
	}
	id := span.TraceID
	w := t.waiting[id]
	if w == nil {
		w = &unfinished{}
		t.waiting[id] = w
		t.order = append(t.order, id)
	}
	w.spans = append(w.spans, span)
	t.spans++
	if span.ParentID.IsZero() || calledFromElsewhere(span) {
		w.due = time.Now().Add(settle)
		t.ended = append(t.ended, ending{id, w.due})
	}
	if t.spans > maxWaiting {
		return t.draw(t.order[0])
	}
	return nil
}

// drawEnded draws the trace that is due first, unless a later root put it off.
func (t *tailing) drawEnded() error {
	e := t.ended[0]
	t.ended = t.ended[1:]
	if w := t.waiting[e.id]; w != nil && w.due.Equal(e.due) {
		return t.draw(e.id)
	}
	return nil
}

func calledFromElsewhere(span *traces.Span) bool {
	remote, known := span.RemoteParent()
	return remote || !known && (span.Kind == traces.KindServer || span.Kind == traces.KindConsumer)
}

// draw prints what there is of a trace and forgets it.
func (t *tailing) draw(id traces.TraceID) error {
	spans := t.waiting[id].spans
	delete(t.waiting, id)
	t.spans -= len(spans)
	for i, o := range t.order {
		if o == id {
			t.order = append(t.order[:i], t.order[i+1:]...)
			break
		}
	}
	var b strings.Builder
	_ = drawTree(&b, traces.NewSet(spans), t.call.treeOptions(treeFlags{})) // a strings.Builder takes all
	_, err := io.WriteString(t.call.stdout, b.String())
	return err
}

// flush draws what still waits.
func (t *tailing) flush() error {
	for len(t.order) > 0 {
		if err := t.draw(t.order[0]); err != nil {
			return err
		}
	}
	return nil
}
