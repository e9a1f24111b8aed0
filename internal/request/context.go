package request

import "context"

type contextKey struct{}

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

// Value returns the record for the package's key and what the parent has for all others.
func (c *Context) Value(key any) any {
	if _, ok := key.(contextKey); ok {
		return &c.Record
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
