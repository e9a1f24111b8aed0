package middleware

import (
	"errors"
	"os"
	"syscall"
)

// Errors of Windows that package syscall does not match with ECONNABORTED and ECONNRESET: WSAECONNABORTED and
// WSAECONNRESET. No other system has errors of these numbers.
const (
	errWinAborted = syscall.Errno(10053)
	errWinReset   = syscall.Errno(10054)
)

// hasLeft reports whether err, of a read or a write, says that the client has closed the connection or the stream. Mostly
// the context says so as well; over HTTP/2 it may do so a moment later.
func hasLeft(err error) (left bool) {
	defer func() { _ = recover() }() // out of a method of err
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		switch number { //nolint:exhaustive // the others are failures
		case syscall.EPIPE, syscall.ECONNRESET, syscall.ECONNABORTED, errWinAborted, errWinReset:
			return true
		}
	}
	// The HTTP/2 server of net/http does not export these.
	switch err.Error() {
	case "client disconnected", "http2: stream closed":
		return true
	}
	return false
}

// isTimeout reports whether err says that a deadline has passed.
func isTimeout(err error) (is bool) {
	defer func() { _ = recover() }() // out of a method of err
	var timeout interface{ Timeout() bool }
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}
