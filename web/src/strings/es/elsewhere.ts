/** Todas las palabras de los widgets en cuadernos y del recorrido en un archivo propio, además de las de los widgets mismos. */
export const elsewhere = {
  /** Lo que se recorre: su nombre. */
  walk: (name: string) => `El recorrido de ${name}`,
  nodes: (n: number) => (n === 1 ? "1 nodo" : `${n} nodos`),
  saveSvg: "Guardar SVG",
  saved: "Guardado",
  order: "Orden de visita",
  /** Un grafo demasiado largo para escribirlo en una línea. */
  andMore: (n: number) => `… y ${n} más`,
};
