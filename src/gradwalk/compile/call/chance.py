"""Generators of random numbers: where they stand, whether that has changed, and back to it."""

from __future__ import annotations

import pickle
import random
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

__all__ = ["Chance"]


class Chance:
    """The generators that everyone shares, and some others, as they stand now.

    >>> chance = Chance([])
    >>> number = random.random()
    >>> chance.moved()
    True
    >>> chance.restore()
    >>> chance.moved(), random.random() == number
    (False, True)
    """

    def __init__(self, generators: Sequence[Any]) -> None:
        self.unseen = False  # whether a generator has no state that can be looked at
        self._parts: list[tuple[Callable[[], Any], Callable[[Any], Any]]] = [
            (random.getstate, random.setstate),
            (np.random.get_state, np.random.set_state),
        ]
        usual = getattr(sys.modules.get("gradwalk.tensor.random"), "usual", None)  # once there are tensors
        if usual is not None:
            self._parts.append((lambda: usual.source.getstate(), lambda state: usual.source.setstate(state)))
        for generator in generators:
            if isinstance(generator, random.SystemRandom):
                self.unseen = True
            elif isinstance(generator, random.Random):
                self._parts.append((generator.getstate, generator.setstate))
            elif isinstance(generator, np.random.RandomState):
                self._parts.append((generator.get_state, generator.set_state))
            else:
                bits = getattr(generator, "bit_generator", generator)
                self._parts.append((partial(getattr, bits, "state"), partial(setattr, bits, "state")))
        self._states = self._now()

    def moved(self) -> bool:
        """Whether random numbers have been drawn since."""
        return self._now() != self._states

    def restore(self) -> None:
        """Let every generator stand where it stood."""
        for (_, put), state in zip(self._parts, self._states, strict=True):
            put(pickle.loads(state))

    def _now(self) -> list[bytes]:
        return [pickle.dumps(get()) for get, _ in self._parts]
