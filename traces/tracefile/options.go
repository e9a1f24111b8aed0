package tracefile

import (
	"runtime"
	"time"
)

// Option configures reading.
type Option interface{ apply(config) config }

type config struct {
	fields    *fields
	workers   int
	maxValue  int
	previous  bool
	processes bool
	fromEnd   bool
	poll      time.Duration
	name      string
}

type optionFunc func(config) config

func (f optionFunc) apply(c config) config { return f(c) }

func newConfig(opts []Option) config {
	c := config{
		workers:  min(runtime.GOMAXPROCS(0), 4),
		maxValue: 64 << 20,
		poll:     200 * time.Millisecond,
		name:     "-",
	}
	for _, o := range opts {
		c = o.apply(c)
	}
	return c
}

// WithAttributes limits what is decoded to what fits a table: the fixed fields
// of a span (ids, name, kind, times, status, flags, trace state, dropped
// counts), its resource and scope whole, and of its own attributes those with
// the given keys; none at all without keys. Events and links stay nil. It is
// what makes reading OTLP/JSON fastest; by default everything is decoded.
func WithAttributes(keys ...string) Option {
	return optionFunc(func(c config) config {
		c.fields = &fields{keys: make(map[string]bool, len(keys))}
		for _, k := range keys {
			c.fields.keys[k] = true
		}
		return c
	})
}

// WithWorkers sets how many goroutines decode a file of lines; default:
// GOMAXPROCS, at most 4. The order of the spans is that of the file whatever
// the number, and none of the goroutines outlives the loop over the spans.
// Other formats than lines are decoded by one.
func WithWorkers(n int) Option {
	return optionFunc(func(c config) config {
		if n > 0 {
			c.workers = n
		}
		return c
	})
}

// WithMaxValueBytes bounds one line, one document or one message, and with it
// the memory that hostile input can take; default 64 MiB. A larger one is
// passed over and reported. Large OTLP documents and arrays that are not lines
// are read piece by piece, and only a piece is bounded.
func WithMaxValueBytes(n int64) Option {
	return optionFunc(func(c config) config {
		if n > 0 {
			c.maxValue = int(min(n, 1<<30))
		}
		return c
	})
}

// WithProcesses also takes what belongs to the span file at the path: for
// my.jsonl the old part, my.1.jsonl, and the files of the program's other
// processes, my-<pid>-<n>.jsonl. Of an App's folder they are always taken.
func WithProcesses() Option {
	return optionFunc(func(c config) config {
		c.processes = true
		return c
	})
}

// WithPrevious also takes the previous run's file, spans.prev.jsonl, from an
// App's folder or with [WithProcesses].
func WithPrevious() Option {
	return optionFunc(func(c config) config {
		c.previous = true
		return c
	})
}

// WithPollInterval sets how often [Follow] looks for more; default 200 ms.
func WithPollInterval(d time.Duration) Option {
	return optionFunc(func(c config) config {
		if d > 0 {
			c.poll = d
		}
		return c
	})
}

// WithFromEnd makes [Follow] begin after the last line that is there already.
func WithFromEnd() Option {
	return optionFunc(func(c config) config {
		c.fromEnd = true
		return c
	})
}

// WithName sets what a reader without a file is called in the report and in
// errors; default "-".
func WithName(name string) Option {
	return optionFunc(func(c config) config {
		if name != "" {
			c.name = name
		}
		return c
	})
}
