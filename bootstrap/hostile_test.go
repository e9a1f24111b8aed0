//go:build !waymark_nootlp

package bootstrap_test

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/env"
)

// Kubernetes secrets often hold the key itself where its path belongs.
func TestAKeyInPlaceOfItsPathIsNotPrinted(t *testing.T) {
	t.Parallel()
	const secret = "MIIEvgIBADANBgkqhkiG9w0BAQEFAASC"
	pem := "-----BEGIN PRIVATE KEY-----\n" + secret + "\n-----END PRIVATE KEY-----"
	const cert, clientCert, clientKey = "OTEL_EXPORTER_OTLP_CERTIFICATE", "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "OTEL_EXPORTER_OTLP_CLIENT_KEY"
	for name, vars := range map[string]env.Map{
		cert:       {cert: pem},
		clientCert: {clientCert: pem, clientKey: "/nowhere"},
		clientKey:  {clientKey: pem, clientCert: "/nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			vars["OTEL_EXPORTER_OTLP_ENDPOINT"] = "https://127.0.0.1:1"
			tracing, out := start(t, vars)
			if strings.Contains(out.String(), secret) {
				t.Errorf("the log has the key:\n%s", out)
			}
			if plan := tracing.Plan().String(); strings.Contains(plan, secret) {
				t.Errorf("the plan has the key:\n%s", plan)
			}
		})
	}
}

// Backends answer "invalid token …" with the token, without its scheme.
func TestATokenThatTheBackendRepeatsIsNotPrinted(t *testing.T) {
	t.Parallel()
	for _, header := range []string{"Authorization=Bearer%20s3cr3t-0123", "authorization=Basic%20czNjcjN0LTAxMjM=", "x-api-key=s3cr3t-0123"} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			value := r.Header.Get("Authorization") + r.Header.Get("X-Api-Key")
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, "invalid token %q", value[strings.IndexByte(value, ' ')+1:])
		}))
		t.Cleanup(srv.Close)
		tracing, out := start(t, env.Map{"OTEL_EXPORTER_OTLP_ENDPOINT": srv.URL, "OTEL_EXPORTER_OTLP_HEADERS": header})
		makeSpans(t, tracing.TracerProvider(), 1)
		all := fmt.Sprint(shutdown(t, tracing)) + out.String()
		if strings.Contains(all, "s3cr3t") || strings.Contains(all, "czNjcjN0") {
			t.Errorf("%s was printed:\n%s", header, all)
		}
		if !strings.Contains(all, "invalid token") {
			t.Errorf("the answer is missing:\n%s", all)
		}
	}
}

// net/http and http2.ConfigureServer leave a TLSConfig on a server that has
// nothing to do with TLS.
func TestServeIsPlainWithTheTLSConfigOfNetHTTP(t *testing.T) {
	t.Parallel()
	srv := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "ok")
	})}
	closed := listen(t)
	_ = closed.Close()
	_ = srv.Serve(closed)
	srv.TLSConfig = cmp.Or(srv.TLSConfig, &tls.Config{NextProtos: []string{"h2", "http/1.1"}})
	tracing, _ := start(t, nil)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ln := listen(t)
	served := make(chan error, 1)
	go func() { served <- tracing.ServeListener(ctx, srv, ln) }()
	resp, err := (&http.Client{Timeout: 30 * time.Second}).Get("http://" + ln.Addr().String())
	if err != nil {
		t.Errorf("Get: %v", err)
	} else {
		_ = resp.Body.Close()
	}
	stop()
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

// panickyProcessor panics in one of its methods.
type panickyProcessor struct{ in string }

func (p panickyProcessor) do(method string) error {
	if method == p.in {
		panic("a bug in " + method)
	}
	return nil
}

func (p panickyProcessor) OnStart(context.Context, sdktrace.ReadWriteSpan) { _ = p.do("OnStart") }
func (p panickyProcessor) OnEnd(sdktrace.ReadOnlySpan)                     { _ = p.do("OnEnd") }
func (p panickyProcessor) ForceFlush(context.Context) error                { return p.do("ForceFlush") }

func (p panickyProcessor) Shutdown(context.Context) error { return p.do("Shutdown") }

