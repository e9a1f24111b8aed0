package middleware

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/felixge/httpsnoop"
	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/trace/noop"
)

// loud implements every optional interface and says which method was called.
type loud struct{ called *string }

func (l loud) note(s string)                     { *l.called = s }
func (l loud) Header() http.Header               { l.note("Header"); return http.Header{} }
func (l loud) Write(p []byte) (int, error)       { l.note("Write"); return len(p), nil }
func (l loud) WriteHeader(int)                   { l.note("WriteHeader") }
func (l loud) Flush()                            { l.note("Flush") }
func (l loud) FlushError() error                 { l.note("FlushError"); return errLoud }
func (l loud) CloseNotify() <-chan bool          { l.note("CloseNotify"); return nil }
func (l loud) ReadFrom(io.Reader) (int64, error) { l.note("ReadFrom"); return 7, errLoud }
func (l loud) SetReadDeadline(time.Time) error   { l.note("SetReadDeadline"); return errLoud }

func (l loud) SetWriteDeadline(time.Time) error { l.note("SetWriteDeadline"); return errLoud }

func (l loud) EnableFullDuplex() error              { l.note("EnableFullDuplex"); return errLoud }
func (l loud) Push(string, *http.PushOptions) error { l.note("Push"); return errLoud }
func (l loud) WriteString(s string) (int, error)    { l.note("WriteString"); return len(s), errLoud }

func (l loud) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	l.note("Hijack")
	return nil, nil, errLoud
}

var errLoud = errors.New("loud")

type (
	flushErrorer interface{ FlushError() error }
	fullDuplexer interface{ EnableFullDuplex() error }
)

// interfaces are the optional interfaces in the order of the bits, each with a call of every method.
var interfaces = []struct {
	typ   reflect.Type
	calls map[string]func(any) error
}{
	{reflect.TypeFor[http.Flusher](), map[string]func(any) error{"Flush": func(w any) error { as[http.Flusher](w).Flush(); return errLoud }}},
	{reflect.TypeFor[flushErrorer](), map[string]func(any) error{"FlushError": func(w any) error { return as[flushErrorer](w).FlushError() }}},
	{reflect.TypeFor[http.CloseNotifier](), map[string]func(any) error{"CloseNotify": func(w any) error { //nolint:staticcheck // it exists
		as[http.CloseNotifier](w).CloseNotify() //nolint:staticcheck // it exists
		return errLoud
	}}},
	{reflect.TypeFor[http.Hijacker](), map[string]func(any) error{"Hijack": func(w any) error { _, _, err := as[http.Hijacker](w).Hijack(); return err }}},
	{reflect.TypeFor[io.ReaderFrom](), map[string]func(any) error{"ReadFrom": func(w any) error {
		n, err := as[io.ReaderFrom](w).ReadFrom(nil)
		if n != 7 {
			return fmt.Errorf("n = %d", n)
		}
		return err
	}}},
	{reflect.TypeFor[deadliner](), map[string]func(any) error{
		"SetReadDeadline":  func(w any) error { return as[deadliner](w).SetReadDeadline(time.Time{}) },
		"SetWriteDeadline": func(w any) error { return as[deadliner](w).SetWriteDeadline(time.Time{}) },
	}},
	{reflect.TypeFor[fullDuplexer](), map[string]func(any) error{"EnableFullDuplex": func(w any) error { return as[fullDuplexer](w).EnableFullDuplex() }}},
	{reflect.TypeFor[http.Pusher](), map[string]func(any) error{"Push": func(w any) error { return as[http.Pusher](w).Push("", nil) }}},
	{reflect.TypeFor[io.StringWriter](), map[string]func(any) error{"WriteString": func(w any) error { _, err := as[io.StringWriter](w).WriteString(""); return err }}},
}

// combination makes a writer with exactly the interfaces of has.
func combination(has uint16, called *string) http.ResponseWriter { return only(loud{called}, has) }

func methodNames(v any) []string {
	t := reflect.TypeOf(v)
	var out []string
	for m := range t.Methods() {
		out = append(out, m.Name)
	}
	sort.Strings(out)
	return out
}

func newTestWriter(inner http.ResponseWriter) *writer {
	x := &exchange{h: &handler{settings: newSettings(config{})}, outer: &http.Request{}, w: inner, span: noop.Span{}}
	w := new(writer)
	w.x.Store(x)
	return w
}

