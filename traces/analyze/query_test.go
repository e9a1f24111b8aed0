package analyze_test

import (
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/analyze"
)

func attr(key string, v traces.Value) traces.Attribute { return traces.Attribute{Key: key, Value: v} }

// cart is a span that queries are asked about.
func cart() *traces.Span {
	return &traces.Span{
		TraceID: traces.TraceID{0x4b, 0xf9, 0x2f}, SpanID: traces.SpanID{1}, Name: "GET /cart", Kind: traces.KindServer,
		StartUnixNano: 1000, EndUnixNano: 1000 + uint64(60*time.Millisecond),
		Status: traces.Status{Code: traces.StatusError, Message: "database is gone"},
		Attributes: []traces.Attribute{
			attr("http.request.method", traces.String("GET")), attr("http.route", traces.String("/cart")),
			attr("http.response.status_code", traces.Int(503)), attr("user.id", traces.String("7")),
			attr("load", traces.Double(0.5)), attr("tags", traces.Array(traces.String("a"), traces.String("b c"))),
			attr("retry", traces.Bool(true)), attr("empty", traces.String("")), attr("odd key=", traces.String(`say "hi"`)),
			attr("metadata", traces.String(`{"tier":"pro","seats":3}`)),
		},
		Events:   []traces.Event{{Name: "exception", Attributes: []traces.Attribute{attr("exception.message", traces.String("no Route"))}}},
		Resource: &traces.Resource{Attributes: []traces.Attribute{attr("service.name", traces.String("shop")), attr("host.name", traces.String("h1"))}},
		Scope:    &traces.Scope{Name: "web"},
	}
}

