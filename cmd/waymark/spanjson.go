package main

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/traces"
)

// spanJSON is a span in the JSON of tree and list.
type spanJSON struct {
	TraceID    traces.TraceID  `json:"trace_id"`
	SpanID     traces.SpanID   `json:"span_id"`
	ParentID   *traces.SpanID  `json:"parent_id"` // null: a root
	Depth      int             `json:"depth"`
	Marks      []string        `json:"marks,omitempty"` // orphan, duplicate, cycle
	Name       string          `json:"name"`
	Kind       string          `json:"kind"`
	Service    string          `json:"service"`
	Scope      string          `json:"scope"`
	Start      string          `json:"start_unix_nano"`
	End        string          `json:"end_unix_nano"` // "0": open
	Duration   string          `json:"duration_nano"`
	Status     string          `json:"status"` // unset, ok, error
	Message    string          `json:"status_message,omitempty"`
	Attributes map[string]any  `json:"attributes,omitempty"`
	Events     []spanEventJSON `json:"events,omitempty"`
}

type spanEventJSON struct {
	Name       string         `json:"name"`
	Time       string         `json:"time_unix_nano"`
	Attributes map[string]any `json:"attributes,omitempty"`
}

func nodeJSON(n *traces.Node) spanJSON {
	span := n.Span()
	out := spanJSON{
		TraceID: span.TraceID, SpanID: span.SpanID, Depth: n.Depth(),
		Name: span.Name, Kind: span.Kind.String(), Service: span.Service(), Scope: span.ScopeName(),
		Start: nano(span.StartUnixNano), End: nano(span.EndUnixNano),
		Duration: strconv.FormatInt(int64(span.Duration()), 10),
		Status:   strings.ToLower(span.Status.Code.String()), Message: span.Status.Message,
		Attributes: plainMap(span.Attributes),
	}
	if !span.ParentID.IsZero() {
		out.ParentID = &span.ParentID
	}
	for _, m := range allMarks() {
		if n.Is(m) {
			out.Marks = append(out.Marks, markNames(m)...)
		}
	}
	for i := range span.Events {
		e := &span.Events[i]
		out.Events = append(out.Events, spanEventJSON{e.Name, nano(e.TimeUnixNano), plainMap(e.Attributes)})
	}
	return out
}

func allMarks() []traces.Mark { return []traces.Mark{traces.Orphan, traces.Duplicate, traces.Cycle} }

func markNames(marks traces.Mark) []string {
	var names []string
	for i, name := range []string{"orphan", "duplicate", "cycle"} {
		if marks&allMarks()[i] != 0 {
			names = append(names, name)
		}
	}
	return names
}

func nano(n uint64) string { return strconv.FormatUint(n, 10) }

func plainMap(list []traces.Attribute) map[string]any {
	if len(list) == 0 {
		return nil
	}
	m := make(map[string]any, len(list))
	for _, a := range list {
		m[a.Key] = plain(a.Value)
	}
	return m
}

// plain is a value as JSON has it: bytes in base64, numbers that JSON lacks as
// text.
func plain(v traces.Value) any {
	switch v.Kind() {
	case traces.ValueString:
		return v.AsString()
	case traces.ValueBool:
		return v.AsBool()
	case traces.ValueInt:
		return v.AsInt()
	case traces.ValueDouble:
		if f := v.AsDouble(); math.IsNaN(f) || math.IsInf(f, 0) {
			return strconv.FormatFloat(f, 'g', -1, 64)
		}
		return v.AsDouble()
	case traces.ValueBytes:
		return base64.StdEncoding.EncodeToString([]byte(v.AsBytes()))
	case traces.ValueArray:
		list := make([]any, 0, len(v.AsArray()))
		for _, m := range v.AsArray() {
			list = append(list, plain(m))
		}
		return list
	case traces.ValueMap:
		m := make(map[string]any, len(v.AsMap()))
		for _, a := range v.AsMap() {
			m[a.Key] = plain(a.Value)
		}
		return m
	default:
		return nil
	}
}
