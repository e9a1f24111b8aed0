package main

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	tail := ", " + runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH
	set := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }
	for name, c := range map[string]struct {
		info *debug.BuildInfo
		want string
	}{
		"nothing known": {nil, "waymark (devel)" + tail},
		"a release":     {&debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, "waymark v1.2.3" + tail},
		"a clone": {
			&debug.BuildInfo{Settings: []debug.BuildSetting{set("vcs.revision", "0123456789abcdef"), set("vcs.modified", "true")}},
			"waymark (devel) (0123456789ab, modified)" + tail,
		},
		"a clean clone": {
			&debug.BuildInfo{Main: debug.Module{Version: "v0.0.0-x"}, Settings: []debug.BuildSetting{set("vcs.revision", "0123"), set("vcs.modified", "false")}},
			"waymark v0.0.0-x (0123)" + tail,
		},
	} {
		if got := buildOf(c.info).String(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
