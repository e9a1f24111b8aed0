package tracefile

// Format names a span file format, as the command line spells it.
type Format string

// The formats. All but CSV are read, all but the last four are written.
const (
	OTLPJSONLines Format = "otlp-jsonl"        // one OTLP/JSON document a line
	OTLPJSON      Format = "otlp-json"         // one OTLP/JSON document
	OTLPProto     Format = "otlp-proto"        // one binary TracesData message
	Jaeger        Format = "jaeger"            // what the Jaeger UI downloads and uploads
	Zipkin        Format = "zipkin"            // Zipkin's v2 JSON
	CSV           Format = "csv"               // a row a span
	OTLPFramed    Format = "otlp-proto-framed" // messages with lengths in front, as the Collector's file exporter writes them
	Python        Format = "python"            // OpenTelemetry Python's ReadableSpan.to_json
	Phoenix       Format = "phoenix"           // a span of Arize Phoenix, whose form is near Python's
	GoStdout      Format = "stdouttrace"       // OpenTelemetry Go's stdouttrace, BuildKit
)
