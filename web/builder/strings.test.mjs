import assert from "node:assert/strict";
import {test} from "node:test";
import {Problems} from "./problems.mjs";
import {compareMessages, compareStrings, compareTitles, differences, findEnglish, spokenIn} from "./strings.mjs";
import {readPage} from "./lessons.mjs";
import {slugOf} from "./html.mjs";

const told = (work) => {
  const problems = new Problems();
  work(problems);
  try {
    problems.settle();
  } catch (error) {
    return error.message;
  }
  return "";
};

test("a translation has every word of English, of the same kind, and no other", () => {
  const ours = {a: "text", b: {c: (n) => `${n}`, d: ["x"]}, e: {}};
  assert.deepEqual(differences(ours, {a: "texto", b: {c: (n) => `${n}`, d: ["y", {text: "z"}]}, e: {more: "allowed"}}, ""), []);
  assert.deepEqual(differences(ours, {a: "texto", b: {d: ["y"]}, e: {}}, ""), ['"b.c" is missing']);
  assert.deepEqual(differences(ours, {a: "texto", b: {c: "no", d: []}, e: {}}, ""), ['"b.c" must be a function, and is text']);
  assert.deepEqual(differences(ours, {...ours, f: "x"}, ""), ['"f" is not in en']);
  assert.deepEqual(differences(ours, {...ours, a: ""}, ""), ['"a" is empty']);
});

test("a file that is missing, or there for nothing, is named", () => {
  assert.match(told((problems) => compareStrings("xx", {}, {quiz: {quiz: {}}}, problems)), /strings.xx.quiz\.ts: is missing: translate/);
  assert.match(told((problems) => compareStrings("xx", {old: {}}, {}, problems)), /strings.xx.old\.ts: there is no such file in en/);
  assert.match(told((problems) => compareTitles("xx", {}, [{name: "diamond", title: "The diamond"}], problems)), /none for "diamond"/);
});

test("a sentence of Python's that is missing, has other holes, or is not said any more, is named", () => {
  const ours = {"there is no {name}": ["name"], "write 1 or 0": []};
  const compared = (theirs) => told((problems) => compareMessages("xx", theirs, {page: ours, hunt: {"Look at line {line}.": ["line"], Mended: []}}, problems));
  assert.equal(compared({"there is no {name}": "no hay {name}", "write 1 or 0": "escribe 1 o 0"}), "");
  assert.match(compared({"there is no {name}": "no hay {name}"}), /messages\.ts: there is nothing for "write 1 or 0", which Python says/);
  assert.match(compared({"there is no {name}": "no hay {nombre}", "write 1 or 0": "escribe 1 o 0"}), /must have the holes name, and has nombre/);
  assert.match(compared({...ours, "there is no {name}": "no hay {name}", "write 1 or 0": "escribe 1 o 0", old: "viejo"}), /Python does not say "old" any more/);
  const whole = {"there is no {name}": "no hay {name}", "write 1 or 0": "escribe 1 o 0"};
  assert.match(compared({...whole, Mended: "Reparado"}), /there is nothing for "Look at line \{line\}\.", which Python says/);
  assert.equal(compared({...whole, Mended: "Reparado", "Look at line {line}.": "Mira la línea {line}."}), "");
});

test("a widget that speaks English only is refused in a translated lesson", () => {
  const schemas = {quiz: {}, hunt: {says: ["exercises", "hunt"]}};
  const parts = {page: {a: []}, exercises: {b: []}, hunt: {c: []}};
  const found = (words, ...kinds) => told((problems) => findEnglish({file: "es/10.md", widgets: kinds.map((kind) => ({kind}))}, schemas, spokenIn(words, parts), problems));
  assert.equal(found({a: "á"}, "quiz", "quiz"), "");
  assert.match(found({a: "á", b: "be"}, "quiz", "hunt", "hunt"), /es.10\.md: the widget "hunt" speaks English only: messages\.ts has no words for what Python says in hunt /);
  assert.equal(found({a: "á", b: "be", c: "ce"}, "quiz", "hunt"), "");
});

test("a page that is missing is named", () => {
  assert.match(told((problems) => readPage("/nowhere/help.md", {title: true}, problems)), /help\.md: is missing/);
});

test("an address has no accents", () => {
  assert.equal(slugOf("¿Qué es un árbol, señor?"), "que-es-un-arbol-senor");
  assert.equal(slugOf("Too large, too small"), "too-large-too-small");
});
