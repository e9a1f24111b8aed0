package middleware

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Bounds of the forwarding headers; past them a header is ignored.
const (
	maxForwardedBytes = 8 << 10
	maxHops           = 64
)

// origin is what the trusted proxies say about the request that the client made. Empty: they do not say.
type origin struct {
	client string
	scheme string
	host   string
}

// proxies are the networks whose word counts.
type proxies []netip.Prefix

func newProxies(ps []netip.Prefix) proxies {
	var out proxies
	for _, p := range ps {
		if !p.IsValid() {
			continue
		}
		if a := p.Addr(); a.Is4In6() && p.Bits() >= 96 {
			p = netip.PrefixFrom(a.Unmap(), p.Bits()-96)
		}
		out = append(out, p)
	}
	return out
}

func (ps proxies) trust(a netip.Addr) bool {
	for _, p := range ps {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// hop is one element of Forwarded.
type hop struct{ node, proto, host string }

// origin walks from the peer outwards while the hops are trusted.
func (ps proxies) origin(peer string, h http.Header) origin {
	if len(ps) == 0 {
		return origin{}
	}
	addr, ok := parseNode(peer)
	if !ok || !ps.trust(addr) {
		return origin{}
	}
	if values := h["Forwarded"]; len(values) > 0 {
		return ps.forwarded(values)
	}
	return ps.xForwarded(h)
}

// forwarded takes the right-most element whose node is not a proxy of ours. The proxies append, so what
// stands to the left of it is the client's own word.
func (ps proxies) forwarded(values []string) origin {
	var o origin
	hops := 0
	for _, value := range slices.Backward(values) {
		elements, ok := parseForwarded(value)
		if !ok {
			return o
		}
		for _, e := range slices.Backward(elements) {
			addr, ok := parseNode(e.node)
			if hops++; !ok || hops > maxHops {
				return o // unknown, _hidden, malformed: nothing beyond is known
			}
			o = origin{client: addr.String(), scheme: webScheme(e.proto), host: e.host}
			if !ps.trust(addr) {
				return o
			}
		}
	}
	return o
}

// xForwarded does the same with the three older headers. Where -Proto or -Host have a value for each hop,
// the one of the client's hop counts, else the last one.
func (ps proxies) xForwarded(h http.Header) origin {
	nodes := list(h["X-Forwarded-For"])
	var o origin
	at := len(nodes)
	for at > 0 && len(nodes)-at < maxHops {
		addr, ok := parseNode(nodes[at-1])
		if !ok {
			break
		}
		at--
		o.client = addr.String()
		if !ps.trust(addr) {
			break
		}
	}
	o.scheme = webScheme(pick(list(h["X-Forwarded-Proto"]), at, len(nodes)))
	o.host = pick(list(h["X-Forwarded-Host"]), at, len(nodes))
	return o
}

func pick(values []string, at, hops int) string {
	switch {
	case len(values) == 0:
		return ""
	case len(values) == hops && at < hops:
		return values[at]
	}
	return values[len(values)-1]
}

// list splits the comma-separated values of a header.
func list(values []string) []string {
	var out []string
	size := 0
	for _, v := range values {
		if size += len(v); size > maxForwardedBytes {
			return nil
		}
		for e := range strings.SplitSeq(v, ",") {
			if e = strings.TrimSpace(e); e != "" {
				out = append(out, e)
			}
		}
	}
	return out
}

func webScheme(s string) string {
	switch {
	case strings.EqualFold(s, "https"):
		return "https"
	case strings.EqualFold(s, "http"):
		return "http"
	}
	return ""
}

// parseNode reads an address with or without port and brackets. Obfuscated and unknown nodes are not ok.
func parseNode(s string) (netip.Addr, bool) {
	host, _ := splitHostPort(s)
	a, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Addr{}, false
	}
	return a.Unmap().WithZone(""), true
}

// parseForwarded reads one field value; not ok when any of it is malformed.
// Spec: https://www.rfc-editor.org/rfc/rfc7239#section-4
func parseForwarded(s string) (hops []hop, ok bool) {
	if len(s) > maxForwardedBytes {
		return nil, false
	}
	p := forwardedParser{rest: s}
	for {
		h, ok := p.element()
		if !ok {
			return nil, false
		}
		if h != (hop{}) {
			hops = append(hops, h)
		}
		if p.rest == "" {
			return hops, true
		}
		p.rest = p.rest[1:] // the comma
	}
}

type forwardedParser struct{ rest string }

// element reads name=value pairs up to a comma or the end.
func (p *forwardedParser) element() (hop, bool) {
	var h hop
	for {
		p.blanks()
		if p.rest == "" || p.rest[0] == ',' {
			return h, true
		}
		if p.rest[0] == ';' {
			p.rest = p.rest[1:]
			continue
		}
		name := p.token()
		if name == "" || !strings.HasPrefix(p.rest, "=") {
			return hop{}, false
		}
		p.rest = p.rest[1:]
		value, ok := p.value()
		if !ok || !h.set(name, value) {
			return hop{}, false
		}
		p.blanks()
		if p.rest != "" && p.rest[0] != ';' && p.rest[0] != ',' {
			return hop{}, false
		}
	}
}

// set keeps the parameters we use. RFC 7239 allows each once; one that is repeated could hide another.
func (h *hop) set(name, value string) bool {
	var at *string
	switch {
	case strings.EqualFold(name, "for"):
		at = &h.node
	case strings.EqualFold(name, "proto"):
		at = &h.proto
	case strings.EqualFold(name, "host"):
		at = &h.host
	default:
		return true
	}
	if *at != "" {
		return false
	}
	*at = value
	return true
}

func (p *forwardedParser) blanks() { p.rest = strings.TrimLeft(p.rest, " \t") }

func (p *forwardedParser) token() string {
	i := 0
	for i < len(p.rest) && isTokenByte(p.rest[i]) {
		i++
	}
	t := p.rest[:i]
	p.rest = p.rest[i:]
	return t
}

func isTokenByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

// value reads a token or a quoted string. Colons and brackets need quotes by the RFC; proxies forget them.
func (p *forwardedParser) value() (string, bool) {
	if !strings.HasPrefix(p.rest, `"`) {
		i := 0
		for i < len(p.rest) && (isTokenByte(p.rest[i]) || strings.IndexByte(":[]", p.rest[i]) >= 0) {
			i++
		}
		v := p.rest[:i]
		p.rest = p.rest[i:]
		return v, v != ""
	}
	var b strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; c {
		case '"':
			p.rest = p.rest[i+1:]
			return b.String(), true
		case '\\':
			if i++; i == len(p.rest) {
				return "", false
			}
			b.WriteByte(p.rest[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}
