package redact

import "strings"

// URL redacts the query, the fragment and the user info of a URL that stands in a header.
func (q Redactor) URL(s string) string {
	s, fragment, hasFragment := strings.Cut(s, "#")
	s, query, hasQuery := strings.Cut(s, "?")
	if scheme, rest, ok := strings.Cut(s, "//"); ok {
		authority, path, slash := strings.Cut(rest, "/")
		if i := strings.LastIndexByte(authority, '@'); i >= 0 {
			s = scheme + "//" + Mark + authority[i:]
			if slash {
				s += "/" + path
			}
		}
	}
	if hasQuery {
		s += "?" + q.Query(query)
	}
	if hasFragment {
		s += "#" + q.Query(fragment)
	}
	return s
}
