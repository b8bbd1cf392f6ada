/** Every word of the widgets in notebooks and of the walk in a file of its own, beyond those of the widgets themselves. */
export const elsewhere = {
  /** What is walked: its name. */
  walk: (name: string) => `The walk of ${name}`,
  nodes: (n: number) => (n === 1 ? "1 node" : `${n} nodes`),
  saveSvg: "Save SVG",
  saved: "Saved",
  order: "Visit order",
  /** A graph too long to be written out on one line. */
  andMore: (n: number) => `… and ${n} more`,
};
