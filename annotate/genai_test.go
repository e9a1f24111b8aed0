package annotate_test

import (
	"testing"

	"github.com/waymark-trace/waymark/annotate"
)

func TestGenAITwins(t *testing.T) {
	t.Parallel()
	c, spans := start(t, func(c *annotate.Config) { c.GenAI = true })
	ctx, s := c.Span(t.Context(), "llm", annotate.LLM)
	c.SetSession(ctx, "s1")
	s.SetAttributes(
		annotate.LLMSystemKey.String("openai"), annotate.LLMProviderKey.String("azure"), annotate.LLMModelNameKey.String("m"),
		annotate.LLMResponseModelNameKey.String("m-1"), annotate.LLMTokensPromptKey.Int(3), annotate.LLMTokensCompletionKey.Int(4),
		"gen_ai.request.model", "stays",
		"llm.input_messages.10.message.role", "user", "llm.input_messages.10.message.content", "last",
		"llm.input_messages.x.message.role", "no index", "llm.input_messages.", "nothing",
		"llm.output_messages.0.message.role", "assistant",
		"llm.output_messages.0.message.contents.0.message_content.text", "part",
		"llm.output_messages.0.message.tool_calls.1.tool_call.function.name", "second",
		"llm.output_messages.0.message.tool_calls.0.tool_call.id", "c0",
		"llm.output_messages.0.message.tool_calls.0.tool_call.function.name", "first",
		"llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments", `{"a":1}`,
		"llm.output_messages.0.message.tool_calls.1.tool_call.function.arguments", `{no json`,
	)
	s.SetAttributes(annotate.Message(annotate.LLMInputMessages, 0, "system", "sei höflich")...)
	s.End(nil)
	spans.has(t, "llm", wanted{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "azure", "gen_ai.conversation.id": "s1", "gen_ai.request.model": "stays",
		"gen_ai.response.model": "m-1", "gen_ai.usage.input_tokens": 3, "gen_ai.usage.output_tokens": 4,
		"gen_ai.input.messages": `[{"role":"system","parts":[{"type":"text","content":"sei höflich"}]},{"role":"user","parts":[{"type":"text","content":"last"}]}]`,
		"gen_ai.output.messages": `[{"role":"assistant","parts":[{"type":"text","content":"part"},` +
			`{"type":"tool_call","id":"c0","name":"first","arguments":{"a":1}},{"type":"tool_call","name":"second","arguments":"{no json"}]}]`,
		annotate.LLMModelNameKey: "m",
	})
	for kind, want := range map[annotate.Kind]string{
		annotate.Embedding: "embeddings", annotate.Tool: "execute_tool", annotate.Agent: "invoke_agent", annotate.Retriever: "retrieval", annotate.Chain: "",
	} {
		_, s := c.Span(t.Context(), string(kind), kind, annotate.Attributes(annotate.ToolNameKey.String("t"), annotate.AgentNameKey.String("a")))
		s.End(nil)
		spans.has(t, string(kind), wanted{"gen_ai.operation.name": want, "gen_ai.tool.name": "t", "gen_ai.agent.name": "a"})
	}
}

// Without the option there is none.
func TestNoGenAITwins(t *testing.T) {
	t.Parallel()
	c, spans := start(t)
	_, s := c.Span(t.Context(), "llm", annotate.LLM, annotate.Attributes(annotate.LLMTokensPromptKey.Int(3)))
	s.End(nil)
	spans.has(t, "llm", wanted{"gen_ai.operation.name": "", "gen_ai.usage.input_tokens": ""})
}
