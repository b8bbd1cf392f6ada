"""Teach a network to read handwritten digits, in tensors: 64 images in one array, a whole layer in one node.

The images and the sizes are those of `digits.py`, where every weight is a Value and the loss of one image has some
10,000 nodes. Here the weights of a layer are one tensor, and the loss of 64 images at once has some twenty nodes, so
that it is quick without being compiled.

    python examples/digits_tensor.py                         30 passes, above 95% of unseen images right
    python examples/digits_tensor.py --hidden 64 --passes 60
    python examples/digits_tensor.py --dtype float32

It needs two more packages: pip install "gradwalk[tensor]" scikit-learn
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

from digits import BATCH, load, show  # the example beside this one

import gradwalk
from gradwalk import GradwalkError, Tensor, nn, optim, walk


class Reader(nn.Module):
    """Pixels in, a score for each digit out."""

    def __init__(self, hidden: int, dtype: str = "float64") -> None:
        self.hidden = nn.Linear(64, hidden, dtype=dtype)
        self.scores = nn.Linear(hidden, 10, dtype=dtype)

    def __call__(self, images: Any) -> Any:
        """Scores (images, 10) of images (images, 64)."""
        return self.scores(self.hidden(images).relu())


def train(model: Reader, images: Tensor, labels: Tensor, passes: int, lr: float) -> list[float]:
    """Go over the images `passes` times in batches, with a line of progress; gives the mean loss of each pass."""
    optimiser = optim.Adam(model.parameters(), lr)
    batches = len(images) // BATCH
    schedule = optim.CosineSchedule(optimiser, passes * batches)
    history = []
    for number in range(1, passes + 1):
        order = gradwalk.randperm(len(images))
        total = 0.0
        for k in range(batches):
            chosen = order[k * BATCH : (k + 1) * BATCH]
            loss = gradwalk.cross_entropy(model(images[chosen]), labels[chosen])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            total += loss.item()
        history.append(total / batches)
        show(number, passes, history[-1])
    return history


def accuracy(model: Reader, images: Tensor, labels: Tensor) -> float:
    """The share of images whose highest score is that of the right digit."""
    with gradwalk.no_grad():
        found = model(images).argmax(dim=1)
    return float((found == labels).double().mean().item())


def main(argv: Sequence[str] | None = None) -> int:
    """Train, test, and say how long it took."""
    parser = argparse.ArgumentParser(
        prog="digits_tensor.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passes", type=int, default=30, metavar="N", help="times over the images (default 30)")
    parser.add_argument("--hidden", type=int, default=32, metavar="N", help="units in the hidden layer (default 32)")
    parser.add_argument("--lr", type=float, default=0.01, metavar="X", help="how far a step goes (default 0.01)")
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="which images are unseen, and the first weights"
    )
    parser.add_argument("--dtype", choices=("float64", "float32"), default="float64", help="numbers of which precision")
    options = parser.parse_args(argv)
    if options.passes < 1 or options.hidden < 1:
        parser.error("--passes and --hidden must be at least 1")
    try:
        given = load(options.seed)
        images, unseen = (Tensor(x, dtype=options.dtype, requires_grad=False) for x in (given[0], given[2]))
        labels, unseen_labels = Tensor(given[1]), Tensor(given[3])
        gradwalk.manual_seed(options.seed)
        model = Reader(options.hidden, options.dtype)
        parameters: list[Any] = model.parameters()
        count = sum(p.numel() for p in parameters)
        print(f"{len(images)} images to learn from, {len(unseen)} to be tested on; {count:,} parameters")
        loss = gradwalk.cross_entropy(model(images[:BATCH]), labels[:BATCH])
        print(f"the loss of {BATCH} images is a graph of {len(list(walk.topological(loss)))} nodes")
        began = time.perf_counter()
        train(model, images, labels, options.passes, options.lr)
        took = time.perf_counter() - began
        print(f"{accuracy(model, unseen, unseen_labels):.1%} of the unseen images are right")
        print(f"{options.passes * (len(images) // BATCH):,} steps of {BATCH} images in {took:.1f} s, without compile")
    except GradwalkError as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
