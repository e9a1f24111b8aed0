package doctor_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

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
		{"after the end of another host's span", []*traces.Span{root(), with(span(2, 1, 21, 25), func(s *traces.Span) { s.Resource = pay })}, []string{"clock-skew 1"}},
		{"at the end of another host's span", []*traces.Span{root(), with(span(2, 1, 20, 25), func(s *traces.Span) { s.Resource = pay })}, []string{"outlives-parent 1"}},
		{"after the end of a span of its own host", []*traces.Span{root(), span(2, 1, 21, 25)}, []string{"outlives-parent 1"}},
		{"message after the end of another host's span", []*traces.Span{root(), with(span(2, 1, 21, 25), func(s *traces.Span) {
			s.Resource, s.Kind = pay, traces.KindConsumer
		})}, nil},
		{"two services of one host", []*traces.Span{
			with(root(), func(s *traces.Span) { s.Resource = onHost("web", "h") }),
			with(span(2, 1, 9, 25), func(s *traces.Span) { s.Resource = onHost("pay", "h") }),
			with(span(3, 1, 21, 25), func(s *traces.Span) { s.Resource = onHost("pay", "h") }),
		}, []string{"starts-before-parent 1", "outlives-parent 2"}},
		{"one service on two hosts", []*traces.Span{
			with(root(), func(s *traces.Span) { s.Resource = onHost("web", "h") }),
			with(span(2, 1, 9, 19), func(s *traces.Span) { s.Resource = onHost("web", "i") }),
		}, []string{"clock-skew 1"}},
		{"a service that calls itself, hosts unknown", []*traces.Span{root(), with(span(2, 1, 9, 19), func(s *traces.Span) { s.Kind = traces.KindServer })}, []string{"clock-skew 1"}},
		{"no times at all", []*traces.Span{with(root(), func(s *traces.Span) { s.StartUnixNano, s.EndUnixNano = 0, 0 })}, nil},
		{"halves of a call", []*traces.Span{
			with(root(), func(s *traces.Span) { s.Kind = traces.KindClient }),
			with(span(1, 0, 11, 19), func(s *traces.Span) { s.Kind, s.Resource = traces.KindServer, pay }),
			with(span(2, 1, 12, 18), func(s *traces.Span) { s.Resource = pay }),
		}, nil},
		{"route", []*traces.Span{server(get, text("http.route", "/"))}, nil},
		{"preflight", []*traces.Span{server(text("http.request.method", "OPTIONS"), status(204))}, nil},
		{"not a server", []*traces.Span{with(server(get, status(200)), func(s *traces.Span) { s.Kind = traces.KindClient })}, nil},
		{"rpc server", []*traces.Span{server(text("rpc.system", "grpc"))}, nil},
		{"dropped", []*traces.Span{with(root(), func(s *traces.Span) { s.Events = []traces.Event{{DroppedAttributes: 1}} })}, []string{"dropped 1"}},
	} {
		if diff := cmp.Diff(c.want, rules(c.spans...)); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}

func onHost(service, host string) *traces.Resource {
	return &traces.Resource{Attributes: []traces.Attribute{text("service.name", service), text("host.name", host)}}
}

// TestMissingRoute asks for a route where the router was reached.
func TestMissingRoute(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"http.response.status_code", "http.status_code"} {
		for status, want := range map[int64]bool{
			0: true, 101: true, 200: true, 204: true, 500: true, 502: true, 504: true,
			301: false, 308: false, 400: false, 401: false, 403: false, 404: false, 405: false, 413: false, 421: false, 429: false, 431: false, 499: false, 503: false,
		} {
			got := rules(with(span(1, 0, 10, 20), func(s *traces.Span) {
				s.Kind = traces.KindServer
				s.Attributes = []traces.Attribute{text("http.method", "GET"), {Key: key, Value: traces.Int(status)}}
			}))
			if (len(got) == 1) != want {
				t.Errorf("%s=%d: %v", key, status, got)
			}
		}
	}
}

