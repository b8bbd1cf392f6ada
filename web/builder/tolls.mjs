// Pyodide's WebAssembly, changed so that Python notices in time how deep it is.
//
// Python raises RecursionError when it has used too much of its stack. In WebAssembly it sees only a part of what it uses: that in
// memory, for variables that have an address. The calls themselves are on a stack of the browser's; when that one is full, Python
// dies. So Python gets a limit in memory that it reaches first (see src/python/worker.ts), and the functions through which it comes
// back to itself pay a toll: while one of them runs, that many bytes of memory count as used. Measured in Chromium, unoptimised: of 48
// kinds of recursion all but one reach the limit with the browser's stack at most 54% full, and json.dumps of nested lists at 78%.
// Optimised, the 28 kinds that were measured are at most 57% full. tests/web/test_web_deep.py tries them in both.
//
// A function that pays is moved to the end of the list. In its place stands a new one, which takes the toll, calls it, and gives the
// toll back. So no function changes its number.

/** Bytes for each function: the loop that runs Python's code, and what frees, compares and writes out nested objects. */
export const TOLLS = {_PyEval_EvalFrameDefault: 672, _Py_Dealloc: 512, PyObject_RichCompare: 384, PyObject_Repr: 256};

const SECTION = {type: 1, import: 2, function: 3, export: 7, code: 10};
const [END, CALL, GET_LOCAL, GET_GLOBAL, SET_GLOBAL, CONST, ADD, SUB] = [0x0b, 0x10, 0x20, 0x23, 0x24, 0x41, 0x6a, 0x6b];

/** `binary` with a toll on some of its exported functions: `tolls` has bytes of the stack by name. */
export function withTolls(binary, tolls = TOLLS) {
  const sections = sectionsOf(binary);
  const part = (name) => sections.find(({id}) => id === SECTION[name]);
  const imported = importedFunctions(part("import")?.bytes ?? Uint8Array.of(0));
  const types = entries(part("type").bytes, skipType);
  const own = entries(part("function").bytes, (at) => at.number());
  const bodies = entries(part("code").bytes, (at) => at.skip(at.number()));
  const numbers = exportedFunctions(part("export").bytes);
  const placeOf = (name) => {
    const place = numbers.get(name) - imported;
    if (!(place >= 0)) throw new Error(`Pyodide has no function ${name} of its own`);
    return place;
  };
  const stack = globalRead(bodies[placeOf("emscripten_stack_get_current")]);
  for (const [name, bytes] of Object.entries(tolls)) {
    const place = placeOf(name);
    const type = own[place];
    const moved = imported + own.length;
    own.push(type);
    bodies.push(bodies[place]);
    const {parameters, results} = signature(types[new Reader(type).number()]);
    const toll = (sign) => [GET_GLOBAL, ...leb(stack), CONST, ...sleb(bytes), sign, SET_GLOBAL, ...leb(stack)];
    const given = Array.from({length: parameters}, (_, n) => [GET_LOCAL, ...leb(n)]).flat();
    if (results > 1) throw new Error(`${name} gives back more than one value`);
    const body = [0, ...toll(SUB), ...given, CALL, ...leb(moved), ...toll(ADD), END]; // a result stays on top meanwhile
    bodies[place] = Uint8Array.from([...leb(body.length), ...body]);
  }
  part("function").bytes = vector(own);
  part("code").bytes = vector(bodies);
  return joined([binary.subarray(0, 8), ...sections.flatMap(({id, bytes}) => [Uint8Array.of(id), Uint8Array.from(leb(bytes.length)), bytes])]);
}

class Reader {
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  byte() {
    return this.bytes[this.at++];
  }

  number() { // LEB128, as everywhere in WebAssembly
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte();
      value += (byte & 127) * factor;
      if (!(byte >= 128)) return value; // also at the end
    }
  }

  skip(bytes) {
    this.at += bytes;
  }

  text() {
    const length = this.number();
    this.skip(length);
    return new TextDecoder().decode(this.bytes.subarray(this.at - length, this.at));
  }

  limits() {
    if (this.number() & 1) this.number();
    this.number();
  }
}

function sectionsOf(binary) {
  const sections = [];
  for (const at = new Reader(binary, 8); at.at < binary.length; ) {
    const id = at.byte();
    const length = at.number();
    sections.push({id, bytes: binary.subarray(at.at, at.at + length)});
    at.skip(length);
  }
  return sections;
}

/** Each entry of a section, as its bytes. */
function entries(bytes, skip) {
  const at = new Reader(bytes);
  return Array.from({length: at.number()}, () => {
    const start = at.at;
    skip(at);
    return bytes.subarray(start, at.at);
  });
}

function skipType(at) {
  if (at.byte() !== 0x60) throw new Error("a type that is no function");
  at.skip(at.number());
  at.skip(at.number());
}

function signature(type) {
  const at = new Reader(type, 1);
  const parameters = at.number();
  at.skip(parameters);
  return {parameters, results: at.number()};
}

function importedFunctions(bytes) {
  const at = new Reader(bytes);
  let functions = 0;
  for (let left = at.number(); left > 0; left--) {
    at.text();
    at.text();
    const kind = at.byte();
    if (kind === 0) functions += 1;
    if (kind === 1 || kind === 4) at.byte(); // a table, a tag
    if (kind === 0 || kind === 4) at.number();
    if (kind === 1 || kind === 2) at.limits();
    if (kind === 3) at.skip(2); // a global
  }
  return functions;
}

/** The number of the global that a function reads and gives back: which is all that this one does. */
function globalRead(body) {
  const at = new Reader(body);
  at.number(); // its length
  if (at.byte() !== 0 || at.byte() !== GET_GLOBAL) throw new Error("Pyodide's stack is not where it was");
  return at.number();
}

function exportedFunctions(bytes) {
  const at = new Reader(bytes);
  const found = new Map();
  for (let left = at.number(); left > 0; left--) {
    const name = at.text();
    const kind = at.byte();
    const number = at.number();
    if (kind === 0) found.set(name, number);
  }
  return found;
}

function leb(value) {
  const bytes = [];
  do {
    bytes.push((value & 127) | (value > 127 ? 128 : 0));
    value >>>= 7;
  } while (value);
  return bytes;
}

/** A positive number with a sign. */
const sleb = (value) => (value < 64 ? [value] : [(value & 127) | 128, ...sleb(value >> 7)]);

const vector = (parts) => joined([Uint8Array.from(leb(parts.length)), ...parts]);

const joined = (parts) => {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) all.set(part, at), (at += part.length);
  return all;
};
