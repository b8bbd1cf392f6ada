/** Cada palabra de las preguntas. */
import type {quiz as en} from "../en/quiz.ts";
import type {Words} from "../words.ts";

export const quiz: Words<typeof en> = {
  tags: {predict: "Predice", check: "Comprueba"},
  yourAnswer: "Tu respuesta",
  check: "Comprobar",
  predict: "Eso es lo que creo",
  change: "Cambiar de idea",
  readAs: (number) => `= ${number}`,
  right: (shown) => `${shown} es correcto.`,
  rightChoice: "Eso es correcto.",
  miss: (shown) => `${shown} no es.`,
  missChoice: "Esta no.",
  missChoices: "Mira otra vez.",
  sign: "El tamaño está bien. ¿Hacia dónde apunta?",
  said: (option) => `Has dicho ${option}.`,
  nothing: {title: "Todavía no hay nada.", why: "Escribe un número: 1.5, −3 o 3/2."},
  noNumber: (text) => ({title: `«${text}» no es un número que yo sepa leer.`, why: "Escribe un solo número, con punto decimal, como 1.5, −3 o 3/2."}),
  overZero: {title: "Una fracción entre cero no tiene valor.", why: "Escribe un solo número, como 1.5, −3 o 3/2."},
  nothingChosen: {title: "Todavía no has elegido nada.", why: "Elige una opción y luego comprueba."},
  show: "Enséñame la respuesta",
  shown: (answer) => `Es ${answer}.`,
  otherwise: "Prueba otra vez. Escribe los pasos, uno por uno.",
};
