package render

import (
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/traces"
)

// keyStack is the attribute of an exception that is drawn in lines.
//
// Spec: https://github.com/open-telemetry/semantic-conventions/blob/v1.43.0/docs/exceptions/exceptions-spans.md
const keyStack = "exception.stacktrace"

// events prints a line per event under the span's line, before its children, and
// a line for each frame of a stack.
func (t *treeWriter) events(n *traces.Node) {
	c, span := t.config, n.Span()
	gap := noTrunk
	if len(n.Children()) > 0 {
		gap = trunk
	}
	for i := range span.Events {
		e := &span.Events[i]
		b := append(append(t.line[:0], t.prefix...), gap...)
		b = append(b, "• "...)
		b = c.paint(b, colorDim, func(b []byte) []byte {
			if e.TimeUnixNano != 0 && span.StartUnixNano != 0 {
				at := traces.Span{StartUnixNano: span.StartUnixNano, EndUnixNano: e.TimeUnixNano}
				b = append(appendDuration(b, int64(at.Duration())), ' ')
			}
			return appendPlain(b, e.Name)
		})
		stack, rest := c.takeStack(e.Attributes)
		t.emit(c.attributes(b, rest))
		for _, line := range stackLines(stack) {
			b := append(append(t.line[:0], t.prefix...), gap...)
			b = append(b, "    "...)
			t.emit(c.paint(b, colorDim, func(b []byte) []byte { return appendPlain(b, line) }))
		}
	}
}

// takeStack takes a stack that is text out of the attributes, unless its key is
// hidden.
func (c *treeConfig) takeStack(attrs []traces.Attribute) (stack string, rest []traces.Attribute) {
	for i, a := range attrs {
		if a.Key == keyStack && a.Value.Kind() == traces.ValueString && !c.hidden.hides(keyStack) {
			rest = append(append(rest, attrs[:i]...), attrs[i+1:]...)
			return a.Value.AsString(), rest
		}
	}
	return "", attrs
}

// maxStackLines bounds the lines of one stack.
const maxStackLines = 50

// stackLines are the lines of a stack: of one that Go wrote a line for each frame
// of the program's own code and its libraries, of another each line as it is. What
// is left out is said.
func stackLines(stack string) []string {
	lines := strings.Split(strings.TrimRight(stack, "\r\n\t "), "\n")
	switch {
	case stack == "":
		return nil
	case strings.HasPrefix(lines[0], "goroutine "):
		lines = goFrames(lines[1:])
	default:
		for i, line := range lines {
			lines[i] = strings.ReplaceAll(strings.TrimRight(line, "\r"), "\t", "    ")
		}
	}
	if rest := len(lines) - maxStackLines; rest > 0 {
		lines = append(lines[:maxStackLines:maxStackLines], "… "+counted(rest, "more line"))
	}
	return lines
}

// goFrames makes one line of the two that the runtime prints for a frame.
//
//	main.charge(0xc000012345, 0x3)
//		/home/ada/shop/charge.go:42 +0x1b
func goFrames(lines []string) []string {
	var out []string
	left := 0
	for i := 0; i < len(lines); i++ {
		function := lines[i]
		if function == "" || strings.HasPrefix(function, "\t") {
			continue
		}
		place := ""
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], "\t") {
			i++
			place = strings.TrimSpace(lines[i])
			place, _, _ = strings.Cut(place, " +0x")
		}
		name := functionName(function)
		if isPlumbing(name) {
			left++
			continue
		}
		out = append(out, strings.TrimSpace(name+" "+place))
	}
	if left > 0 {
		out = append(out, "… "+counted(left, "frame")+" of the runtime and of tracing left out")
	}
	return out
}

// functionName is a frame's function without its arguments, which are addresses.
func functionName(line string) string {
	if line = strings.TrimSuffix(line, "\r"); strings.HasSuffix(line, ")") {
		if at := strings.LastIndexByte(line, '('); at > 0 {
			line = line[:at]
		}
	}
	if after, ok := strings.CutPrefix(line, "created by "); ok {
		line, _, _ = strings.Cut(after, " in goroutine ")
		line = "created by " + line
	}
	return line
}

// isPlumbing reports whether a function is the runtime's or tracing's: it says
// nothing about the program.
func isPlumbing(name string) bool {
	name = strings.TrimPrefix(name, "created by ")
	if name == "panic" {
		return true
	}
	for _, prefix := range []string{
		"runtime.", "runtime/", "internal/runtime/",
		"github.com/waymark-trace/waymark/", "go.opentelemetry.io/otel/", "go.opentelemetry.io/contrib/",
	} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}
