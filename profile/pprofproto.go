package profile

import (
	"bytes"
	"compress/gzip"
	"runtime"
	"time"

	"github.com/waymark-trace/waymark/internal/otlpproto"
)

// pprofWriter writes a profile with the two values "samples" and "time". The
// numbers of the fields are those of profile.proto.
//
// Spec: https://github.com/google/pprof/blob/main/proto/profile.proto
type pprofWriter struct {
	out       []byte
	texts     map[string]uint64
	table     []string
	functions map[function]uint64
	locations map[location]uint64
}

type function struct{ name, file string }

type location struct {
	function
	line int
}

func newPprofWriter() *pprofWriter {
	p := &pprofWriter{texts: map[string]uint64{}, functions: map[function]uint64{}, locations: map[location]uint64{}}
	p.text("") // is the first
	p.valueType(1, "samples", "count")
	p.valueType(1, "time", "nanoseconds")
	return p
}

// message appends a message of numbers, those from field 1 on in order.
func (p *pprofWriter) message(field int, numbers ...uint64) {
	p.out = otlpproto.AppendMessage(p.out, field, func(b []byte) []byte {
		for i, n := range numbers {
			b = otlpproto.AppendVarint(b, i+1, n)
		}
		return b
	})
}

func (p *pprofWriter) valueType(field int, name, unit string) {
	p.message(field, p.text(name), p.text(unit))
}

// text returns the number of a string in the table of strings.
func (p *pprofWriter) text(s string) uint64 {
	return numberOf(p.texts, s, 0, func(uint64) { p.table = append(p.table, s) })
}

// function returns the ID of a function.
func (p *pprofWriter) function(f function) uint64 {
	return numberOf(p.functions, f, 1, func(id uint64) {
		p.message(5, id, p.text(f.name), p.text(f.name), p.text(f.file))
	})
}

// location returns the ID of a line of a function.
func (p *pprofWriter) location(l location) uint64 {
	return numberOf(p.locations, l, 1, func(id uint64) {
		f := p.function(l.function)
		p.out = otlpproto.AppendMessage(p.out, 4, func(b []byte) []byte {
			b = otlpproto.AppendVarint(b, 1, id)
			b = otlpproto.AppendVarint(b, 2, 1) // the mapping
			return otlpproto.AppendMessage(b, 4, func(b []byte) []byte {
				b = otlpproto.AppendVarint(b, 1, f)
				return otlpproto.AppendVarint(b, 2, uint64(max(l.line, 0)))
			})
		})
	})
}

// numberOf returns the number of a key, counted from first on; one that is new
// is made.
func numberOf[K comparable](numbers map[K]uint64, key K, first uint64, made func(uint64)) uint64 {
	n, ok := numbers[key]
	if !ok {
		n = uint64(len(numbers)) + first
		numbers[key] = n
		made(n)
	}
	return n
}

// sample appends what was seen of a stack, the innermost location first.
func (p *pprofWriter) sample(locations []uint64, s *seen) {
	p.out = otlpproto.AppendMessage(p.out, 2, func(b []byte) []byte {
		for _, id := range locations {
			b = otlpproto.AppendVarint(b, 1, id)
		}
		b = otlpproto.AppendVarintAlways(b, 2, uint64(s.count)) //nolint:gosec // not negative
		return otlpproto.AppendVarintAlways(b, 2, uint64(max(s.time, 0)))
	})
}

// finish returns the profile, compressed.
func (p *pprofWriter) finish(began, ended time.Time, period time.Duration) ([]byte, error) {
	// The mapping says that all locations have their functions, files and lines;
	// pprof would look for the binary otherwise.
	p.out = otlpproto.AppendMessage(p.out, 3, func(b []byte) []byte {
		b = otlpproto.AppendVarint(b, 1, 1)
		for _, has := range []int{7, 8, 9, 10} {
			b = otlpproto.AppendVarint(b, has, 1)
		}
		return b
	})
	p.out = otlpproto.AppendVarint(p.out, 9, uint64(began.UnixNano()))
	p.out = otlpproto.AppendVarint(p.out, 10, uint64(max(ended.Sub(began), 0)))
	p.valueType(11, "wallclock", "nanoseconds")
	p.out = otlpproto.AppendVarint(p.out, 12, uint64(period)) //nolint:gosec // not negative
	p.out = otlpproto.AppendVarint(p.out, 14, p.text("time"))
	for _, s := range p.table {
		p.out = otlpproto.AppendStringAlways(p.out, 6, s)
	}
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	if _, err := z.Write(p.out); err != nil {
		return nil, err
	}
	err := z.Close()
	return buf.Bytes(), err
}

// encode returns the profile of what was sampled, but for our own goroutine.
func (w *wallclock) encode(ended time.Time) ([]byte, error) {
	p := newPprofWriter()
	for s, at := range w.stacks {
		if locations := w.locationsOf(p, s); locations != nil {
			p.sample(locations, at)
		}
	}
	if w.more.count > 0 {
		p.sample([]uint64{p.location(location{function: function{name: "(other stacks)"}})}, &w.more)
	}
	return p.finish(w.began, ended, wallPeriod)
}

// locationsOf returns the locations of a stack, nil when it is our own.
func (w *wallclock) locationsOf(p *pprofWriter, s stack) (ids []uint64) {
	record := runtime.StackRecord{Stack0: s}
	frames := runtime.CallersFrames(record.Stack())
	for {
		frame, more := frames.Next()
		if frame.Function == w.self {
			return nil
		}
		ids = append(ids, p.location(location{function{frame.Function, frame.File}, frame.Line}))
		if !more {
			return ids
		}
	}
}
