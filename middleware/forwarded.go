package middleware

import (
	"net/http"
	"net/netip"
	"strings"
)

// Bounds of the forwarding headers, from the end on, where the proxies append. What stands in front of them is the
// client's, and is not looked at.
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
	l := list{values: values, quotes: true}
	for range maxHops {
		element, more := l.last()
		e, ok := parseForwarded(element)
		if !more || !ok {
			return o
		}
		addr, ok := parseNode(e.node)
		if !ok {
			return o // unknown, _hidden, malformed: nothing beyond is known
		}
		o = origin{client: addr.String(), scheme: webScheme(e.proto), host: e.host}
		if !ps.trust(addr) {
			return o
		}
	}
	return o
}

// xForwarded does the same with the three older headers. Where -Proto or -Host have a value for each hop,
// the one of the client's hop counts, else the last one.
func (ps proxies) xForwarded(h http.Header) origin {
	var o origin
	nodes := list{values: h["X-Forwarded-For"]}
	hops := 0
	for ; hops < maxHops; hops++ {
		node, more := nodes.last()
		addr, ok := parseNode(node)
		if !more || !ok {
			break
		}
		o.client = addr.String()
		if !ps.trust(addr) {
			hops++
			break
		}
	}
	all := count(h["X-Forwarded-For"])
	o.scheme = webScheme(pick(h["X-Forwarded-Proto"], hops, all))
	o.host = pick(h["X-Forwarded-Host"], hops, all)
	return o
}

// pick returns the value of the hop, counted from the end, or the last value when there is not one for each of all.
func pick(values []string, hop, all int) string {
	if hop == 0 || all < 0 || count(values) != all {
		hop = 1
	}
	l := list{values: values}
	value := ""
	for range hop {
		value, _ = l.last()
	}
	return value
}

// count returns how many elements a list has, and -1 when it is longer than we look.
func count(values []string) int {
	l := list{values: values}
	for n := 0; ; n++ {
		if _, more := l.last(); !more {
			if l.read > maxForwardedBytes {
				return -1
			}
			return n
		}
	}
}

// list reads the comma-separated values of a header from the end. Empty elements do not count.
type list struct {
	values []string // not yet begun
	value  string   // what is left of the one that is being read
	quotes bool     // a comma in quotes separates nothing
	read   int      // bytes
}

// last takes the last element away. It is not ok at the end and behind the bound.
func (l *list) last() (element string, ok bool) {
	for {
		for l.value == "" {
			if len(l.values) == 0 {
				return "", false
			}
			l.value = l.values[len(l.values)-1]
			l.values = l.values[:len(l.values)-1]
			l.read++
		}
		at, ok := l.comma()
		if !ok {
			l.values, l.value = nil, ""
			return "", false
		}
		element, l.value = strings.TrimSpace(l.value[at+1:]), l.value[:max(at, 0)]
		if element != "" {
			return element, true
		}
	}
}

// comma returns where the last comma is that separates, and -1 when there is none. It is not ok behind the bound.
func (l *list) comma() (at int, ok bool) {
	s, quoted := l.value, false
	for i := len(s) - 1; i >= 0; i-- {
		if l.read++; l.read > maxForwardedBytes {
			return 0, false
		}
		switch {
		case s[i] == '"' && l.quotes && !escaped(s, i):
			quoted = !quoted
		case s[i] == ',' && !quoted:
			return i, true
		}
	}
	return -1, true
}

// escaped reports whether an odd number of backslashes stands in front of s[i].
func escaped(s string, i int) bool {
	n := 0
	for i > n && s[i-n-1] == '\\' {
		n++
	}
	return n%2 == 1
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

// parseForwarded reads one element; not ok when any of it is malformed.
// Spec: https://www.rfc-editor.org/rfc/rfc7239#section-4
func parseForwarded(s string) (hop, bool) {
	p := forwardedParser{rest: s}
	h, ok := p.element()
	return h, ok && p.rest == ""
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
	return isLetterOrDigit(c) || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
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
