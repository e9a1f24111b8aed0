// Waymark reads finished traces: span files of any dialect.
//
// Usage:
//
//	waymark routes|show|errors|hints|diff|rate [flags] [FILE …]
//	waymark tree|list|stats|convert|html|check|send|tail [flags] [FILE …]
//	waymark env -app NAME
//	waymark version
//
//	routes   how many requests of each route, how many failed, how long they took
//	show     where the time of one request went
//	errors   what failed, in groups
//	hints    what is wrong in the program: N+1 queries, retries, slow minorities …
//	diff     two runs, or two windows of one: what got slower
//	rate     how many requests started when
//	tree     draw traces as text trees
//	list     a table of traces, or with -spans of spans
//	stats    totals, durations, and a timeline, as bars
//	convert  write another format: OTLP, Jaeger, Zipkin, CSV, Chrome, speedscope
//	html     write a report for the browser, one file that needs no network
//	check    look for what is wrong: orphans, clock skew, secrets …
//	send     replay spans to an OTLP endpoint
//	tail     print spans as they end
//	env      what an App's variables make tracing do, and why
//	version  which waymark this is
//
// waymark VERB -h explains each. FILE is a file or a folder, - is standard input;
// OTLP (JSON lines, JSON, protobuf), Jaeger, Zipkin, Python's to_json, Go's
// stdouttrace, and gzip and zstd around them are found out by their content.
// Without FILE: the files of -app NAME, else of $WAYMARK_APP, else those in the
// state home that were written last.
//
// The exit status is 0 when all is done and clean, 1 when something failed, was
// found, or was refused, 2 for wrong usage. What is passed over in a file is
// reported on stderr and, but for check, does not change the status: a file that
// is being written ends in half a line.
package main

const usage = `usage: waymark routes|show|errors|hints|diff|rate [flags] [FILE …]
       waymark tree|list|stats|convert|html|check|send|tail [flags] [FILE …]
       waymark env -app NAME
       waymark version

  routes   how many requests of each route, how many failed, how long they took
  show     where the time of one request went
  errors   what failed, in groups
  hints    what is wrong in the program: N+1 queries, retries, slow minorities …
  diff     two runs, or two windows of one: what got slower
  rate     how many requests started when
  tree     draw traces as text trees
  list     a table of traces, or with -spans of spans
  stats    totals, durations, and a timeline, as bars
  convert  write another format: OTLP, Jaeger, Zipkin, CSV, Chrome, speedscope
  html     write a report for the browser, one file that needs no network
  check    look for what is wrong: orphans, clock skew, secrets …
  send     replay spans to an OTLP endpoint
  tail     print spans as they end
  env      what an App's variables make tracing do, and why
  version  which waymark this is

waymark VERB -h explains each. FILE is a file or a folder, - is standard input;
OTLP (JSON lines, JSON, protobuf), Jaeger, Zipkin, Python's to_json, Go's
stdouttrace, and gzip and zstd around them are found out by their content.
Without FILE: the files of -app NAME, else of $WAYMARK_APP, else those in the
state home that were written last.

The exit status is 0 when all is done and clean, 1 when something failed, was
found, or was refused, 2 for wrong usage. What is passed over in a file is
reported on stderr and, but for check, does not change the status: a file that
is being written ends in half a line.
`

// selectUsage is the part of the usage that verbs with a selection share.
const selectUsage = `  -trace ID       only the trace whose ID begins so (4 digits or more)
  -where QUERY    only what fits: terms, which all must: service=shop, name~^GET,
                  http.response.status_code>=500, dur>50ms, status=error,
                  has:db.system.name, -user.id=7 (not), user.id!=7, words (in a
                  name or any value); of whole traces trace.dur>1s,
                  trace.spans>100. Blanks need quotes: route="GET /cart". A key
                  is name, service, kind, scope, status, route, shape, else an
                  attribute of the span, else one of its resource, else
                  metadata.KEY, an entry of the span's metadata
`

const sourceUsage = `  -app NAME       the files of this App, when no FILE is named
`
