import {exercise as words} from "../../strings/en/exercise.ts";
import type {Generated, Schema} from "../types.ts";
import type {Material} from "./material.ts";

export type Props = {id: string; lesson: string; exercise: string};

const known = (generated: Generated): Material["exercises"] => (generated.exercises as Material | undefined)?.exercises ?? {};

export const schema: Schema = {
  fields: {exercise: {type: "text", required: true, choices: (generated) => Object.keys(known(generated))}},
  height: ({exercise}: Props, generated) => {
    const {tabs} = known(generated)[exercise] ?? {tabs: []};
    const {starter = "", task = ""} = tabs[0] ?? {};
    const code = (line: number) => Math.ceil(Math.max(273, starter.split("\n").length * line + 32));
    const words = (across: number) => 24 + Math.ceil(task.length / across) * 25.5;
    const [bar, actions, result] = [65, 66, 69];
    return [(tabs.length > 2 ? 120 : 71) + words(40) + code(22.1) + 121 + result, bar + words(88) + code(23.8) + actions + result, bar + words(70) + code(23.8) + actions].map(Math.round) as [number, number, number];
  },
  fallback: ({exercise}: Props) => words.fallback(exercise, exercise),
  frame: "wide",
  english: "src/gradwalk/learn/page/exercises",
  task: true,
};
