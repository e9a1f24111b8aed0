//go:build !waymark_nootlp

package bootstrap_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/env"
)

// babbler is an address where something listens that speaks no HTTP/2.
func babbler(t *testing.T) string {
	t.Helper()
	var lc net.ListenConfig
	ln, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, strings.Repeat("nonsense\r\n", 10))
			_, _ = io.Copy(io.Discard, conn) // until the client has read it, and hangs up
			_ = conn.Close()
		}
	}()
	return ln.Addr().String()
}

// A backend that cannot be reached is said at the first try; nothing can have
// arrived there; and the end does not wait for it long.
func TestUnreachableBackend(t *testing.T) {
	t.Parallel()
	nobody, _ := reserve(t)
	for _, c := range []struct{ name, protocol, addr, want string }{
		{"grpc", "grpc", nobody, "connection refused"},
		{"http", "http/protobuf", nobody, "connection refused"},
		{"no HTTP/2", "grpc", babbler(t), "error reading server preface"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tracing, out := start(t, env.Map{
				"OTEL_EXPORTER_OTLP_ENDPOINT": "http://" + c.addr, "OTEL_EXPORTER_OTLP_PROTOCOL": c.protocol,
				"OTEL_BSP_SCHEDULE_DELAY": "1", "OTEL_EXPORTER_OTLP_TIMEOUT": "600000", "OTEL_BSP_EXPORT_TIMEOUT": "600000",
			})
			makeSpans(t, tracing.TracerProvider(), 1)
			for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
				if len(out.lines(t, "backend not reached")) > 0 {
					break
				}
			}
			if n := len(out.lines(t, "backend not reached")); n != 1 {
				t.Fatalf("%d lines after the first try, want 1: %s", n, out)
			}
			begin := time.Now()
			err := shutdown(t, tracing) // which has 30 s
			if took := time.Since(begin); took > 15*time.Second {
				t.Errorf("Shutdown took %v, want about 2 s", took)
			}
			if err == nil || !strings.Contains(err.Error(), "1 span lost") {
				t.Errorf("Shutdown: %v", err)
			}
			if err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("Shutdown: %v, want %q in it", err, c.want)
			}
			if d := tracing.Report().Destinations[0]; d.Failed+d.Dropped != 1 || d.Uncertain != 0 {
				t.Errorf("account: %s", d)
			}
			if l := out.lines(t, "spans not exported"); len(l) != 0 {
				t.Errorf("said twice: %v", l)
			}
		})
	}
}
