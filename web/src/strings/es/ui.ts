/** Las palabras de las partes que comparten los widgets. */
import type {ui as en} from "../en/ui.ts";
import type {Words} from "../words.ts";

export const ui: Words<typeof en> = {
  running: "En marcha",
  stop: "Parar",
  stopLoading: (percent) => `Parar la carga, ${percent}%`,
  broken: {
    title: "Esta parte no funciona.",
    failed: "Algo ha fallado en ella. El resto de la página funciona como antes, y tu trabajo se conserva.",
    notFetched: "No se ha podido cargar. ¿Estás sin conexión?",
    again: "Volver a intentarlo",
  },
  keys: (mac) => (mac ? "⌘ ↵" : "Ctrl ↵"),
};
