import assert from "node:assert/strict";
import {test} from "node:test";
import {withTolls} from "./tolls.mjs";

/** A module with a stack at 1000; `deep(x)` gives x times two plus where the stack is while it runs. */
const MODULE = Uint8Array.from([
  0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
  1, 10, 2, 0x60, 0, 1, 0x7f, 0x60, 1, 0x7f, 1, 0x7f, // types: () → i32, (i32) → i32
  3, 3, 2, 0, 1, // functions
  6, 7, 1, 0x7f, 1, 0x41, 0xe8, 7, 0x0b, // the global, i32.const 1000
  7, 39, 2, 28, ...new TextEncoder().encode("emscripten_stack_get_current"), 0, 0, 4, ...new TextEncoder().encode("deep"), 0, 1,
  10, 17, 2, 4, 0, 0x23, 0, 0x0b, 10, 0, 0x20, 0, 0x20, 0, 0x6a, 0x23, 0, 0x6a, 0x0b, // code
]);

const run = (binary) => new WebAssembly.Instance(new WebAssembly.Module(binary)).exports;

test("while a function runs, its toll counts as used; afterwards all is as it was", () => {
  const plain = run(MODULE);
  assert.equal(plain.deep(4), 1008);
  for (const toll of [5, 63, 64, 200]) {
    const paying = run(withTolls(MODULE, {deep: toll}));
    assert.equal(paying.deep(4), 1008 - toll);
    assert.equal(paying.emscripten_stack_get_current(), 1000);
  }
});

test("a function that is not there is named", () => {
  assert.throws(() => withTolls(MODULE, {gone: 8}), /no function gone/);
});
