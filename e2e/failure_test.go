package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shutdownTimeout is what the servers get when their way out is the subject,
// and slack what a busy machine may add.
const (
	shutdownTimeout = 3 * time.Second
	slack           = 12 * time.Second
)

// otlpVars are the variables for a Collector at addr.
func otlpVars(protocol, addr string) map[string]string {
	return map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://" + addr,
		"OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
	}
}

// inTime fails when the way out took longer than the server was given.
func (e ending) inTime(t *testing.T) {
	t.Helper()
	if e.Shutdown > shutdownTimeout+slack {
		t.Errorf("shutdown took %v, with %v to do it in", e.Shutdown, shutdownTimeout)
	}
}

// freeAddress is where nobody listens. Its port is below those that the kernel
// gives to connections, so that none takes it before the Collector does.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 12_000+rand.IntN(20_000)))
		if err != nil {
			continue // taken
		}
		if err := ln.Close(); err != nil {
			t.Fatal(err)
		}
		return ln.Addr().String()
	}
	t.Fatal("no free port")
	return ""
}

// listening is a Collector's configuration for a server at addr.
func listening(protocol, addr string) collectorConfig {
	if protocol == "grpc" {
		return collectorConfig{grpc: addr}
	}
	return collectorConfig{http: addr}
}

// A Collector that comes late gets everything; the server starts without it.
func TestDownAtStart(t *testing.T) {
	t.Parallel()
	for name, protocol := range protocols {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr := freeAddress(t)
			s := startServer(t, otlpVars(protocol, addr), "-also-file")
			s.greet(t, 20)
			if a := s.otlp(t); a.Ended != 40 || a.Exported != 0 {
				t.Errorf("account without a Collector: %+v", a)
			}
			c := startCollector(t, listening(protocol, addr))
			eventually(t, "all spans are exported", func() (bool, string) {
				a := s.otlp(t)
				return a.Exported == 40, fmt.Sprintf("%+v", a)
			})
			if e := s.stop(t); e.Error != "" {
				t.Errorf("the server ended with %q", e.Error)
			}
			c.end(t)
			sameSpans(t, c.spans(t), s.spans(t))
		})
	}
}

// A Collector that never comes costs its spans and the time of the shutdown.
func TestDownForGood(t *testing.T) {
	t.Parallel()
	for name, protocol := range protocols {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, otlpVars(protocol, freeAddress(t)), "-shutdown-timeout", shutdownTimeout.String())
			s.greet(t, 20)
			e := s.stop(t)
			e.inTime(t)
			if a := e.Report.of(t, "otlp"); a.Ended != 40 || a.Failed+a.Dropped != 40 {
				t.Errorf("account %+v, want 40 lost", a)
			}
			if e.Error != "" || !strings.Contains(s.log.String(), "connection refused") {
				t.Errorf("the server ended with %q, and its log says %s", e.Error, s.log)
			}
		})
	}
}

// A Collector that is killed and comes back: each span has arrived or is
// counted, and the server has answered all the time.
func TestDiesInTheMiddle(t *testing.T) {
	t.Parallel()
	for name, protocol := range protocols {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr := freeAddress(t)
			first := startCollector(t, listening(protocol, addr))
			s := startServer(t, otlpVars(protocol, addr), "-also-file")
			s.greet(t, 20)
			eventually(t, "the first spans are exported", func() (bool, string) {
				a := s.otlp(t)
				return a.Exported == 40, fmt.Sprintf("%+v", a)
			})
			first.kill(t)
			s.greet(t, 20)
			second := startCollector(t, listening(protocol, addr))
			s.greet(t, 20)
			eventually(t, "the rest is exported", func() (bool, string) {
				a := s.otlp(t)
				return a.Ended == 120 && a.Queued == 0, fmt.Sprintf("%+v", a)
			})
			a := s.stop(t).Report.of(t, "otlp")
			second.end(t)
			got := readSpans(t, first.output, second.output)
			if n := uint64(len(got)); n < a.Exported || n > a.Exported+a.Uncertain {
				t.Errorf("%d spans have arrived, the account says %+v", n, a)
			}
			if a.Dropped != 0 || a.Failed > a.Uncertain {
				t.Errorf("account %+v: what was sent after the death is lost", a)
			}
			file := s.spans(t)
			for key := range got {
				if len(file[key]) != 1 {
					t.Errorf("span %s is not in the file", key)
				}
			}
		})
	}
}

