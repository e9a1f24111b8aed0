package capture_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/waymark-trace/waymark/capture"
	"github.com/waymark-trace/waymark/traces/render"
)

// checkout is a block of exact times, since it runs in a bubble.
func checkout(t *testing.T) *capture.Result {
	t.Helper()
	var res *capture.Result
	synctest.Test(t, func(t *testing.T) {
		tp := sdktrace.NewTracerProvider()
		var err error
		res, err = capture.Run(t.Context(), "checkout", func(ctx context.Context) error {
			tracer := tp.Tracer("shop")
			ctx, pay := tracer.Start(ctx, "pay", trace.WithAttributes(attribute.String("order", "A-1")))
			time.Sleep(3 * time.Millisecond)
			_, db := tracer.Start(ctx, "db")
			time.Sleep(250 * time.Microsecond)
			db.End()
			pay.End()
			return errors.New("declined")
		}, capture.WithTracerProvider(tp), capture.Scope("shop"))
		if err == nil {
			t.Error("no error")
		}
	})
	return res
}

func TestTree(t *testing.T) {
	t.Parallel()
	res := checkout(t)
	const want = `└── checkout (3.25 ms) {scope=shop} [ERROR]
    └── pay (3.25 ms) {scope=shop} [order='A-1']
        └── db (250.0 µs) {scope=shop}`
	if got := res.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := res.Tree(render.WithStatusText()); !strings.Contains(got, "[ERROR: declined]") {
		t.Errorf("got\n%s", got)
	}
}

func TestChrome(t *testing.T) {
	res := checkout(t)
	var doc struct {
		TraceEvents []struct {
			Name string
			Ph   string
			Dur  float64
		} `json:"traceEvents"`
	}
	if err := json.Unmarshal(res.ChromeJSON(render.WithSingleLane()), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.TraceEvents) != 3 || doc.TraceEvents[2].Name != "db" || doc.TraceEvents[2].Dur != 250 {
		t.Errorf("%+v", doc)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b", "trace.json")
	for range 2 { // makes folders, then overwrites
		if err := res.SaveChrome(path); err != nil {
			t.Fatal(err)
		}
	}
	saved, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(saved, res.ChromeJSON()) {
		t.Errorf("%v, saved %q", err, saved)
	}
	t.Chdir(dir)
	if err := res.SaveChrome("here.json"); err != nil {
		t.Error(err)
	}
}

func TestHTML(t *testing.T) {
	t.Parallel()
	html := checkout(t).HTML()
	for _, want := range []string{"└── checkout (3.25 ms)", "order=&#x27;A-1&#x27;", `download="waymark_trace.json"`} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q in %s", want, html)
		}
	}
}

func TestOTLP(t *testing.T) {
	t.Parallel()
	res := checkout(t)
	first, err := res.MarshalOTLP()
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if again, err := res.MarshalOTLP(); err != nil || !bytes.Equal(again, first) {
			t.Fatalf("other bytes: %v", err)
		}
	}
	back, err := capture.ParseOTLP(first)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(res.Spans(), back.Spans()); diff != "" {
		t.Errorf("captured (-), parsed (+):\n%s", diff)
	}
	if back.String() != res.String() || back.Empty() != "" || back.Late() != 0 {
		t.Errorf("parsed:\n%s\n%s", back, back.Empty())
	}
	// Another decoder reads the same.
	var request collectorpb.ExportTraceServiceRequest
	if err := proto.Unmarshal(first, &request); err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, rs := range request.ResourceSpans {
		for _, ss := range rs.ScopeSpans {
			for _, s := range ss.Spans {
				names = append(names, ss.Scope.Name+"/"+s.Name)
			}
		}
	}
	if got := strings.Join(names, " "); got != "shop/checkout shop/pay shop/db" {
		t.Errorf("a request with %s", got)
	}
}

func TestParseOTLPErrors(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{"text": "hello, this is no span file", "torn": "\x0a\x7f\x0a"} {
		res, err := capture.ParseOTLP([]byte(in))
		if err == nil || !strings.HasPrefix(err.Error(), "capture: parse: ") || res == nil {
			t.Errorf("%s: %v, %v", name, res, err)
		}
	}
	res, err := capture.ParseOTLP(nil)
	if err != nil || res.String() != "(no spans)" || res.Empty() == "" || res.Root() != nil {
		t.Errorf("empty: %v, %v", res, err)
	}
}

func FuzzParseOTLP(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x0a\x04\x12\x02\x12\x00"))
	f.Add([]byte(`{"resourceSpans":[]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		res, err := capture.ParseOTLP(in)
		if res == nil {
			t.Fatal("no result")
		}
		_ = res.String() + res.Empty() + res.HTML()
		if err != nil {
			return
		}
		out, err := res.MarshalOTLP()
		if err != nil {
			t.Fatal(err)
		}
		back, err := capture.ParseOTLP(out)
		if err != nil || len(back.Spans()) != len(res.Spans()) {
			t.Fatalf("round trip: %d of %d spans, %v", len(back.Spans()), len(res.Spans()), err)
		}
	})
}

func TestLogValue(t *testing.T) {
	t.Parallel()
	line := func(res *capture.Result) string {
		var b strings.Builder
		slog.New(slog.NewTextHandler(&b, nil)).Info("done", slog.Any("trace", res))
		return b.String()
	}
	got := line(checkout(t))
	for _, want := range []string{"trace.root=checkout", "trace.spans=3", "trace.errors=1", "trace.duration=3.25ms", "trace.trace_id="} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if strings.Contains(got, "dropped") || strings.Contains(got, "late") {
		t.Errorf("zeros in %s", got)
	}
	tp, _ := provider()
	var open trace.Span
	res, _ := capture.Run(t.Context(), "block", func(ctx context.Context) error {
		_, open = tp.Tracer("test").Start(ctx, "open")
		span(ctx, "no room")
		return nil
	}, capture.WithTracerProvider(tp), capture.WithMaxSpans(2))
	open.End()
	if got := line(res); !strings.Contains(got, "trace.dropped=1") || !strings.Contains(got, "trace.late=1") {
		t.Errorf("log line %s", got)
	}
	empty, _ := capture.ParseOTLP(nil)
	if got := line(empty); !strings.Contains(got, "trace.spans=0 trace.empty=") {
		t.Errorf("log line %s", got)
	}
}
