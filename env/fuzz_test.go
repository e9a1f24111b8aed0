package env_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/waymark-trace/waymark/env"
)

// FuzzParse gives two variables any value beside headers with a secret in them.
func FuzzParse(f *testing.F) {
	f.Add("shop", "OTEL_TRACES_SAMPLER_ARG", "NaN", "OTEL_TRACES_SAMPLER", "traceidratio", "authorization=Bearer ", "")
	f.Add("", "OTEL_BSP_MAX_QUEUE_SIZE", "-1", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "9999999999999999999", "Authorization: ", "==")
	f.Add("2048", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://[::1%25eth0]:4317/a%2Fb?c#d", "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "", "%zz")
	f.Add("a", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "user:pw@h", "OTEL_EXPORTER_OTLP_INSECURE", "true", ",", ",a=b")
	f.Add("\xff", "\xff_TRACNG", "\x00", "A_TRACNG", "\n", "a=%0a", "")
	f.Add("shop", "OTEL_RESOURCE_ATTRIBUTES", "a=%ff,b", "OTEL_PROPAGATORS", "none,b3, B3", "a=b;", "c")
	f.Add("shop", "SHOP_TRACES_MAX_BYTES", "9223372036854775807TiB", "SHOP_TRACES_SKIP", "/a?b,*", "=", "=")
	const secret = "kX93-s3cret-Qz71"
	wrong := inWrongPlace(secret)
	f.Fuzz(func(t *testing.T, app, key1, value1, key2, value2, before, after string) {
		if all := app + key1 + value1 + key2 + value2 + before + after; strings.Contains(all, secret) || len(all) > 1<<12 {
			return
		}
		// The endpoint makes Parse look at the headers; the fuzzed variables may
		// replace it, the switch included.
		m := env.Map{
			env.Prefix(app) + "_TRACING": "1", base: "https://h:4318",
			key1: value1, key2: value2,
			"OTEL_EXPORTER_OTLP_HEADERS": before + secret + after,
			"OTEL_EXPORTER_OTLP_HEADER":  before + secret + after,
			traces:                       "https://" + before + secret + "@h" + after,
		}
		misplaced := len(after)%2 == 1
		if misplaced { // one more variable has what belongs into the headers
			all := env.Variables(app)
			m[all[(len(key2)+len(value2))%len(all)].Name] = wrong[len(value1)%len(wrong)]
		}
		if len(before)%2 == 0 {
			delete(m, traces)
		}
		s, findings := env.Parse(app, m)
		again, twice := env.Parse(app, m)
		if !reflect.DeepEqual(s, again) || !reflect.DeepEqual(findings, twice) {
			t.Errorf("two answers for %q", m)
		}
		inRange(t, s)
		for i, finding := range findings {
			if strings.Contains(finding.Error(), secret) {
				t.Errorf("finding shows the secret: %v", finding)
			}
			if strings.ContainsFunc(finding.Error(), func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("finding of several lines: %q", finding.Error())
			}
			if finding.Want == "" || finding.Used == "" {
				t.Errorf("incomplete finding: %+v", finding)
			}
			if i > 0 && findings[i-1].Key > finding.Key {
				t.Errorf("findings out of order: %v", findings)
			}
		}
		if !misplaced && strings.Contains(fmt.Sprintf("%+v %#v", s, s), secret) {
			t.Errorf("settings show the secret: %+v", s)
		}
	})
}

// inRange checks what the SDK and the exporters rely on.
func inRange(t *testing.T, s env.Settings) {
	t.Helper()
	b := s.Batch
	if b.ScheduleDelay.V <= 0 || b.ExportTimeout.V < 0 || b.MaxQueueSize.V < 1 || b.MaxQueueSize.V > 1<<20 ||
		b.MaxExportBatchSize.V < 1 || b.MaxExportBatchSize.V > b.MaxQueueSize.V {
		t.Errorf("batch out of range: %+v", b)
	}
	if a := s.Sampler.V.Arg; math.IsNaN(a) || a < 0 || a > 1 {
		t.Errorf("sampler out of range: %+v", s.Sampler)
	}
	if s.TracesMaxBytes.V < 1 || len(s.Propagators.V) == 0 || len(s.Profile.V) == 0 || s.OTLP.Timeout.V < 0 {
		t.Errorf("out of range: %+v", s)
	}
	e := s.OTLP.Endpoint.V
	if e != "" && !strings.HasPrefix(e, "http://") && !strings.HasPrefix(e, "https://") || e != "" && s.OTLP.Unusable != "" {
		t.Errorf("endpoint: %+v", s.OTLP)
	}
	for _, p := range s.ResourceAttributes.V {
		if p.Key == "" || !utf8.ValidString(p.Key+p.Value) {
			t.Errorf("attribute: %+q", p)
		}
	}
}

func FuzzPrefix(f *testing.F) {
	for _, app := range []string{"shop", "", "2", "é", "\xff", "a b", " -"} {
		f.Add(app)
	}
	f.Fuzz(func(t *testing.T, app string) {
		got := env.Prefix(app)
		if got == "" || '0' <= got[0] && got[0] <= '9' || strings.Trim(got, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
			t.Errorf("Prefix(%q) = %q, no name of a variable", app, got)
		}
		if strings.Trim(got, "_") == "" {
			t.Errorf("Prefix(%q) = %q, which nobody types", app, got)
		}
	})
}
