/** Every word of the bars of time. The numbers are those of the benchmarks. */
export const times = {
  captions: {
    collector: "One training step on two moons, with the garbage collector on and off",
    moons: "One training step on two moons: a hundred points, the loss and all gradients",
    gpt: "A small GPT learning to spell names",
  } as Record<string, string>,
  names: {
    "torch scalars": "PyTorch, one tensor for each number",
    torch: "PyTorch, whole tensors",
    "JAX jit": "JAX, compiled by XLA",
    "CasADi VM": "CasADi",
    "C, -O3": "C, written by hand",
    "C, -Ofast": "C, by hand, sums reordered",
  } as Record<string, string>,
  how: {on: "collector on", off: "collector off", compiled: "compiled", "": ""} as Record<string, string>,
  units: {s: "s", ms: "ms", us: "µs", ns: "ns"},
  larger: (n: string) => `Too short to see at that scale. Here are the rest, drawn ${n} times larger:`,
  times: (n: string) => `${n} times as fast as the first`,
  machine: (words: string) => `Measured on: ${words}. Yours will differ; the proportions will differ less.`,
  missing: "The compiled path has not been measured here yet. Measure it with python benchmarks/compiled.py --out benchmarks/results.",
  nothing: "Nothing has been measured here yet. Measure it with make bench.",
  label: (who: string, time: string) => `${who}: ${time}`,
};
