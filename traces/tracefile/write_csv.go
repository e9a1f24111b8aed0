package tracefile

import (
	"bufio"
	"encoding/csv"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/internal/otlpjson"
	"github.com/waymark-trace/waymark/traces"
)

// csvEncoder writes a row a span for spreadsheets and data frames. Attributes,
// events, links and the resource's attributes are JSON in a cell.
type csvEncoder struct {
	*losses
	cw *csv.Writer
}

// csvColumns is the header.
const csvColumns = "trace_id,span_id,parent_id,name,kind,service_name,start_unix_nano,end_unix_nano,duration_nano," +
	"status_code,status_message,scope_name,scope_version,trace_state,flags,attributes,dropped_attributes," +
	"events,dropped_events,links,dropped_links,resource"

func (e *csvEncoder) open(w *bufio.Writer) {
	if e.cw == nil {
		e.cw = csv.NewWriter(w)
		_, _ = w.WriteString(csvColumns + "\n") // an error stays in w
	}
}

func (e *csvEncoder) close(w *bufio.Writer) {
	e.open(w)
	e.cw.Flush()
}

func (e *csvEncoder) span(w *bufio.Writer, sp *traces.Span) {
	e.open(w)
	e.texts(sp)
	e.lost(sp)
	r, scope := resourceOf(sp), scopeOf(sp)
	service, _ := serviceOf(r)
	if service == noServiceName {
		service = ""
	}
	row := []string{
		idText(sp.TraceID[:]), idText(sp.SpanID[:]), idText(sp.ParentID[:]),
		e.cell("name", sp.Name),
		kindCell(sp.Kind),
		e.cell("resource.attributes.service.name", service),
		number(sp.StartUnixNano), number(sp.EndUnixNano), strconv.FormatInt(int64(sp.EndUnixNano-sp.StartUnixNano), 10), //nolint:gosec // may be negative
		statusCell(sp.Status.Code),
		e.cell("status.message", sp.Status.Message),
		e.cell("scope.name", scope.Name), e.cell("scope.version", scope.Version),
		e.cell("traceState", sp.TraceState),
		number(uint64(sp.Flags)),
		plainCell(sp.Attributes), number(uint64(sp.DroppedAttributes)),
		eventsCell(sp.Events), number(uint64(sp.DroppedEvents)),
		linksCell(sp.Links), number(uint64(sp.DroppedLinks)),
		plainCell(r.Attributes),
	}
	_ = e.cw.Write(row) // an error stays in w, which cw writes to without a buffer of its own
}

// lost notes what no column has.
func (e *csvEncoder) lost(sp *traces.Span) {
	e.plainLosses("attributes.", sp.Attributes)
	for _, ev := range sp.Events {
		e.plainLosses("events.attributes.", ev.Attributes)
	}
	for _, l := range sp.Links {
		e.plainLosses("links.attributes.", l.Attributes)
	}
	e.untaggedScope(sp)
	if r := resourceOf(sp); e.first("rest", r) {
		leftOut(e.losses, "resource.schemaUrl", r.SchemaURL)
		leftOut(e.losses, "resource.droppedAttributesCount", r.DroppedAttributes)
		e.plainLosses("resource.attributes.", r.Attributes)
	}
}

// cell is text from a span as a cell. A spreadsheet takes one that begins like
// a formula for one, and runs it; a quote in front, which spreadsheets hide,
// makes it text.
func (e *csvEncoder) cell(key, text string) string {
	text = utf8Text(text)
	if text == "" {
		return ""
	}
	switch text[0] {
	case '=', '+', '-', '@', '\t', '\r', '\n':
		e.add(key, "a quote put in front: it begins like a formula")
		return "'" + text
	default:
		return text
	}
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }

// idText is an id in hex, and nothing when there is none.
func idText(id []byte) string {
	for _, b := range id {
		if b != 0 {
			return hex.EncodeToString(id)
		}
	}
	return ""
}

func kindCell(k traces.Kind) string {
	if k < traces.KindUnspecified || k > traces.KindConsumer {
		return strconv.Itoa(int(k))
	}
	return k.String()
}

func statusCell(c traces.StatusCode) string {
	if c < traces.StatusUnset || c > traces.StatusError {
		return strconv.Itoa(int(c))
	}
	return strings.ToUpper(c.String())
}

func plainCell(list []traces.Attribute) string { return string(appendPlainMap(nil, list)) }

// eventsCell is a list of {"timeUnixNano":"…","name":"…","attributes":{…},"droppedAttributesCount":…}.
func eventsCell(list []traces.Event) string {
	b := []byte{'['}
	for _, e := range list {
		b = otlpjson.OpenEvent(b, e.TimeUnixNano, e.Name)
		b = appendPlainMap(append(b, `,"attributes":`...), e.Attributes)
		b = otlpjson.AppendDroppedAttributes(b, e.DroppedAttributes)
		b = otlpjson.CloseObject(b)
	}
	return string(otlpjson.CloseList(b))
}

func linksCell(list []traces.Link) string {
	b := []byte{'['}
	for _, l := range list {
		b = otlpjson.OpenLink(b, l.TraceID, l.SpanID, l.TraceState, l.Flags)
		b = appendPlainMap(append(b, `,"attributes":`...), l.Attributes)
		b = otlpjson.AppendDroppedAttributes(b, l.DroppedAttributes)
		b = otlpjson.CloseObject(b)
	}
	return string(otlpjson.CloseList(b))
}
