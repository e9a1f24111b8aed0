package otlpjson

// The bits of a span's and a link's flags above the eight W3C trace flags.
const (
	FlagHasIsRemote = 0x100 // it is known whether the context came from another process
	FlagIsRemote    = 0x200 // it did
)

// The status codes of OTLP. Go's codes.Code has 1 for Error and 2 for Ok.
const (
	StatusUnset = 0
	StatusOK    = 1
	StatusError = 2
)

// SpanFields are the fixed fields of a span. An all-zero ParentSpanID, an empty
// TraceState, a zero Kind and zero Flags are left out of the JSON.
type SpanFields struct {
	TraceID              [16]byte
	SpanID, ParentSpanID [8]byte
	Flags                uint32
	Kind                 int32 // as OTLP numbers them, which is as Go's trace.SpanKind does
	TraceState, Name     string
	StartTimeUnixNano    uint64
	EndTimeUnixNano      uint64
}

// OpenSpan begins a span. The lists follow in any order ([OpenAttributes],
// [OpenEvents], [OpenLinks]), counts, [AppendStatus], then [CloseObject].
func OpenSpan(b []byte, f *SpanFields) []byte {
	const (
		ids    = `{"traceId":"0123456789abcdef0123456789abcdef","spanId":"0123456789abcdef"`
		parent = `,"parentSpanId":"0123456789abcdef"`
	)
	start := len(b)
	b = append(b, ids+parent...)
	d := b[start : start+len(ids+parent)]
	putHex(d[len(`{"traceId":"`):], f.TraceID[:])
	putHex(d[len(ids)-17:], f.SpanID[:])
	switch {
	case f.ParentSpanID == [8]byte{}:
		b = appendTraceState(b[:start+len(ids)], f.TraceState)
	case f.TraceState == "":
		putHex(d[len(ids+parent)-17:], f.ParentSpanID[:])
	default:
		b = append(appendTraceState(b[:start+len(ids)], f.TraceState), parent...)
		putHex(b[len(b)-17:], f.ParentSpanID[:])
	}
	b = appendFlags(b, f.Flags)
	b = append(b, `,"name":"`...)
	b = append(appendText(b, f.Name), '"')
	if f.Kind >= 0 && f.Kind <= 9 {
		if f.Kind != 0 {
			b = append(b, `,"kind":0`...)
			b[len(b)-1] += byte(f.Kind)
		}
	} else {
		b = append(b, `,"kind":`...)
		b = appendInt(b, int64(f.Kind))
	}
	return appendTimes(b, f.StartTimeUnixNano, f.EndTimeUnixNano)
}

// appendTimes appends the start and the end. From 2001 to 2286 they have nineteen
// digits, and are written over place holders.
func appendTimes(b []byte, start, end uint64) []byte {
	const (
		digits    = "0123456789012345678"
		startTime = `,"startTimeUnixNano":"`
		endTime   = `","endTimeUnixNano":"`
		times     = startTime + digits + endTime + digits + `"`
	)
	if min(start, end) >= 1e18 && max(start, end) < 1e19 {
		n := len(b)
		b = append(b, times...)
		d := b[n : n+len(times)]
		put19(d[len(startTime):], start)
		put19(d[len(startTime+digits+endTime):], end)
		return b
	}
	b = append(b, startTime...)
	b = append(appendUint(b, start), endTime...)
	return append(appendUint(b, end), '"')
}

func appendTraceState(b []byte, s string) []byte {
	if s == "" {
		return b
	}
	b = append(b, `,"traceState":`...)
	return AppendString(b, s)
}

func appendFlags(b []byte, flags uint32) []byte {
	if flags == 0 {
		return b
	}
	b = append(b, `,"flags":`...)
	return appendUint(b, uint64(flags))
}

func appendCount(b []byte, key string, n uint32) []byte {
	if n == 0 {
		return b
	}
	b = append(b, key...)
	return appendUint(b, uint64(n))
}

// AppendDroppedAttributes appends the count of a span, event, link, resource or
// scope; nothing for 0.
func AppendDroppedAttributes(b []byte, n uint32) []byte {
	return appendCount(b, `,"droppedAttributesCount":`, n)
}

// AppendDroppedEvents appends a span's count; nothing for 0.
func AppendDroppedEvents(b []byte, n uint32) []byte {
	return appendCount(b, `,"droppedEventsCount":`, n)
}

// AppendDroppedLinks appends a span's count; nothing for 0.
func AppendDroppedLinks(b []byte, n uint32) []byte {
	return appendCount(b, `,"droppedLinksCount":`, n)
}

// OpenEvents begins a span's events: [OpenEvent], attributes, count,
// [CloseObject] each, then [CloseList].
func OpenEvents(b []byte) []byte { return append(b, `,"events":[`...) }

// OpenEvent begins one event.
func OpenEvent(b []byte, timeUnixNano uint64, name string) []byte {
	b = append(b, `{"timeUnixNano":"`...)
	b = appendUint(b, timeUnixNano)
	b = append(b, `","name":`...)
	return AppendString(b, name)
}

// OpenLinks begins a span's links: [OpenLink], attributes, count, [CloseObject]
// each, then [CloseList].
func OpenLinks(b []byte) []byte { return append(b, `,"links":[`...) }

// OpenLink begins one link. An ID of zeros is no ID and written as an empty one,
// as the Collector has it: a link without IDs is legal when it has attributes.
//
// Spec: https://github.com/open-telemetry/opentelemetry-specification/blob/v1.60.0/specification/trace/api.md#link
func OpenLink(b []byte, traceID [16]byte, spanID [8]byte, traceState string, flags uint32) []byte {
	b = append(b, `{"traceId":"`...)
	if traceID != [16]byte{} {
		b = AppendHex(b, traceID[:])
	}
	b = append(b, `","spanId":"`...)
	if spanID != [8]byte{} {
		b = AppendHex(b, spanID[:])
	}
	b = append(b, '"')
	b = appendTraceState(b, traceState)
	return appendFlags(b, flags)
}

// AppendStatus appends a span's status in OTLP's numbers; nothing when it is
// unset without a message.
func AppendStatus(b []byte, code int32, message string) []byte {
	if code == StatusUnset && message == "" {
		return b
	}
	b = append(b, `,"status":{`...)
	if message != "" {
		b = append(b, `"message":`...)
		b = AppendString(b, message)
		b = append(b, ',')
	}
	b = append(b, `"code":`...)
	b = appendInt(b, int64(code))
	return append(b, '}')
}
