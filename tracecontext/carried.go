package tracecontext

import (
	"context"
	"slices"

	"go.opentelemetry.io/otel/trace"
)

// carried is a tracestate that trace.TraceState cannot hold, on its way from
// Extract to Inject. It is never changed.
type carried struct {
	traceID trace.TraceID // another trace does not inherit the list
	all     list          // as received
	held    list          // the part that went into the span context
}

type carriedKey struct{}

// withCarried puts c into ctx. A nil c hides what an earlier Extract has left
// there: this tracestate replaces that one.
func withCarried(ctx context.Context, c *carried) context.Context {
	if c == nil {
		if old, _ := ctx.Value(carriedKey{}).(*carried); old == nil {
			return ctx
		}
	}
	return context.WithValue(ctx, carriedKey{}, c)
}

// incoming reads the tracestate headers: what a trace.TraceState holds of them,
// and the whole list when that is not all.
func incoming(headers []string, id trace.TraceID) (trace.TraceState, *carried) {
	if len(headers) == 0 {
		return trace.TraceState{}, nil
	}
	// What TraceState accepts needs no second look: its rules are narrower.
	if len(headers) == 1 && len(headers[0]) <= MaxTracestateBytes {
		if ts, err := trace.ParseTraceState(headers[0]); err == nil {
			return ts, nil
		}
	}
	all, ok := parseList(headers)
	if !ok {
		return trace.TraceState{}, nil
	}
	all, _ = parseList([]string{all.fit().String()}) // what is kept is no part of what has come
	held := holdable(all)
	ts, err := trace.ParseTraceState(held.String())
	if err != nil {
		ts, held = trace.TraceState{}, nil
	}
	if len(held) == len(all) {
		return ts, nil
	}
	return ts, &carried{traceID: id, all: all, held: held}
}

// holdable returns the members that a trace.TraceState takes: of a duplicate key
// the first, which is the most recent.
func holdable(all list) list {
	held := make(list, 0, len(all))
	for _, m := range all {
		if held.has(m.key) {
			continue
		}
		if _, err := (trace.TraceState{}).Insert(m.key, m.value); err == nil {
			held = append(held, m)
		}
	}
	return held
}

// outgoing returns the tracestate to send with sc.
func outgoing(ctx context.Context, sc trace.SpanContext) string {
	ts := sc.TraceState()
	c, _ := ctx.Value(carriedKey{}).(*carried)
	if c == nil || c.traceID != sc.TraceID() {
		state := ts.String()
		if len(state) <= MaxTracestateBytes {
			return state
		}
		return members(ts).fit().String()
	}
	return c.merge(members(ts)).fit().String()
}

// merge applies to the received list what was done to the part in the span
// context since: changed members go first, deleted ones go, the others keep
// their order.
//
// Spec: https://www.w3.org/TR/trace-context-2/#mutating-the-tracestate-field
func (c *carried) merge(now list) list {
	changed := now[:len(now)-unchangedTail(c.held, now)]
	out := append(make(list, 0, len(changed)+len(c.all)), changed...)
	for _, m := range c.all {
		deleted := c.held.has(m.key) && !now.has(m.key)
		if !deleted && !changed.has(m.key) {
			out = append(out, m)
		}
	}
	return out
}

// unchangedTail returns how many members at the end of now stand in before in
// the same order. TraceState.Insert puts what it changes at the front, so the
// rest of now is what somebody has changed, also to the same value.
func unchangedTail(before, now list) int {
	n, j := 0, len(before)-1
	for _, m := range slices.Backward(now) {
		for j >= 0 && before[j] != m {
			j--
		}
		if j < 0 {
			break
		}
		n, j = n+1, j-1
	}
	return n
}
