package doctor

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/waymark-trace/waymark/traces"
)

// mask stands for a secret.
const mask = "***"

// tellable is the beginning of a text, or the mask when there is a secret in it.
func tellable(text string) string {
	if secretKind("", text) != "" {
		return mask
	}
	n := len(text)
	for n > maxText || n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// secrets looks through all texts of a span, and once through its resource and its
// scope. Ids, numbers and times hold none.
func (d *Doctor) secrets(span, kept *traces.Span) {
	s := search{d: d, span: kept}
	s.text("name", "", span.Name)
	s.text("status.message", "", span.Status.Message)
	s.traceState("traceState", span.TraceState)
	s.attributes("attributes.", span.Attributes)
	for i := range span.Events {
		e := &span.Events[i]
		s.text("events.name", "", e.Name)
		s.attributes("events.attributes.", e.Attributes)
	}
	for i := range span.Links {
		l := &span.Links[i]
		s.traceState("links.traceState", l.TraceState)
		s.attributes("links.attributes.", l.Attributes)
	}
	if r := span.Resource; r != nil {
		if _, seen := d.resources[r]; !seen {
			d.process(span) // remembers the resource
			s.text("resource.schemaUrl", "", r.SchemaURL)
			s.attributes("resource.attributes.", r.Attributes)
		}
	}
	if c := span.Scope; c != nil && !d.scopes[c] {
		d.scopes[c] = true
		s.text("scope.name", "", c.Name)
		s.text("scope.version", "", c.Version)
		s.text("scope.schemaUrl", "", c.SchemaURL)
		s.attributes("scope.attributes.", c.Attributes)
	}
}

// search is the search of one span.
type search struct {
	d    *Doctor
	span *traces.Span
}

func (s search) attributes(where string, list []traces.Attribute) {
	for _, a := range list {
		s.member(where, a, 0)
	}
}

// member looks into an attribute or a member of a map: key and value.
func (s search) member(where string, a traces.Attribute, depth int) {
	s.text(where+"(key)", "", a.Key)
	s.value(where+tellable(a.Key), a.Key, a.Value, depth)
}

// value looks into a value, and into those inside it as deep as files nest them.
func (s search) value(path, key string, v traces.Value, depth int) {
	const deepest = 64
	if depth > deepest {
		return
	}
	switch v.Kind() {
	case traces.ValueString:
		s.text(path, key, v.AsString())
	case traces.ValueBytes:
		s.text(path, key, v.AsBytes())
	case traces.ValueArray:
		for _, m := range v.AsArray() {
			s.value(path, key, m, depth+1)
		}
	case traces.ValueMap:
		for _, m := range v.AsMap() {
			s.member(path+".", m, depth+1)
		}
	default:
		// Numbers and the like hold no secret that could be told.
	}
}

// traceState looks into the members of a W3C tracestate.
func (s search) traceState(path, state string) {
	for member := range strings.SplitSeq(state, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(member), "=")
		s.text(path+"."+tellable(key), key, value)
	}
}

func (s search) text(path, key, text string) {
	kind := secretKind(key, text)
	if kind == "" {
		return
	}
	s.d.find(Secret, path, s.span, fmt.Sprintf("%s: '%s' (%d characters)", kind, mask, utf8.RuneCountInString(text)))
}

// secretKind says what kind of secret a value is; "" when it is none.
func secretKind(key, text string) string {
	if text == "" || isMasked(text) {
		return ""
	}
	for _, p := range patterns {
		if !strings.Contains(text, p.hint) {
			continue
		}
		for _, m := range p.re.FindAllStringSubmatch(text, -1) {
			if !isMasked(m[len(m)-1]) {
				return p.kind
			}
		}
	}
	if isURLKey(key) {
		text = "?" + text // url.query has none
	}
	if strings.Contains(text, "?") || strings.Contains(text, "&") || strings.Contains(text, "#") {
		for _, m := range queryParameter.FindAllStringSubmatch(text, -1) {
			if !isMasked(m[2]) {
				return "query parameter " + strings.ToLower(m[1])
			}
		}
	}
	if isSecretKey(key) {
		return "by its key"
	}
	return ""
}

