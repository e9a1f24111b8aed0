package middleware_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/capture/capturetest"
)

var errSource = errors.New("the store is gone")

// A handler that copies out of a source of its own: when that fails, no write has failed, over no protocol.
func TestSourceThatFailsIsNoFailedWrite(t *testing.T) {
	t.Parallel()
	folder, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	half := func() io.Reader {
		return io.MultiReader(strings.NewReader(strings.Repeat("x", 8192)), errReader{errSource})
	}
	for name, src := range map[string]func() io.Reader{
		"at once":          func() io.Reader { return errReader{errSource} },
		"half-way":         half,
		"limited":          func() io.Reader { return io.LimitReader(half(), 1<<20) },
		"a folder":         func() io.Reader { return folder },
		"a limited folder": func() io.Reader { return io.LimitReader(folder, 10) },
	} {
		for _, version := range []string{"1.1", "2"} {
			t.Run(name+" "+version, func(t *testing.T) {
				t.Parallel()
				_, tr := capturetest.Start(t)
				var copied error
				srv := serveVersion(t, version, wrap(tr, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					_, copied = io.Copy(w, src())
				})))
				resp, err := srv.Client().Get(srv.URL)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				tr.Wait("GET", 1)
				if copied == nil {
					t.Error("the handler got no error")
				}
				tr.Span("GET").NoErr().NoAttr("error.type")
			})
		}
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }
