"""Whole trainings: the same losses as eager, step after step."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import gpt
import moons
import pytest

import gradwalk
from gradwalk import datasets, nn, optim


def trained_on_the_moons(wrap: Callable[[Any], Any], steps: int) -> list[float]:
    """Losses and final parameters."""
    X, y = datasets.moons(12, seed=3)
    random.seed(9)
    model = nn.MLP(2, [8, 8, 1])
    optimiser = optim.SGD(model.parameters(), 0.3, momentum=0.5)
    schedule = optim.LinearSchedule(optimiser, steps, end=0.1)
    loss_of = wrap(lambda X, y: moons.loss(model, X, y))
    history = []
    for _ in range(steps):
        loss = loss_of(X, y)
        model.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        history.append(loss.data)
    return history + [p.data for p in model.parameters()]


def test_a_hundred_steps_on_the_moons() -> None:
    eager, compiled = (trained_on_the_moons(wrap, 100) for wrap in (lambda f: f, gradwalk.compile))
    assert compiled == pytest.approx(eager, rel=1e-9, abs=1e-12)


def test_two_hundred_steps_of_the_gpt() -> None:
    names = ["ada", "bea", "bo", "dee", "abe", "ed", "cad"]
    vocabulary = gpt.Vocabulary.of(names)
    documents = [vocabulary.encode(name) for name in names]
    config = gpt.Config(len(vocabulary), width=4, heads=2, block=6)
    histories: list[Any] = []
    for compiled in (False, True):
        parameters = gpt.make_parameters(config, seed=1)
        losses = list(gpt.train(parameters, documents, 200, 0.01, compiled=compiled))
        histories.append(losses + [p.data for p in parameters.flat()])
    assert histories[1] == pytest.approx(histories[0], rel=1e-9, abs=1e-12)
    assert histories[1][199] < histories[1][0] - 0.5


def test_one_trace_for_each_length_of_name() -> None:
    names = ["ada", "bea", "bo", "dee", "ed"]
    vocabulary = gpt.Vocabulary.of(names)
    parameters = gpt.make_parameters(gpt.Config(len(vocabulary), width=4, heads=2, block=6))
    loss_of = gradwalk.compile(gpt.loss)
    for name in names:
        tokens = vocabulary.encode(name)
        assert loss_of(parameters, tokens).data == pytest.approx(gpt.loss(parameters, tokens).data, rel=1e-12)
    assert len(loss_of.traces()) == 2
