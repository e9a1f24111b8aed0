package profile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	pprofile "github.com/google/pprof/profile"

	"github.com/waymark-trace/waymark/profile"
)

// patience is long enough for a machine that is busy with something else.
const patience = 30 * time.Second

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// read parses a profile with the library of go tool pprof.
func read(t *testing.T, path string) *pprofile.Profile {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	p, err := pprofile.Parse(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if err := p.CheckValid(); err != nil {
		t.Errorf("%s: %v", path, err)
	}
	return p
}

func mentions(p *pprofile.Profile, function string) bool {
	return slices.ContainsFunc(p.Function, func(f *pprofile.Function) bool { return strings.Contains(f.Name, function) })
}

type manifestFile struct {
	Kind, File, Pprof, Note string
	Bytes                   int
}

type manifest struct {
	Schema, App, Version, ID, Reason string
	PID                              int
	GoVersion                        string `json:"go_version"`
	Start                            time.Time
	Stop                             *time.Time
	Kinds                            []string
	Files                            []manifestFile
	Missing                          []struct{ Kind, Error string }
	Metadata                         map[string]string
	DroppedParts                     int `json:"dropped_parts"`
}

func readManifest(t *testing.T, dir string) manifest {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "[^.]*.profiles.json")) // a kill may leave a temporary file beside it
	if err != nil || len(paths) != 1 {
		t.Fatalf("manifests in %s: %v, %v, want one", dir, paths, err)
	}
	data, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	var m manifest
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		t.Fatalf("%s: %v\n%s", paths[0], err, data)
	}
	if m.Schema != "waymark.profiles/v1" {
		t.Errorf("schema %q", m.Schema)
	}
	return m
}

//go:noinline
func busyFunction(until func() bool) (n uint64) {
	for !until() {
		for i := range uint64(1 << 16) {
			n = n*6364136223846793005 + i
		}
	}
	return n
}

func contend() {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				mu.Lock()
				time.Sleep(20 * time.Microsecond)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// goTool returns the path of a tool of the Go distribution, which is built when
// nobody has used it yet: that takes as long as it takes.
func goTool(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "tool", "-n", name).Output()
	if err != nil {
		t.Fatalf("go tool -n %s: %v", name, err)
	}
	return strings.TrimSpace(string(out))
}

// The story: everything on, work, goroutines first, stop, read back.
func TestAllKinds(t *testing.T) {
	pprofTool := goTool(t, "pprof")
	dir := filepath.Join(t.TempDir(), "new", "folder")
	var log bytes.Buffer
	before := runtime.SetMutexProfileFraction(-1)
	p, err := profile.Start(dir, profile.WithApp("shop/α"), profile.WithKinds(profile.Kinds()...),
		profile.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
		profile.WithMetadata("version", "1.2.3"), profile.WithMetadata("traces", "spans.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if runtime.SetMutexProfileFraction(-1) == 0 {
		t.Error("mutex contention is not sampled")
	}
	began := time.Now()
	deadline := began.Add(patience)
	busyFunction(func() bool { return time.Since(began) > 500*time.Millisecond || time.Now().After(deadline) })
	contend()
	block := make(chan struct{})
	go func() { <-block }()
	ctx := within(t)
	if err := p.WriteGoroutines(ctx); err != nil {
		t.Error(err)
	}
	close(block)
	if got := p.Files(); len(got) != 1 || !strings.HasSuffix(got[0], ".goroutine.pprof") {
		t.Errorf("Files() after WriteGoroutines = %q", got)
	}
	if err := p.Stop(ctx, "SIGTERM"); err != nil {
		t.Error(err)
	}
	if got := runtime.SetMutexProfileFraction(-1); got != before {
		t.Errorf("mutex fraction after Stop is %d, want %d as before", got, before)
	}

	files := p.Files()
	if len(files) != len(profile.Kinds())+1 {
		t.Errorf("Files() = %q, want one of each kind and the manifest", files)
	}
	name := regexp.MustCompile(`^shop__-\d{8}T\d{6}Z-\d+-` + p.ID() + `\.([a-z]+)\.(pprof|json)$`)
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if !name.MatchString(filepath.Base(path)) {
			t.Errorf("file name %q, want %v", filepath.Base(path), name)
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want 0600", path, info.Mode())
		}
	}
	if info, err := os.Stat(dir); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v, %v, want 0700", info.Mode(), err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != len(files) {
		t.Errorf("the folder has %v, want %q alone", entries, files)
	}

	m := readManifest(t, dir)
	if m.App != "shop__" || m.Version != "1.2.3" || m.Reason != "SIGTERM" || m.PID != os.Getpid() || m.ID != p.ID() ||
		m.Metadata["traces"] != "spans.jsonl" || m.Stop == nil || m.Stop.Before(m.Start) || len(m.Missing) != 0 || m.GoVersion != runtime.Version() {
		t.Errorf("manifest %+v", m)
	}
	want := map[string]string{"cpu": "busyFunction", "fgprof": "busyFunction", "goroutine": "TestAllKinds", "mutex": "contend", "block": "contend", "heap": "", "allocs": ""}
	for _, f := range m.Files {
		path := filepath.Join(dir, f.File)
		prof := read(t, path)
		if len(prof.Sample) == 0 || !mentions(prof, want[f.Kind]) {
			t.Errorf("%s: %d samples, mentions %q: %v", f.File, len(prof.Sample), want[f.Kind], mentions(prof, want[f.Kind]))
		}
		if open := "go tool pprof " + path; f.Pprof != open || !strings.Contains(log.String(), open) {
			t.Errorf("%s: the manifest says %q, the log\n%s\nwant both %q", f.Kind, f.Pprof, &log, open)
		}
		delete(want, f.Kind)
	}
	if len(want) != 0 {
		t.Errorf("the manifest lacks %v", want)
	}
	for _, f := range m.Files {
		if f.Kind != "cpu" && f.Kind != "fgprof" {
			continue
		}
		out, err := exec.CommandContext(within(t), pprofTool, "-top", filepath.Join(dir, f.File)).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "busyFunction") {
			t.Errorf("go tool pprof -top of %s: %v\n%s", f.Kind, err, out)
		}
	}
}

