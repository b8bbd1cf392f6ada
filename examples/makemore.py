"""A model that makes up names, letter by letter: an embedding, a hidden layer with batch norm, softmax, cross-entropy.

    python examples/makemore.py
    python examples/makemore.py --steps 5000 --samples 20

It reads `names.txt`, trains on most of it, and says how well it does on the rest. All numbers are in tensors.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import gradwalk
from gradwalk import nn, optim

CONTEXT = 3  # letters that the next one is guessed from
END = "."


def read_names(path: Path) -> list[str]:
    """The names of a file, one to a line."""
    return [line.strip().lower() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def examples(names: list[str], places: dict[str, int]) -> tuple[Any, Any]:
    """Contexts and the letters that follow them."""
    contexts, letters = [], []
    for name in names:
        context = [0] * CONTEXT
        for letter in name + END:
            contexts.append(context)
            letters.append(places[letter])
            context = [*context[1:], places[letter]]
    return gradwalk.Tensor(contexts), gradwalk.Tensor(letters)


class Model(nn.Module):
    """Embedding, linear, batch norm, tanh, linear."""

    def __init__(self, letters: int, width: int = 10, hidden: int = 64) -> None:
        self.embedding = nn.Embedding(letters, width)
        self.hidden = nn.Linear(CONTEXT * width, hidden, bias=False)
        self.norm = nn.BatchNorm1d(hidden)
        self.out = nn.Linear(hidden, letters)

    def __call__(self, contexts: Any) -> Any:
        """Logits of the next letter, for rows of letters before it."""
        e = self.embedding(contexts)
        h = self.norm(self.hidden(e.view(e.shape[0], -1))).tanh()
        return self.out(h)


def sample(model: Model, letters: str) -> str:
    """A name, made up letter by letter."""
    context, name = [0] * CONTEXT, ""
    while len(name) < 20:
        shares = gradwalk.softmax(model(gradwalk.Tensor([context])), dim=1)
        place = gradwalk.multinomial(shares, 1).item()
        if place == 0:
            break
        name += letters[place]
        context = [*context[1:], place]
    return name


def loss_on(model: Model, contexts: Any, letters: Any) -> float:
    """The mean loss after training, without a graph."""
    model.eval()
    with gradwalk.no_grad():
        loss = gradwalk.cross_entropy(model(contexts), letters).item()
    model.train()
    return float(loss)


def main(argv: list[str] | None = None) -> None:
    """Train, and make up names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1000, metavar="N", help="training steps (default 1000)")
    parser.add_argument("--batch", type=int, default=32, metavar="N", help="places in names at each step (default 32)")
    parser.add_argument("--samples", type=int, default=10, metavar="N", help="names to make up at the end (default 10)")
    parser.add_argument("--names", type=Path, metavar="FILE", default=Path(__file__).with_name("names.txt"),
                        help="UTF-8 text, one name a line (default: names.txt here)")  # fmt: skip
    options = parser.parse_args(argv)
    for name in ("steps", "batch", "samples"):
        if getattr(options, name) < (2 if name == "batch" else 1):
            parser.error(f"--{name} must be at least {2 if name == 'batch' else 1}, not {getattr(options, name)}")
    try:
        names = read_names(options.names)
    except OSError as error:
        parser.error(f"cannot read {options.names}: {error.strerror}")
    if len(names) < 2:
        parser.error(f"{options.names} holds {len(names)} name(s), and there must be two at least")

    letters = END + "".join(sorted({letter for name in names for letter in name}))
    places = {letter: i for i, letter in enumerate(letters)}
    generator = gradwalk.manual_seed(42)
    order = gradwalk.randperm(len(names), generator=generator).tolist()
    cut = max(1, len(names) * 9 // 10)
    X, Y = examples([names[i] for i in order[:cut]], places)
    X_held, Y_held = examples([names[i] for i in order[cut:]] or names, places)

    model = Model(len(letters))
    descent = optim.Adam(model.parameters(), lr=0.01)
    parameters: list[Any] = model.parameters()
    print(f"{len(names)} names, {X.shape[0]} letters to guess, {sum(p.numel() for p in parameters)} parameters")
    for step in range(options.steps):
        batch = gradwalk.randint(0, X.shape[0], (options.batch,))
        loss = gradwalk.cross_entropy(model(X[batch]), Y[batch])
        descent.zero_grad()
        loss.backward()
        descent.step()
        if step % max(1, options.steps // 5) == 0:
            print(f"step {step:5d}: loss {loss.item():.4f}")
    print(f"loss on the rest: {loss_on(model, X_held, Y_held):.4f}")
    model.eval()
    with gradwalk.no_grad():
        print("made up:", ", ".join(sample(model, letters) for _ in range(options.samples)))


if __name__ == "__main__":
    main()
