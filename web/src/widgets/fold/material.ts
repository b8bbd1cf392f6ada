/** What Python exports for this widget: gradwalk.learn.page.folding. */
export type Cell = {
  name: string;
  block: string;
  at: number[];
  step: number;
  place: number;
  operands: number[];
  data: number;
  grad: number;
  inside: boolean;
  into: number;
  from_: number[];
  to: number[];
  made: string;
  slopes: string;
};
export type Block = {name: string; op: string; shape: number[]; operands: string[]};
export type Folding = {cells: Cell[]; blocks: Block[]};
