package annotate_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/waymark-trace/waymark/annotate"
	"github.com/waymark-trace/waymark/traces"
)

var errOut = errors.New("out of paper")

type question struct {
	Text string `json:"text"`
	Top  int    `json:"top"`
}

func TestFuncIsASpan(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	answer := annotate.Func("answer", func(ctx context.Context, q question) (string, error) {
		_, inner := c.Span(ctx, "inner")
		inner.End(nil)
		return "<" + q.Text + ">", nil
	}, annotate.Agent, annotate.Attributes(attribute.Int("n", 1)), c)
	got, err := answer(t.Context(), question{"wärum?", 3})
	if got != "<wärum?>" || err != nil {
		t.Errorf("answer = %q, %v", got, err)
	}
	spans.has(t, "answer", wanted{
		annotate.SpanKindKey: "AGENT", "n": 1,
		annotate.InputValueKey: `{"text":"wärum?","top":3}`, annotate.InputMIMETypeKey: annotate.MIMEJSON,
		annotate.OutputValueKey: "<wärum?>", annotate.OutputMIMETypeKey: annotate.MIMEText,
	})
	spans.has(t, "inner", wanted{annotate.SpanKindKey: "CHAIN", annotate.InputValueKey: ""})
	outer, inner := spans.Span("answer").One(), spans.Span("inner").One()
	if inner.ParentID != outer.SpanID || outer.Kind != traces.KindInternal {
		t.Errorf("the inner span is not a child of the outer one: %v", inner.ParentID)
	}
	if outer.ScopeName() != annotate.ScopeName {
		t.Errorf("scope %q", outer.ScopeName())
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	want := "CHAIN LLM RETRIEVER RERANKER TOOL AGENT GUARDRAIL EMBEDDING EVALUATOR PROMPT"
	var got []string
	for _, kind := range []annotate.Kind{
		annotate.Chain, annotate.LLM, annotate.Retriever, annotate.Reranker, annotate.Tool, annotate.Agent,
		annotate.Guardrail, annotate.Embedding, annotate.Evaluator, annotate.Prompt,
	} {
		_, s := c.Span(t.Context(), string(kind), kind)
		s.End(nil)
		got = append(got, spans.attrs(t, string(kind))[annotate.SpanKindKey])
	}
	if strings.Join(got, " ") != want {
		t.Errorf("kinds %q, want %q", got, want)
	}
}

func named(context.Context, int) (int, error) { return 0, nil }

type service struct{}

func (*service) Answer(context.Context, int) (int, error) { return 0, nil }

func TestEmptyNameIsTheFunctions(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	for _, f := range []func(context.Context, int) (int, error){
		annotate.Func("", named, c),
		annotate.Func("", (&service{}).Answer, c),
		annotate.Func("", func(context.Context, int) (int, error) { return 0, nil }, c),
	} {
		if _, err := f(t.Context(), 1); err != nil {
			t.Error(err)
		}
	}
	if err := c.Do(t.Context(), "", func(context.Context) error { return nil }); err != nil {
		t.Error(err)
	}
	_, s := c.Span(t.Context(), "")
	s.End(nil)
	var got []string
	for _, s := range spans.Spans().All() {
		got = append(got, s.Name)
	}
	want := "named,service.Answer,TestEmptyNameIsTheFunctions,TestEmptyNameIsTheFunctions,TestEmptyNameIsTheFunctions"
	if strings.Join(got, ",") != want {
		t.Errorf("names %q, want %s", got, want)
	}
}

// ends are the ways in which work ends, as a span is to show them.
func TestEndings(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	block := func(c *annotate.Client, fn func() error) func(context.Context) error {
		return func(ctx context.Context) (err error) {
			_, s := c.Span(ctx, "work")
			defer s.End(&err)
			return fn()
		}
	}
	do := func(c *annotate.Client, fn func() error) func(context.Context) error {
		return func(ctx context.Context) error {
			return c.Do(ctx, "work", func(context.Context) error { return fn() })
		}
	}
	for _, form := range []struct {
		name string
		wrap func(*annotate.Client, func() error) func(context.Context) error
	}{{"block", block}, {"do", do}} {
		for _, tt := range []struct {
			name        string
			fn          func() error
			err         error
			panics      any
			status      traces.StatusCode
			description string
			errType     string
			stack       bool
		}{
			{"well", func() error { return nil }, nil, nil, traces.StatusUnset, "", "", false},
			{"error", func() error { return errOut }, errOut, nil, traces.StatusError, "out of paper", "*errors.errorString", false},
			{"panic", func() error { panic(boom) }, nil, boom, traces.StatusError, "boom", "*errors.errorString", true},
			{"panic with no error", func() error { panic("text") }, nil, "text", traces.StatusError, "text", "string", true},
			{
				"error that panics", func() error { return badError{} },
				badError{},
				nil, traces.StatusError,
				"<not encodable: annotate_test.badError>", "github.com/waymark-trace/waymark/annotate_test.badError", false,
			},
		} {
			t.Run(form.name+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				c, spans := start(t)
				var err error
				panicked := func() (p any) {
					defer func() { p = recover() }()
					err = form.wrap(c, tt.fn)(t.Context())
					return nil
				}()
				if err != tt.err || panicked != tt.panics { //nolint:errorlint // the error itself is wanted, not one that wraps it
					t.Errorf("returned %v, panicked %v", err, panicked)
				}
				s := spans.Span("work").One()
				if s.Status.Code != tt.status || s.Status.Message != tt.description {
					t.Errorf("status %+v, want %v %q", s.Status, tt.status, tt.description)
				}
				spans.has(t, "work", wanted{"error.type": tt.errType})
				if tt.status == traces.StatusUnset {
					return
				}
				if len(s.Events) != 1 {
					t.Fatalf("events %v", s.Events)
				}
				event := texts(s.Events[0].Attributes)
				if event["exception.message"] != tt.description || event["exception.type"] != tt.errType ||
					strings.Contains(event["exception.stacktrace"], "TestEndings") != tt.stack {
					t.Errorf("event %v", event)
				}
			})
		}
	}
}

