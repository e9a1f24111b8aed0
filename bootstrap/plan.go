package bootstrap

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/statepath"
)

// What is used, and shown, when there is no place for the span file.
const (
	noFile   = "no file; spans are counted and dropped"
	noFolder = "no file: no state folder is known"
)

// keyHome is the variable behind the span file's place when none of ours and no
// XDG_STATE_HOME says it.
const keyHome = "HOME"

// Plan is what [Start] would do, decided from the configuration and the
// variables alone: nothing is opened, asked or changed. A provider that the
// program has set, a folder that cannot be written or a certificate that cannot
// be read shows when Start tries.
type Plan struct {
	App          string        `json:"app"`
	Tracing      bool          `json:"tracing"`                // the switch is on
	Spans        bool          `json:"spans"`                  // spans are made, also when they are exported nowhere
	Destinations []Destination `json:"destinations,omitempty"` // where they go
	Values       []Value       `json:"values,omitempty"`       // every value with its origin
	Findings     []env.Finding `json:"findings,omitempty"`     // bad and doubtful variables

	settings env.Settings
	dests    []plannedDestination
	secrets  redactors
}

// Destination is one place that spans go to.
type Destination struct {
	Name   string `json:"name"`   // file, otlp, console, otlp/stdout
	Target string `json:"target"` // path or endpoint, without user and query
}

// Value is one value and where it comes from.
type Value struct {
	Name   string `json:"name"`
	Value  string `json:"value"`  // secrets are masked
	Origin string `json:"origin"` // "default", a variable, or "Config.Field"
	Note   string `json:"note,omitempty"`
}

type plannedDestination struct {
	kind   string
	target string // path or endpoint
	key    string // the variable that asks for it
}

// Explain says what [Start] would do with cfg. It is pure.
func Explain(cfg Config) Plan {
	app, lookup := cfg.app(), cfg.lookup()
	settings, findings := env.Parse(app, lookup)
	p := Plan{
		App:      app,
		Tracing:  settings.Tracing.V,
		settings: settings,
		secrets:  newRedactors(app, settings, lookup),
	}
	for _, f := range findings {
		p.find(f)
	}
	if p.Tracing && !settings.SDKDisabled.V {
		p.decide(cfg)
		p.Spans = true
	}
	for _, d := range p.dests {
		p.Destinations = append(p.Destinations, Destination{Name: d.kind, Target: p.shown(d.target)})
	}
	p.Values = p.rows(cfg)
	for i := range p.Values {
		p.Values[i].Value = p.secrets.own.Text(p.Values[i].Value)
	}
	return p
}

// decide finds the destinations: what OTEL_TRACES_EXPORTER lists, else OTLP
// when an endpoint is set, else the file.
func (p *Plan) decide(cfg Config) {
	s := p.settings
	wanted := s.Exporters.V
	switch {
	case slices.Contains(wanted, "none"):
		wanted = nil
	case len(wanted) > 0:
	case s.Exporters.IsSet(): // and nothing in it is known
		wanted = []string{destFile}
	case s.OTLP.Endpoint.V != "" || s.OTLP.Unusable != "":
		wanted = []string{destOTLP}
	default:
		wanted = []string{destFile}
	}
	for _, kind := range wanted {
		p.add(cfg, kind)
	}
	if cfg.AlsoFile {
		p.add(cfg, destFile)
	}
	if f := s.TracesFile; f.IsSet() && !p.has(destFile) {
		p.find(env.Finding{
			Key: f.Key, Value: f.V,
			Want: "no file beside another destination, unless Config.AlsoFile",
			Used: strings.Join(kinds(p.dests), ", ") + " alone",
		})
	}
}

func (p *Plan) add(cfg Config, kind string) {
	s := p.settings
	d := plannedDestination{kind: kind, target: "standard output", key: s.Exporters.Key}
	switch kind {
	case destFile:
		d = cfg.file(s)
	case destOTLP:
		d.target = s.OTLP.Endpoint.V
		if s.OTLP.Endpoint.IsSet() {
			d.key = s.OTLP.Endpoint.Key
		}
		if s.OTLP.Unusable != "" { // its finding is there
			d = cfg.file(s)
		} else if !otlpBuiltIn {
			p.find(env.Finding{
				Key: d.key, Value: d.target,
				Want: "a binary built without the tag waymark_nootlp",
				Used: "the file",
			})
			d = cfg.file(s)
		}
	}
	if p.has(d.kind) {
		return
	}
	if d.kind == destFile && d.target == "" {
		p.find(env.Finding{
			Key:  d.key,
			Want: fmt.Sprintf("a home folder for the span file, or %s%s, or %s", env.Prefix(s.App), env.SuffixTracesFile, env.KeyOTLPEndpoint),
			Used: noFile,
		})
	}
	p.dests = append(p.dests, d)
}

func (p *Plan) has(kind string) bool {
	return slices.ContainsFunc(p.dests, func(d plannedDestination) bool { return d.kind == kind })
}

// find adds a finding without secrets, cut to what a log line takes.
func (p *Plan) find(f env.Finding) {
	f.Value, f.Want, f.Used = cut(p.secrets.own.Text(f.Value)), cut(p.secrets.own.Text(f.Want)), cut(p.secrets.own.Text(f.Used))
	p.Findings = append(p.Findings, f)
}

// shown is a path, an endpoint, or an error about them for people.
func (p *Plan) shown(text string) string { return escaped(p.secrets.own.Text(text)) }

func kinds(dests []plannedDestination) []string {
	if len(dests) == 0 {
		return []string{"none"}
	}
	names := make([]string, 0, len(dests))
	for _, d := range dests {
		names = append(names, d.kind)
	}
	return names
}

// file is the destination for the span file; its target is empty when no
// folder is known.
func (c Config) file(s env.Settings) plannedDestination {
	if s.TracesFile.V != "" {
		path := s.TracesFile.V
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		return plannedDestination{kind: destFile, target: path, key: s.TracesFile.Key}
	}
	d := plannedDestination{kind: destFile, key: keyHome}
	if path, err := statepath.TracesFile(s.App, c.lookup().Lookup); err == nil {
		d.target = path
	}
	if v, _ := c.lookup().Lookup(env.KeyStateHome); filepath.IsAbs(strings.TrimSpace(v)) {
		d.key = env.KeyStateHome
	}
	return d
}
