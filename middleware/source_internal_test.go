package middleware

import (
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"syscall"
	"testing"
)

// hollow is an error whose methods panic.
type hollow struct{ error }

// Of a file that is sent, the error tells which side has failed.
func TestErrorsOfReadingAFile(t *testing.T) {
	t.Parallel()
	op := func(err error) error { return &net.OpError{Op: "readfrom", Err: err} }
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{&fs.PathError{Op: "read", Err: fs.ErrClosed}, true},
		{op(&fs.PathError{Op: "read", Err: syscall.EISDIR}), true},
		{op(os.NewSyscallError("sendfile", syscall.EIO)), true},
		{op(os.NewSyscallError("sendfile", syscall.EBADF)), true},
		{op(os.NewSyscallError("sendfile", syscall.EPIPE)), false},
		{op(os.NewSyscallError("sendfile", syscall.ECONNRESET)), false},
		{op(&net.OpError{Op: "write", Err: os.ErrDeadlineExceeded}), false},
		{&fs.PathError{Op: "write", Err: syscall.ENOSPC}, false}, // of a writer inside that keeps a copy
		{io.ErrShortWrite, false},
		{hollow{}, false},
	} {
		if got := isReading(tt.err); got != tt.want {
			t.Errorf("isReading(%s) = %t", fmt.Sprintf("%#v", tt.err), got)
		}
	}
}
