package annotate

import (
	"context"

	"go.opentelemetry.io/otel/trace"
)

// TraceID returns the id of the current trace, 32 hexadecimal digits, and whether there is one.
func TraceID(ctx context.Context) (string, bool) {
	sc := trace.SpanContextFromContext(ctx)
	if !sc.HasTraceID() {
		return "", false
	}
	return sc.TraceID().String(), true
}

// SetInput sets the input of the current span of this package, and what metrics and live interactions take
// for the input. It does nothing when there is no such span, as do the functions below: a span of another
// library between is never hit.
func SetInput(ctx context.Context, v any) { stateOf(ctx).current.setInput(v) }

// SetOutput sets the output of the current span of this package, and what metrics and live interactions take
// for the output. What the function returns afterwards does not replace it.
func SetOutput(ctx context.Context, v any) { stateOf(ctx).current.setOutput(v) }

// SetError marks the current span of this package as an error: see [Handle.SetError].
func SetError(ctx context.Context, description string, err error) {
	stateOf(ctx).current.SetError(description, err)
}

// SetAttribute sets an attribute of the current span of this package: see [Handle.SetAttribute].
func SetAttribute(ctx context.Context, key string, value any) {
	stateOf(ctx).current.SetAttribute(key, value)
}

// SetAttributes sets attributes of the current span of this package: see [Handle.SetAttributes].
func SetAttributes(ctx context.Context, pairs ...any) {
	stateOf(ctx).current.SetAttributes(pairs...)
}

// SetInput is the function [SetInput] for the nearest span of this client.
func (c *Client) SetInput(ctx context.Context, v any) { c.nearest(ctx).setInput(v) }

// SetOutput is the function [SetOutput] for the nearest span of this client.
func (c *Client) SetOutput(ctx context.Context, v any) { c.nearest(ctx).setOutput(v) }

// SetError is the function [SetError] for the nearest span of this client.
func (c *Client) SetError(ctx context.Context, description string, err error) {
	c.nearest(ctx).SetError(description, err)
}

// SetAttribute is the function [SetAttribute] for the nearest span of this client.
func (c *Client) SetAttribute(ctx context.Context, key string, value any) {
	c.nearest(ctx).SetAttribute(key, value)
}

// SetAttributes is the function [SetAttributes] for the nearest span of this client.
func (c *Client) SetAttributes(ctx context.Context, pairs ...any) {
	c.nearest(ctx).SetAttributes(pairs...)
}

func (c *Client) nearest(ctx context.Context) *Handle {
	h := stateOf(ctx).current
	for h != nil && h.client != c {
		h = h.parent
	}
	return h
}

// setInput sets the input of the span and of what is kept of the calls around it.
func (h *Handle) setInput(v any) {
	if !h.wants() {
		return
	}
	text := h.input(v, false)
	for ; h != nil; h = h.parent {
		h.kept.setInput(v, text)
	}
}

func (h *Handle) setOutput(v any) {
	if !h.wants() {
		return
	}
	h.told.Store(true)
	text := h.output(v)
	for ; h != nil; h = h.parent {
		h.kept.overrideOutput(v, text)
	}
}
