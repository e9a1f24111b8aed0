package annotate

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/internal/experiment"
	"github.com/waymark-trace/waymark/internal/semconv"
)

// rate is a share of traces: 0 is all, below 0 and NaN none.
type rate float64

// covers decides as the SDK's TraceIDRatioBased sampler does, so that of two rates the smaller one's traces
// are among those of the larger.
func (r rate) covers(id trace.TraceID) bool {
	switch {
	case r == 0 || r >= 1:
		return true
	case !(r > 0):
		return false
	}
	return binary.BigEndian.Uint64(id[8:16])>>1 < uint64(r*(1<<63))
}

// kept is what metrics and the sink need of a span. Nil is a span that neither wants.
type kept struct {
	start   time.Time
	metrics []Metric
	live    bool

	mu              sync.Mutex
	input, output   any
	inText, outText string
	outTold         bool // somebody has said what counts
	failure         string
	err             error
}

// keep decides whether metrics and the sink want the span.
func (h *Handle) keep(ctx context.Context, cfg *config) {
	sc := h.span.SpanContext()
	if !sc.IsSampled() || len(cfg.metrics) == 0 && cfg.live <= 0 && !h.client.cfg.Live || experiment.Marked(ctx) {
		return
	}
	k := kept{start: time.Now()}
	if cfg.metricsRate.covers(sc.TraceID()) {
		k.metrics = cfg.metrics
	}
	wanted := cfg.live == yes || cfg.live != no && h.client.cfg.Live
	k.live = wanted && h.parent == nil && rate(h.client.cfg.LiveSampleRate).covers(sc.TraceID())
	if k.live || len(k.metrics) > 0 {
		h.kept = &k
	}
}

// setInput sets what counts for the input: at first the function's, then what somebody says.
func (k *kept) setInput(v any, text string) {
	if k != nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.input, k.inText = v, text
	}
}

// setOutput sets the function's output, unless somebody has said what counts.
func (k *kept) setOutput(v any, text string) { k.putOutput(v, text, false) }

func (k *kept) overrideOutput(v any, text string) { k.putOutput(v, text, true) }

func (k *kept) putOutput(v any, text string, told bool) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if told || !k.outTold {
		k.output, k.outText, k.outTold = v, text, told
	}
}

func (k *kept) fail(description string) {
	if k != nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.failure = description
	}
}

func (k *kept) failWith(err error) {
	if k != nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.err = err
	}
}

// hand gives an ended span to the metrics and to the sink.
func (c *Client) hand(h *Handle) {
	k := h.kept
	if k == nil {
		return
	}
	took := time.Since(k.start)
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.metrics) > 0 && k.failure == "" {
		c.scores.Put(job{
			metrics: k.metrics,
			root:    h.root,
			span:    h.span.SpanContext(),
			sample: Sample{
				TraceID: h.TraceID(), SpanID: h.SpanID(), Name: h.name, Kind: h.kind,
				Input: k.input, Output: k.output, Start: k.start, Duration: took,
			},
		})
	}
	if k.live {
		c.live.Put(c.interaction(h, k, took))
	}
	k.input, k.output, k.inText, k.outText = nil, nil, "", "" // a context may be kept for long
}

// interaction is what a sink gets of h, masked as a span is.
func (c *Client) interaction(h *Handle, k *kept, took time.Duration) Interaction {
	w := h.info.whoIn(h.block)
	text := func(key attribute.Key, value string) string {
		if value == "" {
			return ""
		}
		kv, keep := c.mask(key.String(value))
		if !keep || kv.Key != key {
			return ""
		}
		return kv.Value.String()
	}
	x := Interaction{
		Time: k.start.UTC(), TraceID: h.TraceID(), SpanID: h.SpanID(), Name: h.name, Kind: h.kind,
		Input:   text(InputValueKey, k.inText),
		Output:  text(OutputValueKey, k.outText),
		User:    text(UserIDKey, w.user),
		Session: text(SessionIDKey, w.session),
		Error:   text(semconv.ExceptionMessageKey, k.failure), Failed: k.failure != "" || k.err != nil,
		DurationNano: took.Nanoseconds(),
	}
	if kv, keep := c.mask(TagsKey.StringSlice(w.tags)); keep && kv.Key == TagsKey && kv.Value.Type() == attribute.STRINGSLICE {
		x.Tags = kv.Value.AsStringSlice()
	}
	if meta := text(MetadataKey, w.metadata()); json.Valid([]byte(meta)) {
		x.Metadata = json.RawMessage(meta)
	}
	return x
}
