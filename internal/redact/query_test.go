package redact

import (
	"net/url"
	"strings"
	"testing"
)

func TestQuery(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, raw, want string }{
		{"empty", "", ""},
		{"nothing secret", "page=2&sort=name&q=a+b%20c", "page=2&sort=name&q=a+b%20c"},
		{"one", "token=abc", "token=REDACTED"},
		{"between", "a=1&sig=abc&b=2", "a=1&sig=REDACTED&b=2"},
		{"last", "a=1&code=abc", "a=1&code=REDACTED"},
		{"any case", "TOKEN=a&Access_Token=b&aWsAcCeSsKeYiD=c", "TOKEN=REDACTED&Access_Token=REDACTED&aWsAcCeSsKeYiD=REDACTED"},
		{"conventions", "X-Amz-Signature=a&X-Amz-Credential=b&X-Amz-Security-Token=c&X-Goog-Signature=d&Signature=e", "X-Amz-Signature=REDACTED&X-Amz-Credential=REDACTED&X-Amz-Security-Token=REDACTED&X-Goog-Signature=REDACTED&Signature=REDACTED"},
		{"ours", "id_token=a&refresh_token=b&api_key=c&key=d&password=e&secret=f", "id_token=REDACTED&refresh_token=REDACTED&api_key=REDACTED&key=REDACTED&password=REDACTED&secret=REDACTED"},
		{"escaped key", "%74oken=abc", "%74oken=REDACTED"},
		{"key escaped twice", "%2574oken=abc", "%2574oken=REDACTED"},
		{"key with a blank", "+token=abc&token%20=abc", "+token=REDACTED&token%20=REDACTED"},
		{"invalid escape in the key", "%zztoken=abc", "%zztoken=abc"},
		{"invalid escape beside the key", "%zz[token]=abc", "%zz[token]=REDACTED"},
		{"semicolon", "a=1;token=abc;b=2", "a=1;token=REDACTED;b=2"},
		{"list and map", "token[]=a&user[password]=b&user.secret=c", "token[]=REDACTED&user[password]=REDACTED&user.secret=REDACTED"},
		{"empty value", "token=&a=1", "token=&a=1"},
		{"no value", "token&a=1", "token&a=1"},
		{"value with =", "token=a=b=c&x=1", "token=REDACTED&x=1"},
		{"twice", "token=a&token=b", "token=REDACTED&token=REDACTED"},
		{"URL in a value", "next=https%3A%2F%2Fx%2F%3Ftoken%3Dabc&a=1", "next=REDACTED&a=1"},
		{"URL in a value, as it is", "next=https://x/?token=abc", "next=REDACTED"},
		{"harmless URL in a value", "next=https%3A%2F%2Fx%2F%3Fpage%3D2", "next=https%3A%2F%2Fx%2F%3Fpage%3D2"},
		{"JSON in a value", `filter=%7B%22token%22%3A%22abc%22%7D`, "filter=REDACTED"},
		{"escaped =", "token%3Dabc", "REDACTED"},
		{"escaped = in the key", "x%3D1%26token%3Dabc=1", "REDACTED"},
		{"escaped too often to tell", "a=%2525252574oken", "a=REDACTED"},
		{"words that only contain one", "tokenizer=a&keyboard=b&decode=c", "tokenizer=a&keyboard=b&decode=c"},
		{"added", "My.Key=a&pin=b", "My.Key=REDACTED&pin=REDACTED"},
		{"user information in a value", "next=https://u:pw@h/&a=1", "next=REDACTED&a=1"},
		{"user information in a value, escaped", "next=https%3A%2F%2Fu%3Apw%40h%2F&a=1", "next=REDACTED&a=1"},
		{"user without a password or a scheme in a value", "next=//ghp_1@h/", "next=REDACTED"},
		{"@ in values", "mail=a@b&next=https://h/@a&x=//h/a@b", "mail=a@b&next=https://h/@a&x=//h/a@b"},
		{"& as JSON has it", `a=1\u0026token=abc&x\u0026token\u003dabc=1`, "a=REDACTED&REDACTED"},
		{"separators only", "&&;;&", "&&;;&"},
	}
	q := New("PIN", " my.key ", "")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := q.Query(tt.raw); got != tt.want {
				t.Errorf("Query(%q) = %q, want %q", tt.raw, got, tt.want)
			}
		})
	}
}

func TestURL(t *testing.T) {
	t.Parallel()
	q := New()
	for raw, want := range map[string]string{
		"https://u:pw@shop.example/a?token=x&b=1#access_token=y": "https://REDACTED@shop.example/a?token=REDACTED&b=1#access_token=REDACTED",
		"https://shop.example/a@b?b=1":                           "https://shop.example/a@b?b=1",
		"/relative?code=x":                                       "/relative?code=REDACTED",
		"https://u:pw@shop.example":                              "https://REDACTED@shop.example",
		"":                                                       "",
	} {
		if got := q.URL(raw); got != want {
			t.Errorf("URL(%q) = %q, want %q", raw, got, want)
		}
	}
}

func TestHarmlessQueryIsFree(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too: the plain run counts")
	}
	q := New()
	if n := testing.AllocsPerRun(100, func() { _ = q.Query("page=2&sort=name&filter=a%20b") }); n > 1 {
		t.Errorf("%v allocations, want at most the one that decodes %%20", n)
	}
	if n := testing.AllocsPerRun(100, func() { _ = q.Query("page=2&sort=name") }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// Whatever surrounds and however often it is escaped: the value of a secret key does not come through.
func FuzzQuery(f *testing.F) {
	f.Add("a=1", "b=2", uint8(0), uint8(0))
	f.Add("%zz", ";", uint8(1), uint8(3))
	f.Add("next=%3F", "#x", uint8(2), uint8(7))
	f.Add("\xff%", "&&", uint8(3), uint8(11))
	q := New()
	keys := secretKeys()
	f.Fuzz(func(t *testing.T, before, after string, times, which uint8) {
		const secret = "S3NT1N3L"
		key := keys[int(which)%len(keys)]
		for range times % 4 {
			key = escapeAll(key)
		}
		raw := before + "&" + key + "=" + secret + "&" + after
		if strings.Contains(before+after, secret) {
			return
		}
		got := q.Query(raw)
		if strings.Contains(got, secret) {
			t.Errorf("Query(%q) = %q", raw, got)
		}
		values, _ := url.ParseQuery(q.Query(before))
		for k, vs := range values {
			if _, isSecret := q.keys[strings.ToLower(k)]; !isSecret {
				continue
			}
			for _, v := range vs {
				if v != Mark && v != "" {
					t.Errorf("Query(%q) leaves %s=%q", before, k, v)
				}
			}
		}
	})
}

func escapeAll(s string) string {
	const hexDigits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		b.WriteString("%" + hexDigits[s[i]>>4:s[i]>>4+1] + hexDigits[s[i]&15:s[i]&15+1])
	}
	return b.String()
}
