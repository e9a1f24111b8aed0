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

// secrets looks through all texts of a span, and once through its resource.
func (d *Doctor) secrets(span *traces.Span) {
	s := search{d: d, span: span}
	s.text("name", "name", span.Name)
	s.text("status.message", "status.message", span.Status.Message)
	s.attributes("attributes.", span.Attributes)
	for i := range span.Events {
		s.attributes("events.attributes.", span.Events[i].Attributes)
	}
	for i := range span.Links {
		s.attributes("links.attributes.", span.Links[i].Attributes)
	}
	if _, seen := d.resources[span.Resource]; !seen && span.Resource != nil {
		d.process(span) // remembers the resource
		s.attributes("resource.attributes.", span.Resource.Attributes)
	}
}

// search is the search of one span.
type search struct {
	d    *Doctor
	span *traces.Span
}

func (s search) attributes(where string, list []traces.Attribute) {
	for _, a := range list {
		s.value(where+a.Key, a.Key, a.Value, 0)
	}
}

// value looks into a value, and into those inside it as deep as anybody nests
// them in good faith.
func (s search) value(path, key string, v traces.Value, depth int) {
	const deepest = 8
	if depth > deepest {
		return
	}
	switch v.Kind() {
	case traces.ValueString:
		s.text(path, key, v.AsString())
	case traces.ValueArray:
		for _, m := range v.AsArray() {
			s.value(path, key, m, depth+1)
		}
	case traces.ValueMap:
		for _, m := range v.AsMap() {
			s.value(path+"."+m.Key, m.Key, m.Value, depth+1)
		}
	default:
		// Numbers and the like hold no secret that could be told.
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
		if m := p.re.FindStringSubmatch(text); m != nil && !isMasked(m[len(m)-1]) {
			return p.kind
		}
	}
	if isURLKey(key) || strings.Contains(text, "://") {
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
	{"AWS access key", "AKIA", regexp.MustCompile(`\bAKIA[0-9A-Z]{16}\b`)},
	{"AWS access key", "ASIA", regexp.MustCompile(`\bASIA[0-9A-Z]{16}\b`)},
	{"JSON web token", "eyJ", regexp.MustCompile(`\beyJ[\w-]{5,}\.eyJ[\w-]{5,}\.[\w-]*`)},
	{"user information in a URL", "://", regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]*://[^/\s:@?#]*:([^/\s@?#]+)@`)},
	{"GitHub token", "gh", regexp.MustCompile(`\b(?:gh[pousr]_[0-9A-Za-z]{36,}|github_pat_\w{22,})`)},
	{"Slack token", "xox", regexp.MustCompile(`\bxox[abeoprs]-[0-9A-Za-z-]{10,}`)},
	{"Google API key", "AIza", regexp.MustCompile(`\bAIza[\w-]{35}\b`)},
	{"credentials", "earer ", regexp.MustCompile(`\b[Bb]earer [\w.~+/=-]{8,}`)},
	{"credentials", "asic ", regexp.MustCompile(`\b[Bb]asic [A-Za-z0-9+/]{8,}={0,2}$`)},
}

// queryParameter are the names that the middleware redacts.
var queryParameter = regexp.MustCompile(`(?i)(?:^|[?&])` +
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
