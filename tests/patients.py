"""Training runs for the doctor to look at, small enough to take no time."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gradwalk import datasets, doctor, nn, optim
from gradwalk.doctor import Visit

Points = tuple[list[list[float]], list[int]]


@dataclass
class Patient:
    """A network, its points, and how it is trained; a fault is planted by changing one of these."""

    widths: tuple[int, ...] = (8, 8)
    activation: Any = "tanh"
    init: Any = "xavier"
    data: str = "moons"
    optimiser: Callable[[Any], optim.Optimizer] = lambda parameters: optim.SGD(parameters, 0.1)
    loss: Callable[[Any, Any], Any] = nn.mse
    steps: int = 12
    samples: int = 20
    batch: int | None = None
    seed: int = 1
    every: int = 10
    zero: bool = True
    model: nn.MLP = field(init=False)
    points: Points = field(init=False)

    def __post_init__(self) -> None:
        random.seed(self.seed)
        self.model = nn.MLP(2, [*self.widths, 1], activation=self.activation, init=self.init)
        self.points = datasets.BY_NAME[self.data](n=self.samples, seed=self.seed)

    def train(self, forward: Callable[[Any], Any] | None = None) -> Visit:
        """Train under observation; `forward` takes the place of the model's own."""
        optimiser = self.optimiser(self.model.parameters())
        draw = random.Random(self.seed)
        X, y = self.points
        with doctor.watch(self.model, optimiser, every=self.every) as visit:
            for _ in range(self.steps):
                chosen = range(len(X)) if self.batch is None else draw.sample(range(len(X)), self.batch)
                scores = [(forward or self.model)(X[i]) for i in chosen]
                loss = self.loss(scores, [y[i] for i in chosen])
                if self.zero:
                    optimiser.zero_grad()
                loss.backward()
                optimiser.step()
        return visit
