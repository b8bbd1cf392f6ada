"""Rollouts are found to be loops, and give, to the last bit, what they give row by row."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import gradwalk
from gradwalk import Value
from gradwalk.compile.prepared import Runner, prepare
from gradwalk.compile.reference import REFERENCE
from gradwalk.compile.roll import analyze, loops
from gradwalk.compile.roll.program import Program
from gradwalk.compile.roll.steps import Rows
from gradwalk.compile.trace.tracer import trace

TURNS = 23


@pytest.fixture(autouse=True)
def _short_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops are made of less than is worth it, so that tests are quick."""
    monkeypatch.setattr(loops, "ROWS", 24)


@gradwalk.op(lambda x, out: 3.0 * x * x + math.sin(0.0))
def cubed(x: float) -> float:
    return x * x * x


def pid(xs: Any, w: Any) -> Any:
    place = speed = total = before = cost = 0.0
    for _ in xs:
        error = xs[0] - place
        total = total + error * 0.05
        force = w[0] * error + w[1] * total + w[2] * (error - before) / 0.05
        speed = speed + (force - 0.3 * speed) * 0.05
        place = place + speed * 0.05
        before, cost = error, cost + error * error
    return cost


def rk4(xs: Any, w: Any) -> Any:
    def rate(x: Any, y: Any) -> Any:
        return w[0] * x - w[1] * x * y, w[2] * x * y - w[3] * y

    x, y, dt = xs[0], xs[1], 0.01
    for _ in xs:
        k = [rate(x, y)]
        for step in (dt / 2, dt / 2, dt):
            k.append(rate(x + step * k[-1][0], y + step * k[-1][1]))
        x, y = (s + dt / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]) for i, s in enumerate((x, y)))
    return x * x + y


def delayed(ago: int) -> Any:
    def f(xs: Any, w: Any) -> Any:
        past = [w[0] * (0.1 * i) for i in range(ago)]
        for x in xs:
            past.append(past[-1] * 0.3 + past[-ago] * w[1] + x)
        return past[-1] * past[-2]

    return f


def choosing(xs: Any, w: Any) -> Any:
    s = w[0] * 1.0
    for x in xs:
        s = gradwalk.where(s > 0.3, s * 0.5, gradwalk.clamp(s + x, -1.0, 1.0)) + (s * w[1]).relu() + abs(x - s)
    return s


def functions(xs: Any, w: Any) -> Any:
    s = w[0] * 1.0
    for x in xs:
        s = (s * w[1]).tanh() + gradwalk.softplus(s * x).exp() * 0.1 + gradwalk.sqrt(s * s + 1.0)
        s = s + (s * s + 0.5) ** w[2]
        s = cubed(s * 0.1) + gradwalk.sin(s)
    return s


def two_in_a_row(xs: Any, w: Any) -> Any:
    """The second loop reads what the first has left, from behind."""
    left = []
    s = w[0] * 1.0
    for x in xs:
        s = s * w[1] + x
        left.append(s)
    t = w[2] * 1.0
    for s in reversed(left):
        t = (t * w[3] - s) * 0.5 + s * s
    return t


def reading_twice(xs: Any, w: Any) -> Any:
    """What all turns share is also read one by one."""
    s = w[0] * 1.0
    for x in xs:
        s = s * 0.5 + x * xs[3] * w[1] + xs[0]
    return s


def backwards(xs: Any, w: Any) -> Any:
    s = w[0] * 1.0
    for x, y in zip(reversed(xs), xs, strict=True):
        s = s * w[1] + x * y
    return s


def every_state(xs: Any, w: Any) -> Any:
    s, states = w[0] * 1.0, []
    for x in xs:
        s = s * w[1] + x
        states.append(s)
    return states


def cut_off(xs: Any, w: Any) -> Any:
    s = w[0] * 1.0
    for x in xs:
        s = s * 0.5 + x
    t = s.detach() * w[1]
    for x in xs:
        t = t * w[1] + x * s
    return t


def read_beforehand(xs: Any, w: Any) -> Any:
    """What stands right before the loop is read by the first turn, and by all of them."""
    a = w[0] * w[1]
    s = t = a * 2.0
    for x in xs:
        s, t = t * a + x, s * a
    return s * t


