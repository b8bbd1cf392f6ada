/** Number fields and sliders for what the program starts from; everything re-runs as they change. */
import {useEffect, useState} from "preact/hooks";
import {stepper as words} from "../../strings/en/stepper.ts";

type Props = {
  inputs: Record<string, number>;
  /** What they were at first. */
  original: Record<string, number>;
  note: string;
  onChange(inputs: Record<string, number>): void;
};

export function Leaves({inputs, original, note, onChange}: Props) {
  const names = Object.keys(inputs);
  const changed = names.some((name) => inputs[name] !== original[name]);
  if (!names.length) return null;
  return (
    <details class="leaves">
      <summary>{words.leaves} <span class="ink3">{words.leavesNote}</span></summary>
      <div class="leaf-row">
        {names.map((name) => (
          <Leaf key={name} name={name} value={inputs[name]!} around={original[name] ?? 0} onChange={(x) => onChange({...inputs, [name]: x})} />
        ))}
        <button type="button" class="quiet" aria-disabled={!changed} onClick={() => changed && onChange(original)}>{words.leavesBack}</button>
      </div>
      <p class="leaf-note" role="status">{note}</p>
    </details>
  );
}

function Leaf({name, value, around, onChange}: {name: string; value: number; around: number; onChange(x: number): void}) {
  const [text, setText] = useState(String(value));
  useEffect(() => {
    if (Number(text) !== value) setText(String(value)); // the slider moved, or all were put back
  }, [value]);
  const wrong = text.trim() === "" || !Number.isFinite(Number(text));
  const reach = Math.max(10, Math.ceil(2 * Math.abs(around)));
  const type = (next: string) => {
    setText(next);
    if (next.trim() !== "" && Number.isFinite(Number(next))) onChange(Number(next));
  };
  return (
    <div class="leaf">
      <label><code>{name}</code><span class="vh">{words.leafValue(name)}</span>
        <input type="text" inputMode="decimal" autocomplete="off" spellcheck={false} data-leaf={name} value={text} aria-invalid={wrong}
          title={wrong ? words.notANumber(name) : undefined} onInput={(event) => type(event.currentTarget.value.replace("−", "-").replace(",", "."))} />
      </label>
      <input type="range" aria-label={words.leafSlide(name)} min={-reach} max={reach} step={reach > 20 ? 1 : 0.1} value={value}
        onInput={(event) => onChange(Number(event.currentTarget.value))} />
    </div>
  );
}
