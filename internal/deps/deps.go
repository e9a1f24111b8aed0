// Package deps holds the dependencies of the packages that are being written.
package deps

import (
	_ "github.com/adrg/xdg"
	_ "github.com/felixge/fgprof"
	_ "github.com/felixge/httpsnoop"
	_ "github.com/go-logr/logr"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/klauspost/compress/zstd"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "go.opentelemetry.io/collector/pdata/ptrace"
	_ "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	_ "go.opentelemetry.io/contrib/propagators/aws/xray"
	_ "go.opentelemetry.io/contrib/propagators/b3"
	_ "go.opentelemetry.io/contrib/propagators/jaeger"
	_ "go.opentelemetry.io/contrib/propagators/ot"
	_ "go.opentelemetry.io/otel"
	_ "go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	_ "go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	_ "go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	_ "go.opentelemetry.io/otel/sdk/trace"
	_ "go.opentelemetry.io/proto/otlp/trace/v1"
	_ "golang.org/x/sys/unix"
	_ "google.golang.org/protobuf/encoding/protojson"
)