ROLLOUTS = {
    "pid": pid, "rk4": rk4, "1 ago": delayed(1), "2 ago": delayed(2), "3 ago": delayed(3), "7 ago": delayed(7),
    "choosing": choosing, "functions": functions, "two in a row": two_in_a_row, "reading twice": reading_twice,
    "backwards": backwards, "every state": every_state, "cut off": cut_off, "read beforehand": read_beforehand,
}  # fmt: skip


def numbers(prepared: Any, xs: list[float], w: list[float]) -> list[Any]:
    grads = np.full(len(w), 0.25)
    runner = Runner(prepared, np.array(w), grads)
    found = []
    for sign in (1.0, -1.0):  # the second time finds memory as the first left it
        runner.inputs[:] = [sign * x for x in xs]
        with np.errstate(all="ignore"):
            runner.forward()
            runner.backward([0.5 + 0.1 * i for i in range(len(runner.seeds))])
        found += [runner.outputs.tolist(), grads.tolist(), runner.input_grads.tolist()]
    return found


def with_and_without(tape: Any, **options: Any) -> list[Any]:
    """A tape made ready row by row, with loops and without."""
    found = []
    for off in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            if off:
                patch.setattr(analyze, "find_loops", lambda *_: ())
            found.append(prepare(tape, rolled=False, input_grads=True, **options))
    return found


def loops_of(tape: Any) -> Any:
    (step,) = prepare(tape, rolled=False).program.steps
    assert isinstance(step, Rows)
    return step.loops


