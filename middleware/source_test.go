package middleware_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/waymark-trace/waymark/capture/capturetest"
)

// reading is a reader and no more.
type reading struct{ io.Reader }

// A source of the handler's that fails is no failure to send, by whichever way net/http copies it.
func TestAFailedSourceIsNoFailedWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	failing := iotest.ErrReader(errors.New("disk on fire"))
	long := strings.Repeat("x", 100_000)
	open := func(t *testing.T, name string, flag int) *os.File {
		t.Helper()
		f, err := os.OpenFile(name, flag|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	sources := map[string]func(*testing.T) io.Reader{
		"at once":        func(*testing.T) io.Reader { return failing },
		"after a little": func(*testing.T) io.Reader { return reading{io.MultiReader(strings.NewReader("ok"), failing)} },
		"after much":     func(*testing.T) io.Reader { return reading{io.MultiReader(strings.NewReader(long), failing)} },
		"limited": func(*testing.T) io.Reader {
			return io.LimitReader(reading{io.MultiReader(strings.NewReader(long), failing)}, 1<<20)
		},
		"folder": func(t *testing.T) io.Reader {
			t.Helper()
			f, _ := os.Open(dir)
			t.Cleanup(func() { _ = f.Close() })
			return f
		},
		"closed file": func(t *testing.T) io.Reader {
			t.Helper()
			f := open(t, filepath.Join(dir, "a"), os.O_RDWR)
			_ = f.Close()
			return f
		},
		"file to write to": func(t *testing.T) io.Reader { t.Helper(); return open(t, filepath.Join(dir, "b"), os.O_WRONLY) },
		"part of a closed one": func(t *testing.T) io.Reader {
			t.Helper()
			f := open(t, filepath.Join(dir, "c"), os.O_RDWR)
			_ = f.Close()
			return io.LimitReader(f, 10)
		},
	}
	for name, source := range sources {
		for _, version := range []string{"1.1", "2"} {
			for _, sized := range []bool{false, true} {
				t.Run(name+" "+version+map[bool]string{true: ", sized"}[sized], func(t *testing.T) {
					t.Parallel()
					_, tr := capturetest.Start(t)
					failed := make(chan error, 1)
					srv := serveVersion(t, version, wrap(tr, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
						if sized {
							w.Header().Set("Content-Length", "200000")
							_ = http.NewResponseController(w).Flush()
						}
						_, err := io.Copy(w, source(t))
						failed <- err
					})))
					quiet(srv)
					resp, err := srv.Client().Get(srv.URL)
					if err == nil {
						_, _ = io.Copy(io.Discard, resp.Body)
						_ = resp.Body.Close()
					}
					if err := <-failed; err == nil {
						t.Error("the copy has not failed")
					}
					tr.Wait("GET", 1).NoErr().Attr("http.response.status_code", 200).NoAttr("error.type")
				})
			}
		}
	}
}

// A response that cannot be sent still is one, whatever it is copied from.
func TestAFailedWriteOfASource(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]func(*testing.T) io.Reader{
		"reader": func(*testing.T) io.Reader { return reading{neverEnding{}} },
		"reader that ends with its data": func(*testing.T) io.Reader {
			return reading{iotest.DataErrReader(strings.NewReader(strings.Repeat("x", 1000)))}
		},
		"file": func(t *testing.T) io.Reader {
			t.Helper()
			f, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = f.Close() })
			return f
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, tr := capturetest.Start(t)
			srv := serve(t, wrap(tr, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "10000000")
				c := http.NewResponseController(w)
				_ = c.Flush()
				_ = c.SetWriteDeadline(time.Now().Add(-time.Second))
				if _, err := io.Copy(w, source(t)); err == nil {
					t.Error("the copy has not failed")
				}
			})))
			quiet(srv)
			c := dial(t, srv)
			c.send("GET / HTTP/1.1", "Host: a")
			tr.Wait("GET", 1).Err().Attr("error.type", "timeout").Attr("http.response.status_code", 200)
		})
	}
}

type neverEnding struct{}

func (neverEnding) Read(p []byte) (int, error) { return len(p), nil }
