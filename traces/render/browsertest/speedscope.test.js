// The real speedscope opens our files; what it saves must be our tree.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL, fileURLToPath } from "node:url";
import { expected, launch, pages, screenshots } from "./browser.js";

const release = fileURLToPath(new URL("./node_modules/speedscope/dist/release/index.html", import.meta.url));
let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser?.close(); });

/** Loads a file as a user does, saves it by its own shortcut, and returns what it saved. */
async function through(file) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 700 } });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const warnings = [];
  page.on("console", (message) => { if (message.type() === "warning" && !message.text().includes("GL Driver")) warnings.push(message.text()); });
  await page.goto(pathToFileURL(release).href);
  await page.locator("input[type=file]").setInputFiles(join(pages, file));
  await page.getByText("Time Order").waitFor();
  await page.waitForTimeout(500); // its toolbar slides in
  await page.screenshot({ path: join(screenshots, `speedscope-${file}.png`) });
  const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Control+s")]);
  const saved = JSON.parse(await readFile(await download.path(), "utf8"));
  await context.close();
  return { saved, warnings };
}

/** The frames of a file of speedscope: name, name of the frame around it, nanoseconds. */
function frames(saved) {
  const list = [];
  for (const profile of saved.profiles) {
    assert.equal(profile.type, "evented");
    const scale = profile.unit === "microseconds" ? 1000 : 1;
    const stack = [];
    for (const event of profile.events) {
      const name = saved.shared.frames[event.frame].name.replace(/ \{.*/s, ""); // it puts args into names
      if (event.type === "O") stack.push({ name, at: event.at });
      else {
        const top = stack.pop();
        assert.equal(top.name, name);
        list.push({ name, parent: stack.at(-1)?.name ?? "", nanos: Math.round((event.at - top.at) * scale) });
      }
    }
    assert.deepEqual(stack, []);
  }
  return list.sort((a, b) => (a.name < b.name ? -1 : 1));
}

for (const kind of ["chrome-trace", "speedscope"]) {
  test(`a sequence as ${kind}: each frame inside its parent`, async () => {
    const { saved, warnings } = await through(`sequence.${kind}.json`);
    const want = (await expected("sequence")).map(({ name, parent, nanos }) => ({ name, parent, nanos }));
    assert.deepEqual(frames(saved), want.sort((a, b) => (a.name < b.name ? -1 : 1)));
    assert.deepEqual(warnings, []);
  });

  test(`concurrent spans as ${kind}: no frame inside a stranger`, async () => {
    for (const name of ["shop", "random"]) {
      const { saved, warnings } = await through(`${name}.${kind}.json`);
      const spans = (await expected(name)).filter((span) => span.nanos > 0);
      const parents = new Map(spans.map((span) => [span.name, span.parent]));
      const got = frames(saved);
      assert.deepEqual(got.map(({ name: n, nanos }) => [n, nanos]).sort(), spans.map(({ name: n, nanos }) => [n, nanos]).sort());
      for (const frame of got) if (frame.parent !== "") assert.equal(frame.parent, parents.get(frame.name), frame.name);
      assert.ok(got.filter((frame) => frame.parent !== "").length >= spans.length / 20, "hardly a frame has a parent");
      assert.deepEqual(warnings, []);
    }
  });
}