func TestQueries(t *testing.T) {
	t.Parallel()
	set := traces.NewSet([]*traces.Span{cart()})
	for text, want := range map[string]bool{
		"":                                true,
		"service=shop":                    true,
		"service=other":                   false,
		"service!=other":                  true,
		"-service=shop":                   false,
		`route="GET /cart"`:               true,
		`shape~cart$`:                     true,
		"name~^GET":                       true,
		"name~^get":                       false,
		"scope=web kind=SERVER":           true,
		"kind=client":                     false,
		"status=error":                    true,
		"status=Error":                    true,
		"-status=error":                   false,
		"dur>50ms":                        true,
		"dur>=60ms dur<=60ms":             true,
		"dur=60ms":                        true,
		"dur<60ms":                        false,
		"dur!=60ms":                       false,
		"http.response.status_code>=500":  true,
		"http.response.status_code>503":   false,
		"http.response.status_code=503":   true,
		"http.response.status_code=503.0": true,
		"http.response.status_code<504":   true,
		"user.id>6":                       true, // a text that is a number
		"http.route>6":                    false,
		"load=0.5":                        true,
		"load=0.50":                       true,
		"load=5e-1":                       true,
		"retry=true":                      true,
		"tags=a":                          true,
		`tags="b c"`:                      true,
		"tags~^b":                         true,
		"tags!=a":                         false,
		"host.name=h1":                    true,
		"metadata.tier=pro":               true,
		"metadata.seats>2":                true,
		"metadata.other=1":                false,
		"has:user.id":                     true,
		"has:nothing":                     false,
		"-has:nothing":                    true,
		"nothing!=x":                      true,
		"nothing=x":                       false,
		"nothing~.":                       false,
		"nothing<1":                       false,
		"empty= has:empty":                true,
		`empty=""`:                        true,
		`"odd key="="say \"hi\""`:         true,
		"-user.id=7":                      false,
		"user.id!=7":                      false,
		"database":                        true,
		"DATABASE":                        true,
		`"is gone"`:                       true,
		"route":                           true, // in an event
		"pro":                             true,
		"absent":                          false,
		"-absent":                         true,
		"trace:4bf92f":                    true,
		"trace:4BF9":                      true,
		"trace:4bf91":                     false,
		"trace.dur>50ms":                  true,
		"trace.dur>1s":                    false,
		"trace.spans=1":                   true,
		"-trace.spans=1":                  false,
		"trace.spans>100":                 false,
		"service=shop dur>50ms cart status=error": true,
		"service=shop dur>70ms":                   false,
	} {
		q, err := analyze.ParseQuery(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := q.MatchTrace(set.Traces()[0]); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// One span must satisfy all terms about spans.
func TestOneSpanSatisfiesAllTerms(t *testing.T) {
	t.Parallel()
	other := cart()
	other.SpanID, other.Name, other.Attributes = traces.SpanID{2}, "query", []traces.Attribute{attr("db.system.name", traces.String("postgresql"))}
	set := traces.NewSet([]*traces.Span{cart(), other})
	for text, want := range map[string]bool{
		"has:db.system.name has:http.route": false,
		"has:db.system.name trace.spans=2":  true,
		"name=query has:db.system.name":     true,
	} {
		q, err := analyze.ParseQuery(text)
		if err != nil || q.MatchTrace(set.Traces()[0]) != want {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
}

func TestWrongQueries(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"=x":                       `at character 1, "=": want a key in front of it`,
		"a~":                       `at character 3: want a value`,
		`name="x`:                  `at character 6, "\"": want the quote to be closed, and Go's escapes in it`,
		`ok "x"y`:                  `at character 7, "y": want a blank, or an operator: = != ~ < <= > >=`,
		"name~(":                   `at character 6, "(": want a regular expression: missing closing )`,
		"name~\"\\n(\"":            `at character 6, "\n(": want a regular expression: missing closing )`,
		"dur>50":                   `at character 5, "50": want a duration like 50ms or 1.5s`,
		"dur~5":                    `at character 5, "5": want a duration like 50ms or 1.5s`,
		"trace.spans>many":         `at character 13, "many": want a number`,
		"status=broken":            `at character 8, "broken": want unset, ok, error`,
		"kind=x":                   `at character 6, "x": want internal, server, client, producer, consumer, unspecified`,
		"ä=1 name>3":               `at character 9, ">": want =, != or ~ behind name`,
		"a>b":                      `at character 3, "b": want a number`,
		"has:":                     `at character 5: want a key`,
		"trace:xyz":                `at character 7, "xyz": want 4 to 32 hexadecimal digits`,
		"-":                        `at character 1, "-": want key=value, has:key, or a word`,
		`""`:                       `at character 1, "\"": want key=value, has:key, or a word`,
		"a!b":                      `at character 2, "!": want a blank, or an operator: = != ~ < <= > >=`,
		strings.Repeat("a ", 5000): "the query has 10000 bytes, want at most 4096",
	} {
		if _, err := analyze.ParseQuery(text); err == nil || err.Error() != want {
			t.Errorf("%.40s: %v\nwant %s", text, err, want)
		}
	}
}

func TestAttributesOfQueries(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		keys string
		all  bool
	}{
		"user.id=7 has:x":   {"user.id x", true},
		"metadata.tier=pro": {"metadata.tier metadata", true},
		"word":              {"", false},
		"trace:4bf9":        {"", true},
	} {
		q, err := analyze.ParseQuery(text)
		if err != nil {
			t.Fatal(err)
		}
		if keys, all := q.Attributes(); strings.Join(keys, " ") != want.keys || all != want.all {
			t.Errorf("%s: %q, %v", text, keys, all)
		}
	}
}

func TestUnseenKeys(t *testing.T) {
	t.Parallel()
	q, err := analyze.ParseQuery("user.id=1 usr.id=1 -has:other name=x dur>1s trace.spans>3 word")
	if err != nil {
		t.Fatal(err)
	}
	w := q.Watch()
	if got := w.Unseen(); got != nil {
		t.Errorf("before any span: %q", got)
	}
	w.Add(cart())
	if got := strings.Join(w.Unseen(), " "); got != "usr.id other" {
		t.Errorf("unseen: %s", got)
	}
}

// FuzzQuery reads any text, and what a query says of itself is read as the same.
func FuzzQuery(f *testing.F) {
	for _, s := range []string{
		"service=shop dur>50ms", `"odd key="="say \"hi\""`, "-has:x trace:4bf9 word", "a~^b$ c!=d", "name=\x00", `""=1`, "-\"-a\"", "a<=1 b>=2",
	} {
		f.Add(s)
	}
	set := traces.NewSet([]*traces.Span{cart()})
	f.Fuzz(func(t *testing.T, s string) {
		q, err := analyze.ParseQuery(s)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: more than a line: %v", s, err)
			}
			return
		}
		text := q.String()
		if len(text) > 4000 {
			return
		}
		again, err := analyze.ParseQuery(text)
		if err != nil {
			t.Fatalf("%q is written as %q: %v", s, text, err)
		}
		if again.String() != text || again.MatchTrace(set.Traces()[0]) != q.MatchTrace(set.Traces()[0]) {
			t.Errorf("%q is written as %q, which is read as %q", s, text, again.String())
		}
	})
}
