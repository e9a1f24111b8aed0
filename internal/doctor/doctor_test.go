package doctor_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/internal/doctor"
	"github.com/waymark-trace/waymark/traces"
)

func text(key, value string) traces.Attribute {
	return traces.Attribute{Key: key, Value: traces.String(value)}
}

func span(id, parent byte, start, end uint64) *traces.Span {
	const ms = 1_000_000
	return &traces.Span{
		TraceID: traces.TraceID{1}, SpanID: traces.SpanID{7: id}, ParentID: traces.SpanID{7: parent}, Name: "s",
		StartUnixNano: 1e18 + start*ms, EndUnixNano: 1e18 + end*ms, Resource: web,
	}
}

var (
	web = &traces.Resource{Attributes: []traces.Attribute{text("service.name", "web")}}
	pay = &traces.Resource{Attributes: []traces.Attribute{text("service.name", "pay")}}
)

// with changes a span.
func with(s *traces.Span, f func(*traces.Span)) *traces.Span {
	f(s)
	return s
}

func rules(spans ...*traces.Span) []string {
	d := doctor.New()
	for _, s := range spans {
		d.Add(s, true)
	}
	var out []string
	for _, f := range d.Findings() {
		out = append(out, fmt.Sprintf("%s %d", f.Rule, f.Count))
	}
	return out
}

