package middleware_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/capture/capturetest"
)

// A stack shows the labels of its goroutine when the program wants that.
func TestNoSecretOfALabelIsRecorded(t *testing.T) {
	t.Setenv("GODEBUG", "tracebacklabels=1")
	_, tr := capturetest.Start(t)
	h := wrap(tr, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("x") }))
	pprof.Do(t.Context(), pprof.Labels("url", "https://u:S3NT1N3L@h/a?token=S3NT1N3L&b=1"), func(context.Context) {
		defer func() { _ = recover() }()
		h.ServeHTTP(httptest.NewRecorder(), get("/"))
	})
	span := tr.Span("GET").One()
	for _, e := range span.Events {
		for _, kv := range e.Attributes {
			if kv.Key != "exception.stacktrace" {
				continue
			}
			stack := kv.Value.AsString()
			if strings.Contains(stack, "S3NT1N3L") || !strings.Contains(stack, "https://REDACTED@h/a?token=REDACTED&b=1") {
				t.Errorf("the stack is %s", stack)
			}
			return
		}
	}
	t.Error("no stack was recorded")
}
