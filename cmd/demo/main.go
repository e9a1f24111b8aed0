// Demo is a small traced shop: a fast route, one with child spans and a call to
// itself, a slow one, one that fails, one that panics, and a stream.
//
// Usage:
//
//	demo [flags]
//
// Flags:
//
//	-app NAME         the App: names the variables, the service and the folder (default demo)
//	-addr HOST:PORT   where to listen (default localhost:8080)
//	-explain          print what tracing would do and why, and exit
//	-profile-dir DIR  write profiles there on graceful exit (as <APP>_PROFILE_DIR does)
//	-self-load N      call the shop N times on a free port, stop, and show the account and the first trace
//
// DEMO_TRACING=true switches tracing on; the OTEL_* variables say where spans
// go. The exit status is 0 when all went well, 1 when something failed or
// -self-load lost a span, 2 for wrong usage.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"

	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/env"
)

const usage = `usage: demo [flags]

A small traced shop. DEMO_TRACING=true switches tracing on.

  -app NAME         the App: names the variables, the service and the folder (default demo)
  -addr HOST:PORT   where to listen (default localhost:8080)
  -explain          print what tracing would do and why, and exit
  -profile-dir DIR  write profiles there on graceful exit (as <APP>_PROFILE_DIR does)
  -self-load N      call the shop N times on a free port, stop, and show the account and the first trace
`

func main() {
	// Signals are Serve's: the first drains and flushes, the second ends at once.
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr, env.Process()))
}

// options are the flags.
type options struct {
	app, addr, profileDir string
	explain               bool
	selfLoad              int
}

// errUsage is a usage error that has been printed.
var errUsage = errors.New("usage")

func parse(args []string, stdout, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.app, "app", "demo", "")
	flags.StringVar(&o.addr, "addr", "localhost:8080", "")
	flags.StringVar(&o.profileDir, "profile-dir", "", "")
	flags.BoolVar(&o.explain, "explain", false, "")
	flags.IntVar(&o.selfLoad, "self-load", 0, "")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
	case err != nil:
		fmt.Fprintf(stderr, "demo: %v\n", err)
		return o, errUsage
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "demo: unexpected argument %q\n", flags.Arg(0))
		return o, errUsage
	case o.selfLoad < 0:
		fmt.Fprintf(stderr, "demo: -self-load %d: want a number of requests\n", o.selfLoad)
		return o, errUsage
	}
	return o, err
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer, lookup env.Lookup) int {
	o, err := parse(args, stdout, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return 2
	}
	o.app = bootstrap.Explain(bootstrap.Config{App: o.app, Lookup: lookup}).App // a blank one gets a name
	logger := slog.New(slog.NewTextHandler(stderr, nil))
	cfg := bootstrap.Config{App: o.app, Logger: logger, Lookup: withProfileDir(lookup, o)}
	if o.explain {
		fmt.Fprint(stdout, bootstrap.Explain(cfg))
		return 0
	}
	if o.selfLoad > 0 {
		o.addr = "localhost:0"
	}
	if err := serve(ctx, o, cfg, stdout); err != nil {
		fmt.Fprintf(stderr, "demo: %v\n", err)
		return 1
	}
	return 0
}

func serve(ctx context.Context, o options, cfg bootstrap.Config, stdout io.Writer) error {
	tracing, err := bootstrap.Start(ctx, cfg)
	if err != nil {
		cfg.Logger.Error("tracing", slog.Any("err", err))
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.addr)
	if err != nil {
		return errors.Join(err, tracing.Shutdown(ctx))
	}
	shop, handler := newShop(tracing, "http://"+listener.Addr().String())
	srv := &http.Server{Handler: handler, ReadHeaderTimeout: readHeaderTimeout, ErrorLog: errorLog(cfg.Logger, o)}
	if o.selfLoad > 0 {
		return selfLoad(ctx, tracing, shop, srv, listener, o, stdout)
	}
	greet(stdout, tracing, shop.baseURL, o.app)
	return tracing.ServeListener(ctx, srv, listener)
}
