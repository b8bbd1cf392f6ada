/** Cada palabra que está en un grafo dibujado o a su alrededor. */
import {placeText} from "../../text/names.ts";
import type {HeatMap} from "../../python/schema.ts";
import {readable} from "../../text/numbers.ts";
import type {graph as en} from "../en/graph.ts";
import type {Words} from "../words.ts";

const sampled = ({every}: HeatMap): string[] => every.flatMap((step, axis) => (step > 1 ? [`1 de cada ${step} ${axis ? "columnas" : "filas"}`] : []));

export const graph: Words<typeof en> = {
  data: "data",
  grad: "grad",
  visiting: "en visita",
  visited: "visitado",
  card: (name, data, grad, more) =>
    [name, data === null ? "data todavía no" : `data ${data}`, grad === null ? "todavía sin grad" : `grad ${grad}`, ...more].join(", "),
  tensor: (name, shape, data, grad, more) =>
    [`${name}, forma ${shape}`, data === null ? "data todavía no" : `data ${data}`, grad === null ? "todavía sin grad" : `grad ${grad}`, ...more].join(", "),
  constant: "ninguno: una constante",
  map: (map) => {
    const {least, greatest, odd} = map;
    const strange = Object.values(odd).reduce((a, b) => a + b, 0);
    const parts = [
      ...(least === null || greatest === null ? []
        : least === greatest ? [`todos ${readable(least)}`]
        : [`de ${readable(least)} en ${placeText(map.least_at)} a ${readable(greatest)} en ${placeText(map.greatest_at)}`, `${map.below} menores que 0, ${map.zeros} iguales a 0`]),
      ...(strange ? [`${strange} ${strange === 1 ? "número no finito" : "números no finitos"}`] : []),
      ...(sampled(map).length ? [sampled(map).join(", ")] : []),
    ];
    return parts.join("; ") || "sin números";
  },
  notes: (map) => [
    ...(map.texts.length || map.least === null ? [] : [map.least === map.greatest && !Object.keys(map.odd).length ? `todos ${readable(map.least)}` : `±${map.reach}`]),
    ...Object.entries(map.odd).map(([name, n]) => `${n} ${name}`),
    ...sampled(map),
  ],
  made: (name, from) => `${name} = ${from}`,
  leaf: "una hoja: un número dado",
  notYet: "todavía nada",
  legend: "Cómo se lee el grafo",
  noGrad: "todavía sin grad (no es 0)",
  inPlay: "arista en juego",
};
