package annotate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/internal/boundjson"
	"github.com/waymark-trace/waymark/internal/workqueue"
)

// process is the client of the package functions.
//
//nolint:gochecknoglobals // package functions have no other place for it
var process struct {
	current atomic.Pointer[Client] // what Default returns; nil until somebody asks or sets
	mu      sync.Mutex
	shared  *Client // the one of New; see givesWay
}

// Client makes spans and scores them. Its methods and the functions of the package take the same arguments;
// functions use [Default]. Go has no generic methods: for [Func], [Call], [Seq] and the other wrappers the
// client itself is an option. A Client is safe for concurrent use.
type Client struct {
	cfg     Config
	unasked bool // Default has made it
	logger  *slog.Logger
	max     int
	json    boundjson.Encoder

	own     *Processor
	mu      sync.Mutex                        // guards attaching
	now     atomic.Pointer[attachment]        //
	tracing atomic.Pointer[bootstrap.Tracing] // that runs, or would if it were on; nil before begin
	hooked  atomic.Pointer[bootstrap.Tracing] // whose OnShutdown knows us

	scores   *workqueue.Queue[job]
	live     *workqueue.Queue[Interaction]
	sink     atomic.Pointer[JSONLSink]
	dropped  atomic.Int64 // annotations past a bound
	failures failures
	scored   atomic.Int64
	reported atomic.Int64
	noted    sync.Once
}

// attachment is the provider that a client uses now.
type attachment struct {
	provider  trace.TracerProvider // as the program has it
	target    trace.TracerProvider // behind a provider that forwards
	tracer    trace.Tracer
	processed bool // our processor is on it
	off       bool // nothing records
}

// New makes a client over the tracing that runs, and starts one when none runs (see [Config]). The client is
// never nil and works when the error is not nil; the error is for the log.
//
// The first client is the [Default] one, also with Config.Tracing. It stays so until another is made with
// Config.Force, or when its Config.Tracing is off or shut down; one that nobody configured, which [Default] has
// made, gives way to one with Config.Tracing. A client that another replaces goes on for those who hold it.
// Beyond the first, New with neither Config.Force nor Config.Tracing returns the first and [ErrExists].
//
//nolint:contextcheck,nolintlint // tracing begins for the program, not for a caller; the linter sees it in some runs only
func New(cfg Config) (*Client, error) {
	c := newClient(cfg)
	first := register(c)
	switch {
	case first == c:
	case cfg.Tracing == nil:
		return first, fmt.Errorf("annotate: %w", ErrExists)
	case cfg.Live:
		c.logger.Warn("another annotate client is the default one: what the functions of the package make is not reported to this one's sink")
	}
	return c, c.begin() // outside the lock: it runs the program's code
}

// register makes c the program's client unless there is one that stays; it returns the program's client.
func register(c *Client) *Client {
	process.mu.Lock()
	defer process.mu.Unlock()
	if have := process.shared; have != nil && !givesWay(have, c) {
		return have
	}
	process.current.CompareAndSwap(process.shared, c)
	process.shared = c
	return c
}

// givesWay reports whether c becomes the program's client in place of have.
func givesWay(have, c *Client) bool {
	switch {
	case c.cfg.Force:
		return true
	case c.unasked:
		return false
	case have.unasked:
		return c.cfg.Tracing != nil
	}
	return have.cfg.Tracing != nil && !have.cfg.Tracing.Enabled()
}

// Default returns the client of the package's functions: the one of [SetDefault], else that of [New], else one
// with the zero [Config].
//
//nolint:contextcheck,nolintlint // begin starts tracing for the program, not for who asks first; the linter sees it in some runs only
func Default() *Client {
	if c := process.current.Load(); c != nil {
		return c
	}
	made := newClient(Config{})
	made.unasked = true
	c := register(made)
	if c == made {
		if err := c.begin(); err != nil {
			otel.Handle(err)
		}
	}
	process.current.CompareAndSwap(nil, c)
	return c
}

// SetDefault makes c the client of the package's functions. Nil puts back what New made.
func SetDefault(c *Client) { process.current.Store(c) }

func newClient(cfg Config) *Client {
	c := &Client{cfg: cfg, logger: cfg.logger(), max: cfg.MaxCapturedBytes, own: NewProcessor()}
	c.tracing.Store(cfg.Tracing)
	if c.max <= 0 {
		c.max = DefaultMaxCapturedBytes
	}
	workers := cfg.MetricsWorkers
	if workers <= 0 {
		workers = DefaultMetricsWorkers
	}
	c.scores = workqueue.New(workers, c.score)
	c.live = workqueue.New(1, c.report)
	return c
}

