package middleware_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/capture/capturetest"
)

// heard is what a client gets of an answer, and what the handler was told.
type heard struct {
	Proto, Body string
	Trailer     http.Header
	Told        []string
}

// hear calls the handler over TLS, by HTTP/2 or not.
func hear(t *testing.T, http2 bool, told chan []string, handler http.Handler) heard {
	t.Helper()
	srv := httptest.NewUnstartedServer(handler)
	srv.EnableHTTP2 = http2
	srv.StartTLS()
	defer srv.Close()
	resp, err := srv.Client().Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return heard{resp.Proto, string(body), resp.Trailer, <-told}
}

// Trailers, declared and not, deadlines, flushes and pushes are as without us,
// by HTTP/1.1 and HTTP/2.
func TestStoryTrailersAndController(t *testing.T) {
	t.Parallel()
	for _, http2 := range []bool{false, true} {
		told := make(chan []string, 1)
		handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Trailer", "X-Declared")
			_, _ = io.WriteString(w, "first ")
			c := http.NewResponseController(w)
			later := time.Now().Add(patience)
			var all []string
			for _, err := range []error{c.SetReadDeadline(later), c.SetWriteDeadline(later), c.EnableFullDuplex(), c.Flush()} {
				all = append(all, fmt.Sprint(err))
			}
			if p, ok := w.(http.Pusher); ok {
				err := p.Push("/style.css", nil)
				all = append(all, fmt.Sprint(err, errors.Is(err, http.ErrNotSupported)))
			}
			_, _ = io.WriteString(w, "second")
			w.Header().Set("X-Declared", "a")
			w.Header().Set(http.TrailerPrefix+"X-Undeclared", "b")
			told <- all
		})
		_, tr := capturetest.Start(t)
		want, got := hear(t, http2, told, handler), hear(t, http2, told, wrap(tr, handler))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("HTTP/2 %t (-without +with):\n%s", http2, diff)
		}
		if got.Trailer.Get("X-Declared") != "a" || got.Trailer.Get("X-Undeclared") != "b" {
			t.Errorf("HTTP/2 %t: trailers %v", http2, got.Trailer)
		}
		tr.Wait("GET", 1).Attr("http.response.status_code", 200).NoAttr("error.type")
	}
}
