package annotate

import (
	"slices"

	"go.opentelemetry.io/otel/attribute"
)

// Option is an option of everything that makes a span. [Kind], [Attributes], [Live] and a [*Client] are
// options; of two that set the same thing the later wins.
type Option interface {
	SpanOption
	CallOption
	StreamOption
}

// SpanOption is an option of [Span].
type SpanOption interface{ span(config) config }

// CallOption is an option of [Func], [Call] and [Do].
type CallOption interface{ call(config) config }

// StreamOption is an option of [Seq], [Seq2] and [Chan].
type StreamOption interface{ stream(config) config }

// FuncOption is an option of all that wrap a function, a stream or not.
type FuncOption interface {
	CallOption
	StreamOption
}

// config is what the options say.
type config struct {
	client       *Client
	kind         Kind
	attrs        []attribute.KeyValue
	input        any
	hasInput     bool
	noInput      bool
	noOutput     bool
	fields       func(field string, v any) any // of the input
	redactInput  redaction
	redactOutput redaction
	newJoin      func(*Client) joiner
	metrics      []Metric
	metricsRate  rate
	live         choice
}

// choice is a yes, a no, or neither.
type choice int8

const (
	no  choice = -1
	yes choice = 1
)

// The types of the options say where they may stand.
type (
	anyOption    func(config) config
	funcOption   func(config) config
	spanOption   func(config) config
	callOption   func(config) config
	streamOption func(config) config
)

func (o anyOption) span(c config) config      { return o(c) }
func (o anyOption) call(c config) config      { return o(c) }
func (o anyOption) stream(c config) config    { return o(c) }
func (o funcOption) call(c config) config     { return o(c) }
func (o funcOption) stream(c config) config   { return o(c) }
func (o spanOption) span(c config) config     { return o(c) }
func (o callOption) call(c config) config     { return o(c) }
func (o streamOption) stream(c config) config { return o(c) }

func (k Kind) apply(c config) config {
	if k != "" {
		c.kind = k
	}
	return c
}
func (k Kind) span(c config) config   { return k.apply(c) }
func (k Kind) call(c config) config   { return k.apply(c) }
func (k Kind) stream(c config) config { return k.apply(c) }

func (c *Client) apply(cfg config) config {
	if c != nil {
		cfg.client = c
	}
	return cfg
}
func (c *Client) span(cfg config) config   { return c.apply(cfg) }
func (c *Client) call(cfg config) config   { return c.apply(cfg) }
func (c *Client) stream(cfg config) config { return c.apply(cfg) }

// Attributes are set when the span starts, so that a sampler sees them. The slice is not changed and must not
// be afterwards.
func Attributes(kvs ...attribute.KeyValue) Option {
	return anyOption(func(c config) config {
		if c.attrs == nil {
			c.attrs = kvs
		} else {
			c.attrs = append(slices.Clip(c.attrs), kvs...)
		}
		return c
	})
}

// Live says whether the span is reported as a live interaction when it is the outermost one. Default:
// [Config.Live].
func Live(on bool) Option {
	return anyOption(func(c config) config {
		c.live = no
		if on {
			c.live = yes
		}
		return c
	})
}

// Input is the input of the span, input.value: text when it is a string, number or bool, else JSON.
func Input(v any) SpanOption {
	return spanOption(func(c config) config { c.input, c.hasInput = v, true; return c })
}

// NoInput keeps the function's input out of the span and of live interactions.
func NoInput() FuncOption {
	return funcOption(func(c config) config { c.noInput = true; return c })
}

// NoOutput keeps the function's output out of the span and of live interactions.
func NoOutput() FuncOption {
	return funcOption(func(c config) config { c.noOutput = true; return c })
}

// Redact replaces each top-level field of the function's input: the exported fields of a struct under their
// JSON names, the entries of a map with string keys; any other input is one field named "input". A field for
// which f panics, calls runtime.Goexit or takes more than a second is replaced by [RedactionFailed]. f runs
// beside the call, on a goroutine of its own; it must be safe for concurrent use, and so must the functions of
// [RedactInput] and [RedactOutput]. It works on what RedactInput returns when both are given.
func Redact(f func(field string, v any) any) FuncOption {
	return funcOption(func(c config) config { c.fields = f; return c })
}

// RedactInput replaces the function's input in the span. When f panics, calls runtime.Goexit or takes more than
// a second, or when the input is no In, the span has [RedactionFailed]: never the input.
func RedactInput[In any](f func(In) any) FuncOption {
	return funcOption(func(c config) config { c.redactInput = redaction{f, untyped(f)}; return c })
}

// RedactOutput replaces the function's output in the span; of a stream, the chunks joined. When f panics, calls
// runtime.Goexit or takes more than a second, or when the output is no Out, the span has [RedactionFailed]: never
// the output.
func RedactOutput[Out any](f func(Out) any) FuncOption {
	return funcOption(func(c config) config { c.redactOutput = redaction{f, untyped(f)}; return c })
}
