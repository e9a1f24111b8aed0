package otlpsend

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	maxMessage = 1000     // of what a receiver says
	maxShown   = 100      // of what came instead of an answer
	maxHead    = 64 << 10 // of what is looked at to say so
)

// redactor takes secrets out of a text of the receiver; nil leaves it as it is. It
// sees the text before that is cut: half of a secret cannot be found.
type redactor func(string) string

// text is a text to show.
func (f redactor) text(text string, most int) string {
	if f != nil {
		text = f(text)
	}
	return cut(strings.TrimSpace(text), most)
}

// noAnswer says what came instead of an answer.
func (f redactor) noAnswer(contentType string, body []byte) error {
	what := f.text(mediaType(contentType), maxShown)
	if what == "" {
		what = "content of no type"
	}
	head := body[:min(len(body), maxHead)]
	title := f.text(pageTitle(head), maxShown)
	text := f.text(strings.Join(strings.Fields(string(head)), " "), maxShown)
	switch {
	case title != "":
		what += " page titled " + strconv.Quote(title)
	case text != "":
		what += " " + strconv.Quote(text)
	default:
		what += ", and nothing in it"
	}
	return fmt.Errorf("no OTLP receiver answers there: it sent %s", what)
}

// cut bounds a text. What is kept is a copy: the rest may be a page of megabytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return strings.Clone(text)
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// error is an error to show, which keeps its cause.
func (f redactor) error(err error) error {
	if text := f.text(err.Error(), maxMessage); text != err.Error() {
		return shownError{text, err}
	}
	return err
}

type shownError struct {
	text  string
	cause error
}

func (e shownError) Error() string { return e.text }
func (e shownError) Unwrap() error { return e.cause }
