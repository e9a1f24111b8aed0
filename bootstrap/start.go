package bootstrap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/capturing"
	"github.com/waymark-trace/waymark/internal/recorder"
	"github.com/waymark-trace/waymark/profile"
)

var (
	// ErrStarted is in Start's error when tracing runs already; the handle is
	// the running one.
	ErrStarted = errors.New("already started")
	// ErrProviderExists is in Start's error when the program has set a provider
	// that takes no processor; nothing is traced by Waymark.
	ErrProviderExists = errors.New("another tracer provider is set that takes no span processor")
)

// process is the one forwarding provider and who runs it.
//
//nolint:gochecknoglobals // OTel's global provider is one per process, and so is this
var process = struct {
	mu      sync.Mutex
	running *Tracing
	shown   atomic.Pointer[Tracing] // running, else one that is off; for who must not wait for a Start
	forward *forwarder
}{forward: newForwarder()}

// Running returns the handle of the tracing that [Start] has begun and nobody
// has shut down, also when the switch was off; nil when there is none. It does
// not know of one that was started with NoGlobals.
func Running() *Tracing {
	if t := process.shown.Load(); t != nil && !t.ended.Load() {
		return t
	}
	return nil
}

// registrar is a provider that takes processors, as the SDK's does.
type registrar interface {
	trace.TracerProvider
	RegisterSpanProcessor(sdktrace.SpanProcessor)
	UnregisterSpanProcessor(sdktrace.SpanProcessor)
}

// standIn is a provider that only stands in until a real one comes, such as
// capture's: Start replaces it.
type standIn interface{ StandIn() bool }

// Start turns tracing on when the App's switch says so. The handle is never nil
// and works when err is not nil; err is for the log. It wraps [ErrStarted] when
// tracing runs already, [ErrProviderExists] when the program has a provider
// that takes no processor, and with Strict each finding as an [env.Finding].
//
// Start logs each finding as one warning, and neither waits for a backend nor
// fails because of one. It ignores the end of ctx.
func Start(ctx context.Context, cfg Config) (*Tracing, error) {
	ctx = context.WithoutCancel(ctx)
	if cfg.NoGlobals {
		t, err := start(ctx, cfg, newForwarder())
		t.instrument(ctx)
		return t, err
	}
	t, err := startOnce(ctx, cfg)
	if !errors.Is(err, ErrStarted) {
		t.instrument(ctx) // outside the lock: it is the program's code, and may call Start
	}
	return t, err
}

func startOnce(ctx context.Context, cfg Config) (*Tracing, error) {
	process.mu.Lock()
	defer process.mu.Unlock()
	if t := process.running; t != nil && !t.ended.Load() {
		return t, fmt.Errorf("bootstrap: %w", ErrStarted)
	}
	t, err := start(ctx, cfg, process.forward)
	if t.active || t.profiler != nil {
		process.running = t
	}
	process.shown.Store(t)
	return t, err
}

func start(ctx context.Context, cfg Config, forward *forwarder) (*Tracing, error) {
	t := &Tracing{
		cfg: cfg, plan: Explain(cfg),
		provider:   noop.NewTracerProvider(),
		propagator: propagation.NewCompositeTextMapPropagator(),
		stopped:    make(chan struct{}),
		restore:    func() {},
	}
	t.logger = cfg.logger(t.plan.secrets.own)
	t.diag = newDiagnostics(t.logger, t.plan.secrets.others)
	var errs []error
	if t.plan.Tracing {
		errs = append(errs, t.turnOn(forward)) //nolint:contextcheck // nothing in it takes long
	}
	t.startProfiles()
	for _, f := range t.plan.Findings {
		t.logger.LogAttrs(ctx, slog.LevelWarn, "doubtful configuration", f.LogValue().Group()...)
		if cfg.Strict {
			errs = append(errs, f)
		}
	}
	if t.recording {
		level := slog.LevelInfo
		if slices.ContainsFunc(t.hub.dests, func(d *destination) bool { return d.nowhere }) {
			level = slog.LevelWarn
		}
		t.logger.LogAttrs(ctx, level, "tracing started",
			slog.String("app", t.plan.App), slog.String("destination", cmp.Or(t.Destination(), "none")))
	}
	if err := errors.Join(errs...); err != nil {
		return t, fmt.Errorf("bootstrap: start: %w", err)
	}
	return t, nil
}

