package secrets_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/secrets"
)

func TestText(t *testing.T) {
	t.Parallel()
	const key = "prod-8f3bQzX71kLm"
	for _, c := range []struct {
		name   string
		values []string
		text   string
		want   string
	}{
		{"as it is", []string{key}, "invalid key " + key + " given", "invalid key *** given"},
		{"nothing of it", []string{key}, "connection refused", "connection refused"},
		{"begins with another", []string{"prod", key}, "key " + key, "key ***"},
		{"in the other order", []string{key, "prod"}, "key " + key, "key ***"},
		{"ends with another", []string{"71kLm", key}, "key " + key, "key ***"},
		{"around another", []string{"8f3bQzX7", key}, "key " + key, "key ***"},
		{"two that overlap", []string{"AAAAbbbbCCCC", "bbbbCCCCdddd"}, "key AAAAbbbbCCCCdddd.", "key ***."},
		{"one after the other", []string{key, "71kLmOther99"}, key + "71kLmOther99", "***"},
		{"a short one, alone", []string{"prod"}, "tenant prod unknown, prod.eu", "tenant *** unknown, ***.eu"},
		{"a short one inside of words", []string{"prod"}, "production reproduced", "production reproduced"},
		{"a very short one", []string{"eu"}, "eu queue", "eu queue"},
		{"scheme", []string{"Bearer " + key}, "a Bearer token, not " + key, "a Bearer token, not ***"},
		{"no scheme", []string{"correct horse battery"}, "correct horse battery", "*** *** ***"},
		{"Basic", []string{"Basic " + base64.StdEncoding.EncodeToString([]byte("admin:"+key))}, "user admin, password " + key, "user ***, password ***"},
		{"base64 without a scheme", []string{base64.StdEncoding.EncodeToString([]byte("12345678:" + key))}, "user 12345678: " + key, "user ***"},
		{"base64 of it", []string{key}, base64.StdEncoding.EncodeToString([]byte("admin:" + key)), "YWRtaW46***0="},
		{"pairs in it", []string{"sid=" + key + "; theme=dark"}, "session " + key + " is over", "session *** is over"},
		{"cut by others", []string{key}, "key prod-8f…", "key ***…"},
		{"cut at the end", []string{key}, "key prod-8f", "key ***"},
		{"its middle left out", []string{key}, "key prod...1kLm is wrong", "key ***...*** is wrong"},
		{"its beginning left out", []string{key}, "key …1kLm", "key …***"},
		{"cut in base64", []string{key}, "Basic " + base64.StdEncoding.EncodeToString([]byte("me:" + key))[:12] + " (cut)", "Basic bWU6*** (cut)"},
		{"over two lines", []string{key}, "key prod-8f3b\n    QzX71kLm end", "key *** end"},
		{"over two lines, with few letters", []string{"-+:u4>~%={-*a<044>0_-10xx0>b"}, "key -+:u4>~%={-*a<\n\t044>0_… (cut)", "key ***… (cut)"},
		{"letter by letter", []string{key}, "key " + strings.Join(strings.Split(key, ""), " ") + " end", "key *** end"},
		{"in capitals", []string{key}, strings.ToUpper(key), "***"},
		{"%q", []string{`pr"od\8f3bQzX71`}, fmt.Sprintf("%q", `pr"od\8f3bQzX71`), `"***"`},
		{"a character of an escape cut", []string{key}, "token%3Dprod-8f%3", "token%3D***%3"},
		{"user information", nil, "Post \"https://ada:pw@h/v1\": refused", "Post \"https://***@h/v1\": refused"},
		{"user information of a secret", []string{key}, "https://u:" + key + "@h", "https://***@h"},
		{"PEM", []string{"-----BEGIN PRIVATE KEY-----\nMIIEvgIBADANBg\nkqhkiG9w0BAQEF\n-----END PRIVATE KEY-----\n"}, "open -----BEGIN PRIVATE KEY-----\nMIIEvgIBADANBg\nkqh: no such file", "open -----BEGIN PRIVATE KEY-----\n***\nkqh: no such file"},
		{"characters outside ASCII", []string{"schlüssel-ä-ö"}, "schl\\u00fcssel-%C3%A4-&ouml;", "***"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := secrets.New(c.values...)
			got := r.Text(c.text)
			if got != c.want {
				t.Errorf("Text(%q) with %q = %q, want %q", c.text, c.values, got, c.want)
			}
			if again := r.Text(got); again != got {
				t.Errorf("a second time: %q, then %q", got, again)
			}
		})
	}
}