// A Collector that hangs holds up neither the requests nor the way out; what
// it had in hand may have arrived, and the account says so.
func TestHangs(t *testing.T) {
	t.Parallel()
	for name, protocol := range protocols {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCollector(t, collectorConfig{})
			vars := otlpVars(protocol, c.address(protocol))
			vars["OTEL_BSP_MAX_QUEUE_SIZE"] = "256"
			vars["OTEL_BSP_MAX_EXPORT_BATCH_SIZE"] = "64"
			s := startServer(t, vars, "-shutdown-timeout", shutdownTimeout.String())
			s.greet(t, 5)
			eventually(t, "the first spans are exported", func() (bool, string) {
				a := s.otlp(t)
				return a.Exported == 10, fmt.Sprintf("%+v", a)
			})
			c.signal(t, syscall.SIGSTOP)
			s.greet(t, 10)
			s.get(t, "/burst?n=1000&bytes=10") // more than the queue holds
			s.greet(t, 10)
			e := s.stop(t)
			e.inTime(t)
			a := e.Report.of(t, "otlp")
			if a.Ended != 10+20+1001+20 || a.Exported != 10 || a.Dropped == 0 || a.Uncertain == 0 {
				t.Errorf("account %+v", a)
			}
			c.signal(t, syscall.SIGCONT)
			c.end(t)
			if n := uint64(len(c.spans(t))); n < a.Exported || n > a.Exported+a.Uncertain {
				t.Errorf("%d spans have arrived, the account says %+v", n, a)
			}
		})
	}
}

// A real Collector that refuses the token: all is failed, nothing uncertain,
// and the token is nowhere in the log.
func TestWrongToken(t *testing.T) {
	t.Parallel()
	for name, protocol := range protocols {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCollector(t, collectorConfig{token: "right"})
			vars := otlpVars(protocol, c.address(protocol))
			vars["OTEL_EXPORTER_OTLP_HEADERS"] = "authorization=Bearer%20wr0ng-t0k3n"
			s := startServer(t, vars)
			s.greet(t, 20)
			e := s.stop(t)
			if a := e.Report.of(t, "otlp"); a.Ended != 40 || a.Failed != 40 || a.Uncertain != 0 {
				t.Errorf("account %+v, want 40 failed", a)
			}
			s.quiet(t, "wr0ng-t0k3n", e)
			c.end(t)
			if n := len(c.spans(t)); n != 0 {
				t.Errorf("%d spans came in", n)
			}
		})
	}
}

// What receivers say when they refuse.
func TestRefuses(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		answer func(request, spans int) reply
		failed func(r *receiver) uint64
		waits  time.Duration // between the first two requests
	}{
		{
			name:   "401",
			answer: func(int, int) reply { return reply{status: http.StatusUnauthorized} },
			failed: func(*receiver) uint64 { return 60 },
		},
		{
			name:   "413",
			answer: func(int, int) reply { return reply{status: http.StatusRequestEntityTooLarge} },
			failed: func(*receiver) uint64 { return 60 },
		},
		{
			name: "429 with Retry-After",
			answer: func(request, _ int) reply {
				if request == 0 {
					return reply{status: http.StatusTooManyRequests, retryAfter: 2 * time.Second}
				}
				return reply{status: http.StatusOK}
			},
			failed: func(*receiver) uint64 { return 0 },
			waits:  2 * time.Second,
		},
		{
			name:   "partial success",
			answer: func(_, spans int) reply { return reply{status: http.StatusOK, rejected: spans / 3} },
			failed: func(r *receiver) uint64 {
				_, _, rejected, _ := r.state()
				return uint64(rejected)
			},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for name, protocol := range protocols {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					r := newReceiver(t, c.answer)
					s := startServer(t, otlpVars(protocol, r.address(protocol)))
					s.greet(t, 30)
					eventually(t, "the spans are decided about", func() (bool, string) {
						a := s.otlp(t)
						return a.Ended == 60 && a.Queued == 0, fmt.Sprintf("%+v", a)
					})
					e := s.stop(t)
					a := e.Report.of(t, "otlp")
					requests, taken, _, times := r.state()
					if failed := c.failed(r); a.Failed != failed || a.Exported != 60-failed || a.Uncertain != 0 {
						t.Errorf("account %+v, want %d failed", a, failed)
					}
					if uint64(taken) != a.Exported || requests == 0 {
						t.Errorf("%d spans were taken in %d requests, the account says %+v", taken, requests, a)
					}
					if e.Error != "" {
						t.Errorf("the server ended with %q", e.Error)
					}
					if c.waits > 0 && times[1].Sub(times[0]) < c.waits {
						t.Errorf("the second request came after %v, asked for were %v", times[1].Sub(times[0]), c.waits)
					}
				})
			}
		})
	}
}
