package env_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/env"
)

const (
	base   = "OTEL_EXPORTER_OTLP_ENDPOINT"
	traces = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
)

// endpointCase is one spelling of an endpoint. A want that is empty means that
// no exporter may be built.
type endpointCase struct {
	key, protocol, given string
	want                 string
	bad                  string // what the one finding wants or shows, a part of it
}

func TestEndpoint(t *testing.T) {
	t.Parallel()
	for _, c := range []endpointCase{
		{base, "", "http://localhost:4318", "http://localhost:4318/v1/traces", ""},
		{base, "", "https://otel.example.com", "https://otel.example.com/v1/traces", ""},
		{base, "http/json", " http://h:4318/ ", "http://h:4318/v1/traces", ""},
		{base, "", "HTTP://Host:4318", "http://Host:4318/v1/traces", ""},
		{base, "", "http://h:4318/api", "http://h:4318/api/v1/traces", ""},
		{base, "", "http://h:4318/api//", "http://h:4318/api/v1/traces", ""},
		{base, "", "http://h/a%40b", "http://h/a%40b/v1/traces", ""},
		{base, "", "http://h/a%2Fb", "http://h/a%2Fb/v1/traces", ""},
		{base, "", "http://[::1]:4318", "http://[::1]:4318/v1/traces", ""},
		{base, "", "http://h:", "http://h/v1/traces", ""},
		{traces, "", "http://h:4318/v1/traces", "http://h:4318/v1/traces", ""},
		{traces, "", "http://h:4318/own/", "http://h:4318/own/", ""},
		{base, "grpc", "http://h:4317", "http://h:4317", ""},
		{traces, "GRPC", "https://h:4317/", "https://h:4317", ""},
		{base, "grpc", "https://h", "https://h:443", ""},
		{base, "grpc", "http://[::1]:4317", "http://[::1]:4317", ""},

		// In doubt, but used.
		{base, "", "http://h:4318/v1/traces", "http://h:4318/v1/traces", "a base URL without /v1/traces"},
		{base, "", "http://h:4318/x/v1/traces/", "http://h:4318/x/v1/traces/", "a base URL without /v1/traces"},
		{base, "", "http://h:4318/api?key=1", "http://h:4318/api/v1/traces", "without query"},
		{base, "", "http://h:4318/?", "http://h:4318/v1/traces", "without query"},
		{base, "", "http://h:4318/#x", "http://h:4318/v1/traces", "without query"},
		{traces, "", "http://h:4318", "http://h:4318/", "with its path, such as /v1/traces"},
		{base, "", "http://h:4317", "http://h:4317/v1/traces", "port 4318 for http/protobuf"},
		{base, "http/json", "http://h:4317", "http://h:4317/v1/traces", "port 4318 for http/json"},
		{base, "grpc", "http://h:4318", "http://h:4318", "port 4317 for grpc"},
		{base, "grpc", "http://h:4317/v1/traces", "http://h:4317", "without path for grpc"},
		{base, "grpc", "http://h", "http://h:80", "a port, such as 4317"},
		{base, "", "https://user:pass@h/x", "https://h/x/v1/traces", "without user information"},

		// Refused: an exporter would go to the wrong host.
		{base, "", "localhost:4318", "", `such as "http://localhost:4318"`},
		{base, "", "collector", "", `such as "http://collector"`},
		{base, "", "127.0.0.1:4318", "", `such as "http://127.0.0.1:4318"`},
		{base, "grpc", "10.1.2.3:4317", "", `such as "http://10.1.2.3:4317"`},
		{traces, "", "127.0.0.1:4318", "", `such as "http://127.0.0.1:4318/v1/traces"`},
		{traces, "", "h:4318/x", "", `such as "http://h:4318/x"`},
		{traces, "grpc", "h:4317", "", `such as "http://h:4317"`},
		{base, "", "otel.example.com:443", "", `such as "https://otel.example.com:443"`},
		{base, "", "//h:4318", "", `such as "http://h:4318"`},
		{base, "", "http:/h:4318", "", `such as "http://h:4318"`},
		{base, "", "https:h:4318", "", `such as "https://h:4318"`},
		{base, "", "http//h:4318", "", `such as "http://h:4318"`},
		{base, "", "http:///h:4318", "", `such as "http://h:4318"`},
		{base, "", "http://:4318", "", `such as "http://localhost:4318"`},
		{base, "", ":4318", "", `such as "http://localhost:4318"`},
		{base, "grpc", "grpc://h:4317", "", `such as "http://h:4317"`},
		{base, "grpc", "unix:///run/otel.sock", "", "no other scheme"},
		{base, "grpc", "unix:/run/otel.sock", "", "a URL with http://"},
		{base, "", "file:///tmp/x", "", "no other scheme"},
		{base, "", "http://h:99999", "", "a port from 1 to 65535"},
		{base, "", "http://h:0", "", "a port from 1 to 65535"},
		{base, "", "http://h:port", "", "that can be parsed"},
		{base, "", "http://ho st", "", "that can be parsed"},
		{base, "", "http://%zz", "", "that can be parsed"},
		{base, "", "http://", "", "with a host"},
		{base, "", "https://1:2/3@h", "", "without @ in its path"},
		{base, "", "ada:pw@h:4318?x", "", `such as "http://h:4318"`},
	} {
		s, findings := parse(on(c.key, c.given, "OTEL_EXPORTER_OTLP_PROTOCOL", c.protocol))
		name := fmt.Sprintf("%s=%q with protocol %q", c.key, c.given, c.protocol)
		if s.OTLP.Endpoint.V != c.want || (s.OTLP.Unusable == "") != (c.want != "") || c.want != "" && s.OTLP.Endpoint.Key != c.key {
			t.Errorf("%s: %+v, unusable %q, want %q", name, s.OTLP.Endpoint, s.OTLP.Unusable, c.want)
		}
		if c.bad == "" && len(findings) > 0 || c.bad != "" && !wants(findings, c.key, c.bad) {
			t.Errorf("%s: findings %v, want %q", name, findings, c.bad)
		}
		if len(findings) > 0 && c.want == "" && findings[0].Used != "the file" {
			t.Errorf("%s: uses %q, want the file", name, findings[0].Used)
		}
	}
}

