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
};

export type Seed<N = Num> = {
  kind: "seed";
  node: number;
  gradient: N;
};

export type Visit<N = Num> = {
  kind: "visit";
  node: number;
  gradient: N | null;
  waiting: number[];
  turn: number;
  arrived: N | null;
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
};

export type Enter = {
  kind: "enter";
  node: number;
  by: number | null;
};

export type AlreadyVisited = {
  kind: "already_visited";
  node: number;
  by: number | null;
};

export type Leave = {
  kind: "leave";
  node: number;
  place: number;
};

export type Missing = {
  node: number;
  consumers: number[];
  gradient: Num;
  leaf: number;
  path: number[];
  amount: Num;
};

export type Doubled = {
  node: number;
  visits: number;
  gradient: Num;
  leaf: number;
  path: number[];
  amount: Num;
};

export type Verdict = {
  right: boolean;
  topological: boolean;
  lost: Missing[];
  doubled: Doubled[];
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
  recording: Recording;
  layout: Layout;
  search: SearchEvent[];
};

export type TensorEntry = {
  name: string;
  title: string;
  text: string;
  inputs: Record<string, number>;
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

export type Ran = {
  printed: string[];
  error: Failure | null;
};

export type Naming = {
  step: number;
  table: number[][];
  weights: number[][];
  gamma: number[];
  beta: number[];
  out: number[][];
  bias: number[];
  mean: number[];
  var: number[];
  losses: number[];
  names: string[];
};

export type Facts = {
  names: number;
  letters: number;
  examples: number;
  parameters: number;
  guessing: number;
  steps: number;
};

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

export type Block = {
  name: string;
  op: string;
  shape: number[];
  operands: string[];
};

export type Folding = {
  cells: Cell[];
  blocks: Block[];
};

export type MatrixPicture = {
  side: number;
  rows: string[];
  cuts: number[];
};

export type Pictures = {
  tape: MatrixPicture;
  levels: MatrixPicture;
  steps: MatrixPicture;
};

export type RolledStep = {
  what: string;
  shape: number[];
  nodes: number;
  parameters: number;
};

export type Rolled = {
  nodes: number;
  leaves: number;
  tape: string[];
  levels: number[];
  steps: RolledStep[];
  flows: number[][];
  pictures: Pictures;
};

export type Roll = {
  rolled: Rolled | null;
  error: Failed | null;
};

export type RollMaterial = {
  text: string;
  rolled: Rolled;
};

export type TabEntry = {
  name: string;
  task: string;
  starter: string;
  solution: string;
  hints: string[];
  checks: number;
};

export type ExerciseEntry = {
  title: string;
  kind: "methods" | "program" | "definitions";
  tabs: TabEntry[];
};

export type EnginePart = {
  name: string;
  lesson: number;
};

export type EngineText = {
  head: string;
  tail: string;
  parts: EnginePart[];
};

export type ExerciseMaterial = {
  engine: EngineText;
  exercises: Record<string, ExerciseEntry>;
};

export type CheckRow = {
  check: string;
  name: string;
  got: string | null;
  expected: string;
  ok: boolean;
  array?: boolean;
};

export type Contribution = {
  value: number;
  source: string;
  state: "kept" | "replaced" | "lost";
};

export type LedgerShown = {
  name: string;
  parts: Contribution[];
  got: string;
  expected: string;
};

export type LineOfError = {
  kind: string;
  line: number | null;
};

export type Result = {
  status: "passed" | "failed" | "missing" | "error";
  kind: string;
  headline: string;
  why: string;
  ask: string;
  lines: number[];
  ledger: LedgerShown | null;
  error: LineOfError | null;
  checks: CheckRow[];
  passed: number;
  total: number;
};

export type HuntEvent = {
  kind: "compute" | "seed" | "visit" | "push" | "write";
  node: number;
  operand: number | null;
  position: number | null;
  slot: "data" | "grad";
  upstream: Num | null;
  before: Num | null;
  after: Num | null;
  line: number | null;
};

export type Wrong = {
  node: number;
  name: string;
  slot: "data" | "grad";
  got: number;
  right: number;
};

export type Measured = {
  name: string;
  said: number;
  measured: number;
  ok: boolean;
};

export type Stopped = {
  kind: string;
  error: string;
  line: number | null;
  steps: number;
};

export type Instrument = {
  value: Measured | null;
  leaves: Measured[];
  stopped: Stopped | null;
};

export type Seen = {
  graph: Graph | null;
  layout: Layout | null;
  events: HuntEvent[];
  wrong: Wrong[];
  check: Instrument;
  engine: string | null;
};

export type Choice = {
  family: string;
  label: string;
  right: boolean;
  why: string;
};

export type CaseShown = {
  graph: Graph | null;
  layout: Layout | null;
  events: HuntEvent[];
  wrong: Wrong[];
  check: Instrument;
  engine: string | null;
  name: string;
  title: string;
  where: "engine" | "program";
  program: string;
  text: string;
  mended: string;
  explanation: string;
  solution: string;
  hints: string[];
  choices: Choice[];
};

export type HuntMaterial = {
  sets: Record<string, string[]>;
  cases: Record<string, CaseShown>;
  where: Record<string, "engine" | "program">;
};

export type Mark = {
  score: number;
  total: number;
};

export type Diagnosis = {
  specimen: string | null;
  sentence: string;
  line: number | null;
  op: string | null;
  hint: string;
  solution: string;
  fault: string;
  beyond: boolean;
};

export type CheckResult = {
  name: string;
  group: string;
  title: string;
  status: "passed" | "failed" | "missing" | "error" | "skipped";
  got: Record<string, Num>;
  expected: Record<string, Num>;
  message: string;
  program: string;
  diagnosis: Diagnosis | null;
  lacks: string;
};

export type ComparedRow = {
  name: string;
  ours: string;
  theirs: string;
  oursPrinted: string;
  theirsPrinted: string;
};

export type RecordedComparisons = {
  torch: string;
  comparisons: Record<string, ComparedRow[]>;
};

export type Report = {
  engine: string;
  score: number;
  total: number;
  passed: boolean;
  essentials: Mark;
  beyond: Mark;
  notes: string[];
  checks: CheckResult[];
  diagnoses: Diagnosis[];
};

export type Judged = {
  report: Report;
  groups: Record<string, string>;
  beyond: string[];
};
