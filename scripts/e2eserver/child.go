package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/middleware"
)

// carried are the variables that carry a trace to a child process.
// Spec: https://github.com/open-telemetry/opentelemetry-specification/blob/v1.60.0/specification/context/env-carriers.md
func carried() []string { return []string{"TRACEPARENT", "TRACESTATE", "BAGGAGE"} }

// child runs this program once more, as a child that makes one span, and
// answers when it has ended. The request may set variables of the child.
func (s *server) child(w http.ResponseWriter, r *http.Request) {
	program, err := os.Executable()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	cmd := exec.CommandContext(r.Context(), program, "-child")
	cmd.Env = os.Environ()
	for name, value := range middleware.Inject(r.Context()) {
		cmd.Env = append(cmd.Env, strings.ToUpper(name)+"="+value)
	}
	for name, values := range r.URL.Query() {
		cmd.Env = append(cmd.Env, name+"="+values[0]) // the last one counts
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		http.Error(w, fmt.Sprintf("%v\n%s", err, out), http.StatusInternalServerError)
		return
	}
	fmt.Fprintln(w, "child ended")
}

// runChild is the child: a span below whatever the variables carry.
func runChild(ctx context.Context, cfg bootstrap.Config) error {
	tracing, err := bootstrap.Start(ctx, cfg)
	headers := map[string]string{}
	for _, name := range carried() {
		if value := os.Getenv(name); value != "" {
			headers[name] = value
		}
	}
	ctx = middleware.Extract(ctx, headers)
	_, span := tracing.TracerProvider().Tracer(scopeName).Start(ctx, "work of the child")
	span.End()
	return errors.Join(err, tracing.Shutdown(ctx))
}
