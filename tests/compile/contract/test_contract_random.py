"""Random numbers in a compiled function are drawn anew at every call, or the function says that it cannot."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
# mypy: disable-error-code="attr-defined,no-any-return,method-assign,assignment"
from __future__ import annotations

import os
import random
import secrets
import time
from typing import Any

import numpy as np
import pytest
from outside_cases import Case, Cases, outcome_of, walked

import gradwalk
from gradwalk import Value, nn
from gradwalk.compile.trace.limits import FrozenWarning

cases = Cases()
rng: Any = None


def drawing(make):
    """A program whose function multiplies by what `make()` gives it to draw with."""

    def program(compile):
        draw, w = make(), Value(2.0)
        loss = compile(lambda x: w * x * draw())
        for _ in range(4):
            yield walked(loss(3.0), w)

    return program


class Holder:
    def __init__(self, generator):
        self.rng = generator

    def draw(self):
        return self.rng.random()


class Slotted:
    __slots__ = ("rng",)

    def __init__(self, generator):
        self.rng = generator

    def draw(self):
        return self.rng.random()


def own_generator():
    state = [12345]

    def draw():
        state[0] = (1103515245 * state[0] + 12345) % 2**31
        return state[0] / 2**31

    return draw


DRAWS = {
    "random": lambda: random.random,
    "random_gauss": lambda: lambda: random.gauss(0.0, 1.0),
    "random_choice": lambda: lambda: random.choice([1.0, 2.0, 3.0]),
    "random_sample": lambda: lambda: random.sample(range(100), 1)[0],
    "random_shuffle": lambda: lambda: shuffled()[0],
    "numpy": lambda: np.random.rand,
    "numpy_normal": lambda: lambda: np.random.normal(),
    "numpy_choice": lambda: lambda: float(np.random.choice([1.0, 2.0, 3.0])),
    "an_instance": lambda: random.Random(3).random,
    "an_instance_in_an_object": lambda: Holder(random.Random(3)).draw,
    "a_generator": lambda: np.random.default_rng(3).random,
    "a_generator_in_an_object": lambda: Holder(np.random.default_rng(3)).draw,
    "a_generator_in_slots": lambda: Slotted(np.random.default_rng(3)).draw,
    "a_generator_in_a_list": lambda: (lambda found: lambda: found[0].normal())([np.random.default_rng(3)]),
    "a_generator_of_another_kind": lambda: np.random.Generator(np.random.MT19937(3)).random,
    "a_random_state": lambda: np.random.RandomState(3).rand,
    "a_generator_of_ones_own": own_generator,
}


def shuffled():
    found = [1.0, 2.0, 3.0, 4.0]
    random.shuffle(found)
    return found


for _name, _make in DRAWS.items():
    _program = drawing(_make)
    _program.__name__ = f"draws_from_{_name}"
    cases.followed_with_a_word(_program)


@cases.followed_with_a_word
def a_global_generator(compile):
    global rng
    rng = np.random.default_rng(5)
    w = Value(2.0)

    @compile
    def loss(x):
        return w * x * rng.normal()

    for _ in range(3):
        yield walked(loss(3.0), w)


@cases.followed_with_a_word
def dropout(compile):
    net = nn.MLP(2, [4, 1], activation="tanh")

    @compile
    def loss(x):
        hidden = [h * (random.random() < 0.5) * 2.0 for h in net.layers[0](x)]
        return net.layers[1](hidden)

    for _ in range(4):
        yield walked(loss([1.0, 2.0]), *net.parameters())


@cases.followed_with_a_word
def dropout_that_is_switched_off(compile):
    class Net:
        training = True

        def __init__(self):
            self.w = Value(2.0)

        def __call__(self, x):
            return self.w * x * (random.random() if self.training else 1.0)

    net = Net()
    loss = compile(lambda x: net(x))
    for training in (True, True, False, False, True):
        net.training = training
        yield walked(loss(3.0), net.w)


@cases.followed_with_a_word
def noise_on_a_batch(compile):
    w = Value(2.0)

    def one(x):
        return w * (x + random.gauss(0.0, 0.1))

    loss = compile(one, batch="sum")
    many = loss if loss is not one else lambda xs: sum(one(x) for x in xs)
    for _ in range(3):
        yield walked(many([1.0, 2.0, 3.0]), w)


@cases.said
def noise_on_each_of_a_batch(compile):
    w = Value(2.0)

    def one(x):
        return w * (x + random.gauss(0.0, 0.1))

    loss = compile(one, batch="each")
    many = loss if loss is not one else lambda xs: [one(x) for x in xs]
    for _ in range(2):
        yield [float(getattr(x, "data", x)) for x in many([1.0, 2.0, 3.0])]


@cases.followed_with_a_word
def a_model_made_inside(compile):
    loss = compile(lambda x: nn.Neuron(1)([x]))
    for _ in range(3):
        yield loss(3.0).data


@cases.followed
def what_is_drawn_outside_is_an_argument(compile):
    w = Value(2.0)
    loss = compile(lambda x, noise: w * x * noise)
    for _ in range(4):
        yield walked(loss(3.0, random.random()), w)


@cases.followed
def a_generator_that_is_only_reached(compile):
    class Net:
        def __init__(self):
            self.rng, self.w = np.random.default_rng(3), Value(2.0)

        def __call__(self, x):
            return self.w * x + (self.rng.random() if x is None else 0.0)

    net = Net()
    loss = compile(lambda x: net(x))
    for _ in range(3):
        yield walked(loss(3.0), net.w)
        net.rng.random()


@cases.followed
def the_users_generators_go_on_as_if_nothing_was(compile):
    w = Value(2.0)
    loss = compile(lambda x: w * x)
    for _ in range(9):
        yield (*walked(loss(3.0), w), random.random(), np.random.rand())


@cases.test()
def test_random(case: Case) -> None:
    assert outcome_of(case) == case.outcome


# --- what differs at every run, and so cannot be compared ------------------------------------------------------------


UNSEEN = {
    "system_random": random.SystemRandom().random,
    "urandom": lambda: float(int.from_bytes(os.urandom(6))) + 1.0,
    "secrets": lambda: float(secrets.randbelow(2**30)),
    "time": lambda: float(time.time_ns()),
    "clock": lambda: time.perf_counter(),
}


@pytest.mark.parametrize("name", UNSEEN)
def test_what_is_never_the_same_is_not_frozen(name: str) -> None:
    draw, w = UNSEEN[name], Value(2.0)
    loss = gradwalk.compile(lambda x: w * x * draw())
    with pytest.warns(FrozenWarning, match="run as it is"):
        first = loss(3.0).data
    found = {first, *[loss(3.0).data for _ in range(5)]}
    assert len(found) >= 3


def test_it_is_said_once() -> None:
    w = Value(2.0)
    loss = gradwalk.compile(lambda x: w * x * random.random())

    def calls() -> None:
        for _ in range(5):
            loss(3.0)

    with pytest.warns(FrozenWarning, match="random numbers") as caught:
        calls()
    assert len(caught) == 1
    message = str(caught[0].message)
    assert "test_contract_random.py" in message
    assert "pass them as arguments" in message


def test_gradients_of_arguments_are_not_to_be_had_of_a_function_that_draws() -> None:
    loss = gradwalk.compile(lambda x: x * random.random(), wrt="x")
    with pytest.raises(gradwalk.GradwalkError, match="random numbers"):
        loss(3.0)