func TestNilKnowsNothing(t *testing.T) {
	t.Parallel()
	var r *secrets.Redactor
	if got, want := r.Text("key prod-8f3b at http://u:p@h"), "key prod-8f3b at http://***@h"; got != want {
		t.Errorf("Text = %q, want %q", got, want)
	}
}

// A page of megabytes costs no more than its beginning.
func TestLongText(t *testing.T) {
	t.Parallel()
	const key = "prod-8f3bQzX71kLm"
	got := secrets.New(key).Text(strings.Repeat("x ", 8188) + key + strings.Repeat(" y", 1<<20))
	if len(got) > 17<<10 || strings.Contains(got, "prod") || !strings.HasSuffix(got, "***…") {
		t.Errorf("%d bytes, the end %q", len(got), got[max(0, len(got)-40):])
	}
}

// encoding is a way in which a backend may repeat a secret.
type encoding struct {
	encode func(s string) string
	// window is how many characters hold four of the secret; 0: as many as
	// encode makes of four.
	window int
	whole  bool   // it is found only when it is not cut
	lead   string // what stands before it in the same word
}

func encodings() map[string]encoding {
	return map[string]encoding{
		"raw":                    {encode: func(s string) string { return s }},
		"capitals":               {encode: strings.ToUpper},
		"small letters":          {encode: strings.ToLower},
		"%q":                     {encode: quoted},
		"JSON":                   {encode: inJSON},
		"JSON in JSON":           {encode: func(s string) string { return inJSON(inJSON(s)) }},
		"JSON, every character":  {encode: each(`\u%04x`)},
		"Go, every byte":         {encode: each(`\x%02x`)},
		"query":                  {encode: url.QueryEscape},
		"path":                   {encode: url.PathEscape},
		"percent, every byte":    {encode: each("%%%02x")},
		"percent in capitals":    {encode: each("%%%02X")},
		"percent twice":          {encode: func(s string) string { return url.QueryEscape(url.QueryEscape(s)) }},
		"JSON in percent":        {encode: func(s string) string { return url.QueryEscape(inJSON(s)) }},
		"HTML":                   {encode: html.EscapeString},
		"HTML, every character":  {encode: each("&#%d;")},
		"JSON in HTML":           {encode: func(s string) string { return html.EscapeString(inJSON(s)) }},
		"base64":                 {encode: inBase64(base64.StdEncoding), window: 6},
		"base64 without padding": {encode: inBase64(base64.RawStdEncoding), window: 6},
		"base64 for URLs":        {encode: inBase64(base64.URLEncoding), window: 6},
		"base64 raw for URLs":    {encode: inBase64(base64.RawURLEncoding), window: 6},
		"Basic":                  {encode: func(s string) string { return base64.StdEncoding.EncodeToString([]byte("ada:" + s))[6:] }, window: 6, lead: "YWRhOn"},
		"hex":                    {encode: func(s string) string { return hex.EncodeToString([]byte(s)) }, window: 8},
		"two lines":              {encode: func(s string) string { return s[:len(s)/2] + "\n\t" + s[len(s)/2:] }, window: 4},
		"three lines":            {encode: func(s string) string { n := len(s) / 3; return s[:n] + "\r\n" + s[n:2*n] + "\r\n" + s[2*n:] }, window: 4, whole: true},
		"spaced out":             {encode: func(s string) string { return strings.Join(strings.Split(s, ""), " ") }, whole: true},
	}
}

func inBase64(enc *base64.Encoding) func(string) string {
	return func(s string) string { return enc.EncodeToString([]byte(s)) }
}

func each(format string) func(string) string {
	return func(s string) string {
		var b strings.Builder
		for i := range len(s) {
			fmt.Fprintf(&b, format, s[i])
		}
		return b.String()
	}
}

