import assert from "node:assert/strict";
import {test} from "node:test";
import {firstCss, withoutStyle} from "./first.mjs";

test("a style on an element becomes a rule, once, that only a style set later goes before", () => {
  const html = withoutStyle('<i style="width:40%;">a</i><b class="x" style="--n:3;">a style=&quot;none&quot;</b><i style="width:40%;"></i>');
  assert.equal(html, '<i data-style="width:40%">a</i><b class="x" data-style="--n:3">a style=&quot;none&quot;</b><i data-style="width:40%"></i>');
  assert.equal(firstCss([html, html]), '[data-style="--n:3"]:not(#_){--n:3}\n[data-style="width:40%"]:not(#_){width:40%}');
});

test("of a picture for several widths each is hidden where another fits", () => {
  const [first, last, ...more] = firstCss(['<div class="at-0-330"></div><div class="at-330-up"></div>', "looked at-once, at-5"]).split("\n");
  assert.equal(first, "@container drawing (width>=330px){.at-0-330{display:none}}");
  assert.equal(last, "@container drawing (width<330px){.at-330-up{display:none}}");
  assert.deepEqual(more, []);
});
