import assert from "node:assert/strict";
import {test} from "node:test";
import {readProps} from "./schemas.mjs";

const fields = {
  ask: {type: "markdown", required: true},
  answer: {type: "number"},
  "very-long": {type: "flag", default: false},
  of: {type: "words", choices: ["a", "b"]},
  code: {type: "block"},
  hints: {type: "list", of: {type: "text"}},
  wrong: {type: "records", fields: {when: {type: "number", required: true}, say: {type: "markdown"}}},
  preset: {type: "text", choices: (generated) => Object.keys(generated.recordings)},
};

function reading(text, schema = {fields}) {
  const problems = [];
  const props = readProps(schema, text, 11, {
    generated: {recordings: {neuron: {}}}, html: (words) => `<i>${words}</i>`, fail: (line, message) => problems.push([line, message]),
  });
  return {props, problems};
}

test("every kind of field", () => {
  const {props, problems} = reading(`# a remark
ask: What is \`w1\`?
  It goes on here.
answer: -1.5
very-long: yes
of: a, b
code: |
    x = 1

    if x: pass
hints:
  - first: with a colon
  - second
    goes on
wrong:
  - when: 3
    say: Because.
  - when: 4
preset: neuron
`);
  assert.deepEqual(problems, []);
  assert.deepEqual(props, {
    ask: "<i>What is `w1`? It goes on here.</i>", answer: -1.5, veryLong: true, of: ["a", "b"], code: "x = 1\n\nif x: pass",
    hints: ["first: with a colon", "second goes on"], wrong: [{when: 3, say: "<i>Because.</i>"}, {when: 4}], preset: "neuron",
  });
});

test("a default is there when nothing is said", () => assert.equal(reading("ask: x").props.veryLong, false));

for (const [text, line, said] of [
  ["answer: 1", 10, '"ask" is missing'],
  ["ask: x\nanswr: 1", 12, 'there is no "answr" here; there are: ask, answer, very-long, of, code, hints, wrong, preset'],
  ["ask: x\nanswer: one", 12, '"answer" must be a number, and is "one"'],
  ["ask: x\nvery-long: true", 12, '"very-long" must be yes or no, and is "true"'],
  ["ask: x\nof: a, c", 12, '"of" cannot be "c"; choose from: a, b'],
  ["ask: x\npreset: neurone", 12, '"preset" cannot be "neurone"; choose from: neuron'],
  ["ask: x\nask: y", 12, '"ask" is there twice'],
  ["ask: x\nwhat is this", 12, 'expected "key: value", found "what is this"'],
  ["ask:", 11, '"ask" must be words on its line'],
  ["ask: x\nhints: one", 12, '"hints" must be a list, "- …" on each line'],
  ["ask: x\nhints:\n  one", 13, 'expected an item, "- …", found "one"'],
  ["ask: x\nwrong:\n  - say: y", 13, '"when" is missing'],
  ["ask: x\nwrong:\n  - when: 1\n    sya: y", 14, 'there is no "sya" here; there are: when, say'],
]) {
  test(`says what is wrong, and where: ${said}`, () => assert.deepEqual(reading(text).problems[0], [line, said]));
}

test("what a schema checks beyond its fields is said at the block's first line", () => {
  assert.deepEqual(reading("ask: x", {fields, check: () => "too easy"}).problems, [[10, "too easy"]]);
});
