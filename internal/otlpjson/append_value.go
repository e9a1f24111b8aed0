package otlpjson

import "encoding/base64"

// OpenAttributes begins the attributes of a span, event, link or scope, after
// another field. Each attribute is [AppendKey], a value, [CloseObject]; the
// list ends with [CloseList].
func OpenAttributes(b []byte) []byte { return append(b, `,"attributes":[`...) }

// AppendKey begins one attribute; its value follows, then [CloseObject].
func AppendKey(b []byte, key string) []byte {
	b = append(b, `{"key":`...)
	b = AppendString(b, key)
	return append(b, `,"value":`...)
}

// AppendEmptyValue appends the AnyValue without a value.
func AppendEmptyValue(b []byte) []byte { return append(b, '{', '}') }

// AppendStringValue appends an AnyValue that holds a string.
func AppendStringValue(b []byte, v string) []byte {
	b = append(b, `{"stringValue":`...)
	return append(AppendString(b, v), '}')
}

// AppendBoolValue appends an AnyValue that holds a boolean.
func AppendBoolValue(b []byte, v bool) []byte {
	if v {
		return append(b, `{"boolValue":true}`...)
	}
	return append(b, `{"boolValue":false}`...)
}

// AppendIntValue appends an AnyValue that holds an integer.
func AppendIntValue(b []byte, v int64) []byte {
	b = append(b, `{"intValue":"`...)
	b = appendInt(b, v)
	return append(b, '"', '}')
}

// AppendDoubleValue appends an AnyValue that holds a floating-point number.
func AppendDoubleValue(b []byte, v float64) []byte {
	b = append(b, `{"doubleValue":`...)
	return append(AppendDouble(b, v), '}')
}

// AppendBytesValue appends an AnyValue that holds bytes.
func AppendBytesValue(b, v []byte) []byte {
	b = append(b, `{"bytesValue":"`...)
	b = base64.StdEncoding.AppendEncode(b, v)
	return append(b, '"', '}')
}

// OpenArray begins an AnyValue that holds an array: values follow, each with a
// comma, then [CloseArray].
func OpenArray(b []byte) []byte { return append(b, `{"arrayValue":{"values":[`...) }

// CloseArray ends what [OpenArray] began.
func CloseArray(b []byte) []byte { return append(CloseList(b), '}', '}') }

// OpenMap begins an AnyValue that holds a key-value list: attributes follow as
// in [OpenAttributes], then [CloseMap].
func OpenMap(b []byte) []byte { return append(b, `{"kvlistValue":{"values":[`...) }

// CloseMap ends what [OpenMap] began.
func CloseMap(b []byte) []byte { return append(CloseList(b), '}', '}') }