// Every combination of optional interfaces: ours has the methods that httpsnoop's has, and each call ends at
// the same method of the writer inside with the same result.
func TestWriterHasExactlyTheInterfacesOfTheInner(t *testing.T) {
	t.Parallel()
	for has := range uint16(1 << len(interfaces)) {
		var called string
		inner := combination(has, &called)
		if got := optional(inner); got != has {
			t.Fatalf("the test's writer %09b has %09b", has, got)
		}
		w := newTestWriter(inner)
		ours, theirs := combine(w, optional(inner)), httpsnoop.Wrap(inner, httpsnoop.Hooks{})
		if diff := cmp.Diff(methodNames(theirs), methodNames(ours)); diff != "" {
			t.Fatalf("%09b: methods (-httpsnoop +ours):\n%s", has, diff)
		}
		if got := optional(ours); got != has {
			t.Fatalf("ours has %09b, want %09b", got, has)
		}
		for i, ifc := range interfaces {
			if has&(1<<i) == 0 {
				continue
			}
			for name, call := range ifc.calls {
				if err := call(ours); !errors.Is(err, errLoud) || called != name && called != "Header" {
					t.Fatalf("%09b: %s ended at %s with %v", has, name, called, err)
				}
			}
		}
		u, ok := ours.(interface{ Unwrap() http.ResponseWriter })
		if !ok || u.Unwrap() != inner {
			t.Fatalf("%09b: Unwrap does not lead to the writer inside", has)
		}
	}
}

func TestWrappingAWriterIsFree(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too: the plain run counts")
	}
	var called string
	w := newTestWriter(combination(0x1ff, &called))
	var ks kinds
	if n := testing.AllocsPerRun(100, func() { sink = combine(w, ks.of(w.Unwrap())) }); n != 0 {
		t.Errorf("%v allocations beside the exchange, want 0", n)
	}
}

var sink http.ResponseWriter

func TestKindsFollowTheType(t *testing.T) {
	t.Parallel()
	var ks kinds
	var called string
	for _, has := range []uint16{0, 1, 511, 1, 0} {
		if got := ks.of(combination(has, &called)); got != has {
			t.Errorf("of = %09b, want %09b", got, has)
		}
	}
}

// A handler may keep the writer, and several of its goroutines may write. The race detector is the judge.
func TestWriterKeptAfterTheEnd(t *testing.T) {
	t.Parallel()
	var kept http.ResponseWriter
	var wg sync.WaitGroup
	release := make(chan struct{})
	rec := httptest.NewRecorder()
	locked := &lockedWriter{inner: rec}
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		kept = w
		for range 4 {
			wg.Go(func() {
				_, _ = io.WriteString(w, "x")
				<-release
				w.WriteHeader(http.StatusTeapot)
				_, _ = w.Write([]byte("late"))
			})
		}
	})
	tp := testProvider(t)
	New(h, WithTracerProvider(tp)).ServeHTTP(locked, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	close(release)
	wg.Wait()
	_, _ = kept.Write([]byte("later still"))
}

// lockedWriter is safe for concurrent use, as a server's own writers are in part.
type lockedWriter struct {
	mu    sync.Mutex
	inner http.ResponseWriter
}

func (l *lockedWriter) Header() http.Header { return http.Header{} }

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inner.Write(p)
}

func (l *lockedWriter) WriteHeader(code int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inner.WriteHeader(code)
}

// io.Copy must reach the server's own ReadFrom with the source as it is, or sendfile is lost.
func TestReadFromGetsTheSourceItself(t *testing.T) {
	t.Parallel()
	var got io.Reader
	inner := readerFrom{httptest.NewRecorder(), func(r io.Reader) { got = r }}
	src := &io.LimitedReader{R: strings.NewReader("x"), N: 1}
	w := newTestWriter(inner)
	if _, err := io.Copy(combine(w, optional(inner)), src); err != nil || got != src {
		t.Errorf("ReadFrom got %v, %v", got, err)
	}
}

type readerFrom struct {
	*httptest.ResponseRecorder
	saw func(io.Reader)
}

func (r readerFrom) ReadFrom(src io.Reader) (int64, error) { r.saw(src); return 1, nil }

// An empty source sends no header: the handler may still choose the code.
func TestReadFromNothingLeavesTheCodeOpen(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(New(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = as[io.ReaderFrom](w).ReadFrom(strings.NewReader(""))
		w.WriteHeader(http.StatusTeapot)
	}), WithTracerProvider(testProvider(t))))
	defer srv.Close()
	resp, err := srv.Client().Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusTeapot {
		t.Errorf("status = %d", resp.StatusCode)
	}
}

// The next size of the allocator's has a header of its own, and is an eighth larger.
func TestExchangeFits(t *testing.T) {
	t.Parallel()
	if size := unsafe.Sizeof(exchange{}); size > 512 {
		t.Errorf("an exchange has %d bytes, want at most 512", size)
	}
	if size := unsafe.Sizeof(kept{}); size > 176 {
		t.Errorf("what is kept has %d bytes, want at most 176", size)
	}
}
