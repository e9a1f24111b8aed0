package recorder

import (
	"context"
	"encoding/binary"
	"math/rand/v2"

	"go.opentelemetry.io/otel/trace"
)

// randomIDs makes random IDs, all bits of them, none of zeros alone.
type randomIDs struct{}

func (randomIDs) NewIDs(ctx context.Context) (id trace.TraceID, _ trace.SpanID) {
	for !id.IsValid() {
		binary.BigEndian.PutUint64(id[:8], rand.Uint64()) //nolint:gosec // an ID is no secret
		binary.BigEndian.PutUint64(id[8:], rand.Uint64()) //nolint:gosec // an ID is no secret
	}
	return id, randomIDs{}.NewSpanID(ctx, id)
}

func (randomIDs) NewSpanID(context.Context, trace.TraceID) (id trace.SpanID) {
	for !id.IsValid() {
		binary.BigEndian.PutUint64(id[:], rand.Uint64()) //nolint:gosec // an ID is no secret
	}
	return id
}
