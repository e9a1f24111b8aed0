package suite

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const connections = 32

var (
	requestsSecond = regexp.MustCompile(`Requests/sec:\s+([0-9.]+)`)
	otherAnswers   = regexp.MustCompile(`(?m)^\s*(Non-2xx or 3xx responses|Socket errors): (.*)$`)
)

// load puts load on a server with wrk, in a process of its own with one thread,
// and returns the requests a second. wrk takes whole seconds only; its own rate
// is exact for what it was given, so it is stopped when the slice is over.
func load(url string, slice time.Duration) (float64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	seconds := max(1, int(slice.Round(time.Second)/time.Second))
	out, err := exec.CommandContext(ctx, "wrk", "-t1", "-c"+strconv.Itoa(connections), "-d"+strconv.Itoa(seconds)+"s", //nolint:gosec // our own URL
		"-H", "User-Agent: "+Request(false).UserAgent(), url).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("wrk: %w: %s", err, strings.TrimSpace(string(out)))
	}
	if bad := otherAnswers.FindSubmatch(out); bad != nil {
		return 0, fmt.Errorf("wrk: %s", bad[0])
	}
	m := requestsSecond.FindSubmatch(out)
	if m == nil {
		return 0, errors.New("wrk printed no rate")
	}
	return strconv.ParseFloat(string(m[1]), 64)
}
