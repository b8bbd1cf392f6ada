/** What Python says crosses as the id of a sentence and its parameters; here it becomes that sentence, in the page's language. */

/** Its words in a language, by the English ones, which are its id. */
export type Dictionary = Record<string, string>;
type Message = {id: string; parameters: Record<string, string>};

const isMessage = (value: unknown): value is Message => typeof value === "object" && value !== null && "id" in value && "parameters" in value;

/** The text of a message; where a dictionary has no words for it, those that Python has. */
const sentence = ({id, parameters}: Message, dictionary: Dictionary): string => (dictionary[id] ?? id).replace(/\{(\w+)\}/g, (hole, name: string) => parameters[name] ?? hole);

/** Reads JSON with every message in it said: the inner ones first, for a parameter may be a message. */
export const said = (json: string, dictionary: Dictionary): unknown => JSON.parse(json, (_, value: unknown) => (isMessage(value) ? sentence(value, dictionary) : value));