type badError struct{}

func (badError) Error() string { panic("no text") }

func TestGoexitIsAnError(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = c.Do(context.Background(), "work", func(context.Context) error { runtime.Goexit(); return nil })
	}()
	<-done
	if s := spans.Span("work").One(); s.Status.Message != "goexit" || s.Status.Code != traces.StatusError {
		t.Errorf("status %+v", s.Status)
	}
}

func TestNoInputNoOutput(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	echo := func(_ context.Context, s string) (string, error) { return s, nil }
	_, _ = annotate.Call(t.Context(), "none", "x", echo, annotate.NoInput(), annotate.NoOutput(), c)
	_, _ = annotate.Call(t.Context(), "in", "x", echo, annotate.NoOutput(), c)
	_, _ = annotate.Call(t.Context(), "out", "x", echo, annotate.NoInput(), c)
	absent := wanted{annotate.InputValueKey: "", annotate.InputMIMETypeKey: "", annotate.OutputValueKey: "", annotate.OutputMIMETypeKey: ""}
	spans.has(t, "none", absent)
	spans.has(t, "in", wanted{annotate.InputValueKey: "x", annotate.OutputValueKey: ""})
	spans.has(t, "out", wanted{annotate.InputValueKey: "", annotate.OutputValueKey: "x"})
}

func TestRedaction(t *testing.T) {
	t.Parallel()
	type login struct {
		User     string `json:"user"`
		Password string `json:"password"`
		internal int
	}
	const secret = "hunter2"
	in := login{"ada", secret, 7}
	fn := func(_ context.Context, l login) (login, error) { return l, nil }
	hide := func(field string, v any) any {
		if field == "password" {
			return "***"
		}
		return v
	}
	for _, tt := range []struct {
		name       string
		opt        annotate.FuncOption
		input, out string
	}{
		{"fields", annotate.Redact(hide), `{"user":"ada","password":"***"}`, ""},
		{"fields that panic", annotate.Redact(func(field string, v any) any {
			if field == "password" {
				panic(v)
			}
			return v
		}), `{"user":"ada","password":"<redact error>"}`, ""},
		{"input", annotate.RedactInput(func(l login) any { return l.User }), "ada", ""},
		{"input that panics", annotate.RedactInput(func(l login) any { panic(l) }), annotate.RedactionFailed, ""},
		{"input of another type", annotate.RedactInput(func(s string) any { return s }), annotate.RedactionFailed, ""},
		{"output", annotate.RedactOutput(func(l login) any { return len(l.Password) }), "", "7"},
		{"output that panics", annotate.RedactOutput(func(l login) any { panic(l) }), "", annotate.RedactionFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, spans := start(t)
			out, err := annotate.Call(t.Context(), "x", in, fn, tt.opt, c)
			if out != in || err != nil {
				t.Errorf("the function got or gave something else: %v, %v", out, err)
			}
			got := spans.attrs(t, "x")
			if tt.input != "" && got[annotate.InputValueKey] != tt.input {
				t.Errorf("input %q, want %q", got[annotate.InputValueKey], tt.input)
			}
			if tt.out != "" && got[annotate.OutputValueKey] != tt.out {
				t.Errorf("output %q, want %q", got[annotate.OutputValueKey], tt.out)
			}
		})
	}
}

