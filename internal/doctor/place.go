package doctor

import (
	"math"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/traces"
)

// slack is what writers round by: Python's and Jaeger's times are microseconds.
const slack = uint64(time.Microsecond)

// later says by how much a is after b, and whether by more than the slack. The
// difference stays inside the range of a time.Duration.
func later(a, b uint64) (time.Duration, bool) {
	if a <= b {
		return 0, false
	}
	return time.Duration(min(a-b, math.MaxInt64)), a-b > slack
}

// place looks at a span among the others.
func (d *Doctor) place(n *traces.Node) {
	span := n.Span()
	if n.Is(traces.Orphan) && !parentElsewhere(span) {
		d.find(Orphan, "", span, "parent "+span.ParentID.String())
	}
	if n.Is(traces.Duplicate) {
		d.find(Duplicate, "", span, "")
	}
	if n.Is(traces.Cycle) {
		d.find(Cycle, "", span, "")
	}
	if n.Parent() == nil || span.StartUnixNano == 0 || n.Parent().Span().StartUnixNano == 0 {
		return
	}
	parent := n.Parent().Span()
	if by, early := later(parent.StartUnixNano, span.StartUnixNano); early {
		if oneClock(span, parent) {
			d.find(BeforeParent, "", span, "by "+by.String())
		} else {
			d.skew(span, parent, by)
		}
	}
	if by, late := later(span.EndUnixNano, parent.EndUnixNano); late && mayNotOutlive(span, parent) {
		if after, apart := later(span.StartUnixNano, parent.EndUnixNano); apart && !oneClock(span, parent) {
			d.skew(span, parent, after)
		} else {
			d.find(OutlivesParent, "", span, "by "+by.String())
		}
	}
}

func (d *Doctor) skew(span, parent *traces.Span, by time.Duration) {
	d.find(ClockSkew, d.process(parent)+" and "+d.process(span), span, "by "+by.String())
}

// oneClock reports whether the times of a span and of its parent are of one clock,
// as far as can be told: of one host, or of one process that did not call itself
// over the network.
func oneClock(span, parent *traces.Span) bool {
	for _, key := range []string{"host.id", "host.name", "service.instance.id", "service.name"} {
		if a, b := resourceText(span, key), resourceText(parent, key); a != b {
			return false
		} else if a != "" && key != "service.name" {
			return true
		}
	}
	return !parentElsewhere(span)
}

func resourceText(span *traces.Span, key string) string {
	if span.Resource == nil {
		return ""
	}
	v, _ := traces.Lookup(span.Resource.Attributes, key)
	return v.AsString()
}

// parentElsewhere tells the healthy orphans: their caller is another program,
// which wrote elsewhere.
func parentElsewhere(span *traces.Span) bool {
	remote, known := span.RemoteParent()
	if known {
		return remote
	}
	return span.Kind == traces.KindServer || span.Kind == traces.KindConsumer
}

// mayNotOutlive leaves out messages, which are handled after they were sent.
func mayNotOutlive(span, parent *traces.Span) bool {
	return !span.Open() && !parent.Open() && span.Kind != traces.KindConsumer && parent.Kind != traces.KindProducer
}

// process names the process that made a span, as far as its resource tells.
func (d *Doctor) process(span *traces.Span) string {
	if p, ok := d.resources[span.Resource]; ok {
		return p
	}
	var words []string
	for _, key := range []string{"service.name", "service.instance.id", "host.name"} {
		if text := resourceText(span, key); text != "" {
			words = append(words, d.text(text))
		}
	}
	p := strings.Join(words, "/")
	d.resources[span.Resource] = p
	return p
}
