package bootstrap

import (
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
)

func TestBuildAttributes(t *testing.T) {
	t.Parallel()
	info := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "abc"}
	for name, test := range map[string]struct {
		info *debug.BuildInfo
		want map[attribute.Key]string
	}{
		"no information": {nil, map[attribute.Key]string{}},
		"go run":         {info("(devel)"), map[attribute.Key]string{}},
		"a release":      {info("v1.2.3", revision), map[attribute.Key]string{"service.version": "v1.2.3", "vcs.ref.head.revision": "abc"}},
		"clean":          {info("", revision, debug.BuildSetting{Key: "vcs.modified", Value: "false"}), map[attribute.Key]string{"vcs.ref.head.revision": "abc"}},
		"modified":       {info("", revision, debug.BuildSetting{Key: "vcs.modified", Value: "true"}), map[attribute.Key]string{"vcs.ref.head.revision": "abc", "waymark.vcs.modified": "true"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := map[attribute.Key]string{}
			for _, kv := range buildAttributes(test.info, test.info != nil) {
				got[kv.Key] = kv.Value.String()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