// begin starts tracing when there is none, and switches libraries on.
func (c *Client) begin() error {
	var errs []error
	runs := c.cfg.Tracing != nil
	if off := bootstrap.Running(); !runs && off != nil && !off.Enabled() && c.cfg.Bootstrap.App == "" {
		// The program has called Start and its switch is off. Another Start would ask the switch of the
		// executable's name, and tell of each bad variable again.
		c.tracing.Store(off)
		c.attach()
		return nil
	}
	if !runs {
		t, err := bootstrap.Start(context.Background(), c.cfg.bootstrap())
		if runs = errors.Is(err, bootstrap.ErrStarted); !runs {
			errs = append(errs, err)
		}
		c.tracing.Store(t)
	}
	if names := c.cfg.ignored(); runs && len(names) > 0 {
		c.logger.Warn("tracing runs already, so that parts of annotate.Config do not apply",
			slog.String("fields", strings.Join(names, ", ")))
	}
	c.attach()
	if t := c.tracing.Load(); t.Enabled() {
		for _, f := range c.cfg.Instrument {
			errs = append(errs, instrument(f, t.TracerProvider()))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("annotate: %w", err)
	}
	return nil
}

func instrument(f func(trace.TracerProvider) error, p trace.TracerProvider) (err error) {
	if f == nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("instrument: %w: %v", errPanic, p)
		}
	}()
	if err := f(p); err != nil {
		return fmt.Errorf("instrument: %w", err)
	}
	return nil
}

var errPanic = errors.New("panic")

// provider returns the provider that spans come from now: the configured tracing's, else the program's, which
// may come later than the client.
func (c *Client) provider() trace.TracerProvider {
	if c.cfg.Tracing != nil {
		return c.cfg.Tracing.TracerProvider()
	}
	if t := c.tracing.Load(); t != nil && c.cfg.Bootstrap.NoGlobals {
		return t.TracerProvider()
	}
	return otel.GetTracerProvider()
}

// attach returns the provider of now, with our processor on it. It costs a few loads unless the provider has
// changed since.
func (c *Client) attach() *attachment {
	p := c.provider()
	target := p
	if f, ok := p.(interface{ Unwrap() trace.TracerProvider }); ok {
		target = f.Unwrap()
	}
	if a := c.now.Load(); a != nil && same(a.provider, p) && same(a.target, target) {
		c.hook(a)
		return a
	}
	return c.reattach(p, target)
}

// same compares providers; those that are no pointers have no state to speak of.
func same(a, b trace.TracerProvider) bool {
	if t := reflect.TypeOf(a); t != reflect.TypeOf(b) || t == nil || t.Kind() == reflect.Pointer {
		return a == b
	}
	return true
}

// isOff tells the providers whose spans nobody sees: the no-op one, and the one that OTel has while the program
// has set none, whose type is internal.
func isOff(p trace.TracerProvider) bool {
	_, off := p.(noop.TracerProvider)
	return off || reflect.TypeOf(p).String() == "*global.tracerProvider"
}

func (c *Client) reattach(p, target trace.TracerProvider) *attachment {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.now.Load(); a != nil && same(a.provider, p) && same(a.target, target) {
		return a
	}
	a := &attachment{provider: p, target: target, tracer: p.Tracer(ScopeName), off: isOff(target)}
	if r, ok := target.(interface {
		RegisterSpanProcessor(sdktrace.SpanProcessor)
		UnregisterSpanProcessor(sdktrace.SpanProcessor)
	}); ok {
		r.UnregisterSpanProcessor(c.own) // it is there when the program goes back to an earlier provider
		r.RegisterSpanProcessor(c.own)
		a.processed = true
	}
	c.now.Store(a)
	c.hook(a)
	return a
}

// hook makes scoring and reporting end with the tracing that runs. It is asked each time, for a program may
// start tracing after its first annotation.
func (c *Client) hook(a *attachment) {
	t := c.cfg.Tracing
	if t == nil && c.cfg.Bootstrap.NoGlobals {
		t = c.tracing.Load()
	} else if t == nil {
		t = bootstrap.Running()
	}
	if t == nil || !a.processed || !t.Enabled() {
		return
	}
	if old := c.hooked.Load(); old == t || !c.hooked.CompareAndSwap(old, t) {
		return
	}
	c.tracing.Store(t)
	c.scores.Open()
	c.live.Open()
	t.OnShutdown(c.Shutdown)
}

// mask applies the mask of the tracing that runs.
func (c *Client) mask(kv attribute.KeyValue) (attribute.KeyValue, bool) {
	if t := c.tracing.Load(); t != nil {
		return t.Mask(kv)
	}
	return kv, true
}

// noteReserved says once that reserved metadata keys are ignored.
func (c *Client) noteReserved(n int) {
	if n == 0 {
		return
	}
	c.noted.Do(func() {
		c.logger.Debug("metadata keys that begin with an underscore are reserved and ignored")
	})
}

// flushTimeout is the budget of a flush without a deadline.
const flushTimeout = 5 * time.Second
