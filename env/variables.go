package env

import (
	"fmt"
	"slices"
	"strings"
)

// Variable is one variable that [Parse] reads.
type Variable struct {
	Name    string // as it is set
	Default string // what an unset one means, in words
	Doc     string // what it does, one line without period
	Group   string // what it is about, one word or two
}

// Variables lists every variable that [Parse] reads for the App, its own first.
func Variables(app string) []Variable {
	return append(appVariables(Prefix(app)), standardVariables()...)
}

// Table is [Variables] as a table in Markdown, a group after the other.
func Table(app string) string {
	var b strings.Builder
	b.WriteString("| variable | default | what it does |\n|---|---|---|\n")
	group := ""
	for _, v := range Variables(app) {
		if v.Group != group {
			group = v.Group
			fmt.Fprintf(&b, "| **%s** | | |\n", group)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", v.Name, v.Default, v.Doc)
	}
	return b.String()
}

func appVariables(prefix string) []Variable {
	const group = "Waymark"
	return []Variable{
		{prefix + SuffixTracing, "off", "the switch: `true` or `1`, in any case, is on; `false` or `0` is off", group},
		{prefix + SuffixTracesFile, "`traces/spans.jsonl` in the App's folder of the state home", "path of the span file", group},
		{prefix + SuffixTracesMaxBytes, "1 GiB", "size limit of the span file: bytes, or a number with `KiB`, `MiB`, `GiB` or `TiB`", group},
		{prefix + SuffixTracesKeep, "`false`", "`true` keeps the previous run's file as `spans.prev.jsonl`", group},
		{prefix + SuffixTracesSkip, "none", "exact paths without spans, as in `/healthz,/readyz`", group},
		{prefix + SuffixProfileDir, "no profiles", "folder that profiles are written to on exit; does not depend on the switch", group},
		{prefix + SuffixProfile, "`cpu,heap,allocs,goroutine,fgprof`", "the profiles, also `block` and `mutex`", group},
	}
}

func standardVariables() []Variable {
	return slices.Concat(
		[]Variable{{KeyStateHome, "`~/.local/state`, or the system's own", "absolute path of the state home", "Places"}},
		generalVariables(), otlpVariables(), batchVariables(), limitVariables(), hideVariables(),
	)
}

func generalVariables() []Variable {
	const group = "OpenTelemetry"
	return []Variable{
		{KeySDKDisabled, "`false`", "`true` makes no spans; context is still propagated", group},
		{KeyServiceName, "the App", "`service.name` of the resource", group},
		{KeyResourceAttributes, "none", "more attributes of the resource: `key=value,key=value`, percent-encoded", group},
		{KeyLogLevel, "`warn`", "what OpenTelemetry's own messages show: `none`, `error`, `warn`, `info`, `debug`", group},
		{KeyPropagators, "`tracecontext,baggage`", "also `b3`, `b3multi`, `jaeger`, `xray`, `ottrace`, `none`", group},
		{KeyTracesSampler, "`parentbased_always_on`", "also `always_on`, `always_off`, `traceidratio`, `parentbased_always_off`, `parentbased_traceidratio`", group},
		{KeyTracesSamplerArg, "`1`", "share of the traces that a ratio sampler keeps, 0 to 1", group},
		{KeyTracesExporter, "`otlp` with an endpoint, else the file", "list of `otlp`, `console`, `otlp/stdout`, or `none`: traces are propagated and exported nowhere", group},
		{KeyKnownMethods, "the conventions' list", "all HTTP methods that are not `_OTHER`", group},
		{KeyConfigFile, "none", "not read yet: setting it gives a warning", group},
		{KeyExperimentalConfigFile, "none", "not read either", group},
	}
}

func otlpVariables() []Variable {
	const group, traces = "OTLP", "the same for traces alone; wins"
	return []Variable{
		{KeyOTLPEndpoint, "none", "base URL with `http://` or `https://`; HTTP appends `/v1/traces`", group},
		{KeyOTLPTracesEndpoint, "none", "URL for traces alone, used as given; wins", group},
		{KeyOTLPProtocol, "`http/protobuf`", "`grpc`, `http/protobuf` or `http/json`", group},
		{KeyOTLPTracesProtocol, "none", traces, group},
		{KeyOTLPInsecure, "none", "only checked: the endpoint's scheme decides on TLS", group},
		{KeyOTLPTracesInsecure, "none", traces, group},
		{KeyOTLPHeaders, "none", "headers of every export: `name=value,name=value`, values percent-encoded; never printed", group},
		{KeyOTLPTracesHeaders, "none", "headers for traces; replace the others", group},
		{KeyOTLPCompression, "`none`", "`gzip` or `none`", group},
		{KeyOTLPTracesCompression, "none", traces, group},
		{KeyOTLPTimeout, "`10000`", "milliseconds for one request; 0 is no limit", group},
		{KeyOTLPTracesTimeout, "none", traces, group},
		{KeyOTLPCertificate, "the system's", "PEM file with the authorities that the server's certificate is checked with", group},
		{KeyOTLPTracesCertificate, "none", traces, group},
		{KeyOTLPClientCertificate, "none", "PEM file with the client's certificate", group},
		{KeyOTLPTracesClientCertificate, "none", traces, group},
		{KeyOTLPClientKey, "none", "PEM file with the client's key", group},
		{KeyOTLPTracesClientKey, "none", traces, group},
	}
}

func batchVariables() []Variable {
	const group = "Batches (OTLP and console)"
	return []Variable{
		{KeyBSPScheduleDelay, "`5000`", "milliseconds between exports, above 0", group},
		{KeyBSPExportTimeout, "`30000`", "milliseconds for a batch; 0 is no limit", group},
		{KeyBSPMaxQueueSize, "`2048`", "spans that wait, 1 to 1048576; more, and what holds more than 64 MiB, are dropped and counted", group},
		{KeyBSPMaxExportBatchSize, "`512`", "spans in a batch, 1 to the queue's size", group},
	}
}

func limitVariables() []Variable {
	const group = "Limits"
	return []Variable{
		{KeySpanAttributeValueLength, "no limit", "characters of an attribute's value", group},
		{KeyAttributeValueLength, "no limit", "the same for all signals", group},
		{KeySpanAttributeCount, "`128`", "attributes of a span", group},
		{KeyAttributeCount, "`128`", "the same for all signals", group},
		{KeySpanEventCount, "`128`", "events of a span", group},
		{KeySpanLinkCount, "`128`", "links of a span", group},
		{KeyEventAttributeCount, "`128`", "attributes of an event", group},
		{KeyLinkAttributeCount, "`128`", "attributes of a link", group},
	}
}

func hideVariables() []Variable {
	const group, off = "Content (a value that cannot be read hides)", "`false`"
	return []Variable{
		{KeyHideInputs, off, "hides inputs, with their messages, tools and prompts", group},
		{KeyHideOutputs, off, "hides outputs, with their messages and choices", group},
		{KeyHideInputMessages, off, "drops input messages, and hides `input.value`, which may hold them", group},
		{KeyHideOutputMessages, off, "drops output messages, and hides `output.value`, which may hold them", group},
		{KeyHideInputText, off, "hides the text of input messages, and each text in `input.value`", group},
		{KeyHideOutputText, off, "hides the text of output messages, and each text in `output.value`", group},
		{KeyHideInputImages, off, "hides images, wherever they are but in outputs", group},
		{KeyHideLLMInvocationParameters, off, "drops a model's invocation parameters, also those in `input.value` and `output.value`", group},
		{KeyHideLLMTools, off, "drops a model's tools, also those in `input.value` and `output.value`", group},
		{KeyHidePrompts, off, "hides prompts, and each text in `input.value`", group},
		{KeyHideChoices, off, "hides choices, and each text in `output.value`", group},
		{KeyHideEmbeddingsVectors, off, "hides the vectors of embeddings, also those in `input.value` and `output.value`", group},
		{KeyHideEmbeddingsText, off, "hides the text of embeddings, and each text in `input.value`", group},
		{KeyHideEmbeddingVectors, off, "an older name of `" + KeyHideEmbeddingsVectors + "`", group},
		{KeyHideLLMPrompts, off, "an older name of `" + KeyHidePrompts + "`", group},
		{KeyBase64ImageMaxLength, "no limit", "characters of an image in base64; longer ones are hidden, wherever they are", group},
	}
}

// appNames are the names of the App's own variables.
func appNames(prefix string) []string { return names(appVariables(prefix)) }

// standardNames are the names that others read as well, without XDG's.
func standardNames() []string { return names(standardVariables()[1:]) }

func names(variables []Variable) []string {
	out := make([]string, len(variables))
	for i, v := range variables {
		out[i] = v.Name
	}
	return out
}
