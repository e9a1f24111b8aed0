package render

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"github.com/waymark-trace/waymark/traces"
)

// Speedscope writes the spans as a file of speedscope's own format: one profile
// per lane (see [ChromeTrace]) in nanoseconds since the earliest span, with one
// frame per span name, so that speedscope adds up what has the same name. Spans
// without a length are left out: they have no area. What else has no place is
// what [SpeedscopeLosses] yields.
//
//	{"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"waymark",
//	"shared":{"frames":[{"name":"GET /"}]},"profiles":[{"type":"evented","name":"shop, lane 1","unit":"nanoseconds",
//	"startValue":0,"endValue":9,"events":[{"type":"O","frame":0,"at":0},{"type":"C","frame":0,"at":9}]}]}
//
// A file for it should be named *.speedscope.json.
//
// Spec: https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources
func Speedscope(w io.Writer, set *traces.Set) error {
	l := newLayout(set)
	sw := speedscopeWriter{w: bufio.NewWriter(w), frames: map[string]int{}, end: l.end}
	perLane := make([][]*placed, len(l.lanes))
	for _, p := range l.spans {
		if !p.instant {
			at := p.lane.tid - 1
			perLane[at] = append(perLane[at], p)
		}
	}
	sw.header(l)
	for i, spans := range perLane {
		if len(spans) > 0 {
			sw.profile(l.lanes[i], spans)
		}
	}
	if sw.profiles == 0 {
		sw.open("no spans")
		sw.text("]}")
	}
	sw.text("]}\n")
	if err := sw.w.Flush(); err != nil {
		return fmt.Errorf("render: write speedscope file: %w", err)
	}
	return nil
}

// speedscopeWriter leaves errors to the bufio.Writer, which keeps the first one.
type speedscopeWriter struct {
	w        *bufio.Writer
	buf      []byte
	frames   map[string]int
	end      uint64
	profiles int
	events   int
}

func (sw *speedscopeWriter) text(s string) { _, _ = sw.w.WriteString(s) }

func (sw *speedscopeWriter) header(l *layout) {
	sw.text(`{"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"waymark","name":"waymark",` +
		`"activeProfileIndex":0,"shared":{"frames":[`)
	for _, p := range l.spans {
		name := p.node.Span().Name
		if _, ok := sw.frames[name]; ok || p.instant {
			continue
		}
		if len(sw.frames) > 0 {
			sw.text(",")
		}
		sw.frames[name] = len(sw.frames)
		sw.buf = append(appendJSONString(append(sw.buf[:0], "\n{\"name\":"...), name), '}')
		_, _ = sw.w.Write(sw.buf)
	}
	sw.text(`]},"profiles":[`)
}

func (sw *speedscopeWriter) open(name string) {
	if sw.profiles > 0 {
		sw.text(",")
	}
	sw.profiles++
	sw.events = 0
	b := appendJSONString(append(sw.buf[:0], "\n{\"type\":\"evented\",\"name\":"...), name)
	b = append(b, `,"unit":"nanoseconds","startValue":0,"endValue":`...)
	b = append(strconv.AppendUint(b, sw.end, 10), `,"events":[`...)
	_, _ = sw.w.Write(b)
	sw.buf = b
}

func (sw *speedscopeWriter) profile(ln *lane, spans []*placed) {
	sw.open(ln.service.title() + ", lane " + strconv.Itoa(ln.number))
	var stack []*placed
	for _, p := range spans {
		for len(stack) > 0 && stack[len(stack)-1].end <= p.start {
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			sw.event('C', top, top.end)
		}
		sw.event('O', p, p.start)
		stack = append(stack, p)
	}
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		sw.event('C', top, top.end)
	}
	sw.text("]}")
}

func (sw *speedscopeWriter) event(kind byte, p *placed, at uint64) {
	b := sw.buf[:0]
	if sw.events > 0 {
		b = append(b, ',')
	}
	sw.events++
	b = append(append(b, `{"type":"`...), kind, '"')
	b = strconv.AppendInt(append(b, `,"frame":`...), int64(sw.frames[p.node.Span().Name]), 10)
	b = append(strconv.AppendUint(append(b, `,"at":`...), at, 10), '}')
	_, _ = sw.w.Write(b)
	sw.buf = b
}
