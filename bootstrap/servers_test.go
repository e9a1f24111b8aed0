package bootstrap_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/waymark-trace/waymark/env"
)

// Two servers on one handle, such as the shop and its admin: the one that ends
// first does not end tracing for the other, nor does one that cannot listen.
func TestLastServerEndsTracing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "spans.jsonl")
		tracing, out := start(t, env.Map{"SHOP_TRACES_FILE": path})
		handler := tracing.Middleware()(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") }))
		serve := func() (*pipeListener, context.CancelFunc, chan error) {
			ctx, stop := context.WithCancel(t.Context())
			ln, result := newPipeListener(), make(chan error, 1)
			go func() { result <- tracing.ServeListener(ctx, &http.Server{Handler: handler}, ln) }()
			synctest.Wait()
			return ln, stop, result
		}
		shop, stopShop, shopResult := serve()
		_, stopAdmin, adminResult := serve()

		if err := tracing.Serve(t.Context(), &http.Server{Addr: "no address"}); err == nil {
			t.Error("Serve without an address: no error")
		}
		if err := tracing.ServeListener(t.Context(), nil, net.Listener(nil)); err == nil {
			t.Error("Serve without a server: no error")
		}
		stopAdmin()
		if err := <-adminResult; err != nil {
			t.Errorf("the first that ended: %v", err)
		}
		if !tracing.Enabled() {
			t.Fatal("tracing ended with the first server")
		}
		<-get(t, shop.client(), "/")
		stopShop()
		if err := <-shopResult; err != nil {
			t.Errorf("the last that ended: %v", err)
		}
		if tracing.Enabled() {
			t.Error("enabled after Shutdown")
		}
		if d := tracing.Report().Destinations[0]; d.Exported != 1 {
			t.Errorf("account: %s", d)
		}
		if l := out.lines(t, "tracing stopped"); len(l) != 1 || l[0]["level"] != "INFO" {
			t.Errorf("the account's line: %v", l)
		}
	})
}

// What comes after the end is counted, and said once.
func TestSpansAfterTheEnd(t *testing.T) {
	t.Parallel()
	tracing, out := start(t, nil)
	_, open := tracing.TracerProvider().Tracer("test").Start(t.Context(), "open")
	if err := shutdown(t, tracing); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	open.End()
	if l := out.lines(t, "tracing stopped"); len(l) != 1 || l[0]["level"] != "WARN" {
		t.Errorf("the account of an open span: %v, want a warning", l)
	}
	makeSpans(t, tracing.TracerProvider(), 3)
	if l := out.lines(t, "span after the end of tracing"); len(l) != 1 || l[0]["level"] != "WARN" {
		t.Errorf("%d lines about spans after the end, want 1: %s", len(l), out)
	}
	if d := tracing.Report().Destinations[0]; d.Dropped != 3 || d.Ended != d.Exported+d.Failed+d.Dropped {
		t.Errorf("account: %s", d)
	}
}
