// Analyze_traces opens the spans of an App without being told where they are: it
// prints a summary and writes an HTML report.
//
// Usage:
//
//	analyze_traces [flags] [FILE …]
//
// Flags:
//
//	-app NAME    the App (default: $WAYMARK_APP, else the one that wrote last)
//	-o FILE      the report (default: report.html in the App's folder of traces, or
//	             for a FILE in the current folder)
//	-watch [D]   again whenever the spans have changed, looking every 2s, 5s
//	             (default) or 10s, until interrupted
//
// The report is for its owner alone, as the spans are. The exit status is 0 when
// all went well, 1 when something failed, 2 for wrong usage. `waymark` does more.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/spansource"
	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/traces/render"
)

const usage = `usage: analyze_traces [flags] [FILE …]

Prints a summary of an App's spans and writes an HTML report.

  -app NAME    the App (default: $WAYMARK_APP, else the one that wrote last)
  -o FILE      the report (default: report.html in the App's folder of traces, or
               for a FILE in the current folder)
  -watch [D]   again whenever the spans have changed, looking every 2s, 5s
               (default) or 10s, until interrupted
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, env.Process()))
}

// options are the flags.
type options struct {
	app, out string
	watch    time.Duration // 0: once
	files    []string
}

const defaultWatch = 5 * time.Second

// errUsage is wrong usage.
var errUsage = errors.New("usage")

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("analyze_traces", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.app, "app", "", "")
	flags.StringVar(&o.out, "o", "", "")
	flags.BoolFunc("watch", "", o.setWatch)
	if err := flags.Parse(joinWatch(args)); errors.Is(err, flag.ErrHelp) {
		return o, err
	} else if err != nil {
		return o, fmt.Errorf("%w: %w", errUsage, err)
	}
	o.files = flags.Args()
	if o.app != "" && len(o.files) > 0 {
		return o, fmt.Errorf("%w: %w", errUsage, spansource.ErrBoth)
	}
	return o, nil
}

func (o *options) setWatch(text string) error {
	if text == "true" { // -watch alone
		o.watch = defaultWatch
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d != 2*time.Second && d != defaultWatch && d != 10*time.Second {
		return errors.New("want 2s, 5s or 10s")
	}
	o.watch = d
	return nil
}

// joinWatch makes one word of "-watch 2s": package flag knows no flag whose value
// may be missing.
func joinWatch(args []string) []string {
	args = slices.Clone(args)
	for i := 0; i+1 < len(args); i++ {
		if args[i] != "-watch" && args[i] != "--watch" {
			continue
		}
		if _, err := time.ParseDuration(args[i+1]); err == nil {
			args[i] += "=" + args[i+1]
			args = slices.Delete(args, i+1, i+2)
		}
	}
	return args
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, lookup env.Lookup) int {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, usage)
		return 0
	}
	warn := func(text string) { fmt.Fprintln(stderr, "analyze_traces: "+render.FormatName(text)) }
	if err != nil {
		warn(err.Error() + " (-h explains)")
		return 2
	}
	a := &analysis{options: o, stdin: stdin, stdout: stdout, warn: warn, lookup: lookup}
	if o.watch > 0 {
		err = a.watchFiles(ctx)
	} else {
		err = a.once(ctx)
	}
	if err != nil {
		for _, line := range terminal.Messages(err) {
			warn(line)
		}
		return 1
	}
	return 0
}

// report is where the report of a source goes.
func (o options) report(src *spansource.Source) string {
	const name = "report.html"
	switch {
	case o.out != "":
		return o.out
	case len(o.files) > 0:
		return name // a folder of other files is not ours to add to
	}
	path := src.Paths()[0]
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		path = filepath.Dir(path)
	}
	return filepath.Join(path, name)
}
