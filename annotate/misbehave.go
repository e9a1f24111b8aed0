package annotate

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/waymark-trace/waymark/internal/boundjson"
	"github.com/waymark-trace/waymark/internal/guard"
	"github.com/waymark-trace/waymark/internal/redact"
)

// guarded calls a function of the program, or a method of one of its values, in the middle of its work: a panic,
// a runtime.Goexit and one that does not return within a second are errors, and counted. After an error that
// is not f's own, what f sets is not to be read: it may still run.
func (c *Client) guarded(what string, of any, f func() error) error {
	kind := any(reflect.TypeOf(of))
	if v := reflect.ValueOf(of); v.Kind() == reflect.Func {
		kind = v.Pointer()
	}
	err := c.json.Guard.Call(kind, f)
	c.noteMisbehavior(what, of, err)
	return err
}

// noteMisbehavior counts an error that is one of a guard.
func (c *Client) noteMisbehavior(what string, of any, err error) {
	_, panicked := errors.AsType[*guard.PanicError](err)
	if panicked || errors.Is(err, guard.ErrGoexit) || errors.Is(err, guard.ErrLate) || errors.Is(err, guard.ErrBusy) {
		c.failures.note(fmt.Errorf("annotate: %s of %T: %w", what, of, err))
	}
}

// errorText is the text of an error or of what was thrown.
func (c *Client) errorText(v any) string { return c.causeText(v, maxMessageBytes) }

// causeText is textOf without secrets. They go before the text is cut, since half a URL does not show that it holds one.
func (c *Client) causeText(v any, limit int) string {
	whole := max(limit, maxCauseBytes)
	return cut(redact.Message(c.textOf(redact.Showable(v), whole), whole), limit)
}

// maxCauseBytes is how much of the text of an error is looked at, so that it is known how much of it is cut.
const maxCauseBytes = 64 << 10

// textOf is what an error, or any value, says of itself.
func (c *Client) textOf(v any, limit int) string {
	if s, ok := v.(string); ok {
		return cut(s, limit)
	}
	if !speaks(v) {
		text, _ := c.encode(v, limit) // fmt does not see that a value holds itself
		return text
	}
	var said string
	err := c.guarded("text", v, func() error {
		if err, ok := v.(error); ok {
			said = err.Error()
			return nil
		}
		said = fmt.Sprint(v)
		return nil
	})
	if err != nil {
		return boundjson.Unencodable(v)
	}
	return cut(said, limit)
}

// speaks reports whether a value has a text of its own.
func speaks(v any) bool {
	switch v.(type) {
	case error, fmt.Stringer, fmt.Formatter:
		return true
	}
	return false
}
