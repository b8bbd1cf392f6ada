/** Every word that stands in or around a drawn graph. */
import {placeText} from "../../text/names.ts";
import type {HeatMap} from "../../python/schema.ts";
import {readable} from "../../text/numbers.ts";

const count = (n: number): string => n.toLocaleString("en-US");
const ORDINALS = new Intl.PluralRules("en", {type: "ordinal"});
const nth = (n: number): string => `${count(n)}${{one: "st", two: "nd", few: "rd"}[ORDINALS.select(n) as "one"] ?? "th"}`;
/** Which rows and columns of a large array a map shows. */
const sampled = ({every}: HeatMap): string[] => every.flatMap((step, axis) => (step > 1 ? [`every ${nth(step)} ${axis ? "column" : "row"}`] : []));
const same = ({least, greatest, odd}: HeatMap): boolean => least === greatest && !Object.keys(odd).length;

export const graph = {
  data: "data",
  grad: "grad",
  visiting: "visiting",
  visited: "visited",
  /** How a card is read aloud. */
  card: (name: string, data: string | null, grad: string | null, more: string[]) =>
    [name, data === null ? "data not yet" : `data ${data}`, grad === null ? "no grad yet" : `grad ${grad}`, ...more].join(", "),
  /** How the card of a tensor is read aloud: its shape, and its maps in words. */
  tensor: (name: string, shape: string, data: string | null, grad: string | null, more: string[]) =>
    [`${name}, shape ${shape}`, data === null ? "data not yet" : `data ${data}`, grad === null ? "no grad yet" : `grad ${grad}`, ...more].join(", "),
  constant: "none: a constant",
  /** A heat map for whoever cannot see it; as Python says it. */
  map: (map: HeatMap): string => {
    const {least, greatest, odd} = map;
    const strange = Object.values(odd).reduce((a, b) => a + b, 0);
    const parts = [
      ...(least === null || greatest === null ? []
        : least === greatest ? [`all ${readable(least)}`]
        : [`from ${readable(least)} at ${placeText(map.least_at)} to ${readable(greatest)} at ${placeText(map.greatest_at)}`, `${count(map.below)} below 0, ${count(map.zeros)} equal to 0`]),
      ...(strange ? [`${count(strange)} ${strange === 1 ? "number" : "numbers"} not finite`] : []),
      ...(sampled(map).length ? [`of ${sampled(map).join(", ")}`] : []),
    ];
    return parts.join("; ") || "no numbers";
  },
  /** What stands below a heat map. */
  notes: (map: HeatMap): string[] => [
    ...(map.texts.length || map.least === null ? [] : [same(map) ? `all ${readable(map.least)}` : `±${map.reach}`]),
    ...Object.entries(map.odd).map(([name, n]) => `${count(n)} ${name}`),
    ...sampled(map),
  ],
  made: (name: string, from: string) => `${name} = ${from}`,
  leaf: "a leaf: a number that was given",
  notYet: "nothing yet",
  legend: "How to read the graph",
  noGrad: "no grad yet (not 0)",
  inPlay: "edge in play",
};
