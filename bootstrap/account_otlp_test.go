//go:build !waymark_nootlp

package bootstrap_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/env"
)

// collectorFor starts a receiver of the protocol and returns the variables.
func collectorFor(t *testing.T, protocol string, reply answer) (*received, env.Map) {
	t.Helper()
	if protocol == "grpc" {
		got, addr := grpcCollector(t, reply)
		return got, env.Map{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://" + addr, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol}
	}
	got, srv := httpCollector(t, reply)
	return got, env.Map{"OTEL_EXPORTER_OTLP_ENDPOINT": srv.URL, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol}
}

func TestExportOverEachProtocol(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"grpc", "http/protobuf", "http/json"} {
		for _, compression := range []string{"none", "gzip"} {
			t.Run(protocol+" "+compression, func(t *testing.T) {
				t.Parallel()
				got, vars := collectorFor(t, protocol, takeAll)
				vars["OTEL_EXPORTER_OTLP_COMPRESSION"] = compression
				vars["OTEL_EXPORTER_OTLP_HEADERS"] = "x-key=s3cr%65t"
				tracing, out := start(t, vars)
				makeSpans(t, tracing.TracerProvider(), 700)
				if err := shutdown(t, tracing); err != nil {
					t.Fatalf("Shutdown: %v", err)
				}
				if n := got.count(); n != 700 {
					t.Errorf("the collector got %d spans, want 700", n)
				}
				d := tracing.Report().Destinations[0]
				if d.Exported != 700 || d.Ended != 700 || d.Started != 700 || d.Lost() != 0 {
					t.Errorf("account: %s", d)
				}
				for _, h := range got.headers {
					if key := append(h["X-Key"], h["x-key"]...); len(key) != 1 || key[0] != "s3cret" {
						t.Errorf("header x-key: %q", key)
					}
				}
				if strings.Contains(out.String(), "s3cret") {
					t.Errorf("a header is in the log: %s", out)
				}
			})
		}
	}
}

func TestPartialSuccessCountsTheRejectedAlone(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"grpc", "http/protobuf"} {
		for _, c := range []struct {
			name     string
			rejected int64
			message  string
			failed   uint64
		}{
			{"some", 7, "no room", 7},
			{"none, with a warning", 0, "old client", 0},
			{"more than sent", 1000, "what", 100},
		} {
			t.Run(protocol+" "+c.name, func(t *testing.T) {
				t.Parallel()
				_, vars := collectorFor(t, protocol, func(context.Context, int) (int64, string, int) {
					return c.rejected, c.message, http.StatusOK
				})
				tracing, out := start(t, vars)
				makeSpans(t, tracing.TracerProvider(), 100)
				err := shutdown(t, tracing)
				if (err != nil) != (c.failed > 0) {
					t.Errorf("Shutdown: %v, with %d failed", err, c.failed)
				}
				d := tracing.Report().Destinations[0]
				if d.Failed != c.failed || d.Exported != 100-c.failed || d.Uncertain != 0 {
					t.Errorf("account: %s", d)
				}
				balance(t, tracing.Report())
				if !strings.Contains(out.String(), c.message) {
					t.Errorf("the collector's message %q is not in the log: %s", c.message, out)
				}
			})
		}
	}
}

func TestRefusedBatchesAreFailed(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"grpc", "http/protobuf"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			_, vars := collectorFor(t, protocol, func(context.Context, int) (int64, string, int) {
				return 0, "go away", http.StatusBadRequest
			})
			vars["OTEL_BSP_MAX_EXPORT_BATCH_SIZE"] = "10"
			tracing, out := start(t, vars)
			makeSpans(t, tracing.TracerProvider(), 100)
			if err := shutdown(t, tracing); err == nil || !strings.Contains(err.Error(), "100 spans lost") {
				t.Errorf("Shutdown: %v", err)
			}
			d := tracing.Report().Destinations[0]
			if d.Failed != 100 || d.Uncertain != 0 {
				t.Errorf("account: %s", d)
			}
			// Ten batches failed in one way: one line at once, one with the rest.
			if n := len(out.lines(t, "spans not exported")); n != 1 {
				t.Errorf("%d lines at once, want 1: %s", n, out)
			}
			rest := out.lines(t, "tracing error repeated")
			if len(rest) != 1 || rest[0]["count"] != 9.0 {
				t.Errorf("lines at shutdown: %v", rest)
			}
		})
	}
}

