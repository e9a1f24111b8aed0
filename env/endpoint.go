package env

import (
	"net/url"
	"strconv"
	"strings"
)

// readEndpoint makes the URL that spans go to. Nil: a finding says why there is
// none. Without key it is the specification's default. An exporter takes almost
// any spelling and goes to some host, often not the one that was meant, with the
// credentials; so what is in doubt is refused here.
//
// Spec: https://github.com/open-telemetry/opentelemetry-specification/blob/v1.60.0/specification/protocol/exporter.md#endpoint-urls-for-otlphttp
func (p *parser) readEndpoint(key, raw, protocol string) *url.URL {
	if key == "" {
		key, raw = KeyOTLPTracesEndpoint, defaultHTTP
		if protocol == protocolGRPC {
			raw = defaultGRPC
		}
	}
	u, want := parseEndpoint(raw)
	if want != "" {
		want += correction(key, raw, protocol)
		p.find(key, raw, want, insteadOfOTLP)
		return nil
	}
	if u.User != nil {
		p.find(key, raw, "a URL without user information (credentials go into "+KeyOTLPHeaders+")", "the URL without it")
	}
	if u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		p.find(key, raw, "a URL without query and fragment", "the URL without them")
	}
	// The exporters send neither; gone here, they are printed nowhere.
	u = &url.URL{Scheme: u.Scheme, Host: strings.TrimSuffix(u.Host, ":"), Path: u.Path, RawPath: u.RawPath}
	p.checkPort(key, raw, u, protocol)
	if protocol == protocolGRPC {
		p.endpointGRPC(key, raw, u)
		return u
	}
	return p.endpointHTTP(key, raw, u)
}

// parseEndpoint says what is wanted when raw is not an http or https URL.
func parseEndpoint(raw string) (u *url.URL, want string) {
	scheme, _, found := strings.Cut(raw, "://")
	if !found {
		return nil, "a URL with http:// or https://"
	}
	if s := strings.ToLower(scheme); s != "http" && s != "https" {
		return nil, "a URL with http:// or https:// and no other scheme"
	}
	u, err := url.Parse(raw)
	if err != nil { // its text repeats the URL, password and all
		return nil, "a URL that can be parsed"
	}
	if u.Hostname() == "" {
		return nil, "a URL with a host"
	}
	// https://1:2/3@host may be a password with a slash: it would go to host 1.
	if strings.Contains(u.EscapedPath(), "@") {
		return nil, "a URL without @ in its path (%40)"
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, "a URL with a port from 1 to 65535"
		}
	}
	return u, ""
}

// correction suggests a spelling, where one follows from what was given.
func correction(key, raw, protocol string) string {
	rest, _ := showAddress(raw)
	if scheme, after, found := strings.Cut(rest, "://"); found {
		if scheme == "unix" {
			return ""
		}
		rest = after
	} else if strings.HasPrefix(rest, "unix:") {
		return ""
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	rest, _, _ = strings.Cut(rest, "?")
	rest, _, _ = strings.Cut(rest, "#")
	if strings.Contains(rest, masked) {
		return "" // nobody knows what is in it
	}
	for _, broken := range []string{"https:", "http:", "https/", "http/"} {
		if len(rest) > len(broken) && strings.EqualFold(rest[:len(broken)], broken) {
			rest = rest[len(broken):]
			break
		}
	}
	rest = strings.TrimLeft(rest, "/")
	if strings.HasPrefix(rest, ":") {
		rest = "localhost" + rest
	}
	if key == KeyOTLPTracesEndpoint && protocol != protocolGRPC && !strings.Contains(rest, "/") {
		rest += tracesPath
	}
	scheme := "http://"
	if strings.HasPrefix(strings.ToLower(raw), "https") || strings.HasSuffix(strings.TrimSuffix(rest, tracesPath), ":443") {
		scheme = "https://"
	}
	if _, want := parseEndpoint(scheme + rest); want != "" {
		return ""
	}
	return ", such as " + strconv.Quote(shorten(scheme+rest))
}

// checkPort finds the port of the other protocol, which answers with nothing
// that an exporter can name.
func (p *parser) checkPort(key, raw string, u *url.URL, protocol string) {
	grpc := protocol == protocolGRPC
	switch port := u.Port(); {
	case grpc && port == portHTTP:
		p.find(key, raw, "port "+portGRPC+" for grpc", "port "+portHTTP+", as given")
	case !grpc && port == portGRPC:
		p.find(key, raw, "port "+portHTTP+" for "+protocol+", or the protocol grpc", "port "+portGRPC+", as given")
	}
}

// endpointGRPC makes u scheme://host:port.
func (p *parser) endpointGRPC(key, raw string, u *url.URL) {
	if u.Path != "" && u.Path != "/" {
		p.find(key, raw, "a URL without path for grpc", "the URL without it")
	}
	u.Path, u.RawPath = "", ""
	switch {
	case u.Port() != "":
	case u.Scheme == "https":
		u.Host += ":443"
	default:
		p.find(key, raw, "a port, such as "+portGRPC, "port 80")
		u.Host += ":80"
	}
}

// endpointHTTP appends the signal's path to a base URL. One for traces is used
// as given.
func (p *parser) endpointHTTP(key, raw string, u *url.URL) *url.URL {
	if key == KeyOTLPTracesEndpoint {
		if u.Path == "" || u.Path == "/" {
			p.find(key, raw, "a URL with its path, such as "+tracesPath, "the URL as given, so the path /")
			u.Path = "/"
		}
		return u
	}
	if strings.HasSuffix(strings.TrimRight(u.Path, "/"), tracesPath) {
		p.find(key, raw, "a base URL without "+tracesPath+", or "+KeyOTLPTracesEndpoint, "the URL as given, "+tracesPath+" not doubled")
		return u
	}
	return u.JoinPath(tracesPath)
}
