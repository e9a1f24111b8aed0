package tracecontext

import (
	"slices"
	"strings"

	"go.opentelemetry.io/otel/trace"
)

// MaxTracestateBytes is the longest tracestate that is passed on, in bytes of
// the combined header. The specification asks for at least 512. A valid list can
// have 16,447, which is more than many servers take for all headers together
// (8 KiB is a common limit), so a caller could make every request behind this
// service fail. Whole members are left out above the bound: those longer than
// 128 bytes first, then from the right.
//
// Spec: https://www.w3.org/TR/trace-context-2/#tracestate-limits
const MaxTracestateBytes = 4096

const (
	maxMembers  = 32
	maxKeyLen   = 256
	maxValueLen = 256
	longMember  = 128 // members longer than this go first when a list is too long
)

// member is one list-member of a tracestate.
type member struct{ key, value string }

func (m member) size() int { return len(m.key) + len("=") + len(m.value) }

type list []member

// parseList reads the combined header: all values in order, as if a comma stood
// between them. One member that is not valid makes the whole list invalid. Empty
// members are allowed and do not count.
//
// Spec: https://www.w3.org/TR/trace-context-2/#list
func parseList(headers []string) (list, bool) {
	var l list
	for _, h := range headers {
		for h != "" {
			var text string
			text, h, _ = strings.Cut(h, ",")
			if text = strings.Trim(text, ows); text == "" {
				continue
			}
			key, value, found := strings.Cut(text, "=")
			if !found || !validKey(key) || !validValue(value) || len(l) == maxMembers {
				return nil, false
			}
			l = append(l, member{key, value})
		}
	}
	return l, true
}

// validKey is Level 2's key, which has no parts any more: "@" is a character
// like the others, anywhere but at the start.
//
// Spec: https://www.w3.org/TR/trace-context-2/#key
func validKey(key string) bool {
	if key == "" || len(key) > maxKeyLen || !isLowerOrDigit(key[0]) {
		return false
	}
	for i := 1; i < len(key); i++ {
		if !isLowerOrDigit(key[i]) && strings.IndexByte("_-*/@", key[i]) < 0 {
			return false
		}
	}
	return true
}

func isLowerOrDigit(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
}

// validValue takes a value without its trailing white space; leading blanks are
// part of it.
//
// Spec: https://www.w3.org/TR/trace-context-2/#value
func validValue(value string) bool {
	if value == "" || len(value) > maxValueLen {
		return false
	}
	for i := range len(value) {
		if c := value[i]; c < ' ' || c > '~' || c == ',' || c == '=' {
			return false
		}
	}
	return value[len(value)-1] != ' '
}

func (l list) size() int {
	n := max(len(l)-1, 0)
	for _, m := range l {
		n += m.size()
	}
	return n
}

func (l list) String() string {
	var b strings.Builder
	b.Grow(l.size())
	for i, m := range l {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(m.key)
		b.WriteByte('=')
		b.WriteString(m.value)
	}
	return b.String()
}

func (l list) has(key string) bool {
	for _, m := range l {
		if m.key == key {
			return true
		}
	}
	return false
}

// fit drops whole members until the limits hold. It works in place.
func (l list) fit() list {
	l = l[:min(len(l), maxMembers)]
	for size := l.size(); size > MaxTracestateBytes; size = l.size() {
		drop := len(l) - 1
		for i, m := range slices.Backward(l) {
			if m.size() > longMember {
				drop = i
				break
			}
		}
		l = append(l[:drop], l[drop+1:]...)
	}
	return l
}

// members returns what ts holds.
func members(ts trace.TraceState) list {
	l := make(list, 0, ts.Len())
	ts.Walk(func(key, value string) bool {
		l = append(l, member{key, value})
		return true
	})
	return l
}
