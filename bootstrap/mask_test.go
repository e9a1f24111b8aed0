package bootstrap_test

import (
	"fmt"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/capture/capturetest"
	"github.com/waymark-trace/waymark/env"
)

// maskPasswords hides passwords, and changes cards.
func maskPasswords(c *bootstrap.Config) {
	c.Mask = func(kv attribute.KeyValue) (attribute.KeyValue, bool) {
		switch kv.Key {
		case "password":
			return kv, false
		case "card":
			return attribute.String("card", "masked"), true
		case "boom":
			panic("mask")
		}
		return kv, true
	}
}

func secretAttributes() trace.SpanStartEventOption {
	return trace.WithAttributes(
		attribute.String("password", "hunter2"),
		attribute.String("card", "visa-4242"),
		attribute.String("boom", "hunter2"),
		attribute.String("kept", "yes"),
	)
}

func makeSecretSpan(t *testing.T, tp trace.TracerProvider) {
	t.Helper()
	link := trace.Link{SpanContext: trace.SpanContextFromContext(spanContext()), Attributes: []attribute.KeyValue{attribute.String("password", "hunter2")}}
	_, span := tp.Tracer("x").Start(t.Context(), "x", secretAttributes(), trace.WithLinks(link))
	span.AddEvent("e", secretAttributes())
	span.End()
}

func TestMaskInFrontOfProcessors(t *testing.T) {
	t.Parallel()
	p := &notingProcessor{}
	tracing, out := start(t, env.Map{"OTEL_TRACES_EXPORTER": "none", "OTEL_RESOURCE_ATTRIBUTES": "password=hunter2,kept=yes"}, maskPasswords, withProcessor(p))
	makeSecretSpan(t, tracing.TracerProvider())
	span := p.ended[0]
	seen := fmt.Sprint(span.Attributes(), span.Events(), span.Links(), span.Resource(),
		p.started[0].Attributes(), p.started[0].Events(), p.started[0].Links(), p.started[0].Resource())
	for _, secret := range []string{"hunter2", "visa-4242", "password", "boom"} {
		if strings.Contains(seen, secret) {
			t.Errorf("a processor sees %q: %s", secret, seen)
		}
	}
	if strings.Count(seen, "kept") < 4 || strings.Count(seen, "masked") < 2 {
		t.Errorf("more is hidden than the mask says: %s", seen)
	}
	if strings.Count(out.String(), "panic in Config.Mask") != 1 {
		t.Errorf("a mask that panics is not logged once: %s", out)
	}
	if strings.Contains(out.String(), "hunter2") {
		t.Errorf("a secret is in the log: %s", out)
	}
}