// TestSeverity holds what makes a check fail, and that it is told first.
func TestSeverity(t *testing.T) {
	t.Parallel()
	for rule, want := range map[doctor.Rule]doctor.Severity{
		doctor.Duplicate: doctor.SeverityMistake, doctor.Cycle: doctor.SeverityMistake, doctor.NoID: doctor.SeverityMistake,
		doctor.NoEnd: doctor.SeverityMistake, doctor.Reversed: doctor.SeverityMistake, doctor.BeforeParent: doctor.SeverityMistake,
		doctor.Secret: doctor.SeverityMistake, doctor.PassedOver: doctor.SeverityMistake,
		doctor.Orphan: doctor.SeverityHint, doctor.OutlivesParent: doctor.SeverityHint, doctor.ClockSkew: doctor.SeverityHint,
		doctor.MissingRoute: doctor.SeverityHint, doctor.ManyNames: doctor.SeverityHint, doctor.Dropped: doctor.SeverityHint,
	} {
		if got := rule.Severity(); got != want {
			t.Errorf("%s is a %s, want a %s", rule, got, want)
		}
	}
	if got, want := rules(span(1, 9, 10, 9)), []string{"reversed 1", "orphan 1"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// namedSpans are spans of one scope that differ in their names.
func namedSpans(n int, name func(i int) string) []*traces.Span {
	var spans []*traces.Span
	for i := range n {
		spans = append(spans, with(span(1, 0, 1, 2), func(s *traces.Span) {
			s.SpanID[0], s.SpanID[1], s.SpanID[2] = byte(i), byte(i>>8), byte(i>>16)
			s.Name, s.Scope = name(i), &traces.Scope{Name: "example.com/mail"}
		}))
	}
	return spans
}

// TestManyNames blames the names, by what they have in common.
func TestManyNames(t *testing.T) {
	t.Parallel()
	letters := func(i int) string { return string([]byte{'a' + byte(i/676%26), 'a' + byte(i/26%26), 'a' + byte(i%26)}) }
	numbered := func(format string) func(int) string { return func(i int) string { return fmt.Sprintf(format, i) } }
	for _, c := range []struct {
		title string
		spans []*traces.Span
		want  string // pattern, names of examples, detail
	}{
		{"nineteen", namedSpans(19, numbered("GET /users/%d")), ""},
		{
			"numbers", namedSpans(30, numbered("GET /users/%d")),
			"GET /users/#: GET /users/0, GET /users/1, GET /users/2, GET /users/3, GET /users/4: one of 30 names",
		},
		{
			"many numbers", namedSpans(3000, numbered("GET /users/%d")),
			"GET /users/#: GET /users/0, GET /users/1, GET /users/2, GET /users/3, GET /users/4: one of 1000 names and more",
		},
		{
			"UUIDs", namedSpans(30, numbered("GET /%08x-0000-4000-8000-000000000000"))[28:],
			"",
		},
		{
			"letters", namedSpans(500, func(i int) string { return "mail to " + letters(i) }),
			"mail to *: mail to aaa, mail to aab, mail to aac, mail to aad, mail to aae: one of 500 names of scope example.com/mail",
		},
		{
			"letters in the middle", namedSpans(500, func(i int) string { return "job." + letters(i) + ".run" }),
			"job.*: job.aaa.run, job.aab.run, job.aac.run, job.aad.run, job.aae.run: one of 500 names of scope example.com/mail",
		},
		{
			"nothing in common", namedSpans(600, letters),
			"*: aaa, aab, aac, aad, aae: one of 600 names of scope example.com/mail",
		},
		{
			"two starts of which neither is most",
			namedSpans(600, func(i int) string { return []string{"mail to ", "text to "}[i%2] + letters(i) }),
			"*: mail to aaa, text to aab, mail to aac, text to aad, mail to aae: one of 600 names of scope example.com/mail",
		},
		{"fewer letters", namedSpans(499, func(i int) string { return "mail to " + letters(i) }), ""},
		{"many routes, each of them often", namedSpans(1200, func(i int) string { return "GET /" + letters(i%600) }), ""},
		{
			"more than are counted", namedSpans(3000, func(i int) string { return "GET /" + letters(i) }),
			"GET /*: GET /aaa, GET /aab, GET /aac, GET /aad, GET /aae: one of 1000 names and more of scope example.com/mail",
		},
	} {
		d := doctor.New()
		for _, s := range c.spans {
			d.Add(s, true)
		}
		var got []string
		for _, f := range d.Findings() {
			var names, details []string
			for _, e := range f.Examples {
				names, details = append(names, e.Name), append(details, e.Detail)
			}
			got = append(got, f.What+": "+strings.Join(names, ", ")+": "+strings.Join(slices.Compact(details), ", "))
			if f.Rule != doctor.ManyNames || f.Count != 1 {
				t.Errorf("%s: %s %d", c.title, f.Rule, f.Count)
			}
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.title, s, c.want)
		}
	}
	for _, format := range []string{"GET /%08x-0000-4000-8000-000000000000", "job 3f%010x"} {
		if diff := cmp.Diff([]string{"high-cardinality-name 1"}, rules(namedSpans(30, numbered(format))...)); diff != "" {
			t.Errorf("%s: -want +got\n%s", format, diff)
		}
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
		{"note", "id_AKIAIOSFODNN7EXAMPLE_1", "AWS access key"},
		{"note", "xAKIAIOSFODNN7EXAMPLE", ""},
		{"note", "7https://ada:hunter2@example.com/", "user information in a URL"},
		{"note", "the token is " + jwt + ".", "JSON web token"},
		{"pem", "-----BEGIN EC PRIVATE KEY-----\nMHc", "private key"},
		{"dsn", "postgres://ada:hunter2@db:5432/shop", "user information in a URL"},
		{"url.query", "a=1&token=abc", "query parameter token"},
		{"url.full", "https://example.com/?API_KEY=abc", "query parameter api_key"},
		{"log", "curl -H 'Authorization: Bearer abcdefghij'", "credentials"},
		{"env", "ghp_0123456789abcdefghijABCDEFGHIJ456789", "GitHub token"},
		{"url.query", "token=abc&next=https://example.com/?page=1", "query parameter token"},
		{"url.full", "https://example.com/#access_token=abc", "query parameter access_token"},
		{"note", "GET /orders?token=abc", "query parameter token"},
		{"http.request.body", "user=ada&password=hunter2", "query parameter password"},
		{"hosts", "https://REDACTED:REDACTED@a https://ada:hunter2@b", "user information in a URL"},

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
	s.Name, s.Status.Message = strings.Repeat("x", 185)+secret, secret // the cut is inside of it
	s.TraceState = "a=1, v=" + secret + ",x-api-key=hunter2"
	s.Attributes = []traces.Attribute{
		{Key: secret, Value: traces.Map(text(secret, secret))},
		{Key: "raw", Value: traces.Bytes([]byte("-----BEGIN PRIVATE KEY-----\nhunter2"))},
	}
	s.Events = []traces.Event{{Name: secret, Attributes: inside}}
	s.Links = []traces.Link{{TraceState: "v=" + secret, Attributes: inside}}
	s.Resource = &traces.Resource{Attributes: append(inside, text("service.name", secret)), SchemaURL: secret}
	s.Scope = &traces.Scope{Name: secret, Version: secret, Attributes: inside, SchemaURL: secret}
	again := with(span(2, 9, 5, 9), func(other *traces.Span) { other.Resource, other.Scope = s.Resource, s.Scope })
	child := with(span(3, 1, 4, 5), func(child *traces.Span) { child.Resource = pay })
	d := doctor.New()
	for _, s := range []*traces.Span{s, again, child} {
		d.Add(s, s != child)
	}
	findings := d.Findings()
	var got []string
	for _, f := range findings {
		got = append(got, string(f.Rule)+" "+f.What)
	}
	want := []string{
		"reversed ", "secret attributes.(key)", "secret attributes.***.(key)", "secret attributes.***.***",
		"secret attributes.raw", "secret events.attributes.list.x", "secret events.name",
		"secret links.attributes.list.x", "secret links.traceState.v", "secret name",
		"secret resource.attributes.list.x", "secret resource.attributes.service.name", "secret resource.schemaUrl",
		"secret scope.attributes.list.x", "secret scope.name", "secret scope.schemaUrl", "secret scope.version",
		"secret status.message", "secret traceState.v", "secret traceState.x-api-key", "orphan ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if printed := fmt.Sprintf("%+v", findings); strings.Contains(printed, "hunter2") {
		t.Errorf("a finding tells the secret: %s", printed)
	}
}

// TestSecretsDeepInside looks as deep as files nest values, and keeps what it tells
// short and whole.
func TestSecretsDeepInside(t *testing.T) {
	t.Parallel()
	v := traces.String("hunter2")
	for range 60 {
		v = traces.Map(traces.Attribute{Key: "ünter.password", Value: v})
	}
	d := doctor.New()
	d.Add(with(span(1, 0, 1, 2), func(s *traces.Span) {
		s.Name, s.Attributes = "x"+strings.Repeat("ü", 200), []traces.Attribute{{Key: "a", Value: v}}
	}), true)
	findings := d.Findings()
	if len(findings) != 1 || findings[0].Rule != doctor.Secret {
		t.Fatalf("%+v", findings)
	}
	f := findings[0]
	for _, told := range []string{f.What, f.Examples[0].Name} {
		if len(told) > 200 || len(told) < 190 || !utf8.ValidString(told) {
			t.Errorf("%d bytes: %q", len(told), told)
		}
	}
}

// TestSecretsInWhat puts secrets where a finding names what it is about.
func TestSecretsInWhat(t *testing.T) {
	t.Parallel()
	const secret = "https://ada:hunter2@example.com/"
	d := doctor.New()
	service := &traces.Resource{Attributes: []traces.Attribute{text("service.name", secret)}}
	add := func(s *traces.Span) { s.Resource = service; d.Add(s, true) }
	add(span(1, 0, 10, 20))
	d.Add(with(span(2, 1, 9, 19), func(s *traces.Span) { s.Resource = pay }), true)
	for i := range byte(30) {
		add(with(span(10+i, 0, 10, 20), func(s *traces.Span) { s.Name = fmt.Sprintf("%d%s", i, secret) }))
	}
	for i := range 600 {
		add(with(span(99, 0, 10, 20), func(s *traces.Span) {
			s.SpanID[0], s.SpanID[1] = byte(i), byte(i>>8)
			s.Scope = &traces.Scope{Name: secret}
			s.Name = string([]rune{'a' + rune(i/26), 'a' + rune(i%26)})
		}))
	}
	d.Add(with(span(3, 0, 10, 20), func(s *traces.Span) {
		s.Attributes = []traces.Attribute{{Key: strings.Repeat("x", 190) + secret, Value: traces.Int(1)}}
	}), true)
	findings := d.Findings()
	if printed := fmt.Sprintf("%+v", findings); strings.Contains(printed, "hunter2") || strings.Contains(printed, "ada:") {
		t.Errorf("a finding tells the secret: %s", printed)
	}
	var got []string
	for _, f := range findings {
		got = append(got, string(f.Rule)+" "+f.What)
	}
	want := []string{
		"secret scope.name", "secret name", "secret attributes.(key)", "secret resource.attributes.service.name",
		"clock-skew *** and pay", "high-cardinality-name *",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
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
