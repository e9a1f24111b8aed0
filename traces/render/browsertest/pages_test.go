//go:build browsertest

package browsertest_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/render"
)

var pagesDir = flag.String("pages", "", "folder into which the pages are written")

// expected is what the browser must show of a span.
type expected struct {
	Name     string `json:"name"`
	Parent   string `json:"parent"` // name of the parent in the tree, or ""
	Nanos    int64  `json:"nanos"`
	Duration string `json:"duration"`
}

// TestWritePages writes the pages that the scripts in this folder open, and
// what they must show.
func TestWritePages(t *testing.T) {
	if *pagesDir == "" {
		t.Fatal("start me by the command run in this folder: -pages is not set")
	}
	for name, set := range map[string]*traces.Set{
		"shop": shop(), "sequence": sequence(), "random": random(rand.New(rand.NewPCG(1, 1)), 80),
		"hostile": hostile(), "big": random(rand.New(rand.NewPCG(2, 2)), 100_000), "empty": traces.NewSet(nil), "many": many(),
	} {
		writePages(t, name, set)
	}
}

func writePages(t *testing.T, name string, set *traces.Set) {
	t.Helper()
	var page, speedscope strings.Builder
	opts := []render.HTMLOption{render.WithTitle("Report of " + name)}
	if name == "hostile" {
		opts = []render.HTMLOption{render.WithTitle(attacks[0]), render.WithDownloadName(attacks[1])}
	}
	if err := render.HTML(&page, set, opts...); err != nil {
		t.Fatal(err)
	}
	if err := render.Speedscope(&speedscope, set); err != nil {
		t.Fatal(err)
	}
	list := []expected{}
	for n := range set.All() {
		e := expected{Name: render.FormatName(n.Span().Name), Nanos: int64(n.Span().Duration())}
		e.Duration = render.FormatDuration(e.Nanos)
		if n.Parent() != nil {
			e.Parent = render.FormatName(n.Parent().Span().Name)
		}
		list = append(list, e)
	}
	spans, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{name + ".html": page.String(), name + ".expected.json": string(spans)}
	if name != "big" && name != "many" {
		files[name+".chrome-trace.json"] = render.ChromeTraceString(set)
		files[name+".speedscope.json"] = speedscope.String()
		files[name+".inline.html"] = `<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>n</title>` + render.Inline(set, opts...)
	}
	for file, text := range files {
		if err := os.WriteFile(filepath.Join(*pagesDir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func newSpan(name string, id, parent uint32, service string, start, end time.Duration) *traces.Span {
	const t0 = 1_700_000_000_000_000_000
	number := func(n uint32) (b traces.SpanID) {
		b[4], b[5], b[6], b[7] = byte(n>>24), byte(n>>16), byte(n>>8), byte(n)
		return b
	}
	return &traces.Span{
		TraceID: traces.TraceID{15: 1}, SpanID: number(id), ParentID: number(parent), Name: name,
		StartUnixNano: uint64(t0 + start), EndUnixNano: uint64(t0 + end), Scope: &traces.Scope{Name: "github.com/shop/" + service},
		Resource: &traces.Resource{Attributes: []traces.Attribute{text("service.name", service)}},
	}
}

func text(key, value string) traces.Attribute {
	return traces.Attribute{Key: key, Value: traces.String(value)}
}

// shop is two requests with concurrent, failed, open and remote spans.
func shop() *traces.Set {
	const ms = time.Millisecond
	spans := []*traces.Span{
		newSpan("POST /checkout", 1, 0, "shop", 0, 48*ms),
		newSpan("load cart", 2, 1, "shop", 1*ms, 9*ms),
		newSpan("SELECT carts", 3, 2, "shop", 2*ms, 5*ms),
		newSpan("SELECT items", 4, 2, "shop", 5*ms, 8*ms),
		newSpan("reserve stock", 5, 1, "shop", 10*ms, 30*ms),
		newSpan("charge card", 6, 1, "shop", 11*ms, 38*ms),
		newSpan("POST /charges", 7, 6, "payments", 13*ms, 36*ms),
		newSpan("risk check", 8, 7, "payments", 14*ms, 20*ms),
		newSpan("bank call", 9, 7, "payments", 20*ms, 35*ms),
		newSpan("send mail", 10, 1, "shop", 40*ms, 55*ms),
		newSpan("audit log", 11, 1, "shop", 41*ms, 0),
	}
	spans[0].Kind, spans[6].Kind = traces.KindServer, traces.KindServer
	spans[0].Attributes = []traces.Attribute{
		text("http.request.method", "POST"), text("http.route", "/checkout"), text("url.path", "/checkout"),
		{Key: "http.response.status_code", Value: traces.Int(502)},
	}
	for _, i := range []int{0, 5, 8} {
		spans[i].Status = traces.Status{Code: traces.StatusError, Message: "card refused by the bank"}
	}
	spans[8].Events = []traces.Event{{Name: "exception", TimeUnixNano: spans[8].EndUnixNano - 1e6, Attributes: []traces.Attribute{
		text("exception.type", "*bank.Refusal"), text("exception.message", "insufficient funds"),
	}}}
	spans[10].EndUnixNano = 0
	other := newSpan("GET /cart", 50, 77, "shop", 60*ms, 64*ms)
	other.TraceID = traces.TraceID{15: 2}
	return traces.NewSet(append(spans, other))
}

// many is 3,000 traces of two spans.
func many() *traces.Set {
	var spans []*traces.Span
	for i := range uint32(3000) {
		at := time.Duration(i) * time.Millisecond
		root := newSpan(fmt.Sprintf("GET /page/%d", i), 2*i+1, 0, "shop", at, at+500*time.Microsecond)
		child := newSpan("SELECT items", 2*i+2, 2*i+1, "db", at+1000, at+2000)
		child.Attributes = []traces.Attribute{{Key: "rows", Value: traces.Int(int64(i % 100))}}
		if i%1000 == 7 {
			child.Status.Code = traces.StatusError
		}
		for _, s := range []*traces.Span{root, child} {
			s.TraceID = traces.TraceID{14: byte(i >> 8), 15: byte(i + 1)}
			spans = append(spans, s)
		}
	}
	return traces.NewSet(spans)
}

// sequence is a tree in which every child fits into its parent, with end points
// that decimal fractions would get wrong.
func sequence() *traces.Set {
	us := func(n float64) time.Duration { return time.Duration(n * 1000) }
	return traces.NewSet([]*traces.Span{
		newSpan("Run", 1, 0, "ommx", us(0.1), us(18870.4)),
		newSpan("solve", 2, 1, "ommx", us(50.3), us(6310.7)),
		newSpan("convert", 3, 2, "ommx", us(100.1), us(6000.9)),
		newSpan("reduce", 4, 3, "ommx", us(200.2), us(206.003)),
		newSpan("reduce more", 5, 3, "ommx", us(206.003), us(6000.9)),
		newSpan("call", 6, 2, "ommx", us(6000.9), us(6098.3)),
		newSpan("decode", 7, 2, "ommx", us(6098.3), us(6310.7)),
		newSpan("evaluate", 8, 7, "ommx", us(6298.3), us(6310.7)),
		newSpan("store", 9, 1, "ommx", us(6310.7), us(18870.4)),
	})
}

// random spans overlap each other and their parents in every way.
func random(r *rand.Rand, n int) *traces.Set {
	spans := make([]*traces.Span, n)
	for i := range spans {
		parent, low, high := uint32(0), int64(0), int64(1e9)
		if i > 0 {
			at := r.IntN(min(i, 200))
			p := spans[at]
			parent, low, high = uint32(at+1), int64(p.StartUnixNano-1_700_000_000_000_000_000), int64(p.Duration())
		}
		start := low + r.Int64N(max(1, high))
		length := 1 + r.Int64N(max(1, high))
		service := fmt.Sprintf("service-%d", r.IntN(3))
		spans[i] = newSpan(fmt.Sprintf("s%d", i), uint32(i+1), parent, service, time.Duration(start), time.Duration(start+length))
	}
	return traces.NewSet(spans)
}

var attacks = []string{
	`</title></script><script>alert("title")</script>`, `"><img src=x onerror=alert("download")>.html`,
	`</script><script>alert(1)</script>`, `<img src="http://evil.invalid/x" onerror=alert(2)>`, `<!--<script>`, `-->`,
	`javascript:alert(3)`, `"><svg/onload=alert(4)>`, `</style><style>@import url(http://evil.invalid/y)</style>`,
	"\u2028alert(5)\u2029", `{{constructor.constructor('alert(6)')()}}`, "${alert(7)}", `<iframe srcdoc="<script>alert(8)</script>">`,
	`<base href="http://evil.invalid/">`, `<form action=http://evil.invalid><input name=id>`, `<a id=data href=x>`, "__proto__", "constructor",
	"\x1b]0;x\a", "x\x00y", "\u202eevil", `<link rel=stylesheet href=http://evil.invalid/z>`, `]]><x>`, `http://evil.invalid/?q=<script>`,
}

func hostile() *traces.Set {
	var spans []*traces.Span
	for i, a := range attacks {
		s := newSpan(a, uint32(i+1), uint32(i/3), a, time.Duration(i)*time.Millisecond, time.Duration(200-i)*time.Millisecond)
		s.Attributes = []traces.Attribute{text(a, a), text("url.full", a), {Key: "map", Value: traces.Map(text(a, a))}}
		s.Events = []traces.Event{{Name: a, Attributes: []traces.Attribute{text(a, a)}}}
		s.Status = traces.Status{Code: traces.StatusError, Message: a}
		s.Scope = &traces.Scope{Name: a}
		spans = append(spans, s)
	}
	return traces.NewSet(spans)
}
