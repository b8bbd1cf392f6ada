// One engine in Pyodide, inside Deno, which may read Pyodide's folder and nothing else: no files, network, environment, processes.
//   deno run --allow-read=PYODIDE deno.mjs PYODIDE
// Lines of JSON come in and go out. The first brings Python's modules, the engine's files and the Python that is to be run.
const folder = `${Deno.args[0]}/`;
const LARGEST = 2 ** 30; // bytes of memory for Python

const grow = WebAssembly.Memory.prototype.grow;
WebAssembly.Memory.prototype.grow = function (pages) {
  if (this.buffer.byteLength + pages * 65536 > LARGEST) throw new RangeError("no more memory");
  return grow.call(this, pages);
};

let rest = new Uint8Array();
/** The next line, or undefined at the end. Python waits for it, so it cannot be awaited. */
function ask() {
  const pieces = [];
  for (;;) {
    const end = rest.indexOf(10);
    if (end >= 0) {
      pieces.push(rest.slice(0, end));
      rest = rest.slice(end + 1);
      return new TextDecoder().decode(join(pieces));
    }
    pieces.push(rest);
    rest = new Uint8Array(65536);
    const read = Deno.stdin.readSync(rest);
    if (read === null) return undefined;
    rest = rest.slice(0, read);
  }
}

function join(pieces) {
  const whole = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

const write = Deno.stdout.writeSync.bind(Deno.stdout);
function say(text) {
  let bytes = new TextEncoder().encode(`${text}\n`);
  while (bytes.length) bytes = bytes.subarray(write(bytes));
}

const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

const {loadPyodide} = await import(`file://${folder}pyodide.mjs`);
const packed = new Blob([Deno.readFileSync(`${folder}started.bin`)]).stream().pipeThrough(new DecompressionStream("gzip"));
const nothing = {stdin: () => null, stdout: () => {}, stderr: () => {}};
const python = await loadPyodide({indexURL: folder, _loadSnapshot: await new Response(packed).arrayBuffer(), ...nothing});
const {modules, files, code} = JSON.parse(ask());
python.unpackArchive(bytes(modules), "zip", {extractDir: "/modules"});
python.FS.mkdirTree("/handed-in");
for (const [name, content] of Object.entries(files)) {
  const path = `/handed-in/${name}`;
  python.FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
  python.FS.writeFile(path, bytes(content));
}
python.globals.set("ask_for_text", ask);
python.globals.set("say_text", say);
python.runPython(code);
