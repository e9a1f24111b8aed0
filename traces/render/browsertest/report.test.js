import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { address, expected, launch, open, pages, screenshots } from "./browser.js";

const axe = await readFile(new URL("./node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser?.close(); });

/** The table as [name, duration] pairs. */
const table = (page) => page.$$eval("#rows tr", (rows) => rows.map((row) => [row.children[1].textContent, row.children[4].textContent]));

for (const colorScheme of ["light", "dark"]) {
  test(`the report in ${colorScheme}`, async () => {
    const { page, context, trouble } = await open(browser, "shop.html", { colorScheme });
    const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(background, colorScheme === "light" ? "rgb(255, 255, 255)" : "rgb(13, 17, 23)");
    await page.click("#flame button:has-text('bank call')");
    await page.keyboard.press("Escape");
    await page.screenshot({ path: join(screenshots, `report-${colorScheme}.png`), fullPage: true });
    await page.setViewportSize({ width: 640, height: 900 });
    await page.screenshot({ path: join(screenshots, `report-${colorScheme}-narrow.png`), fullPage: true });
    await context.close();
    assert.deepEqual(trouble, []);
  });

  test(`axe-core in ${colorScheme}`, async () => {
    // The policy of the page would keep axe-core out too.
    for (const name of ["shop.html", "empty.html", "hostile.html", "random.html", "many.html"]) {
      const { page, context } = await open(browser, name, { colorScheme, bypassCSP: true });
      await page.focus("#waterfall");
      await page.keyboard.press("ArrowDown");
      await page.evaluate(axe);
      const { violations, passes } = await page.evaluate(() => globalThis.axe.run());
      await context.close();
      assert.ok(passes.length > 20, "axe-core looked at nothing");
      assert.deepEqual(violations.map((v) => [name, v.id, v.nodes.map((n) => n.html.slice(0, 150))]), []);
    }
  });
}

test("table, waterfall and flame graph say the same as the tree", async () => {
  const { page, context, trouble } = await open(browser, "shop.html");
  const want = (await expected("shop")).filter((span) => span.name !== "GET /cart");
  assert.deepEqual(await table(page), want.map((span) => [span.name, span.duration]));
  const rows = await page.$$eval("#waterfall .row", (list) => list.map((row) => [row.children[0].textContent.replace(/^[▾▸✕ ]*/, ""), row.children[2].textContent]));
  assert.deepEqual(rows, want.map((span) => [span.name, span.duration]));
  const blocks = await page.$$eval("#flame button", (list) => list.map((block) => block.getAttribute("aria-label").split(", ").slice(0, 2)));
  const long = want.filter((span) => span.nanos > 0).map((span) => [span.name, span.duration]);
  assert.deepEqual(blocks.sort(), long.sort());
  assert.equal(await page.textContent("#capped"), "");
  await context.close();
  assert.deepEqual(trouble, []);
});

test("blocks that overlap on a row of the flame graph are none", async () => {
  const { page, context } = await open(browser, "random.html");
  const boxes = await page.$$eval("#flame button", (list) => list.map((b) => ({ top: b.offsetTop, left: parseFloat(b.style.left), right: parseFloat(b.style.left) + parseFloat(b.style.width) })));
  assert.ok(boxes.length > 20);
  for (const a of boxes) for (const b of boxes) {
    if (a !== b && a.top === b.top) assert.ok(a.right <= b.left + 2.01 || b.right <= a.left + 2.01, JSON.stringify([a, b]));
  }
  await context.close();
});

test("by keyboard alone", async () => {
  const { page, context, trouble } = await open(browser, "shop.html");
  const focus = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.getAttribute("aria-label") || document.activeElement?.className);
  const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
  const tabbed = [];
  for (let i = 0; i < 7; i++) { await press("Tab"); tabbed.push(await focus()); }
  // Previous trace and Zoom out are disabled; the flame graph and the waterfall are one stop each.
  const first = "POST /checkout, 48.00 ms, Error: card refused by the bank";
  assert.deepEqual(tabbed, ["skip", "trace", "next", "download", first, "waterfall", "Rows, scrolling sideways"]);

  await page.focus("#flame button[tabindex='0']");
  await press("ArrowDown");
  assert.match(await focus(), /^load cart/);
  await press("ArrowRight", "ArrowRight");
  assert.match(await focus(), /^charge card/);
  await press("ArrowDown", "ArrowDown", "ArrowRight");
  assert.match(await focus(), /^bank call/);
  assert.match(await page.textContent("#details"), /bank call.*insufficient funds/s);
  await press("Enter");
  assert.match(await page.textContent("#zoomed"), /^Zoomed to bank call/);
  assert.match(await focus(), /^bank call/);
  await press("ArrowUp");
  assert.match(await focus(), /^POST \/charges/);
  await press("Escape");
  assert.equal(await page.textContent("#zoomed"), "");

  await page.focus("#waterfall");
  const active = () => page.evaluate(() => document.getElementById(document.getElementById("waterfall").getAttribute("aria-activedescendant"))?.textContent.replace(/^[▾▸✕ ]*/, ""));
  await press("Home");
  assert.match(await active(), /^POST \/checkout/);
  await press("ArrowLeft");
  assert.equal(await page.locator("#waterfall .row").count(), 1);
  await press("ArrowRight", "ArrowRight");
  assert.match(await active(), /^load cart/);
  await press("End");
  assert.match(await active(), /^audit log/);
  assert.match(await page.textContent("#details"), /open/);

  await page.focus("#next");
  await press("Enter");
  assert.equal((await table(page))[0][0], "GET /cart");
  await page.focus("#trace");
  await press("ArrowUp");
  assert.equal((await table(page))[0][0], "POST /checkout");
  await context.close();
  assert.deepEqual(trouble, []);
});

test("the Chrome trace is downloaded as it was written", async () => {
  for (const name of ["shop", "hostile"]) {
    const { page, context, trouble } = await open(browser, `${name}.html`);
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#download")]);
    const saved = await readFile(await download.path(), "utf8");
    assert.equal(saved, await readFile(join(pages, `${name}.chrome-trace.json`), "utf8"));
    if (name === "shop") assert.equal(download.suggestedFilename(), "waymark_trace.json");
    else assert.doesNotMatch(download.suggestedFilename(), /[<>"/\\]/);
    await context.close();
    assert.deepEqual(trouble, []);
  }
});

test("attacks in names, attributes, titles and download names", async () => {
  const { page: clean, context: first } = await open(browser, "shop.html");
  const tags = (page) => page.evaluate(() => [...new Set([...document.querySelectorAll("*")].map((e) => e.tagName))].sort());
  const attributes = (page) => page.evaluate(() => [...document.querySelectorAll("*")].flatMap((e) => e.getAttributeNames()).filter((n) => n.startsWith("on") || n === "src" || n === "srcdoc"));
  await clean.click("#flame button >> nth=0");
  const known = await tags(clean);
  const { page, context, trouble } = await open(browser, "hostile.html");
  for (const row of await page.$$("#flame button")) await row.dispatchEvent("click");
  await page.focus("#waterfall");
  for (let i = 0; i < 30; i++) {
    await page.keyboard.press("ArrowDown");
    assert.deepEqual((await tags(page)).filter((tag) => !known.includes(tag)), []);
  }
  assert.deepEqual(await attributes(page), []);
  assert.equal(await page.locator("script").count(), 3);
  assert.equal(await page.locator("a").count(), 2);
  const names = (await expected("hostile")).map((span) => span.name);
  assert.deepEqual((await table(page)).map(([name]) => name), names);
  await page.screenshot({ path: join(screenshots, "report-hostile.png"), fullPage: true });
  await page.waitForTimeout(500); // what an attack has started gets its time
  await first.close();
  await context.close();
  assert.deepEqual(trouble, []);

  const { page: inline, context: last, trouble: more } = await open(browser, "hostile.inline.html");
  assert.deepEqual(await tags(inline), ["A", "BODY", "CODE", "DIV", "HEAD", "HTML", "META", "P", "PRE", "TITLE"]);
  await last.close();
  assert.deepEqual(more, []);
});

test("a script that an attacker got into the page would not run", async () => {
  // Not by our doing but by the policy's: the second wall holds by itself.
  const { page, context } = await open(browser, "shop.html");
  const ran = await page.evaluate(async () => {
    globalThis.ran = [];
    const script = document.createElement("script");
    script.textContent = "globalThis.ran.push('script')";
    const image = document.createElement("img");
    image.setAttribute("onerror", "globalThis.ran.push('handler')");
    image.src = "x";
    document.body.append(script, image);
    await new Promise((done) => setTimeout(done, 300));
    try { await fetch("http://127.0.0.1:9/"); globalThis.ran.push("fetch"); } catch { /* as it should be */ }
    return globalThis.ran;
  });
  await context.close();
  assert.deepEqual(ran, []);
});

test("100,000 spans", async () => {
  const { page, context, trouble } = await open(browser, "big.html");
  assert.match(await page.textContent("#summary"), /^100000 spans/);
  await page.focus("#waterfall");
  await page.keyboard.press("End");
  await page.waitForFunction(() => document.getElementById("waterfall").scrollTop > 1_000_000);
  await page.keyboard.press("Home");
  const elements = await page.evaluate(() => document.querySelectorAll("*").length);
  assert.ok(elements < 8000, `${elements} elements in the page`);
  assert.match(await page.textContent("#page"), /^Rows 1 to 200 of 100000/);
  await page.click("#page-on");
  assert.match(await page.textContent("#page"), /^Rows 201 to 400 of 100000/);
  await page.screenshot({ path: join(screenshots, "report-big.png") });
  await context.close();
  assert.deepEqual(trouble, []);
});

for (const colorScheme of ["light", "dark"]) {
  test(`traces are found among many, by keyboard, in ${colorScheme}`, async () => {
    const { page, context, trouble } = await open(browser, "many.html", { colorScheme });
    assert.ok(await page.locator("#trace option").count() <= 1000);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "find");
    await page.keyboard.type("select FAILED rows=7");
    await page.waitForFunction(() => document.getElementById("found")?.textContent === "3 of 3000 traces");
    assert.equal((await table(page))[0][0], "GET /page/7");
    await page.screenshot({ path: join(screenshots, `report-find-${colorScheme}.png`) });
    await page.click("#next");
    assert.equal((await table(page))[0][0], "GET /page/1007");
    await page.click("#next");
    assert.ok(await page.isDisabled("#next"));
    await page.focus("#find");
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.getElementById("found")?.textContent === "");
    assert.equal((await table(page))[0][0], "GET /page/2007");
    assert.equal(await page.inputValue("#trace"), "2007");
    await page.keyboard.type("no such thing");
    await page.waitForFunction(() => document.getElementById("found")?.textContent === "0 of 3000 traces");
    assert.ok(await page.isDisabled("#trace") && await page.isDisabled("#next") && await page.isDisabled("#previous"));
    await context.close();
    assert.deepEqual(trouble, []);
  });
}

test("no spans", async () => {
  const { page, context, trouble } = await open(browser, "empty.html");
  assert.equal(await page.textContent("#summary"), "No spans.");
  await context.close();
  assert.deepEqual(trouble, []);
  assert.ok(address("empty.html").startsWith("file:"));
});