// A map and a scalar have fields too.
func TestRedactFieldsOfOtherInputs(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	upper := annotate.Redact(func(field string, v any) any { return field + "!" + fmt.Sprint(v) })
	_, _ = annotate.Call(t.Context(), "map", map[string]int{"b": 2, "a": 1}, func(context.Context, map[string]int) (int, error) { return 0, nil }, upper, c)
	_, _ = annotate.Call(t.Context(), "scalar", "x", func(context.Context, string) (int, error) { return 0, nil }, upper, c)
	_, _ = annotate.Call(t.Context(), "time", time.Unix(0, 0).UTC(), func(context.Context, time.Time) (int, error) { return 0, nil }, upper, c)
	spans.has(t, "map", wanted{annotate.InputValueKey: `{"a":"a!1","b":"b!2"}`})
	spans.has(t, "scalar", wanted{annotate.InputValueKey: "input!x"})
	spans.has(t, "time", wanted{annotate.InputValueKey: "input!1970-01-01 00:00:00 +0000 UTC"})
}

func TestValuesAreCutAtACharacter(t *testing.T) {
	t.Parallel()
	c, spans := start(t, func(c *annotate.Config) { c.MaxCapturedBytes = 10 })
	_, s := c.Span(t.Context(), "x", annotate.Input("123456789é123"))
	s.SetOutput([]string{"123456789", "123456789"})
	s.SetAttribute("ten", "1234567890")
	s.SetAttribute("bad", "a\xffb")
	s.SetAttribute("list", []string{"12345", "", "678901", "2", "3"})
	s.SetAttribute("value", attribute.StringValue("12345678901"))
	s.SetAttribute("values", attribute.StringSliceValue([]string{"12345678901"}))
	s.End(nil)
	spans.has(t, "x", wanted{
		annotate.InputValueKey:     "123456789…[truncated 5 bytes]",
		annotate.OutputValueKey:    `["12345678…[truncated 15 bytes]`,
		annotate.OutputMIMETypeKey: annotate.MIMEText, // no JSON any more
		"ten":                      "1234567890", "bad": "a\uFFFDb",
		"list":   []string{"12345", "", "67890…[truncated 1 bytes]", "…[truncated 2 strings]"},
		"value":  "1234567890…[truncated 1 bytes]",
		"values": []string{"1234567890…[truncated 1 bytes]"},
	})
}

