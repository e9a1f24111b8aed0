package middleware

import (
	"io"
	"net/http"

	"github.com/waymark-trace/waymark/internal/semconv"
)

// answer returns the body that the caller gets. A span whose answer is whole with its header ends here, since many
// callers do not close what is empty.
func (c *call) answer(r *http.Request, res *http.Response) io.ReadCloser {
	body := c.body
	c.body = nil // who keeps the context keeps no body
	if body == nil {
		body = http.NoBody
	}
	if !c.IsRecording() || isWhole(r, res, body) {
		c.End()
		return body
	}
	b := answer{body, c}
	w, ok := body.(io.Writer)
	if !ok {
		return b
	}
	c.Span.SetAttributes(semconv.HTTPStreamKey.String(semconv.StreamUpgrade))
	if half, ok := body.(closeWriter); ok {
		return halfConnection{connection{b, w}, half}
	}
	return connection{b, w}
}

// isWhole reports whether nothing follows the header. A length of 0 is believed where somebody has set it: it is also
// what a RoundTripper of a test leaves.
func isWhole(r *http.Request, res *http.Response, body io.ReadCloser) bool {
	if _, upgraded := body.(io.Writer); upgraded {
		return false
	}
	switch {
	case body == http.NoBody, r.Method == http.MethodHead, res.StatusCode == http.StatusNoContent, res.StatusCode == http.StatusNotModified:
		return true
	}
	return res.ContentLength == 0 && (res.ProtoMajor >= 2 || res.Header.Get("Content-Length") == "0")
}

// answer is the body of a response. The span ends with it.
type answer struct {
	io.ReadCloser
	c *call
}

// Read reads the body.
func (a answer) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if err != nil {
		if err != io.EOF { // as io.Reader has it: the error itself
			a.c.fail(err)
		}
		a.c.End()
	}
	return n, err
}

// Close closes the body. The span ends before: closing may take its time.
func (a answer) Close() error {
	a.c.End()
	return a.ReadCloser.Close()
}

// connection is the body after an upgrade, which can be written to.
type connection struct {
	answer
	w io.Writer
}

// Write writes to the connection.
func (c connection) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	if err != nil {
		c.c.fail(err)
	}
	return n, err
}

type closeWriter interface{ CloseWrite() error }

// halfConnection is a connection that can be closed in one direction.
type halfConnection struct {
	connection
	closeWriter
}
