"""Teach a small network to tell two moons apart, and draw where it puts the border.

Each of 100 points belongs to one of two interleaved half circles. The network has two hidden layers of 16 neurons and
gives one score: negative for one moon, positive for the other. The loss asks for more than the right sign. It wants a
margin of 1 (`hinge`), and it adds a small price for large weights, so that the border stays smooth.

One step builds a graph of some 65,000 nodes, 337 parameters among its leaves, and one `backward()` finds how each of
them should move.

    python examples/moons.py                          100 steps, a few seconds, picture in moons.png
    python examples/moons.py --steps 20 --out early.svg
    python examples/moons.py --compiled               the same numbers, thousands of times sooner
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from pathlib import Path

import gradwalk
from gradwalk import GradwalkError, Value, datasets, nn, optim, plot
from gradwalk.errors import MissingExtraError

PRICE_OF_WEIGHTS = 1e-4


def loss_and_scores(model: nn.MLP, X: list[list[float]], y: list[int]) -> tuple[Value, list[Value]]:
    """The number to bring down, and the scores it comes from."""
    scores = [model(x) for x in X]
    margin_loss = nn.hinge(scores, y)
    weight_loss = PRICE_OF_WEIGHTS * sum(p * p for p in model.parameters())
    return margin_loss + weight_loss, scores


def loss(model: nn.MLP, X: list[list[float]], y: list[int]) -> Value:
    """The number to bring down alone."""
    return loss_and_scores(model, X, y)[0]


def accuracy_of(scores: list[Value], y: list[int]) -> float:
    """The share of points on the right side (which has no slope to walk down)."""
    return sum((score.data > 0.0) == (label > 0) for score, label in zip(scores, y, strict=True)) / len(y)


def train(model: nn.MLP, X: list[list[float]], y: list[int], steps: int, *, compiled: bool = False) -> list[float]:
    """Take `steps` steps on all points at once, printing each; gives the losses."""
    optimiser = optim.SGD(model.parameters(), lr=1.0)
    schedule = optim.LinearSchedule(optimiser, steps, end=0.1)  # long strides first, short ones to settle
    compute = gradwalk.compile(loss_and_scores) if compiled else loss_and_scores  # nothing else changes
    losses = []
    for step in range(1, steps + 1):
        total, scores = compute(model, X, y)
        optimiser.zero_grad()
        total.backward()
        accuracy = accuracy_of(scores, y)
        print(
            f"step {step:>{len(str(steps))}}  rate {optimiser.lr:.2f}  loss {total.data:.4f}  accuracy {accuracy:.1%}"
        )
        optimiser.step()
        schedule.step()
        losses.append(total.data)
    return losses


def measure(model: nn.MLP, X: list[list[float]], y: list[int]) -> None:
    """Time one step of forward and backward, eagerly and compiled, and say how they compare."""
    seconds = []
    for compute, repeats in ((loss, 5), (gradwalk.compile(loss), 200)):
        times = []
        for _ in range(repeats + 1):
            began = time.perf_counter()
            total = compute(model, X, y)
            model.zero_grad()
            total.backward()
            times.append(time.perf_counter() - began)
        seconds.append(sorted(times)[len(times) // 2])  # the first compiled one traces; the median does not see it
    eager, compiled = seconds
    print(f"one step of forward and backward: eager {1e3 * eager:.1f} ms, compiled {1e6 * compiled:.0f} µs, ", end="")
    print(f"{eager / compiled:,.0f} times quicker")


def main(argv: Sequence[str] | None = None) -> int:
    """Train on the moons and write the picture."""
    parser = argparse.ArgumentParser(
        prog="moons.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=100, metavar="N", help="steps downhill (default 100)")
    parser.add_argument(
        "--samples", type=int, default=100, metavar="N", help="points, both moons together (default 100)"
    )
    parser.add_argument(
        "--seed", type=int, default=1337, metavar="N", help="the points and the first weights (default 1337)"
    )
    parser.add_argument("--compiled", action="store_true", help="train at native speed, and say how much quicker it is")
    parser.add_argument("--out", type=Path, metavar="FILE", help=".png, .svg or .pdf (default moons.png)")
    options = parser.parse_args(argv)
    if options.steps < 1:
        parser.error(f"--steps must be at least 1, not {options.steps}")
    out = options.out or Path("moons.png")
    try:
        plot.checked_ending(out)  # better to hear of it now than after training
        if not out.parent.is_dir():
            parser.error(f"--out: there is no folder {str(out.parent)!r}; make it first, or name another")
        X, y = datasets.moons(options.samples, seed=options.seed)
        random.seed(options.seed)
        model = nn.MLP(2, [16, 16, 1])
        print(model)
        print(f"{len(model.parameters())} parameters, {len(X)} points")
        losses = train(model, X, y, options.steps, compiled=options.compiled)
        final, scores = loss_and_scores(model, X, y)
        accuracy = accuracy_of(scores, y)
        print(f"\nthe loss went from {losses[0]:.4f} to {final.data:.4f}; {accuracy:.1%} of the points are right")
        if options.compiled:
            measure(model, X, y)
        print(f"the picture is in {plot.save(plot.decision_boundary(model, X, y), out)}")
    except MissingExtraError as error:
        print(f"no picture: {error}")
        return 1 if options.out else 0
    except GradwalkError as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
