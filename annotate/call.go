package annotate

import (
	"cmp"
	"context"
	"reflect"

	"github.com/waymark-trace/waymark/internal/funcname"
)

// Func wraps a function so that each call of it is a span, with the function's input and output and, when it
// fails or panics, its error. An empty name is that of the function: Type.method for a method, and for a closure
// the name of the function that it is in.
//
//	answer := annotate.Func("answer", answer, annotate.Agent)
//	text, err := answer(ctx, question)
func Func[In, Out any](name string, fn func(context.Context, In) (Out, error), opts ...CallOption) func(context.Context, In) (Out, error) {
	if name == "" {
		name = functionName(fn)
	}
	cfg := callConfig(opts)
	return func(ctx context.Context, in In) (Out, error) { return call(ctx, name, in, fn, cfg) }
}

// Call calls fn in a span, as [Func] does.
func Call[In, Out any](ctx context.Context, name string, in In, fn func(context.Context, In) (Out, error), opts ...CallOption) (Out, error) {
	if name == "" {
		name = functionName(fn)
	}
	return call(ctx, name, in, fn, callConfig(opts))
}

// Do calls fn in a span of the default client. See [Client.Do].
func Do(ctx context.Context, name string, fn func(context.Context) error, opts ...CallOption) error {
	return Default().Do(ctx, name, fn, opts...)
}

// Do calls fn in a span. What goes in and comes out is for fn to say, with [SetInput] and [SetOutput].
func (c *Client) Do(ctx context.Context, name string, fn func(context.Context) error, opts ...CallOption) error {
	if name == "" {
		name = functionName(fn)
	}
	cfg := callConfig(opts)
	if cfg.client == nil {
		cfg.client = c
	}
	cfg.noInput, cfg.noOutput = true, true
	_, err := call(ctx, name, nothing{}, func(ctx context.Context, _ nothing) (nothing, error) {
		return nothing{}, fn(ctx)
	}, cfg)
	return err
}

// nothing is what Do takes and returns.
type nothing struct{}

func callConfig(opts []CallOption) config {
	var cfg config
	for _, o := range opts {
		if o != nil {
			cfg = o.call(cfg)
		}
	}
	return cfg
}

// chosen returns the client that the options name, else the default one.
func (c *config) chosen() *Client {
	if c.client != nil {
		return c.client
	}
	return Default()
}

// call runs fn in a span and ends it, whatever happens.
func call[In, Out any](ctx context.Context, name string, in In, fn func(context.Context, In) (Out, error), cfg config) (out Out, err error) {
	ctx, h := cfg.chosen().start(ctx, name, &cfg)
	if h == nil {
		return fn(ctx, in)
	}
	h.takes(in, &cfg)
	returned := false
	defer func() {
		o := outcome{err: err}
		if !returned {
			o.panicked = recover()
			o.goexit = o.panicked == nil
		} else {
			h.gives(out, err, &cfg)
		}
		h.finish(o)
		if o.panicked != nil {
			panic(o.panicked)
		}
	}()
	out, err = fn(ctx, in)
	returned = true
	return out, err
}

// takes records the input of a function.
func (h *Handle) takes(in any, cfg *config) {
	if !h.wants() || cfg.noInput && h.kept == nil {
		return
	}
	v := h.client.inputOf(in, cfg)
	if cfg.noInput {
		h.kept.setInput(v, "")
		return
	}
	h.input(v, true)
}

// gives records the output of a function. The zero value beside an error is none, and what SetOutput has said
// stays.
func (h *Handle) gives(out any, err error, cfg *config) {
	if !h.wants() || cfg.noOutput && h.kept == nil || err != nil && isZero(out) {
		return
	}
	v := h.client.outputOf(out, cfg)
	if cfg.noOutput {
		h.kept.setOutput(v, "")
		return
	}
	text, mime := h.client.encode(v, h.client.max)
	h.kept.setOutput(v, text)
	if !h.told.Load() {
		h.outputText(text, mime)
	}
}

func isZero(v any) bool {
	r := reflect.ValueOf(v)
	return !r.IsValid() || r.IsZero()
}

// functionName is the name of a function, for a span that has none of its own.
func functionName(fn any) string { return cmp.Or(funcname.Of(fn), "func") }

// callerName is the name of the function that called the caller of callerName.
func callerName() string { return cmp.Or(funcname.Caller(1), "span") }
