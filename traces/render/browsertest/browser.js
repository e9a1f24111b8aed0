// What the tests share: the browser, and a page that notices what it must not do.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

export const pages = process.env.PAGES ?? "";
export const screenshots = process.env.SCREENSHOTS ?? pages;

/** Starts Chromium with a profile of its own, which playwright deletes. */
export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM,
    timeout: 120_000,
    args: [
      "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync",
    ],
  });
}

/** The address of a file that the Go test has written. */
export const address = (name) => pathToFileURL(join(pages, name)).href;

/** What the Go test says that a page must show. */
export const expected = async (name) => JSON.parse(await readFile(join(pages, `${name}.expected.json`), "utf8"));

/** Opens a page. trouble collects dialogs, requests, errors and violations of the policy. */
export async function open(browser, name, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 1100 }, ...options });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const trouble = [];
  const url = address(name);
  page.on("dialog", (dialog) => { trouble.push(`dialog ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => {
    const to = request.url();
    if (to !== url && !to.startsWith("blob:")) trouble.push(`request ${to.slice(0, 200)}`);
  });
  page.on("pageerror", (error) => trouble.push(`error ${error}`));
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) trouble.push(`console ${message.text()}`); });
  page.on("popup", (popup) => trouble.push(`popup ${popup.url()}`));
  page.on("framenavigated", (frame) => { if (frame.url() !== url) trouble.push(`navigation ${frame.url()}`); });
  await page.goto(url);
  if (!name.endsWith(".inline.html")) await page.waitForSelector("body[data-ready]");
  return { page, context, trouble };
}
