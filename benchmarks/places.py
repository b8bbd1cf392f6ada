"""Places that were slow once: what an argument, a result, a parameter or a node costs, and how much it may."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import peers
from peers import Peer

import gradwalk
from gradwalk import Value, nn


def our_pid() -> Peer:
    """The rollout of `peers.PID` as a user writes it, compiled."""
    *gains, dt, steps = peers.PID
    kp, ki, kd = (Value(gain) for gain in gains)

    @gradwalk.compile
    def loss(target: Any) -> Any:
        place = speed = total = before = cost = 0.0
        for _ in range(steps):
            error = target - place
            total = total + error * dt
            force = kp * error + ki * total + kd * (error - before) / dt
            speed = speed + (force - 0.3 * speed) * dt
            place = place + speed * dt
            before, cost = error, cost + error * error
        return cost

    def step() -> float:
        out = loss(1.0)
        gradwalk.zero_grad([kp, ki, kd])
        out.backward()
        return out.data  # type: ignore[no-any-return]

    return Peer("gradwalk", step)


def our_hunt() -> Peer:
    """The rollout of `peers.HUNT` as a user writes it, compiled."""
    *rates, dt, steps = peers.HUNT
    a, b, c, d = (Value(rate) for rate in rates)

    def slope(x: Any, y: Any) -> Any:
        return a * x - b * x * y, c * x * y - d * y

    @gradwalk.compile
    def loss(x: Any, y: Any) -> Any:
        for _ in range(steps):
            k = [slope(x, y)]
            for step in (dt / 2, dt / 2, dt):
                k.append(slope(x + step * k[-1][0], y + step * k[-1][1]))
            x, y = (s + dt / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]) for i, s in enumerate((x, y)))
        return x * x + y * y

    def step() -> float:
        out = loss(10.0, 5.0)
        gradwalk.zero_grad([a, b, c, d])
        out.backward()
        return out.data  # type: ignore[no-any-return]

    return Peer("gradwalk", step)


def costs(repeats: int, quick: bool) -> list[dict[str, Any]]:
    """Seconds for each of many, the least of the repeats, and the limit."""
    many = 400 if quick else 16_000
    draw = random.Random(1)
    numbers = [draw.random() for _ in range(many)]

    def least(job: Callable[[], Any]) -> float:
        times = []
        for _ in range(max(3, repeats)):
            began = time.perf_counter()
            job()
            times.append(time.perf_counter() - began)
        return min(times)

    rows = []

    def row(what: str, seconds: float, limit: float | None) -> None:
        rows.append({"what": what, "seconds": seconds, "limit": limit})

    squares = gradwalk.compile(lambda xs: sum(x * x for x in xs))
    squares(numbers)
    row("a number in a list, as an argument", least(lambda: squares(numbers)) / many, 5e-9)

    labelled = [(numbers[i : i + 2], i % 3) for i in range(0, many, 2)]
    weighed = gradwalk.compile(lambda xs: sum(x * x * label for row, label in xs for x in row))
    for _ in range(3):  # lists in lists are familiar once they were seen twice in a row
        weighed(labelled)
    row("… in rows of two, each with a label", least(lambda: weighed(labelled)) / (1.5 * many), 10e-9)

    values = [Value(x) for x in numbers]
    squares(values)
    row("a Value as an argument: the call", least(lambda: squares(values)) / many, 0.2e-6)
    row("a Value as an argument: the call and back", least(lambda: squares(values).backward()) / many, None)

    weights = values[: many // 4]
    loss = gradwalk.compile(lambda x: sum(w * w * x for w in weights))
    loss(1.0)
    by_hand = least(lambda: _by_hand(loss, weights)) / len(weights)
    plain = [Value(x) for x in numbers[: many // 4]]
    loop = least(lambda: _by_hand(None, plain)) / len(plain)
    row("a parameter set and read by hand: a step in all", by_hand, None)
    row("… the user's own loop, without a compiled function", loop, None)
    row("… what the compiled function adds to it", by_hand - loop, 0.2e-6)

    row("the Python part of a W1 step: call, zero_grad, backward", _python_part(repeats), 5e-6)

    for name, times in (("a tanh that is written four times", 4), ("… once", 1)):
        again = gradwalk.compile(
            lambda x, times=times: sum(math.prod([(w * x).tanh() for _ in range(times)]) for w in weights)
        )
        again(1.0).backward()
        row(name, least(lambda again=again: again(1.0).backward()) / len(weights), None)  # type: ignore[misc]

    each = [gradwalk.compile(lambda xs: [2.0 * x + 1.0 for x in xs]) for _ in range(3)]
    row("a result of many: the first call", min(_seconds(lambda f=f: f(numbers)) for f in each) / many, 25e-6)  # type: ignore[misc]
    row("… a later call", least(lambda: each[0](numbers)) / many, None)

    for name, sign in (("a term of a chain of sums and differences", -1.0), ("… of sums alone", 1.0)):
        chain = gradwalk.compile(lambda x, sign=sign: _chain(weights, x, sign))
        chain(1.0).backward()
        row(name, least(lambda chain=chain: chain(1.0).backward()) / len(weights), None)  # type: ignore[misc]

    alone = least(lambda: _eager(numbers, False)) / many
    row("a node of an eager graph with one hook", least(lambda: _eager(numbers, True)) / many, 1.3 * alone)
    row("… without", alone, None)

    samples = 10 if quick else 920
    model = nn.MLP(2, [16, 16, 1], activation="relu")
    points = [[draw.random(), draw.random()] for _ in range(samples)]
    large = gradwalk.compile(lambda points: sum((1 - model(point)).relu() for point in points))
    row(f"first call, {650 * samples:,} nodes", _seconds(lambda: large(points)), 1.2)
    return rows


def _python_part(repeats: int) -> float:
    """What a step of W1 takes beside its two native calls, one each way; the crossing itself counts as native."""
    draw = np.random.default_rng(1)
    model = nn.MLP(2, [16, 16, 1], activation="relu")
    X, y = draw.uniform(-1, 1, (100, 2)), draw.choice([-1.0, 1.0], 100)

    @gradwalk.compile
    def loss(X: Any, y: Any) -> Any:
        margins = [(1 - label * model(point)).relu() for point, label in zip(X, y, strict=True)]
        return sum(margins) * (1.0 / len(y)) + peers.PENALTY * sum(p * p for p in model.parameters())

    def step() -> None:
        total = loss(X, y)
        model.zero_grad()
        total.backward()

    for _ in range(100):
        step()
    [trace] = loss.traces()

    def native() -> None:
        trace.forward()
        trace.push()

    times: dict[Callable[[], None], float] = dict.fromkeys((step, native), math.inf)
    for _ in range(10 * repeats):
        for job in times:
            times[job] = min(times[job], _seconds(lambda job=job: [job() for _ in range(100)]) / 100)  # type: ignore[misc]
    return times[step] - times[native]


def _by_hand(loss: Any, weights: list[Value]) -> None:
    out = loss(1.0) if loss is not None else None
    for w in weights:
        w.grad = 0.0
    if out is not None:
        out.backward()
    for w in weights:
        w.data -= 0.01 * w.grad


def _chain(weights: list[Value], x: Any, sign: float) -> Any:
    total: Any = 0.0
    for i, w in enumerate(weights):
        total = total - w * x if sign < 0 and i % 2 else total + w * x
    return total


def _eager(numbers: list[float], hooked: bool) -> None:
    x = total = Value(1.0)
    for number in numbers:
        total = total + x * number
    if hooked:
        (total := total * 1.0).register_hook(lambda gradient: None)
    total.backward()


def _seconds(job: Callable[[], Any]) -> float:
    began = time.perf_counter()
    job()
    return time.perf_counter() - began
