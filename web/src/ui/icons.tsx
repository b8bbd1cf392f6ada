/** The signs of the course, drawn on a field of 16. A sign never stands alone: a word is beside it, seen or spoken. */

const SIGNS = {
  ok: {line: "M3 8.6 6.6 12 13 4.6"},
  miss: {line: "M4 4l8 8M12 4l-8 8"},
  warn: {line: "M8 2.2 14.6 13.6H1.4zM8 6.4v3.4M8 11.8v.1"},
  info: {line: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8M8 7.4v3.8M8 4.9v.1"},
  play: {fill: "M4 2.5 13 8l-9 5.5z"},
  pause: {fill: "M4 3h3v10H4zM9 3h3v10H9z"},
  stop: {fill: "M3.5 3.5h9v9h-9z"},
  step: {fill: "M6 3l6 5-6 5z"},
  back: {fill: "M10 3 4 8l6 5z"},
  reset: {fill: "M13 3 6 8l7 5z", line: "M3 3v10"},
  end: {fill: "M3 3l7 5-7 5z", line: "M13 3v10"},
  left: {line: "M10 3 5 8l5 5"},
  right: {line: "M6 3l5 5-5 5"},
  up: {line: "M3 10l5-5 5 5"},
  down: {line: "M3 6l5 5 5-5"},
  arrow: {line: "M2 8h11M9 4l4 4-4 4"},
  copy: {line: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3"},
  download: {line: "M8 2v8M4.5 7 8 10.5 11.5 7M3 13.5h10"},
  upload: {line: "M8 10.5v-8M4.5 6 8 2.5 11.5 6M3 13.5h10"},
  again: {line: "M13 8a5 5 0 1 1-1.6-3.7M13 2v3.2H9.8"},
} satisfies Record<string, {line?: string; fill?: string}>;

export type IconName = keyof typeof SIGNS;

export function Icon({name, size = 16, class: extra = ""}: {name: IconName; size?: number; class?: string}) {
  const {line, fill} = SIGNS[name] as {line?: string; fill?: string};
  return (
    <svg class={`icon icon-${name} ${extra}`} width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      {fill && <path class="full" d={fill} />}
      {line && <path d={line} />}
    </svg>
  );
}
