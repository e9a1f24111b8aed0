package redact_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/waymark-trace/waymark/internal/redact"
)

// secret stands in every input where the result may not have it.
const secret = "S3NT1N3L"

func TestText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"no URL", "card refused: code=51, key (id)=(5) exists, 100% sure? a@b", "card refused: code=51, key (id)=(5) exists, 100% sure? a@b"},
		{"gRPC", "rpc error: code = Unavailable desc = https://h:443 is down", "rpc error: code = Unavailable desc = https://h:443 is down"},
		{
			"harmless URLs", "Get \"https://h:8443/a@b?page=2#top\": see http://[::1]:80, (https://pkg.example/@v/list) and ftp://h:",
			"Get \"https://h:8443/a@b?page=2#top\": see http://[::1]:80, (https://pkg.example/@v/list) and ftp://h:",
		},
		{"http.Client", `Post "https://u:***@h/a?token=S3NT1N3L&b=1": EOF`, `Post "https://REDACTED@h/a?token=REDACTED&b=1": EOF`},
		{"blank in a quoted URL", `Get "https://h/?q=a b&token=x S3NT1N3L": EOF`, `Get "https://h/?q=a b&token=REDACTED": EOF`},
		{"single quotes", "get 'https://h/?token=x S3NT1N3L', then", "get 'https://h/?token=REDACTED', then"},
		{"escaped quotes", `msg="get \"https://h/?token=S3NT1N3L\" failed"`, `msg="get \"https://h/?token=REDACTED" failed"`},
		{"password alone", "redis://:S3NT1N3L@h:6379: refused", "redis://REDACTED@h:6379: refused"},
		{"user alone", "ssh://S3NT1N3L@h/x", "ssh://REDACTED@h/x"},
		{"two", "https://a:S3NT1N3L@h https://b:S3NT1N3L@i", "https://REDACTED@h https://REDACTED@i"},
		{"list", "nats://u:S3NT1N3L@a:1,nats://u:S3NT1N3L@b:2", "nats://REDACTED@b:2"},
		{"second of a list", "nats://a:1,nats://u:S3NT1N3L@b:2", "nats://a:1,nats://REDACTED@b:2"},
		{"slash in a password", `parse "postgres://u:S3NT/1N3L@h/db": invalid port`, `parse "postgres://REDACTED@h/db": invalid port`},
		{"hash in a password", "postgres://u:p#S3NT1N3L@h", "postgres://REDACTED@h"},
		{"question mark in a password", "postgres://u:p?S3NT1N3L@h", "postgres://REDACTED@h"},
		{"at in a password", "postgres://u:p@S3NT1N3L/x@h", "postgres://REDACTED@h"},
		{"percent in a password", "postgres://u:p%zzS3NT1N3L@h", "postgres://REDACTED@h"},
		{"blank in a password", "postgres://u:p S3NT1N3L@h/db refused", "postgres://REDACTED@h/db refused"},
		{"quote in a password", `postgres://u:p"S3NT1N3L@h/db refused`, "postgres://REDACTED@h/db refused"},
		{"password that was cut", "postgres://u:S3NT1N3L", "postgres://REDACTED"},
		{"digits that are no port", "https://u:123456 x", "https://REDACTED x"},
		{"digits in front of a path that are no port", "open u:123456/S3NT1N3L@h/db", "open REDACTED@h/db"},
		{"encoded too often to tell", "x %2525252574oken y", "x REDACTED y"},
		{"fragment", "https://h/cb#access_token=S3NT1N3L&b=1.", "https://h/cb#access_token=REDACTED&b=1."},
		{"query and fragment", "https://h/cb?a=1#/x?code=S3NT1N3L", "https://h/cb?a=1#/x?code=REDACTED"},
		{"no scheme", "no route for /cb?code=S3NT1N3L&b=1", "no route for /cb?code=REDACTED&b=1"},
		{"no scheme, quoted", `parse "/cb?code=a S3NT1N3L"`, `parse "/cb?code=REDACTED"`},
		{"no scheme but a user", `//u:S3NT1N3L@h/`, `//REDACTED@h/`},
		{"data source", "open u:S3NT1N3L@tcp(h:3306)/db", "open REDACTED@tcp(h:3306)/db"},
		{"proxy", `invalid proxy address "u:S3NT1N3L@h:3128"`, `invalid proxy address "REDACTED@h:3128"`},
		{"JSON escapes slashes", `{"u":"https:\/\/u:S3NT1N3L@h\/?token=S3NT1N3L"}`, `{"u":"REDACTED@h\/?token=REDACTED"}`},
		{"JSON escapes &", `{"u":"https://h/?a=1\u0026token=S3NT1N3L"}`, `{"u":"https://h/?a=REDACTED"}`},
		{"HTML escapes &", "https://h/?a=1&amp;token=S3NT1N3L", "https://h/?a=1&amp;token=REDACTED"},
		{"form", `oauth2: "grant_type=x&refresh_token=S3NT1N3L"`, `oauth2: "grant_type=x&refresh_token=REDACTED"`},
		{"struct", "{https://u:S3NT1N3L@h/?token=S3NT1N3L 5}", "{https://REDACTED@h/?token=REDACTED 5}"},
		{"angle brackets", "<https://u:S3NT1N3L@h/?token=S3NT1N3L>; rel=next, <https://v:S3NT1N3L@i>", "<https://REDACTED@h/?token=REDACTED>; rel=next, <https://REDACTED@i>"},
		{"encoded", "bad redirect https%3A%2F%2Fu%3AS3NT1N3L%40h%2F", "bad redirect REDACTED"},
		{"encoded twice", "bad redirect %2Fcb%253Ftoken%253DS3NT1N3L", "bad redirect REDACTED"},
		{"encoded in a query", "https://h/?next=https%3A%2F%2Fu%3AS3NT1N3L%40h%2F&a=1", "https://h/?next=REDACTED&a=1"},
		{"in a query", "https://h/?next=//S3NT1N3L@h&a=1", "https://h/?next=REDACTED&a=1"},
		{"key of the user", "https://h/?Pin=S3NT1N3L", "https://h/?Pin=REDACTED"},
		{"lines", "a\nhttps://h/?token=S3NT1N3L\nb", "a\nhttps://h/?token=REDACTED\nb"},
		{
			"stack on Windows", "main.f()\n\tC:/go/pkg/mod/github.com/a/b@v1.2.3/c.go:10 +0x1d\n\tC:\\x@y",
			"main.f()\n\tC:/go/pkg/mod/github.com/a/b@v1.2.3/c.go:10 +0x1d\n\tC:\\x@y",
		},
		{"image", "pull h:5000/a/b@sha256:0f and redis:7@sha256:0f", "pull h:5000/a/b@sha256:0f and redis:7@sha256:0f"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := redact.New("pin").Text(tt.in, 4096)
			if got != tt.want {
				t.Errorf("Text(%q)\n got %q\nwant %q", tt.in, got, tt.want)
			}
			if strings.Contains(got, secret) {
				t.Error("the secret is in it")
			}
			if again := redact.New("pin").Text(got, 4096); again != got {
				t.Errorf("done twice: %q", again)
			}
		})
	}
}

