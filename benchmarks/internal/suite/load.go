package suite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/waymark-trace/waymark/benchmarks/internal/measure"
)

const connections = 32

var (
	requestsSecond = regexp.MustCompile(`Requests/sec:\s+([0-9.]+)`)
	otherAnswers   = regexp.MustCompile(`(?m)^\s*(Non-2xx or 3xx responses|Socket errors): (.*)$`)
)

// withoutWrk is what the rows say that are measured without it.
const withoutWrk = ", load from net/http's client for want of wrk"

// loadLabel says in a row's name what puts the load on, unless it is wrk.
func loadLabel() string {
	if _, err := exec.LookPath("wrk"); err != nil {
		return withoutWrk
	}
	return ""
}

// load puts load on a server from a process of its own, with wrk and one thread,
// and returns the requests a second. wrk takes whole seconds only: the slice is
// rounded to them, and is one at least. Without wrk a child of this program does
// it, which takes more of the machine from the server.
func load(url string, slice time.Duration) (float64, error) {
	slice = max(time.Second, slice.Round(time.Second))
	if loadLabel() != "" {
		r, err := once(Task{Do: "load", URL: url, Slice: slice})
		return float64(r.Requests) / slice.Seconds(), err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "wrk", "-t1", "-c"+strconv.Itoa(connections), "-d"+strconv.Itoa(int(slice.Seconds()))+"s", //nolint:gosec // our own URL
		"-H", "User-Agent: "+userAgent, url).CombinedOutput()
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

// loadChild asks for the URL on as many connections as wrk, for the slice.
func loadChild(t Task) (r Reading, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), t.Slice)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections}}
	defer client.CloseIdleConnections()
	var requests atomic.Uint64
	var failed atomic.Pointer[error]
	var wg sync.WaitGroup
	for range connections {
		wg.Go(func() {
			for ctx.Err() == nil {
				if err := ask(ctx, client, t.URL); err == nil {
					requests.Add(1)
				} else if ctx.Err() == nil {
					failed.Store(&err)
					return
				}
			}
		})
	}
	wg.Wait()
	if p := failed.Load(); p != nil {
		err = *p
	}
	return Reading{Requests: requests.Load(), CPU: measure.ProcessCPU()}, err
}

// ask does one request.
func ask(ctx context.Context, client *http.Client, url string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	r.Header.Set("User-Agent", userAgent)
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("load: the server answers %s", answer.Status)
	}
	return err
}
