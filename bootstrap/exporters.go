package bootstrap

import (
	"io"
	"slices"
	"time"

	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"

	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/jsonlexport"
)

// The destinations, under the names of OTEL_TRACES_EXPORTER where it has one.
const (
	destFile       = "file"
	destOTLP       = "otlp"
	destConsole    = "console"
	destOTLPStdout = "otlp/stdout"
)

// consoleDelay is how soon a span shows on the console. The specification
// pairs the console with a simple processor, which would block a request while
// the terminal does not take the text.
const consoleDelay = 200 * time.Millisecond

// builder makes destinations of what the plan says.
type builder struct {
	cfg     Config
	set     env.Settings
	view    view
	diag    *diagnostics
	find    func(env.Finding)
	shown   func(string) string // a path, an endpoint, an error of the system
	console func() io.Writer
}

// build makes every destination. What cannot be built becomes the file, with
// one finding; a file that cannot be made drops and counts.
func (b *builder) build(plan []plannedDestination) []*destination {
	var dests []*destination
	hasFile := slices.ContainsFunc(plan, func(p plannedDestination) bool { return p.kind == destFile })
	for _, p := range plan {
		d, err := b.one(p)
		if err == nil {
			dests = append(dests, d)
			continue
		}
		b.find(env.Finding{Key: p.key, Value: p.target, Want: "an exporter that can be built", Used: "the file; the cause: " + b.shown(err.Error())})
		if hasFile {
			continue
		}
		hasFile = true
		dests = append(dests, b.file(b.cfg.file(b.set)))
	}
	return dests
}

func (b *builder) one(p plannedDestination) (*destination, error) {
	switch p.kind {
	case destOTLP:
		next, err := newOTLPSender(b.set.OTLP, b.diag.secrets.Text)
		if err != nil {
			return nil, err
		}
		return gated(destOTLP, b.shown(p.target), newGate(next, b.set.Batch, b.view, b.diag, destOTLP)), nil
	case destConsole:
		exp, err := stdouttrace.New(stdouttrace.WithWriter(b.console()), stdouttrace.WithPrettyPrint())
		if err != nil {
			return nil, err
		}
		batch := b.set.Batch
		if !batch.ScheduleDelay.IsSet() {
			batch.ScheduleDelay.V = consoleDelay
		}
		return gated(destConsole, b.shown(p.target), newGate(&exporterSender{SpanExporter: exp}, batch, b.view, b.diag, destConsole)), nil
	case destOTLPStdout:
		return written(destOTLPStdout, b.shown(p.target), jsonlexport.NewWriter(b.console(), b.fileOptions()...), b.fileView()), nil
	default:
		return b.file(p), nil
	}
}

// file opens the span file. When it cannot, one finding says why and every
// span is counted as dropped.
func (b *builder) file(p plannedDestination) *destination {
	if p.target == "" {
		// The finding of the plan has said that there is no place for it.
		return nowhere(destFile, noFolder)
	}
	e, err := jsonlexport.New(p.target, b.fileOptions()...)
	if err != nil {
		value, _ := b.cfg.lookup().Lookup(p.key)
		b.find(env.Finding{Key: p.key, Value: value, Want: "a span file that can be written", Used: noFile + "; the cause: " + b.shown(err.Error())})
		return nowhere(destFile, "no file: "+cut(b.shown(p.target))+" cannot be written")
	}
	return written(destFile, b.shown(e.Path()), e, b.fileView())
}

func (b *builder) fileOptions() []jsonlexport.Option {
	opts := []jsonlexport.Option{
		jsonlexport.WithLogger(b.diag.logger),
		jsonlexport.WithErrorHandler(b.diag.Handle),
		jsonlexport.WithMaxFileBytes(b.set.TracesMaxBytes.V),
		jsonlexport.WithTransform(b.view.mask),
	}
	if b.set.TracesKeep.V {
		opts = append(opts, jsonlexport.WithKeepPrevious())
	}
	return opts
}

// fileView is the view without the mask, which the encoder applies itself.
func (b *builder) fileView() view { return newView(nil, b.view.resource) }
