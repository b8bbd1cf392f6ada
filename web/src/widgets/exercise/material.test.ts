import assert from "node:assert/strict";
import {test} from "node:test";
import {wholeClass} from "./material.ts";

const engine = {head: "class Value:\n", tail: "\n    # end\n", parts: [{name: "b", lesson: 8}, {name: "a", lesson: 7}]};

test("the class holds the parts of the lesson in its own order, indented, blank lines bare", () => {
  const texts = {a: "\ndef a(self):\n    x = 1\n\n    return x\n\n", b: "def b(self):\n    pass"};
  assert.equal(wholeClass(engine, texts, 7), "class Value:\n\n    def a(self):\n        x = 1\n\n        return x\n\n    # end\n");
  assert.equal(wholeClass(engine, texts, 8), "class Value:\n\n    def b(self):\n        pass\n\n    def a(self):\n        x = 1\n\n        return x\n\n    # end\n");
  assert.equal(wholeClass(engine, {}, 8), "class Value:\n\n    # end\n");
});
