/** What Python exports for this widget. */
export type {Block, Cell, Folding} from "../../python/schema.ts";
