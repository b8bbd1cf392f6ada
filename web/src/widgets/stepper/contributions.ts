/** Gradients that are made of several contributions, and what has come of them so far. */
import {num} from "../../text/numbers.ts";
import {inOneBar} from "../../ui/Ledger.tsx";
import type {Push, Recording} from "../../python/schema.ts";

export type Contribution = {from: number; position: number; amount: number; arrived: boolean; now: boolean};

/** The pushes that each node gets, for nodes that get more than one; with the number of each step, from 1. */
export function sharedNodes(recording: Recording): Map<number, {event: Push; k: number}[]> {
  const pushes = new Map<number, {event: Push; k: number}[]>();
  recording.events.forEach((event, i) => {
    if (event.kind === "push") pushes.set(event.operand, [...(pushes.get(event.operand) ?? []), {event, k: i + 1}]);
  });
  return new Map([...pushes].filter(([, all]) => all.length > 1));
}

/** The node whose contributions are worth a look at this moment: the last that got one, or the first that will. */
export function inFocus(shared: ReturnType<typeof sharedNodes>, k: number): {node: number; parts: Contribution[]} | null {
  if (!shared.size) return null;
  const reached = [...shared].filter(([, all]) => all[0]!.k <= k);
  const latest = (all: {k: number}[]) => Math.max(...all.filter((push) => push.k <= k).map((push) => push.k));
  const [node, all] = reached.length
    ? reached.reduce((a, b) => (latest(b[1]) > latest(a[1]) ? b : a))
    : [...shared].reduce((a, b) => (b[1][0]!.k < a[1][0]!.k ? b : a));
  return {node, parts: all.map(({event, k: at}) => ({from: event.node, position: event.position, amount: num(event.contribution), arrived: at <= k, now: at === k}))};
}

/** How high the ledger of these nodes can get, in pixels: a bar, or rows. */
export function ledgerHeight(shared: ReturnType<typeof sharedNodes>): number {
  const heights = [...shared.values()].map((all) => {
    const amounts = all.map(({event}) => num(event.contribution));
    return HEAD + (inOneBar(amounts) ? BAR : all.length * ROW);
  });
  return heights.length ? Math.max(...heights) + GAP : 0;
}

const [HEAD, BAR, ROW, GAP] = [26, 44, 28, 16];
