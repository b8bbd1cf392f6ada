import type {Rich} from "../text/rich.ts";

const CLASSES = {code: "", data: "data", grad: "grad"} as const;

/** A sentence with names and numbers in it. */
export function Words({of}: {of: Rich}) {
  return (
    <>
      {of.map((part) => {
        if (typeof part === "string") return part;
        switch (part.kind) {
          case "lost":
            return <b class="lostnum">{part.text}</b>;
          case "em":
            return <em>{part.text}</em>;
          case "op":
            return <span class={part.text.length > 1 ? "opdot w" : "opdot"}>{part.text}</span>;
          default:
            return <code class={CLASSES[part.kind]}>{part.text}</code>;
        }
      })}
    </>
  );
}
