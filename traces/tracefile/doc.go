// Package tracefile reads the span files that people have, and writes the ones
// that other tools want.
//
// A file of spans may come from this module's exporter, from the Collector,
// from the download button of Jaeger, Tempo or Zipkin, from Python, or from a
// Go program's standard output; compressed or not, torn by a crash, with other
// things in between. [Open] takes any of them, a folder of them, and finds out
// from the content what each is:
//
//   - OTLP/JSON: lines, one document, several, pretty-printed or not, arrays of
//     them; names in snake_case, ids in base64, enums as names, Tempo's
//     "batches", the older instrumentationLibrarySpans, inside the answers of
//     Tempo's and Jaeger's APIs
//   - OTLP protobuf: TracesData or ExportTraceServiceRequest, also with lengths
//     in front as the Collector's file exporter writes it
//   - Jaeger JSON, Zipkin v2 JSON
//   - OpenTelemetry Python's ReadableSpan.to_json, Arize Phoenix's spans
//   - OpenTelemetry Go's stdouttrace, BuildKit's stored traces
//   - lines of any of them behind what a log has put in front, like docker
//     compose or a Java agent's logger
//   - gzip and zstd around any of them
//
// What cannot be read is passed over and is in the [Report], with its place: a line
// that is no JSON, a span with a value that its field cannot have. So is what a
// format says beside its spans, like Jaeger's warnings of a trace. A file in which
// nothing is a span is refused in one line that says what it is.
//
// # Ownership
//
// Every span that is handed out is new and the caller's for good. Resources
// and scopes are shared between spans, equal ones being one, and are not to be
// changed. Spans are made in chunks: one that is kept alone keeps up to about
// 190 KB of its neighbors in memory, so a program that keeps a few spans of a
// large file for long may want to copy them.
//
// # Bounds
//
// A file is read as a stream: memory does not depend on its size, but for
// [Jaeger] documents, of which one trace is a value, and for what the caller
// keeps. A line, document or message is at most 64 MiB ([WithMaxValueBytes]),
// JSON nests at most 500 deep and attribute values 64. A value of more than
// 1 MiB takes memory only as long as it can still become a document, and a file
// whose first 1 MiB, or first value, has no spans is not looked through further.
//
// # Writing
//
// [Write] writes spans as OTLP/JSON Lines, OTLP/JSON, OTLP protobuf, Jaeger
// JSON, Zipkin JSON, or CSV. What a format cannot hold is never dropped in
// silence: it is in the [Losses], by span and key.
package tracefile
