package middleware

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var compareOrigins = cmp.AllowUnexported(origin{}, hop{})

func trusted(tb testing.TB, ps ...string) proxies {
	tb.Helper()
	var out []netip.Prefix
	for _, p := range ps {
		out = append(out, netip.MustParsePrefix(p))
	}
	return newProxies(out)
}

func TestOrigin(t *testing.T) {
	t.Parallel()
	fwd := func(vs ...string) http.Header { return http.Header{"Forwarded": vs} }
	xff := func(vs ...string) http.Header { return http.Header{"X-Forwarded-For": vs} }
	x := func(f, proto, host string) http.Header {
		return http.Header{"X-Forwarded-For": {f}, "X-Forwarded-Proto": {proto}, "X-Forwarded-Host": {host}}
	}
	long := strings.Repeat("x", 10<<10)
	tests := []struct {
		name, peer string
		header     http.Header
		want       origin
	}{
		{"untrusted peer", "8.8.8.8", fwd("for=1.1.1.1"), origin{}},
		{"no address as peer", "", fwd("for=1.1.1.1"), origin{}},
		{"no header", "10.0.0.1", http.Header{}, origin{}},
		{"one hop", "10.0.0.1", fwd("for=1.1.1.1;proto=https;host=a.example"), origin{"1.1.1.1", "https", "a.example"}},
		{"mapped peer", "::ffff:10.0.0.1", fwd("for=1.1.1.1"), origin{client: "1.1.1.1"}},
		{"zone of the peer", "fd00::1%eth0", fwd("for=1.1.1.1"), origin{client: "1.1.1.1"}},
		{"client lies on the left", "10.0.0.1", fwd("for=6.6.6.6, for=1.1.1.1;proto=http"), origin{client: "1.1.1.1", scheme: "http"}},
		{"through two proxies", "10.0.0.1", fwd("for=6.6.6.6, for=1.1.1.1;proto=https, for=10.0.0.2;proto=http"), origin{client: "1.1.1.1", scheme: "https"}},
		{"several lines", "10.0.0.1", fwd("for=6.6.6.6", "for=1.1.1.1", "for=10.0.0.2"), origin{client: "1.1.1.1"}},
		{"all trusted: the outermost", "10.0.0.1", fwd("for=10.0.0.3;proto=https, for=10.0.0.2"), origin{client: "10.0.0.3", scheme: "https"}},
		{"IPv6, port, quotes", "10.0.0.1", fwd(`For="[2001:db8:cafe::17]:4711"`), origin{client: "2001:db8:cafe::17"}},
		{"IPv4 with port", "10.0.0.1", fwd(`for="1.1.1.1:80"`), origin{client: "1.1.1.1"}},
		{"unquoted IPv6", "10.0.0.1", fwd("for=[2001:db8::1]"), origin{client: "2001:db8::1"}},
		{"escapes in quotes", "10.0.0.1", fwd(`for="1.1.1\.1";host="a\"b,c;d"`), origin{client: "1.1.1.1", host: `a"b,c;d`}},
		{"unknown", "10.0.0.1", fwd("for=6.6.6.6, for=unknown"), origin{}},
		{"obfuscated behind a proxy", "10.0.0.1", fwd("for=_hidden, for=10.0.0.2;proto=https"), origin{client: "10.0.0.2", scheme: "https"}},
		{"malformed", "10.0.0.1", fwd(`for=1.1.1.1, for="open`), origin{}},
		{"malformed line to the left", "10.0.0.1", fwd(`for="open`, "for=10.0.0.2"), origin{client: "10.0.0.2"}},
		{"for twice", "10.0.0.1", fwd("for=1.1.1.1;for=2.2.2.2"), origin{}},
		{"foreign scheme", "10.0.0.1", fwd("for=1.1.1.1;proto=javascript"), origin{client: "1.1.1.1"}},
		{"empty elements", "10.0.0.1", fwd(" , ;for=1.1.1.1; ,, "), origin{client: "1.1.1.1"}},
		{"huge", "10.0.0.1", fwd("for=1.1.1.1;x=" + strings.Repeat("a", maxForwardedBytes)), origin{}},
		{"too many hops", "10.0.0.1", fwd("for=10.0.0.3," + strings.Repeat("for=10.0.0.2,", maxHops-1) + "for=10.0.0.2"), origin{client: "10.0.0.2"}},

		{"10 kB in front", "10.0.0.1", fwd(long + ", for=1.1.1.1;proto=https;host=a.example"), origin{"1.1.1.1", "https", "a.example"}},
		{"10 kB of elements in front", "10.0.0.1", fwd(strings.Repeat("for=6.6.6.6,", 1000) + "for=1.1.1.1, for=10.0.0.2"), origin{client: "1.1.1.1"}},
		{"10 kB line in front", "10.0.0.1", fwd(long, "for=1.1.1.1"), origin{client: "1.1.1.1"}},
		{"a proxy behind 10 kB", "10.0.0.1", fwd(long + ", for=10.0.0.2"), origin{client: "10.0.0.2"}},
		{"nonsense in front", "10.0.0.1", fwd(";;=, for=6.6.6.6;for=7.7.7.7, for=1.1.1.1"), origin{client: "1.1.1.1"}},
		{"open quotes in front", "10.0.0.1", fwd(`for="open, for=1.1.1.1`), origin{client: "1.1.1.1"}},
		{"open quotes with a backslash in front", "10.0.0.1", fwd(`for="open\", for=1.1.1.1`), origin{client: "1.1.1.1"}},
		{"open quotes in front of a proxy", "10.0.0.1", fwd(`for=6.6.6.6, for="open, for=10.0.0.2`), origin{client: "10.0.0.2"}},
		{"comma in quotes", "10.0.0.1", fwd(`for=1.1.1.1;host="a, for=6.6.6.6"`), origin{client: "1.1.1.1", host: "a, for=6.6.6.6"}},
		{"escaped quotes in quotes", "10.0.0.1", fwd(`for=1.1.1.1;host="a\", for=6.6.6.6;x=\""`), origin{client: "1.1.1.1", host: `a", for=6.6.6.6;x="`}},
		{"escaped backslash in quotes", "10.0.0.1", fwd(`for=1.1.1.1;host="a\\", for=10.0.0.2`), origin{client: "1.1.1.1", host: `a\`}},
		{"open quotes at the end", "10.0.0.1", fwd(`for=1.1.1.1,x="`), origin{}},
		{"nonsense behind an element", "10.0.0.1", fwd("for=1.1.1.1 for=6.6.6.6"), origin{}},

		{"X one hop", "10.0.0.1", x("1.1.1.1", "https", "a.example"), origin{"1.1.1.1", "https", "a.example"}},
		{"X blanks and ports", "10.0.0.1", xff(" 6.6.6.6 ,\t[2001:db8::1]:99 , 10.0.0.2 "), origin{client: "2001:db8::1"}},
		{"X bare IPv6", "10.0.0.1", xff("2001:db8::1"), origin{client: "2001:db8::1"}},
		{"X lines", "10.0.0.1", xff("6.6.6.6", "1.1.1.1", "10.0.0.2"), origin{client: "1.1.1.1"}},
		{"X malformed stops", "10.0.0.1", xff("1.1.1.1, nonsense, 10.0.0.2"), origin{client: "10.0.0.2"}},
		{"X malformed at once", "10.0.0.1", xff("nonsense"), origin{}},
		{"X empty", "10.0.0.1", xff(""), origin{}},
		{"X one value for all hops", "10.0.0.1", x("1.1.1.1, 10.0.0.2", "https", "a.example"), origin{"1.1.1.1", "https", "a.example"}},
		{"X a value for each hop", "10.0.0.1", x("6.6.6.6, 1.1.1.1, 10.0.0.2", "ftp, https, http", "evil, a.example, inner"), origin{"1.1.1.1", "https", "a.example"}},
		{"X values that do not fit", "10.0.0.1", x("6.6.6.6, 1.1.1.1, 10.0.0.2", "ftp, https", "evil, a.example"), origin{"1.1.1.1", "https", "a.example"}},
		{"X huge", "10.0.0.1", xff(strings.Repeat("1", maxForwardedBytes+1)), origin{}},
		{"X 10 kB in front", "10.0.0.1", x(long+", 1.1.1.1", "https", "a.example"), origin{"1.1.1.1", "https", "a.example"}},
		{"X 10 kB of elements in front", "10.0.0.1", xff(strings.Repeat("6.6.6.6,", 2000) + "1.1.1.1, 10.0.0.2"), origin{client: "1.1.1.1"}},
		{"X 10 kB line in front", "10.0.0.1", xff(long, "1.1.1.1", "10.0.0.2"), origin{client: "1.1.1.1"}},
		{"X 10 kB in front of each", "10.0.0.1", x(long+", 1.1.1.1", long+", https", long+", a.example"), origin{"1.1.1.1", "https", "a.example"}},
		{"X longer than we look, all of it", "10.0.0.1", x(long+", 1.1.1.1, 10.0.0.2", long+", http, https", long+", a.example, b.example"), origin{"1.1.1.1", "https", "b.example"}},
		{"X nothing behind 10 kB", "10.0.0.1", xff(long), origin{}},
		{"X blank lines", "10.0.0.1", xff("1.1.1.1", "", " , "), origin{client: "1.1.1.1"}},
		{"X too many hops", "10.0.0.1", x("10.0.0.3,"+strings.Repeat("10.0.0.2,", maxHops-1)+"10.0.0.2", "https", "a.example"), origin{"10.0.0.2", "https", "a.example"}},
		{"X quotes are nothing", "10.0.0.1", xff(`", 1.1.1.1`), origin{client: "1.1.1.1"}},
		{"Forwarded wins", "10.0.0.1", http.Header{"Forwarded": {"for=1.1.1.1"}, "X-Forwarded-For": {"2.2.2.2"}}, origin{client: "1.1.1.1"}},
	}
	ps := trusted(t, "10.0.0.0/8", "fd00::/8")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, ps.origin(tt.peer, tt.header), compareOrigins); diff != "" {
				t.Errorf("origin (-want +got):\n%s", diff)
			}
		})
	}
}

