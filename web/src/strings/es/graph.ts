/** Cada palabra que está en un grafo dibujado o a su alrededor. */
import type {graph as en} from "../en/graph.ts";
import type {Words} from "../words.ts";

export const graph: Words<typeof en> = {
  data: "data",
  grad: "grad",
  visiting: "en visita",
  visited: "visitado",
  card: (name, data, grad, more) =>
    [name, data === null ? "data todavía no" : `data ${data}`, grad === null ? "todavía sin grad" : `grad ${grad}`, ...more].join(", "),
  made: (name, from) => `${name} = ${from}`,
  leaf: "una hoja: un número dado",
  notYet: "todavía nada",
  legend: "Cómo se lee el grafo",
  noGrad: "todavía sin grad (no es 0)",
  inPlay: "arista en juego",
};
