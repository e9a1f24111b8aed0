package annotate

import "go.opentelemetry.io/otel/attribute"

// ScopeName is the instrumentation scope of the spans of this package.
const ScopeName = "github.com/waymark-trace/waymark/annotate"

// Keys of OpenInference attributes: what this package writes, and the names to use when a span says more.
// Families with an index have a function: [Message].
//
// Spec: https://github.com/Arize-ai/openinference/blob/python-openinference-semantic-conventions-v0.1.21/spec/semantic_conventions.md
const (
	SpanKindKey       = attribute.Key("openinference.span.kind")    // string, a [Kind]
	ProjectNameKey    = attribute.Key("openinference.project.name") // string, on the resource
	InputValueKey     = attribute.Key("input.value")                // string
	InputMIMETypeKey  = attribute.Key("input.mime_type")            // string, [MIMEText] or [MIMEJSON]
	OutputValueKey    = attribute.Key("output.value")               // string
	OutputMIMETypeKey = attribute.Key("output.mime_type")           // string, [MIMEText] or [MIMEJSON]
	UserIDKey         = attribute.Key("user.id")                    // string
	SessionIDKey      = attribute.Key("session.id")                 // string
	TagsKey           = attribute.Key("tag.tags")                   // list of strings
	MetadataKey       = attribute.Key("metadata")                   // string, one JSON object

	LLMModelNameKey            = attribute.Key("llm.model_name")                               // string
	LLMRequestModelNameKey     = attribute.Key("llm.request.model_name")                       // string
	LLMResponseModelNameKey    = attribute.Key("llm.response.model_name")                      // string
	LLMProviderKey             = attribute.Key("llm.provider")                                 // string
	LLMSystemKey               = attribute.Key("llm.system")                                   // string
	LLMInvocationParametersKey = attribute.Key("llm.invocation_parameters")                    // string, JSON
	LLMFinishReasonKey         = attribute.Key("llm.finish_reason")                            // string
	LLMTokensPromptKey         = attribute.Key("llm.token_count.prompt")                       // int
	LLMTokensCompletionKey     = attribute.Key("llm.token_count.completion")                   // int
	LLMTokensTotalKey          = attribute.Key("llm.token_count.total")                        // int
	LLMTokensCacheReadKey      = attribute.Key("llm.token_count.prompt_details.cache_read")    // int
	LLMTokensCacheWriteKey     = attribute.Key("llm.token_count.prompt_details.cache_write")   // int
	LLMTokensReasoningKey      = attribute.Key("llm.token_count.completion_details.reasoning") // int
	LLMPromptTemplateKey       = attribute.Key("llm.prompt_template.template")                 // string
	LLMPromptVariablesKey      = attribute.Key("llm.prompt_template.variables")                // string, JSON
	LLMPromptVersionKey        = attribute.Key("llm.prompt_template.version")                  // string

	ToolNameKey           = attribute.Key("tool.name")            // string
	ToolDescriptionKey    = attribute.Key("tool.description")     // string
	ToolParametersKey     = attribute.Key("tool.parameters")      // string, JSON
	ToolIDKey             = attribute.Key("tool.id")              // string
	EmbeddingModelNameKey = attribute.Key("embedding.model_name") // string
	AgentNameKey          = attribute.Key("agent.name")           // string
	RerankerQueryKey      = attribute.Key("reranker.query")       // string
	RerankerTopKKey       = attribute.Key("reranker.top_k")       // int
)

// MIME types of inputs and outputs.
const (
	MIMEText = "text/plain"
	MIMEJSON = "application/json"
)

// Prefixes of families with a zero-based index; the index and the rest of the key follow:
// llm.input_messages.0.message.role.
const (
	LLMInputMessages       = "llm.input_messages"
	LLMOutputMessages      = "llm.output_messages"
	LLMTools               = "llm.tools"
	RetrievalDocuments     = "retrieval.documents"
	RerankerInputDocuments = "reranker.input_documents"
	Evaluations            = "evaluations"
	TraceEvaluations       = "trace.evaluations"
	SessionEvaluations     = "session.evaluations"
)

// Kind is what a span means to people who look after models, beside OpenTelemetry's span kind. It is an
// option of everything that makes a span; the default is [Chain].
type Kind string

// The kinds of OpenInference.
const (
	Chain     Kind = "CHAIN"     // a step, or the glue between steps
	LLM       Kind = "LLM"       // a call of a language model
	Retriever Kind = "RETRIEVER" // a search for documents
	Reranker  Kind = "RERANKER"  // an ordering of documents
	Tool      Kind = "TOOL"      // a call of a function or service that a model asked for
	Agent     Kind = "AGENT"     // a loop of model and tools
	Guardrail Kind = "GUARDRAIL" // a check of what goes in or comes out
	Embedding Kind = "EMBEDDING" // a call of an embedding model
	Evaluator Kind = "EVALUATOR" // a judgment of another span
	Prompt    Kind = "PROMPT"    // the making of a prompt
)
