package tracefile

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/internal/otlpjson"
)

// texts reads the values in a piece of text: one document, several one after
// the other, or arrays of them. It stops at the first fault and says what it
// was; "" when there was none.
func (d *decoder) texts(text []byte) (fault string) {
	d.s.Reset(text)
	d.faults.beginText()
	for {
		first := len(d.out)
		switch c := d.s.Peek(); c {
		case '{':
			d.document()
		case '[', ']', ',':
			d.s.Seek(d.s.Offset() + 1)
		case 0:
			if d.s.Offset() >= len(text) {
				return ""
			}
			return d.foreign(text)
		default:
			return d.foreign(text[d.s.Offset():])
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
	line, _, _ := strings.Cut(string(text[:min(len(text), 80)]), "\n")
	d.refuse("text beginning " + strconv.Quote(clip(strings.TrimSpace(line))))
	return faultNotJSON
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

// String is how an unknown object is described.
func (k keySet) String() string {
	if len(k) == 0 {
		return "an empty JSON object"
	}
	var b strings.Builder
	b.WriteString("JSON object with keys ")
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
	known, faults := d.known, d.faults.count
	switch {
	case len(k) == 0:
		return // an empty TracesData
	case k.has("resourceSpans", "resource_spans", "batches", "trace"):
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
	case k.has("context") && k.has("parent_id", "kind", "start_time"):
		d.found(Python)
		d.python()
	case k.has("traceId") && k.has("id") && !k.has("binaryAnnotations"):
		d.found(Zipkin)
		d.zipkin()
	}
	if d.known == known && d.faults.count == faults && d.s.Err() == nil {
		d.refuse(k.name())
		d.skip(k.name())
	}
}

// name says what an object without spans is.
func (k keySet) name() string {
	switch {
	case k.has("resourceMetrics", "resource_metrics"):
		return "OTLP metrics"
	case k.has("resourceLogs", "resource_logs"):
		return "OTLP logs"
	case k.has("resourceProfiles", "resource_profiles"):
		return "OTLP profiles"
	case k.has("binaryAnnotations"):
		return "a span of Zipkin's version 1"
	default:
		return k.String()
	}
}
