package hiding

import (
	"strings"

	"github.com/waymark-trace/waymark/env"
)

// rule hides the whole value of the attributes that it matches: exact is a key; or
// family is what a key begins with, as a whole element, and suffixes are what it may
// end in. not are suffixes of keys that stay.
type rule struct {
	on, drop bool
	exact    string
	family   string
	suffixes []string
	not      []string
}

func (r *rule) matches(key string) bool {
	if r.exact != "" {
		return key == r.exact
	}
	rest, ok := strings.CutPrefix(key, r.family)
	if !ok || rest != "" && rest[0] != '.' {
		return false
	}
	return (r.suffixes == nil || endsIn(rest, r.suffixes)) && !endsIn(rest, r.not)
}

func endsIn(s string, suffixes []string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(s, suffix) {
			return true
		}
	}
	return false
}

// structure is what a message has beside its text.
func structure() []string {
	return []string{
		".message.role", ".message.name", ".message_content.type", ".mime_type", "image.url",
		".tool_call.id", ".tool_call.function.name", ".message.tool_call_id", ".message.function_call_name",
	}
}

// images are the attributes of an image in a message.
func images() []string { return []string{"image.url", ".file.url", ".file.file_id", ".file.name"} }

// documents are the texts of a document.
func documents() []string { return []string{".document.content", ".document.metadata"} }

// rulesOf returns the rules that are on.
func rulesOf(h env.Hide) []rule {
	all := append(inputRules(h), outputRules(h)...)
	on := all[:0]
	for _, r := range all {
		if r.on {
			on = append(on, r)
		}
	}
	return on
}

func inputRules(h env.Hide) []rule {
	inputs := h.Inputs.V
	messages := inputs || h.InputMessages.V
	texts := messages || h.InputText.V
	prompts := texts || h.Prompts.V
	tools := inputs || h.LLMTools.V
	return []rule{
		{on: messages, exact: "input.value"},
		{on: messages, exact: "input.mime_type", drop: true},
		{on: messages, family: "llm.input_messages", drop: true},
		{on: h.InputText.V, family: "llm.input_messages", not: structure()},
		{on: h.InputImages.V, family: "llm.input_messages", suffixes: images(), drop: true},
		{on: inputs || h.InputImages.V, family: "input.images", drop: true},
		{on: inputs, family: "input.audio", drop: true},
		{on: texts, family: "input.audio", suffixes: []string{".transcript"}},
		{on: texts, exact: "audio.transcript"},
		{on: inputs, exact: "audio.url"},
		{on: texts, family: "reranker", suffixes: []string{".query"}},
		{on: texts, family: "reranker.input_documents", suffixes: documents()},
		{on: texts || h.EmbeddingsText.V, family: "embedding", suffixes: []string{"embedding.text"}},
		{on: texts || h.EmbeddingsText.V, exact: "embedding.text"},
		{on: inputs || h.Prompts.V || h.InputText.V, family: "llm.prompts"},
		{on: prompts, exact: "llm.prompt_template.template"},
		{on: prompts, exact: "llm.prompt_template.variables"},
		{on: prompts, exact: "gen_ai.input.messages", drop: true},
		{on: prompts, exact: "gen_ai.system_instructions", drop: true},
		{on: prompts, exact: "gen_ai.prompt"},
		{on: prompts, family: "gen_ai.prompt", suffixes: []string{".content"}},
		{on: inputs, exact: "gen_ai.tool.call.arguments", drop: true},
		{on: tools, family: "llm.tools", drop: true},
		{on: tools, exact: "gen_ai.tool.definitions", drop: true},
		{on: tools, family: "gen_ai.tool", suffixes: []string{".description"}, drop: true},
		{on: tools, family: "tool", suffixes: []string{".description", ".parameters", ".json_schema"}, drop: true},
		{on: h.LLMInvocationParameters.V, family: "llm", suffixes: []string{".invocation_parameters"}, drop: true},
		{on: h.LLMInvocationParameters.V, family: "embedding", suffixes: []string{".invocation_parameters"}, drop: true},
		{on: h.LLMInvocationParameters.V, family: "gen_ai.request", not: []string{".model"}, drop: true},
	}
}

func outputRules(h env.Hide) []rule {
	outputs := h.Outputs.V
	messages := outputs || h.OutputMessages.V
	texts := messages || h.OutputText.V
	return []rule{
		{on: messages, exact: "output.value"},
		{on: messages, exact: "output.mime_type", drop: true},
		{on: messages, family: "llm.output_messages", drop: true},
		{on: h.OutputText.V, family: "llm.output_messages", not: structure()},
		{on: outputs, family: "output.images", drop: true},
		{on: outputs, family: "output.audio", drop: true},
		{on: texts, family: "output.audio", suffixes: []string{".transcript"}},
		{on: texts, exact: "audio.transcript"},
		{on: outputs, exact: "audio.url"},
		{on: texts, family: "llm.function_call"},
		{on: texts, family: "retrieval.documents", suffixes: documents()},
		{on: texts, family: "reranker.output_documents", suffixes: documents()},
		{on: outputs || h.EmbeddingsVectors.V, family: "embedding", suffixes: []string{"embedding.vector"}},
		{on: outputs || h.EmbeddingsVectors.V, exact: "embedding.vector"},
		{on: outputs || h.Choices.V || h.OutputText.V, family: "llm.choices"},
		{on: texts || h.Choices.V, exact: "gen_ai.output.messages", drop: true},
		{on: texts || h.Choices.V, exact: "gen_ai.completion"},
		{on: texts || h.Choices.V, family: "gen_ai.completion", suffixes: []string{".content"}},
		{on: outputs, exact: "gen_ai.tool.call.result", drop: true},
	}
}
