package bootstrap

import (
	"context"
	"errors"
	"runtime/debug"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/semconv"
)

// newResource describes this process: who it is by the plan, where it runs by
// the detectors. It has neither command line nor owner, which can hold secrets.
// A detector that fails, or that has the attributes of another schema version,
// takes nothing else with it: the error says so and the resource is usable.
func newResource(cfg Config, s env.Settings) (*resource.Resource, error) {
	// resource.New puts later detectors over earlier ones.
	res, err := resource.New(
		context.Background(),
		resource.WithTelemetrySDK(),
		resource.WithHost(),
		resource.WithOS(),
		resource.WithContainer(),
		resource.WithProcessPID(),
		resource.WithProcessExecutableName(),
		resource.WithProcessExecutablePath(),
		resource.WithProcessRuntimeName(),
		resource.WithProcessRuntimeVersion(),
		resource.WithProcessRuntimeDescription(),
		resource.WithService(),
		resource.WithAttributes(buildAttributes(debug.ReadBuildInfo())...),
		resource.WithAttributes(variableAttributes(s)...),
		resource.WithAttributes(configAttributes(cfg, s)...),
	)
	if errors.Is(err, resource.ErrSchemaURLConflict) {
		err = nil // the attributes are all there; only the schema's URL is left out
	}
	return res, err
}

// buildAttributes is what the build information says of the main module.
func buildAttributes(info *debug.BuildInfo, ok bool) []attribute.KeyValue {
	if !ok {
		return nil
	}
	var kvs []attribute.KeyValue
	if v := info.Main.Version; v != "" && v != "(devel)" {
		kvs = append(kvs, semconv.ServiceVersionKey.String(v))
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			kvs = append(kvs, semconv.VCSRefHeadRevisionKey.String(s.Value))
		case "vcs.modified":
			if modified, err := strconv.ParseBool(s.Value); err == nil && modified {
				kvs = append(kvs, attribute.Bool("waymark.vcs.modified", true))
			}
		}
	}
	return kvs
}

func variableAttributes(s env.Settings) []attribute.KeyValue {
	kvs := make([]attribute.KeyValue, 0, len(s.ResourceAttributes.V))
	for _, p := range s.ResourceAttributes.V {
		kvs = append(kvs, attribute.String(p.Key, p.Value))
	}
	return kvs
}

func configAttributes(cfg Config, s env.Settings) []attribute.KeyValue {
	kvs := []attribute.KeyValue{semconv.ServiceNameKey.String(serviceName(s))}
	if cfg.Version != "" {
		kvs = append(kvs, semconv.ServiceVersionKey.String(cfg.Version))
	}
	if cfg.Environment != "" {
		kvs = append(kvs, semconv.DeploymentEnvironmentNameKey.String(cfg.Environment))
	}
	return kvs
}

// serviceName is what the variables say, else the App.
func serviceName(s env.Settings) string {
	if s.ServiceName.V != "" {
		return s.ServiceName.V
	}
	return s.App
}

// sdkResource is what the SDK makes of res: it puts res over what it reads from
// the process's variables itself.
func sdkResource(res *resource.Resource) *resource.Resource {
	merged, err := resource.Merge(resource.Environment(), res)
	if err != nil {
		return resource.Empty() // differs, so that ours is shown
	}
	return merged
}
