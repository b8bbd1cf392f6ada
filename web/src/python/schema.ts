// Made by `python -m gradwalk.learn.page.schema`, from the classes that make these things. Do not edit.

/** JSON has no nan and no inf: they travel as texts. */
export type Num = number | "nan" | "inf" | "-inf";

/** A card's rank along the walk and its track across it; a track is as wide as a card and the gap beside it. */
export type Spot = readonly [rank: number, track: number];

export type WalkEvent = Compute | Seed | Visit | Push;

export type SearchEvent = Enter | AlreadyVisited | Leave;

export type NodeInfo = {
  id: number;
  label: string;
  name: string;
  op: string;
  operands: number[];
  slopes: (Num | null)[];
  constant: boolean;
  leaf: boolean;
  handmade: boolean;
  data: Num;
};

export type Graph = {
  root: number;
  nodes: NodeInfo[];
};

export type Compute = {
  kind: "compute";
  node: number;
  value: Num;
  operands: number[];
  operand_values: Num[];
  recomputed: Num | null;
  formula: string;
  sentence: string;
  latex: string;
};

export type Seed = {
  kind: "seed";
  node: number;
  gradient: Num;
  formula: string;
  sentence: string;
  latex: string;
};

export type Visit = {
  kind: "visit";
  node: number;
  gradient: Num | null;
  waiting: number[];
  turn: number;
  arrived: Num | null;
  formula: string;
  sentence: string;
  latex: string;
};

export type Push = {
  kind: "push";
  node: number;
  operand: number;
  position: number;
  upstream: Num;
  local: Num | null;
  contribution: Num;
  before: Num | null;
  after: Num;
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

export type Recording = {
  format: string;
  version: number;
  graph: Graph;
  events: WalkEvent[];
  verdict: Verdict;
};

export type Layout = {
  spots: Record<number, Spot>;
  bends: Record<string, Spot[]>;
};

export type Failure = {
  kind: string;
  message: string;
  line: number | null;
  where: string | null;
};

export type Answer = {
  result: unknown;
  error: Failure | null;
  more: string | null;
};

export type Failed = {
  kind: string;
  message: string;
  line: number | null;
  column: number | null;
  end_column: number | null;
};

export type Drawn = {
  recording: Recording | null;
  layout: Layout | null;
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

export type TrainingEntry = {
  points: Points;
  start: Training;
  rate: number;
  losses: number[];
};

export type Material = {
  presets: PresetEntry[];
  training: TrainingEntry;
};

export type Ran = {
  printed: string[];
  error: Failure | null;
};