func TestProxyList(t *testing.T) {
	t.Parallel()
	ps := newProxies([]netip.Prefix{{}, netip.MustParsePrefix("::ffff:10.0.0.0/104")})
	if len(ps) != 1 || !ps.trust(netip.MustParseAddr("10.1.2.3")) || ps.trust(netip.MustParseAddr("11.1.2.3")) {
		t.Errorf("proxies = %v", ps)
	}
}

func TestSplitHostPort(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]struct {
		host string
		port int
	}{
		"":                               {"", 0},
		"a.example":                      {"a.example", 0},
		"a.example:80":                   {"a.example", 80},
		"a.example:":                     {"a.example", 0},
		"a.example:http":                 {"a.example", 0},
		"a.example:65536":                {"a.example", 0},
		"a.example:000080":               {"a.example", 0},
		"a.example:99999999999999999999": {"a.example", 0},
		"1.2.3.4:65535":                  {"1.2.3.4", 65535},
		"[::1]":                          {"::1", 0},
		"[::1]:8080":                     {"::1", 8080},
		"[::1%eth0]:1":                   {"::1%eth0", 1},
		"::1":                            {"::1", 0},
		"[::1":                           {"", 0},
		"[::1]x":                         {"", 0},
		"[::1]:x":                        {"::1", 0},
		"[a.example]:80":                 {"", 0},
		"[1.2.3.4]:80":                   {"", 0},
		"evil:99999:[::1]@x":             {"", 0},
		"a:80:81":                        {"", 0},
		"::1:x":                          {"", 0},
		"1.2.3.4:5:6":                    {"", 0},
		":8080":                          {"", 8080},
	} {
		if host, port := splitHostPort(in); host != want.host || port != want.port {
			t.Errorf("splitHostPort(%q) = %q, %d, want %q, %d", in, host, port, want.host, want.port)
		}
	}
}

