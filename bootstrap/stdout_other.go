//go:build !unix

package bootstrap

// duplicate does nothing where there is no SIGPIPE.
func duplicate(uintptr) (uintptr, bool) { return 0, false }
