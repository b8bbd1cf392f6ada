/** Todas las palabras de la caza. Qué le pasa a un motor, y por qué no es otra cosa, lo dice Python. */
import {code, rich, type Rich} from "../../text/rich.ts";

export const hunt = {
  cases: "Motores donde cazar",
  engine: (n: number) => `Motor ${n}`,
  program: (n: number) => `Programa ${n}`,
  mended: "reparado",
  named: "nombrado, aún sin reparar",
  untouched: "aún sin nombrar",
  loading: "Los motores están en camino.",

  // --- las cuatro etapas ---
  stages: {watch: "Obsérvalo", measure: "Mídelo", name: "Nómbralo", mend: "Repáralo"},
  theProgram: "El programa",
  source: {engine: "El código del propio motor", program: "El motor está bien. El programa no."},
  sourceLine: (n: number) => `Línea ${n}`,
  graph: "El grafo del programa, con los números de este motor",
  noGraph: "Aquí no hay nada que dibujar: mídelo.",

  // --- lo que dice un paso ---
  ready: rich`Las hojas tienen sus números. Recorre paso a paso lo que hace ${"este"} motor, y no pierdas de vista la línea que lo hace.`,
  computes: (name: string): Rich => rich`El motor calcula ${code(name)}.`,
  seeds: (name: string): Rich => rich`Empieza el recorrido: ${code(name)} es la raíz, y su gradiente se pone a 1.`,
  turn: (name: string, held: string | null): Rich => (held === null ? rich`Le toca a ${code(name)}. Todavía no le ha llegado nada.` : rich`Le toca a ${code(name)}. Tiene ${held}.`),
  writes: (line: number | null, text: string): Rich => (line === null ? rich`Este número lo escribe el propio programa.` : rich`Lo escribe la línea ${String(line)}: ${code(text)}.`),
  end: (wrong: number) => (wrong ? `El recorrido ha terminado. ${wrong === 1 ? "Un número no es el que debería ser: el correcto está debajo." : `${wrong} números no son los que deberían ser: los correctos están debajo.`}` : "El recorrido ha terminado."),
  endRight: "El recorrido ha terminado, y todos los números son correctos.",
  raised: (error: string, line: number | null) => `El motor se detiene con ${error}${line ? ` en la línea ${line}` : ""}.`,
  endless: (steps: string) => `El motor no llega al final: se detuvo tras ${steps} pasos.`,
  phases: {ready: "Listo", compute: "Hacia delante", seed: "Semilla", visit: "Hacia atrás", push: "Hacia atrás", write: "Cambio"} as Record<string, string>,
  was: " era ",
  nothing: "vacío",
  is: ", ahora es",
  right: (number: string) => `correcto: ${number}`,
  spokenNumbers: (name: string, before: string | null, after: string) => `${name} era ${before ?? "vacío"}, ahora es ${after}.`,

  // --- el instrumento ---
  measure: "Mover un poco cada hoja",
  measureWhy: "Mueve cada hoja un poco hacia arriba y un poco hacia abajo, vuelve a ejecutar el motor y mira cuánto se mueve el resultado. Esa es la pendiente, diga lo que diga el motor.",
  columns: {leaf: "hoja", says: "dice el motor", nudged: "dice la medida"},
  checkColumns: {leaf: "", says: "dice", nudged: "lo correcto es"},
  value: (name: string) => `${name}, su valor`,
  valueNote: "El valor se compara con la aritmética corriente.",
  agrees: "coincide",
  differs: "difiere",
  allAgree: "Todos los gradientes coinciden con la medida.",
  someDiffer: (n: number) => (n === 1 ? "Un número difiere." : `${n} números difieren.`),

  // --- nombrar ---
  which: "¿Qué fallo es?",
  check: "Es este",
  nothingChosen: {title: "Aún no has elegido nada.", why: "Elige uno y luego dilo."},
  miss: "No es ese.",
  found: "Eso es.",

  // --- reparar ---
  mendFirst: "Primero nombra el fallo: entonces se abre el editor.",
  mendEngine: "Cambia el motor para que pasen todas las comprobaciones. Es el archivo entero, y puedes cambiar cualquier línea.",
  mendProgram: "Cambia el programa para que sus números sean correctos.",
  editor: (what: string) => `${what}, para reparar`,
  run: "Probarlo",
  before: "Se le harán las mismas comprobaciones que hace el evaluador.",
  rewalk: "Recorrerlo otra vez",
  rewalked: "Arriba ves el recorrido de lo que hay ahora en el editor.",
  original: "Mostrar de nuevo el primer recorrido",
  explanation: "Qué era",
  solution: "El remedio",
  next: "El siguiente",
  allDone: "Todos estos están reparados.",
  solutionName: "este",

  // --- práctica ---
  practice: {
    title: "Práctica",
    number: (seed: number) => `Motor n.º ${seed}`,
    another: "Otro",
    drawing: "Se está eligiendo un motor.",
    loading: (percent: number) => `Python se está cargando, ${percent} %. Después se elige un motor.`,
    failed: "No se pudo elegir ningún motor: Python no se cargó. Inténtalo de nuevo.",
    again: "Intentarlo de nuevo",
    link: "Copiar enlace",
    copied: "Enlace copiado",
    copyThis: "Copia este enlace",
    count: (n: number) => (n === 0 ? "Ninguno reparado todavía" : n === 1 ? "Uno reparado hasta ahora" : `${n} reparados hasta ahora`),
  },
};
