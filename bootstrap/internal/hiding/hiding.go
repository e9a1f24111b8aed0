// Package hiding keeps content out of attributes, as OpenInference's variables say.
//
// What is hidden is hidden wherever it appears: under its own names, under those of
// OpenTelemetry's conventions for generative AI, and inside of values that hold the
// whole of a call, such as input.value. Those are texts of any form; where something
// cannot be told from the rest, the whole is hidden. Token counts, models and timing
// have attributes of their own, which are never hidden.
//
// Spec: https://github.com/Arize-ai/openinference/blob/python-openinference-semantic-conventions-v0.1.21/spec/configuration.md
package hiding

import (
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"github.com/waymark-trace/waymark/env"
)

// Placeholder stands in place of what is hidden.
const Placeholder = "__REDACTED__"

// New returns a function that hides what h says: it changes an attribute, or reports
// false for one that is to be left out. It is nil when there is nothing to hide.
func New(h env.Hide) func(attribute.KeyValue) (attribute.KeyValue, bool) {
	m := mask{h: h, rules: rulesOf(h), parts: partsOf(h)}
	if len(m.rules) == 0 && !m.parts.any() {
		return nil
	}
	return m.attribute
}

type mask struct {
	h     env.Hide
	rules []rule
	parts parts
}

func (m *mask) attribute(kv attribute.KeyValue) (out attribute.KeyValue, keep bool) {
	defer func() {
		if recover() != nil { // what cannot be judged is hidden
			out, keep = attribute.KeyValue{}, false
		}
	}()
	key := string(kv.Key)
	for _, r := range m.rules {
		if r.matches(key) {
			kv.Value = attribute.StringValue(Placeholder)
			return kv, !r.drop
		}
	}
	e := editor{hidden: m.hiddenIn(key)}
	if e.hidden.any() {
		kv.Value = e.value(kv.Value)
	}
	return kv, true
}

// parts is what is hidden of a value.
type parts struct {
	texts      bool // everything that is text
	images     bool
	addresses  bool // of images
	longImages bool // those in base64 over limit
	limit      int
	tools      bool // definitions of tools
	parameters bool // of a model's invocation
	vectors    bool // of embeddings
}

func (p parts) any() bool {
	return p.texts || p.images || p.longImages || p.tools || p.parameters || p.vectors
}

func partsOf(h env.Hide) parts {
	return parts{
		texts:      h.InputText.V || h.OutputText.V || h.Prompts.V || h.Choices.V || h.EmbeddingsText.V,
		images:     h.InputImages.V,
		longImages: h.Base64ImageMaxLength.IsSet(),
		limit:      h.Base64ImageMaxLength.V,
		tools:      h.LLMTools.V || h.Inputs.V,
		parameters: h.LLMInvocationParameters.V,
		vectors:    h.EmbeddingsVectors.V || h.Outputs.V,
	}
}

// hiddenIn returns what is hidden of the value of a key.
func (m *mask) hiddenIn(key string) parts {
	p := m.parts
	p.images = p.images && !isOutput(key)
	switch key {
	case "input.value", "gen_ai.tool.call.arguments":
		p.texts = m.h.InputText.V || m.h.Prompts.V || m.h.EmbeddingsText.V
	case "output.value", "gen_ai.tool.call.result":
		p.texts = m.h.OutputText.V || m.h.Choices.V
	default:
		p.texts = false
	}
	p.addresses = p.images
	if !isContent(key) {
		p.addresses, p.tools, p.parameters, p.vectors = false, false, false, false
	}
	return p
}

// isContent reports whether a key is of what goes into a model or a tool, or comes out.
func isContent(key string) bool {
	for _, family := range []string{"input", "output", "llm", "gen_ai", "embedding", "tool", "retrieval", "reranker"} {
		if rest, ok := strings.CutPrefix(key, family); ok && rest != "" && rest[0] == '.' {
			return true
		}
	}
	return false
}

// isOutput reports whether a key is of what comes out.
func isOutput(key string) bool {
	for _, family := range []string{
		"output", "llm.output_messages", "llm.choices", "llm.function_call", "retrieval.documents", "reranker.output_documents",
		"gen_ai.output", "gen_ai.completion", "gen_ai.tool.call.result",
	} {
		if rest, ok := strings.CutPrefix(key, family); ok && (rest == "" || rest[0] == '.') {
			return true
		}
	}
	return false
}
