"""Ctrl-C at any moment: nothing that compiled code does is left half done, and what comes after is as it should be."""

from __future__ import annotations

import builtins
import gc
import io
import random
import time
from typing import Any

import numpy as np
import pytest
from interrupting import interrupts, needs_timer, seconds_of

import gradwalk
from gradwalk import Tensor, Value, optim

pytestmark = needs_timer


@pytest.mark.parametrize("kind", ["values", "tensors"])
def test_parameters_that_change_hands_stay_whole(kind: str) -> None:
    """In a training whose parameters are taken over and handed back at every turn."""
    leaves: list[Any] = [Value(1.0) for _ in range(300)] if kind == "values" else [Tensor([1.0]) for _ in range(60)]

    @gradwalk.compile
    def loss() -> Any:
        total = leaves[0] * leaves[0]
        for w in leaves[1:]:
            total = total + w * w
        return total.sum() if kind == "tensors" else total

    def clear() -> None:
        for w in leaves:
            w.grad = 0.0 if kind == "values" else [0.0]

    def turn() -> None:
        loss().backward()
        clear()

    took = seconds_of(turn)
    draw, count = random.Random(3), 0
    with interrupts() as broken_off:
        for _ in range(100):
            count += broken_off(turn, draw.uniform(0.02, 1.1) * took) is not None
            assert {float(w.data) if kind == "values" else w.item() for w in leaves} == {1.0}
            assert {float(w.grad) if kind == "values" else w.grad.item() for w in leaves} <= {0.0, 2.0}
            clear()
    assert count
    loss().backward()
    assert {float(w.grad) if kind == "values" else w.grad.item() for w in leaves} == {2.0}


class Training:
    """Two functions that share parameters, one of them with two paths, and an optimiser with memory."""

    def __init__(self, *, compiled: bool = True) -> None:
        self.ws = [Value(0.1 * (i + 1)) for i in range(12)]
        self.vs = [Value(0.2 * (i + 1)) for i in range(6)]
        make: Any = gradwalk.compile if compiled else lambda function: function
        self.bend, self.line = make(self._bend), make(self._line)
        self.batches: Any = gradwalk.compile(self._bend, batch="mean") if compiled else self._mean

    def _bend(self, x: Any) -> Any:
        total = self.ws[0] * x
        for w in self.ws[1:]:
            total = (total * 0.5 + w * x).tanh()
        return total

    def _mean(self, xs: Any) -> Any:
        return sum([self._bend(x) for x in xs]) / len(xs)

    def _line(self, x: Any) -> Any:
        total = self.vs[0] * x + self.ws[3]
        for v in self.vs[1:]:
            total = total + v * np.asarray([1.0, 2.0])[1] * x
        return total * total * (2.0 if x > 0 else 1.0)

    def run(self) -> None:
        for p in self.parameters:
            p.grad = 0.0
        self.bend(0.5).backward()
        self.line(0.25).backward()
        self.line(-1.0).backward()
        self.batches(np.array([0.25, 0.5])).backward()
        self.bend(0.75).backward()

    def step(self) -> None:
        """A step whose memory starts at 0."""
        descent = optim.Adam(self.parameters, lr=0.5)
        descent.step()
        self.moments = descent.means

    @property
    def parameters(self) -> list[Value]:
        return [*self.ws, *self.vs]

    def numbers(self) -> tuple[list[Any], ...]:
        return [p.data for p in self.parameters], [p.grad for p in self.parameters]


def test_a_first_call_that_is_broken_off_leaves_nothing_behind() -> None:
    """While functions are traced, compiled and given their parameters; and NumPy and `open` are as they were."""
    Training().run()  # what can be kept on disk is there from now on
    expected = Training()
    began = time.perf_counter()
    expected.run()
    took = time.perf_counter() - began
    eager = Training(compiled=False)
    eager.run()
    assert expected.numbers()[1] == pytest.approx(eager.numbers()[1], rel=1e-12)
    own = np.array, np.asarray, builtins.open, io.open
    draw, count = random.Random(5), 0
    with interrupts() as broken_off:
        for _ in range(12):
            training = Training()
            for _ in range(3):
                count += broken_off(training.run, draw.uniform(0.0, 1.0) * took + 1e-5) is not None
            training.run()
            assert training.numbers() == expected.numbers()
            assert (np.array, np.asarray, builtins.open, io.open) == own
            assert "type" not in globals()
            gc.collect()
    assert count
    expected.step()
    training.step()
    assert training.numbers() == expected.numbers()
    assert training.moments == expected.moments
