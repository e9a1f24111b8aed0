package suite

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/waymark-trace/waymark/benchmarks/internal/measure"
)

// What needs a process of its own runs in one: the program starts itself with
// childFlag and a Task, and talks JSON over the pipes.
const childFlag = "-child"

// Task is what a child is to do.
type Task struct {
	Do       string // serve, flood, paced, rival, load
	Pipeline string
	Path     string
	Spans    int // a request, or in all
	Rate     int // spans a second, of paced
	Stall    time.Duration
	URL      string        // of load
	Slice    time.Duration // of load
}

// Reading is what a child says about itself.
type Reading struct {
	Address  string
	CPU      time.Duration
	Made     uint64
	Idle     int64 // resident bytes before the work
	Peak     int64
	Account  Account
	Series   []measure.Series
	Error    string
	Requests uint64
}

// IsChild says whether the arguments are those of a child, and its task.
func IsChild(args []string) (Task, bool) {
	var t Task
	if len(args) != 2 || args[0] != childFlag || json.Unmarshal([]byte(args[1]), &t) != nil {
		return Task{}, false
	}
	return t, true
}

// RunChild does the task.
func RunChild(t Task, in io.Reader, out io.Writer) error {
	enc := json.NewEncoder(out)
	var r Reading
	var err error
	switch t.Do {
	case "serve":
		return serveChild(t, in, enc)
	case "flood", "paced":
		r, err = floodChild(t)
	case "rival":
		r, err = rivalChild(t)
	case "load":
		r, err = loadChild(t)
	default:
		err = fmt.Errorf("no task %q", t.Do)
	}
	if err != nil {
		r.Error = err.Error()
	}
	return enc.Encode(r)
}

// serveChild is a server: each line from in is answered by a reading, the end
// of in stops it, and the last reading has the account.
func serveChild(t Task, in io.Reader, enc *json.Encoder) error {
	p, err := Open(t.Pipeline, t.Path)
	if err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	var requests atomic.Uint64
	srv := &http.Server{Handler: p.Wrap(Handler(p.Provider, t.Spans, &requests)), ReadHeaderTimeout: time.Minute}
	go func() { _ = srv.Serve(l) }()
	reading := func() Reading {
		peak, _ := measure.PeakRSS()
		return Reading{Address: l.Addr().String(), CPU: measure.ProcessCPU(), Requests: requests.Load(), Made: requests.Load() * uint64(t.Spans), Peak: peak} //nolint:gosec // not negative
	}
	first := reading()
	first.Idle, _ = measure.RSS()
	if err := enc.Encode(first); err != nil {
		return err
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		if err := enc.Encode(reading()); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	err = srv.Shutdown(ctx)
	last := reading()
	var stopErr error
	last.Account, stopErr = p.Stop(ctx)
	if err = errors.Join(err, stopErr); err != nil {
		last.Error = err.Error()
	}
	return enc.Encode(last)
}

// Handler is the program as a server: one route, which makes spans-1 spans of
// its own and answers two bytes.
func Handler(tp trace.TracerProvider, spans int, requests *atomic.Uint64) http.Handler {
	tracer := tp.Tracer("github.com/example/shop")
	body := []byte("ok")
	mux := http.NewServeMux()
	mux.HandleFunc("GET /users/{id}", func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		children(r.Context(), tracer, spans)
		_, _ = w.Write(body)
	})
	return mux
}

// floodChild makes spans in two goroutines, flat out or at a rate.
func floodChild(t Task) (Reading, error) {
	p, err := openStalling(t.Pipeline, t.Path, t.Stall)
	if err != nil {
		return Reading{}, err
	}
	tracer := p.Provider.Tracer("github.com/example/shop")
	var r Reading
	r.Idle, _ = measure.RSS()
	if err := measure.ResetPeak(); err != nil {
		return r, err
	}
	start, cpu := time.Now(), measure.ProcessCPU()
	var made atomic.Uint64
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i := 0; i < t.Spans/2; i++ {
				Trace(context.Background(), tracer, i, 1, 10)
				n := made.Add(1)
				if t.Rate > 0 && i%64 == 0 {
					due := start.Add(time.Duration(float64(n) / float64(t.Rate) * float64(time.Second)))
					time.Sleep(time.Until(due))
				}
			}
		})
	}
	wg.Wait()
	r.Made = made.Load()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r.Account, err = p.Stop(ctx)
	r.CPU = measure.ProcessCPU() - cpu
	r.Peak, _ = measure.PeakRSS()
	return r, err
}

// child is a running child.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	dec *json.Decoder
}

func start(t Task) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	arg, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, childFlag, string(arg)) //nolint:gosec,noctx // this program itself
	cmd.Stderr = os.Stderr                            //nolint:forbidigo // the child's complaints are the program's
	cmd.Env = append(os.Environ(),                    //nolint:forbidigo // the child has the program's environment
		"DD_INSTRUMENTATION_TELEMETRY_ENABLED=false", "DD_TRACE_STARTUP_LOGS=false", "DD_REMOTE_CONFIGURATION_ENABLED=false")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &child{cmd, in, json.NewDecoder(out)}, nil
}

func (c *child) read() (r Reading, err error) {
	if err = c.dec.Decode(&r); err == nil && r.Error != "" {
		err = errors.New(r.Error)
	}
	return r, err
}

// ask wants a reading of a server.
func (c *child) ask() (Reading, error) {
	if _, err := io.WriteString(c.in, "\n"); err != nil {
		return Reading{}, err
	}
	return c.read()
}

// stop ends a child and returns its last reading.
func (c *child) stop() (Reading, error) {
	_ = c.in.Close()
	r, err := c.read()
	return r, errors.Join(err, c.cmd.Wait())
}

// once runs a child to its end.
func once(t Task) (Reading, error) {
	c, err := start(t)
	if err != nil {
		return Reading{}, err
	}
	return c.stop()
}

func short(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
