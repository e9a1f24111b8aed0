package redact

import (
	"strings"
	"testing"
)

// What the quick look calls plain, the thorough one must find nothing in, and both
// must agree on where the pair ends.
func FuzzPlainPair(f *testing.F) {
	for _, s := range []string{"page=2&sort=name", "token=x", "tokem=x;y", "a=b=c", "=x", "a", "", "a%3db=1", "a=%26token%3Dx", "user[token]=x", "TOKEN=", "k=token:x", "&a=1"} {
		f.Add(s)
	}
	q := New("session")
	f.Fuzz(func(t *testing.T, s string) {
		n, plain := q.pair(s)
		end := strings.IndexAny(s, "&;")
		if end < 0 {
			end = len(s)
		}
		if n != end {
			t.Fatalf("pair(%q) ends at %d, want %d", s, n, end)
		}
		if plain && q.secretIn(s[:n]) >= 0 {
			t.Errorf("pair(%q) is called plain, and holds a secret", s)
		}
	})
}
