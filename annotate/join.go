package annotate

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/waymark-trace/waymark/internal/boundjson"
)

// JoinFailed stands in place of an output whose chunks could not be joined.
const JoinFailed = "<join error>"

// joiner makes one output of the chunks of a stream.
type joiner interface {
	add(chunk any) error
	result() any
}

// Join replaces the way in which the chunks of a stream become its output: f gets what it returned for the
// chunk before, at first the zero value. When it fails, panics, calls runtime.Goexit or takes more than a second,
// or the chunks are of another type than C, the output is [JoinFailed]. It runs beside the stream, on a goroutine
// of its own for each chunk. What it keeps is not bounded.
func Join[Acc, C any](f func(acc Acc, chunk C) (Acc, error)) StreamOption {
	return streamOption(func(c config) config {
		c.newJoin = func(client *Client) joiner { return &customJoiner[Acc, C]{client: client, f: f} }
		return c
	})
}

type customJoiner[Acc, C any] struct {
	client *Client
	f      func(Acc, C) (Acc, error)
	acc    Acc // not looked at once add has failed
}

func (j *customJoiner[Acc, C]) add(chunk any) error {
	c, ok := chunk.(C)
	if !ok && chunk != nil {
		return fmt.Errorf("join: a chunk is a %T", chunk)
	}
	return j.client.guarded("join", j.f, func() (err error) {
		j.acc, err = j.f(j.acc, c)
		return err
	})
}

func (j *customJoiner[Acc, C]) result() any { return j.acc }

// defaultJoiner joins text, and the text in the chunks that the common model services stream. As soon as a
// chunk is neither, the output is the list of all chunks. It keeps no chunk, and stops gathering at the limit.
type defaultJoiner struct {
	client *Client
	limit  int
	text   strings.Builder
	more   int // bytes of text past the limit
	mixed  bool
	list   []json.RawMessage
	bytes  int // of list
	unkept int // chunks that are not in list
}

func (j *defaultJoiner) add(chunk any) error {
	text, raw, isText, err := j.read(chunk)
	if err != nil {
		return err
	}
	if isText && !j.mixed {
		j.appendText(text)
	}
	j.mixed = j.mixed || !isText
	if raw == nil && isText && j.bytes+len(text) <= j.limit {
		raw = json.RawMessage(jsonText(text))
	}
	if raw == nil || j.bytes+len(raw) > j.limit {
		j.bytes = j.limit + 1 // the rest is left out too: no holes
		j.unkept++
		return nil
	}
	j.bytes += len(raw)
	j.list = append(j.list, raw)
	return nil
}

func (j *defaultJoiner) appendText(s string) {
	room := j.limit - j.text.Len()
	if j.more > 0 || room <= 0 {
		j.more += len(s)
		return
	}
	if len(s) > room {
		// One more than fits, so that the cut is seen and made at a character's boundary.
		keep := min(len(s), room+1)
		j.more = len(s) - keep
		s = s[:keep]
	}
	j.text.WriteString(s)
}

func (j *defaultJoiner) result() any {
	if j.mixed {
		if j.unkept > 0 {
			j.list = append(j.list, json.RawMessage(jsonText(fmt.Sprintf("…[%d more chunks]", j.unkept))))
		}
		return j.list
	}
	if j.more == 0 {
		return j.text.String()
	}
	return longText{j.text.String(), j.more}
}

// longText is text whose end was not kept.
type longText struct {
	head string
	more int
}

// cut is the text as far as the limit, with what is missing counted.
func (t longText) cut(limit int) joined {
	return joined(cutOff(t.head, limit, t.more))
}

// joined is text that has been cut already.
type joined string

// read returns the text of a chunk and whether it is one of the forms that have text. raw is the JSON of chunks
// that are no plain text; nil when it is too long.
func (j *defaultJoiner) read(chunk any) (text string, raw json.RawMessage, isText bool, err error) {
	method := func() string { return "" }
	switch c := chunk.(type) {
	case string:
		return c, nil, true, nil
	case []byte:
		return string(c), nil, true, nil
	case interface{ Delta() string }:
		method = c.Delta
	case fmt.Stringer:
		method = c.String
	default:
		text, raw, isText = j.readJSON(chunk)
		return text, raw, isText, nil
	}
	err = j.client.guarded("text", chunk, func() error { text = method(); return nil })
	if err != nil {
		return "", nil, false, err
	}
	return text, nil, true, nil
}

func (j *defaultJoiner) readJSON(chunk any) (text string, raw json.RawMessage, isText bool) {
	if err, ok := chunk.(error); ok {
		return "", json.RawMessage(jsonText(j.client.causeText(err, j.limit))), false
	}
	raw, whole, err := j.client.marshal(chunk, j.limit)
	switch {
	case err != nil:
		said, ok := scalarText(reflect.ValueOf(chunk)) // NaN
		if !ok {
			said = boundjson.Unencodable(chunk)
		}
		return "", json.RawMessage(jsonText(said)), false
	case !whole:
		return "", nil, false
	}
	text, isText = deltaText(raw)
	return text, raw, isText
}

// delta is what is common to the chunks of model services: OpenAI's chat completions and completions
// (choices), its responses and Anthropic's messages (type and delta), Gemini's candidates, Ollama's message.
type delta struct {
	Choices []struct {
		Delta *struct {
			Content *string `json:"content"`
		} `json:"delta"`
		Text *string `json:"text"`
	} `json:"choices"`
	Type       string          `json:"type"`
	Delta      json.RawMessage `json:"delta"`
	Candidates []struct {
		Content struct {
			Parts []struct {
				Text string `json:"text"`
			} `json:"parts"`
		} `json:"content"`
	} `json:"candidates"`
	Message *struct {
		Content *string `json:"content"`
	} `json:"message"`
}

// deltaText returns the text of a model's chunk. A chunk of these forms without text, such as the first and
// the last of a stream, has the empty text.
func deltaText(raw json.RawMessage) (string, bool) {
	var d delta
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &d) != nil {
		return "", false
	}
	switch {
	case len(d.Choices) > 0:
		return d.choice()
	case d.Type != "":
		return d.event()
	case len(d.Candidates) > 0:
		var b strings.Builder
		for _, part := range d.Candidates[0].Content.Parts {
			b.WriteString(part.Text)
		}
		return b.String(), true
	case d.Message != nil && d.Message.Content != nil:
		return *d.Message.Content, true
	}
	return "", false
}

func (d *delta) choice() (string, bool) {
	first := d.Choices[0]
	switch {
	case first.Delta != nil && first.Delta.Content != nil:
		return *first.Delta.Content, true
	case first.Text != nil:
		return *first.Text, true
	}
	return "", first.Delta != nil
}

// event is a chunk with a type: the delta is a text, or has one. The other events of such a stream have none.
func (d *delta) event() (string, bool) {
	var text string
	var part struct {
		Text string `json:"text"`
	}
	switch {
	case d.Type == "response.output_text.delta" && json.Unmarshal(d.Delta, &text) == nil:
		return text, true
	case d.Type == "content_block_delta" && json.Unmarshal(d.Delta, &part) == nil:
		return part.Text, true
	}
	for _, prefix := range []string{"response.", "message_", "content_block_", "ping"} {
		if strings.HasPrefix(d.Type, prefix) {
			return "", true
		}
	}
	return "", false
}
