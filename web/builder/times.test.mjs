import assert from "node:assert/strict";
import {test} from "node:test";
import {barsOf} from "./times.mjs";

const row = (workload, peer, collector, ms, peer_ms) => ({workload, peer, collector, ms, peer_ms});
const eager = {times: [
  row("W1 moons step", "micrograd", true, 40, 600), row("W1 moons step", "micrograd", false, 36, 100),
  row("W1 moons step", "torch scalars", true, 44, 500), row("W2 GPT step", "micrograd", true, 41, 610),
]};
const compiled = {figures: [
  {what: "W1 step", peer: "micrograd", seconds: 12e-6, peer_seconds: 0.6}, {what: "W1 step", peer: "JAX jit", seconds: 11e-6, peer_seconds: 50e-6},
  {what: "GPT, 1,000 steps with Adam", peer: "gradwalk eager", seconds: 0.02, peer_seconds: 40}, {what: "W1, batch of 100, float64", peer: "JAX jit", seconds: 1, peer_seconds: 2},
]};
const told = (bars) => bars.map(({who, how, seconds}) => [who, how, seconds]);

test("with both files, the compiled path stands with its peers, slowest first", () => {
  const {moons, gpt, collector} = barsOf(eager, compiled);
  assert.deepEqual(told(moons), [["micrograd", "", 0.6], ["torch scalars", "", 0.5], ["gradwalk", "", 0.04], ["JAX jit", "", 50e-6], ["gradwalk", "compiled", 11e-6]]);
  assert.deepEqual(told(gpt), [["gradwalk", "", 40], ["gradwalk", "compiled", 0.02]]);
  assert.deepEqual(told(collector), [["micrograd", "on", 0.6], ["micrograd", "off", 0.1], ["gradwalk", "on", 0.04], ["gradwalk", "off", 0.036]]);
});

test("what has not been measured is not there", () => {
  const {moons, gpt} = barsOf(eager, undefined);
  assert.equal(moons.length, 3);
  assert.deepEqual(told(gpt), [["micrograd", "", 0.61], ["gradwalk", "", 0.041]]);
  assert.deepEqual(barsOf(undefined, undefined), {collector: [], moons: [], gpt: []});
});
