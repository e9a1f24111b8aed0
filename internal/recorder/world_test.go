package recorder_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/internal/recorder"
)

// provider is what both providers can do.
type provider interface {
	trace.TracerProvider
	RegisterSpanProcessor(sdktrace.SpanProcessor)
	UnregisterSpanProcessor(sdktrace.SpanProcessor)
	ForceFlush(context.Context) error
	Shutdown(context.Context) error
}

// world is one provider with everything around it; it notes in order what
// processors, the sampler and the caller see.
type world struct {
	provider   provider
	log        []string
	in         source
	decision   sdktrace.SamplingResult // the sampler's next one
	processors []*spy
	tracers    []trace.Tracer
	contexts   []context.Context
	spans      []trace.Span
	held       []held
	ids        uint64
	down       bool // shut down
}

// held is what was handed out, and how it looked then.
type held struct {
	show   func() string
	before string
}

func (w *world) note(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf(format, args...))
}

// hold notes what show says, and looks again at the end.
func (w *world) hold(show func() string) {
	w.held = append(w.held, held{show, show()})
}

// newWorld makes a world that the bytes drive.
func newWorld(data []byte, sdk bool) *world {
	w := &world{in: source{data}}
	for i := range 3 {
		w.processors = append(w.processors, &spy{world: w, name: fmt.Sprint("p", i), busy: i == 1})
	}
	c := recorder.Config{
		Sampler: spySampler{w}, IDGenerator: w, Resource: testResource,
		Limits: w.in.limits(), WithoutPanicRecording: w.in.oneIn(8),
	}
	if !w.in.oneIn(8) {
		c.Processors = append(c.Processors, w.processors[0])
	}
	if w.in.oneIn(2) {
		c.Processors = append(c.Processors, w.processors[1])
	}
	if w.provider = recorder.New(c); sdk {
		w.provider = newSDK(c)
	}
	w.tracers = []trace.Tracer{w.provider.Tracer("")}
	return w
}

func newSDK(c recorder.Config) *sdktrace.TracerProvider {
	opts := []sdktrace.TracerProviderOption{
		sdktrace.WithSampler(c.Sampler), sdktrace.WithIDGenerator(c.IDGenerator),
		sdktrace.WithRawSpanLimits(c.Limits), sdktrace.WithResource(c.Resource),
	}
	for _, p := range c.Processors {
		opts = append(opts, sdktrace.WithSpanProcessor(p))
	}
	if c.WithoutPanicRecording {
		opts = append(opts, sdktrace.WithoutPanicRecording())
	}
	return sdktrace.NewTracerProvider(opts...)
}

// NewIDs and NewSpanID count, so that both worlds have the same IDs.
func (w *world) NewIDs(ctx context.Context) (id trace.TraceID, _ trace.SpanID) {
	w.ids++
	binary.BigEndian.PutUint64(id[8:], w.ids)
	w.note("new IDs, parent %s", showContext(trace.SpanContextFromContext(ctx)))
	return id, w.NewSpanID(ctx, id)
}

func (w *world) NewSpanID(ctx context.Context, id trace.TraceID) (sid trace.SpanID) {
	w.ids++
	binary.BigEndian.PutUint64(sid[:], w.ids)
	w.note("new span ID of %s, parent %s", id, showContext(trace.SpanContextFromContext(ctx)))
	return sid
}

// spySampler notes what it is asked and says what it is told.
type spySampler struct{ *world }

func (s spySampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	s.note("sample %s %q %d %v links %d parent %s", p.TraceID, p.Name, p.Kind, showAll(p.Attributes), len(p.Links),
		showContext(trace.SpanContextFromContext(p.ParentContext)))
	return s.decision
}

func (spySampler) Description() string { return "spy" }

var errSpy = errors.New("spy")

// spy is a processor that notes what it sees; a busy one changes what begins.
type spy struct {
	world *world
	name  string
	busy  bool
	stops int
}

