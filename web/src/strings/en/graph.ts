/** Every word that stands in or around a drawn graph. */
export const graph = {
  data: "data",
  grad: "grad",
  visiting: "visiting",
  visited: "visited",
  /** How a card is read aloud. */
  card: (name: string, data: string | null, grad: string | null, more: string[]) =>
    [name, data === null ? "data not yet" : `data ${data}`, grad === null ? "no grad yet" : `grad ${grad}`, ...more].join(", "),
  made: (name: string, from: string) => `${name} = ${from}`,
  leaf: "a leaf: a number that was given",
  notYet: "nothing yet",
  legend: "How to read the graph",
  noGrad: "no grad yet (not 0)",
  inPlay: "edge in play",
};
