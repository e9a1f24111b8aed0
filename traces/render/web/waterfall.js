// @ts-check
// The waterfall: a tree of rows with bars. Only the rows in sight are in the page.

const waterfallRow = 24;

class Waterfall {
  /** @param {State} state */
  constructor(state) {
    this.state = state;
    this.box = byID("waterfall");
    this.spacer = element("div", undefined, "spacer");
    this.spacer.setAttribute("role", "none");
    /** @type {Set<number>} */
    this.closed = new Set();
    /** @type {number[]} */
    this.list = [];
    /** @type {number[][]} */
    this.children = [];
    this.box.addEventListener("scroll", () => this.draw());
    this.box.addEventListener("keydown", (e) => this.key(e));
    this.box.addEventListener("click", (e) => this.click(e));
    new ResizeObserver(() => this.draw()).observe(this.box);
    state.listeners.push((what) => (what === "trace" ? this.reset() : this.follow()));
    this.reset();
  }

  reset() {
    const { trace, spans } = this.state;
    this.closed = new Set();
    this.children = childrenOf(spans);
    this.box.scrollTop = 0;
    byID("axis").replaceChildren(...[0, 1, 2, 3, 4].map((q) => element("span", duration(((trace.end - trace.start) * q) / 4))));
    this.arrange();
  }

  arrange() {
    this.list = visible(this.state.spans, this.closed);
    this.spacer.style.height = `${this.list.length * waterfallRow}px`;
    this.draw();
  }

  draw() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / waterfallRow) - 5);
    const last = Math.min(this.list.length, first + Math.ceil(this.box.clientHeight / waterfallRow) + 10);
    const rows = [];
    for (let at = first; at < last; at++) rows.push(this.row(this.list[at], at));
    this.box.replaceChildren(this.spacer, ...rows);
    const current = this.state.selected;
    if (rows.some((row) => row.id === `row-${current}`)) this.box.setAttribute("aria-activedescendant", `row-${current}`);
    else this.box.removeAttribute("aria-activedescendant");
  }

  /** @param {number} i @param {number} at */
  row(i, at) {
    const { spans, trace, selected } = this.state;
    const span = spans[i], total = Math.max(1, trace.end - trace.start), failed = has(span, Flag.failed);
    const row = element("div", undefined, "row");
    row.id = `row-${i}`;
    row.dataset.at = String(i);
    row.style.top = `${at * waterfallRow}px`;
    row.setAttribute("role", "treeitem");
    row.setAttribute("aria-level", String(span.l + 1));
    row.setAttribute("aria-selected", String(i === selected));
    row.classList.toggle("selected", i === selected);
    let sign = "";
    if (this.children[i].length > 0) {
      sign = this.closed.has(i) ? "▸ " : "▾ ";
      row.setAttribute("aria-expanded", String(!this.closed.has(i)));
    }
    const label = element("div", undefined, failed ? "label failed-text" : "label"), status = statusOf(span);
    const signs = element("span", `${sign}${failed ? "✕ " : ""}`);
    signs.setAttribute("aria-hidden", "true");
    label.append(signs, span.n || "(no name)");
    label.title = sentence(span);
    label.style.paddingInlineStart = `${Math.min(span.l, 25) * 14 + (sign ? 4 : 18)}px`;
    const track = element("div", undefined, "track"), fill = element("div", undefined, `fill ${colorOf(span.n)}`);
    if (!has(span, Flag.untimed)) {
      const left = Math.min(99.7, ((span.s - trace.start) / total) * 100);
      fill.style.insetInlineStart = `${left}%`;
      fill.style.width = `${Math.min(100 - left, (Math.max(0, span.d) / total) * 100)}%`;
      fill.classList.toggle("failed", failed);
      track.append(fill);
    }
    row.append(label, track, element("div", duration(span.d), "time"), element("span", status, "for-readers"));
    return row;
  }

  /** Brings the selected span into sight, opening what it is in. */
  follow() {
    const { spans, selected } = this.state;
    let opened = false;
    for (let p = spans[selected]?.p ?? -1; p >= 0; p = spans[p].p) opened = this.closed.delete(p) || opened;
    if (opened) this.list = visible(spans, this.closed);
    this.spacer.style.height = `${this.list.length * waterfallRow}px`;
    const y = this.list.indexOf(selected) * waterfallRow;
    if (y >= 0 && (y < this.box.scrollTop || y + waterfallRow > this.box.scrollTop + this.box.clientHeight)) {
      this.box.scrollTop = y - this.box.clientHeight / 2;
    }
    this.draw();
  }

  /** @param {number} i @param {boolean} close */
  fold(i, close) {
    if (close) this.closed.add(i);
    else this.closed.delete(i);
    this.arrange();
  }

  /** @param {MouseEvent} e */
  click(e) {
    const row = e.target instanceof Element ? e.target.closest("[data-at]") : null;
    if (!(row instanceof HTMLElement)) return;
    const i = Number(row.dataset.at);
    if (i === this.state.selected && this.children[i].length > 0) this.fold(i, !this.closed.has(i));
    this.state.select(i);
  }

  /** @param {KeyboardEvent} e */
  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const { spans, selected } = this.state;
    const at = this.list.indexOf(selected), page = Math.floor(this.box.clientHeight / waterfallRow);
    /** @param {number} to */
    const go = (to) => this.state.select(this.list[Math.max(0, Math.min(this.list.length - 1, to))]);
    const parent = selected >= 0 && this.children[selected].length > 0;
    switch (e.key) {
      case "ArrowDown": go(at + 1); break;
      case "ArrowUp": go(at - 1); break;
      case "PageDown": go(at + page); break;
      case "PageUp": go(at - page); break;
      case "Home": go(0); break;
      case "End": go(this.list.length - 1); break;
      case "ArrowRight":
        if (parent && this.closed.has(selected)) this.fold(selected, false);
        else if (parent) go(at + 1);
        break;
      case "ArrowLeft":
        if (parent && !this.closed.has(selected)) this.fold(selected, true);
        else if (selected >= 0) this.state.select(spans[selected].p);
        break;
      case "Enter": case " ": if (parent) this.fold(selected, !this.closed.has(selected)); break;
      default: return;
    }
    e.preventDefault();
  }
}
