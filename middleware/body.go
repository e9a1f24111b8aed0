package middleware

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
)

// body is the body of the request that the handler gets. It notes the first failure to read it, and brings the
// trailers over that net/http finds behind it.
type body struct {
	io.ReadCloser
	inner, outer *http.Request // nil: no trailers to bring over
	err          firstError
}

// Read reads the body.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == nil {
		return n, nil
	}
	if isError(err, io.EOF) {
		b.trailers()
	} else {
		b.failed(err)
	}
	return n, err
}

// Close closes the body. The server's own reads on to the trailers.
func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.trailers()
	return err
}

// failed keeps err unless it is the handler's own doing (it read after the end) or the client's (it sent more
// than the limit of a layer outside of ours).
func (b *body) failed(err error) {
	if isError(err, http.ErrBodyReadAfterClose) || isTooLarge(err) {
		return
	}
	b.err.keep(err)
}

func isTooLarge(err error) bool {
	defer func() { _ = recover() }() // out of a method of err
	var tooLarge *http.MaxBytesError
	return errors.As(err, &tooLarge)
}

// bringsTrailers reports whether net/http may set the trailers of r, and only of r, when its body ends. It fills the
// map of trailers that were announced, which the copies of a request share; for others it makes one. They can only
// come behind a body of unknown length.
func bringsTrailers(r *http.Request) bool {
	return r.Trailer == nil && r.ContentLength < 0 && r.Body != nil
}

// trailers gives the handler's request the trailers that the server's got.
func (b *body) trailers() {
	if b.outer != nil && b.inner.Trailer == nil {
		b.inner.Trailer = b.outer.Trailer
	}
}

// firstError keeps the first error that it is given.
type firstError struct{ p atomic.Pointer[error] }

func (f *firstError) keep(err error) { f.p.CompareAndSwap(nil, &err) }

func (f *firstError) get() error {
	if p := f.p.Load(); p != nil {
		return *p
	}
	return nil
}
