package annotate

import (
	"context"
	"reflect"
	"runtime"
	"strings"
)

// Func wraps a function so that each call of it is a span, with the function's input and output and, when it
// fails or panics, its error. An empty name is the name of the function.
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
	v := cfg.inputOf(in)
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
	v := cfg.outputOf(out)
	if cfg.noOutput {
		h.kept.setOutput(v, "")
		return
	}
	text, mime := encode(v, h.client.max)
	h.kept.setOutput(v, text)
	if !h.told.Load() {
		h.outputText(text, mime)
	}
}

func isZero(v any) bool {
	r := reflect.ValueOf(v)
	return !r.IsValid() || r.IsZero()
}

// functionName is the name of a function without the path of its package: handlers.(*Shop).Answer. A function
// literal has the name of the function around it.
func functionName(fn any) string {
	v := reflect.ValueOf(fn)
	if v.Kind() != reflect.Func || v.IsNil() {
		return "func"
	}
	f := runtime.FuncForPC(v.Pointer())
	if f == nil {
		return "func"
	}
	name := f.Name()
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = strings.TrimSuffix(name, "-fm")
	_, name, _ = strings.Cut(name, ".")
	for {
		i := strings.LastIndexByte(name, '.')
		if i < 0 || !isClosure(name[i+1:]) {
			return strings.ReplaceAll(name, "[...]", "")
		}
		name = name[:i]
	}
}

// isClosure tells the compiler's names of function literals: func1, 2, gowrap1.
func isClosure(part string) bool {
	for _, prefix := range []string{"func", "gowrap", "deferwrap", ""} {
		rest, ok := strings.CutPrefix(part, prefix)
		if ok && rest != "" && strings.Trim(rest, "0123456789") == "" {
			return true
		}
	}
	return false
}
