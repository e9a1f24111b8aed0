package otlpsend

import (
	"bytes"
	"encoding/json"
	"errors"
	"html"
	"mime"
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/internal/otlpproto"
)

// maxAnswerBytes bounds an answer, as the limit of gRPC clients does.
const maxAnswerBytes = 4 << 20

// success reads the body of an answer that says success. What receivers answer
// is looser than the specification (ADR 0140): an ExportTraceServiceResponse in
// either encoding under any type but a web page's, nothing at all, or one word.
// Anything else comes from somebody who takes no spans.
//
// Spec: https://github.com/open-telemetry/opentelemetry-proto/blob/v1.9.0/docs/specification.md#otlphttp-response
func (f redactor) success(contentType string, body []byte) reply {
	if isPage(contentType) {
		return reply{verdict: hopeless, err: f.noAnswer(contentType, body), uncertain: len(body) == 0}
	}
	r, ok := readProto(body)
	if !ok {
		r, ok = readJSON(body)
	}
	if ok || isYes(string(body)) {
		r.message = f.text(r.message, maxMessage)
		return r
	}
	return reply{verdict: hopeless, err: f.noAnswer(contentType, body), uncertain: true}
}

func mediaType(contentType string) string {
	t, _, _ := mime.ParseMediaType(contentType)
	return t
}

func isPage(contentType string) bool {
	t := mediaType(contentType)
	return t == "text/html" || t == "application/xhtml+xml"
}

// readProto reads an ExportTraceServiceResponse. Unknown fields are those of a
// later version.
func readProto(body []byte) (r reply, ok bool) {
	if isText(body) {
		return reply{}, false
	}
	m := otlpproto.NewMessage(body)
	for m.Next() {
		if m.Field != 1 {
			continue
		}
		p := otlpproto.NewMessage(m.Bytes())
		for p.Next() {
			switch p.Field {
			case 1:
				r.rejected = p.Int64()
			case 2:
				r.message = string(p.Bytes())
			}
		}
		if p.Err() != nil {
			return reply{}, false
		}
	}
	return r, m.Err() == nil
}

// isText reports whether a body has no byte that a text has not. Some texts are
// protobuf by accident, but any response that says something has such a byte: the
// tags of its fields.
func isText(body []byte) bool {
	return len(body) > 0 && !bytes.ContainsFunc(body, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' })
}

// readJSON reads an ExportTraceServiceResponse in JSON, or a word in quotes. An
// object that names an error is none: some frameworks answer so with 200.
func readJSON(body []byte) (r reply, ok bool) {
	var word string
	if json.Unmarshal(body, &word) == nil {
		return reply{}, isYes(word)
	}
	var doc struct {
		PartialSuccess struct {
			RejectedSpans looseInt `json:"rejectedSpans"`
			ErrorMessage  string   `json:"errorMessage"`
		} `json:"partialSuccess"`
		Error  any `json:"error"`
		Errors any `json:"errors"`
	}
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) || json.Unmarshal(body, &doc) != nil || says(doc.Error) || says(doc.Errors) {
		return reply{}, false
	}
	return reply{rejected: int64(doc.PartialSuccess.RejectedSpans), message: doc.PartialSuccess.ErrorMessage}, true
}

// says reports whether a value of JSON is more than a way to say no.
func says(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case float64:
		return v != 0
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}

// isYes reports whether a text is the one word that some backends answer with.
func isYes(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "ok", "success", "accepted":
		return true
	}
	return false
}

// looseInt is a 64-bit integer of proto3 JSON: a string, or a number.
type looseInt int64

func (i *looseInt) UnmarshalJSON(b []byte) error {
	n, err := strconv.ParseInt(string(bytes.Trim(b, `"`)), 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrSyntax) {
		return err
	}
	*i = looseInt(n)
	return nil
}

// pageTitle finds the title of a page near its beginning.
func pageTitle(head []byte) string {
	lower := bytes.Clone(head) // byte by byte, so that places are the same
	for i, c := range lower {
		if c >= 'A' && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	start := bytes.Index(lower, []byte("<title"))
	if start < 0 {
		return ""
	}
	open := bytes.IndexByte(lower[start:], '>')
	if open < 0 {
		return ""
	}
	start += open + 1
	end := bytes.Index(lower[start:], []byte("</title"))
	if end < 0 {
		return ""
	}
	return strings.Join(strings.Fields(html.UnescapeString(string(head[start:start+end]))), " ")
}
