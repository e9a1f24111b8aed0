package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writingServer writes to its file alone, in parts of 1 MiB; a Collector
// follows all its files.
func writingServer(t *testing.T, vars map[string]string) (*tracedServer, *collector) {
	t.Helper()
	s := startServer(t, vars)
	return s, startCollector(t, collectorConfig{follow: filepath.Join(s.files, "spans*.jsonl")})
}

// arrive waits until the Collector has as many spans as have ended.
func arrive(t *testing.T, c *collector, ended int) {
	t.Helper()
	eventually(t, "the spans arrive", func() (bool, string) {
		n := len(c.spans(t))
		return n >= ended, fmt.Sprintf("%d of %d", n, ended)
	})
}

// A Collector's file receiver reads our file while it is written.
func TestFileReceiver(t *testing.T) {
	t.Parallel()
	s, c := writingServer(t, nil)
	s.get(t, "/kinds")
	ended := 6
	for range 20 {
		s.get(t, "/burst?n=500&bytes=100")
		ended += 501
	}
	s.greet(t, 20)
	ended += 40
	if n := len(c.spans(t)); n > ended {
		t.Errorf("%d spans, of %d that ended", n, ended)
	}
	arrive(t, c, ended)
	if e := s.stop(t); e.Error != "" || e.Report.of(t, "file").Exported != uint64(ended) {
		t.Errorf("the server ended with %+v", e)
	}
	c.end(t)
	sameSpans(t, c.spans(t), s.spans(t))
}

// It follows us across our own rotation too. The receiver tells files apart by
// their first 1000 bytes, so a long resource must not make two parts alike.
func TestFileReceiverAcrossRotation(t *testing.T) {
	t.Parallel()
	for name, team := range map[string]string{"short resource": "blue", "long resource": strings.Repeat("blue", 500)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c := writingServer(t, map[string]string{
				"E2E_TRACES_MAX_BYTES":     "1048576",
				"OTEL_RESOURCE_ATTRIBUTES": "team=" + team,
			})
			ended := 0
			// 4 MiB, in steps small enough for the receiver to see each part.
			for range 20 {
				s.get(t, "/burst?n=100&bytes=2000")
				ended += 101
				arrive(t, c, ended)
			}
			e := s.stop(t)
			a := e.Report.of(t, "file")
			if e.Error != "" || a.Exported != uint64(ended) || a.Discarded == 0 {
				t.Errorf("the server ended with %+v", e)
			}
			if _, err := os.Stat(filepath.Join(s.files, "spans.1.jsonl")); err != nil {
				t.Error(err)
			}
			c.end(t)
			got, rest := c.spans(t), s.spans(t)
			if len(got) != ended || got.twice() != 0 {
				t.Errorf("%d spans, %d of them twice; %d have ended", len(got), got.twice(), ended)
			}
			if uint64(len(rest)) != a.Exported-a.Discarded {
				t.Errorf("%d spans are left in the files, the account says %+v", len(rest), a)
			}
			for key := range got {
				if _, left := rest[key]; !left {
					delete(got, key) // discarded since
				}
			}
			sameSpans(t, got, rest)
		})
	}
}
