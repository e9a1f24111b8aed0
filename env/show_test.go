package env_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/env"
)

func TestShow(t *testing.T) {
	t.Parallel()
	const (
		protocol = "OTEL_EXPORTER_OTLP_PROTOCOL"
		file     = "SHOP_TRACES_FILE"
		resource = "OTEL_RESOURCE_ATTRIBUTES"
		name     = "OTEL_SERVICE_NAME"
	)
	for _, c := range []struct {
		key, value, want string
		hidden           []string
	}{
		// Endpoints.
		{base, "http://h:4318/api", "http://h:4318/api", nil},
		{base, "https://h", "https://h", nil},
		{base, "http://[fe80::1%25eth0]:4317", "http://[fe80::1%25eth0]:4317", nil},
		{base, "localhost:4318", "localhost:4318", nil},
		{base, "127.0.0.1:4318/x", "127.0.0.1:4318/x", nil},
		{base, "https:h:4318", "https:h:4318", nil},
		{base, "unix:///run/otel.sock", "unix:///run/otel.sock", nil},
		{base, "http://h:99999", "http://h:99999", nil},
		{base, "https://ada:pw@h:4318/x?k=v#f", "https://***@h:4318/x?***", []string{"ada:pw", "k=v#f"}},
		{base, "ada:pw@h", "***@h", []string{"ada:pw"}},
		{base, "https://u%3ASECRET%40h", "https://***", []string{"u%3ASECRET%40h"}},
		{base, "https://u:SECRET", "https://***", []string{"u:SECRET"}},
		{base, "api-key=SECRET", "***", []string{"api-key=SECRET"}},
		{base, "Bearer SECRET", "***", []string{"Bearer SECRET"}},
		{base, "sk-live-abcdefgh", "***", []string{"sk-live-abcdefgh"}},
		{base, "8f3bQzX71kLmTz09xY", "***", []string{"8f3bQzX71kLmTz09xY"}},
		{base, "http://h/api-key=SECRET/v1", "http://***", []string{"h/api-key=SECRET/v1"}},
		{base, "http://ho st", "http://***", []string{"ho st"}},

		// Words, numbers, lists.
		{protocol, "http/xml", "http/xml", nil},
		{protocol, "user:SECRET", "***", []string{"user:SECRET"}},
		{protocol, "https://u:SECRET@h", "https://***@h", []string{"u:SECRET"}},
		{"OTEL_PROPAGATORS", "b3, zipkin , api-key=SECRET", "b3, zipkin ,***", []string{"api-key=SECRET"}},
		{"OTEL_BSP_MAX_QUEUE_SIZE", "99999999999999999999", "99999999999999999999", nil},
		{"OTEL_EXPORTER_OTLP_TIMEOUT", "1h30m", "1h30m", nil},
		{"OTEL_EXPORTER_OTLP_TIMEOUT", "kX93sQz71", "***", []string{"kX93sQz71"}},
		{"SHOP_TRACES_MAX_BYTES", "10 GiB", "10 GiB", nil},
		{"SHOP_TRACING", "yes", "yes", nil},
		{"SHOP_TRACES_SKIP", "/healthz,/a?token=SECRET", "/healthz,/a?***", []string{"token=SECRET"}},

		// Paths.
		{file, "/var/lib/shop-7f9c6d5b8-x2x4z/spans.jsonl", "/var/lib/shop-7f9c6d5b8-x2x4z/spans.jsonl", nil},
		{file, "/data/day=1/spans.jsonl", "/data/day=1/spans.jsonl", nil},
		{file, `C:\shop\spans.jsonl`, `C:\shop\spans.jsonl`, nil},
		{file, "spans", "spans", nil},
		{file, "api-key=SECRET", "***", []string{"api-key=SECRET"}},
		{file, "x=SECRET", "***", []string{"x=SECRET"}},
		{file, "https://u:SECRET@h/x", "https://***@h/x", []string{"u:SECRET"}},
		{file, "8f3bd0e1a2c4", "***", []string{"8f3bd0e1a2c4"}},
		{"XDG_STATE_HOME", "authorization: Bearer SECRET", "***", []string{"authorization: Bearer SECRET"}},
		{"OTEL_EXPORTER_OTLP_CLIENT_KEY", "/etc/key.pem", "/etc/key.pem", nil},
		{"OTEL_EXPORTER_OTLP_CLIENT_KEY", "-----BEGIN X-----\nS/T\n-----END X-----", "***", []string{"-----BEGIN X-----\nS/T\n-----END X-----"}},
		{"OTEL_EXPORTER_OTLP_CLIENT_KEY", "MIIEvgIBADANBgkqhkiG9w0B/AQEF+AASC", "***", []string{"MIIEvgIBADANBgkqhkiG9w0B/AQEF+AASC"}},
		{"OTEL_CONFIG_FILE", "/etc/otel.yaml", "/etc/otel.yaml", nil},

		// Names and attributes.
		{name, "Checkout (eu)", "Checkout (eu)", nil},
		{name, "Bearer SECRET", "***", []string{"Bearer SECRET"}},
		{name, "8f3bQzX71kLmTz09xY", "***", []string{"8f3bQzX71kLmTz09xY"}},
		{resource, "team=a, k8s.pod.uid=0f8e-42", "team=a, k8s.pod.uid=0f8e-42", nil},
		{resource, "team=a,api-key=SECRET", "team=a,api-key=***", []string{"SECRET"}},
		{resource, "authorization=Bearer%20SECRET", "authorization=***", []string{"Bearer%20SECRET"}},
		{resource, "x=Bearer%20SECRET,Authorization: Basic SECRET==", "x=***,***", []string{"Bearer%20SECRET", "Authorization: Basic SECRET=="}},

		// Never.
		{"OTEL_EXPORTER_OTLP_HEADERS", "x", "***", []string{"x"}},
		{"ANOTHER_VARIABLE", "x", "***", []string{"x"}},
		{"ANOTHER_VARIABLE", "True", "True", nil},
		{base, "", "", nil},
	} {
		shown, hidden := env.Show(c.key, c.value)
		if shown != c.want {
			t.Errorf("Show(%s, %q) = %q, want %q", c.key, c.value, shown, c.want)
		}
		if diff := cmp.Diff(c.hidden, hidden); diff != "" {
			t.Errorf("Show(%s, %q) hides (-want +got):\n%s", c.key, c.value, diff)
		}
		if again, _ := env.Show(c.key, shown); again != shown {
			t.Errorf("Show(%s, %q) = %q, and of that %q", c.key, c.value, shown, again)
		}
	}
}

