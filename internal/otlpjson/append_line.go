package otlpjson

// A line is one TracesData document with one resource and one scope:
//
//	{"resourceSpans":[{"resource":{"attributes":[…]},"schemaUrl":"…","scopeSpans":[{"scope":{"name":"…"},"schemaUrl":"…","spans":[…]}]}]}
//
// It is OpenLine, attributes, ScopeOfLine, attributes (with OpenAttributes),
// SpansOfLine, spans, CloseLine. Everything before the spans is the same for
// every line of a resource and scope, and can be kept. The schema URLs stand
// before what they describe, so that a reader has them when it meets a span.

// LinePrefix is how each line that [OpenLine] begins starts.
const LinePrefix = `{"resourceSpans":[`

// OpenLine begins a line; the resource's attributes follow.
func OpenLine(b []byte) []byte { return append(b, LinePrefix+`{"resource":{"attributes":[`...) }

// ScopeOfLine ends the resource and begins the scope; its attributes may follow
// with [OpenAttributes] and [CloseList], and a dropped count.
func ScopeOfLine(b []byte, resourceDropped uint32, resourceSchemaURL, name, version string) []byte {
	b = CloseList(b)
	b = AppendDroppedAttributes(b, resourceDropped)
	b = append(b, '}')
	b = appendSchemaURL(b, resourceSchemaURL)
	b = append(b, `,"scopeSpans":[{"scope":{"name":`...)
	b = AppendString(b, name)
	if version != "" {
		b = append(b, `,"version":`...)
		b = AppendString(b, version)
	}
	return b
}

// SpansOfLine ends the scope and begins the spans.
func SpansOfLine(b []byte, scopeSchemaURL string) []byte {
	b = append(b, '}')
	b = appendSchemaURL(b, scopeSchemaURL)
	return append(b, `,"spans":[`...)
}

func appendSchemaURL(b []byte, url string) []byte {
	if url == "" {
		return b
	}
	b = append(b, `,"schemaUrl":`...)
	return AppendString(b, url)
}

// LineSuffix is what [CloseLine] adds beyond the last span's comma, at most.
const LineSuffix = `]}]}]}` + "\n"

// CloseLine ends the spans, the document and the line.
func CloseLine(b []byte) []byte { return append(CloseList(b), LineSuffix[1:]...) }
