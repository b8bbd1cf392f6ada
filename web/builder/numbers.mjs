// Checked numbers: a lesson writes {{ expression -> shown }}, and the reader sees what is after the arrow.
// The expressions are run by tests/learn/test_lessons.py, which fails where a number is not what the engine gives.

export const CHECKED = /\{\{((?:(?!\{\{|\}\}).)*?)->\s*((?:(?!\{\{|\}\}).)*?)\s*\}\}/g;

/** The text as it is read; `fail(line, message)` for a pair of braces that is not a checked number. */
export function shownNumbers(text, fail) {
  return text
    .split("\n")
    .map((line, index) => {
      const shown = line.replace(CHECKED, (_, expression, number) => {
        if (expression.trim() === "" || number === "") fail(index, "a checked number is written {{ expression -> 15 }}");
        return number;
      });
      if (shown.includes("{{") && shown.includes("}}")) fail(index, `"${/\{\{.*?\}\}/.exec(shown)?.[0]}" is no checked number: write {{ expression -> 15 }}`);
      return shown;
    })
    .join("\n");
}
