package env

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Show returns the value of a variable as it may be shown: with *** in place of
// each part that can be a secret, also of one that stands in a variable where
// none belongs. The parts that were left out are hidden.
//
// What is shown depends on the variable. Of an endpoint it is scheme, host and
// path, when it is a URL or an address; of a path or a name all, unless it looks
// like a credential; of words, numbers and lists of them each that is short and
// plain; of resource attributes each whose key names no credential; of headers
// nothing; of variables that are not read, which may only look like one that is,
// nothing but true, 1, false and 0.
func Show(key, value string) (shown string, hidden []string) {
	value = strings.TrimSpace(value)
	if value == "" || value == masked {
		return value, nil
	}
	if len(value) > maxLookedAt { // a list of thousands must not hold up the start
		value = value[:maxLookedAt]
		value = value[:strings.LastIndexByte(value, ',')+1] + "…"
	}
	switch key {
	case KeyOTLPEndpoint, KeyOTLPTracesEndpoint:
		return showAddress(value)
	case KeyResourceAttributes:
		return showItems(value, showPair)
	case KeyServiceName:
		return showText(value)
	case KeyStateHome, KeyConfigFile, KeyExperimentalConfigFile, KeyOTLPCertificate, KeyOTLPTracesCertificate,
		KeyOTLPClientCertificate, KeyOTLPTracesClientCertificate, KeyOTLPClientKey, KeyOTLPTracesClientKey:
		return showPath(value)
	case KeyOTLPHeaders, KeyOTLPTracesHeaders:
		return hide(value)
	}
	switch {
	case hasSuffix(key, SuffixTracesFile, SuffixProfileDir):
		return showPath(value)
	case hasSuffix(key, SuffixTracesSkip):
		return showItems(value, showRequest)
	case hasSuffix(key, SuffixTracing, SuffixTracesMaxBytes, SuffixTracesKeep, SuffixProfile), slices.Contains(standardNames(), key):
		return showItems(value, showWord)
	}
	if _, want := parseSwitch(value); want == "" {
		return value, nil // a boolean is no secret, whatever the variable is
	}
	return hide(value)
}

// maxLookedAt bounds what is shown of a value, in bytes, before it is cut further.
const maxLookedAt = 8 << 10

func hide(value string) (shown string, hidden []string) { return masked, []string{value} }

func hasSuffix(key string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(key, s) })
}

// showItems shows each item of a list by itself, with the blanks around it.
func showItems(value string, show func(string) (string, []string)) (shown string, hidden []string) {
	items := strings.Split(value, ",")
	for i, item := range items {
		trimmed := strings.TrimSpace(item)
		if trimmed == "" {
			continue
		}
		s, h := show(trimmed)
		if s != trimmed {
			items[i] = s
		}
		hidden = append(hidden, h...)
	}
	return strings.Join(items, ","), hidden
}

// showWord shows a word or a number. What is none was meant for another variable.
func showWord(word string) (string, []string) {
	switch {
	case strings.Contains(word, "://"):
		return showAddress(word)
	case isPlain(word) && !isCredential(word):
		return word, nil
	}
	return hide(word)
}

// showText shows what may be any text, such as a name.
func showText(text string) (string, []string) {
	if strings.Contains(text, "://") {
		return showAddress(text)
	}
	if isCredential(text) || isRandom(text) {
		return hide(text)
	}
	return text, nil
}

