// @ts-check
// The data of the report, and words for it. Nothing here touches the page.

/**
 * A span. Times are nanoseconds since the earliest span of the report.
 * @typedef {object} Span
 * @property {string} n name
 * @property {number} p place of the parent in the trace, -1 for a root
 * @property {number} s start
 * @property {number} d duration; negative if it ended before it started
 * @property {number} l depth
 * @property {number} r row in the flame graph, -1 if it has no length
 * @property {number} v place of the service
 * @property {string} [c] scope
 * @property {string} k kind
 * @property {string} i span ID
 * @property {number} [f] flags: see Flag
 * @property {string} [m] status message
 * @property {[string, string][]} [a] attributes
 * @property {[string, number, [string, string][]][]} [e] events: name, time, attributes
 */
/**
 * @typedef {object} Trace
 * @property {string} id
 * @property {string} name of its root
 * @property {number} start of its earliest span
 * @property {number} end of its latest span
 * @property {number} rows
 * @property {Span[]} spans depth first
 * @property {number} root place of the span that stands for it
 */
/**
 * @typedef {object} ReportData
 * @property {string} download
 * @property {string} start
 * @property {number} total
 * @property {number} shown
 * @property {string[]} services
 * @property {Trace[]} traces
 */

const Flag = { failed: 1, open: 2, orphan: 4, duplicate: 8, cycle: 16, untimed: 32 };

/** The text tree's spelling of a duration. @param {number} ns */
function duration(ns) {
  const ms = Math.abs(ns) / 1e6, sign = ns < 0 ? "-" : "";
  if (ms >= 999.995) return `${sign}${(ms / 1000).toFixed(2)} s`;
  if (ms * 1000 >= 999.95) return `${sign}${ms.toFixed(2)} ms`;
  return `${sign}${(ms * 1000).toFixed(1)} µs`;
}

/** The duration of a trace, which is its root's, and how long all its spans took where that differs. @param {Trace} trace */
function lengthOf(trace) {
  const root = trace.spans[trace.root], all = `${duration(trace.end - trace.start)} in all`;
  if (!root || has(root, Flag.open) || has(root, Flag.untimed)) return all;
  const own = duration(root.d);
  return all === `${own} in all` ? own : `${own}, ${all}`;
}

/** @param {Span} span @param {number} flag */
function has(span, flag) {
  return ((span.f ?? 0) & flag) !== 0;
}

/** @param {Span} span */
function statusOf(span) {
  const words = [];
  if (has(span, Flag.failed)) words.push(span.m ? `Error: ${span.m}` : "Error");
  if (has(span, Flag.open)) words.push("open");
  if (has(span, Flag.orphan)) words.push("parent not in this report");
  if (has(span, Flag.duplicate)) words.push("duplicate ID");
  if (has(span, Flag.cycle)) words.push("parents in a circle");
  if (has(span, Flag.untimed)) words.push("no time");
  return words.join(", ");
}

/** One line about a span, for titles and screen readers. @param {Span} span */
function sentence(span) {
  const status = statusOf(span);
  return `${span.n || "(no name)"}, ${duration(span.d)}${status ? `, ${status}` : ""}`;
}

/** The color class of a name: equal names look equal. @param {string} name */
function colorOf(name) {
  let hash = 2166136261;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
  return `c${(hash >>> 8) % 8}`;
}

/** "1 span", "2 spans". @param {number} n @param {string} noun */
const count = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;

/** The spans of a trace under one another: children[i] are places of i's children. @param {Span[]} spans */
function childrenOf(spans) {
  /** @type {number[][]} */
  const children = spans.map(() => []);
  spans.forEach((span, i) => { if (span.p >= 0) children[span.p].push(i); });
  return children;
}

/** The places of the spans that are not inside a closed one. @param {Span[]} spans @param {Set<number>} closed */
function visible(spans, closed) {
  const list = [];
  let hiddenBelow = Infinity;
  for (let i = 0; i < spans.length; i++) {
    if (spans[i].l > hiddenBelow) continue;
    hiddenBelow = closed.has(i) ? spans[i].l : Infinity;
    list.push(i);
  }
  return list;
}

/** @param {string} tag @param {string} [text] @param {string} [className] */
function element(tag, text, className) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (className) node.className = className;
  return node;
}

/** An element of the page that is known to be there. @param {string} id */
function byID(id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`no element ${id}`);
  return node;
}

/** What the views share. */
class State {
  /** @param {ReportData} report */
  constructor(report) {
    this.report = report;
    this.at = 0;
    this.selected = -1;
    /** @type {((what: "trace" | "span") => void)[]} */
    this.listeners = [];
  }
  /** @returns {Trace} */
  get trace() { return this.report.traces[this.at] ?? { id: "", name: "", start: 0, end: 0, rows: 0, spans: [], root: 0 }; }
  get spans() { return this.trace.spans; }
  /** @param {number} at */
  show(at) {
    if (at < 0 || at >= this.report.traces.length) return;
    this.at = at;
    this.selected = -1;
    this.tell("trace");
  }
  /** @param {number} i */
  select(i) {
    if (i < 0 || i >= this.spans.length || i === this.selected) return;
    this.selected = i;
    this.tell("span");
  }
  /** @param {"trace" | "span"} what */
  tell(what) { for (const listener of this.listeners) listener(what); }
}
