package otlpjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/otlpjson"
)

func scanner(text string) *otlpjson.Scanner {
	s := &otlpjson.Scanner{}
	s.Reset([]byte(text))
	return s
}

// depth is how deep brackets nest in valid JSON.
func depth(b []byte) int {
	dec := json.NewDecoder(bytes.NewReader(b))
	deepest, d := 0, 0
	for {
		tok, err := dec.Token()
		if err != nil {
			return deepest
		}
		switch tok {
		case json.Delim('{'), json.Delim('['):
			d++
			deepest = max(deepest, d)
		case json.Delim('}'), json.Delim(']'):
			d--
		}
	}
}

// FuzzSkip takes exactly what encoding/json takes, up to the depth.
func FuzzSkip(f *testing.F) {
	for _, s := range []string{
		``, ` `, `{}`, `[]`, `{"a":[1,-0.5e+3,true,false,null,"x\u00e9\ud83d\ude00\n"],"b":{}}`, `[1,]`, `{"a"}`, `{"a":1,}`,
		`01`, `-`, `1.`, `1e`, `"\x"`, `"\ud800"`, "\"\x01\"", "\"\xff\"", `tru`, `nul`, `[[[[]]]]`, `{"a":{"b":[{"c":{}}]}}`, `1 2`, `,`, `[}`, `{]`, `"`, `"\`,
		strings.Repeat("[", 501) + strings.Repeat("]", 501), strings.Repeat("[", 500) + strings.Repeat("]", 500),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s := scanner(string(text))
		s.Skip()
		s.End()
		want := json.Valid(text)
		if want && depth(text) > otlpjson.MaxDepth {
			want = false
		}
		if got := s.Err() == nil; got != want {
			t.Fatalf("Skip(%q): %v, encoding/json says valid = %v", text, s.Err(), want)
		}
	})
}

// FuzzText decodes strings as encoding/json does.
func FuzzText(f *testing.F) {
	for _, s := range []string{
		`""`, `"plain ASCII of more than eight bytes"`, `"é日本😀"`, `"\"\\\/\b\f\n\r\t"`, `"\u0041\ud83d\ude00\ud83d\ud83d\ude00\udc00x"`,
		"\"\xff\xc3\xe2\x82ok\"", `"12345678\u00e9"`, `"\ud800\u0041"`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) == 0 || text[0] != '"' {
			return
		}
		s := scanner(string(text))
		got := string(s.Text())
		s.End()
		var want string
		err := json.Unmarshal(text, &want)
		if (s.Err() == nil) != (err == nil) || err == nil && got != want {
			t.Fatalf("Text(%q) = %q, %v; encoding/json: %q, %v", text, got, s.Err(), want, err)
		}
	})
}

func TestScannerLoop(t *testing.T) {
	t.Parallel()
	s := scanner(` { "name" : "x" , "list":[1 , 2], "none":null, "empty":{} , "other":[{"a":[]}]} `)
	var keys []string
	var sum uint64
	for ok := s.Begin('{'); ok && s.More('}'); {
		key := string(s.Key())
		keys = append(keys, key)
		switch key {
		case "name":
			if got := string(s.Text()); got != "x" {
				t.Errorf("name = %q", got)
			}
		case "list", "none":
			for ok := s.Begin('['); ok && s.More(']'); {
				sum += s.Uint64()
			}
		default:
			s.Skip()
		}
	}
	s.End()
	if got := strings.Join(keys, " "); got != "name list none empty other" || sum != 3 || s.Err() != nil {
		t.Errorf("keys %q, sum %d, error %v", got, sum, s.Err())
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want uint64
		ok   bool
	}{
		{`0`, 0, true},
		{`"18446744073709551615"`, math.MaxUint64, true},
		{`18446744073709551615`, math.MaxUint64, true},
		{`18446744073709551616`, 0, false},
		{`1.7e18`, 1_700_000_000_000_000_000, true},
		{`"1.5"`, 0, false},
		{`3.0`, 3, true},
		{`-1`, 0, false},
		{`null`, 0, true},
		{`""`, 0, true},
		{`"x"`, 0, false},
		{`"0x10"`, 0, false},
		{`"1_0"`, 0, false},
		{`true`, 0, false},
		{`01`, 0, false},
		{`1.6530302570751997e18`, 1_653_030_257_075_199_700, true}, // the nearest double ends in 744
		{`"1.8446744073709551615E+19"`, math.MaxUint64, true},
		{`1.8446744073709551616e19`, 0, false},
		{`18446744073709551615.000`, math.MaxUint64, true},
		{`"1844674407370955161500e-2"`, math.MaxUint64, true},
		{`1e19`, 10_000_000_000_000_000_000, true},
		{`1e20`, 0, false},
		{`2e19`, 0, false},
		{`0.5`, 0, false},
		{`1e-1`, 0, false},
		{`-0.0`, 0, true},
		{`0e999999999999`, 0, true},
		{`1e999999999999`, 0, false},
		{`1e-999999999999`, 0, false},
		{`"e5"`, 0, false},
		{`"."`, 0, false},
		{`"1e"`, 0, false},
		{`"1.2.3"`, 0, false},
		{`"1e1_0"`, 0, false},
		{`"+5"`, 5, true},
	} {
		s := scanner(tt.text)
		got := s.Uint64()
		s.End()
		if got != tt.want && tt.ok || (s.Err() == nil) != tt.ok {
			t.Errorf("Uint64(%s) = %d, %v; want %d, %v", tt.text, got, s.Err(), tt.want, tt.ok)
		}
	}
	for text, want := range map[string]int64{
		`"-9223372036854775808"`: math.MinInt64, `9223372036854775807`: math.MaxInt64, `-1e3`: -1000, `null`: 0, `7`: 7,
		`-9.223372036854775808e18`: math.MinInt64, `9.223372036854775807e18`: math.MaxInt64, `-1.5e1`: -15, `-0.0`: 0,
	} {
		s := scanner(text)
		if got := s.Int64(); got != want || s.Err() != nil {
			t.Errorf("Int64(%s) = %d, %v; want %d", text, got, s.Err(), want)
		}
	}
	for _, text := range []string{`9223372036854775808`, `9.223372036854775808e18`, `-9.223372036854775809e18`, `"1.5"`, `[]`} {
		s := scanner(text)
		if got := s.Int64(); s.Err() == nil {
			t.Errorf("Int64(%s) = %d, want an error", text, got)
		}
	}
	for text, want := range map[string]float64{
		`1.5`: 1.5, `"1.5"`: 1.5, `"Infinity"`: math.Inf(1), `"-Infinity"`: math.Inf(-1), `1e999`: math.Inf(1), `null`: 0, `-0.0`: math.Copysign(0, -1),
	} {
		s := scanner(text)
		if got := s.Float64(); math.Float64bits(got) != math.Float64bits(want) || s.Err() != nil {
			t.Errorf("Float64(%s) = %v, %v; want %v", text, got, s.Err(), want)
		}
	}
	if s := scanner(`"NaN"`); !math.IsNaN(s.Float64()) {
		t.Error("NaN is not read")
	}
	for _, text := range []string{`"inf"`, `"0x1p-2"`, `"1_0"`, `"x"`} {
		if s := scanner(text); s.Float64() != 0 || s.Err() == nil {
			t.Errorf("Float64(%s) is taken", text)
		}
	}
	for text, want := range map[string]bool{`true`: true, `false`: false, `null`: false, `"true"`: true, `"false"`: false} {
		if s := scanner(text); s.Bool() != want || s.Err() != nil {
			t.Errorf("Bool(%s) is not %v", text, want)
		}
	}
}

func TestErrorsStick(t *testing.T) {
	t.Parallel()
	s := scanner(`{"a":1 "b":2}`)
	n := 0
	for ok := s.Begin('{'); ok && s.More('}'); {
		n++
		s.Key()
		s.Skip()
	}
	var syntax *otlpjson.SyntaxError
	if !errors.As(s.Err(), &syntax) || syntax.Offset != 7 || n != 1 {
		t.Errorf("%d members, error %v, want one and a fault at byte 7", n, s.Err())
	}
	s.Seek(0)
	if s.Peek() != 0 || s.Uint64() != 0 || s.Text() != nil || s.Raw() != nil || s.More(']') {
		t.Error("reading goes on after an error")
	}
	first := s.Err()
	s.Skip()
	if !errors.Is(s.Err(), first) {
		t.Error("a later error replaced the first")
	}
}

// TestMismatch goes on behind a value of another type, and tells where it was.
func TestMismatch(t *testing.T) {
	t.Parallel()
	text := `{"a":[1,{"b":"x"}],"object":5,"array":{"b":[]},"string":7.5,"number":[{}],"uint":"-5","small":5000000000,` +
		`"int":"x","float":"y","bool":"z","bool2":[true],"name":"end"} `
	s := scanner(text)
	var got []string
	s.Mismatch = func(offset int, what string) {
		got = append(got, s.Path(0, offset)+" "+text[offset:offset+1]+" "+what)
	}
	name := ""
	for ok := s.Begin('{'); ok && s.More('}'); {
		switch key := string(s.Key()); key {
		case "a":
			for ok := s.Begin('['); ok && s.More(']'); {
				for ok := s.Begin('{'); ok && s.More('}'); {
					s.Key()
					s.Uint64()
				}
			}
		case "object":
			s.Begin('{')
		case "array":
			s.Begin('[')
		case "string":
			s.Text()
		case "number":
			s.Number()
		case "uint":
			s.Uint64()
		case "small":
			s.Uint32()
		case "int":
			s.Int64()
		case "float":
			s.Float64()
		case "bool", "bool2":
			s.Bool()
		case "name":
			name = string(s.Text())
		}
	}
	s.End()
	want := []string{
		"a 1 want an object", "a.b \" want an unsigned 64-bit integer",
		"object 5 want an object", "array { want an array", "string 7 want a string", "number [ want a number",
		`uint " want an unsigned 64-bit integer`, "small 5 want an unsigned 32-bit integer", `int " want a 64-bit integer`,
		`float " want a number`, `bool " want true or false`, "bool2 [ want true or false",
	}
	if !slices.Equal(got, want) || name != "end" || s.Err() != nil {
		t.Errorf("error %v, name %q, mismatches\n%s\nwant\n%s", s.Err(), name, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestMismatchIsNoExcuse holds that what is no JSON stays a fault.
func TestMismatchIsNoExcuse(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"a":[1,}`, `{"a":tru}`, `{5:1}`, `{"a":`, `{"a":x}`, `{"a"}`} {
		s := scanner(text)
		s.Mismatch = func(int, string) {}
		for ok := s.Begin('{'); ok && s.More('}'); {
			s.Key()
			s.Text()
		}
		if s.Err() == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

// FuzzWhole takes the integers that exact arithmetic takes.
func FuzzWhole(f *testing.F) {
	for _, s := range []string{"1.6530302570751997e18", "0.00e5", "120e-1", "18446744073709551615.0", "-1e3", "1e20"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 40 || !json.Valid([]byte(text)) || strings.Trim(text, "+-.0123456789eE") != "" {
			return
		}
		_, exponent, _ := strings.Cut(strings.ToLower(text), "e")
		if len(exponent) > 4 {
			return // big.Rat would build it
		}
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			return
		}
		s := scanner(text)
		got := s.Uint64()
		want := exact.IsInt() && exact.Num().IsUint64()
		if taken := s.Err() == nil; taken != want || want && got != exact.Num().Uint64() {
			t.Fatalf("Uint64(%s) = %d, %v; exactly %s", text, got, s.Err(), exact)
		}
		s = scanner(text)
		signed := s.Int64()
		want = exact.IsInt() && exact.Num().IsInt64()
		if taken := s.Err() == nil; taken != want || want && signed != exact.Num().Int64() {
			t.Fatalf("Int64(%s) = %d, %v; exactly %s", text, signed, s.Err(), exact)
		}
	})
}
