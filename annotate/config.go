package annotate

import (
	"errors"
	"log/slog"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/bootstrap"
)

// Defaults of [Config].
const (
	DefaultMaxCapturedBytes = 64 << 10
	DefaultMetricsWorkers   = 2
)

// ErrExists is in the error of [New] when the program has a client; New returns that one.
var ErrExists = errors.New("a client exists: use it, or set Config.Force for another")

// Config is the configuration of a [Client]. The zero value is good.
type Config struct {
	// Tracing is the running tracing. Default: the one that runs, else one that New starts with Bootstrap.
	Tracing *bootstrap.Tracing
	// Bootstrap is how tracing starts when it does not run yet: the App, its logger, a mask. The App's switch
	// decides, as it does for [bootstrap.Start]; when it is off nothing is made. The fields below up to
	// TraceSampleRate go before the variables. They have no effect when tracing runs already, and New says so.
	Bootstrap bootstrap.Config
	// Project is the resource's openinference.project.name. Default: none.
	Project string
	// Endpoint is the URL of an OTLP backend, as in OTEL_EXPORTER_OTLP_ENDPOINT. Default: what the variables say.
	Endpoint string
	// ServiceName is the resource's service.name. Default: what the variables say, else the App.
	ServiceName string
	// Version and Environment are the resource's service.version and deployment.environment.name. Default: as
	// in Bootstrap.
	Version, Environment string
	// TraceSampleRate is the share of traces that are recorded, 0 to 1; the caller's decision goes before it.
	// Default, for 0: what the variables say, else all. Below 0, and NaN: none.
	TraceSampleRate float64
	// Live reports each outermost span as a live interaction to Sink. Those of the package's functions are
	// reported when the client is the default one: see [New].
	Live bool
	// LiveSampleRate is the share of traces that are reported, the same for each span of a trace. Default, for
	// 0: all. Below 0, and NaN: none.
	LiveSampleRate float64
	// Sink takes live interactions. Default: [NewJSONLSink] in the App's folder, live/interactions.jsonl.
	Sink Sink
	// MaxCapturedBytes is where inputs, outputs and attributes of this package are cut. Default:
	// [DefaultMaxCapturedBytes]. A value's JSON is that of encoding/json when it fits; of a larger one, no more
	// than its beginning is made, so that it takes no more time and memory than a small one. Methods of values
	// (MarshalJSON, Error, String and the like) run beside the call; one that does not return within a second,
	// panics or calls runtime.Goexit leaves the type's name in place of the value, and is counted in [Stats].
	MaxCapturedBytes int
	// MetricsWorkers is how many calls are scored at a time. Default: [DefaultMetricsWorkers].
	MetricsWorkers int
	// Force makes the client the program's although it has one. When New starts tracing, it also replaces a
	// provider that the program has set.
	Force bool
	// Instrument switches other libraries on with the provider. They do not run when tracing is off. What they
	// return is part of New's error; a panic is an error.
	Instrument []func(trace.TracerProvider) error
	// GenAI adds the attributes of OpenTelemetry's conventions for generative AI to the spans of this package
	// that have the OpenInference ones, at their end, where they are absent.
	GenAI bool
	// Logger takes notices. Default: that of Bootstrap, else none.
	Logger *slog.Logger
}

func (c Config) logger() *slog.Logger {
	switch {
	case c.Logger != nil:
		return c.Logger
	case c.Bootstrap.Logger != nil:
		return c.Bootstrap.Logger
	}
	return slog.New(slog.DiscardHandler)
}

// bootstrap is the configuration that tracing starts with.
func (c Config) bootstrap() bootstrap.Config {
	b := c.Bootstrap
	if c.Version != "" {
		b.Version = c.Version
	}
	if c.Environment != "" {
		b.Environment = c.Environment
	}
	b.Force = b.Force || c.Force
	base := b.Variables()
	set := map[string]string{}
	if c.Endpoint != "" {
		set["OTEL_EXPORTER_OTLP_ENDPOINT"], set["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = c.Endpoint, ""
	}
	if c.ServiceName != "" {
		set["OTEL_SERVICE_NAME"] = c.ServiceName
	}
	if c.Project != "" {
		set["OTEL_RESOURCE_ATTRIBUTES"] = withResource(base, string(ProjectNameKey), c.Project)
	}
	switch {
	case c.TraceSampleRate < 0 || c.TraceSampleRate != c.TraceSampleRate: // NaN
		set["OTEL_TRACES_SAMPLER"] = "parentbased_always_off"
	case c.TraceSampleRate > 0:
		set["OTEL_TRACES_SAMPLER"] = "parentbased_traceidratio"
		set["OTEL_TRACES_SAMPLER_ARG"] = strconv.FormatFloat(min(c.TraceSampleRate, 1), 'f', -1, 64)
	}
	// Messages are one attribute for each part of each message, so that 128 are soon too few.
	if !isSet(base, "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT") && !isSet(base, "OTEL_ATTRIBUTE_COUNT_LIMIT") {
		set["OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT"] = "10000"
	}
	b.Lookup = overlay{variables: base, set: set}
	return b
}

// ignored names the fields that have no effect on a tracing that runs already.
func (c Config) ignored() []string {
	var names []string
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"Project", c.Project != ""},
		{"Endpoint", c.Endpoint != ""},
		{"ServiceName", c.ServiceName != ""},
		{"Version", c.Version != ""},
		{"Environment", c.Environment != ""},
		{"TraceSampleRate", c.TraceSampleRate != 0},
	} {
		if f.set {
			names = append(names, f.name)
		}
	}
	return names
}

// variables is where variables come from.
type variables interface {
	Lookup(key string) (string, bool)
	Names() []string
}

// overlay puts what code sets in front of the variables.
type overlay struct {
	variables
	set map[string]string
}

// Lookup returns what code has set, else the variable.
func (o overlay) Lookup(key string) (string, bool) {
	if v, ok := o.set[key]; ok {
		return v, true
	}
	return o.variables.Lookup(key)
}

func isSet(v variables, key string) bool {
	value, ok := v.Lookup(key)
	return ok && strings.TrimSpace(value) != ""
}

// withResource appends an attribute to OTEL_RESOURCE_ATTRIBUTES; the later of two wins.
//
// Spec: https://github.com/open-telemetry/opentelemetry-specification/blob/v1.60.0/specification/resource/sdk.md#specifying-resource-information-via-an-environment-variable
func withResource(base variables, key, value string) string {
	const keep = "-._~" // beside letters and digits, what needs no escape in any reading
	var b strings.Builder
	if have, ok := base.Lookup("OTEL_RESOURCE_ATTRIBUTES"); ok && strings.TrimSpace(have) != "" {
		b.WriteString(strings.TrimRight(strings.TrimSpace(have), ","))
		b.WriteByte(',')
	}
	b.WriteString(key + "=")
	for _, c := range []byte(value) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte(keep, c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteString("%" + strings.ToUpper(strconv.FormatUint(uint64(c)+0x100, 16)[1:]))
		}
	}
	return b.String()
}
