package env

// The App's own variables are [Prefix] and one of these: [Prefix]("shop") +
// SuffixTracing is SHOP_TRACING.
const (
	SuffixTracing        = "_TRACING"          // the switch
	SuffixTracesFile     = "_TRACES_FILE"      // path of the span file
	SuffixTracesMaxBytes = "_TRACES_MAX_BYTES" // size limit of the span file
	SuffixTracesKeep     = "_TRACES_KEEP"      // keep the previous run's file
	SuffixTracesSkip     = "_TRACES_SKIP"      // paths without spans
	SuffixProfileDir     = "_PROFILE_DIR"      // folder for profiles
	SuffixProfile        = "_PROFILE"          // kinds of profiles
)

// KeyStateHome is where the state home of the XDG Base Directory Specification
// comes from. Env only checks it; the path is the reader's business.
const KeyStateHome = "XDG_STATE_HOME"

// The general variables of the SDK, under the specification's names.
//
// Spec: https://github.com/open-telemetry/opentelemetry-specification/blob/v1.60.0/specification/configuration/sdk-environment-variables.md#general-sdk-configuration
const (
	KeySDKDisabled            = "OTEL_SDK_DISABLED"
	KeyServiceName            = "OTEL_SERVICE_NAME"
	KeyResourceAttributes     = "OTEL_RESOURCE_ATTRIBUTES"
	KeyLogLevel               = "OTEL_LOG_LEVEL"
	KeyPropagators            = "OTEL_PROPAGATORS"
	KeyTracesSampler          = "OTEL_TRACES_SAMPLER"
	KeyTracesSamplerArg       = "OTEL_TRACES_SAMPLER_ARG"
	KeyTracesExporter         = "OTEL_TRACES_EXPORTER"
	KeyConfigFile             = "OTEL_CONFIG_FILE"
	KeyExperimentalConfigFile = "OTEL_EXPERIMENTAL_CONFIG_FILE"
	KeyKnownMethods           = "OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS"
)

// The batch span processor's variables.
//
// Spec: https://github.com/open-telemetry/opentelemetry-specification/blob/v1.60.0/specification/configuration/sdk-environment-variables.md#batch-span-processor
const (
	KeyBSPScheduleDelay      = "OTEL_BSP_SCHEDULE_DELAY"
	KeyBSPExportTimeout      = "OTEL_BSP_EXPORT_TIMEOUT"
	KeyBSPMaxQueueSize       = "OTEL_BSP_MAX_QUEUE_SIZE"
	KeyBSPMaxExportBatchSize = "OTEL_BSP_MAX_EXPORT_BATCH_SIZE"
)

// The attribute limits and the span limits.
//
// Spec: https://github.com/open-telemetry/opentelemetry-specification/blob/v1.60.0/specification/configuration/sdk-environment-variables.md#attribute-limits
const (
	KeyAttributeValueLength     = "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"
	KeyAttributeCount           = "OTEL_ATTRIBUTE_COUNT_LIMIT"
	KeySpanAttributeValueLength = "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT"
	KeySpanAttributeCount       = "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT"
	KeySpanEventCount           = "OTEL_SPAN_EVENT_COUNT_LIMIT"
	KeySpanLinkCount            = "OTEL_SPAN_LINK_COUNT_LIMIT"
	KeyEventAttributeCount      = "OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT"
	KeyLinkAttributeCount       = "OTEL_LINK_ATTRIBUTE_COUNT_LIMIT"
)

// The OTLP exporter's variables, each for all signals and for traces alone.
//
// Spec: https://github.com/open-telemetry/opentelemetry-specification/blob/v1.60.0/specification/protocol/exporter.md#configuration-options
const (
	KeyOTLPEndpoint                = "OTEL_EXPORTER_OTLP_ENDPOINT"
	KeyOTLPTracesEndpoint          = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	KeyOTLPProtocol                = "OTEL_EXPORTER_OTLP_PROTOCOL"
	KeyOTLPTracesProtocol          = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
	KeyOTLPInsecure                = "OTEL_EXPORTER_OTLP_INSECURE"
	KeyOTLPTracesInsecure          = "OTEL_EXPORTER_OTLP_TRACES_INSECURE"
	KeyOTLPCertificate             = "OTEL_EXPORTER_OTLP_CERTIFICATE"
	KeyOTLPTracesCertificate       = "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE"
	KeyOTLPClientCertificate       = "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE"
	KeyOTLPTracesClientCertificate = "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE"
	KeyOTLPClientKey               = "OTEL_EXPORTER_OTLP_CLIENT_KEY"
	KeyOTLPTracesClientKey         = "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY"
	KeyOTLPHeaders                 = "OTEL_EXPORTER_OTLP_HEADERS"
	KeyOTLPTracesHeaders           = "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
	KeyOTLPCompression             = "OTEL_EXPORTER_OTLP_COMPRESSION"
	KeyOTLPTracesCompression       = "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION"
	KeyOTLPTimeout                 = "OTEL_EXPORTER_OTLP_TIMEOUT"
	KeyOTLPTracesTimeout           = "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT"
)

// OpenInference's switches that keep content out of spans.
//
// Spec: https://github.com/Arize-ai/openinference/blob/main/spec/configuration.md
const (
	KeyHideInputs                  = "OPENINFERENCE_HIDE_INPUTS"
	KeyHideOutputs                 = "OPENINFERENCE_HIDE_OUTPUTS"
	KeyHideInputMessages           = "OPENINFERENCE_HIDE_INPUT_MESSAGES"
	KeyHideOutputMessages          = "OPENINFERENCE_HIDE_OUTPUT_MESSAGES"
	KeyHideInputText               = "OPENINFERENCE_HIDE_INPUT_TEXT"
	KeyHideOutputText              = "OPENINFERENCE_HIDE_OUTPUT_TEXT"
	KeyHideInputImages             = "OPENINFERENCE_HIDE_INPUT_IMAGES"
	KeyHideLLMInvocationParameters = "OPENINFERENCE_HIDE_LLM_INVOCATION_PARAMETERS"
	KeyHideLLMTools                = "OPENINFERENCE_HIDE_LLM_TOOLS"
	KeyHidePrompts                 = "OPENINFERENCE_HIDE_PROMPTS"
	KeyHideChoices                 = "OPENINFERENCE_HIDE_CHOICES"
	KeyHideEmbeddingsVectors       = "OPENINFERENCE_HIDE_EMBEDDINGS_VECTORS"
	KeyHideEmbeddingsText          = "OPENINFERENCE_HIDE_EMBEDDINGS_TEXT"
	KeyBase64ImageMaxLength        = "OPENINFERENCE_BASE64_IMAGE_MAX_LENGTH"

	// Older names, which hide as well.
	KeyHideEmbeddingVectors = "OPENINFERENCE_HIDE_EMBEDDING_VECTORS"
	KeyHideLLMPrompts       = "OPENINFERENCE_HIDE_LLM_PROMPTS"
)
