package boundjson

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Object is a JSON object whose members keep their order. A member that has no JSON
// is a string that says so.
type Object []Member

// Member is one of an [Object].
type Member struct {
	Name  string
	Value any
}

// MarshalJSON encodes the members.
func (o Object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(orUnencodable(m.Name))
		b.WriteByte(':')
		b.Write(orUnencodable(m.Value))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Unencodable is what stands in place of a value that has no JSON.
func Unencodable(v any) string { return fmt.Sprintf("<not encodable: %T>", v) }

// orUnencodable is the JSON of v, else of what stands in its place.
func orUnencodable(v any) (text []byte) {
	defer func() {
		if recover() != nil {
			text = quote(Unencodable(v))
		}
	}()
	if text, err := encode(v); err == nil {
		return text
	}
	return quote(Unencodable(v))
}

func quote(s string) []byte {
	text, err := encode(s)
	if err != nil { // a string has JSON
		return []byte(`""`)
	}
	return text
}

var _ json.Marshaler = Object(nil)
