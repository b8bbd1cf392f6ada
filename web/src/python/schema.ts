// Made by `python -m gradwalk.learn.page.schema`, from the classes that make these things. Do not edit.

/** JSON has no nan and no inf: they travel as texts. */
export type Num = number | "nan" | "inf" | "-inf";

/** In a walk over tensors: an array, by its place among the heat maps. */
export type Pointer = {map: number};

/** A card's rank along the walk and its track across it; a track is as wide as a card and the gap beside it. */
export type Spot = readonly [rank: number, track: number];

export type WalkEvent<N = Num> = Compute<N> | Seed<N> | Visit<N> | Push<N>;

export type SearchEvent = Enter | AlreadyVisited | Leave;

export type NodeInfo<N = Num> = {
  id: number;
  label: string;
  name: string;
  op: string;
  operands: number[];
  slopes: (Num | null)[];
  constant: boolean;
  leaf: boolean;
  handmade: boolean;
  data: N;
};

export type Graph<N = Num> = {
  root: number;
  nodes: NodeInfo<N>[];
};

export type Compute<N = Num> = {
  kind: "compute";
  node: number;
  value: N;
  operands: number[];
  operand_values: N[];
  recomputed: Num | null;
  formula: string;
  sentence: string;
  latex: string;
};

export type Seed<N = Num> = {
  kind: "seed";
  node: number;
  gradient: N;
  formula: string;
  sentence: string;
  latex: string;
};

export type Visit<N = Num> = {
  kind: "visit";
  node: number;
  gradient: N | null;
  waiting: number[];
  turn: number;
  arrived: N | null;
  formula: string;
  sentence: string;
  latex: string;
};

export type Push<N = Num> = {
  kind: "push";
  node: number;
  operand: number;
  position: number;
  upstream: N;
  local: Num | null;
  contribution: N;
  before: N | null;
  after: N;
  formula: string;
  sentence: string;
  latex: string;
};

export type Enter = {
  kind: "enter";
  node: number;
  by: number | null;
  formula: string;
  sentence: string;
  latex: string;
};

export type AlreadyVisited = {
  kind: "already_visited";
  node: number;
  by: number | null;
  formula: string;
  sentence: string;
  latex: string;
};

export type Leave = {
  kind: "leave";
  node: number;
  place: number;
  formula: string;
  sentence: string;
  latex: string;
};

export type Missing = {
  node: number;
  consumers: number[];
  gradient: Num;
  leaf: number;
  path: number[];
  amount: Num;
  sentence: string;
};

export type Doubled = {
  node: number;
  visits: number;
  gradient: Num;
  leaf: number;
  path: number[];
  amount: Num;
  sentence: string;
};

export type Verdict = {
  right: boolean;
  topological: boolean;
  lost: Missing[];
  doubled: Doubled[];
  sentence: string;
  expected: (Num | null)[];
};

export type Recording<N = Num> = {
  format: string;
  version: number;
  graph: Graph<N>;
  events: WalkEvent<N>[];
  verdict: Verdict;
};

export type TensorRecording<N = Num> = {
  graph: Graph<N>;
  events: WalkEvent<N>[];
};

export type Layout = {
  spots: Record<number, Spot>;
  bends: Record<string, Spot[]>;
};

export type Failed = {
  kind: string;
  message: string;
  line: number | null;
  column: number | null;
  end_column: number | null;
};

export type HeatMap = {
  shape: number[];
  every: number[];
  block: number;
  steps: number[][];
  texts: string[][];
  numbers: Num[][];
  reach: string;
  least: number | null;
  least_at: number[];
  greatest: number | null;
  greatest_at: number[];
  below: number;
  zeros: number;
  odd: Record<string, number>;
};

export type Drawn = {
  recording: Recording | TensorRecording<Num | Pointer> | null;
  layout: Layout | null;
  maps: HeatMap[];
  spreads: Record<string, string>;
  error: Failed | null;
  inputs: Record<string, number>;
  assumed: string[];
  language: "program" | "python" | "";
};

export type Points = {
  X: number[][];
  y: number[];
};

export type Training = {
  step: number;
  hidden: number[];
  parameters: number[];
  gradients: number[];
  loss: number;
  wrong: number[];
  length: number;
  fresh: number;
  broken: boolean;
};

export type PresetEntry = {
  name: string;
  title: string;
  text: string;
  inputs: Record<string, number>;
  note: string;
  recording: Recording;
  layout: Layout;
  search: SearchEvent[];
};

export type TensorEntry = {
  name: string;
  title: string;
  text: string;
  inputs: Record<string, number>;
  note: string;
  recording: TensorRecording<Num | Pointer>;
  layout: Layout;
  maps: HeatMap[];
  spreads: Record<string, string>;
};

export type TrainingEntry = {
  points: Points;
  start: Training;
  rate: number;
  losses: number[];
};

export type Material = {
  presets: PresetEntry[];
  tensors: TensorEntry[];
  training: TrainingEntry;
};
