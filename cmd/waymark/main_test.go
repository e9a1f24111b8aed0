package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/waymark-trace/waymark/internal/testspans"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"waymark": main, "mkspans": mkspans, "tear": tear})
}

// TestScripts runs testdata/*.txtar, a script per behavior. UPDATE=1 rewrites
// what they compare with.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       os.Getenv("UPDATE") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("XDG_STATE_HOME", e.WorkDir+"/state")
			e.Values[receiverKey{}] = &holder{}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"collector": collector, "schema": schema},
	})
}

// mkspans is a command of the scripts: mkspans SCENARIO FILE.
func mkspans() {
	var b bytes.Buffer
	var err error
	switch os.Args[1] {
	case "shop":
		err = testspans.Write(&b, testspans.Shop())
	case "shop-stdout":
		err = testspans.WriteStdout(&b, testspans.Shop())
	case "bad":
		err = testspans.Write(&b, testspans.Bad())
	default:
		err = fmt.Errorf("no scenario %q", os.Args[1])
	}
	if err == nil {
		err = os.WriteFile(os.Args[2], b.Bytes(), 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mkspans:", err)
		os.Exit(1)
	}
}

// TestUsageInComment holds the package comment to the usage text.
func TestUsageInComment(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("usage.go")
	if err != nil {
		t.Fatal(err)
	}
	comment, _, _ := strings.Cut(string(source), "package main")
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	comment = squeeze(strings.NewReplacer("//", "").Replace(comment))
	text := squeeze(strings.NewReplacer("usage:", "").Replace(usage))
	if !strings.Contains(comment, text) {
		t.Errorf("the package comment does not hold the usage text:\n%s", usage)
	}
}

// tear is a command of the scripts: tear FILE makes FILE end in half a line,
// with a line of metrics before it, as a file does that is being written.
func tear() {
	b, err := os.ReadFile(os.Args[1])
	if err == nil {
		b = append(b, "{\"resourceMetrics\":[]}\n"...)
		b = append(b, b[:40]...)
		err = os.WriteFile(os.Args[1], b, 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tear:", err)
		os.Exit(1)
	}
}
