/** Every word of the lines that a lesson lets one run. */
export const script = {
  editor: "Lines to run",
};
