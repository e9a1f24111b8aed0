package tracefile

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/internal/otlpjson"
)

// texts reads the values in a piece of text: one document, several one after
// the other, or arrays of them, also behind the prefix of a log. It stops at the
// first fault and says what it was; "" when there was none.
func (d *decoder) texts(text []byte) (fault string) { return d.textsIn(text, false) }

// textsIn is texts, of what may be in an array that began before.
func (d *decoder) textsIn(text []byte, array bool) (fault string) {
	d.array = array
	d.s.Reset(text)
	d.faults.beginText()
	for read := 0; ; {
		first := len(d.out)
		switch c := d.s.Peek(); c {
		case '{':
			d.document()
			read = d.s.Offset()
		case '[', ']', ',':
			d.array = d.array || c == '['
			d.s.Seek(d.s.Offset() + 1)
		default:
			if c == 0 && d.s.Offset() >= len(text) {
				return ""
			}
			at := logPrefix(text)
			if read > 0 || at == 0 {
				return d.foreign(text[read:])
			}
			d.s.Seek(at)
			read, d.array = at, false
		}
		if err := d.s.Err(); err != nil {
			d.out = d.out[:first]
			d.refuse(err.Error())
			return describe(err)
		}
	}
}

// describe is a fault without its offset, so that equal ones are counted together.
func describe(err error) string {
	if syntax, ok := errors.AsType[*otlpjson.SyntaxError](err); ok {
		return "invalid JSON: " + syntax.What
	}
	return err.Error()
}

const faultNotJSON = "not JSON"

// foreign notes that text is not JSON at all.
func (d *decoder) foreign(text []byte) string {
	d.refuse(beginning(text))
	return faultNotJSON
}

// beginning tells how text begins: with its first line that is not brackets alone.
func beginning(text []byte) string {
	head := string(text[:min(len(text), 80)])
	brackets := len(head) - len(strings.TrimLeft(head, "[ \t\r\n"))
	line, _, _ := strings.Cut(head[brackets:], "\n")
	return "text beginning " + strconv.Quote(clip(strings.TrimSpace(head[:brackets]+line)))
}

// maxPrefix is how long the prefix is that a log may put before a line.
const maxPrefix = 1 << 10

// logPrefix returns where the first object of a line begins that a log has put
// something in front of: a container's name, the time and the logger. It is 0
// where there is none.
func logPrefix(line []byte) int {
	return max(bytes.Index(line[:min(len(line), maxPrefix)], []byte(`{"`)), 0)
}

// refuse remembers the first thing seen that is no span document. It is the
// error when nothing else comes.
func (d *decoder) refuse(what string) {
	if d.refused == "" {
		d.refused = what
	}
}

// found notes the format of a document of spans.
func (d *decoder) found(f Format) {
	d.known++
	if d.format == "" {
		d.format = f
	}
}

// document reads one JSON object, whatever it is.
func (d *decoder) document() {
	start := d.s.Offset()
	if d.s.Lit(`{"resourceSpans":`) {
		d.s.Seek(start)
		d.tracesData()
		return
	}
	keys := d.keys()
	if d.s.Err() != nil {
		return
	}
	end := d.s.Offset()
	d.s.Seek(start)
	d.dispatch(keys)
	if d.s.Err() == nil {
		d.s.Seek(end)
	}
}

// keys passes over an object and returns the names of its members.
func (d *decoder) keys() keySet {
	k := keySet{}
	for ok := d.s.Begin('{'); ok && d.s.More('}'); {
		key := string(d.s.Key())
		if len(k) < maxKeys {
			k = append(k, key)
		}
		d.s.Skip()
	}
	return k
}

const maxKeys = 64

type keySet []string

func (k keySet) has(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(k, n) })
}

// String is the names of the first keys, quoted.
func (k keySet) String() string {
	var b strings.Builder
	for i, key := range k {
		switch {
		case i == 6:
			b.WriteString(", …")
			return b.String()
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(strconv.Quote(clip(key)))
	}
	return b.String()
}

// dispatch reads the object that the scanner stands before, as its keys say.
func (d *decoder) dispatch(k keySet) {
	start, known, faults := d.s.Offset(), d.known, d.faults.count
	switch {
	case len(k) == 0:
		return // an empty TracesData
	case k.has("resourceSpans", "resource_spans", "batches", "trace", "result"):
		d.tracesData()
	case k.has("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans"):
		d.found(OTLPJSON)
		d.resourceSpans()
	case k.has("spans") && k.has("traceID", "processes"):
		d.jaegerTrace()
	case k.has("data"):
		d.jaegerData()
	case k.has("SpanContext") && k.has("Name"):
		d.found(GoStdout)
		d.stub()
	case k.isPhoenix():
		d.found(Phoenix)
		d.python()
	case k.has("context") && k.has("parent_id", "kind", "start_time"):
		d.found(Python)
		d.python()
	case k.has("traceId") && k.has("id") && !k.has("binaryAnnotations"):
		d.found(Zipkin)
		d.zipkin()
	}
	if d.known == known && d.faults.count == faults && d.s.Err() == nil {
		d.s.Seek(start)
		what := d.withoutSpans(k)
		d.refuse(what)
		d.skip(what)
	}
}

// isPhoenix reports whether an object is a span as Arize Phoenix has it.
func (k keySet) isPhoenix() bool { return k.has("context") && k.has("span_kind", "status_code") }

// withoutSpans reads an object without spans, and says what it is.
func (d *decoder) withoutSpans(k keySet) string {
	switch {
	case k.has("error", "errors"), k.has("code") && k.has("message"):
		if text := d.message(); text != "" {
			return "an error: " + strconv.Quote(clip(text))
		}
	case k.has("resourceMetrics", "resource_metrics"):
		return "OTLP metrics"
	case k.has("resourceLogs", "resource_logs"):
		return "OTLP logs"
	case k.has("resourceProfiles", "resource_profiles"):
		return "OTLP profiles"
	case k.has("binaryAnnotations"):
		return "a span of Zipkin's version 1"
	}
	if d.array {
		return "JSON array of objects with keys " + k.String()
	}
	return "JSON object with keys " + k.String()
}

// message reads a value that tells what went wrong: a text, an object with one, or
// a list of them. It returns the first text, or "".
func (d *decoder) message() (text string) {
	switch d.s.Peek() {
	case '"':
		return string(d.s.Text())
	case '[':
		for ok := d.s.Begin('['); ok && d.s.More(']'); {
			text = cmp.Or(text, d.message())
		}
	case '{':
		for ok := d.s.Begin('{'); ok && d.s.More('}'); {
			switch string(d.s.Key()) {
			case "error", "errors", "message", "msg":
				text = cmp.Or(text, d.message())
			default:
				d.s.Skip()
			}
		}
	default:
		d.s.Skip()
	}
	return text
}
