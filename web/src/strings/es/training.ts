/** Cada palabra de la vista del entrenamiento. */
import type {training as en} from "../en/training.ts";
import type {Words} from "../words.ts";

export const training: Words<typeof en> = {
  network: (sizes) => `MLP(2, [${[...sizes, 1].join(", ")}])`,
  about: (parameters, points) => `tanh, ${parameters} parámetros, ${points} puntos`,
  forget: ["Olvidar ", "zero_grad"],
  map: (step, wrong, points) =>
    `Dos lunas, y dónde cambia la red de opinión tras ${step} pasos: ${points - wrong} de ${points} puntos están en el lado correcto.`,
  upper: "luna de arriba, meta −1",
  lower: "luna de abajo, meta +1",
  wrong: (n) => `${n} en el lado equivocado`,
  step: "paso",
  loss: "pérdida",
  right: "lado correcto",
  rightOf: (right, all) => `${right} de ${all}`,
  gradient: "gradiente",
  tooLong: (times) => `${times}× demasiado largo`,
  curve: (step, loss) => `La pérdida en cada paso; tras ${step} pasos es ${loss}.`,
  firstStep: "paso 0",
  withZero: "con zero_grad",
  withoutZero: "sin zero_grad",
  notes: {
    start: "Pesos al azar: la línea va por cualquier sitio. Pulsa Entrenar.",
    zeroed: "Cada paso empieza con los gradientes vacíos y baja un poco. La pérdida es un dato, por eso es azul.",
    learned: "Cada punto está en su lado. La pérdida sigue bajando: la red está cada vez más segura.",
    forgot: "Nada vacía los gradientes. Cada recorrido se suma a todos los anteriores, así que el paso es más largo que la pendiente sobre la que está.",
    drifting: "Los pasos siguen pendientes de lugares que quedaron muy atrás. La pérdida ya ha sido mucho menor.",
    broken: "Los números ya no caben en un float. Elige una tasa de aprendizaje menor y reinicia.",
    limit: "Ya basta para una vez. Reinicia para empezar de nuevo.",
  },
  reset: "Reiniciar",
  play: "Entrenar",
  pause: "Pausa",
  stepOn: "Paso",
  rate: "Tasa de aprendizaje",
  sizes: "Capas ocultas",
  waiting: (percent) => `Python todavía se está cargando (${percent}%). El entrenamiento empieza cuando esté.`,
  failed: "Python no se ha podido cargar, así que aquí no se puede entrenar la red.",
  stopped: "El paso tardaba demasiado y se ha detenido.",
  spoken: (step, loss, right, all) => `Paso ${step}: pérdida ${loss}, ${right} de ${all} puntos en el lado correcto.`,
};
