// Package boundjson encodes values as encoding/json does, at a cost that is bounded by
// the size that is kept of them.
//
// A value is measured first, by reflection, without a copy and no further than to the
// limit. One that fits is given to encoding/json as it is, so that the result is its
// result. Of one that does not, the beginning is encoded, part by part, each part that
// fits by encoding/json.
//
// Methods of the value that encoding/json calls (MarshalJSON, MarshalText, IsZero) are
// called under a [guard.Guard], beside the caller: they may panic, end their
// goroutine, or not return. What they cost themselves is theirs: the bound is on time
// alone.
package boundjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/waymark-trace/waymark/internal/guard"
)

// always is a size up to which values are encoded whole, whatever the limit: it is
// known then how much of them is cut.
const always = 4 << 10

var (
	// errDeep is a value that is nested too deeply, or holds itself.
	errDeep = errors.New("the value is nested too deeply, or holds itself")
	errType = errors.New("not a type of JSON")
)

// Encoder encodes values. It is safe for concurrent use; the zero value is ready.
type Encoder struct {
	Guard guard.Guard // what methods are called under
	types types
}

// Encode returns v as encoding/json writes it, without escapes for HTML, and true; or,
// when it has more than limit and more than 4 KiB, its beginning of about limit bytes,
// and false. An error says that there is no JSON for v: encoding/json's own, or
// that of the value's methods.
func (e *Encoder) Encode(v any, limit int) (text []byte, whole bool, err error) {
	m := meter{types: &e.types, left: max(limit, always)}
	fits := m.measure(v)
	switch {
	case m.deep:
		return nil, false, errDeep
	case fits && !m.foreign:
		text, err = encode(v)
		return text, true, err
	}
	// From here on the value's methods may run: a large one may have some that the
	// meter has not come to.
	var out struct {
		text  []byte
		whole bool
	}
	err = e.Guard.Call(reflect.TypeOf(v), func() (err error) {
		if out.whole = fits; !fits {
			out.text, out.whole, err = e.begin(v, limit)
		}
		if out.whole && err == nil {
			out.text, err = encode(v)
		}
		return err
	})
	if err != nil { // out may be written at any time
		return nil, false, err
	}
	return out.text, out.whole, nil
}

// begin writes v until there is more than limit; else it reports that v fits.
func (e *Encoder) begin(v any, limit int) (text []byte, fits bool, err error) {
	w := newWriter(&e.types, limit+1)
	err = w.value(reflect.ValueOf(v))
	return w.out.Bytes(), !w.full(), err
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	j := json.NewEncoder(&b)
	j.SetEscapeHTML(false)
	if err := j.Encode(v); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
