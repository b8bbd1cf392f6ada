export type Token = {kind: "note" | "text" | "keyword" | "grad" | "data" | "plain"; text: string};
export function tokens(code: string): Token[];
