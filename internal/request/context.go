package request

import (
	"context"
	"time"
)

type (
	contextKey struct{}
	outerKey   struct{}
)

// Context is a context that carries its own record, so that both are one allocation. A program may keep it long
// after its request: from End on it holds nothing of that.
type Context struct {
	after  context.Context //nolint:containedctx // this is a context
	Record Record
}

// Live is what a context and its record know only while the request is served.
type Live struct {
	Context context.Context //nolint:containedctx // the parent of a context
	Path    string          // of the request as it reached the server
}

var _ context.Context = (*Context)(nil)

// Init makes c the child of live.Context until End, and of after from then on. Without a live part it is the child
// of after from the start. It is called once, before c is used.
func (c *Context) Init(after context.Context, live *Live) {
	c.after = after
	c.Record.live.Store(live)
}

// End lets go of the live part and of what the record has kept for the server span alone.
func (c *Context) End() { c.Record.end() }

// parent returns the context that answers for c.
func (c *Context) parent() context.Context {
	if l := c.Record.live.Load(); l != nil {
		return l.Context
	}
	return c.after
}

// Deadline is the parent's.
func (c *Context) Deadline() (time.Time, bool) { return c.parent().Deadline() }

// Done is the parent's.
func (c *Context) Done() <-chan struct{} { return c.parent().Done() }

// Err is the parent's.
func (c *Context) Err() error { return c.parent().Err() }

// Value returns the record or c for the package's keys and what the parent has for all others.
func (c *Context) Value(key any) any {
	switch key.(type) {
	case contextKey:
		return &c.Record
	case outerKey:
		return c
	}
	return c.parent().Value(key)
}

// FromContext returns the record of the request that ctx belongs to, and nil when there is none.
func FromContext(ctx context.Context) *Record {
	if ctx == nil {
		return nil
	}
	r, _ := ctx.Value(contextKey{}).(*Record)
	return r
}

// Outer returns the context of the request that ctx belongs to, as the handler got it: its current span is the
// server span. It is nil when there is no record.
func Outer(ctx context.Context) context.Context {
	if ctx == nil {
		return nil
	}
	c, ok := ctx.Value(outerKey{}).(*Context)
	if !ok {
		return nil
	}
	return c
}
