/** Python in a worker of its own: loads Pyodide and the engine from the site, then answers calls one by one.

The page ends this worker when a call takes too long, and starts another: nothing here needs to be undone.
*/
import type {FromWorker, ToWorker} from "./messages.ts";

type Bridge = {call(fn: string, args: string, emit: (text: string) => void): string};
type Start = Extract<ToWorker, {kind: "start"}>;
type Pyodide = {unpackArchive(buffer: ArrayBuffer, format: string): void; pyimport(name: string): Bridge; runPython(text: string): void; _module: Compiled};
/** What Python offers to programs in C. */
type Compiled = {
  _PyThreadState_Get(): number;
  _PyUnstable_ThreadState_SetStackProtection(thread: number, end: number, size: number): number;
  _emscripten_stack_get_current(): number;
};

const scope = self as unknown as {
  postMessage(message: FromWorker): void;
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
  fetch: typeof fetch;
};
let bridge: Bridge | undefined; // there once Python is ready
/** Bytes of its stack that Python may use: it raises RecursionError then. The browser's own stack has room for more in every case that was measured; see builder/tolls.mjs. */
const STACK = 128 * 1024;

scope.onmessage = ({data}) => {
  if (data.kind === "start") {
    start(data).catch(fail);
  } else {
    const {id, fn, args} = data;
    const json = bridge!.call(fn, args, (text) => scope.postMessage({kind: "print", id, text}));
    scope.postMessage({kind: "answer", id, json});
  }
};

const fail = (error: unknown): void => scope.postMessage({kind: "failed", message: String(error)});

async function start({site, files}: Start): Promise<void> {
  countBytes(Object.values(files.sizes).reduce((sum, size) => sum + size, 0));
  const folder = new URL(files.folder, site).href;
  const archive = fetch(new URL(files.archive, site));
  const started = unpacked(fetch(new URL(files.started, site)));
  const {loadPyodide} = await import(`${folder}pyodide.mjs`);
  const pyodide: Pyodide = await loadPyodide({indexURL: folder, _loadSnapshot: started});
  pyodide.runPython("import random; random.seed()"); // it was seeded when it was started, at the build
  limitDepth(pyodide._module);
  pyodide.unpackArchive(await (await archive).arrayBuffer(), "wheel");
  bridge = pyodide.pyimport("gradwalk.learn.page.bridge");
  scope.postMessage({kind: "ready"});
}

function limitDepth(python: Compiled): void {
  python._PyUnstable_ThreadState_SetStackProtection(python._PyThreadState_Get(), python._emscripten_stack_get_current() - STACK, STACK);
}

/** The memory of a Python that has started and imported the engine already; see builder/started.mjs. */
async function unpacked(packed: Promise<Response>): Promise<ArrayBuffer> {
  return new Response((await packed).body!.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

/** Every byte that arrives moves the progress on, up to 60: the rest is for starting what has arrived. */
function countBytes(total: number): void {
  const plain = scope.fetch.bind(self);
  let seen = 0;
  let told = 0;
  let spoke = 0; // when
  const counted = (response: Response): Response => {
    if (!response.ok || !response.body) return response;
    const counter = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        seen += chunk.byteLength;
        const percent = Math.min(60, Math.floor((60 * seen) / total));
        if (percent > told || Date.now() - spoke > 5000) { // on a slow line a percent takes long: something comes all the same
          spoke = Date.now();
          scope.postMessage({kind: "progress", percent: (told = percent)});
        }
        controller.enqueue(chunk);
      },
    });
    const {status, statusText, headers} = response;
    const copy = new Response(response.body.pipeThrough(counter), {status, statusText, headers});
    Object.defineProperty(copy, "url", {value: response.url});
    return copy;
  };
  scope.fetch = async (...request) => {
    try {
      const response = await plain(...request);
      if (!response.ok && !bridge) fail(`${response.url}: ${response.status}`);
      return counted(response);
    } catch (error) {
      if (!bridge) fail(error); // Pyodide itself would wait for ever for a file that does not come
      throw error;
    }
  };
}
