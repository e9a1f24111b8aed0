package suite

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// Tables measures what stands beside the goals.
func (s *Suite) Tables() []Table {
	tables := []Table{s.middlewareTable(), s.exportTable()}
	if s.readTable.Title != "" {
		tables = append(tables, s.readTable)
	}
	tables = append(tables, s.scaleTable())
	contention, err := s.contentionTable()
	s.fail(err)
	return append(tables, contention)
}

// WriteGoals writes the table of goals and what went wrong.
func (s *Suite) WriteGoals(w io.Writer) {
	fmt.Fprint(w, Header)
	for _, r := range s.Rows {
		fmt.Fprintln(w, r)
	}
	fmt.Fprintln(w)
	for _, err := range s.Errors {
		fmt.Fprintf(w, "not measured: %s\n", short(err))
	}
}

// WriteMachine writes what the figures were measured on.
func (s *Suite) WriteMachine(w io.Writer) {
	fmt.Fprintf(w, "%s, %s/%s, %d cores, %s. Load average %s. \"Time\" is %s.\n\n",
		time.Now().UTC().Format("2 January 2006"), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), processor(), load1(), s.Clock())
	fmt.Fprintf(w, "%s; %s.\n\n", runtime.Version(), strings.Join(rivalVersions(), ", "))
}

// Missed returns the rows of the steady kind that miss their goal by more than the factor.
func (s *Suite) Missed(factor float64) (missed []Row) {
	for _, r := range s.Rows {
		if r.Steady && r.Goal.Missed(r.Value, factor) {
			missed = append(missed, r)
		}
	}
	return missed
}

func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return "unknown processor"
}

func load1() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	one, _, _ := strings.Cut(string(text), " ")
	return one
}

func rivalVersions() []string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	var versions []string
	for _, m := range info.Deps {
		for _, want := range []string{
			"go.opentelemetry.io/otel/sdk", "instrumentation/net/http/otelhttp", "stdouttrace", "exporters/otlp/otlptrace", "collector/pdata",
			"dd-trace-go/v2", "apm/v2", "sentry-go",
		} {
			if strings.HasSuffix(m.Path, want) {
				versions = append(versions, m.Path[strings.Index(m.Path, "/")+1:]+" "+m.Version)
			}
		}
	}
	return versions
}