// patterns are secrets that are known by their look; a group is the part that may
// be masked. The hint is a piece of text that all of them have: a regular
// expression over every value of a big file takes longer than reading it.
//
//nolint:gochecknoglobals // constant patterns
var patterns = []struct {
	kind, hint string
	re         *regexp.Regexp
}{
	{"private key", "PRIVATE KEY", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY`)},
	{"AWS access key", "AKIA", regexp.MustCompile(before + `AKIA[0-9A-Z]{16}` + after)},
	{"AWS access key", "ASIA", regexp.MustCompile(before + `ASIA[0-9A-Z]{16}` + after)},
	{"JSON web token", "eyJ", regexp.MustCompile(before + `eyJ[\w-]{5,}\.eyJ[\w-]{5,}\.[\w-]*`)},
	{"user information in a URL", "://", regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*://[^/\s:@?#]*:([^/\s@?#]+)@`)},
	{"GitHub token", "gh", regexp.MustCompile(before + `(?:gh[pousr]_[0-9A-Za-z]{36,}|github_pat_\w{22,})`)},
	{"Slack token", "xox", regexp.MustCompile(before + `xox[abeoprs]-[0-9A-Za-z-]{10,}`)},
	{"Google API key", "AIza", regexp.MustCompile(before + `AIza[\w-]{35}` + after)},
	{"credentials", "earer ", regexp.MustCompile(before + `[Bb]earer [\w.~+/=-]{8,}`)},
	{"credentials", "asic ", regexp.MustCompile(before + `[Bb]asic [A-Za-z0-9+/]{8,}={0,2}$`)},
}

// What stands around a token: an underscore may, as in key_AKIA….
const (
	before = `(?:^|[^0-9A-Za-z])`
	after  = `(?:[^0-9A-Za-z]|$)`
)

// queryParameter are the names that the middleware redacts, also in a fragment and
// in the body of a form.
var queryParameter = regexp.MustCompile(`(?i)[?&#]` +
	`(token|access_token|id_token|refresh_token|api_key|apikey|key|password|secret|code|sig|x-amz-signature|x-goog-signature|awsaccesskeyid|signature)` +
	`=([^&#\s]+)`)

func isURLKey(key string) bool {
	return key == "url.query" || key == "url.full" || key == "http.url" || key == "http.target" || key == "url.original"
}

// isMasked tells what stands for a secret.
func isMasked(text string) bool {
	if strings.Trim(text, "*xX.•-") == "" {
		return true
	}
	if len(text) > 40 {
		return false
	}
	lower := strings.ToLower(text)
	for _, word := range []string{"redact", "mask", "filtered", "hidden", "removed", "scrub"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return lower == "none" || lower == "null" || lower == "true" || lower == "false"
}

// isSecretKey tells keys that name a secret by their last word, or by any word
// that is about nothing else: http.request.header.cookie, db.password, apiKey;
// not llm.token_count.
func isSecretKey(key string) bool {
	words := keyWords(key)
	for _, w := range words {
		if w == "authorization" || w == "cookie" || w == "cookies" {
			return true
		}
	}
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	switch last {
	case "password", "passwd", "passphrase", "secret", "token", "apikey", "credential", "credentials":
		return true
	case "key":
		before := ""
		if len(words) > 1 {
			before = words[len(words)-2]
		}
		return before == "api" || before == "private" || before == "secret" || before == "access"
	default:
		return false
	}
}

// keyWords splits at punctuation and before capitals.
func keyWords(key string) []string {
	if len(key) > maxText {
		return nil
	}
	var b strings.Builder
	before := ' '
	for _, r := range key {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			b.WriteByte(' ')
		}
		before = r
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			r = ' '
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}
