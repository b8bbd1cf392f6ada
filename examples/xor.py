"""Learn XOR: the smallest problem that one neuron cannot solve and two layers can.

The answer is 1 where exactly one input is 1. No straight line parts the two 1s from the two 0s, so a single neuron
must fail; a hidden layer bends the plane first. `--hidden 0` shows the failure: all four answers stay near 0.5.

    python examples/xor.py
    python examples/xor.py --hidden 2        the fewest that can do it; try some seeds, not all of them arrive
    python examples/xor.py --hidden 0        one neuron alone
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence

from gradwalk import GradwalkError, nn, no_grad, optim, sigmoid

INPUTS = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
WANTED = [0, 1, 1, 0]


def answers(model: nn.MLP) -> list[float]:
    """The model's probability of a 1, for each of the four inputs."""
    with no_grad():  # nothing will be differentiated, so nothing need be remembered
        return [sigmoid(model(x)).data for x in INPUTS]


def show_table(title: str, found: list[float]) -> None:
    """Print the truth table, with what the model says."""
    print(f"{title}\n  x1 x2   xor   model says")
    for (x1, x2), wanted, p in zip(INPUTS, WANTED, found, strict=True):
        said = int(p > 0.5)
        print(f"  {x1:>2g} {x2:>2g}   {wanted:>3}   {p:.3f} -> {said} {'right' if said == wanted else 'WRONG'}")


def train(model: nn.MLP, steps: int, lr: float) -> tuple[float, float]:
    """Train on all four rows at once; gives the first and the last loss."""
    optimiser = optim.Adam(model.parameters(), lr)
    losses = []
    for _ in range(steps):
        # The model gives a score, not a probability. Cross-entropy on scores stays finite however sure the model is.
        loss = nn.binary_cross_entropy([model(x) for x in INPUTS], WANTED)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.data)
    return losses[0], losses[-1]


def main(argv: Sequence[str] | None = None) -> int:
    """Train on the truth table of XOR and show it before and after."""
    parser = argparse.ArgumentParser(
        prog="xor.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hidden", type=int, default=4, metavar="N", help="tanh neurons in the middle (default 4)")
    parser.add_argument("--steps", type=int, default=300, metavar="N", help="steps downhill (default 300)")
    parser.add_argument("--lr", type=float, default=0.05, metavar="X", help="how far a step goes (default 0.05)")
    parser.add_argument("--seed", type=int, default=42, metavar="N", help="where it starts (default 42)")
    options = parser.parse_args(argv)
    if options.hidden < 0:
        parser.error(f"--hidden must be 0 (one neuron alone) or more, not {options.hidden}")
    if options.steps < 1:
        parser.error(f"--steps must be at least 1, not {options.steps}")

    random.seed(options.seed)
    sizes = [options.hidden, 1] if options.hidden else [1]
    model = nn.MLP(2, sizes, activation="tanh")
    show_table("before", answers(model))
    try:
        first, last = train(model, options.steps, options.lr)
    except GradwalkError as error:  # a learning rate that is no rate
        parser.error(str(error))
    print(f"\n{options.steps} steps: the loss went from {first:.4f} to {last:.4f}\n")
    found = answers(model)
    show_table("after", found)
    right = sum((p > 0.5) == wanted for p, wanted in zip(found, WANTED, strict=True))
    print("\nall four are right" if right == 4 else f"\nonly {right} of 4 right")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
