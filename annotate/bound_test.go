package annotate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"go.opentelemetry.io/otel/attribute"

	"github.com/waymark-trace/waymark/annotate"
	"github.com/waymark-trace/waymark/traces"
)

// A large value costs what is kept of it, in each place that takes one.
func TestLargeValuesCostWhatIsKept(t *testing.T) {
	c, spans := start(t)
	const size = 58 << 20
	text := strings.Repeat("x", size)
	numbers := make([]float64, size/8)
	data := []byte(text)
	empty := make([]string, 1<<20)
	for name, use := range map[string]func(s *annotate.Handle){
		"object":     func(s *annotate.Handle) { s.SetInput(map[string]any{"text": text, "more": numbers}) },
		"struct":     func(s *annotate.Handle) { s.SetOutput(struct{ Text *string }{&text}) },
		"raw":        func(s *annotate.Handle) { s.SetInput(json.RawMessage(data)) },
		"bytes":      func(s *annotate.Handle) { s.SetInput(data) },
		"attribute":  func(s *annotate.Handle) { s.SetAttribute("a", []any{text}) },
		"numbers":    func(s *annotate.Handle) { s.SetAttribute("a", numbers) },
		"group":      func(s *annotate.Handle) { s.SetAttributes("a", map[string]string{"b": text}) },
		"error":      func(s *annotate.Handle) { s.SetError("", errors.New(text)) },
		"ints":       func(s *annotate.Handle) { s.SetAttribute("a", make([]int, 1<<17)) },
		"int64s":     func(s *annotate.Handle) { s.SetAttribute("a", make([]int64, 1<<17)) },
		"bools":      func(s *annotate.Handle) { s.SetAttribute("a", make([]bool, 1<<20)) },
		"byte value": func(s *annotate.Handle) { s.SetAttributes(attribute.ByteSlice("a", data[:4<<20])) },
		"list value": func(s *annotate.Handle) {
			s.SetAttributes(attribute.Slice("a", attribute.StringValue(text), attribute.IntValue(1)))
		},
		"map value":  func(s *annotate.Handle) { s.SetAttributes(attribute.Map("a", attribute.String("b", text))) },
		"empty list": func(s *annotate.Handle) { s.SetAttribute("a", empty) },
	} {
		t.Run(name, func(t *testing.T) {
			_, s := c.Span(context.Background(), name)
			before := allocated()
			use(s)
			if cost := allocated() - before; cost > 16<<20 {
				t.Errorf("%d bytes were allocated", cost)
			}
			s.End(nil)
			if kept := sizeOf(spans.Span(name).One()); kept > 2<<20 {
				t.Errorf("the span keeps %d bytes", kept)
			}
		})
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func sizeOf(s *traces.Span) int {
	size := len(s.Status.Message)
	for _, a := range s.Attributes {
		size += len(a.Key) + len(a.Value.AsString()) + len(a.Value.AsBytes()) + 32*len(a.Value.AsArray())
	}
	return size
}

// What fits is encoding/json's; what does not is marked, with the number of bytes where it is known.
func TestMarkOfWhatIsCut(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	const limit = annotate.DefaultMaxCapturedBytes
	fits := map[string]string{"text": strings.Repeat("é", (limit-len(`{"text":""}`))/2)}
	for name, tt := range map[string]struct {
		in       any
		mime     string
		has, not string
	}{
		"fits":           {fits, annotate.MIMEJSON, `é"}`, "truncated"},
		"fits exactly":   {map[string]string{"text": strings.Repeat("x", limit-len(`{"text":""}`))}, annotate.MIMEJSON, `x"}`, "truncated"},
		"a byte more":    {map[string]string{"text": fits["text"] + "12"}, annotate.MIMEText, `12"…[truncated]`, "bytes"},
		"much more":      {map[string]string{"text": strings.Repeat("x", 10*limit)}, annotate.MIMEText, "x…[truncated]", "bytes"},
		"text":           {strings.Repeat("x", 10*limit), annotate.MIMEText, fmt.Sprintf("x…[truncated %d bytes]", 9*limit), ""},
		"escapes":        {map[string]string{"text": strings.Repeat("\x00", limit/2)}, annotate.MIMEText, fmt.Sprintf("…[truncated %d bytes]", len(`{"text":""}`)+6*limit/2-limit), ""},
		"numbers":        {make([]int, limit), annotate.MIMEText, "0,0…[truncated]", ""},
		"not characters": {[]byte(strings.Repeat("\x80", 2*limit)), annotate.MIMEText, "…[truncated]", "\uFFFD"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, s := c.Span(t.Context(), name, annotate.Input(tt.in))
			s.End(nil)
			got := spans.attrs(t, name)
			value := got[annotate.InputValueKey]
			if !strings.HasSuffix(value, tt.has) || tt.not != "" && strings.Contains(value, tt.not) || got[annotate.InputMIMETypeKey] != tt.mime {
				t.Errorf("%s, %d bytes, ends in %q", got[annotate.InputMIMETypeKey], len(value), value[len(value)-40:])
			}
		})
	}
}

// Small texts that are parts of large ones do not keep these.
func TestSpansKeepNoMoreThanTheyShow(t *testing.T) {
	const size, times = 1 << 20, 32
	body := func() string { return string(make([]byte, size)) + "a value" }
	part := func(s string) string { return s[size : size+5] }
	for name, use := range map[string]func(ctx context.Context, c *annotate.Client, s *annotate.Handle, small string){
		"input": func(_ context.Context, _ *annotate.Client, s *annotate.Handle, small string) { s.SetInput(small) },
		"output": func(ctx context.Context, c *annotate.Client, _ *annotate.Handle, small string) {
			c.SetOutput(ctx, small)
		},
		"bytes": func(_ context.Context, _ *annotate.Client, s *annotate.Handle, small string) {
			s.SetInput(json.RawMessage(small))
		},
		"value": func(_ context.Context, _ *annotate.Client, s *annotate.Handle, small string) {
			s.SetAttribute("a", small)
		},
		"key": func(_ context.Context, _ *annotate.Client, s *annotate.Handle, small string) {
			s.SetAttribute(small, 1)
		},
		"list": func(_ context.Context, _ *annotate.Client, s *annotate.Handle, small string) {
			s.SetAttribute("a", []string{small})
		},
		"kind": func(_ context.Context, _ *annotate.Client, s *annotate.Handle, small string) {
			s.SetAttribute("a", annotate.Kind(small))
		},
		"attribute": func(_ context.Context, _ *annotate.Client, s *annotate.Handle, small string) {
			s.SetAttributes(attribute.String("a", small))
		},
		"list value": func(_ context.Context, _ *annotate.Client, s *annotate.Handle, small string) {
			s.SetAttributes(attribute.Slice("a", attribute.StringValue(small), attribute.StringSliceValue([]string{small})))
		},
		"map value": func(_ context.Context, _ *annotate.Client, s *annotate.Handle, small string) {
			s.SetAttributes(attribute.Map("a", attribute.String(small, small)))
		},
		"user": func(ctx context.Context, c *annotate.Client, _ *annotate.Handle, small string) { c.SetUser(ctx, small) },
		"session": func(ctx context.Context, c *annotate.Client, _ *annotate.Handle, small string) {
			c.SetSession(ctx, small)
		},
		"tag": func(ctx context.Context, c *annotate.Client, _ *annotate.Handle, small string) { c.SetTags(ctx, small) },
		"metadata": func(ctx context.Context, c *annotate.Client, _ *annotate.Handle, small string) {
			c.SetMetadata(ctx, small, small)
		},
		"error": func(_ context.Context, _ *annotate.Client, s *annotate.Handle, small string) {
			s.SetError(small, errors.New(small))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, spans := start(t)
			before := heap()
			for range times {
				ctx, s := c.Span(context.Background(), "x")
				use(ctx, c, s, part(body()))
				s.End(nil)
			}
			if kept := heap() - before; kept > times*size/8 {
				t.Errorf("%d spans keep %d bytes", times, kept)
			}
			spans.Span("x").Times(times)
			runtime.KeepAlive(c)
		})
	}
}

