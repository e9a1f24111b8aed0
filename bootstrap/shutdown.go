package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Shutdown ends tracing: the goroutine profile, the hooks of
// [Tracing.OnShutdown], the other profiles, then every processor of ours
// flushed and shut down at the same time, each with the whole rest of the time,
// then the provider, then the account in one log line, which is a warning when
// spans were lost or have not ended. What would begin a span later is counted as
// dropped, and the first one is a warning.
//
// It obeys ctx; without a deadline it takes at most Config.ShutdownTimeout. A
// context that has ended already leaves no time to flush. The error says what
// was lost and what failed; it wraps [ErrSpansLost] when it is a loss alone. Shutdown may be called twice and concurrently: each
// call waits for the first, or its own context, and gets the same answer.
func (t *Tracing) Shutdown(ctx context.Context) error {
	return t.end(ctx).err()
}

// ending is what went wrong at the end.
type ending struct {
	hooks error // of the program
	other error // profiles, processors, the provider, the time
	loss  error // spans, or the flush of our destinations
}

func (e ending) err() error {
	err := e.loss
	if failed := errors.Join(e.other, e.hooks); failed != nil {
		err = errors.Join(failed, beside(err))
	}
	if err != nil {
		return fmt.Errorf("bootstrap: shutdown: %w", err)
	}
	return nil
}

// end ends tracing once, and waits for that as long as ctx allows.
func (t *Tracing) end(ctx context.Context) ending {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.cfg.shutdownTimeout())
		defer cancel()
	}
	t.stopOnce.Do(func() {
		go func() {
			defer close(t.stopped)
			defer t.ended.Store(true)
			t.ending = t.stop(ctx)
		}()
	})
	// The work obeys ctx; what does not is left behind.
	select {
	case <-t.stopped:
		return t.ending
	case <-ctx.Done():
	}
	select {
	case <-t.stopped:
		return t.ending
	case <-time.After(lateness):
		return ending{other: context.Cause(ctx)}
	}
}

// lateness is how long Shutdown waits past its deadline for the account.
const lateness = 250 * time.Millisecond

func (t *Tracing) stop(ctx context.Context) ending {
	goroutinesErr := t.goroutines(ctx)
	hookErr := t.runHooks(ctx)
	profilesErr := t.stopProfiles(ctx)
	flushErr, restErr := t.flush(ctx)
	loss := t.account(ctx, flushErr)
	if loss == nil {
		loss = flushErr
	}
	t.restore()
	return ending{
		hooks: t.cleaned(hookErr),
		other: t.cleaned(errors.Join(goroutinesErr, profilesErr, restErr)),
		loss:  t.cleaned(loss),
	}
}

// cleaned is err with a text that holds no secret.
func (t *Tracing) cleaned(err error) error {
	if err == nil {
		return nil
	}
	return cleanedError{t.diag.clean(err.Error()), err, t.diag.clean}
}

// share is ctx with part of its time, so that what comes later has some too.
func share(ctx context.Context, part float64) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Duration(float64(time.Until(end))*part))
}

// bounded runs f, and leaves it behind when ctx ends and f does not.
func bounded(ctx context.Context, what string, f func(context.Context) error) error {
	done := make(chan error, 1)
	go func() {
		err := fmt.Errorf("%s: %w", what, errGoexit)
		defer func() { done <- err }()
		err = safely(what, func() error { return f(ctx) })
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		select {
		case err := <-done:
			return err
		case <-time.After(lateness / 5):
			return fmt.Errorf("%s: %w", what, context.Cause(ctx))
		}
	}
}

func (t *Tracing) goroutines(ctx context.Context) error {
	if t.profiler == nil || t.goroutinesDone.Swap(true) {
		return nil
	}
	ctx, cancel := share(ctx, 0.25)
	defer cancel()
	return bounded(ctx, "goroutine profile", t.profiler.WriteGoroutines)
}

