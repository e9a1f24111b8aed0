//go:build unix

package measure

import (
	"syscall"
	"time"
)

// ProcessCPU is the CPU time of this process so far.
func ProcessCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