// turnOn builds what the plan says and sets OTel's globals.
func (t *Tracing) turnOn(forward *forwarder) error {
	foreign, exists := t.foreignProvider()
	if exists && foreign == nil {
		return fmt.Errorf("%w: set none before Start, or pass Config.Force to replace it, or Config.NoGlobals to leave it alone", ErrProviderExists)
	}
	s := t.plan.settings
	t.active = true
	t.setDiagnostics(s.LogLevel.V)
	t.setPropagator(newPropagator(s.Propagators.V), foreign != nil)
	if !t.plan.Spans {
		return nil
	}
	res, resErr := newResource(t.cfg, s)
	var shown *resource.Resource
	if foreign == nil && t.cfg.SDK {
		t.diag.silently(func() {
			if !sdkResource(res).Equal(res) {
				shown = res
			}
		})
	}
	t.mask = newMask(t.cfg.Mask, s.Hide, t.diag)
	v := newView(t.mask, shown)
	t.build(v)
	if foreign != nil {
		t.attach(foreign)
	} else {
		t.own(forward, res, v)
	}
	t.recording = true
	if resErr != nil {
		t.diag.report("resource", resErr)
	}
	return nil
}

// build makes the destinations and wraps the program's processors.
func (t *Tracing) build(v view) {
	b := builder{cfg: t.cfg, set: t.plan.settings, view: v, diag: t.diag, find: t.plan.find, shown: t.plan.shown, console: stdout}
	t.hub = &hub{dests: b.build(t.plan.dests)}
	for _, p := range t.cfg.Processors {
		if p != nil {
			t.extra = append(t.extra, &userProcessor{next: p, view: v, diag: t.diag})
		}
	}
}

// own makes a provider and points the forwarding one at it.
func (t *Tracing) own(forward *forwarder, res *resource.Resource, v view) {
	sampler := newSampler(t.plan.settings.Sampler.V)
	if v.mask != nil {
		sampler = maskedSampler{sampler, v.mask}
	}
	// A capture sees its spans whatever the sampler says; destinations do not.
	sampler = capturing.NewSampler(sampler, sdktrace.RecordOnly)
	t.made = t.newProvider(recorder.Config{
		Resource: res, Sampler: sampler, Limits: newLimits(t.plan.settings.Limits), Processors: t.processors(),
	})
	t.forward = forward
	if len(t.hub.dests) == 0 && len(t.extra) == 0 {
		forward.point(&unexported{spanProvider: t.made, sampler: sampler})
	} else {
		forward.point(t.made)
	}
	t.provider = forward
	if !t.cfg.NoGlobals && otel.GetTracerProvider() != trace.TracerProvider(forward) {
		otel.SetTracerProvider(forward)
	}
}

// processors are all that see spans: the destinations, then the program's.
func (t *Tracing) processors() []sdktrace.SpanProcessor {
	list := []sdktrace.SpanProcessor{t.hub}
	for _, p := range t.extra {
		list = append(list, p)
	}
	return list
}

// newProvider makes our provider, or the SDK's.
func (t *Tracing) newProvider(c recorder.Config) spanProvider {
	if !t.cfg.SDK {
		return recorder.New(c)
	}
	opts := []sdktrace.TracerProviderOption{
		sdktrace.WithResource(c.Resource), sdktrace.WithSampler(c.Sampler), sdktrace.WithRawSpanLimits(c.Limits),
	}
	for _, p := range c.Processors {
		opts = append(opts, sdktrace.WithSpanProcessor(p))
	}
	var tp *sdktrace.TracerProvider
	t.diag.silently(func() { tp = sdktrace.NewTracerProvider(opts...) })
	return tp
}

// attach adds our processors to the program's provider. What only its maker can
// set becomes a finding when a variable asks for it.
func (t *Tracing) attach(p registrar) {
	s := t.plan.settings
	for _, set := range []struct{ key, what string }{
		{s.ServiceName.Key, "service.name"},
		{s.ResourceAttributes.Key, "the resource"},
		{s.Sampler.Key, "the sampler"},
		{s.Limits.AttributeValueLength.Key, "the limit"},
		{s.Limits.AttributeCount.Key, "the limit"},
		{s.Limits.EventCount.Key, "the limit"},
		{s.Limits.LinkCount.Key, "the limit"},
		{s.Limits.AttributePerEventCount.Key, "the limit"},
		{s.Limits.AttributePerLinkCount.Key, "the limit"},
	} {
		if set.key == "" {
			continue
		}
		value, _ := t.cfg.lookup().Lookup(set.key)
		t.notApplied(set.key, value, set.what)
	}
	for _, set := range []struct{ key, value string }{
		{"Config.Version", t.cfg.Version},
		{"Config.Environment", t.cfg.Environment},
	} {
		if set.value != "" {
			t.notApplied(set.key, set.value, "the resource")
		}
	}
	p.RegisterSpanProcessor(t.hub)
	for _, sp := range t.extra {
		p.RegisterSpanProcessor(sp)
	}
	t.foreign, t.provider = p, p
}

