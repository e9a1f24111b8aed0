package recorder_test

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

var testResource = resource.NewSchemaless(attribute.String("service.name", "shop"))

// source makes choices of bytes; when they have run out each is the first.
type source struct{ data []byte }

// n chooses one of n.
func (s *source) n(n int) int {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return int(b) % n
}

func (s *source) oneIn(n int) bool { return s.n(n) == n-1 }

func (s *source) limits() sdktrace.SpanLimits {
	one := func() int { return []int{128, 0, 1, 2, 3, -1, 40, 5}[s.n(8)] }
	return sdktrace.SpanLimits{
		AttributeValueLengthLimit: one(), AttributeValueDepthLimit: one(), AttributeCountLimit: one(), EventCountLimit: one(),
		LinkCountLimit: one(), AttributePerEventCountLimit: one(), AttributePerLinkCountLimit: one(),
	}
}

// texts are short and long, of one byte and of several, and with bytes that are not UTF-8.
var texts = []string{
	"", "a", "abcdefgh", "äöü", "日本語", "a\xff\xfeb", "\xff", "\ufffd\ufffd", "ab\xffcd日", "\xe6\x97", "😀😀😀", "abc\xff",
}

func (s *source) text() string { return texts[s.n(len(texts))] }

func (s *source) value(depth int) attribute.Value {
	kinds := 12
	if depth == 0 {
		kinds = 9
	}
	switch s.n(kinds) {
	case 0:
		return attribute.StringValue(s.text())
	case 1:
		return attribute.IntValue(s.n(256))
	case 2:
		return attribute.BoolValue(s.oneIn(2))
	case 3:
		return attribute.Float64Value(float64(s.n(256)) / 3)
	case 4:
		return attribute.StringSliceValue([]string{s.text(), s.text(), "same", s.text()}[:s.n(5)])
	case 5:
		return attribute.ByteSliceValue([]byte(s.text()))
	case 6:
		return attribute.Int64SliceValue([]int64{1, 2, 3}[:s.n(4)])
	case 7:
		return attribute.BoolSliceValue([]bool{true, false}[:s.n(3)])
	case 8:
		return attribute.Value{}
	case 9:
		return attribute.Float64SliceValue([]float64{1, 2}[:s.n(3)])
	case 10:
		members := make([]attribute.Value, s.n(8))
		for i := range members {
			members[i] = s.value(depth - 1)
		}
		return attribute.SliceValue(members...)
	default:
		return attribute.MapValue(s.attributes(8, depth-1)...)
	}
}

// attributes makes fewer than n, some of which have one key or none.
func (s *source) attributes(n, depth int) []attribute.KeyValue {
	kvs := make([]attribute.KeyValue, s.n(n))
	for i := range kvs {
		if key := s.n(48); key > 0 {
			kvs[i].Key = attribute.Key("k" + string(rune('/'+key)))
		}
		kvs[i].Value = s.value(depth)
	}
	return kvs
}

func (s *source) spanContext() trace.SpanContext {
	var c trace.SpanContextConfig
	if !s.oneIn(4) {
		c.TraceID, c.SpanID = trace.TraceID{1, byte(s.n(4))}, trace.SpanID{2, byte(s.n(4))}
	} else if s.oneIn(2) {
		c.TraceID = trace.TraceID{3} // not valid without the span's
	}
	c.TraceFlags, c.Remote = trace.TraceFlags(s.n(4)), s.oneIn(2)
	if s.oneIn(3) {
		c.TraceState, _ = trace.ParseTraceState("a=1,b=2")
	}
	return trace.NewSpanContext(c)
}

func (s *source) links() []trace.Link {
	links := make([]trace.Link, s.n(5))
	for i := range links {
		links[i] = trace.Link{SpanContext: s.spanContext(), Attributes: s.attributes(5, 2)}
	}
	return links
}

func (s *source) time() time.Time {
	if s.oneIn(5) {
		return time.Time{} // as if it were not given
	}
	return time.Unix(int64(s.n(256))*1000, 0)
}

// context is one of known, a remote parent, or none at all.
func (s *source) context(known []context.Context) context.Context {
	switch n := s.n(len(known) + 3); n {
	case 0:
		return context.Background()
	case 1:
		return nil
	case 2:
		return trace.ContextWithSpanContext(context.Background(), s.spanContext())
	default:
		return known[n-3]
	}
}

func (s *source) startOptions() (opts []trace.SpanStartOption) {
	if s.oneIn(2) {
		opts = append(opts, trace.WithAttributes(s.attributes(50, 3)...))
	}
	if s.oneIn(3) {
		opts = append(opts, trace.WithAttributes(s.attributes(10, 1)...))
	}
	if s.oneIn(3) {
		opts = append(opts, trace.WithLinks(s.links()...))
	}
	if s.oneIn(3) {
		opts = append(opts, trace.WithSpanKind(trace.SpanKind(s.n(9)-1)))
	}
	if s.oneIn(3) {
		opts = append(opts, trace.WithTimestamp(s.time()))
	}
	if s.oneIn(5) {
		opts = append(opts, trace.WithNewRoot())
	}
	return opts
}

func (s *source) eventOptions() (opts []trace.EventOption) {
	if s.oneIn(2) {
		opts = append(opts, trace.WithAttributes(s.attributes(7, 3)...))
	}
	if s.oneIn(3) {
		opts = append(opts, trace.WithAttributes(s.attributes(3, 3)...))
	}
	if s.oneIn(3) {
		opts = append(opts, trace.WithTimestamp(s.time()))
	}
	if s.oneIn(3) {
		opts = append(opts, trace.WithStackTrace(true))
	}
	return opts
}

func (s *source) endOptions() (opts []trace.SpanEndOption) {
	if s.oneIn(3) {
		opts = append(opts, trace.WithTimestamp(s.time()))
	}
	if s.oneIn(3) {
		opts = append(opts, trace.WithStackTrace(true))
	}
	return opts
}

func (s *source) samplingResult() sdktrace.SamplingResult {
	var r sdktrace.SamplingResult
	r.Decision = []sdktrace.SamplingDecision{
		sdktrace.RecordAndSample, sdktrace.RecordOnly, sdktrace.Drop, sdktrace.RecordAndSample, 77,
	}[s.n(5)]
	if s.oneIn(3) {
		r.Attributes = s.attributes(5, 2)
	}
	if s.oneIn(3) {
		r.Tracestate, _ = trace.ParseTraceState("sampler=1")
	}
	return r
}
