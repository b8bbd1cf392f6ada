/** Cada palabra de las barras de tiempo. Los números son los de las mediciones. */
export const times = {
  captions: {
    collector: "Un paso de la demostración de las lunas, con el recolector de basura y sin él",
    moons: "Un paso de la demostración de las lunas: cien puntos, la pérdida y todos los gradientes",
    gpt: "Un GPT pequeño que aprende a deletrear nombres",
  } as Record<string, string>,
  names: {
    "torch scalars": "PyTorch, un tensor por número",
    torch: "PyTorch, tensores enteros",
    "JAX jit": "JAX, compilado por XLA",
    "CasADi VM": "CasADi",
    "C, -O3": "C, escrito a mano",
    "C, -Ofast": "C, a mano, sumas reordenadas",
  } as Record<string, string>,
  how: {on: "con recolector", off: "sin recolector", compiled: "compilado", "": ""} as Record<string, string>,
  units: {s: "s", ms: "ms", us: "µs", ns: "ns"},
  larger: (n: string) => `A esa escala, demasiado corto para verse. Aquí está el resto, ${n} veces más grande:`,
  times: (n: string) => `${n} veces más rápido que el primero`,
  machine: (words: string) => `Medido en: ${words}. En tu máquina será distinto, las proporciones menos.`,
  missing: "Aquí todavía no se ha medido el camino compilado. Mídelo con python benchmarks/compiled.py --out benchmarks/results.",
  nothing: "Aquí todavía no se ha medido nada. Mídelo con make bench.",
  label: (who: string, time: string) => `${who}: ${time}`,
};
