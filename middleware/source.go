package middleware

import (
	"errors"
	"io"
	"io/fs"
	"syscall"
)

// source is what a handler copies into its response. It notes its own failure, which net/http's ReadFrom returns as it
// returns a failure to write.
type source struct {
	io.Reader
	failed bool
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.failed = s.failed || err != nil && !isError(err, io.EOF)
	return n, err
}

// copyFrom hands src to a writer, and reports whether an error is the source's own. What the kernel may
// send by itself (sendfile, splice) is handed over as it is, and its errors are told apart by their kind.
func copyFrom(to io.ReaderFrom, src io.Reader) (n int64, bySource bool, err error) {
	if isKernels(src) {
		n, err = to.ReadFrom(src)
		return n, isFailedRead(err), err
	}
	s := &source{Reader: src}
	n, err = to.ReadFrom(s)
	return n, s.failed, err
}

// isKernels reports whether package net may hand r, or what r limits, to the kernel.
func isKernels(r io.Reader) bool {
	if limited, ok := r.(*io.LimitedReader); ok {
		r = limited.R
	}
	_, ok := r.(syscall.Conn)
	return ok
}

// isFailedRead reports whether err is of a file that could not be read.
func isFailedRead(err error) bool {
	defer func() { _ = recover() }() // out of a method of err
	var failed *fs.PathError
	return errors.As(err, &failed) && failed.Op == "read"
}
