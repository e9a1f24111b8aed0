// @ts-check
// The table, the details of the selected span, and what is above the views.

const tablePage = 200;

class SpanTable {
  /** @param {State} state */
  constructor(state) {
    this.state = state;
    this.body = byID("rows");
    this.page = 0;
    byID("page-back").addEventListener("click", () => this.turn(-1));
    byID("page-on").addEventListener("click", () => this.turn(1));
    state.listeners.push((what) => (what === "trace" ? this.reset() : this.mark()));
    this.reset();
  }
  get pages() { return Math.max(1, Math.ceil(this.state.spans.length / tablePage)); }

  reset() {
    this.page = 0;
    const { trace } = this.state;
    byID("caption").textContent = `${count(trace.spans.length, "span")} of trace ${trace.id}, ${lengthOf(trace)}`;
    this.draw();
  }
  /** @param {number} step */
  turn(step) {
    this.page = Math.max(0, Math.min(this.pages - 1, this.page + step));
    this.draw();
  }
  draw() {
    const from = this.page * tablePage, spans = this.state.spans.slice(from, from + tablePage);
    this.body.replaceChildren(...spans.map((span, i) => this.row(span, from + i)));
    byID("pager").hidden = this.pages === 1;
    byID("page").textContent = `Rows ${from + 1} to ${from + spans.length} of ${this.state.spans.length}`;
    /** @type {HTMLButtonElement} */ (byID("page-back")).disabled = this.page === 0;
    /** @type {HTMLButtonElement} */ (byID("page-on")).disabled = this.page === this.pages - 1;
    this.mark();
  }
  /** @param {Span} span @param {number} i */
  row(span, i) {
    const { report, trace } = this.state;
    const row = element("tr");
    row.dataset.at = String(i);
    const name = element("th", span.n || "(no name)");
    name.setAttribute("scope", "row");
    name.style.paddingInlineStart = `${Math.min(span.l, 12) * 12}px`;
    const status = element("td", statusOf(span), has(span, Flag.failed) ? "failed-text" : "");
    row.append(
      element("td", String(span.l + 1), "number"), name, element("td", report.services[span.v] || "(unknown)"),
      element("td", has(span, Flag.untimed) ? "unknown" : duration(span.s - trace.start), "number"),
      element("td", duration(span.d), "number"), status, element("td", words(span)),
    );
    return row;
  }
  mark() {
    for (const row of this.body.children) {
      row.classList.toggle("selected", row instanceof HTMLElement && Number(row.dataset.at) === this.state.selected);
    }
  }
}

/** @param {[string, string][]} attributes */
function pairs(attributes) {
  return attributes.map(([key, value]) => `${key}=${value}`).join(", ");
}

/** @param {Span} span */
function words(span) {
  const events = (span.e ?? []).map(([name, , attributes]) => `event ${name}${attributes.length ? ` (${pairs(attributes)})` : ""}`);
  return [pairs(span.a ?? []), ...events].filter(Boolean).join("; ");
}

/** @param {State} state */
function drawDetails(state) {
  const box = byID("details"), span = state.spans[state.selected];
  if (!span) {
    box.replaceChildren(element("p", "None.", "hint"));
    return;
  }
  const list = element("dl");
  /** @param {string} key @param {string | undefined} value */
  const say = (key, value) => { if (value) list.append(element("dt", key), element("dd", value)); };
  say("name", span.n);
  say("service", state.report.services[span.v]);
  say("scope", span.c);
  say("kind", span.k);
  say("starts after", has(span, Flag.untimed) ? "" : duration(span.s - state.trace.start));
  say("duration", duration(span.d));
  say("status", statusOf(span));
  say("span ID", span.i);
  for (const [key, value] of span.a ?? []) say(key, value);
  for (const [name, at, attributes] of span.e ?? []) say(`event at ${duration(at - span.s)}`, [name, pairs(attributes)].filter(Boolean).join(": "));
  box.replaceChildren(list);
}

/** @param {State} state */
function drawHead(state) {
  const { report } = state;
  const failed = report.traces.reduce((n, trace) => n + trace.spans.filter((span) => has(span, Flag.failed)).length, 0);
  const parts = [count(report.shown, "span"), count(report.traces.length, "trace"), count(failed, "failed span")];
  if (report.start) parts.push(`first span at ${report.start}`);
  byID("summary").textContent = report.total === 0 ? "No spans." : parts.join(" · ");
  if (report.shown < report.total) {
    const note = byID("capped");
    note.hidden = false;
    note.textContent = `This report shows ${report.shown} of ${report.total} spans, those of the newest traces; so does the Chrome trace in it.`;
  }
}

/** The part of the page that is compressed. @param {string} id */
function unpack(id) {
  const bytes = Uint8Array.from(atob(byID(id).textContent ?? ""), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
}

/** @param {ReportData} report */
async function offerDownload(report) {
  const link = /** @type {HTMLAnchorElement} */ (byID("download"));
  const trace = new Blob([await unpack("chrome").arrayBuffer()], { type: "application/json" });
  link.download = report.download;
  link.href = URL.createObjectURL(trace);
  link.textContent = `Download Chrome trace (${(trace.size / 1024).toFixed(1)} KB)`;
}

async function main() {
  /** @type {ReportData} */
  const report = await unpack("data").json();
  const state = new State(report);
  drawHead(state);
  new TracePicker(state);
  new Flame(state);
  new Waterfall(state);
  new SpanTable(state);
  state.listeners.push(() => drawDetails(state));
  await offerDownload(report);
  document.body.dataset.ready = "true";
}

main().catch((error) => { byID("summary").textContent = `This browser cannot show the report: ${error}`; });