// inWrongPlace are the ways in which credentials get into a variable that is for
// something else.
func inWrongPlace(secret string) []string {
	return []string{
		"api-key=" + secret, "x-api-key = " + secret, "Authorization: Bearer " + secret, "authorization=Bearer%20" + secret,
		"Bearer " + secret, "Basic " + secret, "bearer " + secret + ",x", "https://u:" + secret + "@h", "https://u%3A" + secret + "%40h:4318",
		"u:" + secret + "@h:4318", "https://h/?api-key=" + secret, "http://h:4318#" + secret, "token: " + secret,
		`{"api_key":"` + secret + `"}`, "-----BEGIN PRIVATE KEY-----\n" + secret + "\n-----END PRIVATE KEY-----", "sk-live-" + secret,
		"a,b,password=" + secret,
	}
}

// Whichever variable a credential is put into, no finding shows it, nor suggests
// it as the right spelling.
func TestCredentialsInTheWrongVariable(t *testing.T) {
	t.Parallel()
	const secret = "8f3bQzX71kLm"
	for _, v := range env.Variables("shop") {
		for _, value := range inWrongPlace(secret) {
			for _, extra := range []string{"", "grpc"} {
				m := on(base, "https://h:4318", "OTEL_EXPORTER_OTLP_PROTOCOL", extra)
				m[v.Name] = value
				_, findings := parse(m)
				for _, f := range findings {
					if s := fmt.Sprintf("%v %+v %q", f, f.LogValue(), f.Error()); strings.Contains(s, secret) {
						t.Errorf("%s=%q: %s", v.Name, value, s)
					}
					if strings.Contains(f.Want, "such as \"http") && strings.Contains(f.Want, "***") {
						t.Errorf("%s=%q: suggests what is hidden: %s", v.Name, value, f.Want)
					}
				}
				if shown, hidden := env.Show(v.Name, value); strings.Contains(shown, secret) || !strings.Contains(strings.Join(hidden, " "), secret) {
					t.Errorf("Show(%s, %q) = %q, %q", v.Name, value, shown, hidden)
				}
			}
		}
	}
}
