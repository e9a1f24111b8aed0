package annotate

import (
	"context"

	"go.opentelemetry.io/otel/trace"
)

// SetUser says whose trace it is (user.id), from any point of it. See [Client.SetUser].
func SetUser(ctx context.Context, id string) { Default().SetUser(ctx, id) }

// SetSession says which session or conversation a trace belongs to (session.id). See [Client.SetSession].
func SetSession(ctx context.Context, id string) { Default().SetSession(ctx, id) }

// SetTags adds tags to a trace (tag.tags). See [Client.SetTags].
func SetTags(ctx context.Context, tags ...string) { Default().SetTags(ctx, tags...) }

// SetMetadata adds metadata to a trace. See [Client.SetMetadata].
func SetMetadata(ctx context.Context, pairs ...any) { Default().SetMetadata(ctx, pairs...) }

// SetUser says whose trace it is, from any point of it: the current span gets user.id, and so do all spans of
// the trace that start later, of whatever library, the server span of package middleware, and the spans of
// this package around the current one, when they end. Spans that have ended stay as they are.
//
// Inside a request nothing has to be passed on: no r.WithContext. Outside of one, the outermost span of this
// package is where the trace begins; where there is neither, only the current span is reached, and when there
// is no span nothing happens. Spans that are started from a context without the trace, such as
// context.Background(), are out of reach. A span opened in a block of [With] keeps what the block says.
//
// An empty id changes nothing. A later call replaces an earlier one. Nothing leaves the process but on spans:
// see [Baggage]. The methods are safe for concurrent use.
func (c *Client) SetUser(ctx context.Context, id string) {
	c.setWho(ctx, who{user: cut(id, maxWordBytes)})
}

// SetSession says which session or conversation the trace belongs to, as session.id. It reaches what
// [Client.SetUser] reaches.
func (c *Client) SetSession(ctx context.Context, id string) {
	c.setWho(ctx, who{session: cut(id, maxWordBytes)})
}

// SetTags adds tags to the trace, as tag.tags: repeated calls accumulate, in order, each tag once, up to 128.
// It reaches what [Client.SetUser] reaches.
func (c *Client) SetTags(ctx context.Context, tags ...string) {
	c.setWho(ctx, who{tags: words(tags)})
}

// SetMetadata merges entries into the trace's metadata, one JSON object: {"tier":"pro","seats":3}. The
// arguments are keys and values as [Handle.SetAttributes] takes them. Values are scalars; anything else is
// stored as a string of JSON. A later value of a key replaces the earlier one. Keys that begin with an
// underscore are reserved and ignored. There is room for 128 entries and 64 KiB. It reaches what
// [Client.SetUser] reaches.
func (c *Client) SetMetadata(ctx context.Context, pairs ...any) {
	meta, reserved := c.newMeta(pairs)
	c.noteReserved(reserved)
	c.setWho(ctx, who{meta: meta})
}

func words(tags []string) []string {
	out := make([]string, 0, len(tags))
	for _, tag := range tags {
		if tag != "" {
			out = append(out, cut(tag, maxWordBytes))
		}
	}
	return out
}

// setWho adds to the trace of ctx and to its current span.
func (c *Client) setWho(ctx context.Context, add who) {
	if ctx == nil || add.empty() {
		return
	}
	c.attach()
	st := stateOf(ctx)
	info, rec := infoOf(ctx, st)
	span := trace.SpanFromContext(ctx)
	if info == nil {
		if span.IsRecording() {
			span.SetAttributes(add.attributes()...)
		}
		return
	}
	c.dropped.Add(int64(info.update(add, rec)))
	if !span.IsRecording() {
		return
	}
	b := st.block
	if st.current != nil && st.current.span == span {
		b = st.current.block // it may have been opened before the block
	}
	// Until what was written is the newest: another goroutine may have written an older state in between.
	for {
		attrs, version := info.in(b)
		span.SetAttributes(attrs...)
		if info.now() == version {
			return
		}
	}
}
