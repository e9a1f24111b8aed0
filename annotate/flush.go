package annotate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

type counter = atomic.Int64

var errNoScore = errors.New("neither a value nor a label")

// Stats is the account of a client since it was made.
type Stats struct {
	Scored      int64 // scores that became spans
	Unscored    int64 // sampled calls that were dropped, past the bound of the queue or at shutdown
	Reported    int64 // live interactions that the sink took
	Unreported  int64 // live interactions that were dropped, past the bound of the queue or at shutdown
	Failed      int64 // metrics and sinks that failed; redactions, joins and methods of values that misbehaved
	Unannotated int64 // tags and metadata past what a trace has room for
}

// Stats returns the account so far.
func (c *Client) Stats() Stats {
	return Stats{
		Scored: c.scored.Load(), Unscored: c.scores.Dropped(),
		Reported: c.reported.Load(), Unreported: c.live.Dropped(),
		Failed: c.failures.n.Load(), Unannotated: c.dropped.Load(),
	}
}

// Flush flushes the default client. See [Client.Flush].
func Flush(ctx context.Context) error { return Default().Flush(ctx) }

// Flush brings the spans that have ended to their places, then waits for the metrics, then brings their
// scores to their places, and waits for the sink. Each stage gets what is left of one budget: the deadline of
// ctx, by default 5 s. The error says what was not done.
func (c *Client) Flush(ctx context.Context) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, flushTimeout)
		defer cancel()
	}
	err := errors.Join(
		c.flushSpans(ctx),
		named("metrics", c.scores.Wait(ctx)),
		c.flushSpans(ctx), // the scores, which are spans
		named("sink", c.live.Wait(ctx)),
	)
	if err != nil {
		return fmt.Errorf("annotate: flush: %w", err)
	}
	return nil
}

func (c *Client) flushSpans(ctx context.Context) error {
	if p, ok := c.attach().provider.(interface{ ForceFlush(context.Context) error }); ok {
		return named("spans", p.ForceFlush(ctx))
	}
	return nil
}

// Shutdown waits for the metrics and the sink, until ctx ends, and ends both: calls are neither scored nor
// reported afterwards, until tracing starts again. Spans go on. The tracing of package bootstrap does it at
// its own shutdown, while scores can still leave; without it the program does. It may be called twice.
func (c *Client) Shutdown(ctx context.Context) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, flushTimeout)
		defer cancel()
	}
	var scores, live error
	var wg sync.WaitGroup
	wg.Go(func() { scores = named("metrics", c.scores.Close(ctx)) })
	wg.Go(func() { live = named("sink", c.live.Close(ctx)) })
	wg.Wait()
	if live == nil { // else a Write hangs, and Close would wait for it
		live = named("sink", c.closeSink())
	}
	if err := errors.Join(scores, live); err != nil {
		return fmt.Errorf("annotate: shutdown: %w", err)
	}
	return nil
}

func named(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
