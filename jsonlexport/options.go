package jsonlexport

import (
	"log/slog"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
)

// The defaults of the options.
const (
	DefaultMaxFileBytes   int64 = 1 << 30
	DefaultMaxBufferBytes int64 = 64 << 20
	DefaultFlushInterval        = 200 * time.Millisecond
)

// Option configures an [Exporter]. The last of two of the same kind wins; a zero
// or nil argument keeps the default.
type Option interface{ apply(c config) config }

type config struct {
	maxFileBytes   int64
	maxBufferBytes int64
	flushInterval  time.Duration
	keepPrevious   bool
	transform      func(attribute.KeyValue) (attribute.KeyValue, bool)
	logger         *slog.Logger
	handle         func(error)
}

type option func(config) config

func (o option) apply(c config) config { return o(c) }

func newConfig(opts []Option) config {
	c := config{
		maxFileBytes:   DefaultMaxFileBytes,
		maxBufferBytes: DefaultMaxBufferBytes,
		flushInterval:  DefaultFlushInterval,
		logger:         slog.New(slog.DiscardHandler),
		handle:         otel.Handle,
	}
	for _, o := range opts {
		if o != nil {
			c = o.apply(c)
		}
	}
	return c
}

// WithMaxFileBytes sets the size in bytes past which the file becomes the old
// part, spans.1.jsonl, and a new one is begun. Both together take up to twice
// that, and a line more if one span alone is larger. The default is
// [DefaultMaxFileBytes], 1 GiB.
func WithMaxFileBytes(n int64) Option {
	return option(func(c config) config {
		if n > 0 {
			c.maxFileBytes = n
		}
		return c
	})
}

// WithKeepPrevious keeps the file of the previous run as spans.prev.jsonl and
// its old part as spans.prev.1.jsonl, in place of those of the run before. A run
// that wrote nothing is not kept. Files of other processes, spans-<pid>-<n>.jsonl,
// are never kept. The default is to clear all of it.
func WithKeepPrevious() Option {
	return option(func(c config) config {
		c.keepPrevious = true
		return c
	})
}

// WithMaxBufferBytes bounds the memory in bytes of all spans that are encoded
// and not yet written. A span that does not fit is dropped and counted. The
// default is [DefaultMaxBufferBytes], 64 MiB.
func WithMaxBufferBytes(n int64) Option {
	return option(func(c config) config {
		if n > 0 {
			c.maxBufferBytes = n
		}
		return c
	})
}

// WithFlushInterval sets how long a span that ended waits at most before it is
// written. The default is [DefaultFlushInterval], 200 ms.
func WithFlushInterval(d time.Duration) Option {
	return option(func(c config) config {
		if d > 0 {
			c.flushInterval = d
		}
		return c
	})
}

// WithTransform sets a function that each attribute of a span, an event, a link,
// a scope and a resource goes through before it is encoded: it returns what to
// write, or false to leave the attribute out. It is called concurrently, on the
// goroutine that ends the span. When it panics, the attribute is left out. It
// sees a map value as a whole. The default is to write everything.
func WithTransform(f func(attribute.KeyValue) (attribute.KeyValue, bool)) Option {
	return option(func(c config) config {
		if f != nil {
			c.transform = f
		}
		return c
	})
}

// WithLogger sets where notices go, such as that another process owns the file.
// The default is to discard them. For failures see [WithErrorHandler].
func WithLogger(l *slog.Logger) Option {
	return option(func(c config) config {
		if l != nil {
			c.logger = l
		}
		return c
	})
}

// WithErrorHandler sets who is told of failures in the background, the first of
// each kind. It is called concurrently and must not wait; its panics are
// swallowed. The default is [otel.Handle], which prints to standard error unless
// the program has set a handler.
func WithErrorHandler(f func(error)) Option {
	return option(func(c config) config {
		if f != nil {
			c.handle = f
		}
		return c
	})
}
