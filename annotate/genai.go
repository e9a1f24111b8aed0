package annotate

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// operations are the names that OpenTelemetry has for what a kind does.
//
// Spec: https://github.com/open-telemetry/semantic-conventions/blob/v1.43.0/docs/gen-ai/gen-ai-spans.md
func operation(k Kind) string {
	switch k {
	case LLM:
		return "chat"
	case Embedding:
		return "embeddings"
	case Tool:
		return "execute_tool"
	case Agent:
		return "invoke_agent"
	case Retriever:
		return "retrieval"
	case Chain, Reranker, Guardrail, Evaluator, Prompt:
	}
	return ""
}

// addGenAI adds what is absent of OpenTelemetry's attributes for generative AI. A span that cannot be read has
// none.
func (h *Handle) addGenAI() {
	readable, ok := h.span.(sdktrace.ReadOnlySpan)
	if !ok {
		return
	}
	have := readable.Attributes()
	values := make(map[attribute.Key]attribute.Value, len(have))
	for _, kv := range have {
		values[kv.Key] = kv.Value
	}
	var add []attribute.KeyValue
	put := func(key string, v attribute.Value) {
		if _, there := values[attribute.Key(key)]; !there {
			add = append(add, attribute.KeyValue{Key: attribute.Key(key), Value: v})
		}
	}
	if name := operation(h.kind); name != "" {
		put("gen_ai.operation.name", attribute.StringValue(name))
	}
	for _, twin := range []struct {
		key  string
		from []attribute.Key // the first that is there
	}{
		{"gen_ai.provider.name", []attribute.Key{LLMProviderKey, LLMSystemKey}},
		{"gen_ai.conversation.id", []attribute.Key{SessionIDKey}},
		{"gen_ai.request.model", []attribute.Key{LLMRequestModelNameKey, LLMModelNameKey, EmbeddingModelNameKey}},
		{"gen_ai.response.model", []attribute.Key{LLMResponseModelNameKey}},
		{"gen_ai.usage.input_tokens", []attribute.Key{LLMTokensPromptKey}},
		{"gen_ai.usage.output_tokens", []attribute.Key{LLMTokensCompletionKey}},
		{"gen_ai.agent.name", []attribute.Key{AgentNameKey}},
		{"gen_ai.tool.name", []attribute.Key{ToolNameKey}},
		{"gen_ai.tool.call.id", []attribute.Key{ToolIDKey}},
	} {
		for _, key := range twin.from {
			if v, ok := values[key]; ok {
				put(twin.key, v)
				break
			}
		}
	}
	for key, prefix := range map[string]string{"gen_ai.input.messages": LLMInputMessages, "gen_ai.output.messages": LLMOutputMessages} {
		messages := genAIMessages(values, prefix)
		if len(messages) == 0 {
			continue
		}
		// Cut JSON would be none.
		if text, whole, err := h.client.marshal(messages, h.client.max); err == nil && whole {
			put(key, attribute.StringValue(string(text)))
		}
	}
	h.span.SetAttributes(add...)
}

// genAIMessage is a message as OpenTelemetry has it.
//
// Spec: https://github.com/open-telemetry/semantic-conventions/blob/v1.43.0/docs/gen-ai/gen-ai-input-messages.json
type genAIMessage struct {
	Role  string      `json:"role"`
	Parts []genAIPart `json:"parts"`
}

type genAIPart struct {
	Type      string          `json:"type"`
	Content   string          `json:"content,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// genAIMessages puts the flattened messages together.
func genAIMessages(values map[attribute.Key]attribute.Value, prefix string) []*genAIMessage {
	byIndex := map[int]*genAIMessage{}
	calls := map[[2]int]*genAIPart{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		index, rest, ok := indexed(string(key), prefix+".")
		if !ok {
			continue
		}
		m := byIndex[index]
		if m == nil {
			m = &genAIMessage{Parts: []genAIPart{}}
			byIndex[index] = m
		}
		text := values[key].String()
		call, field, isCall := indexed(rest, "message.tool_calls.")
		switch {
		case rest == "message.role":
			m.Role = text
		case rest == "message.content", strings.HasPrefix(rest, "message.contents.") && strings.HasSuffix(rest, ".message_content.text"):
			m.Parts = append(m.Parts, genAIPart{Type: "text", Content: text})
		case isCall:
			at := [2]int{index, call}
			if calls[at] == nil {
				calls[at] = &genAIPart{Type: "tool_call"}
			}
			calls[at].set(field, text)
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(calls), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
		m := byIndex[at[0]]
		m.Parts = append(m.Parts, *calls[at])
	}
	messages := make([]*genAIMessage, 0, len(byIndex))
	for _, index := range slices.Sorted(maps.Keys(byIndex)) {
		messages = append(messages, byIndex[index])
	}
	return messages
}

func (p *genAIPart) set(field, text string) {
	switch field {
	case "tool_call.id":
		p.ID = text
	case "tool_call.function.name":
		p.Name = text
	case "tool_call.function.arguments":
		p.Arguments = json.RawMessage(text)
		if !json.Valid(p.Arguments) {
			p.Arguments = json.RawMessage(jsonText(text))
		}
	}
}

// indexed splits a key into what stands behind the prefix: an index and the rest.
func indexed(key, prefix string) (index int, rest string, ok bool) {
	after, ok := strings.CutPrefix(key, prefix)
	if !ok {
		return 0, "", false
	}
	number, rest, ok := strings.Cut(after, ".")
	if !ok {
		return 0, "", false
	}
	index, err := strconv.Atoi(number)
	return index, rest, err == nil && index >= 0
}

// addGenAIScore adds the score as OpenTelemetry's event.
//
// Spec: https://github.com/open-telemetry/semantic-conventions/blob/v1.43.0/docs/gen-ai/gen-ai-events.md
func addGenAIScore(span trace.Span, name string, s Score) {
	attrs := []attribute.KeyValue{attribute.String("gen_ai.evaluation.name", name)}
	if !s.NoValue {
		attrs = append(attrs, attribute.Float64("gen_ai.evaluation.score.value", s.Value))
	}
	if s.Label != "" {
		attrs = append(attrs, attribute.String("gen_ai.evaluation.score.label", s.Label))
	}
	if s.Explanation != "" {
		attrs = append(attrs, attribute.String("gen_ai.evaluation.explanation", s.Explanation))
	}
	span.AddEvent("gen_ai.evaluation.result", trace.WithAttributes(attrs...))
}
