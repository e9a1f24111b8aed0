package doctor

import (
	"strings"
	"time"

	"github.com/waymark-trace/waymark/traces"
)

// slack is what writers round by: Python's and Jaeger's times are microseconds.
const slack = uint64(time.Microsecond)

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
	if early := span.StartUnixNano + slack; early < parent.StartUnixNano {
		by := "by " + time.Duration(parent.StartUnixNano-span.StartUnixNano).String() //nolint:gosec // printed only
		if d.process(span) == d.process(parent) {
			d.find(BeforeParent, "", span, by)
		} else {
			d.find(ClockSkew, d.process(parent)+" and "+d.process(span), span, by)
		}
	}
	if outlives(span, parent) {
		d.find(OutlivesParent, "", span, "by "+time.Duration(span.EndUnixNano-parent.EndUnixNano).String()) //nolint:gosec // printed only
	}
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

// outlives leaves out messages, which are handled after they were sent.
func outlives(span, parent *traces.Span) bool {
	if span.Open() || parent.Open() || span.Kind == traces.KindConsumer || parent.Kind == traces.KindProducer {
		return false
	}
	return span.EndUnixNano > parent.EndUnixNano && span.EndUnixNano-parent.EndUnixNano > slack
}

// process names the process that made a span, as far as its resource tells.
func (d *Doctor) process(span *traces.Span) string {
	if p, ok := d.resources[span.Resource]; ok {
		return p
	}
	var words []string
	if span.Resource != nil {
		for _, key := range []string{"service.name", "service.instance.id", "host.name"} {
			if v, ok := traces.Lookup(span.Resource.Attributes, key); ok && v.AsString() != "" {
				words = append(words, d.text(v.AsString()))
			}
		}
	}
	p := strings.Join(words, "/")
	d.resources[span.Resource] = p
	return p
}
