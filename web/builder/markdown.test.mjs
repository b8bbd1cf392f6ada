import assert from "node:assert/strict";
import {test} from "node:test";
import {reader, sections} from "./markdown.mjs";

function rendering(text) {
  const problems = [];
  const md = reader({
    fail: (line, message) => problems.push([line, message]), link: (to) => `[${to}]`, widget: (name, content, line) => `<${name}|${content.trim()}|${line}>`,
  });
  return {html: md.render(text), problems, sections: sections(md, text)};
}
const html = (text) => rendering(text).html.trim();

test("nothing in a lesson becomes HTML by itself", () => {
  assert.equal(html("<script>alert(1)</script>"), "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>");
  assert.match(html('```python\n"<b>"\n```'), /&lt;b&gt;/);
  assert.match(html("`<b>`"), /<code>&lt;b&gt;<\/code>/);
});

test("data and grad have their colours, in text and in code", () => {
  assert.match(html("`w1.grad`"), /<code class="grad">/);
  assert.match(html("`w1.data`"), /<code class="data">/);
  assert.match(html("`W[0, 0].grad`"), /<code class="grad">/);
  assert.doesNotMatch(html("`A.T @ C.grad`"), /class="grad"/, "a product is no gradient");
  assert.match(html("[blue]{data} and [yellow]{play}"), /<span class="data">blue<\/span> and <span class="play">yellow/);
  assert.match(html("```python\nself.grad += other.data  # why\n```"), /<span class="grad">self.grad<\/span> \+= <span class="data">other.data/);
  assert.match(html("[x]{green}"), /\[x\]\{green\}/, "no other colour has a meaning");
});

test("formulas become MathML without styles", () => {
  const inline = html("so $3x^2$ it is, for $5 or $6");
  assert.match(inline, /<math/);
  assert.match(inline, /for \$5 or \$6/);
  assert.match(html("$$\n\\frac{\\partial L}{\\partial a}\n$$"), /<div class="formula".*<mfrac>/s);
  assert.doesNotMatch(html("$$\\tanh(x) = \\frac{e^{2x}-1}{e^{2x}+1}$$"), /style=/);
  assert.equal(rendering("$\\frac{1$").problems.length, 1);
  assert.match(html("$\\tanh x$"), /<mspace width="0.17em"\/><mi class="var">x/);
  assert.doesNotMatch(html("$\\tanh(x)$"), /mspace/);
  assert.doesNotMatch(html("$\\sigma' = 1$"), /msup/);
  assert.equal(html("$$a = 1 \\qquad b = 2$$").match(/<math/g).length, 2, "each can stand on a line of its own");
  assert.match(html("with $a = 2$, and ($b$)."), /<span class="kept">.*<\/math><\/span>,<\/span> and \(<span class="kept">.*<\/span>\)\.<\/span><\/p>/);
});

test("a name and its number stay on one line, and so does a short formula", () => {
  assert.equal(html("at `v` = 3, or `a` ≈ 2: `b` is = 1"), "<p>at <code>v</code>\u00a0=\u00a03, or <code>a</code>\u00a0≈\u00a02: <code>b</code> is = 1</p>");
  assert.equal(html("`a * b + a`"), '<p><code class="kept">a * b + a</code></p>');
  assert.equal(html("`y = y * 0.5 + y * 0.5`"), "<p><code>y = y * 0.5 + y * 0.5</code></p>");
});

test("(c) is a variable, and quotes are curly", () => assert.equal(html('(a + b) * (c) "so"'), "<p>(a + b) * (c) “so”</p>"));

test("boxes", () => {
  assert.match(html("::: margin\nA *note*.\n:::"), /^<aside class="margin"><p>A <em>note<\/em>.<\/p>\s*<\/aside>$/);
  assert.match(rendering("text\n\n::: wonder\nx\n:::").problems[0][1], /no box "wonder"/);
  assert.deepEqual(rendering("text\n\n::: note\nx").problems[0][0], 2);
  assert.match(html("::: why\n```widget quiz\nask: x\n```\n:::"), /<quiz\|ask: x\|1>/);
});

test("a widget gets its text and its line", () => assert.match(html("a\n\n```widget quiz\nask: x\n```"), /<quiz\|ask: x\|2>/));

test("headings have names, and the second level is in the contents", () => {
  const {html, sections} = rendering("## One number, `x`!\n\n### Small\n\n## Two");
  assert.match(html, /<h2 id="one-number-x">/);
  assert.deepEqual(sections, [{id: "one-number-x", title: "One number, <code>x</code>!"}, {id: "two", title: "Two"}]);
});