func TestUnknownKind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, err := profile.Start(dir, profile.WithKinds("Heap ", "memory", "heap"))
	if err == nil || !strings.HasPrefix(err.Error(), "profile: ") || !strings.Contains(err.Error(), `"memory"`) ||
		!strings.Contains(err.Error(), strings.Join(profile.Kinds(), ", ")) {
		t.Errorf("Start with kind memory: error %v, want one that names it and %v", err, profile.Kinds())
	}
	if err := p.Stop(within(t), ""); err != nil {
		t.Error(err)
	}
	if m := readManifest(t, dir); len(m.Files) != 1 || m.Files[0].Kind != "heap" {
		t.Errorf("files %v, want the known kind", m.Files)
	}

	dir = filepath.Join(t.TempDir(), "new")
	p, err = profile.Start(dir, profile.WithKinds("memory"))
	if err == nil || p.Stop(within(t), "") != nil {
		t.Errorf("Start with unknown kinds alone: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Error("a folder was made for nothing")
	}
}

func TestNilAndZero(t *testing.T) {
	t.Parallel()
	for _, p := range []*profile.Profiler{nil, {}} {
		if err := errors.Join(p.WriteGoroutines(t.Context()), p.Stop(t.Context(), "")); err != nil || p.Files() != nil || p.ID() != "" {
			t.Errorf("%v does something: %v", p, err)
		}
	}
}

func TestMissingPlatformKinds(t *testing.T) {
	t.Parallel()
	for goos, want := range map[string]bool{"linux": true, "windows": true, "darwin": true, "js": false, "wasip1": false} {
		if got := profile.HasCPUProfile(goos); got != want {
			t.Errorf("HasCPUProfile(%q) = %v, want %v", goos, got, want)
		}
	}
	if err := profile.StartLookup("nosuch"); err == nil || !strings.Contains(err.Error(), "nosuch") {
		t.Errorf("a profile that the runtime lacks: error %v, want one that names it", err)
	}
	if err := profile.StartLookup("heap"); err != nil {
		t.Error(err)
	}
}

func TestShellWord(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("cmd.exe quotes differently")
	}
	for in, want := range map[string]string{"/tmp/a-1.pprof": "/tmp/a-1.pprof", "/tmp/my dir/a": "'/tmp/my dir/a'", "/t/it's": `'/t/it'\''s'`, "/t/$(x)": "'/t/$(x)'"} {
		if got := profile.ShellWord(in); got != want {
			t.Errorf("shellWord(%q) = %s, want %s", in, got, want)
		}
	}
}
