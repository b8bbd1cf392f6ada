/** Words of the parts that widgets share. */
export const ui = {
  running: "Running",
  stop: "Stop",
  stopLoading: (percent: number) => `Stop loading, ${percent}%`,
  broken: {
    title: "This part does not work.",
    failed: "Something in it went wrong. The rest of the page works as before, and your work is kept.",
    notFetched: "It could not be loaded. Are you offline?",
    again: "Try again",
  },
  keys: (mac: boolean) => (mac ? "⌘ ↵" : "Ctrl ↵"),
};