// Wherever the limit falls, no part of a secret is left.
func TestTextThatIsCut(t *testing.T) {
	t.Parallel()
	q := redact.New()
	long := strings.Repeat(secret, 2000)
	for _, text := range []string{
		"Get \"https://u:" + long + "@h/\": EOF", "https://" + long + "@h/", "https://h/?token=" + long, "/?a=" + long + "&token=" + long,
	} {
		for _, limit := range []int{0, 1, 8, 10, 20, 100, 5000, 9000} {
			got := q.Text(text, limit)
			if got = got[:min(len(got), limit)]; strings.Contains(got, "S3NT") && !strings.Contains(text, "a="+secret) {
				t.Errorf("Text(%.20q…, %d) = %.80q…", text, limit, got)
			}
		}
	}
	// The first digits of this password could be a port.
	begin := strings.Repeat("word ", 2000)
	begin = begin[:len(begin)-len("https://u:98765")]
	if got := q.Text(begin+"https://u:9876543210@h/", len(begin)+len("https://u:98765")-4096); strings.Contains(got, "98765") || len(got) < 5000 {
		t.Errorf("%d bytes that end with %q", len(got), got[max(0, len(got)-30):])
	}
	if got := q.Text(strings.Repeat("word ", 1<<20), 4096); len(got) < 4096 || len(got) > 2*4096 {
		t.Errorf("%d bytes, want somewhat more than 4096", len(got))
	}
}

