package bootstrap

import (
	"errors"
	"fmt"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/env"
)

// redacted stands in place of content that OPENINFERENCE_HIDE_* keeps out.
const redacted = "__REDACTED__"

// newMask joins the program's mask and the switches of OPENINFERENCE_HIDE_*;
// nil when there is nothing to hide.
func newMask(user func(attribute.KeyValue) (attribute.KeyValue, bool), h env.Hide, diag *diagnostics) maskFunc {
	hide := hideMask(h)
	if user == nil {
		return hide
	}
	return func(kv attribute.KeyValue) (out attribute.KeyValue, keep bool) {
		// What cannot be judged is hidden; a panic here would end the program.
		defer func() {
			if p := recover(); p != nil {
				diag.report("mask", fmt.Errorf("panic in Config.Mask, attribute %q hidden", string(kv.Key)))
				out, keep = attribute.KeyValue{}, false
			}
		}()
		if hide != nil {
			if kv, keep = hide(kv); !keep {
				return kv, false
			}
		}
		return user(kv)
	}
}

// maskedSampler lets a sampler see what the mask leaves.
type maskedSampler struct {
	next sdktrace.Sampler
	mask maskFunc
}

func (s maskedSampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	p.Attributes = s.mask.attributes(p.Attributes)
	if len(p.Links) > 0 {
		links := append(p.Links[:0:0], p.Links...)
		for i := range links {
			links[i].Attributes = s.mask.attributes(links[i].Attributes)
		}
		p.Links = links
	}
	return s.next.ShouldSample(p)
}

func (s maskedSampler) Description() string { return s.next.Description() }

// hideMask is the table of OpenInference's switches; nil when none is on.
// Token counts, model and timing are never hidden.
//
// Spec: https://github.com/Arize-ai/openinference/blob/python-openinference-semantic-conventions-v0.1.21/spec/configuration.md
func hideMask(h env.Hide) maskFunc {
	inputs, outputs := h.Inputs.V, h.Outputs.V
	rules := []hideRule{
		{on: inputs, exact: "input.value"},
		{on: inputs, exact: "input.mime_type", drop: true},
		{on: inputs || h.InputMessages.V, prefix: "llm.input_messages", drop: true},
		{on: inputs || h.LLMTools.V, prefix: "llm.tools", drop: true},
		{on: inputs || h.Prompts.V, prefix: "llm.prompts"},
		{on: outputs, exact: "output.value"},
		{on: outputs, exact: "output.mime_type", drop: true},
		{on: outputs || h.OutputMessages.V, prefix: "llm.output_messages", drop: true},
		{on: outputs || h.Choices.V, prefix: "llm.choices"},
		{on: h.LLMInvocationParameters.V, exact: "llm.invocation_parameters", drop: true},
		{on: h.InputImages.V, prefix: "llm.input_messages", suffix: "image.url", drop: true},
		{on: h.InputText.V, prefix: "llm.input_messages", suffix: "message.content"},
		{on: h.InputText.V, prefix: "llm.input_messages", suffix: "message_content.text"},
		{on: h.OutputText.V, prefix: "llm.output_messages", suffix: "message.content"},
		{on: h.OutputText.V, prefix: "llm.output_messages", suffix: "message_content.text"},
		{on: h.EmbeddingsVectors.V, prefix: "embedding.embeddings", suffix: "embedding.vector"},
		{on: h.EmbeddingsText.V, prefix: "embedding.embeddings", suffix: "embedding.text"},
		// The same content under the names of OpenTelemetry's GenAI conventions,
		// where messages are one text, so that only a whole one can be hidden.
		{on: inputs || h.InputMessages.V || h.InputText.V, exact: "gen_ai.input.messages", drop: true},
		{on: inputs || h.InputMessages.V || h.InputText.V, exact: "gen_ai.system_instructions", drop: true},
		{on: inputs || h.LLMTools.V, exact: "gen_ai.tool.definitions", drop: true},
		{on: inputs, exact: "gen_ai.tool.call.arguments", drop: true},
		{on: outputs || h.OutputMessages.V || h.OutputText.V, exact: "gen_ai.output.messages", drop: true},
		{on: outputs, exact: "gen_ai.tool.call.result", drop: true},
	}
	on := rules[:0]
	for _, r := range rules {
		if r.on {
			on = append(on, r)
		}
	}
	limit := h.Base64ImageMaxLength
	if len(on) == 0 && !limit.IsSet() {
		return nil
	}
	return func(kv attribute.KeyValue) (attribute.KeyValue, bool) {
		key := string(kv.Key)
		for _, r := range on {
			if r.matches(key) {
				kv.Value = attribute.StringValue(redacted)
				return kv, !r.drop
			}
		}
		if limit.IsSet() && isLongImage(kv, limit.V) {
			kv.Value = attribute.StringValue(redacted)
		}
		return kv, true
	}
}

type hideRule struct {
	on, drop              bool
	exact, prefix, suffix string
}

func (r hideRule) matches(key string) bool {
	if r.exact != "" {
		return key == r.exact
	}
	rest, ok := strings.CutPrefix(key, r.prefix)
	return ok && (rest == "" || rest[0] == '.') && strings.HasSuffix(rest, r.suffix)
}

func isLongImage(kv attribute.KeyValue, limit int) bool {
	if kv.Value.Type() != attribute.STRING || !strings.HasSuffix(string(kv.Key), "image.url") {
		return false
	}
	url := kv.Value.AsString()
	return len(url) > limit && strings.HasPrefix(url, "data:image/") && strings.Contains(url, "base64")
}

var (
	errPanic   = errors.New("panic")
	errGoexit  = errors.New("ended its goroutine")
	errUnknown = errors.New("unknown error")
)

// safely turns a panic of the program's code into an error.
func safely(what string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: %w: %v", what, errPanic, p)
		}
	}()
	if err = f(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
