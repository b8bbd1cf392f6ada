/** Las palabras de las partes que comparten los widgets. */
import type {ui as en} from "../en/ui.ts";
import type {Words} from "../words.ts";

export const ui: Words<typeof en> = {
  running: "En marcha",
  stop: "Parar",
  stopLoading: (percent) => `Parar la carga, ${percent}%`,
  keys: (mac) => (mac ? "⌘ ↵" : "Ctrl ↵"),
};
