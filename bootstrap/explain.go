package bootstrap

import (
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/waymark-trace/waymark/env"
)

// rows lists every value with its origin, in a fixed order.
func (p *Plan) rows(cfg Config) []Value {
	s := p.settings
	t := rowTable{}
	appOrigin := "Config.App"
	if strings.TrimSpace(cfg.App) == "" {
		appOrigin = "the executable's name"
	}
	t.add("app", p.App, appOrigin, "")
	row(&t, env.Prefix(p.App)+env.SuffixTracing, s.Tracing, strconv.FormatBool)
	row(&t, "sdk disabled", s.SDKDisabled, strconv.FormatBool)
	p.resourceRows(&t, cfg)
	p.destinationRows(&t, cfg)
	p.batchRows(&t)
	row(&t, "propagators", s.Propagators, list)
	row(&t, "sampler", s.Sampler, func(v env.Sampler) string {
		if strings.HasSuffix(v.Name, "traceidratio") {
			return v.Name + " " + strconv.FormatFloat(v.Arg, 'g', -1, 64)
		}
		return v.Name
	})
	limits := s.Limits
	row(&t, "attribute value length limit", limits.AttributeValueLength, limit)
	row(&t, "attribute count limit", limits.AttributeCount, limit)
	row(&t, "event count limit", limits.EventCount, limit)
	row(&t, "link count limit", limits.LinkCount, limit)
	row(&t, "attributes per event limit", limits.AttributePerEventCount, limit)
	row(&t, "attributes per link limit", limits.AttributePerLinkCount, limit)
	row(&t, "skipped paths", s.TracesSkip, list)
	row(&t, "known methods", s.KnownMethods, func(v []string) string {
		if v == nil {
			return "the conventions' list"
		}
		return list(v)
	})
	p.hideRows(&t, cfg)
	row(&t, "OpenTelemetry's log level", s.LogLevel, levelName)
	row(&t, "profile folder", s.ProfileDir, orNone)
	row(&t, "profiles", s.Profile, list)
	timeout := "default"
	if cfg.ShutdownTimeout > 0 {
		timeout = "Config.ShutdownTimeout"
	}
	t.add("shutdown timeout", cfg.shutdownTimeout().String(), timeout, "")
	return t.rows
}

func (p *Plan) resourceRows(t *rowTable, cfg Config) {
	s := p.settings
	name := s.ServiceName.Key
	if s.ServiceName.V == "" {
		name = "Config.App"
	}
	t.add("service.name", serviceName(s), name, "")
	for _, kv := range []struct{ key, value, field string }{
		{"service.version", cfg.Version, "Config.Version"},
		{"deployment.environment.name", cfg.Environment, "Config.Environment"},
	} {
		if kv.value != "" {
			t.add(kv.key, kv.value, kv.field, "")
		}
	}
	row(t, "resource attributes", s.ResourceAttributes, func(v []env.Pair) string {
		words := make([]string, 0, len(v))
		for _, kv := range v {
			words = append(words, kv.Key+"="+kv.Value)
		}
		return list(words)
	})
}

func (p *Plan) destinationRows(t *rowTable, cfg Config) {
	s := p.settings
	for _, d := range p.dests {
		words := d.kind + " " + d.target
		if d.target == "" {
			words = noFolder
		}
		t.add("destination", words, p.destinationOrigin(d, cfg), "")
	}
	if len(p.dests) == 0 {
		t.add("destination", "none", origin(s.Exporters.Key), "")
	}
	if p.has(destOTLP) {
		o := s.OTLP
		row(t, "OTLP protocol", o.Protocol, plain)
		row(t, "OTLP headers", o.Headers, headerNames)
		row(t, "OTLP certificate", o.Certificate, orNone)
		row(t, "OTLP client certificate", o.ClientCertificate, orNone)
		row(t, "OTLP client key", o.ClientKey, orNone)
		row(t, "OTLP compression", o.Compression, plain)
		row(t, "OTLP timeout", o.Timeout, noLimit)
	}
	if p.has(destFile) {
		row(t, "file size limit", s.TracesMaxBytes, func(n int64) string { return strconv.FormatInt(n, 10) + " bytes" })
		row(t, "keep the previous file", s.TracesKeep, strconv.FormatBool)
	}
}

