/** What the page and the worker say to each other. Arguments and results travel as JSON text. */

/** Where Python lies, from the site's root; the sizes make the progress honest. */
export type PythonFiles = {folder: string; started: string; archive: string; sizes: Record<string, number>};

export type ToWorker =
  | {kind: "start"; site: string; files: PythonFiles}
  | {kind: "call"; id: number; fn: string; args: string};

export type FromWorker =
  | {kind: "progress"; percent: number}
  | {kind: "ready"}
  | {kind: "failed"; message: string}
  | {kind: "print"; id: number; text: string}
  | {kind: "answer"; id: number; json: string};
