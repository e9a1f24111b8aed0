package annotate

import (
	"context"
	"errors"
	"iter"
)

// Seq wraps a function that returns a sequence: each time the sequence is ranged over is a span, whose output
// is the chunks joined. The span is the current one only in the producer, that is in the context that fn gets;
// the loop's own context is the caller's. A loop that breaks off leaves the output it has seen; a panic on
// either side makes the span an error and goes on. A sequence that nobody ranges over makes no span.
//
// Text and the deltas of the common model services are joined as text, other chunks become a JSON list; [Join]
// replaces that. An empty name is that of the function, as for [Func].
func Seq[In, C any](name string, fn func(context.Context, In) iter.Seq[C], opts ...StreamOption) func(context.Context, In) iter.Seq[C] {
	s := newStream(name, fn, opts)
	return func(ctx context.Context, in In) iter.Seq[C] {
		return func(yield func(C) bool) {
			ctx, r := s.begin(ctx, in)
			defer r.end()
			for c := range fn(ctx, in) {
				if r.joins() {
					r.add(c)
				}
				if !yield(c) {
					break
				}
			}
			r.done()
		}
	}
}

// Seq2 is [Seq] for sequences of chunks and errors. The first error is the span's; the loop goes on as far as
// both sides want. The chunk beside an error is not part of the output.
func Seq2[In, C any](name string, fn func(context.Context, In) iter.Seq2[C, error], opts ...StreamOption) func(context.Context, In) iter.Seq2[C, error] {
	s := newStream(name, fn, opts)
	return func(ctx context.Context, in In) iter.Seq2[C, error] {
		return func(yield func(C, error) bool) {
			ctx, r := s.begin(ctx, in)
			defer r.end()
			for c, err := range fn(ctx, in) {
				switch {
				case err != nil:
					r.failed(err)
				case r.joins():
					r.add(c)
				}
				if !yield(c, err) {
					break
				}
			}
			r.done()
		}
	}
}

// Chan is [Seq] for functions that return a channel. The span begins with the call and ends when the function
// closes its channel or ctx ends. When ctx ends the channel that Chan returns is closed; the function's own
// may still have chunks. To leave early, cancel ctx: the function needs to know too.
func Chan[In, C any](name string, fn func(context.Context, In) <-chan C, opts ...StreamOption) func(context.Context, In) <-chan C {
	if name == "" {
		name = functionName(fn)
	}
	wrapped := Chan2(name, func(ctx context.Context, in In) (<-chan C, error) { return fn(ctx, in), nil }, opts...)
	return func(ctx context.Context, in In) <-chan C {
		c, _ := wrapped(ctx, in) // fn has no error
		return c
	}
}

// Chan2 is [Chan] for functions that may also fail before there is a channel.
func Chan2[In, C any](name string, fn func(context.Context, In) (<-chan C, error), opts ...StreamOption) func(context.Context, In) (<-chan C, error) {
	s := newStream(name, fn, opts)
	return func(ctx context.Context, in In) (<-chan C, error) {
		inner, r := s.begin(ctx, in)
		if r == nil {
			return fn(inner, in)
		}
		from, err := open(inner, in, r, fn)
		if err != nil || from == nil {
			return from, err
		}
		to := make(chan C, cap(from))
		go forward(inner, from, to, r)
		return to, nil
	}
}

// open calls the function; without a channel the span ends with it.
func open[In, C any](ctx context.Context, in In, r *run, fn func(context.Context, In) (<-chan C, error)) (c <-chan C, err error) {
	streams := false
	defer r.endUnless(&streams)
	c, err = fn(ctx, in)
	if err != nil {
		r.failed(err)
	}
	r.done()
	streams = err == nil && c != nil
	return c, err
}

// forward hands on the chunks. The span has ended when the channel is closed.
func forward[C any](ctx context.Context, from <-chan C, to chan<- C, r *run) {
	defer close(to)
	defer r.end()
	for {
		select {
		case c, ok := <-from:
			if !ok {
				return
			}
			if r.joins() {
				r.add(c)
			}
			select {
			case to <- c:
				continue
			case <-ctx.Done():
			}
		case <-ctx.Done():
		}
		if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
			r.failed(err) // a deadline, or what the program says; leaving early is no error
		}
		return
	}
}

// stream is a wrapped function.
type stream struct {
	name string
	cfg  config
}

func newStream(name string, fn any, opts []StreamOption) *stream {
	s := &stream{name: name}
	if name == "" {
		s.name = functionName(fn)
	}
	for _, o := range opts {
		if o != nil {
			s.cfg = o.stream(s.cfg)
		}
	}
	return s
}

// begin starts the span of one run; the run is nil when there is none.
func (s *stream) begin(ctx context.Context, in any) (context.Context, *run) {
	cfg := s.cfg
	ctx, h := cfg.chosen().start(ctx, s.name, &cfg)
	if h == nil {
		return ctx, nil
	}
	h.takes(in, &cfg)
	r := &run{h: h, cfg: &cfg}
	switch {
	case !h.wants() || cfg.noOutput:
	case cfg.newJoin != nil:
		r.join = cfg.newJoin(h.client)
	default:
		r.join = &defaultJoiner{client: h.client, limit: h.client.max}
	}
	return ctx, r
}

// run is one stream that flows. All methods but joins and add work on nil.
type run struct {
	h       *Handle
	cfg     *config
	join    joiner // nil: nothing is joined
	broken  bool   // joining has failed
	whole   bool   // neither a panic nor Goexit
	failure error
}

func (r *run) joins() bool { return r != nil && r.join != nil && !r.broken }

// add joins a chunk.
func (r *run) add(chunk any) {
	r.broken = true // unless the joiner returns
	defer func() { _ = recover() }()
	r.broken = r.join.add(chunk) != nil
}

func (r *run) failed(err error) {
	if r != nil && r.failure == nil {
		r.failure = err
	}
}

func (r *run) done() {
	if r != nil {
		r.whole = true
	}
}

// end ends the span; it is deferred itself.
func (r *run) end() {
	if r != nil {
		r.close(recover())
	}
}

// endUnless is end unless the stream flows.
func (r *run) endUnless(streams *bool) {
	if !*streams {
		r.close(recover())
	}
}

func (r *run) close(panicked any) {
	if r.join != nil {
		r.writeOutput()
	}
	r.h.finish(outcome{err: r.failure, panicked: panicked, goexit: panicked == nil && !r.whole})
	if panicked != nil {
		panic(panicked)
	}
}

// writeOutput records the chunks joined.
func (r *run) writeOutput() {
	var out any = JoinFailed
	if !r.broken {
		out = r.result()
	}
	if long, ok := out.(longText); ok {
		out = cut(long.head, r.h.client.max) // redaction sees what is kept
		if r.cfg.redactOutput.do == nil {
			out = long.cut(r.h.client.max)
		}
	}
	if out != JoinFailed {
		out = r.h.client.outputOf(out, r.cfg)
	}
	r.h.gives(out, nil, &config{})
}

func (r *run) result() (out any) {
	defer func() {
		if recover() != nil {
			out = JoinFailed
		}
	}()
	return r.join.result()
}
