/** Cada palabra de las tres costumbres. */
import type {habits as en} from "../en/habits.ts";
import type {Words} from "../words.ts";

export const habits: Words<typeof en> = {
  plus: {name: "copia.", says: "Los dos operandos reciben lo que tiene el nodo."},
  times: {name: "intercambia y escala.", says: "Cada operando recibe el gradiente del nodo, multiplicado por el dato del otro."},
  other: {name: "Cualquier otra", says: "multiplica por su pendiente. La de tanh es uno menos su salida al cuadrado."},
  picture: {
    plus: (upstream) => `Una suma con el gradiente ${upstream}: los dos operandos reciben ${upstream}.`,
    times: (x, w, upstream, toX, toW) =>
      `Un producto con el gradiente ${upstream} y los operandos ${x} y ${w}: el primero recibe ${toX}, el segundo ${toW}.`,
    other: (upstream, slope, result) => `Una tanh con el gradiente ${upstream} y la pendiente ${slope}: su operando recibe ${result}.`,
  },
};