// What the settings call the endpoint must be where a request arrives.
func TestEndpointIsReached(t *testing.T) {
	t.Parallel()
	var path string
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { path = r.URL.Path }))
	defer srv.Close()
	for key, want := range map[string]string{base: "/v1/traces", traces: "/"} {
		s, _ := parse(on(key, srv.URL))
		resp, err := http.Post(s.OTLP.Endpoint.V, "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
		if path != want {
			t.Errorf("%s=%s: request for %s, want %s", key, srv.URL, path, want)
		}
	}
}

func TestEndpointPrecedence(t *testing.T) {
	t.Parallel()
	s, findings := parse(on(base, "localhost:1", traces, "http://t:4318/v1/traces"))
	if s.OTLP.Endpoint.V != "http://t:4318/v1/traces" || len(findings) > 0 {
		t.Errorf("both set: %+v, %v, want the one for traces", s.OTLP.Endpoint, findings)
	}
	s, _ = parse(on(base, "http://b:4318", traces, " "))
	if s.OTLP.Endpoint.Key != base {
		t.Errorf("blank one for traces: %+v, want the base", s.OTLP.Endpoint)
	}
	s, findings = parse(on(base, "http://b:4318", traces, "t:4318"))
	if s.OTLP.Endpoint.V != "" || len(findings) != 1 {
		t.Errorf("bad one for traces: %+v, %v, want no endpoint: the other host may not be meant", s.OTLP.Endpoint, findings)
	}
}

