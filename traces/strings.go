package traces

import "strconv"

// String returns the kind as OpenTelemetry writes it: "server". A number that
// OTLP does not know gives "kind(9)".
func (k Kind) String() string {
	return nameOf(int64(k), "kind", "unspecified", "internal", "server", "client", "producer", "consumer")
}

// String returns "Unset", "Ok" or "Error", the names of OpenTelemetry's API. A
// number that OTLP does not know gives "status(9)".
func (c StatusCode) String() string {
	return nameOf(int64(c), "status", "Unset", "Ok", "Error")
}

// String returns the kind of value in one lower-case word: "string".
func (k ValueKind) String() string {
	return nameOf(int64(k), "value", "empty", "string", "bool", "int", "double", "bytes", "array", "map")
}

func nameOf(n int64, what string, names ...string) string {
	if n >= 0 && n < int64(len(names)) {
		return names[n]
	}
	return what + "(" + strconv.FormatInt(n, 10) + ")"
}