// showPath shows a path, and of a URL in its place what a URL may show.
func showPath(path string) (string, []string) {
	before, _, pair := strings.Cut(path, "=")
	switch {
	case strings.Contains(path, "://"):
		return showAddress(path)
	case isCredential(path), pair && !strings.ContainsAny(before, `/\`):
		return hide(path)
	case !strings.ContainsAny(path, `/\.`) && !isPlain(path):
		return hide(path)
	}
	return path, nil
}

// showRequest shows the path of a request without a query, which does not belong
// there.
func showRequest(path string) (string, []string) {
	path, query, found := strings.Cut(path, "?")
	shown, hidden := showPath(path)
	if !found {
		return shown, hidden
	}
	return shown + "?" + masked, append(hidden, query)
}

// showPair shows one resource attribute, encoded as it is in the variable.
func showPair(pair string) (string, []string) {
	key, value, found := strings.Cut(pair, "=")
	if !found {
		return showWord(pair)
	}
	decoded, err := url.PathUnescape(value)
	if err != nil {
		decoded = value
	}
	switch {
	case isCredential(key) || !attributeKey.MatchString(strings.TrimSpace(key)):
		return hide(pair)
	case namesCredential.MatchString(strings.TrimSpace(key)), isCredential(value), isCredential(decoded):
		return key + "=" + masked, []string{value}
	}
	return pair, nil
}

var (
	// addressStart is what stands before the host in the spellings that people use.
	addressStart = regexp.MustCompile(`^(?:[A-Za-z][A-Za-z0-9+.-]*:///?|(?i:https?)(?::/{0,2}|//)|//)?`)
	addressHost  = regexp.MustCompile(`^(?:\[[0-9A-Fa-f:.]+(?:%[0-9A-Za-z._~-]+)?\]|[A-Za-z0-9._-]*)(?::[0-9]{0,5})?$`)
	addressPath  = regexp.MustCompile(`^[A-Za-z0-9/._~%+:-]*$`)
	attributeKey = regexp.MustCompile(`^[A-Za-z0-9._/%-]{1,64}$`)

	number = regexp.MustCompile(`^[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)? ?[A-Za-zµ%]{0,3}$`)
	word   = regexp.MustCompile(`^[^=:@]{1,40}$`)

	namesCredential = regexp.MustCompile(`(?i)(?:key|token|secret|passwd|password|passphrase|pwd|credentials?|authorization|cookie|signature)$`)
	credentials     = regexp.MustCompile(
		`(?i:\b(?:bearer|basic|digest|negotiate|token|apikey)(?:\s|%20|\+)+\S{4}` + // an Authorization header
			`|(?:key|token|secret|passwd|password|passphrase|pwd|credentials?|authorization|cookie|signature)"?\s*(?:[=:]|%3[ad])\s*\S)` + // a pair
			`|\b(?:eyJ[\w-]|gh[pousr]_|github_pat_|glpat-|glc_|glsa_|xox[abeoprs]-|AIza|AKIA|ASIA|[spr]k[-_]|hf_|npm_|pypi-|dop_v1_)[\w-]{6}` + // by the look of known ones
			`|-----BEGIN|\bMI[IG][\w+/]{20}|[^/\s:]+:[^/\s:]+@`) // a key, a user and a password
)

// showAddress shows a URL, or an address without its scheme. User information,
// query and fragment are hidden; all of it is when the rest is no host with port
// and path, for then nobody knows where in it a password ends.
func showAddress(raw string) (string, []string) {
	start := addressStart.FindString(raw)
	rest := raw[len(start):]
	var hidden []string
	user := ""
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		user = masked + "@"
		hidden, rest = append(hidden, rest[:at]), rest[at+1:]
	}
	end := ""
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		end = rest[i:i+1] + masked
		hidden, rest = append(hidden, rest[i+1:]), rest[:i]
	}
	host, path, _ := strings.Cut(rest, "/")
	bare := !strings.Contains(start, "://")
	if !addressHost.MatchString(host) || !addressPath.MatchString(path) || isCredential(rest) || bare && isRandom(host) {
		return start + masked, []string{raw[len(start):]}
	}
	return start + user + rest + end, hidden
}

// isPlain reports whether text is a number with or without a unit, or a word as
// variables have them: short, with few digits in it.
func isPlain(text string) bool {
	if number.MatchString(text) {
		return true
	}
	if _, err := time.ParseDuration(text); err == nil {
		return true
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return true
	}
	return word.MatchString(text) && len(digits(text)) <= 3 && humps(text) <= 2
}

// humps counts the capitals that follow a small letter: a word has few.
func humps(text string) int {
	n, before := 0, ' '
	for _, r := range text {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			n++
		}
		before = r
	}
	return n
}

// isCredential reports whether text looks like one, or holds one.
func isCredential(text string) bool { return credentials.MatchString(text) }

// isRandom reports whether text has a long run of letters and digits that change
// places, as keys do and names do not.
func isRandom(text string) bool {
	const long, changes = 16, 4
	for run := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		n, before := 0, ' '
		for _, r := range run {
			if before != ' ' && unicode.IsDigit(r) != unicode.IsDigit(before) {
				n++
			}
			before = r
		}
		if len(run) >= long && n >= changes {
			return true
		}
	}
	return false
}