// heap is how much is in use after a collection.
func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// Lists and maps of OpenTelemetry that fit are what they were.
func TestValuesThatFitStay(t *testing.T) {
	t.Parallel()
	c, spans := start(t, func(c *annotate.Config) { c.MaxCapturedBytes = 100 })
	_, s := c.Span(t.Context(), "x")
	s.SetAttributes(
		attribute.Slice("slice", attribute.StringValue("a"), attribute.IntValue(1)), attribute.Map("map", attribute.Bool("b", true)),
		attribute.ByteSlice("bytes", []byte("\x00\xff")), attribute.IntSlice("ints", []int{1, 2}), attribute.BoolSlice("bools", []bool{true}),
		attribute.Slice("long", attribute.StringValue(strings.Repeat("x", 200))),
	)
	s.SetAttribute("strings", []string{strings.Repeat("a", 60), strings.Repeat("b", 40), ""})
	s.End(nil)
	kinds := map[string]traces.ValueKind{}
	for _, a := range spans.Span("x").One().Attributes {
		kinds[a.Key] = a.Value.Kind()
	}
	for key, want := range map[string]traces.ValueKind{
		"slice": traces.ValueArray, "map": traces.ValueMap, "bytes": traces.ValueBytes, "ints": traces.ValueArray,
		"bools": traces.ValueArray, "long": traces.ValueString,
	} {
		if kinds[key] != want {
			t.Errorf("%s is a %v, want a %v", key, kinds[key], want)
		}
	}
	spans.has(t, "x", wanted{"strings": []string{strings.Repeat("a", 60), strings.Repeat("b", 40), ""}})
}

// A context that is kept does not keep what metrics and the sink got.
func TestKeptContextKeepsNoValues(t *testing.T) {
	t.Parallel()
	type value struct {
		_    [1 << 20]byte
		Name string
	}
	c, _ := start(t, live(&memorySink{}))
	in := &value{Name: "in"}
	gone := weak.Make(in)
	var kept context.Context
	_, err := annotate.Call(t.Context(), "x", in, func(ctx context.Context, v *value) (string, error) {
		kept = ctx //nolint:fatcontext // what a background job does
		return v.Name, nil
	}, c, annotate.Metrics(annotate.MetricFunc("m", length)))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	for end := time.Now().Add(30 * time.Second); gone.Value() != nil; runtime.GC() {
		if time.Now().After(end) {
			t.Fatal("the input is kept")
		}
	}
	runtime.KeepAlive(kept)
}

// Metadata has room for 64 KiB in all; a value that is replaced leaves its room.
func TestMetadataIsBoundedInBytes(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	ctx, s := c.Span(t.Context(), "x")
	for range 100 {
		c.SetMetadata(ctx, "same", strings.Repeat("x", 4000))
	}
	for i := range 50 {
		c.SetMetadata(ctx, fmt.Sprint("k", i), strings.Repeat("y", 4000))
	}
	s.End(nil)
	var meta map[string]string
	text := spans.attrs(t, "x")[annotate.MetadataKey]
	if err := json.Unmarshal([]byte(text), &meta); err != nil || len(text) > 66<<10 || len(meta) != 16 || meta["same"] == "" {
		t.Errorf("%d bytes, %d entries, %v", len(text), len(meta), err)
	}
	if d := c.Stats().Unannotated; d != 35 {
		t.Errorf("%d were dropped, want 35", d)
	}
}
