package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

// The annotated route says who asked, what, and what the answer was.
func TestAsk(t *testing.T) {
	tracing, err := bootstrap.Start(t.Context(), bootstrap.Config{
		App: "demo", NoGlobals: true, Lookup: env.Map{"DEMO_TRACING": "true", "XDG_STATE_HOME": t.TempDir()},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, handler := newShop(tracing, "http://unused")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/ask/ada", http.NoBody))
	if err := tracing.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	spans, _, err := tracefile.ReadAll(tracing.Destination())
	if err != nil || len(spans) != 2 {
		t.Fatalf("%d spans, %v", len(spans), err)
	}
	for _, s := range spans {
		user, _ := s.Attr("user.id")
		out, streamed := s.Attr("output.value")
		if user.AsString() != "ada" || streamed != (s.Name == "advise") || streamed && out.AsString() != w.Body.String() {
			t.Errorf("%s: user %q, output %q", s.Name, user.AsString(), out.AsString())
		}
	}
}
