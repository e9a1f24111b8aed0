//go:build !waymark_nootlp

package bootstrap_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
)

func newServer(t *testing.T, f http.HandlerFunc) string {
	t.Helper()
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close)
	return srv.URL
}

// reserve finds an address where nothing listens, and a function that starts a
// collector there.
func reserve(t *testing.T) (addr string, later func(protocol string)) {
	t.Helper()
	listen := func(addr string) net.Listener {
		var lc net.ListenConfig
		ln, err := lc.Listen(t.Context(), "tcp", addr)
		if err != nil {
			t.Errorf("listen: %v", err)
			return nil
		}
		return ln
	}
	ln := listen("127.0.0.1:0")
	if ln == nil {
		t.FailNow()
	}
	addr = ln.Addr().String()
	_ = ln.Close()
	return addr, func(protocol string) {
		ln := listen(addr)
		if ln == nil {
			return
		}
		got := &received{}
		if protocol == "grpc" {
			srv := grpc.NewServer()
			collector.RegisterTraceServiceServer(srv, &grpcService{got: got, reply: takeAll})
			t.Cleanup(srv.Stop)
			_ = srv.Serve(ln)
			return
		}
		srv := &http.Server{Handler: httpHandler(t, got, takeAll)}
		t.Cleanup(func() { _ = srv.Close() })
		_ = srv.Serve(ln)
	}
}
