/** The network's output at any point, from its parameters: the map asks for thousands of points, the engine need not. */

/** Parameters lie as in `MLP.parameters()`: layer by layer, neuron by neuron, weights and then the bias. */
export function scorer(hidden: readonly number[], parameters: readonly number[]): (x1: number, x2: number) => number {
  const sizes = [2, ...hidden, 1];
  return (x1, x2) => {
    let signals = [x1, x2];
    let at = 0;
    for (let layer = 1; layer < sizes.length; layer++) {
      const next: number[] = [];
      for (let neuron = 0; neuron < sizes[layer]!; neuron++) {
        let sum = parameters[at + signals.length]!;
        for (const signal of signals) sum += parameters[at++]! * signal;
        at++;
        next.push(Math.tanh(sum));
      }
      signals = next;
    }
    return signals[0]!;
  };
}