func (p *spy) OnStart(ctx context.Context, s sdktrace.ReadWriteSpan) {
	p.world.note("%s start %s parent %s", p.name, show(s), showContext(trace.SpanContextFromContext(ctx)))
	attrs := s.Attributes()
	p.world.hold(func() string { return showAll(attrs) })
	if p.busy {
		s.SetName(s.Name() + "!")
		s.SetAttributes(attribute.Int("busy", 1), attribute.String("k0", "busy"))
		s.AddEvent("busy", trace.WithTimestamp(time.Unix(9, 0)))
	}
}

func (p *spy) OnEnd(s sdktrace.ReadOnlySpan) {
	_, writes := s.(trace.Span)
	p.world.note("%s end %s, writes: %v", p.name, show(s), writes)
	p.world.hold(func() string { return show(s) })
	attrs, events, links := s.Attributes(), s.Events(), s.Links()
	p.world.hold(func() string { return showAll(attrs) + showEvents(events) + showLinks(links) })
}

func (p *spy) ForceFlush(context.Context) error {
	p.world.note("%s flush", p.name)
	return errSpy
}

func (p *spy) Shutdown(context.Context) error {
	p.stops++
	p.world.note("%s shutdown %d", p.name, p.stops)
	return errSpy
}

// show describes a span. How many events and links were dropped is left out
// where there are none: there the SDK forgets it.
func show(s sdktrace.ReadOnlySpan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %s parent %s kind %d start %s end %s", s.Name(), showContext(s.SpanContext()), showContext(s.Parent()),
		s.SpanKind(), showTime(s.StartTime()), showTime(s.EndTime()))
	fmt.Fprintf(&b, " attributes %s-%d", showAll(s.Attributes()), s.DroppedAttributes())
	fmt.Fprintf(&b, " events %s links %s", showEvents(s.Events()), showLinks(s.Links()))
	if len(s.Events()) > 0 {
		fmt.Fprintf(&b, " dropped events %d", s.DroppedEvents())
	}
	if len(s.Links()) > 0 {
		fmt.Fprintf(&b, " dropped links %d", s.DroppedLinks())
	}
	fmt.Fprintf(&b, " status %v children %d scope %v %v resource %v", s.Status(), s.ChildSpanCount(),
		s.InstrumentationScope(), s.InstrumentationLibrary(), s.Resource()) //nolint:staticcheck // part of the interface
	return b.String()
}

func showEvents(events []sdktrace.Event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "[%q %s %s-%d]", e.Name, showTime(e.Time), showAll(e.Attributes), e.DroppedAttributeCount)
	}
	return b.String()
}

func showLinks(links []sdktrace.Link) string {
	var b strings.Builder
	for _, l := range links {
		fmt.Fprintf(&b, "[%s %s-%d]", showContext(l.SpanContext), showAll(l.Attributes), l.DroppedAttributeCount)
	}
	return b.String()
}

func showContext(sc trace.SpanContext) string {
	return fmt.Sprintf("%s/%s/%s/%s/%v", sc.TraceID(), sc.SpanID(), sc.TraceFlags(), sc.TraceState(), sc.IsRemote())
}

func showTime(t time.Time) string {
	switch {
	case t.IsZero():
		return "none"
	case t.Year() > 2000:
		return "now" // told by the clock
	default:
		return t.UTC().String()
	}
}

func showAll(kvs []attribute.KeyValue) string {
	var b strings.Builder
	for _, kv := range kvs {
		text := fmt.Sprintf("%q", kv.Value.String())
		if kv.Key == "exception.stacktrace" {
			text = fmt.Sprint("a stack: ", strings.HasPrefix(kv.Value.AsString(), "goroutine "))
		}
		fmt.Fprintf(&b, "{%q %s %s}", kv.Key, kv.Value.Type(), text)
	}
	return b.String()
}
