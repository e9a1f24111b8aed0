package traces

// Kind is the role of a span in its trace, in OTLP's numbers.
//
// Spec: https://github.com/open-telemetry/opentelemetry-proto/blob/v1.9.0/opentelemetry/proto/trace/v1/trace.proto
type Kind int32

// The kinds of OTLP. They are the numbers of Go's trace.SpanKind too.
const (
	KindUnspecified Kind = iota // not said; readers treat it as internal
	KindInternal                // an operation inside a program
	KindServer                  // handles a request
	KindClient                  // sends a request and waits for its answer
	KindProducer                // hands a message to somebody
	KindConsumer                // takes a message
)

// StatusCode is the outcome of a span, in OTLP's numbers.
type StatusCode int32

// The status codes of OTLP. They are not Go's codes.Code, where 1 is Error.
const (
	StatusUnset StatusCode = iota // nothing was said: not an error
	StatusOK                      // the program said that it is no error
	StatusError                   // the operation failed
)

// Status is the outcome of a span.
type Status struct {
	Code    StatusCode
	Message string // what failed, for people; empty unless Code is StatusError
}

// Span is one span in the shape of OTLP. Times are Unix nanoseconds; zero is
// "not known", and a span without an end is open. The fields of a span that is
// in a [Set] must not change any more; then any number of goroutines may read
// it.
type Span struct {
	TraceID           TraceID
	SpanID            SpanID
	ParentID          SpanID      // zero: a root
	TraceState        string      // the W3C tracestate header
	Flags             uint32      // W3C trace flags, and bits 8 and 9: see [Span.RemoteParent]
	Name              string      // as it came: hostile text until it is escaped
	Kind              Kind        //
	StartUnixNano     uint64      // zero: not known
	EndUnixNano       uint64      // zero: open, or not known
	Attributes        []Attribute // in the order in which they were written
	DroppedAttributes uint32      // attributes that the writer left out
	Events            []Event     // in the order in which they were written
	DroppedEvents     uint32
	Links             []Link
	DroppedLinks      uint32
	Status            Status
	Resource          *Resource // shared between spans; never nil in a span that was read
	Scope             *Scope    // shared between spans; never nil in a span that was read
}

// Event is a point in time inside a span. An exception is an event of that
// name: see [Span.Exceptions].
type Event struct {
	Name              string
	TimeUnixNano      uint64
	Attributes        []Attribute
	DroppedAttributes uint32
}

// Link points to another span, of this trace or of another.
type Link struct {
	TraceID           TraceID
	SpanID            SpanID
	TraceState        string
	Flags             uint32
	Attributes        []Attribute
	DroppedAttributes uint32
}

// Resource is what made the spans: a process with its service.name.
type Resource struct {
	Attributes        []Attribute
	DroppedAttributes uint32
	SchemaURL         string
}

// Scope is the instrumentation that made the spans: a package and its version.
type Scope struct {
	Name              string
	Version           string
	Attributes        []Attribute
	DroppedAttributes uint32
	SchemaURL         string
}

// Attribute is a key with a typed value.
type Attribute struct {
	Key   string
	Value Value
}
