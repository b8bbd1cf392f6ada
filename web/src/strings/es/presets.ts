/** Los títulos de los ejemplos, por su nombre. */
import type {presets as en} from "../en/presets.ts";
import type {Words} from "../words.ts";

export const presets: Words<typeof en> = {
  titles: {
    "sum-times": "(a + b) · c",
    "expression-l": "La expresión L",
    neuron: "Una neurona",
    "neuron-apart": "Una neurona, desmontada",
    "a-plus-a": "a + a",
    "a-times-a": "a · a",
    diamond: "El rombo",
    "shared-pair": "Un par compartido",
    "two-uses": "Dos usos, más al fondo",
    "product-plus": "a · b + c",
    parabola: "3x² − 4x + 5",
    "dead-relu": "Una ReLU apagada",
    "tensor-layer": "Una capa, en tensores",
  },
};
