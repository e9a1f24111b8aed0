// Package waymark is the landing page of the module: tracing for Go web servers
// that needs nothing but one environment variable. It holds no code.
//
// Making traces:
//
//   - [github.com/waymark-trace/waymark/bootstrap] turns tracing on for a program,
//     and off again without losing a span unseen. Begin here.
//   - [github.com/waymark-trace/waymark/middleware] gives each request of a net/http
//     handler its server span, and each outgoing request its client span.
//   - [github.com/waymark-trace/waymark/annotate] adds input, output, user, session
//     and scores to spans.
//   - [github.com/waymark-trace/waymark/profile] writes profiles on graceful exit.
//   - [github.com/waymark-trace/waymark/jsonlexport] writes spans to an OTLP/JSON
//     Lines file, for programs that set up OpenTelemetry themselves.
//   - [github.com/waymark-trace/waymark/tracecontext] is a W3C Trace Context
//     propagator.
//   - [github.com/waymark-trace/waymark/env] lists the environment variables.
//
// Reading traces:
//
//   - [github.com/waymark-trace/waymark/cmd/waymark] is the command that reads them.
//   - [github.com/waymark-trace/waymark/capture] keeps the spans of one block of code
//     in memory; [github.com/waymark-trace/waymark/capture/capturetest] asserts on
//     them in tests, [github.com/waymark-trace/waymark/capture/notebook] shows them
//     in notebooks.
//   - [github.com/waymark-trace/waymark/traces] is the model of finished spans,
//     [github.com/waymark-trace/waymark/traces/tracefile] reads and writes span
//     files, [github.com/waymark-trace/waymark/traces/render] draws them.
package waymark
