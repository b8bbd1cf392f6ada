// What Python says crosses as the id of a sentence and its parameters; here it becomes that sentence, in a page's language:
// in the page for what Python answers, and in the build for what Python exports.

const isMessage = (value) => typeof value === "object" && value !== null && "id" in value && "parameters" in value;

/** The text of a message; where a dictionary has no words for it, those that Python has. */
const sentence = ({id, parameters}, dictionary) => (dictionary[id] ?? id).replace(/\{(\w+)\}/g, (hole, name) => parameters[name] ?? hole);

/** Reads JSON with every message in it said: the inner ones first, for a parameter may be a message. */
export const said = (json, dictionary) => JSON.parse(json, (_, value) => (isMessage(value) ? sentence(value, dictionary) : value));
