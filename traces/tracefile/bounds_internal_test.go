package tracefile

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/waymark-trace/waymark/traces"
)

// TestCachesAreBounded fills what remembers things of a file over its bound.
func TestCachesAreBounded(t *testing.T) {
	t.Parallel()
	var in interner
	for i := range 10 * internSlots {
		text := strings.Repeat("x", internBytes) + strconv.Itoa(i)
		if got := in.string([]byte(text)); got != text {
			t.Fatalf("interned as %q", got)
		}
	}
	for _, kept := range in.slots {
		if kept != "" {
			t.Fatalf("a text of %d bytes is kept", len(kept))
		}
	}

	var mu sync.Mutex
	m := map[string]*traces.Scope{}
	for i := range 3 * maxShared {
		lookup(&mu, m, []byte(strconv.Itoa(i)), func() *traces.Scope { return &traces.Scope{} })
		if len(m) > maxShared {
			t.Fatalf("%d scopes are kept", len(m))
		}
	}

	var l losses
	for range 3 * maxShared {
		if !l.first("rest", &traces.Resource{}) {
			t.Fatal("a resource comes for the first time and is known")
		}
		if len(l.once) > maxShared+1 {
			t.Fatalf("%d topics are kept", len(l.once))
		}
	}
}

// TestOTLPInt leaves what may not fit to the slow way.
func TestOTLPInt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"0": 0, "-7": -7, "999999999999999999": 999999999999999999} {
		if got, ok := otlpInt([]byte(text)); !ok || got != want {
			t.Errorf("otlpInt(%s) = %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "-", "1.0", "+1", "1000000000000000000", "9999999999999999999", "0x1", "１"} {
		if got, ok := otlpInt([]byte(text)); ok {
			t.Errorf("otlpInt(%q) = %d", text, got)
		}
	}
}
