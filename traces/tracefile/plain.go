package tracefile

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"github.com/waymark-trace/waymark/traces"
)

// namedScope returns the shared scope of a dialect that knows no more of it.
func (d *decoder) namedScope(name, version string) *traces.Scope {
	key := []byte("name\x00" + name + "\x00" + version)
	return lookup(&d.shared.mu, d.shared.scopes, key, func() *traces.Scope {
		return &traces.Scope{Name: name, Version: version}
	})
}

// plainMap reads attributes from a JSON object whose values are JSON's own types.
func (d *decoder) plainMap(depth int) (list []traces.Attribute) {
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		a := traces.Attribute{Key: d.names.string(d.s.Key())}
		a.Value = d.plainValue(depth)
		list = append(list, a)
	}
	return list
}

// plainValue reads a value of JSON's own types. A number is an integer unless
// it has a dot or exponent, or is too large for one.
func (d *decoder) plainValue(depth int) traces.Value {
	if depth > maxValueDepth {
		d.skip("attribute value nested too deep")
		d.s.Skip()
		return traces.Value{}
	}
	switch d.s.Peek() {
	case '"':
		return traces.String(d.copy(d.s.Text()))
	case 't', 'f':
		return traces.Bool(d.s.Bool())
	case 'n':
		d.s.Null()
		return traces.Value{}
	case '[':
		list := []traces.Value{}
		for ok := d.s.Begin('['); ok && d.s.More(']'); {
			list = append(list, d.plainValue(depth+1))
		}
		return traces.Array(list...)
	case '{':
		return traces.Map(d.plainMap(depth + 1)...)
	default:
		return d.plainNumber()
	}
}

func (d *decoder) plainNumber() traces.Value {
	at := d.s.Offset()
	text := d.s.Number()
	if !bytes.ContainsAny(text, ".eE") && len(text) <= 20 {
		if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
			return traces.Int(n)
		}
	}
	d.s.Seek(at)
	return traces.Double(d.s.Float64())
}

// timestamp reads an RFC 3339 time. What has none, like year 1, is 0.
func (d *decoder) timestamp() uint64 {
	text := d.s.Text()
	if len(text) == 0 {
		return 0
	}
	t, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		d.skip("a time that is not RFC 3339: " + clip(string(text)))
		return 0
	}
	return unixNano(t)
}

// unixNano is t in OTLP's form; 0 when t is before 1970 or past its end.
func unixNano(t time.Time) uint64 {
	sec := t.Unix()
	if sec < 0 || sec > math.MaxInt64/int64(time.Second)-1 {
		return 0
	}
	return uint64(sec)*uint64(time.Second) + uint64(t.Nanosecond()) //nolint:gosec // checked
}

// after is the time so many nanoseconds after another, or the last that there is.
func after(start, duration uint64) uint64 {
	if duration > math.MaxUint64-start {
		return math.MaxUint64
	}
	return start + duration
}

// micros is a time in microseconds as nanoseconds, as far as they go.
func micros(us uint64) uint64 {
	if us > math.MaxUint64/1000 {
		return math.MaxUint64
	}
	return us * 1000
}
