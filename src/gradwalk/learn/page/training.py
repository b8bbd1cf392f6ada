"""Moons and a small network, trained step by step in the page: the network, the loss and the step of lesson nine.

A step is a function of what came before: the page holds the state, hands it in and gets the next one, so a worker that
was stopped loses nothing. Each state is whole: its loss, its wrong points and its gradients belong to its parameters.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import TypedDict

from gradwalk import datasets, nn
from gradwalk.errors import SettingError
from gradwalk.messages import say

__all__ = ["Points", "Training", "advance", "of_model", "points", "sizes", "start"]

POINTS, NOISE = 100, 0.1
SEED = 15  # of the weights: a start from which the default settings learn every point in a hundred steps
RATE, HIDDEN = 0.01, (8, 8)
MOST_LAYERS, WIDEST = 3, 16
FASTEST = 10.0


class Points(TypedDict):
    """The points, and the class of each: −1 or +1.

    >>> len(points()["X"]), sum(points()["y"])
    (100, 0)
    """

    X: list[list[float]]
    y: list[int]


class Training(TypedDict):
    """The network after some steps, and how it does there.

    `length` is that of the gradient the next step will use, `fresh` of this walk's own share in it: the same, unless
    nobody zeroes. `broken` is set when the numbers have left what a float can hold; all else is then as it was before.

    >>> state = start()
    >>> state["step"], len(state["parameters"]), state["length"] == state["fresh"]
    (0, 105, True)
    """

    step: int
    hidden: list[int]
    parameters: list[float]
    gradients: list[float]
    loss: float
    wrong: list[int]
    length: float
    fresh: float
    broken: bool


def points() -> Points:
    """The two moons.

    >>> sorted(points())
    ['X', 'y']
    """
    X, y = datasets.moons(POINTS, NOISE)
    return Points(X=X, y=y)


def start(hidden: Sequence[int] = HIDDEN, seed: int = SEED) -> Training:
    """A network with random weights, before its first step.

    >>> len(start([4])["parameters"]), 0.0 < start([4])["loss"]
    (17, True)
    """
    found = sizes(hidden)
    random.seed(seed)
    model = nn.MLP(2, [*found, 1], activation="tanh")
    return _walked(model, 0, found)


def of_model(model: nn.MLP) -> Training:
    """A network of one's own, before its first step here; its gradients are left as they were.

    >>> of_model(nn.MLP(2, [4, 1], activation="tanh"))["hidden"]
    [4]
    >>> of_model(nn.MLP(3, [4, 1]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    gradwalk.errors.SettingError: the view trains an MLP of two inputs, hidden layers of tanh and one linear output, ...
    """
    *layers, last = model.layers if isinstance(model, nn.MLP) else [None]
    kinds = {neuron._kind() for layer in layers for neuron in layer.neurons}
    if not layers or layers[0].nin != 2 or kinds != {"Tanh"} or [n._kind() for n in last.neurons] != ["Linear"]:
        raise SettingError(
            "the view trains an MLP of two inputs, hidden layers of tanh and one linear output, as "
            f'nn.MLP(2, [8, 8, 1], activation="tanh"); not {model!r:.60}'
        )
    found = sizes([len(layer.neurons) for layer in layers])
    twin = nn.MLP(2, [*found, 1], activation="tanh", init="zeros")
    for knob, given in zip(twin.parameters(), model.parameters(), strict=True):
        knob.data = given.data
    return _walked(twin, 0, found)


def advance(state: Training, rate: float = RATE, forget: bool = False, steps: int = 1) -> Training:
    """Some steps further: turn every knob against its gradient, then walk again; with `forget`, without zeroing first.

    >>> state = advance(start(), steps=3)
    >>> state["step"], state["loss"] < start()["loss"]
    (3, True)
    """
    if not 0.0 < rate <= FASTEST:
        raise SettingError(
            say(
                "the learning rate lies above 0 and up to {fastest}, not {rate}",
                fastest=f"{FASTEST:g}",
                rate=repr(rate),
            )
        )
    for _ in range(steps):
        if state["broken"]:
            break
        state = _next(state, rate, forget)
    return state


def _next(state: Training, rate: float, forget: bool) -> Training:
    found = sizes(state["hidden"])
    model = nn.MLP(2, [*found, 1], activation="tanh", init="zeros")
    knobs = model.parameters()
    for knob, x, slope in zip(knobs, state["parameters"], state["gradients"], strict=True):
        knob.data = x - rate * slope
        knob.grad = slope if forget else 0.0
    after = _walked(model, state["step"] + 1, found)
    numbers = [after["loss"], *after["parameters"], *after["gradients"]]
    return after if all(map(math.isfinite, numbers)) else {**state, "broken": True}


def _walked(model: nn.MLP, step: int, sizes: list[int]) -> Training:
    """Loss and gradients of the model as it is; what its knobs hold already stays, and is added to.

    A graph for each point and not one for all: the sum is the same, and the graph is gone before the next is built.
    """
    knobs = model.parameters()
    before = [knob.grad for knob in knobs]
    X, y = datasets.moons(POINTS, NOISE)
    loss, wrong = 0.0, []
    for place, (x, label) in enumerate(zip(X, y, strict=True)):
        output = model(x).tanh()  # the last layer of an MLP is linear here; in the lesson every neuron has its tanh
        miss = (output - label) ** 2
        miss.backward()
        loss += miss.data
        if output.data * label <= 0.0:
            wrong.append(place)
    slopes = [knob.grad for knob in knobs]
    return Training(
        step=step, hidden=sizes, parameters=[knob.data for knob in knobs], gradients=slopes, loss=loss, wrong=wrong,
        length=math.hypot(*slopes), fresh=math.hypot(*(now - was for now, was in zip(slopes, before, strict=True))),
        broken=False,
    )  # fmt: skip


def sizes(hidden: Sequence[int]) -> list[int]:
    """The sizes of the hidden layers, if they are such as a page has room and time for.

    >>> sizes((8, 8))
    [8, 8]
    """
    found = list(hidden)
    if not 1 <= len(found) <= MOST_LAYERS or any(type(n) is not int or not 1 <= n <= WIDEST for n in found):
        raise SettingError(
            say(
                "hidden layers: 1 to {most} of them, of 1 to {widest} neurons each, as [8, 8]; not {hidden}",
                most=MOST_LAYERS,
                widest=WIDEST,
                hidden=f"{hidden!r:.60}",
            )
        )
    return found
