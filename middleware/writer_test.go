package middleware

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"go.opentelemetry.io/otel/trace/noop"
)

func newTestWriter(inner http.ResponseWriter) *writer {
	x := &exchange{h: &handler{settings: newSettings(config{})}, outer: &http.Request{}, w: inner, span: noop.Span{}}
	w := new(writer)
	w.x.Store(x)
	return w
}

func TestWrappingAWriterIsFree(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too: the plain run counts")
	}
	w := newTestWriter(inner(1<<len(direct)-1, true, &loud{}))
	var ks kinds
	if n := testing.AllocsPerRun(100, func() { sink = combine(w, ks.of(w.Unwrap())) }); n != 0 {
		t.Errorf("%v allocations beside the exchange, want 0", n)
	}
}

var sink http.ResponseWriter

func TestKindsFollowTheType(t *testing.T) {
	t.Parallel()
	var ks kinds
	for _, has := range []uint8{0, 1, 15, 1, 0} {
		if got := ks.of(inner(has, false, &loud{})); got != has {
			t.Errorf("of = %04b, want %04b", got, has)
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

// io.Copy must reach the server's own ReadFrom with a file as it is, or sendfile is lost. The errors of two connections
// are alike, so that one of them is watched.
func TestReadFromGetsTheFileItself(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var got io.Reader
	inner := readerFrom{httptest.NewRecorder(), func(r io.Reader) { got = r }}
	w := combine(newTestWriter(inner), optional(inner))
	part := &io.LimitedReader{R: file, N: 1}
	for _, src := range []io.Reader{part, struct{ *os.File }{file}} {
		if _, err := as[io.ReaderFrom](w).ReadFrom(src); err != nil || got != src {
			t.Errorf("ReadFrom got %v, %v", got, err)
		}
	}
	if _, err := io.Copy(w, file); err != nil || !isFile(got) {
		t.Errorf("ReadFrom got %v, %v", got, err)
	}
	for _, src := range []io.Reader{strings.NewReader("x"), io.LimitReader(strings.NewReader("x"), 1), &net.TCPConn{}} {
		if _, err := as[io.ReaderFrom](w).ReadFrom(src); err != nil || isFile(got) {
			t.Errorf("ReadFrom got %T for %T, %v", got, src, err)
		}
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
