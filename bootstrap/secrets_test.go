package bootstrap_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/env"
)

// everything is all that a program can get to see of tracing: what it logs, what
// Shutdown returns with each error inside, plan, report and destination.
func everything(t *testing.T, tracing *bootstrap.Tracing, out *logs, errs ...error) string {
	t.Helper()
	var b strings.Builder
	for _, err := range errs {
		for _, e := range chain(err) {
			fmt.Fprintf(&b, "%v %+v %q\n", e, e, e)
		}
	}
	for _, v := range []any{tracing.Plan(), tracing.Report()} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Error(err)
		}
		b.Write(text)
		fmt.Fprintf(&b, "\n%v\n", v)
	}
	fmt.Fprintln(&b, tracing.Destination())
	b.WriteString(out.String())
	return b.String()
}

// chain is err and every error in it.
func chain(err error) []error {
	switch e := err.(type) { //nolint:errorlint // the tree itself is walked
	case nil:
		return nil
	case interface{ Unwrap() error }:
		return append(chain(e.Unwrap()), err)
	case interface{ Unwrap() []error }:
		all := []error{err}
		for _, sub := range e.Unwrap() {
			all = append(all, chain(sub)...)
		}
		return all
	}
	return []error{err}
}

// misplaced are credentials in a variable that is for something else.
func misplaced(secret string) []string {
	return []string{
		"api-key=" + secret, "Authorization: Bearer " + secret, "Bearer " + secret, "https://u:" + secret + "@h", "https://u%3A" + secret + "%40h",
		"u:" + secret + "@h:4318", "https://h:4318/?api-key=" + secret, "sk-live-" + secret, "team=a,token=" + secret,
	}
}

func TestPlanShowsNoCredentialInTheWrongVariable(t *testing.T) {
	t.Parallel()
	const secret = "8f3bQzX71kLm"
	for _, v := range env.Variables("shop") {
		if v.Name == "SHOP_TRACING" {
			continue // off then
		}
		for _, value := range misplaced(secret) {
			p := plan(env.Map{"OTEL_EXPORTER_OTLP_ENDPOINT": "https://h:4318", v.Name: value}, alsoFile)
			text, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			if all := string(text) + p.String(); strings.Contains(all, secret) {
				t.Errorf("%s=%q is shown:\n%s", v.Name, value, p)
			}
		}
	}
}

// A credential that became a file's path, a service's name or an attribute is in
// no line of the log, and in no error of the system.
func TestStartShowsNoCredentialInTheWrongVariable(t *testing.T) {
	t.Parallel()
	const secret = "8f3bQzX71kLm"
	dir := t.TempDir()
	for _, key := range []string{"SHOP_TRACES_FILE", "SHOP_PROFILE_DIR", "OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES", "XDG_STATE_HOME"} {
		for _, value := range []string{"api-key=" + secret, "Bearer " + secret} {
			t.Run(key+"="+value, func(t *testing.T) {
				t.Parallel()
				vars := env.Map{key: value}
				switch key {
				case "SHOP_TRACES_FILE", "SHOP_PROFILE_DIR":
					vars[key] = dir + "/missing\x00/" + value // no system has such a folder
				}
				tracing, out := start(t, vars)
				makeSpans(t, tracing.TracerProvider(), 1)
				err := shutdown(t, tracing)
				if all := everything(t, tracing, out, err); strings.Contains(all, secret) {
					t.Errorf("the credential is shown:\n%s", all)
				}
			})
		}
	}
}

// The variables of other programs' proxies hold passwords, too.
func TestProxyPasswordIsASecret(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://ada:"+url.QueryEscape("p4ss/w0rd-71")+"@127.0.0.1:1")
	tracing, out := start(t, env.Map{"OTEL_EXPORTER_OTLP_ENDPOINT": "https://collector.example.com"})
	tracing.OnShutdown(func(context.Context) error { return errors.New("proxy refused ada with p4ss/w0rd-71") })
	err := shutdown(t, tracing)
	if all := everything(t, tracing, out, err); strings.Contains(all, "w0rd") || !strings.Contains(all, "proxy refused") {
		t.Errorf("want the error without the password:\n%s", all)
	}
}

// What others wrote reaches no terminal as a control sequence, and makes no line
// of its own.
func TestPlanIsPrintable(t *testing.T) {
	t.Parallel()
	lines := func(app, name string) int {
		text := bootstrap.Explain(bootstrap.Config{App: app, Lookup: env.Map{
			env.Prefix(app) + "_TRACING": "1", env.Prefix(app) + "_TRACNG" + name: "1",
			env.Prefix(app) + "_TRACES_FILE": "/x" + name, "OTEL_SERVICE_NAME": "s" + name, "OTEL_EXPORTER_OTLP_ENDPOINT": "h" + name,
		}}).String()
		for _, r := range text {
			if r < ' ' && r != '\n' || r == '\u202e' || r == '\u2028' || r == '\x7f' || r == '\u009b' {
				t.Errorf("App %q: %U is in the plan:\n%q", app, r, text)
			}
		}
		return strings.Count(text, "\n")
	}
	const evil = "\x1b[2J\r\nfindings:\n\u202e\u2028\u009b\x7f"
	if got, want := lines("shop"+evil, "\n"), lines("shop", "S"); got != want {
		t.Errorf("%d lines, want %d as for an ordinary App", got, want)
	}
}