func TestAProcessorThatPanicsBreaksNoRequest(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"OnStart", "OnEnd", "ForceFlush", "Shutdown"} {
		t.Run(in, func(t *testing.T) {
			t.Parallel()
			tracing, out := start(t, nil, func(c *bootstrap.Config) {
				c.Processors = []sdktrace.SpanProcessor{panickyProcessor{in}}
			})
			srv := httptest.NewUnstartedServer(tracing.Middleware()(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, "ok")
			})))
			srv.Config.ErrorLog = log.New(io.Discard, "", 0)
			srv.Start()
			t.Cleanup(srv.Close)
			resp, err := srv.Client().Get(srv.URL)
			if err != nil {
				t.Fatalf("the request is not answered: %v", err)
			}
			_ = resp.Body.Close()
			srv.Close() // the span has ended then
			err = shutdown(t, tracing)
			if all := fmt.Sprint(err) + out.String(); !strings.Contains(all, "a bug in "+in) {
				t.Errorf("nobody was told: %s", all)
			}
			balance(t, tracing.Report())
			if got := tracing.Report().Destinations[0].Exported; got != 1 {
				t.Errorf("exported %d, want 1", got)
			}
		})
	}
}

// t.FailNow in a hook does that, for one.
func TestAHookThatEndsItsGoroutineDoesNotHoldUpShutdown(t *testing.T) {
	t.Parallel()
	tracing, _ := start(t, nil, func(c *bootstrap.Config) { c.ShutdownTimeout = time.Hour })
	tracing.OnShutdown(func(context.Context) error {
		runtime.Goexit()
		return nil
	})
	done := make(chan error, 1)
	go func() { done <- tracing.Shutdown(context.Background()) }()
	select {
	case err := <-done:
		if err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Shutdown: %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("Shutdown waits for a goroutine that is gone")
	}
}

// panickyHandler is a logger's handler with a bug.
type panickyHandler struct{ slog.Handler }

func (panickyHandler) Handle(context.Context, slog.Record) error { panic("a bug in the logger") }

// In the batch processor's goroutine it would end the process.
func TestALoggerThatPanicsHurtsNobody(t *testing.T) {
	t.Parallel()
	_, srv := httpCollector(t, func(context.Context, int) (int64, string, int) { return 0, "no", http.StatusBadRequest })
	tracing, _ := start(t, env.Map{"OTEL_EXPORTER_OTLP_ENDPOINT": srv.URL}, func(c *bootstrap.Config) {
		c.Logger = slog.New(panickyHandler{slog.DiscardHandler}.enabled())
	})
	makeSpans(t, tracing.TracerProvider(), 3)
	if err := shutdown(t, tracing); err == nil {
		t.Error("the spans were not exported, and Shutdown says nothing")
	}
	balance(t, tracing.Report())
}

func (h panickyHandler) enabled() slog.Handler { return alwaysEnabled{h} }

type alwaysEnabled struct{ slog.Handler }

func (alwaysEnabled) Enabled(context.Context, slog.Level) bool { return true }

// A span file that cannot be written is news for the logger, not for whoever
// has OTel's global error handler: with NoGlobals that prints to standard error.
func TestFileErrorsGoToTheLoggerAlsoWithoutGlobals(t *testing.T) {
	t.Parallel()
	tracing, out := start(t, nil)
	_, span := tracing.TracerProvider().Tracer("test").Start(t.Context(), strings.Repeat("x", 65<<20)) // past the bound of the buffers
	span.End()
	_ = shutdown(t, tracing)
	if got := tracing.Report().Destinations[0].Dropped; got != 1 {
		t.Fatalf("dropped %d, want 1", got)
	}
	if !strings.Contains(out.String(), "buffers hold") {
		t.Errorf("the logger was not told that a span was dropped:\n%s", out)
	}
}

// What a variable holds is data: it neither floods the log nor moves the cursor.
func TestALongBinaryValueIsCutAndQuoted(t *testing.T) {
	t.Parallel()
	junk := "/" + strings.Repeat("\x1b[31m\n\xff", 10_000)
	for _, key := range []string{"SHOP_TRACES_FILE", "OTEL_SERVICE_NAME"} {
		tracing, out := start(t, env.Map{key: junk})
		if got := len(out.String()); got > 16<<10 {
			t.Errorf("%s: the log has %d bytes", key, got)
		}
		plan := tracing.Plan().String()
		if strings.Contains(plan, "\x1b") || len(plan) > 64<<10 {
			t.Errorf("%s: the plan has %d bytes, an escape sequence: %v", key, len(plan), strings.Contains(plan, "\x1b"))
		}
	}
}
