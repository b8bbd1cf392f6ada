"""Teach a network of single numbers to read handwritten digits, in seconds.

The images are scikit-learn's bundled digits: 1,797 of them, 8 × 8 pixels each. The network has 64 inputs, one hidden
layer and ten scores, one for each digit; every weight is a Value, and the loss of one image is a graph of some 10,000
nodes. Eagerly, one pass over the training images would take minutes. Compiled with `batch="mean"`, the same function of
one image runs over many images side by side.

    python examples/digits.py                         30 passes, above 95% of unseen images right
    python examples/digits.py --hidden 64 --passes 60
    python examples/digits.py --dtype float32 --threads 2

It needs two more packages: pip install "gradwalk[fast]" scikit-learn
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Sequence
from typing import Any

import gradwalk
from gradwalk import GradwalkError, nn, optim

BATCH = 64


def load(seed: int) -> tuple[Any, Any, Any, Any]:
    """Images and labels to learn from, and others to be tested on: every image is in one of the two."""
    try:
        import numpy as np
        from sklearn.datasets import load_digits
    except ImportError:
        raise SystemExit('digits.py needs scikit-learn and NumPy: pip install "gradwalk[fast]" scikit-learn') from None
    digits = load_digits()
    images, labels = digits.data / 16.0, digits.target
    order = np.random.default_rng(seed).permutation(len(images))
    unseen, seen = order[:400], order[400:]
    return images[seen], labels[seen], images[unseen], labels[unseen]


def train(
    model: nn.MLP, images: Any, labels: Any, passes: int, lr: float, *, dtype: str = "float64", threads: int = 1
) -> list[float]:
    """Go over the images `passes` times in batches, with a line of progress; gives the mean loss of each pass."""
    import numpy as np

    def loss_of_one(image: Any, label: Any) -> Any:  # plain scalar code
        return nn.cross_entropy(model(list(image)), label)

    loss_of = gradwalk.compile(loss_of_one, batch="mean", dtype=dtype, threads=threads)
    optimiser = optim.Adam(model.parameters(), lr)
    batches = len(images) // BATCH
    schedule = optim.CosineSchedule(optimiser, passes * batches)
    draw = np.random.default_rng(1)
    history = []
    for number in range(1, passes + 1):
        order = draw.permutation(len(images))
        total = 0.0
        for k in range(batches):
            chosen = order[k * BATCH : (k + 1) * BATCH]
            loss = loss_of(images[chosen], labels[chosen])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            total += loss.data
        history.append(total / batches)
        show(number, passes, history[-1])
    return history


def show(number: int, passes: int, loss: float) -> None:
    """A bar that is rewritten in place on a terminal, and a line now and then in a file."""
    if sys.stdout.isatty():
        done = round(30 * number / passes)
        end = "\n" if number == passes else ""
        print(f"\r{'█' * done}{'·' * (30 - done)}  pass {number}/{passes}  loss {loss:.4f}", end=end, flush=True)
    elif number % max(1, passes // 6) == 0 or number in (1, passes):
        print(f"pass {number}/{passes}  loss {loss:.4f}")


def accuracy(model: nn.MLP, images: Any, labels: Any) -> float:
    """The share of images whose highest score is that of the right digit."""
    import numpy as np

    scores = gradwalk.compile(lambda image: model(list(image)), batch="each")
    with gradwalk.no_grad():
        found = np.array(scores(images))
    return float((found.argmax(axis=0) == labels).mean())


def eager_seconds(model: nn.MLP, images: Any, labels: Any) -> float:
    """How long forward and backward take for one image without compile."""
    began = time.perf_counter()
    nn.cross_entropy(model(list(images[0])), labels[0]).backward()
    return time.perf_counter() - began


def main(argv: Sequence[str] | None = None) -> int:
    """Train, test, and say how long it took."""
    parser = argparse.ArgumentParser(
        prog="digits.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passes", type=int, default=30, metavar="N", help="times over the images (default 30)")
    parser.add_argument("--hidden", type=int, default=32, metavar="N", help="neurons in the hidden layer (default 32)")
    parser.add_argument("--lr", type=float, default=0.01, metavar="X", help="how far a step goes (default 0.01)")
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="which images are unseen, and the first weights"
    )
    parser.add_argument("--dtype", choices=("float64", "float32"), default="float64", help="numbers of which precision")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads to compute with (default 1)")
    options = parser.parse_args(argv)
    if options.passes < 1 or options.hidden < 1:
        parser.error("--passes and --hidden must be at least 1")
    try:
        images, labels, unseen, unseen_labels = load(options.seed)
        random.seed(options.seed)
        model = nn.MLP(64, [options.hidden, 10], init="kaiming")
        print(
            f"{len(images)} images to learn from, {len(unseen)} to be tested on; {len(model.parameters()):,} parameters"
        )
        began = time.perf_counter()
        train(model, images, labels, options.passes, options.lr, dtype=options.dtype, threads=options.threads)
        took = time.perf_counter() - began
        print(f"{accuracy(model, unseen, unseen_labels):.1%} of the unseen images are right")
        steps = options.passes * (len(images) // BATCH)
        eagerly = eager_seconds(model, images, labels) * steps * BATCH
        print(f"{steps:,} steps of {BATCH} images in {took:.1f} s, compiling included", end="; ")
        print(f"eagerly it would have been about {eagerly / 60:.0f} minutes, {eagerly / took:,.0f} times as long")
    except GradwalkError as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
