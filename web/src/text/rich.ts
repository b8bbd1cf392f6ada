/** Sentences with names and numbers in them, without HTML: parts that a component draws and a screen reader reads. */

export type Piece = {kind: "code" | "lost" | "op" | "em" | "data" | "grad"; text: string};
export type Rich = (string | Piece)[];

const piece = (kind: Piece["kind"]) => (text: string): Piece => ({kind, text});
export const code = piece("code");
export const lost = piece("lost");
export const op = piece("op");
export const em = piece("em");
export const dataName = piece("data");
export const gradName = piece("grad");

/** A sentence from a template: rich`${code("c")} was visited before ${code("d")}.` Arrays are taken apart. */
export function rich(texts: TemplateStringsArray, ...parts: (string | Piece | Rich)[]): Rich {
  return texts.flatMap((text, i) => [text, ...(i < parts.length ? [parts[i]!].flat() : [])]).filter((part) => part !== "");
}

/** As Python writes it: names between backticks. */
export const plain = (parts: Rich): string =>
  parts.map((part) => (typeof part === "string" ? part : part.kind === "code" ? `\`${part.text}\`` : part.text)).join("");

/** As it is read aloud. */
export const spoken = (parts: Rich): string => parts.map((part) => (typeof part === "string" ? part : part.text)).join("");