func TestHandleOfNothing(t *testing.T) {
	t.Parallel()
	c, err := annotate.New(annotate.Config{Tracing: off(t)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, s := c.Span(t.Context(), "x", annotate.Input(1))
	for _, s := range []*annotate.Handle{nil, s} {
		s.SetInput(1)
		s.SetOutput(1)
		s.SetAttribute("a", 1)
		s.SetAttributes("a", 1)
		s.SetError("x", errOut)
		if s.Recording() || s.TraceID() != "" || s.SpanID() != "" {
			t.Errorf("handle %v", s)
		}
		s.End(nil)
		s.End(&err)
	}
	annotate.SetInput(ctx, 1)
	annotate.SetOutput(ctx, 1)
	annotate.SetAttribute(ctx, "a", 1)
	annotate.SetAttributes(ctx, "a", 1)
	annotate.SetError(ctx, "x", nil)
	c.SetInput(ctx, 1)
	c.SetUser(ctx, "u")
	if id, ok := annotate.TraceID(ctx); id != "" || ok {
		t.Errorf("TraceID = %q, %v", id, ok)
	}
	var nilContext context.Context
	c.SetUser(nilContext, "u")
	if got, err := annotate.Call(ctx, "x", 1, func(_ context.Context, n int) (int, error) { return n, errOut }, c); got != 1 || !errors.Is(err, errOut) {
		t.Errorf("Call = %v, %v", got, err)
	}
}

func TestHandleSetters(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	ctx, outer := c.Span(t.Context(), "outer")
	_, s := c.Span(ctx, "x")
	if id, ok := annotate.TraceID(ctx); !ok || id != s.TraceID() || len(id) != 32 || len(s.SpanID()) != 16 || !s.Recording() {
		t.Errorf("ids %q, %q, %q", id, s.TraceID(), s.SpanID())
	}
	s.SetInput(true)
	s.SetOutput(1.5)
	s.SetAttribute("list", []string{"a", "b"})
	s.SetAttribute("kind", annotate.LLM)
	s.SetAttribute("big", uint64(math.MaxUint64))
	s.SetAttribute("error", errOut)
	s.SetAttribute("func", func() {})
	s.SetAttribute("nil", nil)
	s.SetAttributes("a", 1, slog.Bool("b", true), attribute.Float64("c", 2.5), map[string]any{"d": map[string]int{"e": 1}}, "alone")
	s.SetError("went wrong", errOut)
	s.End(nil)
	s.SetAttribute("late", 1)
	s.End(nil)
	outer.SetError("only words", nil)
	outer.End(nil)
	spans.has(t, "x", wanted{
		annotate.InputValueKey: "true", annotate.InputMIMETypeKey: annotate.MIMEText, annotate.OutputValueKey: "1.5",
		"list": []string{"a", "b"}, "kind": "LLM", "big": "18446744073709551615", "error": "out of paper",
		"func": "<not encodable: func()>", "nil": "null", "a": 1, "b": true, "c": 2.5, "d": `{"e":1}`, "!BADKEY": "alone", "late": "",
	})
	spans.has(t, "outer", wanted{annotate.InputValueKey: "", "a": ""})
	if st := spans.Span("x").One().Status; st.Message != "went wrong" || len(spans.Span("x").One().Events) != 1 {
		t.Errorf("status %+v", st)
	}
	if st := spans.Span("outer").One().Status; st.Message != "only words" || len(spans.Span("outer").One().Events) != 0 {
		t.Errorf("status %+v", st)
	}
}

// The package's setters hit the nearest span of this package, not one of another library in between, and a
// client's own hit the nearest of that client.
func TestSettersOfTheCurrentSpan(t *testing.T) {
	t.Parallel()
	a, spansA := start(t)
	b, spansB := start(t)
	ctx, outer := a.Span(t.Context(), "a")
	ctx, inner := b.Span(ctx, "b")
	ctx, client := noop.NewTracerProvider().Tracer("").Start(ctx, "HTTP")
	annotate.SetAttribute(ctx, "nearest", 1)
	annotate.SetInput(ctx, "in")
	annotate.SetOutput(ctx, "out")
	annotate.SetError(ctx, "bad", nil)
	a.SetAttributes(ctx, "mine", 1)
	a.SetAttribute(ctx, "mine too", 1)
	a.SetInput(ctx, "in of a")
	a.SetOutput(ctx, "out of a")
	a.SetError(ctx, "bad a", nil)
	client.End()
	inner.End(nil)
	outer.End(nil)
	spansB.has(t, "b", wanted{"nearest": 1, "mine": "", annotate.InputValueKey: "in", annotate.OutputValueKey: "out"})
	spansA.has(t, "a", wanted{"nearest": "", "mine": 1, "mine too": 1, annotate.InputValueKey: "in of a", annotate.OutputValueKey: "out of a"})
	if spansB.Span("b").One().Status.Message != "bad" || spansA.Span("a").One().Status.Message != "bad a" {
		t.Error("SetError hit another span")
	}
}

func TestOutputThatWasToldStays(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	_, _ = annotate.Call(t.Context(), "x", 1, func(ctx context.Context, _ int) (string, error) {
		annotate.SetOutput(ctx, "told")
		return "returned", nil
	}, c)
	_, _ = annotate.Call(t.Context(), "failed", 1, func(context.Context, int) (string, error) { return "", errOut }, c)
	spans.has(t, "x", wanted{annotate.OutputValueKey: "told"})
	spans.has(t, "failed", wanted{annotate.OutputValueKey: "", "error.type": "*errors.errorString"})
}

func TestSuppress(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	ctx, s := c.Span(t.Context(), "x")
	quiet := annotate.Suppress(ctx)
	_, inner := c.Span(quiet, "inner")
	inner.End(nil)
	annotate.SetAttribute(quiet, "a", 1)
	s.End(nil)
	if n := len(spans.Spans().All()); n != 1 {
		t.Errorf("%d spans, want 1", n)
	}
	spans.has(t, "x", wanted{"a": ""})
}
