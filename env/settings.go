package env

import (
	"log/slog"
	"time"
)

// Value is a setting and the variable it came from.
type Value[T any] struct {
	V   T
	Key string // the variable; empty when V is the default
}

// IsSet reports whether a variable gave the value.
func (v Value[T]) IsSet() bool { return v.Key != "" }

// Settings is what the variables say, validated: every value is in range, and
// what was not is a [Finding] and has its default. It belongs to the caller.
type Settings struct {
	App string // the word that names variables, service and folder

	Tracing        Value[bool]     // <APP>_TRACING
	TracesFile     Value[string]   // <APP>_TRACES_FILE; empty: the state folder
	TracesMaxBytes Value[int64]    // <APP>_TRACES_MAX_BYTES; default 1 GiB
	TracesKeep     Value[bool]     // <APP>_TRACES_KEEP
	TracesSkip     Value[[]string] // <APP>_TRACES_SKIP: exact paths, each with its first slash
	ProfileDir     Value[string]   // <APP>_PROFILE_DIR; empty: no profiles
	Profile        Value[[]string] // <APP>_PROFILE; default cpu,heap,allocs,goroutine,fgprof

	SDKDisabled        Value[bool]       // OTEL_SDK_DISABLED
	ServiceName        Value[string]     // OTEL_SERVICE_NAME, else service.name of the resource; empty: the App
	ResourceAttributes Value[[]Pair]     // OTEL_RESOURCE_ATTRIBUTES, decoded, each key once, without service.name
	LogLevel           Value[slog.Level] // OTEL_LOG_LEVEL; [LevelNone] for none; default warn, for at the specification's info the SDK reports each tracer
	Propagators        Value[[]string]   // OTEL_PROPAGATORS, lower case, each once; default tracecontext,baggage; none stands alone
	Sampler            Value[Sampler]    // OTEL_TRACES_SAMPLER and its argument
	Batch              Batch             // OTEL_BSP_*
	Limits             Limits            // span and attribute limits
	Exporters          Value[[]string]   // OTEL_TRACES_EXPORTER: known items in order, none alone; nil: not set; empty: nothing usable, so the file
	OTLP               OTLP              // OTEL_EXPORTER_OTLP_*
	KnownMethods       Value[[]string]   // OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS; nil: the conventions' list
	Hide               Hide              // OPENINFERENCE_HIDE_*
}

// Pair is a decoded key and value.
type Pair struct{ Key, Value string }

// Sampler is one of the specification's built-in samplers.
type Sampler struct {
	Name string  // always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio
	Arg  float64 // the ratio, 0 to 1; default 1
}

// Batch holds the batch span processor's settings.
type Batch struct {
	ScheduleDelay      Value[time.Duration] // default 5 s; above 0
	ExportTimeout      Value[time.Duration] // default 30 s; 0: no limit
	MaxQueueSize       Value[int]           // default 2048; 1 to 2^20
	MaxExportBatchSize Value[int]           // default 512; 1 to the queue's size
}

// Limits holds the span limits; -1 is no limit.
type Limits struct {
	AttributeValueLength   Value[int] // default -1
	AttributeCount         Value[int] // default 128
	EventCount             Value[int] // default 128
	LinkCount              Value[int] // default 128
	AttributePerEventCount Value[int] // default 128
	AttributePerLinkCount  Value[int] // default 128
}

// OTLP holds the exporter's settings. Nothing but defaults is in it while
// nothing asks for OTLP: no endpoint is set, or OTEL_TRACES_EXPORTER is set and
// does not name otlp.
type OTLP struct {
	// Endpoint is the whole URL that spans go to, scheme included: for HTTP with
	// its path, for gRPC scheme://host:port. It has no user information, query or
	// fragment, so it may be printed. Empty: nothing asks for OTLP, or Unusable
	// says why there is none. The specification's default endpoint has no Key.
	Endpoint Value[string]
	// Unusable is why no OTLP exporter may be built although the variables ask
	// for one (a bad endpoint, an unknown protocol); a finding says so too.
	Unusable string
	Protocol Value[string]  // grpc, http/protobuf, http/json
	Headers  Value[Headers] // decoded
	// Certificate, ClientCertificate and ClientKey are paths of PEM files. They
	// are empty with an http:// endpoint; the last two are both set or neither.
	Certificate       Value[string]
	ClientCertificate Value[string]
	ClientKey         Value[string]
	Compression       Value[string]        // gzip or none
	Timeout           Value[time.Duration] // default 10 s; 0: no limit
}

// Hide is the OpenInference family of switches that keep content out of spans.
type Hide struct {
	Inputs, Outputs                   Value[bool]
	InputMessages, OutputMessages     Value[bool]
	InputText, OutputText             Value[bool]
	InputImages                       Value[bool]
	LLMInvocationParameters, LLMTools Value[bool]
	Prompts, Choices                  Value[bool]
	EmbeddingsVectors, EmbeddingsText Value[bool]
	Base64ImageMaxLength              Value[int] // applies when it is set; 32000 for a bad value
}
