package suite

import (
	"context"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// BatchSize is how many spans a batch processor exports at a time.
const BatchSize = 512

// keeper keeps the snapshots of spans that end.
type keeper struct{ spans []sdktrace.ReadOnlySpan }

func (*keeper) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (k *keeper) OnEnd(s sdktrace.ReadOnlySpan)                 { k.spans = append(k.spans, s) }
func (*keeper) Shutdown(context.Context) error                  { return nil }
func (*keeper) ForceFlush(context.Context) error                { return nil }

// Batch makes n real spans of the SDK: three to a trace, ten scalar attributes,
// an event in one of ten, one resource, one scope.
func Batch(n int) []sdktrace.ReadOnlySpan {
	k := &keeper{}
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(k), sdktrace.WithSampler(sdktrace.AlwaysSample()))
	defer shutdown(tp)
	tracer := tp.Tracer("github.com/example/shop", trace.WithInstrumentationVersion("1.4.0"))
	for i := 0; len(k.spans) < n; i++ {
		Trace(context.Background(), tracer, i, 3, 10)
	}
	return k.spans[:n]
}

// Trace makes one trace: a server span with spans-1 children, each with the
// given number of attributes.
func Trace(ctx context.Context, t trace.Tracer, i, spans, attributes int) {
	ctx, root := t.Start(ctx, "GET /api/v1/orders/{id}", trace.WithSpanKind(trace.SpanKindServer))
	root.SetAttributes(Attributes(i, attributes)...)
	for c := 1; c < spans; c++ {
		_, child := t.Start(ctx, "SELECT orders", trace.WithSpanKind(trace.SpanKindClient))
		child.SetAttributes(Attributes(i+c, attributes)...)
		if (i*spans+c)%10 == 0 {
			child.AddEvent("cache miss", trace.WithTimestamp(time.Now()), trace.WithAttributes(attribute.Int("cache.tries", 2)))
		}
		child.End()
	}
	root.End()
}

// Attributes are n attributes as servers have them: seven strings, two
// integers and a boolean of ten.
func Attributes(i, n int) []attribute.KeyValue {
	kvs := make([]attribute.KeyValue, 0, n)
	for a := range n {
		switch a {
		case 0:
			kvs = append(kvs, attribute.String("http.request.method", "GET"))
		case 1:
			kvs = append(kvs, attribute.String("url.path", "/api/v1/orders/"+strconv.Itoa(100000+i)))
		case 2:
			kvs = append(kvs, attribute.String("http.route", "/api/v1/orders/{id}"))
		case 3:
			kvs = append(kvs, attribute.Int("http.response.status_code", 200))
		case 4:
			kvs = append(kvs, attribute.String("server.address", "shop.example.com"))
		case 5:
			kvs = append(kvs, attribute.Int("server.port", 8080))
		case 6:
			kvs = append(kvs, attribute.String("client.address", "192.0.2.7"))
		case 7:
			kvs = append(kvs, attribute.String("user_agent.original", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"))
		case 8:
			kvs = append(kvs, attribute.String("network.protocol.version", "1.1"))
		case 9:
			kvs = append(kvs, attribute.Bool("cache.hit", i%2 == 0))
		default:
			kvs = append(kvs, attribute.String("shop.attribute."+strconv.Itoa(a), "value "+strconv.Itoa(i)))
		}
	}
	return kvs
}

func startOptions(kvs []attribute.KeyValue) []trace.SpanStartOption {
	return []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(kvs...)}
}
