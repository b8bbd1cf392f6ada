import assert from "node:assert/strict";
import test from "node:test";
import {said} from "./sentences.mjs";

const DICTIONARY = {"{name} takes {takes}": "{name} toma {takes}", "{count} operands": "{count} operandos"};
const message = (id: string, parameters: Record<string, unknown> = {}) => ({id, parameters});

test("a message becomes a sentence of the page's language, with those inside it", () => {
  const json = JSON.stringify({error: {message: message("{name} takes {takes}", {name: "max", takes: message("{count} operands", {count: "2"})})}});
  assert.deepEqual(said(json, DICTIONARY), {error: {message: "max toma 2 operandos"}});
  assert.deepEqual(said(json, {}), {error: {message: "max takes 2 operands"}});
});

test("a learner's own words are left alone: names with holes in them, texts that are no messages, other things with an id", () => {
  assert.equal(said(JSON.stringify(message("{name} takes {takes}", {name: "{takes}", takes: "$&"})), DICTIONARY), "{takes} toma $&");
  assert.deepEqual(said(JSON.stringify(["{count} operands", {id: 3}]), DICTIONARY), ["{count} operands", {id: 3}]);
});
