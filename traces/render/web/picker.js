// @ts-check
// Which trace is shown: a list, buttons, and a box that finds traces in a long one.

/** So many traces are in the list at a time. */
const listedTraces = 1000;
/** From so many traces on there is a box to find some. */
const findFrom = 10;

/** The trace in a line, as in the list. @param {Trace} trace */
function traceLine(trace) {
  const bad = trace.spans.some((span) => has(span, Flag.failed)) ? " ✕ failed" : "";
  return `${trace.name.slice(0, 120) || "(no name)"} · ${lengthOf(trace)} · ${count(trace.spans.length, "span")}${bad}`;
}

/** Whether a word in lower case is anywhere in a trace. @param {ReportData} report @param {Trace} trace @param {string} word */
function fits(report, trace, word) {
  /** @param {string | undefined} text */
  const in_ = (text) => text !== undefined && text.toLowerCase().includes(word);
  if (in_(trace.id) || in_(traceLine(trace))) return true;
  return trace.spans.some((span) => in_(span.n) || in_(span.i) || in_(report.services[span.v]) || in_(span.m) ||
    (span.a ?? []).some(([key, value]) => in_(`${key}=${value}`)) || (span.e ?? []).some(([name]) => in_(name)));
}

class TracePicker {
  /** @param {State} state */
  constructor(state) {
    this.state = state;
    this.select = /** @type {HTMLSelectElement} */ (byID("trace"));
    this.back = /** @type {HTMLButtonElement} */ (byID("previous"));
    this.on = /** @type {HTMLButtonElement} */ (byID("next"));
    this.box = /** @type {HTMLInputElement} */ (byID("find"));
    const { traces } = state.report;
    /** The places of the traces that fit. */
    this.matches = traces.map((_, i) => i);
    byID("finder").hidden = traces.length < findFrom;
    let timer = 0;
    const soon = () => { clearTimeout(timer); timer = setTimeout(() => this.find(), 100); };
    this.box.addEventListener("input", soon);
    this.box.addEventListener("keydown", (e) => {
      if (e.key === "Escape") this.box.value = "";
      if (e.key === "Escape" || e.key === "Enter") this.find();
    });
    this.select.addEventListener("change", () => state.show(Number(this.select.value)));
    this.back.addEventListener("click", () => this.step(-1));
    this.on.addEventListener("click", () => this.step(1));
    state.listeners.push((what) => { if (what === "trace") this.draw(); });
    this.draw();
  }

  find() {
    const { report } = this.state;
    const words = this.box.value.toLowerCase().split(/\s+/).filter(Boolean);
    this.matches = [];
    report.traces.forEach((trace, i) => { if (words.every((word) => fits(report, trace, word))) this.matches.push(i); });
    byID("found").textContent = words.length ? `${this.matches.length} of ${report.traces.length} traces` : "";
    if (this.matches.length > 0 && !this.matches.includes(this.state.at)) this.state.show(this.matches[0]);
    else this.draw();
  }

  /** @param {number} by */
  step(by) {
    this.state.show(this.matches[this.matches.indexOf(this.state.at) + by] ?? -1);
  }

  draw() {
    const { report, at } = this.state;
    const place = this.matches.indexOf(at);
    const from = Math.max(0, Math.min(place - listedTraces / 2, this.matches.length - listedTraces));
    this.select.replaceChildren(...this.matches.slice(from, from + listedTraces).map((i) => {
      const option = element("option", traceLine(report.traces[i]));
      option.setAttribute("value", String(i));
      return option;
    }));
    this.select.value = String(at);
    this.select.disabled = this.matches.length === 0;
    this.back.disabled = place <= 0;
    this.on.disabled = place < 0 || place >= this.matches.length - 1;
  }
}
