"""Fit a straight line to noisy points by walking downhill, and compare with the exact answer.

The points lie around y = 3x − 2. The model is one multiplication and one addition, `slope * x + intercept`, and
training finds the two numbers from the points alone. For a line there is also a formula that gives the best fit at
once, so here one can see that gradient descent arrives at the same place: not at 3 and −2, which the noise hides,
but at the line that is nearest to these very points.

    python examples/linear_regression.py
    python examples/linear_regression.py --noise 0       without noise it finds 3 and −2
    python examples/linear_regression.py --lr 1.2        steps so long that they lead uphill
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence

from gradwalk import GradwalkError, Value, nn, optim

Points = tuple[list[float], list[float]]


def make_points(count: int, noise: float, seed: int) -> Points:
    """`count` points around y = 3x − 2, with x between −1 and 1."""
    draw = random.Random(seed)
    xs = [draw.uniform(-1.0, 1.0) for _ in range(count)]
    return xs, [3.0 * x - 2.0 + draw.gauss(0.0, noise) for x in xs]


def least_squares(points: Points) -> tuple[float, float]:
    """The slope and intercept of the best line, by the formula: covariance over variance, through the centre."""
    xs, ys = points
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    covariance = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True))
    variance = sum((x - x_mean) ** 2 for x in xs)
    slope = covariance / variance
    return slope, y_mean - slope * x_mean


def fit(points: Points, steps: int, lr: float) -> tuple[float, float]:
    """The slope and intercept after `steps` steps of gradient descent from 0 and 0, with a table on the way."""
    xs, ys = points
    slope, intercept = Value(0.0, label="slope"), Value(0.0, label="intercept")
    optimiser = optim.SGD([slope, intercept], lr)
    print(f"{'step':>5} {'loss':>12} {'slope':>12} {'intercept':>12} {'d loss/d slope':>16}")
    for step in range(steps + 1):
        loss = nn.mse([slope * x + intercept for x in xs], ys)
        optimiser.zero_grad()  # gradients add up: without this, each step would also take all earlier ones again
        loss.backward()
        if step in (0, 1, 2, 5, 10, 20, 50, 100) or step == steps:
            print(f"{step:>5} {loss.data:>12.6g} {slope.data:>12.6g} {intercept.data:>12.6g} {slope.grad:>16.6g}")
        if step < steps:
            optimiser.step()
    return slope.data, intercept.data


def main(argv: Sequence[str] | None = None) -> int:
    """Fit, then set the result beside the formula's."""
    parser = argparse.ArgumentParser(
        prog="linear_regression.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--points", type=int, default=50, metavar="N", help="how many points (default 50)")
    parser.add_argument("--noise", type=float, default=0.3, metavar="X", help="how far they stray (default 0.3)")
    parser.add_argument("--steps", type=int, default=100, metavar="N", help="steps downhill (default 100)")
    parser.add_argument("--lr", type=float, default=0.4, metavar="X", help="how far a step goes (default 0.4)")
    parser.add_argument("--seed", type=int, default=42, metavar="N", help="which points (default 42)")
    options = parser.parse_args(argv)
    if options.points < 2:
        parser.error(f"--points must be at least 2, because one point fixes no line; it is {options.points}")
    if not 0.0 <= options.noise < float("inf"):
        parser.error(f"--noise must be a number from 0 up, not {options.noise:g}")
    if options.steps < 1:
        parser.error(f"--steps must be at least 1, not {options.steps}")

    points = make_points(options.points, options.noise, options.seed)
    exact = least_squares(points)
    try:
        found = fit(points, options.steps, options.lr)
    except GradwalkError as error:  # a learning rate that is no rate
        parser.error(str(error))

    print(f"\n{'':>12} {'slope':>14} {'intercept':>14}")
    print(f"{'descent':>12} {found[0]:>14.9g} {found[1]:>14.9g}")
    print(f"{'formula':>12} {exact[0]:>14.9g} {exact[1]:>14.9g}")
    gaps = [abs(a - b) for a, b in zip(found, exact, strict=True)]
    print(f"{'difference':>12} {gaps[0]:>14.1e} {gaps[1]:>14.1e}")
    if max(gaps) < 1e-6:
        print("\nthe two agree")
    elif max(gaps) < max(map(abs, exact)):  # nearer than the start at 0 and 0
        print("\nnot there yet: give it more --steps")
    else:
        print("\nit ran away: use a smaller --lr")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
