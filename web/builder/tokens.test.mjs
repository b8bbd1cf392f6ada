import assert from "node:assert/strict";
import {test} from "node:test";
import {python} from "./highlight.mjs";
import {tokens} from "./tokens.mjs";

const kinds = (code) => tokens(code).filter(({kind}) => kind !== "plain").map(({kind, text}) => [kind, text]);

test("data, gradients, words of the language, texts and notes are told apart", () => {
  assert.deepEqual(kinds("def f(self, a):  # one\n    self.grad += out.grad * a.data"), [
    ["keyword", "def"], ["keyword", "self"], ["note", "# one"], ["grad", "self.grad"], ["grad", "out.grad"], ["data", "a.data"],
  ]);
  assert.deepEqual(kinds('x = "a # b" if None else self'), [["text", '"a # b"'], ["keyword", "if"], ["keyword", "None"], ["keyword", "else"], ["keyword", "self"]]);
});

test("what only looks like them is plain: other attributes, methods of theirs, signs, names with a word in them", () => {
  assert.deepEqual(kinds("data = a.data_ + grad.x(a.grad.abs) ** define"), []);
});

test("in a formatted text the expressions are code", () => {
  assert.deepEqual(kinds('f"Value({self.data})"'), [["text", 'f"Value('], ["data", "self.data"], ["text", ')"']]);
});

test("it gives back every character, also of what is no Python", () => {
  for (const code of ["def f(:\n  x = (", "", "\n\n", 'a = "open', "x\t= 'é' # ñ\n", "**{name: h}"]) {
    assert.equal(tokens(code).map(({text}) => text).join(""), code);
  }
  assert.equal(python("a < b # <i>"), 'a &lt; b <span class="c-note"># &lt;i&gt;</span>');
});
