package tracefile_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/waymark-trace/waymark/traces/tracefile"
)

// sampleLine makes one line of a batch of spans with ten attributes each, an
// event in one of ten and three spans a trace, encoded by the Collector.
func sampleLine(tb testing.TB, rnd *rand.Rand, spans int) []byte {
	tb.Helper()
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "shop")
	rs.Resource().Attributes().PutStr("host.name", "web-7")
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName("github.com/waymark-trace/waymark/middleware")
	ss.Scope().SetVersion("1.0.0")
	now := time.Unix(1_700_000_000, 0)
	var trace pcommon.TraceID
	var parent pcommon.SpanID
	for i := range spans {
		sp := ss.Spans().AppendEmpty()
		if i%3 == 0 {
			for j := range trace {
				trace[j] = byte(rnd.Uint32())
			}
			parent = pcommon.SpanID{}
		}
		var id pcommon.SpanID
		for j := range id {
			id[j] = byte(rnd.Uint32())
		}
		sp.SetTraceID(trace)
		sp.SetSpanID(id)
		sp.SetParentSpanID(parent)
		parent = id
		start := now.Add(time.Duration(rnd.IntN(1e9)))
		sp.SetName("GET /users/{id}/orders")
		sp.SetKind(ptrace.SpanKindServer)
		sp.SetFlags(0x101)
		sp.SetStartTimestamp(pcommon.NewTimestampFromTime(start))
		sp.SetEndTimestamp(pcommon.NewTimestampFromTime(start.Add(time.Duration(rnd.IntN(1e7)))))
		a := sp.Attributes()
		a.PutStr("http.request.method", "GET")
		a.PutStr("url.scheme", "http")
		a.PutStr("server.address", "shop.example.com")
		a.PutInt("server.port", 8080)
		a.PutStr("url.path", "/users/"+strconv.Itoa(rnd.IntN(1e6))+"/orders")
		a.PutStr("http.route", "/users/{id}/orders")
		a.PutStr("user_agent.original", "Mozilla/5.0 (X11; Linux x86_64)")
		a.PutStr("client.address", fmt.Sprintf("10.0.%d.%d", rnd.IntN(256), rnd.IntN(256)))
		a.PutInt("http.response.status_code", 200)
		a.PutStr("network.protocol.version", "1.1")
		if i%10 == 0 {
			e := sp.Events().AppendEmpty()
			e.SetName("cache miss")
			e.SetTimestamp(sp.StartTimestamp())
			e.Attributes().PutStr("cache.key", "u:"+strconv.Itoa(i))
		}
	}
	line, err := (&ptrace.JSONMarshaler{}).MarshalTraces(td)
	if err != nil {
		tb.Fatal(err)
	}
	return append(line, '\n')
}

const benchSpans = 512

var benchFile = sync.OnceValue(func() []byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	var file []byte
	for range 32 {
		file = append(file, sampleLine(&testing.B{}, rnd, benchSpans)...)
	}
	return file
})

func countSpans(b *testing.B, opts ...tracefile.Option) {
	b.Helper()
	data := benchFile()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range tracefile.NewReader(bytes.NewReader(data), opts...).Spans() {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 32*benchSpans {
			b.Fatalf("read %d spans", n)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("waymark/fields/workers=%d", workers), func(b *testing.B) {
			countSpans(b, tracefile.WithWorkers(workers), tracefile.WithAttributes())
		})
		b.Run(fmt.Sprintf("waymark/route/workers=%d", workers), func(b *testing.B) {
			countSpans(b, tracefile.WithWorkers(workers), tracefile.WithAttributes("http.route"))
		})
		b.Run(fmt.Sprintf("waymark/whole/workers=%d", workers), func(b *testing.B) {
			countSpans(b, tracefile.WithWorkers(workers))
		})
	}
	b.Run("pdata", func(b *testing.B) {
		data := benchFile()
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			for line := range bytes.Lines(data) {
				if _, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("encoding_json", func(b *testing.B) {
		data := benchFile()
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			dec := json.NewDecoder(bytes.NewReader(data))
			for {
				var doc jsonDocument
				if err := dec.Decode(&doc); err == io.EOF {
					break
				} else if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// jsonDocument is what one would write to read the file with encoding/json.
type jsonDocument struct {
	ResourceSpans []struct {
		Resource   struct{ Attributes []jsonAttribute }
		ScopeSpans []struct {
			Scope struct{ Name, Version string }
			Spans []struct {
				TraceID, SpanID, ParentSpanID, Name string
				Kind                                int
				Flags                               uint32
				StartTimeUnixNano, EndTimeUnixNano  uint64 `json:",string"`
				Attributes                          []jsonAttribute
				Status                              struct {
					Code    int
					Message string
				}
				Events []struct {
					TimeUnixNano uint64 `json:",string"`
					Name         string
					Attributes   []jsonAttribute
				}
			}
		}
	}
}

type jsonAttribute struct {
	Key   string
	Value struct {
		StringValue *string
		IntValue    *json.Number
		BoolValue   *bool
		DoubleValue *float64
	}
}
