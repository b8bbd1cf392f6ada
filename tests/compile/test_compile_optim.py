"""Optimisers inside the buffer: the same objects, the same numbers, step by step."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwalk
from gradwalk import Value, optim

OPTIMISERS: dict[str, Callable[[list[Value]], optim.Optimizer]] = {
    "sgd": lambda ps: optim.SGD(ps, 0.1),
    "sgd with decay": lambda ps: optim.SGD(ps, 0.1, weight_decay=0.3),
    "momentum": lambda ps: optim.SGD(ps, 0.1, momentum=0.9),
    "momentum with decay": lambda ps: optim.SGD(ps, 0.1, momentum=0.9, weight_decay=0.3),
    "nesterov": lambda ps: optim.SGD(ps, 0.1, momentum=0.9, nesterov=True),
    "nesterov with decay": lambda ps: optim.SGD(ps, 0.1, momentum=0.9, nesterov=True, weight_decay=0.3),
    "adam": lambda ps: optim.Adam(ps, 0.1),
    "adam with decay": lambda ps: optim.Adam(ps, 0.1, weight_decay=0.3),
    "adam with small betas": lambda ps: optim.Adam(ps, 0.1, betas=(0.3, 0.6), eps=1e-3),
    "adam without eps": lambda ps: optim.Adam(ps, 0.1, eps=0.0),
    "adamw": lambda ps: optim.AdamW(ps, 0.1),
    "adamw with much decay": lambda ps: optim.AdamW(ps, 0.1, weight_decay=0.7, betas=(0.4, 0.9)),
}


def parameters_and_loss() -> tuple[list[Value], Callable[[float], Any]]:
    draw = random.Random(6)
    parameters = [Value(draw.uniform(-2, 2)) for _ in range(9)]

    def loss(x: Any) -> Any:
        return sum((p * x).tanh() * (i - 4) + 0.1 * p * p for i, p in enumerate(parameters[:-1]))

    return parameters, loss  # the last parameter never gets a gradient


@pytest.mark.parametrize("name", OPTIMISERS)
@pytest.mark.parametrize("which", ["all", "in another order", "some"])
def test_every_step_is_eagers_to_the_last_bits(name: str, which: str) -> None:
    histories = []
    for compiled in (False, True):
        parameters, loss = parameters_and_loss()
        chosen = {"all": parameters, "in another order": parameters[::-1], "some": parameters[2:5]}[which]
        optimiser = OPTIMISERS[name](chosen)
        schedule = optim.CosineSchedule(optimiser, 20)
        loss_of = gradwalk.compile(loss) if compiled else loss
        history = []
        for step in range(12):
            total = loss_of(0.3 * step - 1.0)
            optimiser.zero_grad()
            total.backward()
            optimiser.step()
            schedule.step()
            if step % 4 == 3:  # otherwise they stay where they are
                history += [p.data for p in parameters] + [p.grad for p in parameters]
                for kept in optimiser.memory:
                    history += getattr(optimiser, kept)
            history.append(total.data)
        if compiled and which != "some":
            assert chosen[0].keeper is None
            loss_of(1.0).backward()
            optimiser.step()
            assert chosen[0].keeper is not None
        histories.append(history)
    assert histories[1] == pytest.approx(histories[0], rel=1e-12, abs=1e-300, nan_ok=True)


@pytest.mark.parametrize("name", ["momentum", "adam", "adamw"])
@pytest.mark.parametrize("gradient", [math.inf, math.nan, 1e200, 1e-200, 0.0])
def test_gradients_that_are_not_ordinary_spoil_what_they_spoil_eagerly(name: str, gradient: float) -> None:
    found = []
    for compiled in (False, True):
        w = [Value(1.0), Value(2.0)]
        loss = (lambda x, w=w: w[0] * x + w[1]) if not compiled else gradwalk.compile(lambda x, w=w: w[0] * x + w[1])
        optimiser = OPTIMISERS[name](w)
        for _ in range(2):
            total = loss(gradient)
            optimiser.zero_grad()
            total.backward()
            optimiser.step()
        assert (w[0].keeper is not None) == compiled
        found.append([p.data for p in w])
    assert found[1] == pytest.approx(found[0], rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("limit", [0.0, 0.01, 1.0, 1e9, math.inf])
@pytest.mark.parametrize("scale", [1.0, 1e200, 1e-300, math.inf, math.nan, 0.0])
def test_clipping_in_the_buffer_is_eagers(limit: float, scale: float) -> None:
    found = []
    for compiled in (False, True):
        parameters, loss = parameters_and_loss()
        loss_of = gradwalk.compile(loss) if compiled else loss
        loss_of(0.5).backward()
        for p in parameters:
            p.grad *= scale
        if compiled:
            loss_of(0.5)  # takes them again
            assert parameters[0].keeper is not None
        norm = optim.clip_grad_norm(parameters, limit)
        assert (parameters[0].keeper is not None) == compiled
        after_norm = [p.grad for p in parameters]
        if compiled:
            loss_of(0.5)
        optim.clip_grad_value(parameters, limit / 10)
        assert (parameters[0].keeper is not None) == compiled
        found.append([norm, *after_norm, *(p.grad for p in parameters)])
    assert found[1] == pytest.approx(found[0], rel=1e-12, abs=1e-310, nan_ok=True)


def test_zero_grad_leaves_parameters_where_they_are() -> None:
    parameters, loss = parameters_and_loss()
    optimiser = optim.SGD(parameters, 0.1)
    loss_of = gradwalk.compile(loss)
    loss_of(0.5).backward()
    optimiser.zero_grad()
    gradwalk.zero_grad(parameters)
    assert parameters[0].keeper is not None
    assert [p.grad for p in parameters] == [0.0] * len(parameters)


def test_settings_may_be_changed_at_any_time() -> None:
    found = []
    for compiled in (False, True):
        parameters, loss = parameters_and_loss()
        loss_of = gradwalk.compile(loss) if compiled else loss
        optimiser = optim.Adam(parameters, 0.1)
        for step in range(6):
            loss_of(0.5).backward()
            optimiser.step()
            optimiser.lr = 0.1 / (step + 1)
            optimiser.weight_decay = 0.01 * step
            optimiser.betas = (0.9 - 0.1 * step, 0.99)
        found.append([p.data for p in parameters])
    assert found[1] == pytest.approx(found[0], rel=1e-12)


def test_attributes_that_are_not_there_are_attribute_errors() -> None:
    optimiser = optim.SGD([Value(1.0)], 0.1)
    with pytest.raises(AttributeError, match="no attribute 'velocity'"):
        _ = optimiser.velocity
    assert not hasattr(optimiser, "means")


def test_what_is_remembered_may_be_named_in_any_place() -> None:
    class Late(optim.Optimizer):
        @staticmethod
        def update(p: float, g: float, total: float, lr: float) -> tuple[float, float]:
            return p - lr * g, total + g

    class InTheObject(Late):
        def __init__(self, parameters: list[Value], lr: float) -> None:
            self.memory = ("totals",)
            super().__init__(parameters, lr)

    class WithADefault(Late):
        memory = ("totals",)
        totals: Any = None

    Late.memory = ("totals",)
    for kind in (Late, InTheObject, WithADefault):
        found = []
        for compiled in (False, True):
            parameters, loss = parameters_and_loss()
            loss_of = gradwalk.compile(loss) if compiled else loss
            optimiser = kind(parameters, 0.1)
            for _ in range(3):
                loss_of(0.5).backward()
                optimiser.step()
            assert (optimiser._keeper is not None) == compiled
            found.append([*optimiser.totals, *(p.data for p in parameters)])
        assert found[1] == pytest.approx(found[0], rel=1e-12), kind


# --- optimisers of people's own: a rule is compiled if it can be, and everything else is left to its own code ---------


class OwnStep(optim.SGD):
    def step(self) -> None:
        for p, g in zip(self.parameters, self.gradients(), strict=True):
            p.data -= self.lr * math.tanh(g)
        self.steps += 1


class OwnStepAroundAnother(optim.Adam):
    def step(self) -> None:
        self.lr *= 0.9
        for p in self.parameters[:2]:
            p.grad *= 3.0
        super().step()


class OnlyStep(optim.Optimizer):
    def step(self) -> None:
        for p, g in zip(self.parameters, self.gradients(), strict=True):
            p.data -= self.lr * ((g > 0) - (g < 0))


class OwnGradients(optim.Adam):
    def gradients(self) -> list[float]:
        return [g / (self.steps + 1) for g in super().gradients()]


class OwnRate(optim.Adam):
    @property
    def lr(self) -> float:
        rate: float = self._given / (1 + vars(self).get("steps", 0))
        return rate

    @lr.setter
    def lr(self, lr: float) -> None:
        self._given = lr


class RestlessSettings(optim.SGD):
    def constants(self) -> tuple[float, ...]:
        self.momentum = 0.9 - 0.1 * (self.steps % 3)
        self.nesterov = self.steps % 2 == 0
        return super().constants()


class MoreState(optim.SGD):
    settings = (*optim.SGD.settings,)

    def __init__(self, parameters: Any, lr: float, **options: Any) -> None:
        super().__init__(parameters, lr, **options)
        self.seen = [0.0] * len(self.parameters)

    def step(self) -> None:
        self.seen = [s + abs(g) for s, g in zip(self.seen, self.gradients(), strict=True)]
        for p, s in zip(self.parameters, self.seen, strict=True):
            p.grad /= 1.0 + s
        super().step()


class Amsgrad(optim.Adam):
    memory = ("means", "squares", "largest")

    @staticmethod
    def update(p: Any, g: Any, mean: Any, square: Any, largest: Any, *constants: Any) -> Any:
        new, beta2, size, root, eps, _, _ = constants
        mean = mean + new * (g - mean)
        square = beta2 * square + (1.0 - beta2) * g * g
        largest = max(largest, square)
        return p - size * mean / (gradwalk.sqrt(largest) / root + eps), mean, square, largest


class Signs(optim.Optimizer):
    memory = ("signs",)

    @staticmethod
    def update(p: Any, g: Any, sign: Any, lr: Any) -> Any:
        sign = 0.5 * sign + (1.0 if g > 0 else -1.0 if g < 0 else 0.0)
        return p - lr * sign, sign


class NoMemory(optim.Optimizer):
    settings = ("lr", "power")

    def __init__(self, parameters: Any, lr: float, power: float = 2.0) -> None:
        super().__init__(parameters, lr)
        self.power = power

    @staticmethod
    def update(p: Any, g: Any, lr: Any, power: Any) -> Any:
        return p - lr * g / (1.0 + abs(g) ** power)


class DividesByNothing(optim.Optimizer):
    @staticmethod
    def update(p: Any, g: Any, lr: Any) -> Any:
        return p + lr * 0.001 * (g / abs(g))


scale = 1.0


class UsesAGlobal(optim.Optimizer):
    def constants(self) -> tuple[float, ...]:
        global scale
        scale = 1.0 / (1 + self.steps)
        return super().constants()

    @staticmethod
    def update(p: Any, g: Any, lr: Any) -> Any:
        return p - lr * scale * g


class UsesItself(optim.SGD):
    def update(self, p: Any, g: Any, velocity: Any, *settings: Any) -> Any:  # type: ignore[override]
        return p - self.lr / (1 + self.steps) * g, velocity


class KeepsCount(optim.Optimizer):
    counts: list[int] = []  # noqa: RUF012 (it is what makes the rule unfit)

    @staticmethod
    def update(p: Any, g: Any, lr: Any) -> Any:
        KeepsCount.counts.append(1)
        return p - lr * g / len(KeepsCount.counts)


class TakesWords(optim.Optimizer):
    settings = ("lr", "way")

    def __init__(self, parameters: Any, lr: float, way: str = "down") -> None:
        super().__init__(parameters, lr)
        self.way = way

    @staticmethod
    def update(p: Any, g: Any, lr: Any, way: Any) -> Any:
        return p - lr * g if way == "down" else p + lr * g


class LooksAtParameters(optim.Optimizer):
    def constants(self) -> tuple[float, ...]:
        return (self.lr / (1.0 + sum(abs(p.data) for p in self.parameters)),)

    @staticmethod
    def update(p: Any, g: Any, rate: Any) -> Any:
        return p - rate * g


class HasBetas(optim.SGD):
    betas = (0.9, 0.99)


OWN = [
    (OwnStep, False), (OwnStepAroundAnother, False), (OnlyStep, False), (OwnGradients, False), (OwnRate, True),
    (RestlessSettings, True), (MoreState, False), (Amsgrad, True), (Signs, True), (NoMemory, True),
    (DividesByNothing, True), (UsesAGlobal, True), (UsesItself, False), (KeepsCount, False), (TakesWords, False),
    (LooksAtParameters, False), (HasBetas, True),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "native"), OWN, ids=lambda x: getattr(x, "__name__", ""))
def test_optimisers_of_ones_own_do_what_they_do_eagerly(kind: Any, native: bool) -> None:
    found = []
    for compiled in (False, True):
        KeepsCount.counts.clear()
        parameters, loss = parameters_and_loss()
        loss_of = gradwalk.compile(loss) if compiled else loss
        optimiser = kind(parameters, lr=0.1)
        history = []
        for step in range(8):
            loss_of(0.3 * step - 1.0).backward()
            optimiser.step()
            assert (parameters[0].keeper is not None) == (compiled and native)
            if step == 4:
                optimiser.lr = 0.05
                history += [getattr(optimiser, name) for name in optimiser.memory]
            optimiser.zero_grad()
        history += [getattr(optimiser, name) for name in optimiser.memory]
        found.append([x for column in history for x in column] + [p.data for p in parameters] + [optimiser.steps])
    assert found[1] == pytest.approx(found[0], rel=1e-12, abs=1e-300, nan_ok=True)
    assert not math.isnan(found[0][0]) or kind is DividesByNothing


def test_settings_that_are_no_numbers_reach_the_rule_as_they_are() -> None:
    found = []
    for make in (TakesWords, optim.SGD):
        parameters, loss = parameters_and_loss()
        optimiser = make(parameters, lr=0.1)
        for _ in range(3):
            gradwalk.compile(loss)(0.5).backward()
            optimiser.step()
        found.append([p.data for p in parameters])
    assert found[0] == pytest.approx(found[1], rel=1e-12)


def test_memory_that_is_no_list_of_numbers_is_left_alone() -> None:
    parameters, loss = parameters_and_loss()
    optimiser = Signs(parameters, 0.1)
    optimiser.signs = tuple(optimiser.signs)  # type: ignore[attr-defined]
    gradwalk.compile(loss)(0.5).backward()
    optimiser.step()
    assert parameters[0].keeper is None
    assert optimiser.steps == 1


def test_lists_of_parameters_that_change_in_place_are_looked_through_again() -> None:
    def changed(change: Any, *, compiled: bool) -> Any:
        a, b, c = Value(1.0), Value(2.0), Value(5.0)
        c.grad = 3.0
        own = [a, b]

        def squared(x: Any) -> Any:
            return (a * x + b) ** 2

        loss = gradwalk.compile(squared) if compiled else squared
        descent = optim.SGD([a, b], 0.1, momentum=0.5)
        for step in range(6):
            out = loss(1.0)
            descent.zero_grad()
            gradwalk.zero_grad(own)
            out.backward()
            optim.clip_grad_norm(own, 1.0)
            descent.step()
            if step == 2:
                change(descent.parameters, own, c)
        return [(p.data, p.grad) for p in (a, b, c)], descent.velocities

    def swap(parameters: Any, own: Any, c: Any) -> None:
        parameters[0] = c

    def swap_own(parameters: Any, own: Any, c: Any) -> None:
        own[1] = c

    def turn(parameters: Any, own: Any, c: Any) -> None:
        parameters.reverse()

    for change in (swap, swap_own, turn):
        plain, native = changed(change, compiled=False), changed(change, compiled=True)
        assert np.array(native[0]) == pytest.approx(np.array(plain[0]), rel=1e-12), change.__name__
        assert native[1] == pytest.approx(plain[1], rel=1e-12), change.__name__


def test_a_gradient_that_is_infinite_is_clipped_without_a_warning() -> None:
    found = []
    for compiled in (False, True):
        a, b = Value(1.0), Value(2.0)

        def loss(x: float, a: Value = a, b: Value = b) -> Any:
            return (a * x).exp() + b * x

        out = gradwalk.compile(loss)(800.0) if compiled else loss(800.0)
        out.backward()
        found.append([optim.clip_grad_norm([a, b], 1.0), a.grad, b.grad])
    assert np.array_equal(found[0], found[1], equal_nan=True)