func TestOTLPAsked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		exporter, protocol, endpoint string
		want, key                    string
	}{
		{"", "", "", "", ""},
		{"otlp", "", "", "http://localhost:4318/v1/traces", ""},
		{"otlp", "http/json", "", "http://localhost:4318/v1/traces", ""},
		{"console,otlp", "grpc", "", "http://localhost:4317", ""},
		{"otlp", "", "http://h:4318", "http://h:4318/v1/traces", base},
		{"console", "", "http://h:4318", "", ""},
		{"none", "", "http://h:4318", "", ""},
		{"otlp/stdout", "", "http://h:4318", "", ""},
	} {
		s, findings := parse(on("OTEL_TRACES_EXPORTER", c.exporter, "OTEL_EXPORTER_OTLP_PROTOCOL", c.protocol, base, c.endpoint))
		if want := (env.Value[string]{V: c.want, Key: c.key}); s.OTLP.Endpoint != want || s.OTLP.Unusable != "" || len(findings) > 0 {
			t.Errorf("%+v: endpoint %+v, unusable %q, findings %v", c, s.OTLP.Endpoint, s.OTLP.Unusable, findings)
		}
	}
	// Without OTLP, nothing about it is looked at.
	_, findings := parse(on(
		"OTEL_EXPORTER_OTLP_PROTOCOL", "http/xml", "OTEL_EXPORTER_OTLP_TIMEOUT", "10s", "OTEL_EXPORTER_OTLP_HEADERS", "x",
		"OTEL_EXPORTER_OTLP_COMPRESSION", "zstd", "OTEL_EXPORTER_OTLP_INSECURE", "1"))
	if len(findings) > 0 {
		t.Errorf("no endpoint: findings %v, want none", findings)
	}
}

