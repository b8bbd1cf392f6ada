"""The GPT of `gpt.py` in tensors: the same parameters, the same losses, all letters of a name at once.

There a matrix is a list of rows of Values, and a name of seven letters makes about 65,000 nodes. Here a matrix is one
tensor, and the same name makes about a hundred. Two things are said in another way:

1. `gpt.py` goes letter by letter, so that the future is not there yet. Here all letters are there at once, and a mask
   takes the future out: its scores become -inf before the softmax, and its shares 0.
2. Heads are a dim: (letters, width) becomes (heads, letters, size), and one product serves them all.

    python examples/gpt_tensor.py                   200 steps, a second or so
    python examples/gpt_tensor.py --steps 5000      better names
    python examples/gpt_tensor.py --data towns.txt  your own list, one entry a line
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Iterator, Sequence
from typing import Any

from gpt import (  # the example beside this one
    Config,
    Parameters,
    Vocabulary,
    drawn,
    make_documents,
    make_parameters,
    make_parser,
    read_names,
    show_training,
)

import gradwalk
from gradwalk import Tensor, no_grad, optim
from gradwalk.errors import SettingError

Weights = dict[str, Tensor]


def in_tensors(parameters: Parameters) -> Weights:
    """The matrices of the scalar model, by name, each as one tensor."""
    return {
        name: Tensor([[x.data for x in row] for row in matrix], label=name)
        for name, matrix in parameters.matrices().items()
    }


# --- the model: from letters to scores for the next ones -------------------------------------------------------------


def normalised(x: Tensor) -> Any:
    """RMSNorm: each row scaled so that the mean of its squares is 1."""
    return x * ((x * x).mean(dim=-1, keepdim=True) + 1e-5) ** -0.5


def attention(query: Tensor, key: Tensor, value: Tensor, heads: int) -> Any:
    """For each letter a mixture of what the letters up to it say: the better a key fits, the more of its value."""
    letters, width = query.shape
    size = width // heads

    def apart(x: Tensor) -> Any:  # (heads, letters, size)
        return x.reshape(letters, heads, size).transpose(0, 1)

    fits = apart(query) @ apart(key).transpose(1, 2) * size**-0.5
    past = gradwalk.ones(letters, letters).tril() > 0
    shares = gradwalk.where(past, fits, -math.inf).softmax(dim=-1)
    return (shares @ apart(value)).transpose(0, 1).reshape(letters, width)


def forward(weights: Weights, tokens: Sequence[int], heads: int) -> Any:
    """A row of scores for each letter: one score for every token that may follow it."""
    x = normalised(weights["token"][list(tokens)] + weights["position"][: len(tokens)])

    looking = normalised(x)
    asked, found, told = (looking @ weights[name].T for name in ("query", "key", "value"))
    x = x + attention(asked, found, told, heads) @ weights["mix"].T

    hidden = (normalised(x) @ weights["widen"].T).relu()
    x = x + hidden @ weights["narrow"].T

    return normalised(x) @ weights["head"].T


def loss(weights: Weights, tokens: Sequence[int], heads: int) -> Any:
    """How surprised the model is by each next token, on average."""
    return gradwalk.cross_entropy(forward(weights, tokens[:-1], heads), list(tokens[1:]))


# --- training and sampling -------------------------------------------------------------------------------------------


def train(weights: Weights, documents: Sequence[Sequence[int]], steps: int, lr: float, heads: int) -> Iterator[float]:
    """Take `steps` steps, one document each, and give the loss of each; the rate falls from `lr` towards 0."""
    parameters: list[Any] = list(weights.values())
    optimiser = optim.Adam(parameters, lr, betas=(0.9, 0.95))
    schedule = optim.LinearSchedule(optimiser, steps)
    for step in range(steps):
        surprise = loss(weights, documents[step % len(documents)], heads)
        if not math.isfinite(surprise.item()):
            raise SettingError(
                f"the loss became {surprise.item():g} at step {step + 1}: use an --lr smaller than {lr:g}"
            )
        optimiser.zero_grad()
        surprise.backward()
        optimiser.step()
        schedule.step()
        yield surprise.item()


def sample(weights: Weights, boundary: int, temperature: float, heads: int, draw: random.Random) -> list[int]:
    """A new name as tokens: keep drawing the next token until the boundary comes again."""
    tokens = [boundary]
    with no_grad():
        while len(tokens) <= len(weights["position"]):
            chances = (forward(weights, tokens, heads)[-1] / temperature).softmax(dim=-1).tolist()
            tokens.append(drawn(chances, draw))
            if tokens[-1] == boundary:
                break
    return tokens


def main(argv: Sequence[str] | None = None) -> int:
    """Train on names, then print new ones."""
    parser = make_parser("gpt_tensor.py", __doc__)
    options = parser.parse_args(argv)
    try:
        names = read_names(options.data)
        run(names, Vocabulary.of(names), options)
    except SettingError as error:
        parser.error(str(error))
    except KeyboardInterrupt:  # during training it only ends the training
        return 130
    return 0


def run(names: list[str], vocabulary: Vocabulary, options: argparse.Namespace) -> None:
    """All of it, with settings that were read."""
    config = Config(len(vocabulary), options.width, options.heads, options.block)
    documents = make_documents(names, vocabulary, config, options.seed)
    weights = in_tensors(make_parameters(config, options.seed))
    print(f"{len(names):,} names; {sum(w.numel() for w in weights.values()):,} parameters in {len(weights)} tensors")
    show_training(train(weights, documents, options.steps, options.lr, config.heads), options.steps)
    draw = random.Random(options.seed)
    print(f"{options.samples} names at temperature {options.temperature:g} (* is in the data):")
    for _ in range(options.samples):
        name = vocabulary.decode(sample(weights, vocabulary.boundary, options.temperature, config.heads, draw))
        print(f"  {name or '(an empty name)'}{' *' if name in set(names) else ''}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
