/** Programs in links. A link fills in the editor and never runs anything: what it holds is text, read with care. */

export type Linked =
  | {kind: "program"; text: string; inputs: Record<string, number>; step: number}
  | {kind: "preset"; name: string; inputs: Record<string, number>; step: number}
  | {kind: "unreadable"};

const LONGEST = 20_000;

export function linkTo(page: string, what: Exclude<Linked, {kind: "unreadable"}>): string {
  const parts = new URLSearchParams();
  if (what.kind === "program") parts.set("program", encode(what.text));
  else parts.set("preset", what.name);
  for (const [name, x] of Object.entries(what.inputs)) parts.set(`in.${name}`, String(x));
  if (what.step) parts.set("step", String(what.step));
  return `${page}#${parts}`;
}

/** What a fragment holds; null where it is not one of ours, such as the name of a heading. */
export function readLink(fragment: string): Linked | null {
  const parts = new URLSearchParams(fragment.replace(/^#/, ""));
  const step = Math.max(0, Math.trunc(Number(parts.get("step"))) || 0);
  const [program, name] = [parts.get("program"), parts.get("preset")];
  if (program === null && name === null) return null;
  const given = [...parts].filter(([key]) => key.startsWith("in.")).map(([key, x]) => [key.slice(3), Number(x)] as const);
  if (given.some(([, x]) => !Number.isFinite(x))) return {kind: "unreadable"};
  const inputs = Object.fromEntries(given);
  if (program === null) return {kind: "preset", name: name!, inputs, step};
  const text = decode(program);
  return text === null || text.length > LONGEST ? {kind: "unreadable"} : {kind: "program", text, inputs, step};
}

/** Base64 with letters that survive in a link. */
function encode(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function decode(coded: string): string | null {
  try {
    const letters = atob(coded.replaceAll("-", "+").replaceAll("_", "/"));
    return new TextDecoder("utf-8", {fatal: true}).decode(Uint8Array.from(letters, (letter) => letter.charCodeAt(0)));
  } catch {
    return null;
  }
}
