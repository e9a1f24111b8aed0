package bootstrap_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/bootstrap"
)

// TestReportInALogLine has the numbers that are not zero, each under its name.
func TestReportInALogLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		report bootstrap.Report
		want   string
	}{
		"all went well": {
			bootstrap.Report{Destinations: []bootstrap.DestinationReport{{Name: "file", Target: "spans.jsonl", Started: 3, Ended: 3, Exported: 3}}},
			"account.file.target=spans.jsonl account.file.started=3 account.file.ended=3 account.file.exported=3\n",
		},
		"no request": {
			bootstrap.Report{Destinations: []bootstrap.DestinationReport{{Name: "otlp/stdout", Target: "stdout"}}},
			"account.otlp_stdout.target=stdout\n",
		},
		"everything": {
			bootstrap.Report{Destinations: []bootstrap.DestinationReport{
				{Name: "otlp", Target: "t", Started: 1, Ended: 2, Open: 3, Queued: 4, Exported: 5, Failed: 6, Uncertain: 7, Dropped: 8, Discarded: 9},
			}},
			"account.otlp.target=t account.otlp.started=1 account.otlp.ended=2 account.otlp.open=3 account.otlp.queued=4 account.otlp.exported=5 " +
				"account.otlp.failed=6 account.otlp.uncertain=7 account.otlp.dropped=8 account.otlp.discarded=9\n",
		},
	} {
		var b strings.Builder
		slog.New(slog.NewTextHandler(&b, nil)).Info("x", slog.Any("account", c.report))
		if _, got, _ := strings.Cut(b.String(), "msg=x "); got != c.want {
			t.Errorf("%s: logged\n%s\nwant\n%s", name, got, c.want)
		}
	}
}
