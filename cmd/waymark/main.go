package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/terminal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The second signal ends the program at once, and so does the first one when
	// the program waits for input: nothing ends a read from a pipe.
	context.AfterFunc(ctx, func() {
		stop()
		time.Sleep(grace)
		fmt.Fprintln(os.Stderr, "waymark: interrupted")
		os.Exit(exitFailed)
	})
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, env.Process()))
}

// grace is how long a command may take to end when it is interrupted.
const grace = 2 * time.Second

// The exit status.
const (
	exitClean  = 0
	exitFailed = 1
	exitUsage  = 2
)

// errFindings ends a command that did its work and has found something, or was
// refused something, all of which is printed already.
var errFindings = errors.New("findings")

// usageError is wrong usage.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// verb is one thing that the command does.
type verb struct {
	name  string
	usage string
	run   func(ctx context.Context, c *call, args []string) error
}

func verbs() []verb {
	return []verb{
		{"tree", treeUsage, runTree},
		{"list", listUsage, runList},
		{"routes", routesUsage, runRoutes},
		{"show", showUsage, runShow},
		{"errors", errorsUsage, runErrors},
		{"hints", hintsUsage, runHints},
		{"diff", diffUsage, runDiff},
		{"rate", rateUsage, runRate},
		{"stats", statsUsage, runStats},
		{"convert", convertUsage, runConvert},
		{"html", htmlUsage, runHTML},
		{"check", checkUsage, runCheck},
		{"send", sendUsage, runSend},
		{"tail", tailUsage, runTail},
		{"env", envUsage, runEnv},
		{"version", versionUsage, runVersion},
	}
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, lookup env.Lookup) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return exitUsage
	}
	switch args[0] {
	case "-h", "-help", "--help", "help":
		if _, err := fmt.Fprint(stdout, usage); err != nil {
			return exitFailed
		}
		return exitClean
	}
	name := args[0]
	if name == "-version" || name == "--version" {
		name = "version"
	}
	for _, v := range verbs() {
		if v.name == name {
			c := newCall(v, stdin, stdout, stderr, lookup)
			err := v.run(ctx, c, args[1:])
			c.progress.end()
			return c.status(err)
		}
	}
	fmt.Fprintf(stderr, "waymark: there is no %q (waymark -h lists what there is)\n", terminal.Cut(args[0], 40))
	return exitUsage
}

// status prints what went wrong, once, and returns the exit status.
func (c *call) status(err error) int {
	switch {
	case err == nil:
		return exitClean
	case errors.Is(err, flag.ErrHelp):
		_, err := fmt.Fprint(c.stdout, c.verb.usage)
		return c.status(err)
	case errors.Is(err, errFindings):
		return exitFailed
	case errors.Is(err, syscall.EPIPE):
		// Whoever read the output has seen enough, like head.
		return exitClean
	case errors.Is(err, context.Canceled):
		c.warn("interrupted")
		return exitFailed
	case errors.As(err, new(usageError)):
		c.warn("%s: %v (waymark %[1]s -h explains)", c.verb.name, err)
		return exitUsage
	default:
		for _, line := range terminal.Messages(err) {
			c.warn("%s", line)
		}
		return exitFailed
	}
}