// What is left of a long text is a text of its own: a span would keep all of it.
func TestTextIsCopied(t *testing.T) {
	t.Parallel()
	for _, long := range []string{strings.Repeat("word ", 1<<10), strings.Repeat("x", 1<<14)} {
		if got := redact.New().Text(long, 10); unsafe.StringData(got) == unsafe.StringData(long) || len(got) == len(long) {
			t.Errorf("%.10q…: %d bytes that are part of what was given", long, len(got))
		}
	}
}

// badError panics, as an error does that is a nil pointer.
type badError struct{ u *url.URL }

func (e badError) Error() string { return e.u.Host + e.u.Opaque }

type holder struct {
	URL  string
	more any
}

type ring struct {
	Name string
	next *ring
}

func TestMessage(t *testing.T) {
	t.Parallel()
	address := "https://u:S3NT1N3L@h/?token=S3NT1N3L"
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	fails := &url.Error{Op: "Get", URL: address, Err: errors.New("EOF")}
	self := map[string]any{}
	self["self"] = self
	circle := &ring{Name: "circle"}
	circle.next = circle
	r := &http.Request{Method: http.MethodGet, URL: u, Header: http.Header{"Authorization": {secret}}}
	connection := &net.OpError{
		Op: "write", Net: "tcp", Err: os.NewSyscallError("write", syscall.EPIPE),
		Source: net.TCPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:8080")), Addr: net.TCPAddrFromAddrPort(netip.MustParseAddrPort("10.0.0.1:5123")),
	}
	for _, tt := range []struct {
		name string
		v    any
		want string
	}{
		{"nil", nil, "<nil>"},
		{"error", fails, `Get "https://REDACTED@h/?token=REDACTED": EOF`},
		{"wrapped", fmt.Errorf("pay: %w", fails), `pay: Get "https://REDACTED@h/?token=REDACTED": EOF`},
		{"joined", errors.Join(errors.New("a"), fails), "a\n" + `Get "https://REDACTED@h/?token=REDACTED": EOF`},
		{"string", address, "https://REDACTED@h/?token=REDACTED"},
		{"URL", *u, "https://REDACTED@h/?token=REDACTED"},
		{"pointer to a URL", u, "https://REDACTED@h/?token=REDACTED"},
		{"struct", holder{address, 5}, "{https://REDACTED@h/?token=REDACTED 5}"},
		{"pointer", &holder{address, nil}, "&{https://REDACTED@h/?token=REDACTED <nil>}"},
		{"slice", []string{address, "x"}, "[https://REDACTED@h/?token=REDACTED x]"},
		{"URL inside", struct{ U url.URL }{*u}, "a value of type struct { U url.URL }"},
		{"pointer to a URL inside", &struct{ U []*url.URL }{[]*url.URL{u}}, "a value of type *struct { U []*url.URL }"},
		{"pointers in a circle", circle, "&{circle 0x0}"},
		{"user inside", holder{"x", u.User}, "a value of type redact_test.holder"},
		{"form", url.Values{"token": {secret}}, "a value of type url.Values"},
		{"request", r, "a value of type *http.Request"},
		{"holds itself", self, "a value of type map[string]interface {}"},
		{"huge", make([]int, 1<<20), "a value of type []int"},
		{"panics", badError{}, "%!v(PANIC=Error method: runtime error: invalid memory address or nil pointer dereference)"},
		{"connection", connection, "write tcp: write: broken pipe"},
		{"connection, IPv6", errors.New("read tcp [::1]:80->[fe80::1%eth0]:5123: i/o timeout"), "read tcp: i/o timeout"},
		{"two connections in brackets", errors.New("(10.0.0.1:1->10.0.0.2:2), x 10.0.0.1:1->10.0.0.2:3 y"), "(), x y"},
		{"connection alone", errors.New("10.0.0.1:1->10.0.0.2:2"), ""},
		{"arrows", errors.New("a->b: 10.0.0.1:1->b, x -> y"), "a->b: 10.0.0.1:1->b, x -> y"},
		{"stream", errors.New("stream error: stream ID 17; CANCEL; received from peer"), "stream error: stream ID N; CANCEL; received from peer"},
		{"no stream", errors.New("stream ID x"), "stream ID x"},
		{"last stream", errors.New("http2: server sent GOAWAY and closed the connection; LastStreamID=1999, ErrCode=NO_ERROR"), "http2: server sent GOAWAY and closed the connection; LastStreamID=N, ErrCode=NO_ERROR"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := redact.New().Message(tt.v, 4096)
			if tt.v == any(circle) {
				got = got[:strings.Index(got, "0x")] + "0x0}"
			}
			if got != tt.want {
				t.Errorf("Message\n got %q\nwant %q", got, tt.want)
			}
		})
	}
}

