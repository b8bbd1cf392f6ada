// Made by `python -m gradwalk.notebook.traits`, from the widgets for notebooks. Do not edit.
import type {Place} from "../graph/heat.ts";
import type {Given, NumbersGiven} from "../graph/scene.ts";
import type {Points, SearchEvent, Training} from "../python/schema.ts";

export type WalkTraits = {
  _cell: {n: string; scene?: Given; error?: string};
  _wanted_cell: {n: string; node: number; place: Place};
  first_leaves: Record<string, number | string>;
  leaves: Record<string, number | string>;
  note: string;
  scene: Given;
  step: number;
  title: string;
};

export type PlaygroundTraits = {
  order: string[];
  right: boolean;
  scene: NumbersGiven & {search: SearchEvent[]; names: Record<string, number>};
  title: string;
  verdict: string;
  visits: number;
};

export type TrainingTraits = {
  _ask: {do: "" | "step" | "reset"; at: number; n: number};
  forget: boolean;
  hidden: number[];
  losses: number[];
  other: {losses: number[]; forgot: boolean} | Record<string, never>;
  playing: boolean;
  points: Points;
  rate: number;
  state: Training;
};
