/** A recording ready to be drawn. Where its cards stand, Python has said: no layout is made in the page. */
import {filled, type Filled} from "./heat.ts";
import {drawn, drawnTensors, type DrawnGraph} from "./model.ts";
import type {HeatMap, Layout, Num, Pointer, Recording, TensorRecording} from "../python/schema.ts";

export type NumbersGiven = {recording: Recording; layout: Layout};
export type TensorsGiven = {recording: TensorRecording<Num | Pointer>; layout: Layout; maps: HeatMap[]; spreads: Record<string, string>};
export type Given = NumbersGiven | TensorsGiven;

export type NumberScene = NumbersGiven & {kind: "numbers"; graph: DrawnGraph};
export type TensorScene = {kind: "tensors"; recording: TensorRecording<Filled>; layout: Layout; graph: DrawnGraph};
export type Scene = NumberScene | TensorScene;

/** A walk over single numbers. */
export const numberScene = ({recording, layout}: NumbersGiven): NumberScene => ({kind: "numbers", recording, layout, graph: drawn(recording.graph)});

/** Those of single numbers may say that they have no maps; those of tensors say no format. */
const ofTensors = (given: Given): given is TensorsGiven => "maps" in given && !("format" in given.recording);

export function sceneOf(given: Given): Scene {
  if (!ofTensors(given)) return numberScene(given);
  const recording = filled(given.recording, given.maps);
  return {kind: "tensors", recording, layout: given.layout, graph: drawnTensors(recording, given.spreads)};
}
