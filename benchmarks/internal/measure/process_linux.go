package measure

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// PeakRSS is the most memory that this process has had resident, in bytes.
func PeakRSS() (int64, error) { return status("VmHWM") }

// RSS is the memory that this process has resident, in bytes.
func RSS() (int64, error) { return status("VmRSS") }

// ResetPeak makes the present memory the peak.
func ResetPeak() error { return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o200) }

func status(field string) (int64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kb, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kb << 10, err
		}
	}
	return 0, fmt.Errorf("/proc/self/status has no %s", field)
}
