"""Learning-rate schedules: how far a step goes as training goes on. The rates are PyTorch's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from gradwalk.errors import SettingError
from gradwalk.optim.optimizers import Optimizer
from gradwalk.optim.settings import State, at_least_zero, check_fit, whole

__all__ = ["CosineSchedule", "LinearSchedule", "Schedule"]


class Schedule:
    """What schedules share: from `optimizer.lr` as it is now, each `step()` sets the learning rate of the next one.

    To write one of your own, give it a `rate()`; name the keywords of its constructor in `settings`.

    >>> class Halving(optim.Schedule):
    ...     def rate(self, taken):
    ...         return self.base / 2**taken
    >>> descent = optim.SGD([Value(1.0)], lr=0.8)
    >>> schedule = Halving(descent, steps=3)
    >>> schedule.step()
    >>> descent.lr
    0.4
    """

    settings: tuple[str, ...] = ("steps",)

    def __init__(self, optimizer: Optimizer, steps: int) -> None:
        if not isinstance(optimizer, Optimizer):
            kind = type(optimizer).__name__
            raise SettingError(f"a schedule takes an optimiser (SGD, Adam, …), not {kind}: {optimizer!r:.60}")
        self.optimizer = optimizer
        self.base = optimizer.lr
        self.steps = whole("steps", steps, 1)
        self.taken = 0

    def rate(self, taken: int) -> float:
        """The learning rate after so many steps.

        >>> optim.LinearSchedule(optim.SGD([Value(1.0)], lr=0.8), steps=4).rate(1)
        0.6000000000000001
        """
        raise NotImplementedError(f"{type(self).__name__} has no rate(); write one, or use LinearSchedule")

    def step(self) -> None:
        """Set the learning rate for the next step of the optimiser.

        >>> descent = optim.SGD([Value(1.0)], lr=0.8)
        >>> schedule = optim.CosineSchedule(descent, steps=2)
        >>> schedule.step()
        >>> descent.lr
        0.4
        """
        self.optimizer.lr = self.rate(self.taken + 1)
        self.taken += 1

    def state_dict(self) -> State:
        """All that is needed to go on later; plain numbers, fit for JSON.

        >>> optim.LinearSchedule(optim.SGD([Value(1.0)], lr=0.8), steps=4).state_dict()
        {'kind': 'LinearSchedule', 'steps': 4, 'start': 1.0, 'end': 0.0, 'base': 0.8, 'taken': 0}
        """
        return {
            "kind": type(self).__name__,
            **{name: getattr(self, name) for name in (*self.settings, "base", "taken")},
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state that `state_dict` gave, learning rate included; one that does not fit changes nothing.

        >>> first, second = (optim.LinearSchedule(optim.SGD([Value(1.0)], lr=0.8), steps=4) for _ in range(2))
        >>> first.step()
        >>> second.load_state_dict(first.state_dict())
        >>> second.optimizer.lr
        0.6000000000000001
        """
        check_fit(state, self.state_dict())
        base, taken = at_least_zero("base", state["base"]), whole("taken", state["taken"], 0)
        rate_before = self.optimizer.lr
        self.optimizer.lr = base
        try:
            fresh = type(self)(self.optimizer, **{name: state[name] for name in self.settings})
            self.optimizer.lr = fresh.rate(taken)
        except BaseException:
            self.optimizer.lr = rate_before
            raise
        vars(self).update(vars(fresh), taken=taken)


class LinearSchedule(Schedule):
    """From `start` times the learning rate to `end` times it, in equal steps, and there it stays.

    With `start=0.0, end=1.0` it warms up.

    >>> descent = optim.SGD([Value(1.0)], lr=0.5)
    >>> schedule = optim.LinearSchedule(descent, steps=2)
    >>> for _ in range(3):
    ...     print(descent.lr)
    ...     schedule.step()
    0.5
    0.25
    0.0
    """

    settings = ("steps", "start", "end")

    def __init__(self, optimizer: Optimizer, steps: int, *, start: float = 1.0, end: float = 0.0) -> None:
        super().__init__(optimizer, steps)
        self.start = at_least_zero("start", start)
        self.end = at_least_zero("end", end)
        optimizer.lr = self.rate(0)

    def rate(self, taken: int) -> float:
        """The learning rate after so many steps.

        >>> optim.LinearSchedule(optim.SGD([Value(1.0)], lr=0.8), steps=4, end=0.5).rate(4)
        0.4
        """
        return self.base * (self.start + (self.end - self.start) * min(taken, self.steps) / self.steps)


class CosineSchedule(Schedule):
    """Half a cosine wave, from the learning rate down to `lowest` in `steps` steps; further steps climb back up it.

    >>> descent = optim.SGD([Value(1.0)], lr=0.5)
    >>> schedule = optim.CosineSchedule(descent, steps=2, lowest=0.1)
    >>> for _ in range(3):
    ...     print(round(descent.lr, 6))
    ...     schedule.step()
    0.5
    0.3
    0.1
    """

    settings = ("steps", "lowest")

    def __init__(self, optimizer: Optimizer, steps: int, *, lowest: float = 0.0) -> None:
        super().__init__(optimizer, steps)
        self.lowest = at_least_zero("lowest", lowest)
        if self.lowest > self.base:
            raise SettingError(f"lowest is {self.lowest:g}, above the learning rate it starts from, {self.base:g}")

    def rate(self, taken: int) -> float:
        """The learning rate after so many steps.

        >>> optim.CosineSchedule(optim.SGD([Value(1.0)], lr=0.8), steps=4).rate(2)
        0.4
        """
        return self.lowest + (self.base - self.lowest) * (1.0 + math.cos(math.pi * taken / self.steps)) / 2.0