func (t *Tracing) notApplied(key, value, what string) {
	t.plan.find(env.Finding{
		Key: key, Value: value,
		Want: "no tracer provider set by the program, or Config.Force",
		Used: "not applied: the program's provider rules over " + what,
	})
}

// foreignProvider is the provider that the program has set. Nil with exists:
// one that takes no processor.
func (t *Tracing) foreignProvider() (p registrar, exists bool) {
	if t.cfg.NoGlobals || t.cfg.Force {
		return nil, false
	}
	switch tp := otel.GetTracerProvider().(type) {
	case nil, *forwarder:
		return nil, false
	case standIn:
		if tp.StandIn() {
			return nil, false
		}
		p, _ = tp.(registrar)
		return p, true
	case registrar:
		return tp, true
	default:
		// OTel's own default is a type of an internal package.
		return nil, reflect.TypeOf(tp).String() != "*global.tracerProvider"
	}
}

// setPropagator sets the global propagator. A program with a provider of its
// own that has set its own propagator too keeps it, unless the variable asks
// for another.
func (t *Tracing) setPropagator(p propagation.TextMapPropagator, foreign bool) {
	t.propagator = p
	if t.cfg.NoGlobals {
		return
	}
	now := otel.GetTextMapPropagator()
	if foreign && !t.plan.settings.Propagators.IsSet() && len(now.Fields()) > 0 {
		t.propagator = now
		return
	}
	otel.SetTextMapPropagator(p)
}

// setDiagnostics makes OTel's own errors and log lines ours. OTel does not tell
// its logger, so that only the error handler can be put back; the logger stays.
func (t *Tracing) setDiagnostics(level slog.Level) {
	if t.cfg.NoGlobals {
		return
	}
	before := otel.GetErrorHandler()
	otel.SetErrorHandler(t.diag)
	otel.SetLogger(newOTelLogger(t.diag, level))
	t.restore = func() {
		// The default one hands on to ours for good, which is as silent.
		if otel.GetErrorHandler() == otel.ErrorHandler(t.diag) {
			otel.SetErrorHandler(before)
		}
	}
}

// instrument runs Config.Instrument with the provider that was built.
func (t *Tracing) instrument(ctx context.Context) {
	if !t.recording {
		return
	}
	for _, f := range t.cfg.Instrument {
		if f == nil {
			continue
		}
		if err := safely("instrument", func() error { return f(t.provider) }); err != nil {
			t.logger.LogAttrs(ctx, slog.LevelWarn, "library not instrumented",
				slog.String("error", t.diag.clean(err.Error())))
		}
	}
}

// startProfiles begins what <APP>_PROFILE_DIR asks for, also when tracing is off.
// What cannot begin is a finding, as a span file that cannot be written is.
func (t *Tracing) startProfiles() {
	s := t.plan.settings
	if s.ProfileDir.V == "" {
		return
	}
	opts := []profile.Option{
		profile.WithApp(t.plan.App), profile.WithLogger(t.logger), profile.WithKinds(s.Profile.V...),
	}
	if t.cfg.Version != "" {
		opts = append(opts, profile.WithMetadata("version", t.cfg.Version))
	}
	if d := t.Destination(); d != "" {
		opts = append(opts, profile.WithMetadata("traces", d))
	}
	p, err := profile.Start(s.ProfileDir.V, opts...)
	t.profiler = p
	if err == nil {
		return
	}
	used := "the profiles that can be taken"
	if p.ID() == "" {
		used = "no profiles"
	}
	t.plan.find(env.Finding{
		Key: s.ProfileDir.Key, Value: s.ProfileDir.V,
		Want: "profiles that can be taken and written: " + t.plan.shown(err.Error()), Used: used,
	})
}
