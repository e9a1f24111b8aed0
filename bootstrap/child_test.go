package bootstrap_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/bootstrap"
)

// scenarios run in a process of their own, with the process's own variables.
// What they print to standard error is the program's log.
func scenarios() map[string]func() error {
	return map[string]func() error{
		"globals":            childGlobals,
		"off":                childOff,
		"foreign":            childForeign,
		"foreign force":      childForeignForce,
		"foreign opaque":     childForeignOpaque,
		"foreign propagator": childForeignPropagator,
		"stand-in":           childStandIn,
		"without spans":      childWithoutSpans,
		"spans":              childSpans,
		"errors":             childErrors,
		"idle":               childIdle,
		"serve":              childServe,
		"default log":        childDefaultLog,
		"default log late":   childDefaultLogLate,
		"homeless":           childHomeless,
		"own lookup":         childOwnLookup,
	}
}

func runChild(name string) int {
	scenario := scenarios()[name]
	if scenario == nil {
		fmt.Fprintln(os.Stderr, "no scenario", name)
		return 2
	}
	if err := scenario(); err != nil {
		fmt.Fprintln(os.Stderr, "FAIL", err)
		return 1
	}
	return 0
}

// child is a scenario that runs.
type child struct {
	cmd *exec.Cmd
	out bytes.Buffer // standard error
}

// newChild prepares a scenario with these variables and no others.
func newChild(t *testing.T, name string, vars ...string) *child {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(cancel)
	c := &child{cmd: exec.CommandContext(ctx, os.Args[0])}
	home := t.TempDir()
	c.cmd.Env = append([]string{childKey + "=" + name, "HOME=" + home, "SHOP_TRACING=true"}, vars...)
	c.cmd.Stderr = &c.out
	return c
}

// run waits for the end of the scenario and returns its standard output.
func (c *child) run(t *testing.T) (stdout, stderr string) {
	t.Helper()
	var out bytes.Buffer
	c.cmd.Stdout = &out
	if err := c.cmd.Run(); err != nil {
		t.Fatalf("%s: %v\nstdout: %s\nstderr: %s", c.cmd.Env[0], err, &out, &c.out)
	}
	return out.String(), c.out.String()
}

func childConfig() bootstrap.Config {
	return bootstrap.Config{App: "shop", Logger: slog.New(slog.NewJSONHandler(os.Stderr, nil))}
}

// check collects what is wrong in a scenario.
type check struct {
	mu   sync.Mutex
	errs []error
}

func (c *check) that(ok bool, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !ok {
		c.errs = append(c.errs, fmt.Errorf(format, args...))
	}
}

func (c *check) err() error { return errors.Join(c.errs...) }

func TestInAProcessOfItsOwn(t *testing.T) {
	t.Parallel()
	for name, vars := range map[string][]string{
		"globals":            nil,
		"off":                {"SHOP_TRACING=false"},
		"foreign":            {"OTEL_SERVICE_NAME=till", "OTEL_TRACES_SAMPLER=always_off", "OTEL_TRACES_EXPORTER=otlp/stdout"},
		"foreign force":      {"OTEL_TRACES_EXPORTER=otlp/stdout"},
		"foreign opaque":     nil,
		"foreign propagator": {"OTEL_TRACES_EXPORTER=otlp/stdout"},
		"stand-in":           {"OTEL_TRACES_EXPORTER=otlp/stdout"},
		"without spans":      {"OTEL_SDK_DISABLED=true"},
		"default log":        nil,
		"homeless":           {"HOME="},
		"default log late":   {"SHOP_TRACES_MAX_BYTES=many"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, stderr := newChild(t, name, vars...).run(t)
			switch name {
			case "foreign":
				for _, want := range []string{"OTEL_SERVICE_NAME", "OTEL_TRACES_SAMPLER", "Config.Version", "the program's provider rules"} {
					if !strings.Contains(stderr, want) {
						t.Errorf("no %s in the log:\n%s", want, stderr)
					}
				}
			case "off":
				if stderr != "" {
					t.Errorf("a program that is off printed:\n%s", stderr)
				}
			}
		})
	}
}
