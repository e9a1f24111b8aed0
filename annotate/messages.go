package annotate

import (
	"strconv"

	"go.opentelemetry.io/otel/attribute"
)

// Message returns the attributes of one message of a model: family is [LLMInputMessages] or
// [LLMOutputMessages], index counts from zero.
//
//	s.SetAttributes(annotate.Message(annotate.LLMInputMessages, 0, "user", question)...)
func Message(family string, index int, role, content string) []any {
	prefix := family + "." + strconv.Itoa(index) + ".message."
	return []any{attribute.String(prefix+"role", role), attribute.String(prefix+"content", content)}
}