@pytest.mark.parametrize("name", ROLLOUTS)
def test_loops_give_the_same_bits_as_rows(name: str) -> None:
    f, draw = ROLLOUTS[name], random.Random(name)
    w = [draw.uniform(0.2, 0.9) for _ in range(4)]
    xs = [draw.uniform(-0.5, 0.9) for _ in range(TURNS)]
    values = [Value(x) for x in w]
    tape = trace(lambda *xs: f(xs, values), xs).tape
    looped, plain = with_and_without(tape)
    (step,) = looped.program.steps
    assert sum(body * turns for _, body, turns in step.loops) >= 0.6 * step.count
    assert not plain.program.steps[0].loops
    assert looped.program != plain.program
    if name not in ("choosing", "functions"):  # which have ops that are not of the table
        assert Program.from_json(looped.program.to_json()) == looped.program
    found = numbers(looped, xs, w[: tape.parameters])
    assert repr(found) == repr(numbers(plain, xs, w[: tape.parameters]))
    for odd in (math.inf, math.nan, 0.0, 1e200):
        strange = [odd, *xs[1:]]
        assert repr(numbers(looped, strange, w[: tape.parameters])) == repr(
            numbers(plain, strange, w[: tape.parameters])
        )
    reference = prepare(tape, rolled=False, input_grads=True, backend=REFERENCE)
    expected = numbers(reference, xs, w[: tape.parameters])
    for got, wanted in zip(found, expected, strict=True):
        assert got == pytest.approx(wanted, rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("name", ROLLOUTS)
def test_rollouts_of_any_length_give_eagers_numbers(name: str) -> None:
    f = ROLLOUTS[name]
    for turns in (4, 5, 7, 11, 12, 13, 31, 61):
        ours, theirs = ([Value(0.3 + 0.1 * i) for i in range(4)] for _ in range(2))
        xs = [0.4 * math.sin(i + 1.0) for i in range(turns)]
        leaves = [Value(x) for x in xs]
        compiled = gradwalk.compile(lambda xs, ours=ours: f(xs, ours), wrt="xs")
        found, expected = compiled(xs), f(leaves, theirs)
        if isinstance(expected, list):
            found, expected = found[-2], expected[-2]
        found.backward()
        expected.backward()
        assert found.data == pytest.approx(expected.data, rel=1e-11)
        assert [v.grad for v in ours] == pytest.approx([v.grad for v in theirs], rel=1e-10, abs=1e-13)
        assert found.argument_grads["xs"] == pytest.approx([v.grad for v in leaves], rel=1e-10, abs=1e-13)


def random_rollout(seed: int) -> tuple[Any, int]:
    """A body of random ops over states of this turn and the last two, weights and inputs; and how many turns."""
    draw = random.Random(seed)
    states, rows, turns = draw.randint(1, 4), draw.randint(2, 9), draw.randint(12, 40)
    plan: list[Any] = [
        (draw.choice("+-*m?"), *((draw.choice("swxonp"), draw.random()) for _ in range(2))) for _ in range(rows)
    ]
    updates = [draw.randrange(rows) for _ in range(states)]

    def rollout(xs: Any, weights: list[Value]) -> Any:
        state = older = [w * 0.5 for w in (weights * 2)[:states]]
        for k, x in enumerate(xs):
            made: list[Any] = []
            things = {"s": state, "w": weights, "x": [x], "o": older, "n": made, "p": [xs[k - 1], xs[5]]}
            for kind, *operands in plan:
                a, b = (things[of][int(at * len(things[of]))] if things[of] else x for of, at in operands)
                made.append(
                    a + b * 0.5 if kind == "+" else a - b if kind == "-" else gradwalk.tanh(a * b) if kind == "*"
                    else gradwalk.maximum(a, b) * 0.9 if kind == "m" else gradwalk.where(a > b, a * 0.5, b)
                )  # fmt: skip
            older, state = state, [made[i] for i in updates]
        return sum(state, start=0.0)

    return rollout, turns


def test_random_bodies() -> None:
    looped = 0
    for seed in range(30):
        f, turns = random_rollout(seed)
        draw = random.Random(seed)
        w, xs = ([draw.uniform(-1.0, 1.0) for _ in range(count)] for count in (3, turns))
        weights = [Value(x) for x in w]
        tape = trace(lambda *xs, f=f, weights=weights: f(xs, weights), xs).tape
        if tape.outputs[0] >= tape.first_row:
            ready = with_and_without(tape)
            looped += bool(ready[0].program.steps[0].loops)
            found, expected = (numbers(prepared, xs, w[: tape.parameters]) for prepared in ready)
            assert repr(found) == repr(expected), seed
    assert looped >= 15


def test_a_loop_that_is_broken_off_takes_the_path_of_each_call() -> None:
    w = Value(0.7)

    def f(x: Any) -> Any:
        s = x * 1.0
        for _ in range(60):
            s = s * w + 0.1
            if s < 0.4:
                break
        return s

    compiled, twin = gradwalk.compile(f), Value(0.7)
    for x in (5.0, 50.0, 5.0, 0.1, 500.0):
        w.grad = twin.grad = 0.0
        out = compiled(x)
        out.backward()
        s = Value(x) * 1.0
        for _ in range(60):
            s = s * twin + 0.1
            if s < 0.4:
                break
        s.backward()
        assert (out.data, w.grad) == (pytest.approx(s.data, rel=1e-13), pytest.approx(twin.grad, rel=1e-12))


def test_what_holds_no_loop_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    w = [Value(0.5) for _ in range(4)]
    assert not loops_of(trace(lambda *xs: pid(xs, w), [0.5] * 9).tape)
    monkeypatch.undo()
    assert not loops_of(trace(lambda *xs: pid(xs, w), [0.5] * 20).tape)
    draw = random.Random(1)

    def tangle(x: Any) -> Any:
        nodes = [x * 0.5, x + 1.0]
        for _ in range(300):
            a, b = draw.choice(nodes), draw.choice(nodes[-9:])
            nodes.append(gradwalk.tanh(draw.choice((a * b, a + b, a - b))))
        return nodes[-1]

    assert not loops_of(trace(tangle, [0.3]).tape)


def test_the_report_and_the_text_of_a_program_tell_of_loops() -> None:
    w = [Value(0.5) for _ in range(4)]
    compiled = gradwalk.compile(lambda xs: pid(xs, w))
    compiled([1.0] * 50)
    assert "it is a loop: 47 times 18 nodes" in str(compiled.report())
    assert "; 47 times 18 from 24" in str(compiled.report().traces[0].prepared.program)


def test_one_text_serves_every_length() -> None:
    w = [Value(0.5) for _ in range(4)]
    found = set()
    for turns in (40, 57):
        prepared: Any = prepare(trace(lambda *xs: pid(xs, w), [0.5] * turns).tape, rolled=False)
        found.add(int(prepared.lowered.code.values[len(prepared.program.steps[0].ops)]))
    assert len(found) == 1
    assert 0 not in found