// farBlank is how far behind a blank in a password the @ is not looked for any more: what is there is other text.
const farBlank = 200

// ambiguous reports whether nobody can tell u:password@ from a host or several, a port and what follows.
func ambiguous(password string) bool {
	if strings.IndexFunc(password, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\x7f\"`<>", r) }) >= 0 && len(password) > farBlank {
		return true
	}
	i := strings.IndexFunc(password, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\x7f\"`<>/?#\\", r) })
	return strings.Contains(password, "\n") || i >= 0 && (strings.ContainsAny(password, ",@") || strings.Trim(password[:i], "0123456789:.;!)]}'") == "")
}

// closes reports whether a password may end a quotation that begins before it.
func closes(before, password string) bool {
	return strings.ContainsFunc(password, func(r rune) bool { return strings.ContainsRune("\"`'", r) && strings.ContainsRune(before, r) })
}

// A password, whatever is in it, and a token, whatever is around it, do not come through; done twice is done once.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "a b", "x/y", "#?", "%41", `\"`, "@", "://", "'", "&a=1;", "->", "a:1/b"} {
		f.Add(s, s, "p")
		f.Add("", s, s)
	}
	q := redact.New()
	f.Fuzz(func(t *testing.T, before, after, password string) {
		if strings.Contains(before+after+password, secret) || ambiguous(password) || closes(before, password) {
			return
		}
		for _, text := range []string{
			before + " https://u:" + password + secret + "@h/ " + after,
			before + " \"https://h/?token=" + secret + "\" " + after,
			before + " /a?b=1&token=" + secret + after,
			before + " " + url.QueryEscape("https://u:"+password+secret+"@h/") + " " + after,
		} {
			got := q.Text(text, 1<<20)
			if strings.Contains(got, secret) {
				t.Errorf("Text(%q) = %q", text, got)
			}
		}
		once := q.Text(before+after, 1<<20)
		if twice := q.Text(once, 1<<20); twice != once {
			t.Errorf("Text(%q) = %q, and of that %q", before+after, once, twice)
		}
		_ = q.Message(errors.New(before+after), 10)
	})
}
