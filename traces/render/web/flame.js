// @ts-check
// The flame graph: a block per span, rows laid out by the writer of the report.

const flameRow = 20, flameMost = 1500;

class Flame {
  /** @param {State} state */
  constructor(state) {
    this.state = state;
    this.box = byID("flame");
    this.rows = element("div", undefined, "rows");
    this.box.append(this.rows);
    this.zoomOut = /** @type {HTMLButtonElement} */ (byID("zoom-out"));
    this.from = 0;
    this.to = 1;
    /** @type {number[][]} */
    this.children = [];
    /** @type {number[]} spans with a length, by start */
    this.order = [];
    /** @type {Map<number, HTMLElement>} */
    this.blocks = new Map();
    this.zoom = -1;
    this.box.addEventListener("scroll", () => this.draw());
    this.box.addEventListener("keydown", (e) => this.key(e));
    this.box.addEventListener("click", (e) => this.click(e));
    this.zoomOut.addEventListener("click", () => this.zoomTo(-1));
    new ResizeObserver(() => this.draw()).observe(this.box);
    state.listeners.push((what) => (what === "trace" ? this.reset() : this.mark()));
    this.reset();
  }

  reset() {
    const { spans, trace } = this.state;
    this.children = childrenOf(spans);
    this.order = spans.map((_, i) => i).filter((i) => spans[i].r >= 0).sort((a, b) => spans[a].s - spans[b].s);
    this.rows.style.height = `${Math.max(1, trace.rows) * flameRow}px`;
    this.box.scrollTop = 0;
    this.zoomTo(-1);
  }

  /** Shows the time of span i alone, or everything. @param {number} i */
  zoomTo(i) {
    const { spans, trace } = this.state;
    const focused = this.box.contains(document.activeElement);
    this.zoom = i;
    this.from = i < 0 ? trace.start : spans[i].s;
    this.to = i < 0 ? Math.max(trace.end, trace.start + 1) : spans[i].s + spans[i].d;
    this.zoomOut.disabled = i < 0;
    byID("zoomed").textContent = i < 0 ? "" : `Zoomed to ${sentence(spans[i])}`;
    this.draw();
    if (focused) this.focus(this.state.selected);
  }

  /** Draws what can be seen: at most flameMost blocks, none below a pixel beside another. */
  draw() {
    const { spans, selected } = this.state;
    const held = this.box.contains(document.activeElement) && document.activeElement !== this.box;
    const width = this.box.clientWidth, scale = width / (this.to - this.from);
    const top = Math.floor(this.box.scrollTop / flameRow) - 2, bottom = top + Math.ceil(this.box.clientHeight / flameRow) + 4;
    /** @type {Map<number, number>} the pixel up to which a row is drawn */
    const drawn = new Map();
    this.blocks.clear();
    const fresh = [];
    let culled = 0;
    for (const i of this.order) {
      const span = spans[i];
      if (span.s >= this.to) break;
      if (span.s + span.d <= this.from || span.r < top || span.r > bottom) continue;
      const left = Math.max(0, (span.s - this.from) * scale), right = Math.min(width, (span.s + span.d - this.from) * scale);
      if (i !== selected && (fresh.length >= flameMost || (right - left < 1 && right < (drawn.get(span.r) ?? -1) + 1))) {
        culled++;
        continue;
      }
      drawn.set(span.r, right);
      fresh.push(this.block(i, left, right - left));
    }
    this.rows.replaceChildren(...fresh);
    const note = byID("flame-culled");
    note.hidden = culled === 0;
    note.textContent = `${culled} blocks are too narrow to be drawn: zoom in, or see the table.`;
    this.mark();
    if (held && selected >= 0) this.focus(selected);
  }

  /** @param {number} i @param {number} left @param {number} width */
  block(i, left, width) {
    const span = this.state.spans[i];
    const failed = has(span, Flag.failed);
    const node = element("button", width > 24 ? (failed ? "✕ " : "") + span.n : "", colorOf(span.n));
    node.setAttribute("type", "button");
    node.setAttribute("aria-label", sentence(span));
    node.title = sentence(span);
    node.dataset.at = String(i);
    node.classList.toggle("failed", failed);
    node.style.left = `${left}px`;
    node.style.width = `${Math.max(2, width)}px`;
    node.style.top = `${span.r * flameRow}px`;
    this.blocks.set(i, node);
    return node;
  }

  mark() {
    const first = this.blocks.keys().next().value;
    const current = this.blocks.has(this.state.selected) ? this.state.selected : first;
    for (const [i, node] of this.blocks) {
      node.classList.toggle("selected", i === this.state.selected);
      node.tabIndex = i === current ? 0 : -1;
    }
  }

  /** Selects a span and moves the focus to its block. @param {number | undefined} i */
  focus(i) {
    if (i === undefined || i < 0) return;
    this.state.select(i);
    const span = this.state.spans[i], y = span.r * flameRow;
    if (span.r >= 0 && (y < this.box.scrollTop || y + flameRow > this.box.scrollTop + this.box.clientHeight)) this.box.scrollTop = y - flameRow;
    if (!this.blocks.has(i)) this.drawUnheld();
    this.blocks.get(i)?.focus({ preventScroll: true });
  }

  /** Draws without giving the focus back, which would draw again. */
  drawUnheld() {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    this.draw();
  }

  /** @param {MouseEvent} e */
  click(e) {
    const at = e.target instanceof HTMLElement ? e.target.dataset.at : undefined;
    if (at === undefined) return;
    const i = Number(at);
    this.focus(i);
    this.zoomTo(this.zoom === i ? -1 : i);
  }

  /** @param {KeyboardEvent} e */
  key(e) {
    const { spans, selected } = this.state;
    const at = selected >= 0 && spans[selected].r >= 0 ? selected : this.order[0];
    if (at === undefined || e.ctrlKey || e.metaKey || e.altKey) return;
    /** @param {number} step */
    const beside = (step) => {
      const siblings = spans[at].p >= 0 ? this.children[spans[at].p] : spans.map((_, i) => i).filter((i) => spans[i].p < 0);
      const long = siblings.filter((i) => spans[i].r >= 0);
      return long[long.indexOf(at) + step];
    };
    /** @type {Record<string, () => number | undefined>} */
    const moves = {
      ArrowLeft: () => beside(-1), ArrowRight: () => beside(1),
      ArrowUp: () => { let p = spans[at].p; while (p >= 0 && spans[p].r < 0) p = spans[p].p; return p; },
      ArrowDown: () => this.children[at].find((i) => spans[i].r >= 0),
      Home: () => this.order[0],
    };
    if (e.key in moves) this.walk(moves[e.key]());
    else if (e.key === "Escape") this.zoomTo(-1);
    else return; // Enter and Space click the button
    e.preventDefault();
  }

  /** Goes to a span, zooming out if it is outside what is shown. @param {number | undefined} i */
  walk(i) {
    if (i === undefined || i < 0) return;
    const span = this.state.spans[i];
    if (span.s < this.from || span.s + span.d > this.to) this.zoomTo(-1);
    this.focus(i);
  }
}