func TestHangingCollector(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"grpc", "http/protobuf"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			release := make(chan struct{})
			t.Cleanup(func() { close(release) })
			got, vars := collectorFor(t, protocol, func(ctx context.Context, _ int) (int64, string, int) {
				select {
				case <-release:
				case <-ctx.Done():
				}
				return 0, "", http.StatusOK
			})
			vars["OTEL_BSP_MAX_QUEUE_SIZE"] = "50"
			vars["OTEL_BSP_MAX_EXPORT_BATCH_SIZE"] = "20"
			tracing, _ := start(t, vars)
			makeSpans(t, tracing.TracerProvider(), 20)
			for got.requests.Load() == 0 {
				time.Sleep(time.Millisecond)
			}
			makeSpans(t, tracing.TracerProvider(), 80) // 30 wait, 50 are dropped
			if d := tracing.Report().Destinations[0]; d.Queued != 50 || d.Dropped != 50 {
				t.Errorf("account while it hangs: %s", d)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
			defer cancel()
			begin := time.Now()
			if err := tracing.Shutdown(ctx); err == nil {
				t.Error("Shutdown: no error although everything was lost")
			}
			if d := time.Since(begin); d > 20*time.Second {
				t.Errorf("Shutdown took %v with a deadline of 100 ms", d)
			}
			<-stopped(tracing)
			d := tracing.Report().Destinations[0]
			if d.Ended != 100 || d.Exported != 0 || d.Failed != 20 || d.Uncertain != 20 || d.Dropped != 80 {
				t.Errorf("account: %s", d)
			}
			balance(t, tracing.Report())
		})
	}
}

// stopped is closed when tracing's Shutdown is over.
func stopped(tracing *bootstrap.Tracing) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = tracing.Shutdown(ctx)
	}()
	return done
}

func TestExportTimeoutIsUncertain(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"grpc", "http/protobuf"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			// Not at the end of its own context: gRPC tells the deadline to the
			// server, which may see it first and answer in time.
			over := make(chan struct{})
			defer close(over)
			_, vars := collectorFor(t, protocol, func(context.Context, int) (int64, string, int) {
				<-over
				return 0, "", http.StatusOK
			})
			vars["OTEL_BSP_EXPORT_TIMEOUT"] = "2000" // a busy machine takes its time to connect
			tracing, out := start(t, vars)
			makeSpans(t, tracing.TracerProvider(), 5)
			if err := shutdown(t, tracing); err == nil {
				t.Error("Shutdown: no error although a batch timed out")
			}
			d := tracing.Report().Destinations[0]
			if d.Failed != 5 || d.Uncertain != 5 {
				t.Errorf("account: %s", d)
			}
			if l := out.lines(t, "spans not exported"); len(l) != 1 || l[0]["may_have_arrived"] != true {
				t.Errorf("log: %s", out)
			}
		})
	}
}

func TestSlowCollectorLosesNothing(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"grpc", "http/protobuf"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			got, vars := collectorFor(t, protocol, func(context.Context, int) (int64, string, int) {
				time.Sleep(20 * time.Millisecond)
				return 0, "", http.StatusOK
			})
			vars["OTEL_BSP_MAX_EXPORT_BATCH_SIZE"] = "100"
			tracing, _ := start(t, vars)
			makeSpans(t, tracing.TracerProvider(), 1000)
			if err := shutdown(t, tracing); err != nil {
				t.Errorf("Shutdown: %v", err)
			}
			if n := got.count(); n != 1000 {
				t.Errorf("the collector got %d spans, want 1000", n)
			}
			balance(t, tracing.Report())
		})
	}
}

// A collector that is not there yet is tried again, over HTTP too; the file is
// no substitute for it.
func TestCollectorThatComesLater(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"grpc", "http/protobuf"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			addr, later := reserve(t)
			vars := env.Map{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://" + addr, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol, "OTEL_BSP_SCHEDULE_DELAY": "1"}
			tracing, _ := start(t, vars)
			if got, want := tracing.Destination(), "http://"+addr; !strings.HasPrefix(got, want) {
				t.Errorf("Destination: %q, want %s…", got, want)
			}
			makeSpans(t, tracing.TracerProvider(), 10)
			time.AfterFunc(200*time.Millisecond, func() { later(protocol) })
			// The last flush would not wait for it as long.
			for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
				if tracing.Report().Destinations[0].Exported == 10 {
					break
				}
			}
			if err := shutdown(t, tracing); err != nil {
				t.Errorf("Shutdown: %v", err)
			}
			if d := tracing.Report().Destinations[0]; d.Exported != 10 || d.Name != "otlp" {
				t.Errorf("account: %s", d)
			}
		})
	}
}

// A redirect would carry the headers elsewhere.
func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	var strayed atomic.Int64
	_, other := httpCollector(t, func(context.Context, int) (int64, string, int) {
		strayed.Add(1)
		return 0, "", http.StatusOK
	})
	front := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/v1/traces", http.StatusTemporaryRedirect)
	})
	tracing, _ := start(t, env.Map{"OTEL_EXPORTER_OTLP_ENDPOINT": front, "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20abcdef"})
	makeSpans(t, tracing.TracerProvider(), 1)
	if err := shutdown(t, tracing); err == nil {
		t.Error("Shutdown: no error")
	}
	if strayed.Load() != 0 {
		t.Error("the exporter followed a redirect to another host")
	}
}

// Start neither waits for a collector nor fails because of it.
func TestStartDoesNotWait(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"grpc", "http/protobuf"} {
		tracing, _ := start(t, env.Map{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://192.0.2.1:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": protocol})
		if !tracing.Enabled() {
			t.Errorf("%s: not enabled", protocol)
		}
	}
}
