/** Every word of the widget that folds a graph of numbers into blocks. */
export const fold = {
  title: "Z = X @ W + b, L = sum of Z²",
  fold: "Fold",
  unfold: "Unfold",
  slider: "How far it is folded",
  sliderText: (percent: number, nodes: number, blocks: number) =>
    percent === 0 ? `${nodes} single numbers` : percent === 100 ? `${blocks} blocks` : `${percent}% folded`,
  nodes: (n: number) => `${n} nodes, one for each number`,
  blocks: (n: number) => `${n} nodes, one for each block`,
  between: "on the way",
  show: "Show",
  data: "data",
  grad: "gradient",
  picture: (nodes: number, blocks: number, folded: boolean) =>
    folded ? `The graph as ${blocks} blocks.` : `The graph as ${nodes} single numbers.`,
  cell: (name: string, data: string, grad: string) => `${name}: data ${data}, gradient ${grad}`,
  given: (name: string, x: string) => `${name} = ${x}, a leaf`,
  made: (name: string, formula: string, x: string) => `${name} = ${formula} = ${x}`,
  slope: (name: string, formula: string, x: string) => (formula === x ? `${name}.grad = ${x}` : `${name}.grad = ${formula} = ${x}`),
  seed: (name: string) => `${name}.grad = 1, the seed`,
  hint: "Choose a number to see what it was made from, and what its gradient was made from. The arrow keys move from number to number.",
};
