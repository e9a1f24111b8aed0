package otlpjson

// A line is one TracesData document with one resource and one scope:
//
//	{"resourceSpans":[{"scopeSpans":[{"spans":[…],"scope":{"name":"…"},"schemaUrl":"…"}],"resource":{"attributes":[…]},"schemaUrl":"…"}]}
//
// It is LineStart, spans, CloseList, ScopeOfLine, attributes (with
// OpenAttributes), ResourceOfLine, attributes, CloseLine. Everything after the
// list of spans is the same for every line of a resource and scope, and can be
// kept.
//
// The spans stand first so that a file's first bytes are its own: what follows
// files often knows them by these (the Collector's file consumer by the first
// 1000), and the resource is the same in every file of a program (ADR 0082).

const (
	// DocumentStart is how a document starts, in a line or not.
	DocumentStart = `{"resourceSpans":[`

	// LineStart begins a line; the spans follow, then [CloseList].
	LineStart = DocumentStart + `{"scopeSpans":[{"spans":[`

	// DocumentEnd is how a line ends, after its one resource.
	DocumentEnd = "]}\n"
)

// ScopeOfLine begins the scope after the list of spans; its attributes may
// follow with [OpenAttributes] and [CloseList], and a dropped count.
func ScopeOfLine(b []byte, name, version string) []byte {
	b = append(b, `,"scope":{"name":`...)
	b = AppendString(b, name)
	if version != "" {
		b = append(b, `,"version":`...)
		b = AppendString(b, version)
	}
	return b
}

// ResourceOfLine ends the scope and begins the resource; its attributes follow.
func ResourceOfLine(b []byte, scopeSchemaURL string) []byte {
	b = append(b, '}')
	b = appendSchemaURL(b, scopeSchemaURL)
	return append(b, `}],"resource":{"attributes":[`...)
}

// CloseLine ends the resource, the document and the line.
func CloseLine(b []byte, resourceDropped uint32, resourceSchemaURL string) []byte {
	b = CloseList(b)
	b = AppendDroppedAttributes(b, resourceDropped)
	b = append(b, '}')
	b = appendSchemaURL(b, resourceSchemaURL)
	return append(append(b, '}'), DocumentEnd...)
}

func appendSchemaURL(b []byte, url string) []byte {
	if url == "" {
		return b
	}
	b = append(b, `,"schemaUrl":`...)
	return AppendString(b, url)
}
