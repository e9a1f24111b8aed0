package middleware

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// loud implements every optional interface and keeps the names of the methods that were called.
type loud struct{ calls []string }

var errLoud = errors.New("loud")

func (l *loud) note(s string)                     { l.calls = append(l.calls, s) }
func (l *loud) Header() http.Header               { return http.Header{} }
func (l *loud) Write(p []byte) (int, error)       { l.note("Write " + string(p)); return len(p), nil }
func (l *loud) WriteHeader(int)                   { l.note("WriteHeader") }
func (l *loud) Flush()                            { l.note("Flush") }
func (l *loud) FlushError() error                 { l.note("FlushError"); return errLoud }
func (l *loud) CloseNotify() <-chan bool          { l.note("CloseNotify"); return nil }
func (l *loud) ReadFrom(io.Reader) (int64, error) { l.note("ReadFrom"); return 7, errLoud }
func (l *loud) SetReadDeadline(time.Time) error   { l.note("SetReadDeadline"); return errLoud }
func (l *loud) SetWriteDeadline(time.Time) error  { l.note("SetWriteDeadline"); return errLoud }
func (l *loud) EnableFullDuplex() error           { l.note("EnableFullDuplex"); return errLoud }
func (l *loud) Push(string, *http.PushOptions) error {
	l.note("Push")
	return errLoud
}

func (l *loud) WriteString(s string) (int, error) { l.note("WriteString"); return len(s), errLoud }

func (l *loud) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	l.note("Hijack")
	return nil, nil, errLoud
}

type (
	base = http.ResponseWriter
	f    = http.Flusher
	c    = http.CloseNotifier //nolint:staticcheck // it exists
	h    = http.Hijacker
	p    = http.Pusher

	// extras is what is not found by a direct assertion.
	extras interface {
		io.ReaderFrom
		io.StringWriter
		FlushError() error
		SetReadDeadline(time.Time) error
		SetWriteDeadline(time.Time) error
		EnableFullDuplex() error
	}
)

// inner is a writer with exactly the interfaces of has, and with or without the extras.
func inner(has uint8, extra bool, l *loud) http.ResponseWriter {
	plain := [...]http.ResponseWriter{
		struct{ base }{l},
		struct {
			base
			f
		}{l, l},
		struct {
			base
			c
		}{l, l},
		struct {
			base
			f
			c
		}{l, l, l},
		struct {
			base
			h
		}{l, l},
		struct {
			base
			f
			h
		}{l, l, l},
		struct {
			base
			c
			h
		}{l, l, l},
		struct {
			base
			f
			c
			h
		}{l, l, l, l},
		struct {
			base
			p
		}{l, l},
		struct {
			base
			f
			p
		}{l, l, l},
		struct {
			base
			c
			p
		}{l, l, l},
		struct {
			base
			f
			c
			p
		}{l, l, l, l},
		struct {
			base
			h
			p
		}{l, l, l},
		struct {
			base
			f
			h
			p
		}{l, l, l, l},
		struct {
			base
			c
			h
			p
		}{l, l, l, l},
		struct {
			base
			f
			c
			h
			p
		}{l, l, l, l, l},
	}
	if !extra {
		return plain[has]
	}
	return withExtras(has, l)
}

func withExtras(has uint8, l *loud) http.ResponseWriter {
	switch has {
	case 0:
		return struct {
			base
			extras
		}{l, l}
	case hasFlusher:
		return struct {
			base
			f
			extras
		}{l, l, l}
	case hasFlusher | hasHijacker:
		return struct {
			base
			f
			h
			extras
		}{l, l, l, l}
	case hasFlusher | hasPusher:
		return struct {
			base
			f
			p
			extras
		}{l, l, l, l}
	case hasFlusher | hasCloseNotifier | hasHijacker | hasPusher:
		return l
	}
	return nil // no server has such a writer
}

// direct are the interfaces that handlers assert, each with a call of every method.
var direct = []struct {
	name string
	has  func(any) bool
	call func(any) error
}{
	{"Flusher", is[http.Flusher], func(w any) error { as[http.Flusher](w).Flush(); return nil }},
	{"CloseNotifier", is[c], func(w any) error { as[c](w).CloseNotify(); return nil }},
	{"Hijacker", is[http.Hijacker], func(w any) error { _, _, err := as[http.Hijacker](w).Hijack(); return err }},
	{"Pusher", is[http.Pusher], func(w any) error { return as[http.Pusher](w).Push("", nil) }},
}

func is[T any](w any) bool { _, ok := w.(T); return ok }

