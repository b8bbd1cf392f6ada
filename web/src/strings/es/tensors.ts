/** Cada palabra de un recorrido por tensores. */
import {code, rich, type Rich} from "../../text/rich.ts";
import type {tensors as en} from "../en/tensors.ts";
import type {Words} from "../words.ts";

const and = (parts: string[]): string => parts.join(" y ");

const listed = (names: string[], most = 4): Rich => {
  const shown = names.length > most ? names.slice(0, most - 1) : names;
  const others = names.length > most ? [`otros ${names.length - most + 1}`] : [];
  const parts = [...shown.map((name): Rich => [code(name)]), ...others.map((text): Rich => [text])];
  return parts.flatMap((part, i) => [...(i === 0 ? [] : [i === parts.length - 1 ? " y " : ", "]), ...part]);
};

export const tensors: Words<typeof en> = {
  ready: rich`Las hojas tienen sus números. Lo demás no está calculado todavía. Pulsa Paso para rellenar el primer nodo.`,
  ofShape: (shape) => `de forma ${shape}`,
  computed: (name, from) => rich`${code(name)} es ${from}`,
  byNumber: ", número a número",
  repeated: (shapes) => ` (${and(shapes)} se repite para encajar)`,
  fromShapes: (shapes) => `, a partir de ${and(shapes)}`,
  result: (value) => `: ${value}.`,
  seeded: (name, value) =>
    value === "1"
      ? rich`Empieza en ${code(name)}, la raíz: cambia tanto como ella misma, así que su gradiente es 1.`
      : rich`Empieza en ${code(name)}, la raíz: su gradiente se fija en ${value}.`,
  gradIs: (name, value, shape) => (shape ? `${name}.grad, ${value},` : `${name}.grad = ${value}`),
  visitRoot: (name, grad) => rich`${code(name)} es la raíz: ${grad} es definitivo.`,
  visitOne: (name, user, grad) => rich`${code(user)}, el único nodo que usa ${code(name)}, ya ha enviado lo suyo: ${grad} es definitivo.`,
  visitAll: (name, users, grad) => rich`Todos los que usan ${code(name)}, ${listed(users)}, ya han enviado lo suyo: ${grad} es definitivo.`,
  visitNothing: (name) => rich`A ${code(name)} no le ha llegado nada, así que no tiene nada que pasar.`,
  hooked: (arrived) => ` Un hook lo ha hecho de ${arrived}.`,
  leaf: " Una hoja no envía nada.",
  upstream: (name, value) => `${name}.grad, ${value},`,
  back: {
    sum: (g, to) => rich`sum copia: ${g} va a cada número de ${to} que se sumó`,
    max: (g, to) => rich`max elige: ${g} va a los números de ${to} que eran los mayores, y 0 a los demás`,
    reshape: (g, to) => rich`reshape solo mueve números: ${g} vuelve a ${to} con su propia forma`,
    permute: (g, to) => rich`permute solo mueve números: ${g} vuelve a ${to} con los ejes en el orden de antes`,
    expand: (g, to) => rich`expand repite: ${g} tiene un gradiente por cada copia, y se suman para ${to}`,
    index: (g, to) => rich`index toma números: ${g} vuelve al sitio que tenían en ${to}, y se suma donde uno se tomó dos veces`,
    add_at: (g, to) => rich`los números de ${to} se sumaron en unos sitios: cada uno recibe lo que ${g} tiene en el suyo`,
    cat: (g, to) => rich`cat pone partes una junto a otra: ${to} recibe la parte de ${g} que es suya`,
    pad: (g, to) => rich`pad añade números alrededor: ${to} recibe la parte de ${g} que es suya`,
    cumsum: (g, to) => rich`cumsum va sumando por el camino: cada número de ${to} recibe la suma de ${g} desde su sitio`,
    "@": (g, to) => rich`@ multiplica por el otro factor: cada número de ${to} recibe ${g} por lo que lo multiplicó, sumado`,
    einsum: (g, to) => rich`einsum multiplica por los otros factores: cada número de ${to} recibe ${g} por lo que lo multiplicó, sumado`,
    of: (g, to) => rich`cada Value tiene aquí un número: de ${g} ${to} recibe el suyo`,
    to: (g, to) => rich`solo cambia el dtype: ${g} va a ${to} tal cual`,
  },
  summed: (from, to) => `; se repitió de ${from} a ${to}, así que lo que vuelve se suma`,
  copies: (sign, g, to, summed) => rich`${sign} copia: ${g} va a ${to}${summed || " tal cual"}.`,
  turns: (g, to, summed) => rich`− cambia el signo: ${to} recibe −${g} número a número${summed}.`,
  swaps: (g, to, factor, summed) => rich`× intercambia y escala: ${to} recibe ${g} por el otro factor, ${factor}, número a número${summed}.`,
  slope: (op, g, to, summed) => rich`${op} multiplica cada número por su pendiente: ${to} recibe ${g} por ella${summed}.`,
  firstShape: (name, shape) => ` Antes no tenía nada; ahora ${name}.grad tiene números de forma ${shape}.`,
  first: (name, after) => ` Antes no tenía nada; ahora ${name}.grad = ${after}.`,
  addedShape: (name) => ` Eso se suma a lo que ${name}.grad tenía antes, número a número.`,
  added: (name, before, share, after) => ` Antes tenía ${before}; ahora se le suma ${share}: ${name}.grad = ${after}.`,
  through: (op) => `, de vuelta por ${op}:`,
  spoken: (name, kind, words) => `${name} ${kind}: ${words}.`,

  // --- la leyenda ---
  below: "menor que 0",
  above: "mayor que 0",
  odd: "nan o inf",
  scale: "cada mapa tiene su propia escala; el 0 está en el medio",

  // --- los números de un tensor ---
  cells: (name) => `Los números de ${name}`,
  close: "Cerrar",
  axis: (axis, last) => `dim ${axis}, de 0 a ${last}`,
  moves: "Las flechas van de número en número.",
  gradOf: (at, value) => `gradiente de ${at}: ${value}`,
  noGrad: "todavía sin gradiente",
  constant: "una constante: no le llega ningún gradiente",
  unknown: "demasiados números para enviarlos: aquí solo están sus colores",
  sampled: "De tantos números solo se muestran algunos. Escribe un lugar para llegar a cualquier otro.",
  faces: (name, left, above) => `${name} como producto de matrices: ${left} a la izquierda, ${above} arriba, con una fila y una columna marcadas`,
  more: (n) => `… ${n} más …`,
  stepInto: (at) => `Recorrer el grafo de ${at}`,
  opening: "Calculando su grafo.",
  leave: "Volver a los tensores",
  opened: (root, at) => `${root}, en lo que depende de ${at}`,
  openedNote: "Aquí todos los demás números son constantes.",
  notInFile: "Este archivo solo guarda los grafos de algunos números, y este no es uno de ellos. En un cuaderno, gradwalk.walk_widget(loss) los abre todos.",
  needsPython: "No se ha podido cargar Python, así que no se puede calcular el grafo de un solo número.",
};
