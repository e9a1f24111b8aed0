package annotate

import (
	"context"

	"github.com/waymark-trace/waymark/internal/request"
)

type stateKey struct{}

// state is what a context knows of annotations. One is never changed, so that contexts share it.
type state struct {
	current    *Handle    // the nearest span of this package
	block      *block     // of With
	trace      *traceInfo // made with the outermost span outside of a request
	suppressed bool
}

func stateOf(ctx context.Context) state {
	if ctx != nil {
		if s, ok := ctx.Value(stateKey{}).(*state); ok {
			return *s
		}
	}
	return state{}
}

// newInfo makes the extension of a request's record.
func newInfo() any { return new(traceInfo) }

// infoOf returns what is known of the trace of ctx, and the request's record when there is one. A request
// comes first: it is the trace, whatever spans there are around the server.
func infoOf(ctx context.Context, st state) (*traceInfo, *request.Record) {
	rec := request.FromContext(ctx)
	if rec == nil {
		return st.trace, nil
	}
	info, _ := rec.Extension(newInfo).(*traceInfo)
	return info, rec
}

// Suppress returns a context in which this package makes no spans and sends nothing: for code that judges
// other spans. Spans of other libraries are not its matter.
func Suppress(ctx context.Context) context.Context {
	if ctx == nil {
		ctx = context.Background()
	}
	st := stateOf(ctx)
	st.suppressed, st.current = true, nil
	return context.WithValue(ctx, stateKey{}, &st)
}

// spanContext is the context of a span: the context, its state and the handle are one allocation.
type spanContext struct {
	context.Context //nolint:containedctx // this is a context
	state           state
	handle          Handle
	info            traceInfo // of the outermost span outside of a request
}

// Value returns the state for the package's key and what the parent has for all others.
func (c *spanContext) Value(key any) any {
	if _, ok := key.(stateKey); ok {
		return &c.state
	}
	return c.Context.Value(key)
}
