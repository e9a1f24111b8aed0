package suite

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/benchmarks/internal/measure"
	"github.com/waymark-trace/waymark/jsonlexport"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

// fileBytes is the size of the file that is read: what a busy server writes in a
// quarter of an hour. In a small one, the start of two workers, and of a heap that
// the rivals have left empty, is a third of the time.
const fileBytes = 300 << 20

// SpanFile writes a span file of at least the given size, as a program would,
// and returns its size.
func SpanFile(path string, size int64) (int64, error) {
	e, err := jsonlexport.New(path)
	if err != nil {
		return 0, err
	}
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(e), sdktrace.WithResource(resource.Default()))
	tracer := tp.Tracer("github.com/example/shop")
	for i, made := 0, int64(0); made < size; i++ {
		Trace(context.Background(), tracer, i, 3, 10)
		made += 3 * 900
	}
	if err := tp.Shutdown(context.Background()); err != nil {
		return 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// ReadOurs streams the file and returns how many spans it has.
func ReadOurs(path string, opts ...tracefile.Option) (spans int, err error) {
	r, err := tracefile.Open(path, opts...)
	if err != nil {
		return 0, err
	}
	for sp, err := range r.Spans() {
		if err != nil {
			return spans, err
		}
		if sp.StartUnixNano > 0 {
			spans++
		}
	}
	return spans, nil
}

// lines calls f with each line of the file.
func lines(path string, f func(line []byte) error) error {
	file, err := os.Open(path) //nolint:gosec // our own folder
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	in := bufio.NewScanner(file)
	in.Buffer(make([]byte, 1<<20), 4<<20)
	for in.Scan() {
		if err := f(in.Bytes()); err != nil {
			return err
		}
	}
	return in.Err()
}

// ReadPdata reads the file with the Collector's library.
func ReadPdata(path string) (spans int, err error) {
	var u ptrace.JSONUnmarshaler
	err = lines(path, func(line []byte) error {
		td, err := u.UnmarshalTraces(line)
		if err == nil {
			spans += td.SpanCount()
		}
		return err
	})
	return spans, err
}

// tracesData is OTLP's document for encoding/json.
type tracesData struct {
	ResourceSpans []struct {
		Resource struct {
			Attributes []jsonAttribute `json:"attributes"`
		} `json:"resource"`
		SchemaURL  string `json:"schemaUrl"`
		ScopeSpans []struct {
			Scope struct {
				Name       string          `json:"name"`
				Version    string          `json:"version"`
				Attributes []jsonAttribute `json:"attributes"`
			} `json:"scope"`
			SchemaURL string `json:"schemaUrl"`
			Spans     []struct {
				TraceID           string          `json:"traceId"`
				SpanID            string          `json:"spanId"`
				ParentSpanID      string          `json:"parentSpanId"`
				TraceState        string          `json:"traceState"`
				Flags             uint32          `json:"flags"`
				Name              string          `json:"name"`
				Kind              int             `json:"kind"`
				StartTimeUnixNano uint64          `json:"startTimeUnixNano,string"`
				EndTimeUnixNano   uint64          `json:"endTimeUnixNano,string"`
				Attributes        []jsonAttribute `json:"attributes"`
				Events            []struct {
					TimeUnixNano uint64          `json:"timeUnixNano,string"`
					Name         string          `json:"name"`
					Attributes   []jsonAttribute `json:"attributes"`
				} `json:"events"`
				Links []struct {
					TraceID    string          `json:"traceId"`
					SpanID     string          `json:"spanId"`
					Attributes []jsonAttribute `json:"attributes"`
				} `json:"links"`
				Status struct {
					Code    int    `json:"code"`
					Message string `json:"message"`
				} `json:"status"`
			} `json:"spans"`
		} `json:"scopeSpans"`
	} `json:"resourceSpans"`
}

type jsonAttribute struct {
	Key   string    `json:"key"`
	Value jsonValue `json:"value"`
}

type jsonValue struct {
	StringValue *string  `json:"stringValue"`
	BoolValue   *bool    `json:"boolValue"`
	IntValue    *int64   `json:"intValue,string"`
	DoubleValue *float64 `json:"doubleValue"`
	ArrayValue  *struct {
		Values []jsonValue `json:"values"`
	} `json:"arrayValue"`
}

// ReadJSON reads the file with the standard library.
func ReadJSON(path string) (spans int, err error) {
	err = lines(path, func(line []byte) error {
		var td tracesData
		if err := json.Unmarshal(line, &td); err != nil {
			return err
		}
		for _, rs := range td.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				spans += len(ss.Spans)
			}
		}
		return nil
	})
	return spans, err
}

