package env

import (
	"fmt"
	"net/url"
	"strings"
)

// Headers are sent with every export. They are credentials as a rule, so every
// way of printing them, also as a part of [Settings], gives *** and no more.
type Headers []Pair

// Format prints *** for every verb.
func (Headers) Format(f fmt.State, _ rune) {
	_, _ = f.Write([]byte(masked)) // the error of a printer has no one to hear it
}

// MarshalText gives ***, also in JSON and in log/slog.
func (Headers) MarshalText() ([]byte, error) { return []byte(masked), nil }

// readHeaders decodes the headers. Those for traces replace those for all
// signals. A bad pair is left out, and its finding shows neither its name nor
// its value: "Authorization: Basic dXNlcg==" has a secret where a name should be.
//
// Spec: https://github.com/open-telemetry/opentelemetry-specification/blob/v1.60.0/specification/protocol/exporter.md#specifying-headers-via-environment-variables
func (p *parser) readHeaders(protocol string) Value[Headers] {
	key, raw := p.first(KeyOTLPTracesHeaders, KeyOTLPHeaders)
	if key == "" {
		return Value[Headers]{}
	}
	var set pairSet
	n, bad := 0, 0
	for item := range strings.SplitSeq(raw, ",") {
		n++
		if strings.TrimSpace(item) == "" {
			continue
		}
		pair, ok := parseHeader(item, protocol)
		if ok {
			set.add(pair)
		} else if bad == 0 {
			bad = n
		}
	}
	out := Value[Headers]{Key: key, V: set.pairs}
	if bad > 0 {
		p.find(key, masked,
			fmt.Sprintf("name=value pairs separated by commas, values percent-encoded (item %d is not)", bad),
			fmt.Sprintf("the other headers (%d)", len(out.V)))
	}
	return out
}

// parseHeader decodes one header. What the protocol could not carry would fail
// every export, so it is refused here.
func parseHeader(item, protocol string) (Pair, bool) {
	name, v, found := strings.Cut(item, "=")
	name = strings.TrimSpace(name)
	value, err := url.PathUnescape(v)
	if !found || err != nil || !isToken(name) {
		return Pair{}, false
	}
	value = strings.TrimSpace(value)
	ascii := protocol == protocolGRPC && !strings.HasSuffix(strings.ToLower(name), "-bin")
	for _, c := range []byte(value) {
		if c < ' ' && c != '\t' || c == 0x7f || ascii && (c == '\t' || c > 0x7e) {
			return Pair{}, false
		}
	}
	return Pair{Key: name, Value: value}, true
}

// isToken tells whether s can be a header's name or a method.
//
// Spec: https://www.rfc-editor.org/rfc/rfc9110.html#section-5.6.2
func isToken(s string) bool {
	const marks = "!#$%&'*+-.^_`|~"
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') && !strings.ContainsRune(marks, rune(c)) {
			return false
		}
	}
	return s != ""
}
