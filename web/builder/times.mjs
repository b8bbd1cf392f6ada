// Times from benchmarks/results, as bars: what a lesson shows is what was measured last, never a number typed in.
import {existsSync, readFileSync, writeFileSync} from "node:fs";
import path from "node:path";
import {GENERATED, RESULTS} from "./paths.mjs";

/** → {machine, measured, bars: {name: [{who, how, seconds, ours}]}}, also written to generated/times.json. */
export function readTimes(folder = RESULTS) {
  const [eager, compiled] = ["eager.json", "compiled.json"].map((name) => read(path.join(folder, name)));
  const times = {machine: (compiled ?? eager)?.machine ?? null, measured: {eager: Boolean(eager), compiled: Boolean(compiled)}, bars: barsOf(eager, compiled)};
  writeFileSync(path.join(GENERATED, "times.json"), JSON.stringify(times));
  return times;
}

const read = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined);

/** Slowest first. `how` says in which way: on or off for the collector, compiled, or nothing. */
export function barsOf(eager, compiled) {
  const timed = (workload, peer, collector) => eager?.times.find((row) => row.workload === workload && row.peer === peer && row.collector === collector);
  const bar = (who, how, seconds, ours = false) => ({who, how, seconds, ours});
  const [on, off] = [timed("W1 moons step", "micrograd", true), timed("W1 moons step", "micrograd", false)];
  const plain = (workload) => [timed(workload, "micrograd", true), timed(workload, "torch scalars", true)].filter(Boolean);
  const step = (workload) => [
    ...plain(workload).map(({peer, peer_ms}) => bar(peer, "", peer_ms / 1e3)),
    ...plain(workload).slice(0, 1).map(({ms}) => bar("gradwalk", "", ms / 1e3, true)),
  ];
  const against = (found) => {
    const figures = (compiled?.figures ?? []).filter(({what}) => found(what));
    if (figures.length === 0) return [];
    const ours = bar("gradwalk", "compiled", Math.min(...figures.map(({seconds}) => seconds)), true);
    return [...figures.filter(({peer}) => peer !== "micrograd").map(({peer, peer_seconds}) => bar(peer === "gradwalk eager" ? "gradwalk" : peer, "", peer_seconds, peer === "gradwalk eager")), ours];
  };
  const slowestFirst = (bars) => bars.sort((a, b) => b.seconds - a.seconds);
  const collector = on && off ? [bar("micrograd", "on", on.peer_ms / 1e3), bar("micrograd", "off", off.peer_ms / 1e3), bar("gradwalk", "on", on.ms / 1e3, true), bar("gradwalk", "off", off.ms / 1e3, true)] : [];
  const training = against((what) => /^GPT, .* steps/.test(what));
  return {
    collector,
    moons: slowestFirst([...step("W1 moons step"), ...against((what) => what === "W1 step")]),
    gpt: slowestFirst(training.length ? training : step("W2 GPT step")),
  };
}
