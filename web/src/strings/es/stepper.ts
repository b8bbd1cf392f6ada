/** Cada palabra del grafo paso a paso. */
import {readable} from "../../text/numbers.ts";
import {code, em, op, rich} from "../../text/rich.ts";
import {SLOPES} from "../formulas.ts";
import {listed} from "./lists.ts";
import type {stepper as en} from "../en/stepper.ts";
import type {Words} from "../words.ts";

/** Ahora sirve … */
const COUNTS = ["no tiene operandos a los que servir", "sirve a su operando", "sirve a sus dos operandos", "sirve a sus tres operandos"];
const serves = (n: number): string => COUNTS[n] ?? `sirve a sus ${n} operandos`;

export const stepper: Words<typeof en> = {
  name: "Grafo paso a paso",
  preset: "Ejemplo",
  own: "Tu propia expresión",
  graph: (title) => `El grafo de ${title}`,
  ownTitle: "tu programa",

  // --- los mandos ---
  reset: "Reiniciar",
  back: "Atrás",
  stepBack: "Un paso atrás",
  play: "Andar",
  pause: "Pausa",
  step: "Paso",
  toTheEnd: "Al final",
  runToTheEnd: "Ir al final",
  startBackward: "Empezar hacia atrás",
  speed: "Velocidad",
  speeds: {0.5: "0.5×", 1: "1×", 2: "2×", 4: "4×"},
  count: (k, all) => [`Paso `, String(k), ` de ${all}`] as const,
  walk: "El recorrido, paso a paso",
  keys: {step: "paso", play: "andar", space: "Espacio"},

  // --- los grupos de la línea del recorrido ---
  forward: "hacia delante",
  seed: "semilla",

  // --- lo que dice un paso ---
  ready: {
    where: "Listo",
    sentence: rich`Las hojas tienen su dato. Lo demás no está calculado todavía. Pulsa Paso para rellenar el primer nodo.`,
    nothing: rich`Una hoja sola: no hay nada que calcular. Pulsa Paso para sembrarla.`,
  },
  phases: {compute: "Hacia delante", seed: "Semilla", backward: "Hacia atrás"},
  visitingNode: (name) => `visita a ${name}`,
  pushOf: (name, n, all) => `visita a ${name}, envío ${n} de ${all}`,
  computed: (name, from, count) => rich`${code(name)} es ${from}. ${count > 1 ? "Sus números ya están" : "Su número ya está"}, así que se puede calcular.`,
  seeded: (name) => rich`${code(name)} es la raíz. Muévela un poco y se mueve exactamente eso. Por tanto su gradiente es 1.`,
  visitRoot: (name, n) => rich`${code(name)} es la raíz: nadie la usa, así que su gradiente es definitivo. Ahora ${serves(n)}.`,
  visit: (name, n) => rich`Todos los que usan ${code(name)} ya le han enviado lo suyo, así que su gradiente es definitivo. Ahora ${serves(n)}.`,
  plus: (sign, to, from) => rich`${op(sign)} copia. ${code(to)} recibe lo que tiene ${code(from)}, sin cambios.`,
  times: (sign, to, from, other) => rich`${op(sign)} intercambia. ${code(to)} recibe el gradiente de ${code(from)}, escalado por el ${em("otro")} operando, ${other}.`,
  square: (sign, to, from) =>
    rich`${op(sign)} intercambia. ${code(to)} recibe el gradiente de ${code(from)}, escalado por el ${em("otro")} operando, que es otra vez ${code(to)}.`,
  minus: (sign, to, from, turned) =>
    turned
      ? rich`${op(sign)} cambia el signo. ${code(to)} recibe lo que tiene ${code(from)}, con el signo contrario.`
      : rich`${op(sign)} copia a su primer operando. ${code(to)} recibe lo que tiene ${code(from)}, sin cambios.`,
  slope: (sign, rule, local) => rich`${op(sign)} multiplica por su pendiente. Aquí es ${rule ? `${rule} = ` : ""}${readable(local)}.`,
  adds: (name, before) => rich` ${code(name)} ya tenía ${before}: los dos se suman.`,
  moved: (name, from, value, now) => rich`${code(name)} es ${from}, y se calculó como ${value}. Después cambió un operando: con su nuevo número sería ${now}.`,
  seededWith: (name, value) => rich`${code(name)} es la raíz. Su gradiente se pone a ${value}.`,
  again: (name, turn, value) =>
    value === null ? rich`${code(name)} se visita otra vez (visita ${String(turn)}).` : rich`${code(name)} se visita otra vez (visita ${String(turn)}): vuelve a enviar todo lo que tiene, ${value}.`,
  tooEarly: (name, waiting, leaf) =>
    rich`${leaf ? rich`A ${code(name)} no le ha llegado nada todavía` : rich`${code(name)} no tiene nada que pasar todavía`}: ${listed(waiting)}, que ${waiting.length === 1 ? "lo usa, no se ha visitado" : "lo usan, no se han visitado"}.`,
  soFar: (name, value, waiting) => rich`${code(name)} tiene ${value} por ahora: ${listed(waiting)}, que ${waiting.length === 1 ? "lo usa, no le ha enviado" : "lo usan, no le han enviado"} lo suyo.`,
  nothingPushed: (name) => rich`A ${code(name)} no se le envió nada, así que no tiene nada que pasar.`,
  rootAlone: (name) => rich`${code(name)} es la raíz: su gradiente es definitivo.`,
  allPushed: (name) => rich`Todos los que usan ${code(name)} ya le han enviado lo suyo, así que su gradiente es definitivo.`,
  hooked: (before, after) => rich` Un hook convirtió en ${after} el ${before} que había llegado.`,
  leafPushes: " Una hoja no envía nada.",
  ownBackward: (from, upstream, share, to) => rich`El ${code("_backward")} de ${code(from)} convierte su gradiente, ${upstream}, en ${share} para ${code(to)}.`,
  replaces: (name, before, after) => rich` ${code(name)} ya tenía ${before}, que queda sustituido por ${after}; con ${code("+=")} se sumarían.`,
  always1: "siempre 1",
  alwaysMinus1: "siempre −1",
  slopes: SLOPES,
  empty: "vacío",
  before: "antes",
  after: "después",
  spokenStep: (k, all, where, sentence, numbers) => `Paso ${k} de ${all}. ${where}. ${sentence} ${numbers}`.trim(),
  spokenCompute: (name, value) => `data de ${name} es ${value}.`,
  spokenSeed: (name, value) => `grad de ${name} es ${value}.`,
  spokenPush: (upstream, local, share, name, before, after) =>
    `${upstream} por ${local} es ${share}. grad de ${name} ${before === null ? "estaba vacío" : `era ${before}`}, ahora es ${after}.`,

  // --- varios aportes a un mismo gradiente ---
  contributions: (n) => (n === 2 ? "dos aportes" : n === 3 ? "tres aportes" : `${n} aportes`),
  through: (name) => `por ${name}`,
  toCome: "por llegar",

  // --- las hojas ---
  leaves: "Cambia las hojas",
  leavesNote: "todo se recalcula mientras escribes",
  leafValue: (name) => `${name}, número`,
  leafSlide: (name) => `${name}, deslizador`,
  leavesBack: "Como estaban",
  waiting: (percent) => `Python todavía se está cargando (${percent}%). Tus números se calculan en cuanto esté.`,
  notANumber: (name) => `${name} necesita un número con punto decimal, como 2, -0.5 o 1e-3.`,

  // --- tu propio programa ---
  editor: "Tu programa",
  hint: "Líneas cualesquiera de Python con Values o Tensors. La última es la raíz.",
  hintShort: rich`También valen formas cortas: ${code("L = tanh(a*b + c)")}. Un nombre sin número empieza en 1.`,
  draw: "Dibujarlo",
  drawKey: "Ctrl ↵",
  stop: "Parar",
  drawing: "Tu programa está en marcha.",
  loading: (percent) => `Python todavía se está cargando (${percent}%). Tu programa se dibujará cuando esté listo.`,
  failed: "Python no se ha podido cargar, así que los programas propios no funcionan. Los ejemplos funcionan igual.",
  fromLink: {title: "Este programa ha llegado con un enlace.", why: "No se ha ejecutado nada. Léelo y luego pulsa Dibujarlo."},
  badLink: {title: "Este enlace no se puede leer.", why: "Puede que se haya cortado por el camino."},
  tooLong: (seconds) => `Se ha detenido tras ${seconds} segundos: ¿hay un bucle que no termina nunca?`,
  tooDeep: "Llegó tan hondo que hubo que arrancar Python de nuevo. ¿Hay una función que lleva de vuelta a sí misma?",
  stopped: "Lo has parado tú.",
  onLine: (line) => `Línea ${line}`,
  assumed: (names) =>
    names.length > 1 ? `${names.join(", ")} no tenían número: empiezan en 1. Cámbialos abajo.` : `${names[0]} no tenía número: empieza en 1. Cámbialo abajo.`,
  drawn: (n) => `Dibujado: un grafo con ${n} nodos. Recórrelo abajo, paso a paso.`,
  printed: "Ha imprimido",
  changed: "El programa ha cambiado desde que se dibujó.",
  starter: "a = Value(2.0, label='a')\nb = Value(-3.0, label='b')\nd = a * b + a.tanh()\nd.label = 'd'\nd\n",

  // --- herramientas ---
  copyLink: "Copiar enlace",
  copied: "Enlace copiado",
  copyThis: "Copia este enlace",
  saveSvg: "Guardar SVG",
  saved: "Guardado",
};
