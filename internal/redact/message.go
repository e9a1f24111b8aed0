package redact

import (
	"fmt"
	"net/netip"
	"net/url"
	"reflect"
	"strings"
)

// Message returns the text of v, an error or what was thrown, as a span may have it: as [Redactor.Text] leaves it, and
// without what differs for each connection, so that equal failures can be grouped. It is of about limit bytes; the
// caller cuts it. It does not panic, whatever the methods of v do.
func (q Redactor) Message(v any, limit int) string {
	return alike(q.Text(textOf(v), limit))
}

func textOf(v any) (text string) {
	defer func() {
		if recover() != nil { // out of a method of v that fmt does not guard
			text = unprintable(v)
		}
	}()
	switch v := v.(type) {
	case string:
		return v
	case url.URL: // fmt would print its fields
		return v.String()
	case error, fmt.Stringer, fmt.Formatter:
	default:
		if room := maxPrinted; !fits(reflect.ValueOf(v), true, &room) {
			return unprintable(v)
		}
	}
	return fmt.Sprint(v)
}

func unprintable(v any) string { return fmt.Sprintf("a value of type %T", v) }

// maxPrinted is about how many bytes fmt may have to print for a value.
const maxPrinted = 64 << 10

// fits reports whether fmt can print v in room bytes without a secret. It follows what fmt follows: pointers at the top
// only. fmt itself knows no bound, and a map that holds itself would end the program.
func fits(v reflect.Value, top bool, room *int) bool {
	*room -= 8
	if *room < 0 || v.IsValid() && isPartOfRequest(v.Type()) {
		return false
	}
	switch v.Kind() { //nolint:exhaustive // the others are short
	case reflect.String:
		*room -= v.Len()
	case reflect.Interface:
		return fits(v.Elem(), false, room)
	case reflect.Pointer:
		return !top || fits(v.Elem(), false, room)
	case reflect.Struct:
		for _, field := range v.Fields() {
			if !fits(field, false, room) {
				return false
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if !fits(v.Index(i), false, room) {
				return false
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if !fits(it.Key(), false, room) || !fits(it.Value(), false, room) {
				return false
			}
		}
	}
	return *room >= 0
}

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
	for from := 0; ; {
		i := strings.Index(s[from:], "->")
		if i < 0 {
			return s
		}
		start, end := pairAround(s, from+i)
		if start < 0 {
			from += i + len("->")
			continue
		}
		s = s[:start] + s[end:]
		from = start
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

// pairAround returns where the two addresses around an arrow stand, with the blank in front of them; start is -1 when
// they are none.
func pairAround(s string, arrow int) (start, end int) {
	start = strings.LastIndexByte(s[:arrow], ' ')
	to := arrow + len("->")
	end = to + len(strings.TrimRight(s[to:blank(s, to)], sentence))
	for _, addr := range []string{s[start+1 : arrow], s[to:end]} {
		if _, err := netip.ParseAddrPort(addr); err != nil {
			return -1, 0
		}
	}
	return max(start, 0), end
}