// indirect are the ways to everything else that a writer may do.
var indirect = map[string]func(http.ResponseWriter) (int64, error){
	"Flush": func(w http.ResponseWriter) (int64, error) { return 0, http.NewResponseController(w).Flush() },
	"Hijack": func(w http.ResponseWriter) (int64, error) {
		_, _, err := http.NewResponseController(w).Hijack()
		return 0, err
	},
	"SetReadDeadline": func(w http.ResponseWriter) (int64, error) {
		return 0, http.NewResponseController(w).SetReadDeadline(time.Time{})
	},
	"SetWriteDeadline": func(w http.ResponseWriter) (int64, error) {
		return 0, http.NewResponseController(w).SetWriteDeadline(time.Time{})
	},
	"EnableFullDuplex": func(w http.ResponseWriter) (int64, error) { return 0, http.NewResponseController(w).EnableFullDuplex() },
	"Write":            func(w http.ResponseWriter) (int64, error) { n, err := w.Write([]byte("x")); return int64(n), err },
	"WriteString":      func(w http.ResponseWriter) (int64, error) { n, err := io.WriteString(w, "x"); return int64(n), err },
	"Copy": func(w http.ResponseWriter) (int64, error) {
		return io.Copy(w, io.LimitReader(strings.NewReader("x"), 9))
	},
	"Copy of nothing": func(w http.ResponseWriter) (int64, error) {
		return io.Copy(w, io.LimitReader(strings.NewReader("x"), 0))
	},
	"Copy of a WriterTo":   func(w http.ResponseWriter) (int64, error) { return io.Copy(w, strings.NewReader("x")) },
	"Copy of a bad source": func(w http.ResponseWriter) (int64, error) { return io.Copy(w, badSource{}) },
}

type badSource struct{}

func (badSource) Read(p []byte) (int, error) { return copy(p, "x"), errSource }

var errSource = errors.New("source")

func eachInner(t *testing.T, check func(t *testing.T, has uint8, build func(*loud) http.ResponseWriter)) {
	t.Helper()
	for has := range uint8(1 << len(direct)) {
		for _, extra := range []bool{false, true} {
			if inner(has, extra, &loud{}) != nil {
				check(t, has, func(l *loud) http.ResponseWriter { return inner(has, extra, l) })
			}
		}
	}
}

// A handler finds the interfaces of the writer inside by a direct assertion, and no others.
func TestWriterHasTheInterfacesOfTheInner(t *testing.T) {
	t.Parallel()
	eachInner(t, func(t *testing.T, has uint8, build func(*loud) http.ResponseWriter) {
		t.Helper()
		in := build(&loud{})
		if got := optional(in); got != has {
			t.Fatalf("the test's writer %04b has %04b", has, got)
		}
		w := newTestWriter(in)
		ours := combine(w, has)
		if u, ok := ours.(interface{ Unwrap() http.ResponseWriter }); !ok || u.Unwrap() != in {
			t.Errorf("%04b: Unwrap does not lead to the writer inside", has)
		}
		for bit, ifc := range direct {
			if got, want := ifc.has(ours), has&(1<<bit) != 0; got != want {
				t.Errorf("%04b: %s: %t, want %t", has, ifc.name, got, want)
			}
		}
	})
}

// Whatever a handler does with the writer ends at the same methods of the writer inside, and returns the same, as
// without the middleware.
func TestWriterAnswersAsTheInner(t *testing.T) {
	t.Parallel()
	eachInner(t, func(t *testing.T, has uint8, build func(*loud) http.ResponseWriter) {
		t.Helper()
		compare := func(name string, call func(http.ResponseWriter) (int64, error)) {
			var without, with loud
			wantN, wantErr := call(build(&without))
			in := build(&with)
			gotN, gotErr := call(combine(newTestWriter(in), has))
			if gotN != wantN || fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
				t.Errorf("%04b: %s: %d, %v, want %d, %v", has, name, gotN, gotErr, wantN, wantErr)
			}
			if diff := cmp.Diff(without.calls, with.calls, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%04b: %s: calls (-without +with):\n%s", has, name, diff)
			}
		}
		for name, call := range indirect {
			compare(name, call)
		}
		for bit, ifc := range direct {
			if has&(1<<bit) == 0 || ifc.name == "Flusher" {
				continue
			}
			compare(ifc.name, func(w http.ResponseWriter) (int64, error) { return 0, ifc.call(w) })
		}
	})
}

// A direct Flush reaches the method that tells an error, where there is one: the span learns of it.
func TestFlushTellsItsError(t *testing.T) {
	t.Parallel()
	for _, extra := range []bool{false, true} {
		var l loud
		w := newTestWriter(inner(hasFlusher, extra, &l))
		as[http.Flusher](combine(w, hasFlusher)).Flush()
		want, failed := []string{"Flush"}, error(nil)
		if extra {
			want, failed = []string{"FlushError"}, errLoud
		}
		if !slices.Equal(l.calls, want) {
			t.Errorf("calls %q, want %q", l.calls, want)
		}
		if got := w.x.Load().response.err.get(); !errors.Is(got, failed) {
			t.Errorf("the span's error is %v, want %v", got, failed)
		}
	}
}
