"""What a training run is made of, and what it is unless the command line says otherwise."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

__all__ = ["LEARNING_RATES", "PRESETS", "Settings", "as_text", "command"]

#: The optimisers, each with a learning rate at which it does well on these data sets.
LEARNING_RATES = {"sgd": 1.0, "momentum": 0.2, "adam": 0.05, "adamw": 0.05}


@dataclass(frozen=True)
class Settings:
    """All that decides a run.

    >>> Settings(hidden=(8,)).shape
    'MLP(2, [8, 1])'
    """

    hidden: tuple[int, ...] = (16, 16)
    activation: str = "relu"
    steps: int = 100
    optimizer: str = "adam"
    lr: float | None = None  # None: the optimiser's own
    batch: int | None = None  # None: all points at each step
    samples: int = 100
    noise: float = 0.1
    seed: int = 1337

    @property
    def shape(self) -> str:
        """The network as it is written in Python.

        >>> Settings().shape
        'MLP(2, [16, 16, 1])'
        """
        return f"MLP(2, {[*self.hidden, 1]})"


#: What a run of each data set is, unless the command line says otherwise.
PRESETS = {
    "moons": Settings(),
    "circles": Settings(),
    "xor": Settings(noise=0.25),
    "spiral": Settings(steps=1000, samples=200, batch=32),
}


def as_text(value: Any) -> str:
    """A setting as it is written on the command line.

    >>> as_text((16, 16)), as_text(0.05)
    ('16,16', '0.05')
    """
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def command(dataset: str, settings: Settings) -> str:
    """The command that does this run, with no more options than it needs.

    >>> from dataclasses import replace
    >>> command("moons", replace(PRESETS["moons"], hidden=(8,), steps=200))
    'gradwalk train moons --hidden 8 --steps 200'
    """
    usual, words = PRESETS[dataset], ["gradwalk", "train", dataset]
    for field in fields(Settings):
        value, default = getattr(settings, field.name), getattr(usual, field.name)
        if field.name == "lr" and default is None:
            default = LEARNING_RATES[settings.optimizer]
        if value not in (None, default):
            words += [f"--{field.name}", as_text(value)]
    return " ".join(words)
