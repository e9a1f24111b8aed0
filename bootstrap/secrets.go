package bootstrap

import (
	"strings"

	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/secrets"
)

// newRedactor knows what nothing of ours may show: the headers' values, what any
// other variable holds that looks like a credential, such as a key where its path
// belongs, and user and password of proxies.
func newRedactor(app string, s env.Settings, lookup env.Lookup) *secrets.Redactor {
	var values []string
	for _, kv := range s.OTLP.Headers.V {
		// "c2VjcmV0==" is a name with the value "=". A name is a token, as methods are.
		_, hidden := env.Show(env.KeyKnownMethods, kv.Key)
		values = append(values, hidden...)
		if !isContentHeader(kv.Key) {
			values = append(values, kv.Value)
		}
	}
	for _, v := range env.Variables(app) {
		// Of the headers, names and schemes are no secrets.
		if raw, ok := lookup.Lookup(v.Name); ok && v.Name != env.KeyOTLPHeaders && v.Name != env.KeyOTLPTracesHeaders {
			_, hidden := env.Show(v.Name, raw)
			values = append(values, hidden...)
		}
	}
	return secrets.New(append(values, proxyUsers()...)...)
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
