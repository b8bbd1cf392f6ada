import type {fold as en} from "../en/fold.ts";
import type {Words} from "../words.ts";

export const fold: Words<typeof en> = {
  title: "Z = X @ W + b, L = suma de Z²",
  fold: "Plegar",
  unfold: "Desplegar",
  slider: "Cuánto está plegado",
  sliderText: (percent, nodes, blocks) =>
    percent === 0 ? `${nodes} números sueltos` : percent === 100 ? `${blocks} bloques` : `plegado al ${percent} %`,
  nodes: (n) => `${n} nodos, uno por número`,
  blocks: (n) => `${n} nodos, uno por bloque`,
  between: "a medio camino",
  show: "Mostrar",
  data: "data",
  grad: "gradiente",
  picture: (nodes, blocks, folded) => (folded ? `El grafo en ${blocks} bloques.` : `El grafo en ${nodes} números sueltos.`),
  cell: (name, data, grad) => `${name}: dato ${data}, gradiente ${grad}`,
  given: (name, x) => `${name} = ${x}, una hoja`,
  made: (name, formula, x) => `${name} = ${formula} = ${x}`,
  slope: (name, formula, x) => (formula === x ? `${name}.grad = ${x}` : `${name}.grad = ${formula} = ${x}`),
  seed: (name) => `${name}.grad = 1, la semilla`,
  hint: "Elige un número para ver de qué está hecho, y de qué está hecho su gradiente. Las flechas pasan de un número a otro.",
};
