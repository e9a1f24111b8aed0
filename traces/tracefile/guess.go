package tracefile

import (
	"bytes"

	"github.com/waymark-trace/waymark/traces"
)

// guesses remembers, by place in the list, the attributes of the last spans as
// they stand in the file:
//
//	{"key":"http.route","value":{"stringValue":"/users/{id}"}}
//
// Spans of one program repeat these again and again, so that comparing the text
// is quicker than reading it (ADR 0060): where the whole is the same, so is the
// attribute, and where the text up to the value is, so is the key. Two are kept
// for each place, because server and client spans take turns.
type guesses struct {
	places [maxGuesses]struct {
		two  [2]guess
		last uint8 // the one of the two that was right the last time
	}
}

const (
	maxGuesses = 32
	guessBytes = 256 // a longer attribute is not remembered
)

type guess struct {
	text   []byte // of the whole attribute, or only up to its value
	start  int    // of the value in text
	kind   traces.ValueKind
	wanted bool // not left out by [WithAttributes]
	// attr is the attribute. Its key is always right, its value only when
	// again is set: a text for it is made when a value comes a second time.
	attr  traces.Attribute
	again bool
	fresh uint8 // how many values in a row came once
}

// guessed reads an attribute that begins as one at the same place did before.
// When it does not, the scanner is back where it was.
func (d *decoder) guessed(a *traces.Attribute, place int, only *fields) (g *guess) {
	if place >= maxGuesses {
		return nil
	}
	p := &d.guesses.places[place]
	for range p.two {
		g = &p.two[p.last]
		if g.again && d.s.LitBytes(g.text) {
			a.Key, a.Value = g.attr.Key, g.attr.Value
			return g
		}
		if at := d.s.Offset(); g.start > 0 && d.s.LitBytes(g.text[:g.start]) {
			if !d.guessedValue(a, g, only != nil && !g.wanted) {
				d.s.Seek(at)
				return nil
			}
			return g
		}
		p.last ^= 1
	}
	return nil
}

// guessedValue reads the value of an attribute and the end of it.
func (d *decoder) guessedValue(a *traces.Attribute, g *guess, leaveOut bool) bool {
	switch at := d.s.Offset(); g.kind {
	case traces.ValueString:
		text := d.s.Rest()
		if !d.s.Lit(`}}`) {
			return false
		}
		raw := d.s.Since(at)
		switch {
		case leaveOut:
		case d.repeats(g, raw):
			g.attr.Value = traces.String(string(text))
			a.Value = g.attr.Value
		default:
			a.Value = traces.String(d.copy(text))
		}
	case traces.ValueInt:
		n, ok := otlpInt(d.s.Rest())
		if !ok || !d.s.Lit(`}}`) {
			return false
		}
		a.Value = traces.Int(n)
		if d.repeats(g, d.s.Since(at)) {
			g.attr.Value = a.Value
		}
	default: // two values: no need to remember one
		switch {
		case d.s.Lit(`true}}`):
			a.Value = traces.Bool(true)
		case d.s.Lit(`false}}`):
			a.Value = traces.Bool(false)
		default:
			return false
		}
	}
	a.Key = g.attr.Key
	return true
}

// repeats says whether the value and what follows it are what g has seen the
// last time, and remembers them. Of values that are always new one in eight is
// remembered.
func (d *decoder) repeats(g *guess, raw []byte) bool {
	if bytes.Equal(g.text[g.start:], raw) {
		g.again, g.fresh = true, 0
		return true
	}
	g.again = false
	if g.fresh++; g.fresh >= 16 {
		if g.fresh < 24 {
			return false
		}
		g.fresh = 16
	}
	if g.start+len(raw) > guessBytes {
		raw = nil
	}
	g.text = append(g.text[:g.start], raw...)
	return false
}

// learn remembers the beginning of an attribute that was no guess.
func (d *decoder) learn(place int, text []byte, key string, kind traces.ValueKind) {
	if place >= maxGuesses || len(text) > guessBytes {
		return
	}
	p := &d.guesses.places[place]
	p.last ^= 1
	g := &p.two[p.last]
	*g = guess{
		text: append(g.text[:0], text...), start: len(text), kind: kind,
		attr: traces.Attribute{Key: key}, wanted: d.fields == nil || d.fields.keys[key],
	}
}

// otlpInt reads up to 18 digits, with a sign; the rest is for the slow way.
func otlpInt(text []byte) (n int64, ok bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	if len(text) == 0 || len(text) > 18 {
		return 0, false
	}
	for _, c := range text {
		if c -= '0'; c > 9 {
			return 0, false
		}
		n = n*10 + int64(c)
	}
	if negative {
		n = -n
	}
	return n, true
}
