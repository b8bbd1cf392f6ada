/** The words that stand in a drawn graph. They are handed in: nothing here knows a language. */
import type {HeatMap} from "../python/schema.ts";

export type GraphWords = {
  data: string;
  grad: string;
  visiting: string;
  visited: string;
  /** How a card is read aloud. */
  card(name: string, data: string | null, grad: string | null, more: string[]): string;
  /** The same of a tensor. */
  tensor(name: string, shape: string, data: string | null, grad: string | null, more: string[]): string;
  constant: string;
  /** A heat map for whoever cannot see it. */
  map(map: HeatMap): string;
  /** What stands below a heat map: how far its scale goes, what is not finite, which of its cells are shown. */
  notes(map: HeatMap): string[];
  made(name: string, from: string): string;
  leaf: string;
  notYet: string;
};
