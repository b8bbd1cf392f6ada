/** Cada palabra del juego del orden de visita. */
import {readable} from "../../text/numbers.ts";
import {code, lost, rich, type Rich} from "../../text/rich.ts";
import {listed} from "./lists.ts";
import type {playground as en} from "../en/playground.ts";
import type {Words} from "../words.ts";

const standing = (leaf: string, holds: number | null, right: number): string =>
  `${leaf}.grad ${holds === null ? "no tiene nada" : `= ${readable(holds)}`}, lo correcto es ${readable(right)}`;

export const playground: Words<typeof en> = {
  name: "Tu orden",
  preset: "Grafo",
  orderLabel: "Orden de visita, del primero al último",
  earlier: (name) => `Visitar ${name} antes`,
  later: (name) => `Visitar ${name} después`,
  handle: (name, place, all) => `${place} ${name}, de ${all}. Arrástralo o muévelo con las flechas.`,
  placed: (name, place, all) => `${name} se visita en el puesto ${place} de ${all}.`,
  run: "Visitar todos",
  step: "Paso",
  shuffle: "Barajar",
  search: "Ver la búsqueda que encuentra un orden",
  hideSearch: "Volver a tu orden",
  guess: {title: "Primero, adivina.", why: "¿Qué aporte se perderá? Pon los nodos en un orden y luego visítalos todos."},
  log: "Lo que pasó",
  underWay: "Cada nodo pasa lo que tiene cuando le llega el turno.",
  shouldArrive: "lo que debería llegar",
  through: (name) => `por ${name}`,
  lostAt: (name) => `perdido en ${name}`,
  moreLost: (count) => `Y ${count} más.`,

  // --- el veredicto ---
  wrong: (leaf, got, right) =>
    got === null ? `${leaf}.grad sigue vacío. Lo correcto es ${readable(right)}.` : `${leaf}.grad = ${readable(got)}. Lo correcto es ${readable(right)}.`,
  right: (leaf, got) => `${leaf}.grad = ${got === null ? "nada" : readable(got)}. No se ha perdido nada.`,
  lucky: (leaf, got) => `${leaf}.grad = ${got === null ? "nada" : readable(got)}. Correcto, pero por suerte.`,
  allRight: rich`Cada nodo vino después de todos los que lo usan: todos los gradientes son correctos.`,
  lost: ({name, users, held, amount, leaf, got, right}) => {
    const before = rich`${code(name)} se visitó antes que ${listed(users)}: `;
    const what =
      held === null
        ? rich`todavía no tenía nada que pasar, así que el ${lost(readable(amount))}`
        : rich`solo tenía ${readable(held)} que pasar, así que otro ${lost(readable(amount))}`;
    return rich`${before}${what} que va por ${code(name)} no llegó nunca a ${code(leaf)}; ${standing(leaf, got, right)}`;
  },
  firstOf: (count) => ` (el primero de ${count} nodos donde algo salió mal)`,
  luck: (name, users, leaf) =>
    rich`Correcto, pero solo por suerte: ${code(name)} se visitó antes que ${listed(users)}, que le ${users.length === 1 ? "envía" : "envían"} lo suyo; ${
      leaf ? "una hoja no envía nada" : "lo que llegó tarde suma 0"
    }.`,

  // --- el registro ---
  logLeaf: (name) => rich`${code(name)} es una hoja. No tiene nada que enviar.`,
  logNothing: (name) => rich`${code(name)} no tiene nada todavía. No envía nada.`,
  logHolds: (name, held) => rich`${code(name)} tiene ${readable(held)}.`,
  logPush: (upstream, local, share, to) => rich`${readable(upstream)} × ${readable(local)} = ${readable(share)} a ${code(to)}`,
  logPushes: (pushes) => [" Envía ", ...(pushes as Rich[]).flatMap((push, i) => (i === 0 ? push : [i === pushes.length - 1 ? " y " : ", ", ...push])), "."],
  logLate: (names) => rich` Para ${listed(names)} es demasiado tarde.`,

  // --- el grafo ---
  lostChip: (amount) => `${readable(amount)} perdido`,
  lateChip: (amount) => `${readable(amount)}, tarde`,
  graph: (title) => `El grafo «${title}», con el puesto de cada nodo en tu orden`,

  // --- la búsqueda ---
  searchTitle: "Búsqueda en profundidad",
  searchStep: (k, all) => `Paso ${k} de ${all}`,
  searchStart: rich`Camina desde la raíz hacia las hojas. Un nodo se apunta cuando ya están apuntados todos sus operandos.`,
  begin: (name) => rich`Empieza en ${code(name)}. Antes recorre sus operandos.`,
  enter: (by, name, leaf) => rich`${code(by)} usa ${code(name)}, que es nuevo: ${leaf ? "debajo no hay nada" : "sigue por debajo de él"}.`,
  already: (by, name) => rich`${code(by)} también usa ${code(name)}, que ya se visitó: sigue.`,
  leave: (name, leaf, place) =>
    leaf
      ? rich`${code(name)} no usa nada: apúntalo, con el número ${String(place)}.`
      : rich`Los operandos de ${code(name)} están apuntados: ahora apunta ${code(name)}, con el número ${String(place)}.`,
  path: "de camino",
  written: "apuntados",
  nothingYet: "nada todavía",
  back: "Atrás",
  next: "Siguiente",
  toTheEnd: "Al final",
  reversed: rich`Léelo del final al principio, y cada nodo viene después de todos los que lo usan.`,
  useIt: "Usar este orden",
};
