package render_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/render"
)

type speedscopeFile struct {
	Schema   string `json:"$schema"`
	Exporter string `json:"exporter"`
	Name     string `json:"name"`
	Active   int    `json:"activeProfileIndex"`
	Shared   struct {
		Frames []struct {
			Name string `json:"name"`
		} `json:"frames"`
	} `json:"shared"`
	Profiles []struct {
		Type   string  `json:"type"`
		Name   string  `json:"name"`
		Unit   string  `json:"unit"`
		Start  *uint64 `json:"startValue"`
		End    *uint64 `json:"endValue"`
		Events []struct {
			Type  string  `json:"type"`
			Frame *int    `json:"frame"`
			At    *uint64 `json:"at"`
		} `json:"events"`
	} `json:"profiles"`
}

func parseSpeedscope(t *testing.T, set *traces.Set) speedscopeFile {
	t.Helper()
	var b strings.Builder
	if err := render.Speedscope(&b, set); err != nil {
		t.Fatal(err)
	}
	var f speedscopeFile
	d := json.NewDecoder(strings.NewReader(b.String()))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		t.Fatalf("Speedscope: %v in %s", err, b.String())
	}
	return f
}

// checkSpeedscope holds the rules of the format, and that names add up to the
// durations of their spans.
func checkSpeedscope(t *testing.T, set *traces.Set) {
	t.Helper()
	f := parseSpeedscope(t, set)
	if f.Schema != "https://www.speedscope.app/file-format-schema.json" || f.Exporter != "waymark" || len(f.Profiles) == 0 {
		t.Errorf("head: %q %q, %d profiles", f.Schema, f.Exporter, len(f.Profiles))
	}
	got := map[string]uint64{}
	for _, p := range f.Profiles {
		if p.Type != "evented" || p.Name == "" || p.Unit != "nanoseconds" || *p.Start != 0 {
			t.Errorf("profile %q: %q %q", p.Name, p.Type, p.Unit)
		}
		at := uint64(0)
		type open struct {
			frame int
			at    uint64
		}
		var stack []open
		for i, e := range p.Events {
			if *e.At < at || *e.At > *p.End || *e.Frame < 0 || *e.Frame >= len(f.Shared.Frames) {
				t.Fatalf("profile %q, event %d: frame %d at %d after %d", p.Name, i, *e.Frame, *e.At, at)
			}
			at = *e.At
			if e.Type == "O" {
				stack = append(stack, open{*e.Frame, at})
				continue
			}
			if e.Type != "C" || len(stack) == 0 || stack[len(stack)-1].frame != *e.Frame {
				t.Fatalf("profile %q, event %d: %s of frame %d does not close the innermost", p.Name, i, e.Type, *e.Frame)
			}
			got[f.Shared.Frames[*e.Frame].Name] += at - stack[len(stack)-1].at
			stack = stack[:len(stack)-1]
		}
		if len(stack) > 0 {
			t.Errorf("profile %q leaves %d frames open", p.Name, len(stack))
		}
	}
	want := map[string]uint64{}
	for n := range set.All() {
		if d := n.Span().Duration(); d > 0 {
			want[strings.ToValidUTF8(n.Span().Name, "\ufffd")] += uint64(d)
		}
	}
	if len(got) != len(want) && !slices.ContainsFunc(slices.Collect(maps.Keys(want)), func(s string) bool { return strings.ContainsRune(s, '\ufffd') }) {
		t.Errorf("frames %v, want %v", got, want)
	}
	for name, d := range want {
		if got[name] != d && !strings.ContainsRune(name, '\ufffd') {
			t.Errorf("frame %q lasts %d ns in all, want %d", name, got[name], d)
		}
	}
}

func TestSpeedscope(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	f := parseSpeedscope(t, traces.NewSet([]*traces.Span{
		span("root", 1, 0, "", 0, 10*ms), span("call", 2, 1, "", 1*ms, 5*ms), span("call", 3, 1, "", 2*ms, 10*ms), span("tick", 4, 1, "", 3*ms, 3*ms),
	}))
	var got []string
	for _, p := range f.Profiles {
		line := []string{p.Name + ":"}
		for _, e := range p.Events {
			line = append(line, fmt.Sprintf("%s %s@%d", e.Type, f.Shared.Frames[*e.Frame].Name, *e.At/1e6))
		}
		got = append(got, strings.Join(line, " "))
	}
	want := []string{
		"unknown service, lane 1: O root@0 O call@1 C call@5 C root@10",
		"unknown service, lane 2: O call@2 C call@10",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if len(f.Shared.Frames) != 2 {
		t.Errorf("%d frames: want one a name, none for what has no length", len(f.Shared.Frames))
	}
}

func TestSpeedscopeVectors(t *testing.T) {
	t.Parallel()
	for _, v := range vectors() {
		checkSpeedscope(t, v.set())
	}
	if f := parseSpeedscope(t, traces.NewSet(nil)); len(f.Profiles) != 1 || len(f.Profiles[0].Events) != 0 {
		t.Errorf("empty set: %+v", f)
	}
}