func TestHide(t *testing.T) {
	t.Parallel()
	const (
		placeholder = "__REDACTED__"
		dropped     = ""
		same        = "secret"
	)
	image := "data:image/png;base64," + strings.Repeat("A", 100)
	for _, c := range []struct {
		variable, value string
		want            map[string]string
	}{
		{"INPUTS", "true", map[string]string{
			"input.value": placeholder, "input.mime_type": dropped, "llm.input_messages.0.message.content": dropped,
			"llm.tools.0.tool.json_schema": dropped, "llm.prompts.0.prompt.text": placeholder,
			"gen_ai.input.messages": dropped, "gen_ai.system_instructions": dropped, "gen_ai.tool.definitions": dropped,
			"gen_ai.tool.call.arguments": dropped, "gen_ai.output.messages": same,
			"output.value": same, "llm.model_name": same, "llm.token_count.prompt": same, "input.values": same,
		}},
		{"OUTPUTS", "TRUE", map[string]string{
			"output.value": placeholder, "output.mime_type": dropped, "llm.output_messages.0.message.content": dropped,
			"llm.choices.0.completion.text": placeholder, "input.value": same,
			"gen_ai.output.messages": dropped, "gen_ai.tool.call.result": dropped, "gen_ai.input.messages": same,
		}},
		{"INPUT_MESSAGES", "true", map[string]string{"gen_ai.input.messages": dropped, "llm.input_messages.0.message.content": dropped, "input.value": placeholder, "input.mime_type": dropped, "output.value": same}},
		{"OUTPUT_MESSAGES", "true", map[string]string{"gen_ai.output.messages": dropped, "llm.output_messages.0.message.content": dropped, "output.value": placeholder, "input.value": same}},
		{"INPUT_TEXT", "true", map[string]string{
			"llm.input_messages.0.message.content": placeholder, "llm.input_messages.0.message.role": same,
			"llm.input_messages.0.message.contents.0.message_content.text": placeholder, "llm.output_messages.0.message.content": same,
		}},
		{"OUTPUT_TEXT", "true", map[string]string{"gen_ai.output.messages": dropped, "llm.output_messages.0.message.content": placeholder, "llm.input_messages.0.message.content": same}},
		{"INPUT_IMAGES", "true", map[string]string{
			"llm.input_messages.0.message.contents.0.message_content.image.image.url": dropped, "llm.input_messages.0.message.content": same,
		}},
		{"LLM_INVOCATION_PARAMETERS", "true", map[string]string{"llm.invocation_parameters": dropped, "llm.model_name": same}},
		{"LLM_TOOLS", "true", map[string]string{"gen_ai.tool.definitions": dropped, "llm.tools.0.tool.json_schema": dropped, "llm.toolset": same}},
		{"PROMPTS", "true", map[string]string{"llm.prompts.0.prompt.text": placeholder}},
		{"CHOICES", "true", map[string]string{"llm.choices.0.completion.text": placeholder}},
		{"EMBEDDINGS_VECTORS", "true", map[string]string{"embedding.embeddings.0.embedding.vector": placeholder, "embedding.embeddings.0.embedding.text": same}},
		{"EMBEDDINGS_TEXT", "true", map[string]string{"embedding.embeddings.0.embedding.text": placeholder, "embedding.model_name": same}},
	} {
		t.Run(c.variable, func(t *testing.T) {
			t.Parallel()
			_, tr := capturetest.Start(t)
			vars := none()
			vars["OPENINFERENCE_HIDE_"+c.variable] = c.value
			vars["OPENINFERENCE_BASE64_IMAGE_MAX_LENGTH"] = "50"
			tracing, _ := start(t, vars, withProcessor(tr.Processor()))
			_, span := tracing.TracerProvider().Tracer("x").Start(t.Context(), "x")
			for key := range c.want {
				span.SetAttributes(attribute.String(key, same))
			}
			span.SetAttributes(attribute.String("message_content.image.image.url", image), attribute.String("short.image.url", "data:image/png;base64,A"))
			span.End()
			s := tr.Span("x").Attr("message_content.image.image.url", placeholder)
			if got, _ := s.One().Attr("short.image.url"); (got.AsString() == placeholder) != (c.variable == "INPUT_IMAGES") {
				t.Errorf("a short image is %q", got.AsString())
			}
			for key, want := range c.want {
				if want == dropped {
					s.NoAttr(key)
				} else {
					s.Attr(key, want)
				}
			}
		})
	}
}

// What the variables hide is hidden from Mask too, and both are at work.
func TestHideAndMask(t *testing.T) {
	t.Parallel()
	_, tr := capturetest.Start(t)
	vars := none()
	vars["OPENINFERENCE_HIDE_INPUTS"] = "true"
	var seen []string
	tracing, _ := start(t, vars, withProcessor(tr.Processor()), func(c *bootstrap.Config) {
		c.Mask = func(kv attribute.KeyValue) (attribute.KeyValue, bool) {
			if kv.Key == "input.value" {
				seen = append(seen, kv.Value.AsString())
			}
			return kv, kv.Key != "extra"
		}
	})
	_, span := tracing.TracerProvider().Tracer("x").Start(t.Context(), "x",
		trace.WithAttributes(attribute.String("input.value", "secret"), attribute.String("extra", "x"), attribute.String("input.mime_type", "x")))
	span.End()
	attrs := tr.Span("x").One().Attributes
	if len(attrs) != 1 || strings.Contains(fmt.Sprint(seen, attrs), "secret") {
		t.Errorf("attributes %v, the mask saw %q", attrs, seen)
	}
}

// What leaves by another way than a span is masked by the same function.
func TestTracingMask(t *testing.T) {
	t.Parallel()
	vars := none()
	vars["OPENINFERENCE_HIDE_INPUTS"] = "true"
	tracing, _ := start(t, vars, maskPasswords, withProcessor(&notingProcessor{}))
	if kv, keep := tracing.Mask(attribute.String("input.value", "secret")); kv.Value.AsString() != "__REDACTED__" || !keep {
		t.Errorf("input.value: %v, %v", kv, keep)
	}
	if kv, keep := tracing.Mask(attribute.String("password", "hunter2")); keep {
		t.Errorf("password: %v is kept", kv)
	}
	plain, _ := start(t, none())
	if kv, keep := plain.Mask(attribute.String("password", "hunter2")); kv.Value.AsString() != "hunter2" || !keep {
		t.Errorf("without a mask: %v, %v", kv, keep)
	}
}