func quoted(s string) string {
	q := strconv.Quote(s)
	return q[1 : len(q)-1]
}

func inJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b[1 : len(b)-1])
}

// FuzzText repeats a secret in every way, cuts it, and looks for four characters
// of it that are left other than by chance.
func FuzzText(f *testing.F) {
	f.Add("prod-8f3bSECRET1", "invalid token ", " in the request", uint8(0))
	f.Add("dXNlcjpwYXNzd29yZA==", `{"error":"`, `"}`, uint8(9))
	f.Add(`a"b\c%41&amp;e/+=0123`, "key=", "; code=401", uint8(4))
	f.Add("sk-ant-api03-abcdefghijklmnop", "(", ")", uint8(7))
	f.Fuzz(func(t *testing.T, secret, before, after string, keep uint8) {
		if !isSecret(secret) || len(before)+len(after) > 1<<10 {
			return
		}
		r := secrets.New(secret)
		for name, e := range encodings() {
			text := e.encode(secret)
			short := text[:min(len(text), int(keep))]
			shown := map[string]string{
				"whole":           before + " " + e.lead + text + " " + after,
				"quoted":          before + `"` + e.lead + text + `"` + after,
				"beside a letter": before + " x" + e.lead + text + "x " + after,
			}
			if !e.whole {
				shown["cut at the end"] = before + " " + e.lead + short
				shown["cut by others"] = before + " " + e.lead + short + "…" + after
				shown["cut and told"] = before + " " + e.lead + short + "... (truncated)" + after
			}
			for how, all := range shown {
				if part, left := e.left(secret, r.Text(all), before+" "+after+` "... (truncated)… x***`); left {
					t.Errorf("%s, %s: %q is left of %q in %q", name, how, part, secret, r.Text(all))
				}
			}
		}
	})
}

// left returns a part of the secret that is in got and not in what stood around
// the secret.
func (e encoding) left(secret, got, around string) (string, bool) {
	got, around = strings.ToLower(got), strings.ToLower(around)
	var parts []string
	if e.window == 0 {
		for i := range len(secret) - 3 {
			parts = append(parts, e.encode(secret[i:i+4]))
		}
	} else {
		text := e.encode(secret)
		for i := range len(text) - e.window + 1 {
			if part := text[i : i+e.window]; !strings.ContainsAny(part, "\r\n\t") {
				parts = append(parts, part)
			}
		}
	}
	for _, part := range parts {
		part = strings.ToLower(part)
		if strings.Contains(got, part) && !strings.Contains(around, part) {
			return part, true
		}
	}
	return "", false
}

// isSecret reports whether s is what a header can hold and what is long enough
// to be looked for everywhere.
func isSecret(s string) bool {
	alnum := 0
	for _, c := range []byte(s) {
		switch {
		case c <= ' ' || c >= 0x7f || c == '*': // which the mask is made of
			return false
		case c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z':
			alnum++
		}
	}
	return alnum >= 12 && len(s) <= 64
}

func BenchmarkText(b *testing.B) {
	r := secrets.New("Bearer sk-ant-api03-abcdefghijklmnop0123456789", "prod")
	for name, text := range map[string]string{
		"error": `Post "https://collector.example.com:4318/v1/traces": dial tcp 10.1.2.3:4318: connect: connection refused`,
		"page":  strings.Repeat("<p>The request was refused, &amp; no key was given. 100%25\n", 200),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Text(text)
			}
		})
	}
}

func FuzzUserInfo(f *testing.F) {
	for _, s := range []string{"", "http://a:b@c/d", "x://y@z x://y:@z@w", "://", "a@b", "https://u:p/w@h"} {
		f.Add(s)
	}
	var r *secrets.Redactor
	f.Fuzz(func(t *testing.T, s string) {
		got := r.Text(s)
		if again := r.Text(got); again != got {
			t.Errorf("%q becomes %q and then %q", s, got, again)
		}
		if secret := "https://ada:8f3bQzX71kLm@h"; strings.Contains(r.Text(s+" "+secret), "8f3b") && len(s) < 1<<10 {
			t.Errorf("the password of %q is shown after %q", secret, s)
		}
	})
}
