package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/waymark-trace/waymark/internal/planted"
	"github.com/waymark-trace/waymark/internal/testspans"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"waymark": main,
		"mkspans": func() { os.Exit(failed("mkspans", mkspans(os.Args[1], os.Args[2]))) },
		"planted": func() { os.Exit(failed("planted", writePlanted(os.Args[1:]))) },
		"unpack":  func() { os.Exit(failed("unpack", unpack(os.Args[1]))) },
		"tear":    func() { os.Exit(failed("tear", tear(os.Args[1]))) },
	})
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

func failed(name string, err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, name+":", err)
	return 1
}

// writePlanted is a command of the scripts: planted FILE bad|healthy SEED [SLOWER].
func writePlanted(args []string) error {
	o := planted.Options{Requests: 100, Healthy: args[1] == "healthy"}
	var err error
	if o.Seed, err = strconv.ParseUint(args[2], 10, 64); err != nil {
		return err
	}
	if len(args) > 3 {
		if o.Slower, err = time.ParseDuration(args[3]); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	spans, _ := planted.Spans(o)
	if _, err := tracefile.Write(&b, tracefile.OTLPJSONLines, tracefile.Seq(spans)); err != nil {
		return err
	}
	return os.WriteFile(args[0], b.Bytes(), 0o600)
}

// mkspans is a command of the scripts: mkspans SCENARIO FILE.
func mkspans(scenario, file string) error {
	var b bytes.Buffer
	var err error
	switch scenario {
	case "shop":
		err = testspans.Write(&b, testspans.Shop())
	case "shop-stdout":
		err = testspans.WriteStdout(&b, testspans.Shop())
	case "bad":
		err = testspans.Write(&b, testspans.Bad())
	default:
		err = fmt.Errorf("no scenario %q", scenario)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o600)
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
func tear(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	b = append(b, "{\"resourceMetrics\":[]}\n"...)
	return os.WriteFile(file, append(b, b[:40]...), 0o600)
}

// unpack is a command of the scripts: unpack FILE prints the data of an HTML report.
func unpack(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return unpackTo(os.Stdout, b)
}

func unpackTo(w io.Writer, page []byte) error {
	_, data, _ := bytes.Cut(page, []byte(`id="data">`))
	data, _, _ = bytes.Cut(data, []byte("</script>"))
	zip, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(data)))
	if err != nil {
		return err
	}
	_, err = io.Copy(w, zip)
	return err
}
