package env

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

const serviceNameKey = "service.name"

// readResource reads the resource's variables. The service's name is taken out
// of the attributes, so that one field has it.
//
// Spec: https://github.com/open-telemetry/opentelemetry-specification/blob/v1.60.0/specification/resource/sdk.md#specifying-resource-information-via-an-environment-variable
func (p *parser) readResource(s *Settings) {
	raw, ok := p.get(KeyResourceAttributes)
	if ok {
		pairs, bad := parseAttributes(raw)
		if bad > 0 {
			p.find(KeyResourceAttributes, raw,
				fmt.Sprintf("key=value pairs separated by commas, percent-encoded (item %d is not)", bad),
				"no attribute of it")
			pairs = nil
		} else {
			s.ResourceAttributes.Key = KeyResourceAttributes
		}
		for _, pair := range pairs {
			if pair.Key != serviceNameKey {
				s.ResourceAttributes.V = append(s.ResourceAttributes.V, pair)
			} else if name := strings.TrimSpace(pair.Value); isServiceName(name) {
				s.ServiceName = Value[string]{V: name, Key: KeyResourceAttributes}
			}
		}
	}
	if name, ok := p.get(KeyServiceName); ok && isServiceName(name) {
		s.ServiceName = Value[string]{V: name, Key: KeyServiceName}
	}
}

// isServiceName tells a name from what SDKs say when they have none.
func isServiceName(name string) bool {
	return name != "" && name != "unknown_service" && !strings.HasPrefix(name, "unknown_service:")
}

// parseAttributes decodes attributes; bad is the number of the first item that
// cannot be, from 1. A key given twice has its last value. Blank items and
// unescaped = in a value are let through: nothing about them is in doubt.
func parseAttributes(raw string) (pairs []Pair, bad int) {
	n := 0
	var set pairSet
	for item := range strings.SplitSeq(raw, ",") {
		n++
		if strings.TrimSpace(item) == "" {
			continue
		}
		k, v, found := strings.Cut(item, "=")
		key, err := url.PathUnescape(strings.TrimSpace(k))
		value, err2 := url.PathUnescape(strings.TrimSpace(v))
		if !found || key == "" || err != nil || err2 != nil || !utf8.ValidString(key) || !utf8.ValidString(value) {
			return nil, n
		}
		set.add(Pair{Key: key, Value: value})
	}
	return set.pairs, 0
}

// pairSet is a list of pairs in which a later value replaces the earlier one of
// its key. It knows where keys stand: thousands must not hold up the start.
type pairSet struct {
	pairs []Pair
	at    map[string]int
}

func (s *pairSet) add(pair Pair) {
	if i, ok := s.at[pair.Key]; ok {
		s.pairs[i] = pair
		return
	}
	if s.at == nil {
		s.at = map[string]int{}
	}
	s.at[pair.Key] = len(s.pairs)
	s.pairs = append(s.pairs, pair)
}
