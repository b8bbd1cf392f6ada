/** Every word of the slope plots. */
export const slope = {
  names: {secant: "A line through two points", error: "The error of the slope for every h"},
  input: "Nudge",
  at: (name: string) => `at ${name} =`,
  h: "nudge h =",
  slopeIs: "slope",
  measured: "measured",
  exact: "exact",
  error: "error",
  both: "Step both ways",
  reset: "Reset",
  hNow: (h: string, slope: string) => `h is ${h}, measured slope ${slope}`,
  xNow: (name: string, x: string, slope: string) => `${name} is ${x}, measured slope ${slope}`,
  picture: (formula: string, name: string, x: string, h: string, measured: string, exact: string) =>
    `The curve ${formula}. At ${name} = ${x}, with h = ${h}, the line through the two points has the slope ${measured}. The slope of the curve there is ${exact}.`,
  errorPicture: (h: string, error: string, best: string) =>
    `Error against h, both on scales of powers of ten. From the right the error falls, is smallest near h = ${best}, then grows again. At h = ${h} it is ${error}.`,
  noError: "0",
  bend: "the curve bends",
  rounding: "the computer rounds",
  hAxis: "h",
  errorAxis: "error",
};
