/** Words of the parts that widgets share. */
export const ui = {
  running: "Running",
  stop: "Stop",
  stopLoading: (percent: number) => `Stop loading, ${percent}%`,
  keys: (mac: boolean) => (mac ? "⌘ ↵" : "Ctrl ↵"),
};
