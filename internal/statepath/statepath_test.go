package statepath_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/adrg/xdg"

	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/statepath"
)

func TestTracesFileInXDGStateHome(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, given := range []string{home, "  " + home + "\n", home + string(filepath.Separator)} {
		got, err := statepath.TracesFile("marimo", env.Map{"XDG_STATE_HOME": given}.Lookup)
		want := filepath.Join(home, "marimo", "traces", "spans.jsonl")
		if err != nil || got != want {
			t.Errorf("TracesFile with XDG_STATE_HOME=%q = %q, %v, want %q", given, got, err, want)
		}
	}
}

// The home folder is package xdg's, which is global: no t.Parallel here.
func TestTracesFileInHome(t *testing.T) {
	setHome(t, t.TempDir())
	for name, vars := range map[string]env.Map{
		"unset":    nil,
		"empty":    {"XDG_STATE_HOME": ""},
		"blank":    {"XDG_STATE_HOME": "  "},
		"relative": {"XDG_STATE_HOME": "state"},
	} {
		got, err := statepath.TracesFile("shop", vars.Lookup)
		if want := filepath.Join(xdg.StateHome, "shop", "traces", "spans.jsonl"); err != nil || got != want {
			t.Errorf("%s: TracesFile = %q, %v, want %q", name, got, err, want)
		}
	}
	got, err := statepath.StateHome(nil)
	if err != nil || got != xdg.StateHome {
		t.Errorf("StateHome(nil) = %q, %v, want %q", got, err, xdg.StateHome)
	}
	if want := filepath.Join(os.Getenv("HOME"), ".local", "state"); runtime.GOOS == "linux" && got != want {
		t.Errorf("StateHome = %q, want %q", got, want)
	}
}

func TestTracesFileWithoutHome(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows knows the home folder without variables")
	}
	for _, home := range []string{"", "/", "//", "relative"} {
		setHome(t, home)
		_, err := statepath.TracesFile("my-shop", env.Map{}.Lookup)
		if !errors.Is(err, statepath.ErrNoHome) {
			t.Fatalf("HOME=%q: TracesFile error = %v, want ErrNoHome", home, err)
		}
		for _, want := range []string{"MY_SHOP_TRACES_FILE", "OTEL_EXPORTER_OTLP_ENDPOINT"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("HOME=%q: error %q does not name %s", home, err, want)
			}
		}
		state := t.TempDir()
		if got, err := statepath.StateHome(env.Map{"XDG_STATE_HOME": state}.Lookup); err != nil || got != state {
			t.Errorf("HOME=%q: StateHome = %q, %v, want %q", home, got, err, state)
		}
	}
}

func setHome(t *testing.T, home string) {
	t.Helper()
	t.Cleanup(xdg.Reload)
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("XDG_STATE_HOME", "")
	xdg.Reload()
}

func TestFolder(t *testing.T) {
	t.Parallel()
	for app, want := range map[string]string{
		"shop":                        "shop",
		"My Shop":                     "My_Shop",
		" shop ":                      "shop",
		"shop-2.1_b":                  "shop-2.1_b",
		"":                            "app",
		" ":                           "app",
		".":                           "app",
		"..":                          "app",
		"/":                           "app",
		"../x":                        "_._x",
		"a/b":                         "a_b",
		`a\b`:                         "a_b",
		"a/../../b":                   "a_.._.._b",
		"/etc/passwd":                 "_etc_passwd",
		"C:x":                         "C_x",
		"a\x00b":                      "a_b",
		"a\nb":                        "a_b",
		"x.":                          "x_",
		".x":                          "_x",
		"a\xffb":                      "a_b",
		"магазин":                     "магазин",
		"con":                         "_con",
		"NUL.txt":                     "_NUL.txt",
		"com1":                        "_com1",
		"com0":                        "com0",
		"lpt9.a.b":                    "_lpt9.a.b",
		"concert":                     "concert",
		strings.Repeat("a", 300):      strings.Repeat("a", 100),
		strings.Repeat("a", 99) + "é": strings.Repeat("a", 99),
	} {
		if got := statepath.Folder(app); got != want {
			t.Errorf("Folder(%q) = %q, want %q", app, got, want)
		}
	}
}

func FuzzFolder(f *testing.F) {
	for _, app := range []string{"shop", "../x", "a/b", "", ".", "..", "con", `\\host\share`, "\xff", "é.", "\u202e"} {
		f.Add(app)
	}
	f.Fuzz(func(t *testing.T, app string) {
		got := statepath.Folder(app)
		switch {
		case got == "", got == ".", got == "..", len(got) > 101,
			strings.ContainsAny(got, "/\\:\x00\n*?\"<>|"), !filepath.IsLocal(got), filepath.Base(got) != got:
			t.Errorf("Folder(%q) = %q, not one safe path element", app, got)
		case statepath.Folder(got) != got && got[0] != '_' && len(got) < 100:
			t.Errorf("Folder(%q) = %q, and of that %q", app, got, statepath.Folder(got))
		}
	})
}

func TestNewest(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if _, err := statepath.Newest(filepath.Join(home, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Newest of a missing folder: %v, want fs.ErrNotExist", err)
	}
	if _, err := statepath.Newest(home); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Newest of an empty folder: %v, want fs.ErrNotExist", err)
	}
	now := time.Now()
	write := func(name string, age time.Duration) string {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	expect := func(want string) {
		t.Helper()
		if got, err := statepath.Newest(home); err != nil || got != want {
			t.Errorf("Newest = %q, %v, want %q", got, err, want)
		}
	}
	expect(write("shop/traces/spans.jsonl", time.Hour))
	// Newer than all, and none of them a span file of an App.
	write("shop/traces/spans.lock", 0)
	write("shop/traces/other.jsonl", 0)
	write("shop/spans.jsonl", 0)
	write("shop/deep/traces/spans.jsonl", 0)
	write("spans.jsonl", 0)
	if err := os.MkdirAll(filepath.Join(home, "shop", "traces", "spansdir.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	expect(filepath.Join(home, "shop", "traces", "spans.jsonl"))
	other := write("bar[x]/traces/spans-12-1.jsonl", time.Minute)
	expect(other)
	write("zoo/traces/spans.jsonl", time.Minute) // as old: the first by name
	expect(other)
	expect(write("kept/traces/spans.prev.jsonl", time.Second))
}
