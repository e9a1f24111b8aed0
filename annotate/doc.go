// Package annotate makes spans that say what a step means: its kind, what went in, what came out, and whose
// work it was. A trace of timings becomes one that answers why a model said what it said, and to whom.
//
// [Do] makes a span of a step, and marks it with the step's error, panic or runtime.Goexit:
//
//	err := annotate.Do(ctx, "charge", func(ctx context.Context) error {
//		annotate.SetInput(ctx, order)
//		return charge(ctx, order)
//	})
//
// [Func] wraps a function, so that each call of it is a span with its input, output and error; [Call] does so for
// one call, and [Seq], [Seq2] and [Chan] for streams, whose chunks are joined:
//
//	answer := annotate.Func("answer", answer, annotate.Agent)
//
// [Span] is for where a function does not fit; it sees an error only in a named result. Anywhere in a request that package middleware traces, say who it is for:
//
//	annotate.SetUser(r.Context(), user.ID)
//	annotate.SetTags(r.Context(), "beta")
//
// The server span and every span that starts later have it, also those of other libraries; no copy of the
// request is needed. [With] does it for a block. Out of reach are spans started from a context without the
// trace, such as context.Background(), and spans that have ended. Ids never leave in headers, unless
// [Baggage] asks for it.
//
// # Conventions
//
// Attributes are those of OpenInference, which backends for models read; [Config.GenAI] adds OpenTelemetry's
// own. Strings, numbers and bools are recorded as text, anything else as JSON, and what is longer than
// [Config.MaxCapturedBytes] is cut at a character and marked, at a cost that does not grow with the value.
//
// # What is kept out
//
// [NoInput], [NoOutput], [Redact], [RedactInput] and [RedactOutput] keep values out of one function's spans;
// a redaction that panics, does not return or ends its goroutine leaves a marker, never the value. OPENINFERENCE_HIDE_* and [bootstrap.Config.Mask]
// keep attributes out of every destination, whoever has set them, and out of live interactions; what the
// variables hide is taken out of input.value and output.value too. Metrics run
// inside the program and see what the function got and gave, after its redaction.
//
// # Scores and live interactions
//
// [Metrics] judge calls after they have returned; each score is a span of kind [Evaluator] that links to the
// root of the trace. [Config.Live] reports the outermost span of each trace to a [Sink]. Neither takes time
// from the call: both have a bounded queue, and what does not fit is counted in [Stats].
//
// # Starting
//
// Nothing has to be started: the first use does, with defaults, under the App's switch, when no tracing runs.
// With the switch off spans cost nothing and handles are nil, which works. [New] configures a [Client], whose
// methods take the same arguments as the functions of the package; for the wrappers, which are generic, the
// client is an option.
//
// Spec: https://github.com/Arize-ai/openinference/blob/python-openinference-semantic-conventions-v0.1.21/spec/semantic_conventions.md
package annotate