func (p *Plan) destinationOrigin(d plannedDestination, cfg Config) string {
	s := p.settings
	switch {
	case d.kind == destFile && s.TracesFile.IsSet():
		return s.TracesFile.Key
	case d.kind == destFile && cfg.AlsoFile && len(p.dests) > 1:
		return "Config.AlsoFile"
	case d.kind == destOTLP && d.key != "":
		return d.key
	case d.kind != destFile:
		return origin(s.Exporters.Key)
	}
	return origin("")
}

// batchRows has the batch processor's settings. The file has none: it encodes a
// span when it ends.
func (p *Plan) batchRows(t *rowTable) {
	b := p.settings.Batch
	note := ""
	if !p.has(destOTLP) && !p.has(destConsole) {
		note = "not applied: nothing here has a batch processor"
	}
	t.add("batch delay", b.ScheduleDelay.V.String(), origin(b.ScheduleDelay.Key), note)
	t.add("batch export timeout", noLimit(b.ExportTimeout.V), origin(b.ExportTimeout.Key), note)
	t.add("batch queue", strconv.Itoa(b.MaxQueueSize.V), origin(b.MaxQueueSize.Key), note)
	t.add("batch size", strconv.Itoa(b.MaxExportBatchSize.V), origin(b.MaxExportBatchSize.Key), note)
}

func (p *Plan) hideRows(t *rowTable, cfg Config) {
	if cfg.Mask != nil {
		t.add("mask", "a function", "Config.Mask", "")
	}
	h := p.settings.Hide
	for _, v := range []env.Value[bool]{
		h.Inputs, h.Outputs, h.InputMessages, h.OutputMessages, h.InputText, h.OutputText, h.InputImages,
		h.LLMInvocationParameters, h.LLMTools, h.Prompts, h.Choices, h.EmbeddingsVectors, h.EmbeddingsText,
	} {
		if v.IsSet() {
			t.add("hide", strconv.FormatBool(v.V), v.Key, "")
		}
	}
	if v := h.Base64ImageMaxLength; v.IsSet() {
		t.add("hide images longer than", strconv.Itoa(v.V), v.Key, "")
	}
}

// String is the plan as a table for people: each value with its origin, then
// the findings.
func (p Plan) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	state := "off"
	switch {
	case p.Tracing && p.Spans && len(p.Destinations) == 0:
		state = "on, exported nowhere"
	case p.Tracing && p.Spans:
		state = "on"
	case p.Tracing:
		state = "on, without spans"
	}
	fmt.Fprintf(w, "tracing of %s: %s\n\n", printable(p.App), state)
	for _, v := range p.Values {
		from := v.Origin
		if v.Note != "" {
			from += " (" + v.Note + ")"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", v.Name, printable(v.Value), from)
	}
	if err := w.Flush(); err != nil {
		return err.Error() // a strings.Builder does not fail
	}
	if len(p.Findings) > 0 {
		b.WriteString("\nfindings:\n")
	}
	for _, f := range p.Findings {
		fmt.Fprintf(&b, "  %s=%q: want %s; using %s\n", printable(f.Key), f.Value, printable(f.Want), printable(f.Used))
	}
	return b.String()
}

type rowTable struct{ rows []Value }

func (t *rowTable) add(name, value, origin, note string) {
	t.rows = append(t.rows, Value{Name: name, Value: value, Origin: origin, Note: note})
}

func row[T any](t *rowTable, name string, v env.Value[T], format func(T) string) {
	t.add(name, format(v.V), origin(v.Key), "")
}

func origin(key string) string {
	if key == "" {
		return "default"
	}
	return key
}

func plain(s string) string { return s }

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func list(v []string) string { return orNone(strings.Join(v, ",")) }

func limit(n int) string {
	if n < 0 {
		return "none"
	}
	return strconv.Itoa(n)
}

func noLimit(d time.Duration) string {
	if d <= 0 {
		return "no limit"
	}
	return d.String()
}

// headerNames names the headers and never shows a value.
func headerNames(v env.Headers) string {
	words := make([]string, 0, len(v))
	for _, kv := range v {
		words = append(words, kv.Key+"=***")
	}
	return list(words)
}

// levelName is a level as OTEL_LOG_LEVEL spells it.
func levelName(l slog.Level) string {
	if l == env.LevelNone {
		return "none"
	}
	return strings.ToLower(l.String())
}