func TestRules(t *testing.T) {
	t.Parallel()
	const isRemote, isKnown = 0x200, 0x100
	root := func() *traces.Span { return span(1, 0, 10, 20) }
	server := func(attrs ...traces.Attribute) *traces.Span {
		return with(root(), func(s *traces.Span) { s.Kind, s.Attributes = traces.KindServer, attrs })
	}
	status := func(code int64) traces.Attribute {
		return traces.Attribute{Key: "http.response.status_code", Value: traces.Int(code)}
	}
	get := text("http.request.method", "GET")
	for _, c := range []struct {
		name  string
		spans []*traces.Span
		want  []string
	}{
		{"healthy", []*traces.Span{root(), span(2, 1, 11, 19), span(3, 2, 11, 19)}, nil},
		{"orphan", []*traces.Span{span(2, 1, 11, 19)}, []string{"orphan 1"}},
		{"orphan of the same program, server", []*traces.Span{with(span(2, 1, 11, 19), func(s *traces.Span) { s.Kind, s.Flags = traces.KindServer, isKnown })}, []string{"orphan 1"}},
		{"remote parent", []*traces.Span{with(span(2, 1, 11, 19), func(s *traces.Span) { s.Flags = isKnown | isRemote })}, nil},
		{"server, flags unknown", []*traces.Span{with(span(2, 1, 11, 19), func(s *traces.Span) { s.Kind = traces.KindServer })}, nil},
		{"duplicate", []*traces.Span{root(), root()}, []string{"duplicate 1"}},
		{"cycle", []*traces.Span{span(1, 2, 1, 9), span(2, 1, 1, 9)}, []string{"cycle 1"}},
		{"ids of zeros", []*traces.Span{span(0, 0, 1, 9), with(root(), func(s *traces.Span) { s.TraceID = traces.TraceID{} })}, []string{"no-id 2"}},
		{"open", []*traces.Span{with(root(), func(s *traces.Span) { s.EndUnixNano = 0 })}, []string{"no-end 1"}},
		{"reversed", []*traces.Span{span(1, 0, 10, 9)}, []string{"reversed 1"}},
		{"outlives", []*traces.Span{root(), span(2, 1, 11, 21)}, []string{"outlives-parent 1"}},
		{"outlives by rounding", []*traces.Span{root(), with(span(2, 1, 11, 20), func(s *traces.Span) { s.EndUnixNano += 1000 })}, nil},
		{"at the end of time", []*traces.Span{root(), with(span(2, 1, 11, 19), func(s *traces.Span) {
			s.StartUnixNano, s.EndUnixNano = math.MaxUint64, math.MaxUint64
		})}, []string{"outlives-parent 1"}},
		{"consumer outlives", []*traces.Span{root(), with(span(2, 1, 11, 21), func(s *traces.Span) { s.Kind = traces.KindConsumer })}, nil},
		{"early", []*traces.Span{root(), span(2, 1, 9, 19)}, []string{"starts-before-parent 1"}},
		{"skew", []*traces.Span{root(), with(span(2, 1, 9, 19), func(s *traces.Span) { s.Resource = pay })}, []string{"clock-skew 1"}},
		{"no route", []*traces.Span{server(get, status(200))}, []string{"missing-route 1"}},
		{"route", []*traces.Span{server(get, text("http.route", "/"))}, nil},
		{"not found", []*traces.Span{server(get, status(404))}, nil},
		{"rpc server", []*traces.Span{server(text("rpc.system", "grpc"))}, nil},
		{"dropped", []*traces.Span{with(root(), func(s *traces.Span) { s.Events = []traces.Event{{DroppedAttributes: 1}} })}, []string{"dropped 1"}},
	} {
		if diff := cmp.Diff(c.want, rules(c.spans...)); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}

func TestManyNames(t *testing.T) {
	t.Parallel()
	named := func(n int, format string, value func(int) any) []string {
		var spans []*traces.Span
		for i := range n {
			spans = append(spans, with(span(1, 0, 1, 2), func(s *traces.Span) {
				s.SpanID[0], s.SpanID[1] = byte(i), byte(i>>8)
				s.Name = fmt.Sprintf(format, value(i))
			}))
		}
		return rules(spans...)
	}
	number := func(i int) any { return i }
	if got := named(19, "GET /users/%d", number); got != nil {
		t.Errorf("19 names: %v", got)
	}
	for _, format := range []string{"GET /users/%d", "GET /%08x-0000-4000-8000-000000000000", "job 3f%010x"} {
		if diff := cmp.Diff([]string{"high-cardinality-name 1"}, named(30, format, number)); diff != "" {
			t.Errorf("%s: -want +got\n%s", format, diff)
		}
	}
	letters := func(i int) any { return string([]byte{'a' + byte(i/26), 'a' + byte(i%26)}) }
	if diff := cmp.Diff([]string{"high-cardinality-name 1"}, named(500, "mail to %s", letters)[:1]); diff != "" {
		t.Errorf("names of one scope: -want +got\n%s", diff)
	}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc_DEF-123"
	for _, c := range []struct{ key, value, kind string }{
		{"http.request.header.authorization", "Basic dXNlcjpwYXNz", "credentials"},
		{"http.request.header.cookie", "session=abc", "by its key"},
		{"http.response.header.set-cookie", "a=b", "by its key"},
		{"db.password", "hunter2", "by its key"},
		{"session_token", "abc", "by its key"},
		{"clientSecret", "abc", "by its key"},
		{"x-api-key", "abc", "by its key"},
		{"note", "AKIAIOSFODNN7EXAMPLE", "AWS access key"},
		{"note", "the token is " + jwt + ".", "JSON web token"},
		{"pem", "-----BEGIN EC PRIVATE KEY-----\nMHc", "private key"},
		{"dsn", "postgres://ada:hunter2@db:5432/shop", "user information in a URL"},
		{"url.query", "a=1&token=abc", "query parameter token"},
		{"url.full", "https://example.com/?API_KEY=abc", "query parameter api_key"},
		{"log", "curl -H 'Authorization: Bearer abcdefghij'", "credentials"},
		{"env", "ghp_0123456789abcdefghijABCDEFGHIJ456789", "GitHub token"},

		{"http.request.header.authorization", "", ""},
		{"http.request.header.authorization", "REDACTED", ""},
		{"db.password", "****", ""},
		{"url.query", "token=REDACTED&page=2", ""},
		{"url.full", "https://REDACTED:REDACTED@example.com/", ""},
		{"gen_ai.token.type", "input", ""},
		{"messaging.kafka.message.key", "order-1", ""},
		{"code.function.name", "main.token", ""},
		{"db.query.text", "SELECT code FROM t WHERE key=3", ""},
		{"url.full", "https://example.com/a@b?page=1", ""},
	} {
		d := doctor.New()
		d.Add(with(span(1, 0, 1, 2), func(s *traces.Span) { s.Attributes = []traces.Attribute{text(c.key, c.value)} }), true)
		var got string
		for _, f := range d.Findings() {
			got, _, _ = strings.Cut(f.Examples[0].Detail, ":")
			if printed := fmt.Sprintf("%+v", f); strings.Contains(printed, c.value) {
				t.Errorf("the finding tells the secret: %s", printed)
			}
		}
		if got != c.kind {
			t.Errorf("%s=%q: found %q, want %q", c.key, c.value, got, c.kind)
		}
	}
}

// TestSecretsEverywhere puts a secret wherever a span holds text, also where a
// finding would print it.
func TestSecretsEverywhere(t *testing.T) {
	t.Parallel()
	const secret = "https://ada:hunter2@example.com/"
	inside := []traces.Attribute{{Key: "list", Value: traces.Array(traces.Map(text("x", secret)))}}
	s := span(1, 9, 5, 1)
	s.Name, s.Status.Message, s.Attributes = secret, secret, inside
	s.Events = []traces.Event{{Attributes: inside}}
	s.Links = []traces.Link{{Attributes: inside}}
	s.Resource = &traces.Resource{Attributes: inside}
	d := doctor.New()
	d.Add(s, true)
	findings := d.Findings()
	var got []string
	for _, f := range findings {
		got = append(got, string(f.Rule)+" "+f.What)
	}
	want := []string{
		"orphan ", "reversed ", "secret attributes.list.x", "secret events.attributes.list.x", "secret links.attributes.list.x",
		"secret name", "secret resource.attributes.list.x", "secret status.message",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if printed := fmt.Sprintf("%+v", findings); strings.Contains(printed, "hunter2") {
		t.Errorf("a finding tells the secret: %s", printed)
	}
}

func TestBounded(t *testing.T) {
	t.Parallel()
	d := doctor.New()
	for i := range 1000 {
		d.Add(with(span(1, 0, 1, 2), func(s *traces.Span) { s.Attributes = []traces.Attribute{text(fmt.Sprintf("k%d.password", i), "x1")} }), true)
	}
	findings := d.Findings()
	total := uint64(0)
	for _, f := range findings {
		if f.Rule == doctor.Secret {
			total += f.Count
		}
		if len(f.Examples) > 5 {
			t.Errorf("%s has %d examples", f.Rule, len(f.Examples))
		}
	}
	if len(findings) > 210 || total != 1000 {
		t.Errorf("%d findings count %d secrets, want about 200 that count 1000", len(findings), total)
	}
}

func TestNotChosen(t *testing.T) {
	t.Parallel()
	d := doctor.New()
	d.Add(with(span(1, 0, 10, 20), func(s *traces.Span) { s.Attributes = []traces.Attribute{text("password", "x1")} }), false)
	d.Add(span(2, 1, 11, 25), true)
	findings := d.Findings()
	if len(findings) != 1 || findings[0].Rule != doctor.OutlivesParent {
		t.Errorf("%+v: want the chosen span's alone", findings)
	}
}
