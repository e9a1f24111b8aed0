//go:build unix

package bootstrap

import "syscall"

// duplicate returns another descriptor for fd, which is none of the standard
// ones. They can be free when the program was started without.
func duplicate(fd uintptr) (uintptr, bool) {
	var low []int
	defer func() {
		for _, fd := range low {
			_ = syscall.Close(fd)
		}
	}()
	syscall.ForkLock.RLock() // no child of the program inherits it
	defer syscall.ForkLock.RUnlock()
	for {
		dup, err := syscall.Dup(int(fd))
		if err != nil {
			return 0, false
		}
		if dup > 2 {
			syscall.CloseOnExec(dup)
			return uintptr(dup), true
		}
		low = append(low, dup)
	}
}
