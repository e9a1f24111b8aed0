package bootstrap

import (
	"io"
	"os"
)

// stdout is standard output, where a reader that has gone is an error to count.
// A write to the descriptors 1 and 2 would end the process with SIGPIPE.
func stdout() io.Writer {
	f := os.Stdout //nolint:forbidigo // OTEL_TRACES_EXPORTER asked for it
	conn, err := f.SyscallConn()
	if err != nil {
		return f
	}
	out := f
	if err := conn.Control(func(fd uintptr) {
		if fd > 2 { // the program has put another in its place
			return
		}
		if dup, ok := duplicate(fd); ok {
			out = os.NewFile(dup, f.Name())
		}
	}); err != nil {
		return f
	}
	return out
}
