/** Every word of the three habits. */
export const habits = {
  plus: {name: "copies.", says: "Both operands receive the upstream gradient."},
  times: {name: "swaps and scales.", says: "Each operand receives the upstream gradient, times the other operand’s data."},
  other: {name: "Any other", says: "operation multiplies by its slope. For tanh that is one minus its output squared."},
  picture: {
    plus: (upstream: string) => `A plus with the gradient ${upstream}: both operands receive ${upstream}.`,
    times: (x: string, w: string, upstream: string, toX: string, toW: string) =>
      `A times with the gradient ${upstream} and the operands ${x} and ${w}: the first receives ${toX}, the second ${toW}.`,
    other: (upstream: string, slope: string, result: string) => `A tanh with the gradient ${upstream} and the slope ${slope}: its operand receives ${result}.`,
  },
};
