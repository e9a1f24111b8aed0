package annotate_test

import (
	"log/slog"
	"testing"

	"go.opentelemetry.io/otel/attribute"

	"github.com/waymark-trace/waymark/annotate"
)

type fieldName string

const color fieldName = "color"

// pairsForms are the forms in which keys and values come; all say the same.
var pairsForms = []struct {
	name  string
	pairs []any
}{
	{"strings", []any{"llm.model_name", "m", "color", "red", "n", 3}},
	{"keys of types", []any{annotate.LLMModelNameKey, "m", color, "red", attribute.Key("n"), 3}},
	{"attributes", []any{annotate.LLMModelNameKey.String("m"), slog.String("color", "red"), attribute.Int("n", 3)}},
	{"mixed", []any{annotate.LLMModelNameKey.String("m"), color, "red", slog.Int("n", 3)}},
	{"lists", []any{
		[]attribute.KeyValue{annotate.LLMModelNameKey.String("m")},
		[]slog.Attr{slog.String("color", "red"), slog.Int("n", 3)},
	}},
	{"a set", []any{attribute.NewSet(annotate.LLMModelNameKey.String("m"), attribute.String("color", "red"), attribute.Int("n", 3))}},
	{"maps", []any{
		map[attribute.Key]any{annotate.LLMModelNameKey: "m"}, map[string]string{"color": "red"}, map[fieldName]int{"n": 3},
	}},
}

// A key is a string of whatever type: that of a constant of this package, too.
func TestKeysOfAnyStringType(t *testing.T) {
	t.Parallel()
	for _, form := range pairsForms {
		t.Run(form.name, func(t *testing.T) {
			t.Parallel()
			c, spans := start(t)
			ctx, s := c.Span(t.Context(), "x")
			s.SetAttributes(form.pairs...)
			s.End(nil)
			spans.has(t, "x", wanted{"llm.model_name": "m", "color": "red", "n": 3, "!BADKEY": ""})
			ctx, s = c.Span(ctx, "meta")
			c.SetMetadata(ctx, form.pairs...)
			s.End(nil)
			ctx = annotate.With(t.Context(), annotate.Meta(form.pairs...))
			_, s = c.Span(ctx, "block")
			s.End(nil)
			want := `{"llm.model_name":"m","color":"red","n":3}`
			if form.name == "a set" { // which has an order of its own
				want = `{"color":"red","llm.model_name":"m","n":3}`
			}
			spans.has(t, "meta", wanted{annotate.MetadataKey: want})
			spans.has(t, "block", wanted{annotate.MetadataKey: want})
		})
	}
}

// What is neither a key nor holds pairs is a value without a key, and moves no other pair.
func TestValueWithoutAKey(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	_, s := c.Span(t.Context(), "x")
	s.SetAttributes(7, "a", 1, map[int]string{1: "x"}, "b", 2, nil, "c", 3, color)
	s.End(nil)
	spans.has(t, "x", wanted{"a": 1, "b": 2, "c": 3, "!BADKEY": "color"})
}
