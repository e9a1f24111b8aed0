package env

import (
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"
)

// LevelNone is the level of OTEL_LOG_LEVEL=none: no message reaches it.
const LevelNone = slog.Level(math.MaxInt32)

// readSDK reads the general variables.
func (p *parser) readSDK(s *Settings) {
	for _, key := range []string{KeyConfigFile, KeyExperimentalConfigFile} {
		if raw, ok := p.get(key); ok {
			p.find(key, raw, "no configuration file (it is not read yet)", "the other variables")
		}
	}
	s.SDKDisabled = read(p, false, parseBool, KeySDKDisabled)
	s.LogLevel = read(p, slog.LevelWarn, parseLevel, KeyLogLevel)
	s.Propagators = p.enumList(KeyPropagators, []string{"tracecontext", "baggage"},
		"tracecontext", "baggage", "b3", "b3multi", "jaeger", "xray", "ottrace", "none")
	s.KnownMethods = p.readKnownMethods()
	s.Sampler = p.readSampler()
	s.Batch = p.readBatch()
	s.Limits = p.readLimits()
	s.Exporters = p.readExporters()
}

// readExporters tells "not set" (nil) from "set, and nothing usable left" (not
// nil, but empty), which asks for the file even when an endpoint is set.
func (p *parser) readExporters() Value[[]string] {
	mark := len(p.findings)
	out := p.enumList(KeyTracesExporter, nil, "otlp", "console", "none", "otlp/stdout")
	if _, ok := p.get(KeyTracesExporter); ok && !out.IsSet() {
		p.findings[mark].Used = "the file"
		return Value[[]string]{V: []string{}, Key: KeyTracesExporter}
	}
	return out
}

// parseLevel reads a level. The specification names none but info; these are the
// ones that OpenTelemetry's other SDKs share.
func parseLevel(raw string) (slog.Level, string) {
	switch strings.ToLower(raw) {
	case "none":
		return LevelNone, ""
	case "error":
		return slog.LevelError, ""
	case "warn", "warning":
		return slog.LevelWarn, ""
	case "info":
		return slog.LevelInfo, ""
	case "debug":
		return slog.LevelDebug, ""
	}
	return 0, "none, error, warn, info or debug"
}

// readKnownMethods reads the whole list of methods, which are case-sensitive.
func (p *parser) readKnownMethods() Value[[]string] {
	return p.list(KeyKnownMethods, isToken, "a list of HTTP methods", "the conventions' list")
}

// readSampler reads the sampler and its argument. Whatever is wrong, everything
// is sampled: too many spans are seen, missing ones are not.
//
// Spec: https://github.com/open-telemetry/opentelemetry-specification/blob/v1.60.0/specification/configuration/sdk-environment-variables.md#general-sdk-configuration
// A bad argument differs: the specification ignores it and keeps the ratio
// sampler at 1, which ignores the parent's decision.
func (p *parser) readSampler() Value[Sampler] {
	def := Value[Sampler]{V: Sampler{Name: "parentbased_always_on", Arg: 1}}
	raw, ok := p.get(KeyTracesSampler)
	arg, hasArg := p.get(KeyTracesSamplerArg)
	if !ok {
		if hasArg {
			p.find(KeyTracesSamplerArg, arg, KeyTracesSampler+" beside it", def.V.Name)
		}
		return def
	}
	name, want := parseEnum("always_on", "always_off", "traceidratio", "parentbased_always_on",
		"parentbased_always_off", "parentbased_traceidratio")(raw)
	if want != "" {
		p.find(KeyTracesSampler, raw, want, def.V.Name)
		return def
	}
	out := Value[Sampler]{V: Sampler{Name: name, Arg: 1}, Key: KeyTracesSampler}
	switch {
	case !hasArg:
	case !strings.HasSuffix(name, "traceidratio"):
		p.find(KeyTracesSamplerArg, arg, "no argument for "+name, name)
	default:
		ratio, err := strconv.ParseFloat(arg, 64)
		// Not "ratio < 0 || ratio > 1", which lets NaN through.
		if err != nil || !(ratio >= 0 && ratio <= 1) {
			p.find(KeyTracesSamplerArg, arg, "a number from 0 to 1", def.V.Name)
			return def
		}
		out.V.Arg = ratio
	}
	return out
}

// maxQueue bounds the queue: the SDK allocates it at once.
const maxQueue = 1 << 20

func (p *parser) readBatch() Batch {
	b := Batch{
		// The specification allows a delay of 0, with which the SDK spins.
		ScheduleDelay: read(p, 5*time.Second, parseMillis(1), KeyBSPScheduleDelay),
		ExportTimeout: read(p, 30*time.Second, parseMillis(0), KeyBSPExportTimeout),
		MaxQueueSize:  read(p, 2048, parseInt(1, maxQueue), KeyBSPMaxQueueSize),
	}
	queue := b.MaxQueueSize.V
	b.MaxExportBatchSize = read(p, min(512, queue), parseInt(1, queue), KeyBSPMaxExportBatchSize)
	return b
}

func (p *parser) readLimits() Limits {
	limit := func(def int, keys ...string) Value[int] {
		return read(p, def, parseInt(0, math.MaxInt32), keys...)
	}
	return Limits{
		AttributeValueLength:   limit(-1, KeySpanAttributeValueLength, KeyAttributeValueLength),
		AttributeCount:         limit(128, KeySpanAttributeCount, KeyAttributeCount),
		EventCount:             limit(128, KeySpanEventCount),
		LinkCount:              limit(128, KeySpanLinkCount),
		AttributePerEventCount: limit(128, KeyEventAttributeCount),
		AttributePerLinkCount:  limit(128, KeyLinkAttributeCount),
	}
}
