/** What to show of Python: what it does, or nothing as long as the page is asleep. */
import {python, type PythonState} from "../python/index.ts";
import {asleep} from "../waking/index.ts";

const IDLE: PythonState = {phase: "idle", percent: 0};

export const pythonState = (): PythonState => (asleep.value ? IDLE : python.state.value);
