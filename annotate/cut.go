package annotate

import (
	"strconv"
	"strings"
	"unicode/utf8"
	"unique"
)

// cut copies at most limit bytes of s, to the boundary of a character, and says how much is missing. Bytes that
// are no UTF-8 are replaced. A text that were not copied would keep all of what it is a part of: a request's
// body for the value of one field.
func cut[T string | []byte](s T, limit int) string {
	if len(s) <= limit {
		return copied(s)
	}
	return cutOff(s, limit, 0)
}

// cutOff is cut for s as the beginning of something that has so many bytes more; below 0 it is not known how many.
func cutOff[T string | []byte](s T, limit, more int) string {
	end := boundary(s, limit)
	missing := ""
	if more >= 0 {
		missing = " " + strconv.Itoa(len(s)-end+more) + " bytes"
	}
	return copied(s[:end]) + "…[truncated" + missing + "]"
}

func copied[T string | []byte](s T) string { return valid(strings.Clone(string(s))) }

// cutKey is cut for the names of attributes, which are mostly the same ones: there is one copy of each.
func cutKey(key string, limit int) string {
	if len(key) > limit || !utf8.ValidString(key) {
		return cut(key, limit)
	}
	return unique.Make(key).Value()
}

// cutAll copies list until limit bytes are used, or so many strings that these cost as much; what stands in place of the rest says how much is missing.
func cutAll(list []string, limit int) []string {
	most, used := max(limit/wordBytes, 128), 0
	short := make([]string, 0, min(len(list), most+1))
	for i, s := range list {
		room := limit - used
		if used += len(s); i < most && used <= limit {
			short = append(short, copied(s))
			continue
		}
		if i < most {
			short, i = append(short, cut(s, room)), i+1
		}
		if more := len(list) - i; more > 0 {
			short = append(short, "…[truncated "+strconv.Itoa(more)+" strings]")
		}
		break
	}
	return short
}

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// boundary is the last boundary of a character of s that is not behind limit.
func boundary[T string | []byte](s T, limit int) int {
	end := min(max(limit, 0), len(s))
	for end > 0 && end < len(s) && !utf8.RuneStart(s[end]) && limit-end < utf8.UTFMax {
		end--
	}
	return end
}
