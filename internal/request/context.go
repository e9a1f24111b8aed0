package request

import "context"

type (
	contextKey struct{}
	outerKey   struct{}
)

// Context is a context that carries its own record, so that both are one allocation.
type Context struct {
	context.Context //nolint:containedctx // this is a context
	Record          Record
}

var _ context.Context = (*Context)(nil)

// Init makes c the child of parent for a request to path. It is called once, before c is used.
func (c *Context) Init(parent context.Context, path string) {
	c.Context = parent
	c.Record.path = path
}

// Value returns the record or c for the package's keys and what the parent has for all others.
func (c *Context) Value(key any) any {
	switch key.(type) {
	case contextKey:
		return &c.Record
	case outerKey:
		return c
	}
	return c.Context.Value(key)
}

// FromContext returns the record of the request that ctx belongs to, and nil when there is none.
func FromContext(ctx context.Context) *Record {
	if ctx == nil {
		return nil
	}
	r, _ := ctx.Value(contextKey{}).(*Record)
	return r
}

// Outer returns the context in which the record of ctx was made: the current span of it is the server span.
// It is nil when there is no record.
func Outer(ctx context.Context) context.Context {
	if ctx == nil {
		return nil
	}
	c, ok := ctx.Value(outerKey{}).(*Context)
	if !ok {
		return nil
	}
	return c.Context
}
