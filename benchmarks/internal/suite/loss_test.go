package suite_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/benchmarks/internal/suite"
	"github.com/waymark-trace/waymark/jsonlexport"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

// checkLossless wants what was made, the account and the file to be the same.
func checkLossless(t *testing.T, made uint64, a suite.Account, path string) {
	t.Helper()
	if want := (suite.Account{Ended: made, Exported: made}); a != want {
		t.Errorf("account %+v, want %+v", a, want)
	}
	spans, report, err := tracefile.ReadAll(path)
	if err != nil || report.Total != 0 || uint64(len(spans)) != made {
		t.Errorf("%d spans in the file, %d passed over, error %v; want %d", len(spans), report.Total, err, made)
	}
}

func stop(t *testing.T, p *suite.Pipeline) suite.Account {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	a, err := p.Stop(ctx)
	if err != nil {
		t.Error(err)
	}
	return a
}

// flood makes spans in two goroutines as quickly as they can.
func flood(tp *suite.Pipeline, each int) (made uint64) {
	tracer := tp.Provider.Tracer("flood")
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i := range each {
				suite.Trace(context.Background(), tracer, i, 3, 10)
			}
		})
	}
	wg.Wait()
	return uint64(2 * each * 3)
}

func TestNothingIsLostFlatOut(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	p, err := suite.Open(suite.PipelineOurs, path)
	if err != nil {
		t.Fatal(err)
	}
	made := flood(p, 10_000)
	checkLossless(t, made, stop(t, p), path)
}

func TestNothingIsLostOverHTTP(t *testing.T) {
	t.Parallel()
	for _, spans := range []int{1, 3, 10} {
		t.Run(strconv.Itoa(spans), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "spans.jsonl")
			p, err := suite.Open(suite.PipelineOurs, path)
			if err != nil {
				t.Fatal(err)
			}
			requests := serveRequests(t, p, spans)
			checkLossless(t, requests*uint64(spans), stop(t, p), path)
		})
	}
}

// serveRequests has eight clients send a hundred requests each.
func serveRequests(t *testing.T, p *suite.Pipeline, spans int) uint64 {
	t.Helper()
	var requests atomic.Uint64
	srv := httptest.NewServer(p.Wrap(suite.Handler(p.Provider, spans, &requests)))
	defer srv.Close()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				resp, err := srv.Client().Get(srv.URL + "/users/42?page=2")
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				if resp.StatusCode != http.StatusOK {
					t.Errorf("status %d", resp.StatusCode)
				}
			}
		})
	}
	wg.Wait()
	return requests.Load()
}

// gate is a disk that hangs until it is opened.
type gate struct {
	open chan struct{}
	f    *os.File
}

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	return g.f.Write(p)
}

// A disk that hangs holds nobody up. Within the bound nothing is lost; past it,
// what was dropped is what is missing.
func TestDiskThatHangs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		bound int64
		drops bool
	}{{"within the bound", 64 << 20, false}, {"past the bound", 4 << 20, true}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "spans.jsonl")
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			g := &gate{make(chan struct{}), f}
			e := jsonlexport.NewWriter(g, jsonlexport.WithMaxBufferBytes(tt.bound))
			tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(e))
			made := flood(&suite.Pipeline{Provider: tp}, 4_000) // ends although the disk hangs
			if s := e.Stats(); s.Exported != 0 || s.Queued+s.Dropped != made {
				t.Errorf("while it hangs: %+v, want all of %d queued or dropped", s, made)
			}
			close(g.open)
			_ = tp.Shutdown(context.Background()) // an error when spans were dropped
			_ = f.Close()
			s := e.Stats()
			if s.Ended != made || s.Exported+s.Dropped != made || s.Failed != 0 || (s.Dropped > 0) != tt.drops {
				t.Errorf("account %+v of %d made, drops wanted: %v", s, made, tt.drops)
			}
			spans, _, err := tracefile.ReadAll(path)
			if err != nil || made-uint64(len(spans)) != s.Dropped {
				t.Errorf("%d of %d spans are missing, %d were dropped (%v)", made-uint64(len(spans)), made, s.Dropped, err)
			}
		})
	}
}
