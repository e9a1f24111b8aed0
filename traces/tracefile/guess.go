package tracefile

import "github.com/waymark-trace/waymark/traces"

// guesses remembers, by place in the list, how the attributes of the last spans
// began, up to their value:
//
//	{"key":"http.route","value":{"stringValue":"
//
// Spans of one program repeat these again and again, so that comparing the text
// is quicker than reading it (ADR 0122): where it is the same, so is the key.
// Two are kept for each place, because server and client spans take turns.
type guesses struct {
	places [maxGuesses]struct {
		two  [2]guess
		last uint8 // the one of the two that was right the last time
	}
}

const (
	maxGuesses = 32
	guessBytes = 128 // a longer beginning is not remembered
)

type guess struct {
	text []byte
	key  string
	kind traces.ValueKind // string or int, whose value is in quotes
}

// guessed reads an attribute that begins as one at the same place did before.
// When it does not, the scanner is back where it was.
func (d *decoder) guessed(a *traces.Attribute, place int) bool {
	if place >= maxGuesses {
		return false
	}
	p := &d.guesses.places[place]
	g := &p.two[p.last]
	if len(g.text) == 0 || !d.s.LitBytes(g.text) {
		g = &p.two[p.last^1]
		if len(g.text) == 0 || !d.s.LitBytes(g.text) {
			return false
		}
		p.last ^= 1
	}
	at := d.s.Offset() - len(g.text)
	value := d.s.Rest()
	if g.kind == traces.ValueString {
		a.Value = traces.String(d.copy(value))
	} else {
		n, ok := otlpInt(value)
		if !ok {
			d.s.Seek(at)
			return false
		}
		a.Value = traces.Int(n)
	}
	if !d.s.Lit(`}}`) {
		d.s.Seek(at)
		return false
	}
	a.Key = g.key
	return true
}

// learn remembers the beginning of an attribute that was no guess.
func (d *decoder) learn(place int, text []byte, key string, kind traces.ValueKind) {
	if place >= maxGuesses || len(text) > guessBytes {
		return
	}
	p := &d.guesses.places[place]
	p.last ^= 1
	g := &p.two[p.last]
	g.text, g.key, g.kind = append(g.text[:0], text...), key, kind
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