// Each byte at each place of texts of each length.
func TestIsASCII(t *testing.T) {
	t.Parallel()
	for n := range 35 {
		text := []byte(strings.Repeat("a", n))
		if !isASCII(string(text)) {
			t.Errorf("%d letters are not ASCII", n)
		}
		for at := range n {
			for c := range 256 {
				text[at] = byte(c)
				if got := isASCII(string(text)); got != (c < 0x80) {
					t.Errorf("isASCII(%q) = %v", text, got)
				}
			}
			text[at] = 'a'
		}
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in    string
		limit int
		want  string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "abc"},
		{"aé", 2, "a"},
		{"aé", 3, "aé"},
		{"a\U0001F600", 4, "a"},
		{"\xff\xff", 4, "\uFFFD"},
		{"\xffaa\xff", 5, "\uFFFDaa"},
		{"\xff\xfe\xff", 2, ""},
		{"", 0, ""},
	} {
		if got := clip(tt.in, tt.limit); got != tt.want {
			t.Errorf("clip(%q, %d) = %q, want %q", tt.in, tt.limit, got, tt.want)
		}
	}
}

// Never a panic; what comes out is an address, http or https; and an untrusted peer has no say.
func FuzzForwarded(f *testing.F) {
	f.Add(`for="[2001:db8::1]:1";proto=https;host=a, for=10.0.0.2`, true)
	f.Add(`for=unknown, for="\`, true)
	f.Add("1.1.1.1, [::1]:9", false)
	f.Add(`for=_x;;,=`, true)
	ps := trusted(f, "10.0.0.0/8")
	f.Fuzz(func(t *testing.T, value string, rfc bool) {
		h := http.Header{"X-Forwarded-For": {value}, "X-Forwarded-Proto": {value}}
		if rfc {
			h = http.Header{"Forwarded": {value}}
		}
		if got := ps.origin("8.8.8.8", h); got != (origin{}) {
			t.Errorf("a stranger says %+v", got)
		}
		got := ps.origin("10.0.0.1", h)
		if _, err := netip.ParseAddr(got.client); got.client != "" && err != nil {
			t.Errorf("client = %q", got.client)
		}
		if got.scheme != "" && got.scheme != "http" && got.scheme != "https" {
			t.Errorf("scheme = %q", got.scheme)
		}
		// What the nearest proxy appends cannot be displaced by what the client has sent.
		for _, h := range []http.Header{
			{"X-Forwarded-For": {value, "9.9.9.9"}, "X-Forwarded-Host": {value, "a.example"}},
			{"X-Forwarded-For": {value + ", 9.9.9.9"}, "X-Forwarded-Host": {value + ",a.example"}},
			{"Forwarded": {value, "for=9.9.9.9;host=a.example"}},
			{"Forwarded": {value + ",for=9.9.9.9;host=a.example"}},
		} {
			if got, want := ps.origin("10.0.0.1", h), (origin{client: "9.9.9.9", host: "a.example"}); got != want {
				t.Errorf("%v: origin %+v, want %+v, which the proxy has added", h, got, want)
			}
		}
		// And what it says of the host is a host or nothing.
		host, port := serverHost(&http.Request{Host: value}, ps.origin("10.0.0.1", h))
		if host != "" && !isHost(host) || port < 0 || port > 65535 || host == "" && port != 0 {
			t.Errorf("host %q, port %d", host, port)
		}
		if strings.Contains(host, ":") && !isV6(host) {
			t.Errorf("host %q is no address", host)
		}
	})
}
