package otlpsend

import (
	"io"
	"testing"
)

// A body that the transport asks for again has not left before: that was a
// connection which was closed while it was idle.
func TestBodyAskedForAgain(t *testing.T) {
	t.Parallel()
	sent := &sending{tries: &Tries{}}
	req, err := newHTTP(Config{Endpoint: "http://localhost"}).request(t.Context(), []byte("spans"), sent)
	if err != nil {
		t.Fatal(err)
	}
	body, again := req.Body, req.GetBody
	for range 2 {
		if sent.left.Load() {
			t.Error("left before it was read")
		}
		if b, err := io.ReadAll(body); err != nil || string(b) != "spans" || !sent.left.Load() {
			t.Errorf("body %q, %v, left %v", b, err, sent.left.Load())
		}
		if body, err = again(); err != nil {
			t.Fatal(err)
		}
	}
}
