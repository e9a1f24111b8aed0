package bootstrap

import (
	"strings"

	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/secrets"
)

// redactors know what nothing of ours may show.
type redactors struct {
	// own is for texts of ours: paths, names, values of variables. It knows what
	// looks like a credential, in a header or in any other variable, where none
	// belongs, and user and password of proxies.
	own *secrets.Redactor
	// others is for texts that others wrote, such as the answer of a backend. It
	// knows every value of a header besides. Such a one can be an ordinary word,
	// which may be the App's name, too.
	others *secrets.Redactor
}

func newRedactors(app string, s env.Settings, lookup env.Lookup) redactors {
	var known, words []string
	for _, kv := range s.OTLP.Headers.V {
		if isContentHeader(kv.Key) {
			continue
		}
		// "c2VjcmV0==" is a name with the value "=". A name is a token, as methods are.
		_, hidden := env.Show(env.KeyKnownMethods, kv.Key)
		known = append(known, hidden...)
		if isCredential(kv) {
			known = append(known, kv.Value)
		} else {
			words = append(words, kv.Value)
		}
	}
	for _, v := range env.Variables(app) {
		// Of the headers, names and schemes are no secrets.
		if raw, ok := lookup.Lookup(v.Name); ok && v.Name != env.KeyOTLPHeaders && v.Name != env.KeyOTLPTracesHeaders {
			_, hidden := env.Show(v.Name, raw)
			known = append(known, hidden...)
		}
	}
	known = append(known, proxyUsers()...)
	return redactors{own: secrets.New(known...), others: secrets.New(append(known, words...)...)}
}

// isCredential reports whether a header has one: by its name, or because its
// value is no plain word.
func isCredential(header env.Pair) bool {
	_, byName := env.Show(env.KeyResourceAttributes, header.Key+"=x")
	_, byValue := env.Show(env.KeyKnownMethods, header.Value)
	return len(byName)+len(byValue) > 0
}

// isContentHeader tells headers that say what is sent: their values are words of
// every error about it.
func isContentHeader(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "content-") || strings.HasPrefix(name, "accept") || name == "user-agent"
}

// proxyUsers are user and password of the proxies that exports go through, which
// are the process's whatever Config.Lookup is.
func proxyUsers() []string {
	var values []string
	for _, key := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"} {
		raw, _ := env.Process().Lookup(key)
		_, hidden := env.Show(env.KeyOTLPEndpoint, raw) // a URL, too
		values = append(values, hidden...)
	}
	return values
}
