package annotate

import (
	"context"

	"go.opentelemetry.io/otel/baggage"
)

// BlockOption says something about the spans that are opened in a block: see [With].
type BlockOption interface{ block(addition) addition }

// addition is what the options of one With add.
type addition struct {
	who
	client   *Client
	reserved int
	baggage  bool
}

type blockOption func(addition) addition

func (o blockOption) block(a addition) addition { return o(a) }

// User is the user of the block's spans, user.id. An empty id leaves the one around it.
func User(id string) BlockOption {
	return blockOption(func(a addition) addition { a.user = cut(id, maxWordBytes); return a })
}

// Session is the session or conversation of the block's spans, session.id. An empty id leaves the one around
// it.
func Session(id string) BlockOption {
	return blockOption(func(a addition) addition { a.session = cut(id, maxWordBytes); return a })
}

// Tags are added to the tags of the blocks around, tag.tags, each once.
func Tags(tags ...string) BlockOption {
	return blockOption(func(a addition) addition { a.who, _ = a.with(who{tags: words(tags)}); return a })
}

// Meta is one entry of the spans' metadata, or several as [Client.SetMetadata] takes them.
func Meta(pairs ...any) BlockOption {
	return blockOption(func(a addition) addition {
		meta, reserved := a.client.newMeta(pairs)
		a.who, _ = a.with(who{meta: meta})
		a.reserved += reserved
		return a
	})
}

// Baggage also puts the block's user and session into the W3C baggage, so that the services that are called
// from the block can take them over with [FromBaggage]. They leave the program in a header of every request
// that its client sends, also to strangers: without this option nothing does.
func Baggage() BlockOption {
	return blockOption(func(a addition) addition { a.baggage = true; return a })
}

// With returns a context for a block of work: every span that is opened in it, of whatever library, has the
// user, session, tags and metadata given. Blocks nest: of user and session the inner one wins, tags and
// metadata accumulate. What [Client.SetUser] and its like say of the whole trace stands behind what a block
// says, and accumulates with it.
//
// Spans that are open already are not changed; nor is the server span, which is outside of the block. The
// spans of other libraries are reached by the span processor: [NewProcessor].
func With(ctx context.Context, opts ...BlockOption) context.Context {
	if ctx == nil {
		ctx = context.Background()
	}
	c := Default()
	c.attach()
	a := addition{client: c}
	for _, o := range opts {
		if o != nil {
			a = o.block(a)
		}
	}
	c.noteReserved(a.reserved)
	st := stateOf(ctx)
	b := &block{who: a.who}
	if st.block != nil {
		var dropped int
		b.who, dropped = st.block.who.with(a.who)
		c.dropped.Add(int64(dropped))
	}
	b.attrs = b.who.attributes()
	st.block = b
	if a.baggage {
		ctx = withBaggage(ctx, b.who)
	}
	return context.WithValue(ctx, stateKey{}, &st)
}

func withBaggage(ctx context.Context, w who) context.Context {
	bag := baggage.FromContext(ctx)
	for _, m := range []struct{ key, value string }{{string(UserIDKey), w.user}, {string(SessionIDKey), w.session}} {
		if m.value == "" {
			continue
		}
		member, err := baggage.NewMemberRaw(m.key, m.value)
		if err != nil {
			continue // no text that a header can carry
		}
		if next, err := bag.SetMember(member); err == nil {
			bag = next
		}
	}
	return baggage.ContextWithBaggage(ctx, bag)
}

// FromBaggage returns a context like [With] with the user and the session that the caller has put into the
// baggage. It is for services that only trusted ones can call: anybody can write a header. Use it where the
// request's context is made; without them it returns ctx.
func FromBaggage(ctx context.Context) context.Context {
	if ctx == nil {
		ctx = context.Background()
	}
	bag := baggage.FromContext(ctx)
	user, session := bag.Member(string(UserIDKey)).Value(), bag.Member(string(SessionIDKey)).Value()
	if user == "" && session == "" {
		return ctx
	}
	return With(ctx, User(user), Session(session))
}
