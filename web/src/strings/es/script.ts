/** Cada palabra de las líneas que una lección deja ejecutar. */
import type {script as en} from "../en/script.ts";
import type {Words} from "../words.ts";

export const script: Words<typeof en> = {
  editor: "Líneas para ejecutar",
};
