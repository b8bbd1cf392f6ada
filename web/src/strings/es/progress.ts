/** Cada palabra sobre el progreso de quien aprende. */
import type {progress as en} from "../en/progress.ts";
import type {Words} from "../words.ts";

export const progress: Words<typeof en> = {
  lessonTitle: "En esta lección",
  courseTitle: "Tu progreso",
  kinds: {quiz: ["pregunta", "preguntas"], exercise: ["ejercicio", "ejercicios"], hunt: ["caza", "cazas"]},
  other: ["tarea", "tareas"],
  of: (done, all, [one, many]) => `${done} de ${all} ${all === 1 ? one : many}`,
  allDone: "Todo hecho.",
  left: "Todavía por hacer:",
  nothingYet: "Todavía no hay nada hecho. Empieza por donde quieras.",
  lesson: (number) => `Lección ${number}`,
  done: "hecho",
  kept: "Se guarda en este navegador y no va a ninguna otra parte.",
  sessionOnly: "Este navegador no guarda nada, así que dura hasta que cierres la página. Expórtalo para conservarlo.",
  export: "Exportar mi trabajo",
  import: "Importar",
  reset: "Olvidarlo todo",
  resetAsk: "¿Tirar tus respuestas, tu código y tu progreso?",
  resetYes: "Sí, todo",
  resetNo: "Conservarlo",
  file: "gradwalk-trabajo.json",
  forgotten: "Todo está borrado.",
  imported: "Tu trabajo está de vuelta.",
  importReasons: {unreadable: "no contiene trabajo de este curso", newer: "viene de una versión más nueva de este curso"},
  importFailed: (why) => `Ese archivo no se ha podido leer: ${why}`,
};
