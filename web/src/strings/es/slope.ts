/** Cada palabra de las gráficas de la pendiente. */
import type {slope as en} from "../en/slope.ts";
import type {Words} from "../words.ts";

export const slope: Words<typeof en> = {
  names: {secant: "Una recta por dos puntos", error: "Error de la pendiente, para cada h"},
  input: "Mueve",
  at: (name) => `dónde: ${name}`,
  h: "empujoncito: h",
  slopeIs: "pendiente",
  measured: "medida",
  exact: "exacta",
  error: "error",
  both: "Paso a ambos lados",
  reset: "Reiniciar",
  hNow: (h, slope) => `h es ${h}, pendiente medida ${slope}`,
  xNow: (name, x, slope) => `${name} es ${x}, pendiente medida ${slope}`,
  picture: (formula, name, x, h, measured, exact) =>
    `La curva ${formula}. En ${name} = ${x}, con h = ${h}, la recta por los dos puntos tiene la pendiente ${measured}. La pendiente de la curva ahí es ${exact}.`,
  errorPicture: (h, error, best) =>
    `El error según h, ambos en escalas de potencias de diez. Desde la derecha el error baja, es mínimo cerca de h = ${best} y luego vuelve a crecer. En h = ${h} es ${error}.`,
  noError: "0",
  bend: "la curva se dobla",
  rounding: "el ordenador redondea",
  hAxis: "h",
  errorAxis: "error",
};
