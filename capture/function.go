package capture

import (
	"context"
	"iter"

	"go.opentelemetry.io/otel"
)

// Func wraps fn so that each call of it is captured as by [Run]: under the name
// of fn, or of [Name], with what [Output] and [Into] say. A closure goes by the
// name of the function that it is in, a method by Type.method.
//
//	build = capture.Func(build, capture.Output("build.json"))
func Func[In, Out any](fn func(context.Context, In) (Out, error), opts ...Option) func(context.Context, In) (Out, error) {
	name, cfg := functionName(fn), newConfig(opts)
	return func(ctx context.Context, in In) (out Out, err error) {
		_, err = run(ctx, name, func(ctx context.Context) error {
			out, err = fn(ctx, in)
			return err
		}, cfg)
		return out, err
	}
}

// Func0 is [Func] for a function without values.
func Func0(fn func(context.Context) error, opts ...Option) func(context.Context) error {
	name, cfg := functionName(fn), newConfig(opts)
	return func(ctx context.Context) error {
		_, err := run(ctx, name, fn, cfg)
		return err
	}
}

// Seq is [Func] for a function that streams its values. The block is the loop
// over them: from its begin to its end, however it ends. fn is called when the
// loop begins.
//
// A sequence has no way to return an error: one of capturing goes to otel.Handle,
// and the loop runs all the same.
func Seq[In, V any](fn func(context.Context, In) iter.Seq[V], opts ...Option) func(context.Context, In) iter.Seq[V] {
	name, cfg := functionName(fn), newConfig(opts)
	return func(ctx context.Context, in In) iter.Seq[V] {
		return func(yield func(V) bool) {
			stream(ctx, name, cfg, func(ctx context.Context) error {
				fn(ctx, in)(yield)
				return nil
			})
		}
	}
}

// Seq2 is [Seq] for pairs. When the second values are errors, the last that is
// not nil is what the block ends with.
func Seq2[In, K, V any](fn func(context.Context, In) iter.Seq2[K, V], opts ...Option) func(context.Context, In) iter.Seq2[K, V] {
	name, cfg := functionName(fn), newConfig(opts)
	return func(ctx context.Context, in In) iter.Seq2[K, V] {
		return func(yield func(K, V) bool) {
			stream(ctx, name, cfg, func(ctx context.Context) (err error) {
				fn(ctx, in)(func(k K, v V) bool {
					if e, ok := any(v).(error); ok {
						err = e
					}
					return yield(k, v)
				})
				return err
			})
		}
	}
}

// stream captures a loop. What it ends with has been yielded; what is our own
// goes to OTel's handler.
func stream(ctx context.Context, name string, cfg config, loop func(context.Context) error) {
	inner, c := start(ctx, name, cfg)
	defer func() {
		if c.own != nil {
			otel.Handle(c.own)
		}
	}()
	var err error
	defer c.End(&err)
	err = loop(inner)
}
