// Package secrets takes secrets out of texts that others wrote: the answer of a
// backend, an error of the system, a value of a variable.
//
// Who repeats a secret seldom repeats it as it was given. So a secret is found
// in any case; escaped by JSON, Go, percent or HTML, one in the other; in
// base64 and hex; broken over lines or by other characters; cut short by
// whoever wrote the text. [Redactor.Text] has to see a text before it is cut:
// half of a secret is harder to find than all of it.
package secrets

import "strings"

// Mask stands for what was taken out.
const Mask = "***"

const (
	// gram is how much of a secret is found anywhere in a text.
	gram = 8
	// least is how much of a secret is found where it was cut short. A shorter
	// text is no secret: it would take letters out of every word.
	least = 4
	// maxText bounds what is looked through; the rest of a text is left out.
	maxText = 16 << 10
)

// Redactor knows secrets. A nil one knows none. It is safe for concurrent use.
type Redactor struct {
	forms    []form
	grams    map[uint64]struct{} // every stretch of a form
	squeezed map[uint64]struct{} // every stretch of a form's letters and digits
}

// form is one way in which a secret is written, in lower case.
type form struct {
	text  string
	inner bool // it stands inside of a longer word
}

// New makes a redactor of the values that are secret, such as those of headers.
// Of a value with a scheme, as in "Bearer x", the scheme is none. The parts of a
// value are secrets of their own, also the halves of Basic's user and password.
func New(values ...string) *Redactor {
	r := &Redactor{grams: map[uint64]struct{}{}, squeezed: map[uint64]struct{}{}}
	seen := map[string]bool{}
	for _, value := range values {
		for _, part := range parts(value) {
			for _, f := range formsOf(part) {
				if len(f.text) >= least && !seen[f.text] {
					seen[f.text] = true
					r.add(f)
				}
			}
		}
	}
	return r
}

func (r *Redactor) add(f form) {
	r.forms = append(r.forms, f)
	eachGram(f.text, notSpace, func(g uint64, _, _ int) { r.grams[g] = struct{}{} })
	eachGram(f.text, isAlnum, func(g uint64, _, _ int) { r.squeezed[g] = struct{}{} })
}

// Text returns s with [Mask] in place of each secret and of the user information
// of each URL. A very long text comes back shorter.
func (r *Redactor) Text(s string) string {
	rest := ""
	if len(s) > maxText {
		s, rest = s[:maxText], "…"
	}
	if r != nil && len(r.forms) > 0 {
		// Before user information is masked: an @ may stand inside of a secret.
		search := search{r, make([]bool, len(s)), map[string]bool{}}
		search.find(rawView(s), maxEscapes)
		s = mask(s, search.marks)
	}
	return userInfo(s) + rest
}

// mask puts one [Mask] in place of each stretch that is marked.
func mask(s string, marks []bool) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case !marks[i]:
			b.WriteByte(s[i])
		case i == 0 || !marks[i-1]:
			b.WriteString(Mask)
		}
	}
	return b.String()
}

// userInfo hides user and password of every URL in a text.
func userInfo(text string) string {
	if !strings.Contains(text, "@") {
		return text
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "://")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString("://")
		end := strings.IndexAny(after, "/?# \t\r\n\"'<>")
		if end < 0 {
			end = len(after)
		}
		if at := strings.LastIndexByte(after[:end], '@'); at >= 0 {
			b.WriteString(Mask)
			after = after[at:]
		}
		text = after
	}
}
