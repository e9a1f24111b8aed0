import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import vm from "node:vm";

const source = await readFile(new URL("../web/model.js", import.meta.url), "utf8");
const lengthOf = vm.runInNewContext(`${source}; lengthOf`);
const flags = { open: 2, untimed: 32 };

/** A trace whose root is the second span. */
const trace = (end, d, f) => ({ start: 0, end, root: 1, spans: [{ d: 9e9 }, { d, f }] });

test("the length of a trace is its root's, with that of all spans where it differs", () => {
  assert.equal(lengthOf(trace(112e6, 112e6)), "112.00 ms");
  assert.equal(lengthOf(trace(346e6, 112e6)), "112.00 ms, 346.00 ms in all");
  assert.equal(lengthOf(trace(112.001e6, 112e6)), "112.00 ms");
  assert.equal(lengthOf(trace(346e6, 0, flags.open)), "346.00 ms in all");
  assert.equal(lengthOf(trace(346e6, 0, flags.untimed)), "346.00 ms in all");
  assert.equal(lengthOf({ start: 0, end: 0, root: 0, spans: [] }), "0.0 µs in all");
});