func TestProtocol(t *testing.T) {
	t.Parallel()
	get := func(s env.Settings) env.Value[string] { return s.OTLP.Protocol }
	const key = "OTEL_EXPORTER_OTLP_PROTOCOL"
	check(t, key, get, []tc{
		{"", "http/protobuf", ""},
		{" ", "http/protobuf", ""},
		{"http/protobuf", "http/protobuf", ""},
		{" HTTP/JSON ", "http/json", ""},
		{"http/xml", "http/protobuf", "grpc, http/protobuf or http/json"},
		{"thrift", "http/protobuf", "grpc, http/protobuf or http/json"},
		{"http/jsn", "http/protobuf", "grpc, http/protobuf or http/json"},
	}, base, "http://h:4318")
	check(t, key, get, []tc{{"gRPC", "grpc", ""}, {"grpc", "grpc", ""}}, base, "http://h:4317")
	s, findings := parse(on(base, "http://h:4318", key, "grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"))
	if s.OTLP.Protocol.V != "http/json" || len(findings) > 0 {
		t.Errorf("both protocols: %+v, %v, want the one for traces", s.OTLP.Protocol, findings)
	}
	s, findings = parse(on(base, "http://h:4318", key, "grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "udp"))
	if s.OTLP.Unusable == "" || s.OTLP.Endpoint.V != "" || len(findings) != 1 || findings[0].Used != "the file" {
		t.Errorf("bad protocol for traces: unusable %q, endpoint %q, findings %v", s.OTLP.Unusable, s.OTLP.Endpoint.V, findings)
	}
}

func TestSchemeWins(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ endpoint, key, insecure, bad string }{
		{"https://h:4318", "OTEL_EXPORTER_OTLP_INSECURE", "true", "http:// in the endpoint"},
		{"https://h:4318", "OTEL_EXPORTER_OTLP_TRACES_INSECURE", "TRUE", "http:// in the endpoint"},
		{"https://h:4318", "OTEL_EXPORTER_OTLP_INSECURE", "false", ""},
		{"http://h:4318", "OTEL_EXPORTER_OTLP_INSECURE", "true", ""},
		{"http://h:4318", "OTEL_EXPORTER_OTLP_INSECURE", "false", "https:// in the endpoint"},
		{"http://h:4318", "OTEL_EXPORTER_OTLP_INSECURE", "1", "true or false"},
		{"https://h:4318", "OTEL_EXPORTER_OTLP_INSECURE", "1", "true or false"},
	} {
		s, findings := parse(on(base, c.endpoint, c.key, c.insecure))
		if s.OTLP.Endpoint.V != c.endpoint+"/v1/traces" {
			t.Errorf("%+v: endpoint %q, want the scheme as given", c, s.OTLP.Endpoint.V)
		}
		if c.bad == "" && len(findings) > 0 || c.bad != "" && !wants(findings, c.key, c.bad) {
			t.Errorf("%+v: findings %v", c, findings)
		}
	}
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	const ca, cert, key = "OTEL_EXPORTER_OTLP_CERTIFICATE", "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "OTEL_EXPORTER_OTLP_CLIENT_KEY"
	const tracesKey = "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY"
	got := func(m env.Map) ([]string, []env.Finding) {
		s, findings := parse(m)
		return []string{s.OTLP.Certificate.V, s.OTLP.ClientCertificate.V, s.OTLP.ClientKey.V}, findings
	}
	for name, c := range map[string]struct {
		vars  env.Map
		want  []string
		about []string
	}{
		"all":             {on(base, "https://h", ca, "/ca", cert, "/c", key, "/k"), []string{"/ca", "/c", "/k"}, nil},
		"key for traces":  {on(base, "https://h", cert, "/c", key, "/k", tracesKey, "/t"), []string{"", "/c", "/t"}, nil},
		"no key":          {on(base, "https://h", ca, "/ca", cert, "/c"), []string{"/ca", "", ""}, []string{cert}},
		"no certificate":  {on(base, "https://h", tracesKey, "/k"), []string{"", "", ""}, []string{tracesKey}},
		"with plain text": {on(base, "http://h", ca, "/ca", cert, "/c", key, "/k"), []string{"", "", ""}, []string{ca, cert, key}},
	} {
		paths, findings := got(c.vars)
		if diff := cmp.Diff(c.want, paths); diff != "" {
			t.Errorf("%s: paths (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(c.about, keys(findings)); diff != "" {
			t.Errorf("%s: findings (-want +got):\n%s", name, diff)
		}
		for _, f := range findings {
			if f.Value != "***" {
				t.Errorf("%s: finding shows %q, which may be a key", name, f.Value)
			}
		}
	}
}

func TestCompressionAndTimeout(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"OTEL_EXPORTER_OTLP_COMPRESSION", "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION"} {
		check(t, key, func(s env.Settings) env.Value[string] { return s.OTLP.Compression }, []tc{
			{"gzip", "gzip", ""},
			{"GZIP", "gzip", ""},
			{"None", "none", ""},
			{"", "none", ""},
			{"zstd", "none", "gzip or none"},
		}, base, "http://h:4318")
	}
	for _, key := range []string{"OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT"} {
		check(t, key, func(s env.Settings) env.Value[time.Duration] { return s.OTLP.Timeout }, []tc{
			{"500", 500 * time.Millisecond, ""},
			{"0", time.Duration(0), ""},
			{"10s", 10 * time.Second, "(here 10000)"},
			{"-1", 10 * time.Second, "0 to 2147483647"},
		}, base, "http://h:4318")
	}
	s, findings := parse(on(base, "http://h:4318", "OTEL_EXPORTER_OTLP_TIMEOUT", "0", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "x"))
	if s.OTLP.Timeout.V != 0 || len(findings) != 1 || findings[0].Used != "no limit from OTEL_EXPORTER_OTLP_TIMEOUT" {
		t.Errorf("bad timeout for traces: %+v, %v, want the general one", s.OTLP.Timeout, findings)
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		protocol, given string
		want            env.Headers
		bad             string
	}{
		{"", "api-key=s3cret", env.Headers{{"api-key", "s3cret"}}, ""},
		{"", " Authorization = Bearer%20s3cret , x=1,", env.Headers{{"Authorization", "Bearer s3cret"}, {"x", "1"}}, ""},
		{"", "Authorization=Basic s3cret==", env.Headers{{"Authorization", "Basic s3cret=="}}, ""},
		{"", "a=1,a=2", env.Headers{{"a", "2"}}, ""},
		{"", "a=", env.Headers{{"a", ""}}, ""},
		{"", "a=b+c;d=e", env.Headers{{"a", "b+c;d=e"}}, ""},
		{"", "a=s3cret%C3%A9", env.Headers{{"a", "s3cret\u00e9"}}, ""},
		{"grpc", "a-bin=s3cret%C3%A9", env.Headers{{"a-bin", "s3cret\u00e9"}}, ""},
		{"", "Authorization: Basic s3cret==", nil, "item 1 is not"},
		{"", "s3cret", nil, "item 1 is not"},
		{"", "a=1,s3cret,b=2", env.Headers{{"a", "1"}, {"b", "2"}}, "item 2 is not"},
		{"", "a=%zzs3cret", nil, "item 1 is not"},
		{"", "a=s3cret%0d%0aEvil:%201", nil, "item 1 is not"},
		{"", "s3 cret=1", nil, "item 1 is not"},
		{"", "=s3cret", nil, "item 1 is not"},
		{"grpc", "a=s3cret%C3%A9", nil, "item 1 is not"},
	} {
		for _, key := range []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"} {
			s, findings := parse(on(base, "https://h", "OTEL_EXPORTER_OTLP_PROTOCOL", c.protocol, key, c.given))
			if diff := cmp.Diff(c.want, s.OTLP.Headers.V); diff != "" {
				t.Errorf("%s=%q (-want +got):\n%s", key, c.given, diff)
			}
			if c.bad == "" && len(findings) > 0 || c.bad != "" && !wants(findings, key, c.bad) {
				t.Errorf("%s=%q: findings %v, want %q", key, c.given, findings, c.bad)
			}
			noSecret(t, s, findings, "s3cret", "s3 cret")
		}
	}
	s, _ := parse(on(base, "https://h", "OTEL_EXPORTER_OTLP_HEADERS", "a=1", "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "b=2"))
	if diff := cmp.Diff(env.Headers{{"b", "2"}}, s.OTLP.Headers.V); diff != "" {
		t.Errorf("headers for traces replace the others (-want +got):\n%s", diff)
	}
}

// noSecret prints settings and findings in every way there is.
func noSecret(t *testing.T, s env.Settings, findings []env.Finding, secrets ...string) {
	t.Helper()
	var out strings.Builder
	text := slog.New(slog.NewTextHandler(&out, nil))
	js := slog.New(slog.NewJSONHandler(&out, nil))
	for _, f := range findings {
		fmt.Fprintf(&out, "%v %+v %#v %q\n", f, f, f, f.Error())
		text.Info("x", slog.Any("finding", f))
		js.Info("x", slog.Any("finding", f))
	}
	fmt.Fprintf(&out, "%v %+v %#v %s %q\n", s, s, s, s.OTLP.Headers, s.OTLP.Headers.V)
	text.Info("x", slog.Any("headers", s.OTLP.Headers.V), slog.Any("settings", s))
	js.Info("x", slog.Any("headers", s.OTLP.Headers.V), slog.Any("settings", s))
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(b)
	for _, secret := range secrets {
		if at := strings.Index(out.String(), secret); at >= 0 {
			t.Errorf("%q is printed: …%s", secret, out.String()[max(0, at-80):at+len(secret)])
		}
	}
}

func TestUserInformationIsNeverShown(t *testing.T) {
	t.Parallel()
	for _, given := range []string{
		"http://ada:s3cret@h:4318", "https://s3cret@h", "ada:s3cret@h:4318", "s3cret@h", "grpc://ada:s3cret@h:1",
		"http://ada:p/s3cret@h", "http://ada:p?s3cret@h", "http://ada:p#s3cret@h", "http://ada:s3cret@", "http://ada:s3cret@ho st",
		"http://ada:s3cret@h:port", "http://ada:s3cret%zz@h", "http:/ada:s3cret@h", "http//ada:s3cret@h", "x:s3cret@y://z",
		"h2c://ada:s3cret@h", "http://h/?key=s3cret", "h?key=s3cret", "http://h/#s3cret", "http://h/?mail=a@b&key=s3cret",
		"https://1:2/s3cret@h", "http://ada@b:s3cret@h", "//ada:s3cret@h", "http://ada:s3cret@h:99999", "http://h:x?s3cret",
	} {
		for _, key := range []string{base, traces} {
			for _, protocol := range []string{"", "grpc"} {
				s, findings := parse(on(key, given, "OTEL_EXPORTER_OTLP_PROTOCOL", protocol))
				if len(findings) == 0 {
					t.Errorf("%s=%q: no finding", key, given)
				}
				noSecret(t, s, findings, "s3cret", url.QueryEscape("s3cret"))
			}
		}
	}
}
