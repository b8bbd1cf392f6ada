"""Optimisers inside the buffer: the same objects, the same numbers, step by step."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

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