// runHooks runs the program's hooks, the latest first, in half of the time. Each has an equal part of what is
// left, so that one that hangs leaves time to the others.
func (t *Tracing) runHooks(ctx context.Context) error {
	t.mu.Lock()
	hooks := slices.Clone(t.hooks)
	t.mu.Unlock()
	ctx, cancel := share(ctx, 0.5)
	defer cancel()
	var errs []error
	for i, hook := range slices.Backward(hooks) {
		errs = append(errs, runHook(ctx, 1/float64(i+1), hook))
	}
	return errors.Join(errs...)
}

func runHook(ctx context.Context, part float64, hook func(context.Context) error) error {
	ctx, cancel := share(ctx, part)
	defer cancel()
	return bounded(ctx, "shutdown hook", hook)
}

func (t *Tracing) stopProfiles(ctx context.Context) error {
	if t.profiler == nil {
		return nil
	}
	ctx, cancel := share(ctx, 0.5)
	defer cancel()
	reason, _ := t.reason.Load().(string)
	if reason == "" {
		reason = "shutdown"
	}
	return bounded(ctx, "profiles", func(ctx context.Context) error { return t.profiler.Stop(ctx, reason) })
}

// flush ends the making of spans, and brings what has ended to its place. The
// first error is about our destinations, whose account says more.
func (t *Tracing) flush(ctx context.Context) (destinations, rest error) {
	t.over.Store(true)
	if t.forward != nil {
		t.forward.stop(t.late)
	}
	if t.hub == nil {
		return nil, nil
	}
	provider, foreign := len(t.extra), len(t.extra)+1
	errs := make([]error, foreign+1)
	var wg sync.WaitGroup
	wg.Go(func() { destinations = t.hub.Shutdown(ctx) })
	for i, p := range t.extra {
		wg.Go(func() {
			errs[i] = bounded(ctx, "processor", func(ctx context.Context) error {
				return errors.Join(p.ForceFlush(ctx), p.Shutdown(ctx))
			})
		})
	}
	wg.Wait()
	if t.made != nil {
		// Its processors are down already. With a context that has ended it
		// would not even look at them.
		errs[provider] = bounded(ctx, "provider", func(ctx context.Context) error {
			return t.made.Shutdown(context.WithoutCancel(ctx))
		})
	}
	if t.foreign != nil {
		errs[foreign] = bounded(ctx, "provider", t.detach)
	}
	return destinations, errors.Join(errs...)
}

// detach takes our processors off the program's provider, which locks.
func (t *Tracing) detach(context.Context) error {
	t.foreign.UnregisterSpanProcessor(t.hub)
	for _, p := range t.extra {
		t.foreign.UnregisterSpanProcessor(p)
	}
	return nil
}

// late takes a span that would begin after Shutdown.
func (t *Tracing) late() {
	if t.hub.late.Add(1) == 1 {
		t.logger.LogAttrs(context.Background(), slog.LevelWarn, "span after the end of tracing",
			slog.String("app", t.plan.App), slog.String("want", "the server ended before tracing is"))
	}
}

// account logs the account in one line, and says what was lost as an error, with
// the last error of an exporter, or else the one of the flush.
func (t *Tracing) account(ctx context.Context, flushErr error) error {
	if t.hub == nil {
		return nil
	}
	r := t.Report()
	t.diag.summary(ctx)
	level := slog.LevelInfo
	open := slices.ContainsFunc(r.Destinations, func(d DestinationReport) bool { return d.Open > 0 })
	if r.Lost() > 0 || open {
		level = slog.LevelWarn
	}
	t.logger.LogAttrs(ctx, level, "tracing stopped", slog.String("app", t.plan.App), slog.Any("account", r))
	if r.Lost() == 0 {
		return nil
	}
	text := fmt.Sprintf("%s (%s)", spansLost(r.Lost()), r)
	if last := t.diag.lastExportError(); last != "" {
		text += ": " + last
	} else if flushErr != nil {
		text += ": " + flushErr.Error()
	}
	return lossError{text, flushErr}
}
