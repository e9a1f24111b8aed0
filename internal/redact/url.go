package redact

import "strings"

// URL returns s, a URL, without secrets: its user information, and the values of secret keys in query and fragment. It
// does so also where s is no valid URL, since errors name those: a password may hold any byte.
func (q Redactor) URL(s string) string {
	if from, to, ok := userInfo(s); ok {
		s = s[:from] + Mark + s[to:]
	}
	i := strings.IndexAny(s, "?#")
	if i < 0 {
		return s
	}
	query, fragment := s[i+1:], ""
	if s[i] == '?' {
		if j := strings.IndexByte(query, '#'); j >= 0 {
			query, fragment = query[:j], query[j:]
		}
	}
	return s[:i+1] + q.Query(query) + q.Query(fragment)
}

// userInfo returns where the user information of a URL stands. When an authority has one, all up to the last @ counts
// for it: a password with a / or a # in it is why the URL was refused. Without an @, what follows a colon and is no port
// is a password that was cut.
func userInfo(s string) (from, to int, ok bool) {
	last := strings.LastIndexByte(s, '@')
	scheme := false
	for i := 0; ; {
		j := strings.Index(s[i:], "//")
		if j < 0 {
			break
		}
		i += j + len("//")
		hasScheme := i > 2 && s[i-3] == ':'
		scheme = scheme || hasScheme
		n := authorityLen(s[i:])
		switch password := hasScheme && !isHostPort(s[i:i+n], s[i+n:]); {
		case strings.IndexByte(s[i:i+n], '@') >= 0, password && last > i:
			return i, last, true
		case password:
			return i, i + n, true
		}
	}
	if scheme {
		return 0, 0, false
	}
	return looseUserInfo(s, last)
}

// maxAuthority is how long an authority is at most: a host name of 255 bytes and its port.
const maxAuthority = 261

func authorityLen(s string) int {
	if i := strings.IndexAny(s, `/?#\`); i >= 0 {
		return i
	}
	return len(s)
}

// isHostPort reports whether s, an authority without an @ in front of path, may be a host with or without a port, or a
// list of them. A colon in front of a path is one of a password that begins with a slash; in front of // it is the next
// URL's.
func isHostPort(s, path string) bool {
	if len(s) > maxAuthority || strings.HasSuffix(s, ":") && path != "" && !strings.HasPrefix(path, "//") {
		return false
	}
	for one := range strings.SplitSeq(s, ",") {
		if strings.HasPrefix(one, "[") {
			_, one, _ = strings.Cut(one, "]")
		}
		if _, port, ok := strings.Cut(one, ":"); ok && !isPort(port) {
			return false
		}
	}
	return true
}

// isPort reports whether s is a number of at most five digits, or nothing.
func isPort(s string) bool {
	return len(s) <= 5 && strings.Trim(s, "0123456789") == ""
}

// looseUserInfo returns where user:password stands in front of the @ at, as in names of data sources and in addresses of
// proxies. Neither a drive (C:/a@b) nor a port (host:8080/a@b) nor a digest (image:7@sha256:…) makes a password.
func looseUserInfo(s string, at int) (from, to int, ok bool) {
	if at < 0 || strings.HasPrefix(s[at:], "@sha256:") {
		return 0, 0, false
	}
	for i := range at {
		if s[i] != ':' {
			continue
		}
		from = i
		for from > 0 && isUserByte(s[from-1]) {
			from--
		}
		drive := i-from == 1 && (s[i+1] == '/' || s[i+1] == '\\')
		digits := len(s[i+1:]) - len(strings.TrimLeft(s[i+1:], "0123456789"))
		port := digits > 0 && digits <= 5 && s[i+1+digits] == '/'
		if i+1 < at && !drive && !port {
			return from, at, true
		}
	}
	return 0, 0, false
}

func isUserByte(c byte) bool { return isWordByte(c) || strings.IndexByte(".~%+$!*", c) >= 0 }
