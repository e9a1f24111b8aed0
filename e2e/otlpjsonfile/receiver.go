// Package otlpjsonfile is a Collector receiver that follows files of OTLP/JSON
// lines. It is made of the same two parts as the Collector's receiver of that
// name, the file consumer and pdata's JSON reader, with the same settings and
// defaults, because that receiver is not to be had as a module at the version
// that is tested here (see ADR 0080).
package otlpjsonfile

import (
	"context"
	"errors"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/fileconsumer"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.uber.org/zap"
)

// Config has the settings of the file consumer: include, poll_interval,
// start_at, max_log_size and the others.
type Config struct {
	fileconsumer.Config `mapstructure:",squash"`
}

// NewFactory returns the factory of the receiver "otlpjsonfile", for traces.
func NewFactory() receiver.Factory {
	return receiver.NewFactory(
		component.MustNewType("otlpjsonfile"),
		func() component.Config { return &Config{Config: *fileconsumer.NewConfig()} },
		receiver.WithTraces(newTraces, component.StabilityLevelDevelopment),
	)
}

// follower hands each line of the files to the next consumer.
type follower struct {
	files  *fileconsumer.Manager
	logger *zap.Logger
	next   consumer.Traces
	json   ptrace.JSONUnmarshaler
}

func newTraces(_ context.Context, set receiver.Settings, cfg component.Config, next consumer.Traces) (receiver.Traces, error) {
	c, ok := cfg.(*Config)
	if !ok {
		return nil, errors.New("otlpjsonfile: not its configuration")
	}
	f := &follower{logger: set.Logger, next: next}
	files, err := c.Build(set.TelemetrySettings, f.consume)
	if err != nil {
		return nil, err
	}
	f.files = files
	return f, nil
}

// Start begins to follow the files; positions are not kept.
func (f *follower) Start(context.Context, component.Host) error { return f.files.Start(nil) }

// Shutdown stops following.
func (f *follower) Shutdown(context.Context) error { return f.files.Stop() }

// consume logs a line that is not OTLP/JSON as an error, for a test to see;
// the Collector's receiver only counts it.
func (f *follower) consume(ctx context.Context, lines [][]byte, _ map[string]any, _ int64, _ []int64) error {
	var errs error
	for _, line := range lines {
		traces, err := f.json.UnmarshalTraces(line)
		if err != nil {
			f.logger.Error("line refused", zap.Error(err), zap.Int("bytes", len(line)))
			continue
		}
		if traces.SpanCount() > 0 {
			errs = errors.Join(errs, f.next.ConsumeTraces(ctx, traces))
		}
	}
	return errs
}
