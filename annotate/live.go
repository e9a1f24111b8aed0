package annotate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
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
	if err := c.judged(func() error { return c.write(ctx, x) }); err != nil {
		c.failures.note(fmt.Errorf("annotate: sink: %s", c.errorText(err)))
		return
	}
	c.reported.Add(1)
}

func (c *Client) write(ctx context.Context, x Interaction) error {
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

var errNoApp = errors.New("no App whose folder it could be, set Config.Sink")

func (c *Client) closeSink() error {
	if s := c.sink.Load(); s != nil {
		return s.Close()
	}
	return nil
}
