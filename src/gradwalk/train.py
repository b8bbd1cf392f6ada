"""A training loop to watch: it yields every step, can be broken off at any time, and keeps the best model it has seen.

A step is four lines: scores, loss, backward, update. All else here is bookkeeping around them.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gradwalk import modes, nn
from gradwalk.errors import AnomalyError, InputSizeError, NotANumberError, SettingError
from gradwalk.ieee import whole

__all__ = ["Best", "Step", "Training"]

Loss = Callable[[Sequence[Any], Sequence[Any]], Any]


@dataclass(frozen=True)
class Step:
    """What one step saw before it changed the model: its number from 1, the loss, and the share of right answers.

    With mini-batches, loss and accuracy are those of the step's own points.

    >>> Step(step=3, loss=0.25, accuracy=0.9).accuracy
    0.9
    """

    step: int
    loss: float
    accuracy: float


@dataclass(frozen=True)
class Best:
    """The model with the lowest loss over all points so far: after how many updates, how good, and its parameters.

    >>> Best(updates=2, loss=0.25, accuracy=0.9, state={}).updates
    2
    """

    updates: int
    loss: float
    accuracy: float
    state: dict[str, Any]


class Training:
    """A model, its optimiser and the points to learn, with labels −1 and +1.

    Iterate over `run(steps)`. Whatever ends it (the last step, `break`, an error, Ctrl-C), `best` holds the best
    model so far and `restore_best()` puts it back into the model.

    >>> random.seed(1337)
    >>> model = nn.MLP(2, [8, 1])
    >>> X, y = datasets.xor(n=20)
    >>> training = Training(model, optim.Adam(model.parameters(), lr=0.1), X, y)
    >>> for step in training.run(3):
    ...     print(step.step, f"{step.loss:.3f} {step.accuracy:.0%}")
    1 0.866 60%
    2 0.653 55%
    3 0.428 95%
    >>> training.best.updates
    3
    """

    def __init__(
        self, model: Any, optimizer: Any, X: Sequence[Sequence[float]], y: Sequence[int], *,
        loss: Loss = nn.hinge, schedule: Any = None, batch: int | None = None, seed: int = 1337,
    ) -> None:  # fmt: skip
        self.model, self.optimizer, self.loss, self.schedule = model, optimizer, loss, schedule
        self.X, self.y = list(X), list(y)
        if not self.X or len(self.X) != len(self.y):
            raise InputSizeError(f"each point needs its label: there are {len(self.X)} points and {len(self.y)} labels")
        strange = [repr(label) for label in self.y if label not in (-1, 1)]
        if strange:
            raise SettingError(
                f"labels are −1 or +1, not {strange[0]}; for 0 and 1 write [2 * label - 1 for label in y]"
            )
        self.batch = None if batch is None else whole("batch, the points of a step,", batch, 1, len(self.X))
        self.best: Best | None = None
        self.losses: list[float] = []
        self._rng = random.Random(whole("seed", seed))
        self._ahead: list[int] = []  # points of this pass over the data that no mini-batch has had yet

    def run(self, steps: int) -> Iterator[Step]:
        """Do so many steps, or fewer if the loss gets to 0, and yield each. A second call goes on from there.

        >>> model = nn.MLP(2, [4, 1])
        >>> training = Training(model, optim.SGD(model.parameters(), 0.1), *datasets.moons(n=10))
        >>> [step.step for step in training.run(2)], [step.step for step in training.run(2)]
        ([1, 2], [3, 4])
        """
        for _ in range(whole("steps", steps, 1)):
            if self.done:
                return
            yield self._step()
        self._consider(*self.measure())  # the model after the last update has not been looked at yet

    @property
    def done(self) -> bool:
        """Whether the loss over all points has been 0: then no gradient is left, and nothing to learn.

        >>> model = nn.MLP(2, [1])
        >>> Training(model, optim.SGD(model.parameters(), 0.1), *datasets.moons(n=10)).done
        False
        """
        return self.best is not None and self.best.loss == 0.0

    def measure(self) -> tuple[float, float]:
        """Loss and accuracy of the model as it is now, over all points.

        >>> model = nn.MLP(1, [1])
        >>> model.parameters()[0].data = 0.5
        >>> Training(model, optim.SGD(model.parameters(), 0.1), [[2.0], [-4.0]], [1, 1]).measure()
        (1.5, 0.5)
        """
        with modes.no_grad():
            scores = [self.model(x) for x in self.X]
            loss: float = _one_value(self.loss(scores, self.y)).data
            return loss, _accuracy(scores, self.y)

    def restore_best(self) -> None:
        """Give the model the parameters of `best`.

        >>> model = nn.MLP(2, [1])
        >>> before = model.state_dict()
        >>> training = Training(model, optim.SGD(model.parameters(), 1000.0), *datasets.circles(n=10))
        >>> for step in training.run(1): pass
        >>> training.restore_best()
        >>> model.state_dict() == before  # a step of that size only made it worse
        True
        """
        if self.best is None:
            raise SettingError("there is no best model yet: run at least one step first")
        self.model.load_state_dict(self.best.state)

    def _step(self) -> Step:
        X, y = self._points()
        scores = [self.model(x) for x in X]
        loss = _one_value(self.loss(scores, y))
        accuracy = _accuracy(scores, y)
        if not math.isfinite(loss.data):
            raise AnomalyError(self._diverged(loss.data))
        if self.batch is None:
            self._consider(loss.data, accuracy)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        if self.schedule is not None:
            self.schedule.step()
        self.losses.append(loss.data)
        if self.batch is not None and not self._ahead:  # once a pass: looking at all points costs a few steps
            self._consider(*self.measure())
        return Step(len(self.losses), loss.data, accuracy)

    def _points(self) -> tuple[list[Any], list[Any]]:
        if self.batch is None:
            return self.X, self.y
        if not self._ahead:
            self._ahead = self._rng.sample(range(len(self.X)), len(self.X))
        chosen, self._ahead = self._ahead[: self.batch], self._ahead[self.batch :]
        return [self.X[i] for i in chosen], [self.y[i] for i in chosen]

    def _consider(self, loss: float, accuracy: float) -> None:
        if math.isfinite(loss) and (self.best is None or loss < self.best.loss):
            self.best = Best(len(self.losses), loss, accuracy, self.model.state_dict())

    def _diverged(self, loss: float) -> str:
        if not self.losses:  # no step was taken, so the learning rate is not to blame
            return (
                f"the loss is {loss:g} at step 1, before any step was taken: look at the points and the parameters, or "
                "see where it broke with gradwalk.anomaly()"
            )
        where = (
            f"the loss turned {loss:g} at step {len(self.losses) + 1}, with a learning rate of {self.optimizer.lr:g}"
        )
        kept = f"the best model so far (loss {self.best.loss:.4g}) is kept; " if self.best else ""
        return f"{where}; {kept}try a tenth of that learning rate, or see where it broke with gradwalk.anomaly()"


def _accuracy(scores: Sequence[Any], y: Sequence[int]) -> float:
    right: list[bool] = [label * score.data > 0.0 for score, label in zip(scores, y, strict=True)]
    return sum(right) / len(right)


def _one_value(loss: Any) -> Any:
    if not hasattr(loss, "backward"):
        raise NotANumberError(
            f"the loss function must give one Value, to walk back from, and it gave {type(loss).__name__}: {loss!r:.60}"
        )
    return loss
