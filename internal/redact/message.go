package redact

import (
	"fmt"
	"net/netip"
	"net/url"
	"reflect"
	"strings"
	"sync"
)

// Message returns the text of v, an error or what was thrown, as a span may have it: as [Redactor.Text] leaves it, and
// without what differs for each connection, so that equal failures can be grouped. It is of about limit bytes; the
// caller cuts it. It does not panic, whatever the methods of v do.
func (q Redactor) Message(v any, limit int) string {
	return alike(q.Text(textOf(v), limit))
}

// Message is [Redactor.Message] for the built-in keys.
func Message(v any, limit int) string { return builtin().Message(v, limit) }

// Text is [Redactor.Text] for the built-in keys.
func Text(s string, limit int) string { return builtin().Text(s, limit) }

var builtin = sync.OnceValue(func() Redactor { return New() }) //nolint:gochecknoglobals // made once, never changed

func textOf(v any) (text string) {
	defer func() {
		if recover() != nil { // out of a method of v that fmt does not guard
			text = unprintable(v)
		}
	}()
	v, fits := showable(v)
	if !fits {
		return unprintable(v)
	}
	return fmt.Sprint(v)
}

func unprintable(v any) string { return fmt.Sprintf("a value of type %T", v) }

// Showable returns what may be printed in the place of v: v itself, unless parts of a request are in it that fmt and
// encoding/json show with their secrets in a shape that [Redactor.Text] does not see.
func Showable(v any) any {
	v, _ = showable(v)
	return v
}

// showable also reports whether fmt can print it in maxPrinted bytes; fmt itself knows no bound, and a map that holds
// itself would end the program.
func showable(v any) (shown any, fits bool) {
	switch v := v.(type) {
	case url.URL: // its method is the pointer's
		return &v, true
	case string, error, fmt.Stringer, fmt.Formatter:
		return v, true
	}
	s := survey{room: maxPrinted, looks: maxPrinted / 8}
	s.of(reflect.ValueOf(v), true, true)
	if s.secret {
		return unprintable(v), true
	}
	return v, s.room >= 0
}

// maxPrinted is about how many bytes fmt may have to print for a value.
const maxPrinted = 64 << 10

// survey looks at what is printed of a value.
type survey struct {
	room, looks int
	secret      bool
}

// of looks at v. fmt follows pointers at the top only; encoding/json, which does not count here, follows all.
func (s *survey) of(v reflect.Value, top, printed bool) {
	if printed {
		s.room -= 8
	}
	if s.looks--; s.room < 0 || s.looks < 0 || !v.IsValid() {
		return
	}
	if s.secret = s.secret || isPartOfRequest(v.Type()); s.secret {
		return
	}
	switch v.Kind() { //nolint:exhaustive // the others are short
	case reflect.String:
		if printed {
			s.room -= v.Len()
		}
	case reflect.Interface:
		s.of(v.Elem(), false, printed)
	case reflect.Pointer:
		s.of(v.Elem(), false, printed && top)
	case reflect.Struct:
		for _, field := range v.Fields() {
			s.of(field, false, printed)
		}
	case reflect.Slice, reflect.Array:
		for i := 0; i < v.Len() && s.goesOn(); i++ {
			s.of(v.Index(i), false, printed)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next() && s.goesOn(); {
			s.of(it.Key(), false, printed)
			s.of(it.Value(), false, printed)
		}
	}
}

func (s *survey) goesOn() bool { return s.room >= 0 && s.looks >= 0 && !s.secret }

// isPartOfRequest reports whether fmt prints a t with its secrets in a shape that [Redactor.Text] does not see.
func isPartOfRequest(t reflect.Type) bool {
	switch t.String() {
	case "url.URL", "*url.Userinfo", "url.Userinfo", "url.Values", "http.Header", "http.Cookie":
		return strings.HasPrefix(t.PkgPath()+"net/", "net/")
	}
	return false
}

// alike drops from a text what differs for each connection and each stream: "write tcp 10.0.0.1:80->10.0.0.2:5123:
// broken pipe", "stream error: stream ID 7; CANCEL".
func alike(s string) string {
	for _, before := range []string{"stream ID ", "LastStreamID="} {
		s = withoutNumber(s, before)
	}
	var b strings.Builder
	kept := 0 // s[:kept] is in b
	for from := 0; ; {
		i := strings.Index(s[from:], "->")
		if i < 0 && kept == 0 {
			return s
		}
		if i < 0 {
			return b.String() + s[kept:]
		}
		from += i
		if start, end, ok := pairAround(s, from); ok && start >= kept {
			b.WriteString(s[kept:start])
			kept = end
		}
		from += len("->")
	}
}

func withoutNumber(s, before string) string {
	i := strings.Index(s, before)
	if i < 0 {
		return s
	}
	i += len(before)
	rest := strings.TrimLeft(s[i:], "0123456789")
	if len(rest) == len(s)-i {
		return s
	}
	return s[:i] + "N" + rest
}

// maxAddress is how long an address and its port are at most: an IPv6 address with a zone.
const maxAddress = 80

// pairAround returns where two addresses stand around an arrow, with the blank in front of them.
func pairAround(s string, arrow int) (start, end int, ok bool) {
	start = max(arrow-maxAddress, 0)
	start += strings.LastIndexAny(s[start:arrow], " \t\n\"'(=") + 1
	to := arrow + len("->")
	word := s[to:min(blank(s, to), to+maxAddress)]
	end = to + len(strings.TrimRight(word, sentence))
	for _, addr := range []string{s[start:arrow], s[to:end]} {
		if _, err := netip.ParseAddrPort(addr); err != nil {
			return 0, 0, false
		}
	}
	if start > 0 && s[start-1] == ' ' {
		start--
	}
	return start, end, true
}
