/** A recording ready to be drawn. Where its cards stand, Python has said: no layout is made in the page. */
import {drawn, type DrawnGraph} from "./model.ts";
import type {Layout, Recording} from "../python/schema.ts";

export type Given = {recording: Recording; layout: Layout};
export type Scene = Given & {graph: DrawnGraph};

export const sceneOf = ({recording, layout}: Given): Scene => ({recording, layout, graph: drawn(recording.graph)});
