package render

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	"github.com/waymark-trace/waymark/traces"
)

var (
	//go:embed web/report.html
	reportPage string
	//go:embed web/report.css
	reportStyle string
	//go:embed web/model.js
	scriptModel string
	//go:embed web/flame.js
	scriptFlame string
	//go:embed web/waterfall.js
	scriptWaterfall string
	//go:embed web/picker.js
	scriptPicker string
	//go:embed web/main.js
	scriptMain string
)

// defaultDownload is the file name that pages offer. Names that begin with
// "Trace-" or "Profile-", or end with ".chrome.json", would make speedscope
// take the file for one of a browser's developer tools.
const defaultDownload = "waymark_trace.json"

// defaultMaxSpans keeps a report below about 150 MB of text, 12 MB of file, which
// browsers open in seconds.
const defaultMaxSpans = 100_000

// HTMLOption changes what [HTML] and [Inline] write.
type HTMLOption interface{ applyHTML(htmlConfig) htmlConfig }

type htmlConfig struct {
	title    string
	download string
	maxSpans int
	total    int
	chrome   []ChromeOption
	tree     []TreeOption
}

type htmlOption func(htmlConfig) htmlConfig

func (o htmlOption) applyHTML(c htmlConfig) htmlConfig { return o(c) }

// WithTitle sets the report's title and heading. Default: "Trace report". A
// fragment of [Inline] has none.
func WithTitle(title string) HTMLOption {
	return htmlOption(func(c htmlConfig) htmlConfig { c.title = title; return c })
}

// WithDownloadName sets the file name under which the Chrome trace is saved.
// Default: waymark_trace.json.
func WithDownloadName(name string) HTMLOption {
	return htmlOption(func(c htmlConfig) htmlConfig { c.download = name; return c })
}

// WithMaxSpans limits a report to the traces that began last, whole, of at most
// so many spans; of a trace that has more by itself it holds the first. The
// report says so where it leaves spans out. Default, and for zero or less:
// 100,000. A fragment of [Inline] has no limit.
func WithMaxSpans(n int) HTMLOption {
	return htmlOption(func(c htmlConfig) htmlConfig { c.maxSpans = n; return c })
}

// WithTotalSpans says of how many spans the set is a choice, which the report
// then says too. Default, and for less than the set has: the set is all.
func WithTotalSpans(n int) HTMLOption {
	return htmlOption(func(c htmlConfig) htmlConfig { c.total = n; return c })
}

// WithChromeOptions passes options to the Chrome trace in the page.
func WithChromeOptions(opts ...ChromeOption) HTMLOption {
	return htmlOption(func(c htmlConfig) htmlConfig { c.chrome = opts; return c })
}

// WithTreeOptions passes options to the tree of a fragment of [Inline]. Colors
// are no good there. A report has no such tree.
func WithTreeOptions(opts ...TreeOption) HTMLOption {
	return htmlOption(func(c htmlConfig) htmlConfig { c.tree = opts; return c })
}

func newHTMLConfig(opts []HTMLOption) htmlConfig {
	c := htmlConfig{title: "Trace report", download: defaultDownload}
	for _, o := range opts {
		c = o.applyHTML(c)
	}
	if c.maxSpans <= 0 {
		c.maxSpans = defaultMaxSpans
	}
	return c
}

// HTML writes the spans as one HTML file for a browser: a flame graph, a
// waterfall, a table of the same, and the Chrome trace for download. It needs no
// network and no server, works from disk, in light and dark, by keyboard and
// with a screen reader.
//
// Its content security policy allows the script and the style in it, by hash,
// and nothing else; the spans are inert data, compressed, which the script shows as
// text. The browser must know DecompressionStream, as all do since 2023.
//
// Spec: https://www.w3.org/TR/CSP3/
func HTML(w io.Writer, set *traces.Set, opts ...HTMLOption) error {
	c := newHTMLConfig(opts)
	shown := newestSpans(set, c.maxSpans)
	script := strings.Join([]string{`(() => { "use strict";`, scriptModel, scriptFlame, scriptWaterfall, scriptPicker, scriptMain, `})();`}, "\n")
	policy := "default-src 'none'; script-src " + cspHash(script) + "; style-src " + cspHash(reportStyle) +
		"; base-uri 'none'; form-action 'none'"
	buffered := bufio.NewWriter(w)
	write := func(text string) func() { return func() { _, _ = buffered.WriteString(text) } }
	fill(buffered, reportPage, map[string]func(){
		"csp":    write(policy),
		"title":  write(escapeHTML(c.title)),
		"style":  write(reportStyle),
		"script": write(script),
		"data":   packed(buffered, func(w *bufio.Writer) { writeReportData(w, c, shown, max(set.Len(), c.total)) }),
		"chrome": packed(buffered, func(w *bufio.Writer) { _ = ChromeTrace(w, shown, c.chrome...) }),
	})
	// The bufio.Writer keeps the first error, and does nothing after it.
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("render: write report: %w", err)
	}
	return nil
}

// fill writes the page with each {name} replaced by its part. The page is ours:
// a brace without a part stays as it is.
func fill(w *bufio.Writer, page string, parts map[string]func()) {
	for {
		before, rest, found := strings.Cut(page, "{")
		_, _ = w.WriteString(before)
		if !found {
			return
		}
		name, after, _ := strings.Cut(rest, "}")
		part := parts[name]
		if part == nil {
			_ = w.WriteByte('{')
			page = rest
			continue
		}
		part()
		page = after
	}
}

// packed writes a part as gzip in base64: spans repeat each other so much that a
// page of 100,000 has a twelfth of the size. Errors stay in w.
func packed(w *bufio.Writer, part func(*bufio.Writer)) func() {
	return func() {
		text := base64.NewEncoder(base64.StdEncoding, w)
		zip := gzip.NewWriter(text)
		inner := bufio.NewWriterSize(zip, 64<<10)
		part(inner)
		_, _, _ = inner.Flush(), zip.Close(), text.Close()
	}
}

func cspHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Inline returns a fragment of HTML for a notebook: the tree as text, and the
// Chrome trace as a link that holds its data.
//
//	<div class="waymark-trace"><pre>└── …</pre><p><a href="data:application/json;base64,…"
//	download="waymark_trace.json">Download Chrome Trace JSON (0.2 KB)</a> — open in …</p></div>
func Inline(set *traces.Set, opts ...HTMLOption) string {
	c := newHTMLConfig(opts)
	chrome := ChromeTraceString(set, c.chrome...)
	var b strings.Builder
	b.WriteString(`<div class="waymark-trace"><pre>`)
	b.WriteString(escapeHTML(TreeString(set, c.tree...)))
	b.WriteString(`</pre><p><a href="data:application/json;base64,`)
	b.WriteString(base64.StdEncoding.EncodeToString([]byte(chrome)))
	fmt.Fprintf(&b, `" download="%s">Download Chrome Trace JSON (%.1f KB)</a>`, escapeHTML(c.download), float64(len(chrome))/1024)
	b.WriteString(" — open in Perfetto, speedscope, or <code>chrome://tracing</code>.</p></div>")
	return b.String()
}

// escapeHTML makes text safe between tags and in quoted attributes. Broken
// UTF-8 and NUL become U+FFFD, as a browser would read them.
func escapeHTML(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#x27;", "\x00", "\ufffd").
		Replace(strings.ToValidUTF8(s, "\ufffd"))
}
