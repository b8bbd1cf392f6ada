/** The words that stand in a drawn graph. They are handed in: nothing here knows a language. */
export type GraphWords = {
  data: string;
  grad: string;
  visiting: string;
  visited: string;
  /** How a card is read aloud. */
  card(name: string, data: string | null, grad: string | null, more: string[]): string;
  made(name: string, from: string): string;
  leaf: string;
  notYet: string;
};
