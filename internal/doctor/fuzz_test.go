package doctor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/doctor"
	"github.com/waymark-trace/waymark/traces"
)

// FuzzNoSecretIsTold puts a secret, with anything around it, into each text of a
// span. It is found, and is in no finding, whatever else is found.
func FuzzNoSecretIsTold(f *testing.F) {
	for place := range byte(12) {
		f.Add(strings.Repeat("x", 180), "/?a=1", place)
	}
	f.Add("https://REDACTED:REDACTED@a ", "", byte(0))
	f.Add("GET /users/17 ", "\x00\xff", byte(1))
	f.Fuzz(func(t *testing.T, start, end string, place byte) {
		secret := start + "https://ada:hunter2@example.com" + end
		s := with(span(1, 9, 5, 1), func(s *traces.Span) {
			s.Resource, s.Scope = &traces.Resource{}, &traces.Scope{}
			list := []traces.Attribute{text("k", secret)}
			switch place % 12 {
			case 0:
				s.Name = secret
			case 1:
				s.Status.Message = secret
			case 2:
				s.Attributes = list
			case 3:
				s.Attributes = []traces.Attribute{{Key: secret, Value: traces.Int(1)}}
			case 4:
				s.Attributes = []traces.Attribute{{Key: "k", Value: traces.Map(traces.Attribute{Key: secret, Value: traces.Array(traces.String(secret))})}}
			case 5:
				s.Events = []traces.Event{{Name: secret, Attributes: list}}
			case 6:
				s.Links = []traces.Link{{Attributes: list}}
			case 7:
				s.Resource.Attributes = []traces.Attribute{text("service.name", secret), text("host.name", secret)}
			case 8:
				s.Resource.SchemaURL = secret
			case 9:
				s.Scope.Name, s.Scope.Attributes = secret, list
			case 10:
				s.Scope.Version, s.Scope.SchemaURL = secret, secret
			case 11:
				s.Attributes = []traces.Attribute{{Key: "k", Value: traces.Bytes([]byte(secret))}}
			}
		})
		d := doctor.New()
		d.Add(s, true)
		d.Add(with(span(2, 1, 1, 9), func(other *traces.Span) { other.Resource = pay }), true)
		found := false
		for _, f := range d.Findings() {
			found = found || f.Rule == doctor.Secret
			if printed := fmt.Sprintf("%+v", f); strings.Contains(printed, "hunter2") {
				t.Errorf("place %d: a finding tells the secret: %s", place%12, printed)
			}
		}
		if !found {
			t.Errorf("place %d: %q is not found", place%12, secret)
		}
	})
}
