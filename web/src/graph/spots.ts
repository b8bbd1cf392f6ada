/** What a layout says. Apart from `layout.ts`, which makes one and brings d3-dag along: whoever draws needs only this. */

export type Spot = readonly [rank: number, track: number];

export type Layout = {
  /** By the node's id. */
  spots: Record<number, Spot>;
  /** Where an edge crosses ranks between its ends, operand first; by the two ends, "from>to". */
  bends: Record<string, Spot[]>;
};

export const between = (from: number, to: number): string => `${from}>${to}`;
