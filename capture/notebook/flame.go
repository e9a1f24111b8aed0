package notebook

import (
	"fmt"
	"hash/fnv"
	"html"
	"strings"

	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/render"
)

const (
	maxFlame  = 2000 // spans in a flame graph
	rowHeight = 18   // pixels
)

// bar is a span of a flame graph.
type bar struct {
	row        int
	start, end uint64
}

// flame draws the spans as boxes, children below parents, without a script:
// notebooks are shown in places that run none. What comes from spans is text in
// escaped attributes and elements, never markup.
func flame(b *strings.Builder, set *traces.Set) {
	first, last, ok := set.Bounds()
	if !ok || last <= first {
		return
	}
	var boxes strings.Builder
	rows, shown := 0, 0
	placed := map[*traces.Node]bar{}
	taken := [][]bar{}
	for node := range set.All() {
		if shown == maxFlame {
			break
		}
		s := node.Span()
		p := bar{start: s.StartUnixNano, end: s.EndUnixNano}
		if p.start == 0 {
			continue
		}
		if p.end < p.start {
			p.end = last // open, or the clock was set back
		}
		if parent, ok := placed[node.Parent()]; ok {
			p.row = parent.row + 1
		}
		for p.row < len(taken) && overlaps(taken[p.row], p) {
			p.row++
		}
		for len(taken) <= p.row {
			taken = append(taken, nil)
		}
		taken[p.row] = append(taken[p.row], p)
		placed[node] = p
		rows = max(rows, p.row+1)
		shown++
		box(&boxes, s, p, first, last)
	}
	fmt.Fprintf(b, `<div class="waymark-flame" style="position:relative;height:%dpx;font:11px/16px monospace;overflow:hidden">`, rows*rowHeight)
	b.WriteString(boxes.String())
	b.WriteString("</div>")
	if shown < set.Len() {
		fmt.Fprintf(b, "<p>The flame graph shows %d of %d spans.</p>", shown, set.Len())
	}
}

func overlaps(row []bar, p bar) bool {
	for _, q := range row {
		if p.start < q.end && q.start < p.end || p.start == q.start {
			return true
		}
	}
	return false
}

func box(b *strings.Builder, s *traces.Span, p bar, first, last uint64) {
	whole := float64(last - first)
	name := html.EscapeString(strings.ToValidUTF8(s.Name, "\ufffd"))
	took := render.FormatDuration(int64(s.Duration()))
	if s.Open() {
		took = "open"
	}
	fmt.Fprintf(b, `<div title="%s (%s)" style="position:absolute;left:%.4f%%;width:%.4f%%;min-width:1px;top:%dpx;height:%dpx;`+
		`background:%s;color:#000;overflow:hidden;white-space:nowrap;box-sizing:border-box;border:1px solid #fff">%s</div>`,
		name, took, float64(p.start-first)/whole*100, float64(p.end-p.start)/whole*100, p.row*rowHeight, rowHeight, color(s), name)
}

// color is red for a failed span, else one of its scope's.
func color(s *traces.Span) string {
	if s.Failed() {
		return "#ff8a80"
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(s.ScopeName())) // never fails
	return fmt.Sprintf("hsl(%d,60%%,75%%)", 40+h.Sum32()%260)
}
