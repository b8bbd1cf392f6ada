import type {names as en} from "../en/names.ts";
import type {Words} from "../words.ts";

export const names: Words<typeof en> = {
  title: "Un modelo que inventa nombres",
  about: (parameters, examples) => `${parameters} parámetros, ${examples} letras por adivinar`,
  step: "paso",
  of: (step, all) => `${step} de ${all}`,
  loss: "pérdida, media de las últimas cincuenta",
  madeUp: "Inventados",
  after: (step) => (step === "0" ? "antes de entrenar" : `tras ${step} pasos`),
  empty: "(nada)",
  known: "está en la lista",
  legend: "Los nombres subrayados están en la lista de la que aprendió. Solo ve tres letras y la que las sigue.",
  train: "Entrenar",
  pause: "Pausa",
  reset: "Reiniciar",
  progress: "Entrenamiento",
  guessing: "adivinar a ciegas",
  curve: (step, loss) => (loss ? `La pérdida en cada paso; tras ${step} pasos es de unos ${loss}.` : "La pérdida en cada paso; aún sin entrenar."),
  notes: {
    start: "Los números son aleatorios, así que todas las letras son casi igual de probables. Pulsa Entrenar.",
    going: "Cada paso toma treinta y dos letras con lo que hay delante de ellas, vuelve hacia atrás y mueve un poco los números.",
    done: "Ya basta para una vez. Reiniciar vuelve a empezar con otros números aleatorios.",
  },
  waiting: (percent) => `Python todavía se está cargando (${percent} %). El entrenamiento empieza cuando esté listo.`,
  failed: "No se pudo cargar Python, así que el modelo no se puede entrenar aquí.",
  stopped: "El paso se detuvo antes de acabar. Pulsa Entrenar para seguir.",
  spoken: (step, loss, made) => `Paso ${step}: pérdida ${loss}. Inventados: ${made}.`,
};
