package middleware

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"sync/atomic"
	"syscall"
)

// source is what a handler copies into its response by ReadFrom, whose error does not say which side has failed: a
// source that cannot be read is the handler's own affair, as it is when it reads and writes itself.
type source struct {
	io.Reader
	failed atomic.Bool
}

// sourceOf returns what to read instead of src, and how to ask then whether an error is src's. A file stays what it is,
// or the server could not use sendfile.
func sourceOf(src io.Reader) (io.Reader, func(error) bool) {
	if isFile(src) {
		return src, isReading
	}
	s := &source{Reader: src}
	return s, func(error) bool { return s.failed.Load() }
}

// Read reads the source.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && err != io.EOF { // as io.Copy has it: only this very error is none
		s.failed.Store(true)
	}
	return n, err
}

// isFile reports whether src is what sendfile takes: a file, or a part of one. A connection is not: the errors of two
// connections are alike.
func isFile(src io.Reader) bool {
	if part, ok := src.(*io.LimitedReader); ok {
		src = part.R
	}
	if _, ok := src.(net.Conn); ok {
		return false
	}
	_, ok := src.(syscall.Conn)
	return ok
}

// isReading reports whether err, of a copy from a file, comes from reading it. With sendfile both sides have errors of
// the system, of which a connection has neither of these two.
func isReading(err error) bool {
	defer func() { _ = recover() }() // out of a method of err
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Op != "write"
	}
	return errors.Is(err, syscall.EIO) || errors.Is(err, syscall.EBADF)
}
