package annotate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/internal/guard"
)

// Metric scores a call after it has returned, off the request path. It is used from several goroutines at
// once. The context ends after 30 s and when the client shuts down; in it this package makes no spans.
type Metric interface {
	// Name is the name of the score.
	Name() string
	// Score judges a call. An error is counted and reported, and there is no score. Input and output are those
	// of the call, not copies: they are not to be changed, by the metric or by the program after the call.
	Score(context.Context, Sample) (Score, error)
}

// Sample is a call to score.
type Sample struct {
	TraceID, SpanID string
	Name            string
	Kind            Kind
	Input, Output   any // as redacted; NoInput and NoOutput do not keep them from metrics
	Start           time.Time
	Duration        time.Duration
}

// Score is the result of a metric: a value, a label, or both.
type Score struct {
	Value       float64
	NoValue     bool // there is only a label
	Label       string
	Explanation string
	Annotator   string // HUMAN, LLM or CODE; default CODE
}

// MetricFunc makes a metric of a function.
func MetricFunc(name string, score func(context.Context, Sample) (Score, error)) Metric {
	return metricFunc{name, score}
}

type metricFunc struct {
	name  string
	score func(context.Context, Sample) (Score, error)
}

func (m metricFunc) Name() string { return m.name }

func (m metricFunc) Score(ctx context.Context, s Sample) (Score, error) { return m.score(ctx, s) }

// Metrics score the calls of a function that return without an error and are sampled. Each score is a span of
// kind [Evaluator] below the call's, with one link to the root of the trace, which is what is scored.
// Calls inside of experiments are not scored. At most 1024 calls wait; more are dropped and counted.
func Metrics(m ...Metric) CallOption {
	return callOption(func(c config) config { c.metrics = append(slices.Clip(c.metrics), m...); return c })
}

// MetricsSampleRate is the share of traces that are scored, 0 to 1, decided by the trace's id. Default: 1.
func MetricsSampleRate(share float64) CallOption {
	return callOption(func(c config) config {
		c.metricsRate = rate(share)
		if !(share > 0) {
			c.metricsRate = -1
		}
		return c
	})
}

// job is a call that waits for its scores.
type job struct {
	metrics    []Metric
	root, span trace.SpanContext
	sample     Sample
}

func (c *Client) score(ctx context.Context, j job) {
	for _, m := range j.metrics {
		if m == nil {
			continue
		}
		if err := c.scoreOne(ctx, m, j); err != nil {
			c.failures.note(err)
		}
	}
}

// scoreOne makes the span of a score, also of one that fails.
func (c *Client) scoreOne(ctx context.Context, m Metric, j job) error {
	ctx = Suppress(trace.ContextWithSpanContext(ctx, j.span))
	name := "metric"
	err := c.judged(func() error { name = cut(m.Name(), maxWordBytes); return nil })
	ctx, span := c.attach().tracer.Start(ctx, "evaluate "+name,
		trace.WithLinks(trace.Link{SpanContext: j.root}),
		trace.WithAttributes(SpanKindKey.String(string(Evaluator))))
	defer span.End()
	if err == nil {
		err = c.judged(func() error {
			s, err := m.Score(ctx, j.sample)
			if err != nil {
				return err
			}
			return c.writeScore(span, name, s)
		})
	}
	if err == nil {
		return nil
	}
	text := c.errorText(err)
	span.SetStatus(codes.Error, text)
	return fmt.Errorf("annotate: metric %q: %s", name, text)
}

// judged calls a method of a metric, which may end its goroutine: the metrics after it are not to be lost.
func (c *Client) judged(f func() error) error {
	err := guard.Call(f)
	if panicked, ok := errors.AsType[*guard.PanicError](err); ok {
		return fmt.Errorf("%w: %s", errPanic, c.errorText(panicked.Value))
	}
	return err
}

// writeScore puts the score on its span.
//
// Spec: https://github.com/Arize-ai/openinference/blob/python-openinference-semantic-conventions-v0.1.21/spec/semantic_conventions.md
func (c *Client) writeScore(span trace.Span, name string, s Score) error {
	if math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
		s.NoValue = true
	}
	if s.NoValue && s.Label == "" {
		return errNoScore
	}
	if s.Annotator == "" {
		s.Annotator = "CODE"
	}
	s.Annotator, s.Label = cut(s.Annotator, maxWordBytes), cut(s.Label, maxWordBytes)
	s.Explanation = cut(s.Explanation, c.max)
	const prefix = TraceEvaluations + ".0.evaluation."
	attrs := []attribute.KeyValue{
		attribute.String(prefix+"name", name),
		attribute.String(prefix+"annotator_kind", s.Annotator),
	}
	if !s.NoValue {
		attrs = append(attrs, attribute.Float64(prefix+"score", s.Value))
	}
	if s.Label != "" {
		attrs = append(attrs, attribute.String(prefix+"label", s.Label))
	}
	if s.Explanation != "" {
		attrs = append(attrs, attribute.String(prefix+"explanation", s.Explanation))
	}
	span.SetAttributes(attrs...)
	if c.cfg.GenAI {
		addGenAIScore(span, name, s)
	}
	c.scored.Add(1)
	return nil
}

// failures reports the first error of the background and counts all.
type failures struct{ n counter }

func (f *failures) note(err error) {
	if f.n.Add(1) == 1 {
		otel.Handle(err)
	}
}
