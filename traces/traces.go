// Package traces is the model of finished spans.
package traces

// TraceID and SpanID are the identifiers of OTLP; all zero is none.
type (
	TraceID [16]byte
	SpanID  [8]byte
)

// Kind is the span kind in OTLP's numbers.
type Kind int32

// The kinds of OTLP.
const (
	KindUnspecified Kind = iota
	KindInternal
	KindServer
	KindClient
	KindProducer
	KindConsumer
)

// StatusCode is the status in OTLP's numbers.
type StatusCode int32

// The status codes of OTLP. They are not Go's codes.Code, where 1 is Error.
const (
	StatusUnset StatusCode = iota
	StatusOK
	StatusError
)

// Status is a span's status.
type Status struct {
	Code    StatusCode
	Message string
}

// Span is one finished span in the shape of OTLP. Times are Unix nanoseconds.
type Span struct {
	TraceID           TraceID
	SpanID            SpanID
	ParentID          SpanID
	TraceState        string
	Flags             uint32
	Name              string
	Kind              Kind
	StartUnixNano     uint64
	EndUnixNano       uint64
	Attributes        []Attribute
	DroppedAttributes uint32
	Events            []Event
	DroppedEvents     uint32
	Links             []Link
	DroppedLinks      uint32
	Status            Status
	Resource          *Resource // shared between spans; never nil in a span that was read
	Scope             *Scope    // shared between spans; never nil in a span that was read
}

// Event is a point in time inside a span.
type Event struct {
	Name              string
	TimeUnixNano      uint64
	Attributes        []Attribute
	DroppedAttributes uint32
}

// Link points to another span.
type Link struct {
	TraceID           TraceID
	SpanID            SpanID
	TraceState        string
	Flags             uint32
	Attributes        []Attribute
	DroppedAttributes uint32
}

// Resource is what made the spans.
type Resource struct {
	Attributes        []Attribute
	DroppedAttributes uint32
	SchemaURL         string
}

// Scope is the instrumentation that made the spans.
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

// ValueKind tells the kinds of values apart.
type ValueKind uint8

// The kinds of OTLP's AnyValue.
const (
	ValueEmpty ValueKind = iota
	ValueString
	ValueBool
	ValueInt
	ValueDouble
	ValueBytes
	ValueArray
	ValueMap
)