// countNewlines is the limit: one look at each byte.
func countNewlines(path string) (n int, err error) {
	file, err := os.Open(path) //nolint:gosec // our own folder
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }()
	buf := make([]byte, 1<<20)
	for {
		m, err := file.Read(buf)
		n += bytes.Count(buf[:m], []byte{'\n'})
		if m == 0 {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

func read(name string, f func() (int, error)) measure.Case {
	return measure.Case{Name: name, Run: func(n int) {
		for range n {
			if _, err := f(); err != nil {
				panic(err)
			}
		}
	}}
}

// readPeak is the most memory that a program has resident which does nothing but
// read the file, with two workers.
func readPeak(dir, path string) (int64, error) {
	program := filepath.Join(dir, "peak")
	build := exec.Command("go", "build", "-o", program, "github.com/waymark-trace/waymark/benchmarks/cmd/peak") //nolint:gosec,noctx // of this module
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("building cmd/peak: %w: %s", err, out)
	}
	out, err := exec.Command(program, path).Output() //nolint:gosec,noctx // just built
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
}

func (s *Suite) peakRow(dir, path string, mb float64) {
	const limit = 32
	peak, err := readPeak(dir, path)
	if err != nil {
		s.fail(err)
		return
	}
	s.add(Row{
		ID: "P7", What: "reading, everything, two workers, peak memory of the process", Rival: fmt.Sprintf("a file of %.0f MB", mb),
		Ours: number(float64(peak)/1e6) + " MB", Value: float64(peak) / 1e6, Goal: atMost(limit, none(), " MB"),
	})
}

// readGoals are P7 and P8.
func (s *Suite) readGoals() {
	dir, err := os.MkdirTemp("", "waymark-bench-")
	if err != nil {
		s.fail(err)
		return
	}
	defer func() { s.fail(os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "spans.jsonl")
	size, err := SpanFile(path, fileBytes)
	if err != nil {
		s.fail(err)
		return
	}
	mb := float64(size) / 1e6
	quick := *s
	quick.Rounds, quick.Slice = max(3, s.Rounds/3), 1 // one reading is a slice
	series := quick.alternate(
		read("one worker", func() (int, error) { return ReadOurs(path, tracefile.WithWorkers(1)) }),
		read("pdata", func() (int, error) { return ReadPdata(path) }),
		read("two workers", func() (int, error) { return ReadOurs(path, tracefile.WithWorkers(2)) }),
		read("table fields", func() (int, error) {
			return ReadOurs(path, tracefile.WithWorkers(1), tracefile.WithAttributes("http.route"))
		}),
		read("encoding/json", func() (int, error) { return ReadJSON(path) }),
		read("newlines", func() (int, error) { return countNewlines(path) }),
	)
	one, pd, two, table, std, scan := series[0], series[1], series[2], series[3], series[4], series[5]
	s.speedRow("P7", "reading, everything, one worker", one, pd, atLeast(3.5, 5, "×"), "MB", mb)
	s.speedRow("P7", "reading, a table's fields, one worker", table, pd, atLeast(3.5, 5, "×"), "MB", mb)
	s.wallRow("P7", "reading, everything, two workers (wall time)", two, pd, atLeast(6, 9, "×"), "MB", mb)
	s.peakRow(dir, path, mb)
	s.speedRow("P8", "reading, everything, one worker", one, std, atLeast(9, 12, "×"), "MB", mb)
	s.readTable = Table{
		Title: "Readers", Note: fmt.Sprintf("A file of %.0f MB, page cache warm.", mb),
		Columns: []string{"reader", "MB/s", "allocs/MB", "× one worker"},
	}
	for _, x := range []measure.Series{one, two, table, pd, std, scan} {
		s.readTable.Rows = append(s.readTable.Rows, []string{
			x.Name, number(mb * 1e9 / x.Median(s.clock.metric)), number(x.Median(measure.Allocs) / mb),
			number(measure.Ratio(x, one, s.clock.metric)),
		})
	}
}
