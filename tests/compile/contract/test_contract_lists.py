"""Lists that native code reads where they lie: long ones among the arguments, and those that parameters stand in."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import gradwalk
from gradwalk import Value, nn
from gradwalk.compile.call.arguments import LONG
from gradwalk.compile.native import pythons
from gradwalk.compile.native.pythons import FloatReader, are_readable, versions_are_readable
from gradwalk.compile.own import watched
from gradwalk.compile.own.watched import MANY, Watched
from gradwalk.compile.trace.limits import FrozenWarning


class Metres(float):
    """A float of a class of its own."""


def squares(w: Value, *lists: Any) -> Any:
    rows = [[xs] if isinstance(xs, float) else [x for row in xs for x in row] if isinstance(xs[0], list) else xs
            for xs in lists]  # fmt: skip
    return w * sum(x * x * (i + 1) for row in rows for i, x in enumerate(row))


def seen(call: Callable[[], Any], w: Value) -> Any:
    """The number and the gradient that a call gives, or the kind of error."""
    w.grad = 0.0
    try:
        out = call()
    except Exception as error:
        return type(error)
    out.backward()
    return out.data, w.grad


def _given(result: Any) -> Any:
    return result


def same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, type):
        return found is wanted
    return bool(found == pytest.approx(wanted, rel=1e-9, nan_ok=True))


def test_this_python_can_be_read() -> None:
    assert are_readable()  # else nothing here tries what it is there for


@pytest.mark.parametrize("length", [1, LONG - 1, LONG, LONG + 1, 5 * LONG])
def test_lists_of_floats_are_read_anew_at_each_call(length: int) -> None:
    draw, w = random.Random(length), Value(2.0)
    compiled = gradwalk.compile(lambda *lists: squares(w, *lists))
    xs, ys = [draw.random() for _ in range(length)], [draw.random() for _ in range(length + 3)]
    for arguments in [(xs,), (xs, ys), (3.0, xs, 4.0), (xs, 5.0, ys, 6.0), (xs, np.array(ys)), ([xs, xs],)] * 2:
        for _ in range(3):
            xs[draw.randrange(length)] = draw.random()
            ys[0] = draw.random()
            found = seen(partial(compiled, *arguments), w)
            assert same(found, seen(partial(squares, w, *arguments), w))


ODD = [7, True, np.float64(1.5), Metres(1.5), Fraction(3, 2), 10**400, 2**60, math.nan, -math.inf, -0.0,
       None, "1.5", [1.5], 1.5j]  # fmt: skip


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_what_is_no_float_is_seen_at_every_place(odd: Any) -> None:
    w = Value(2.0)
    compiled = gradwalk.compile(lambda *lists: squares(w, *lists))
    numbers = [0.5 + i for i in range(LONG + 10)]
    for _ in range(3):
        compiled(numbers)
    for at in (0, 1, LONG // 2, LONG + 9):
        xs = [*numbers[:at], odd, *numbers[at + 1 :]]
        wanted = seen(partial(squares, w, xs), w)
        found = seen(partial(compiled, xs), w)
        if isinstance(wanted, type):
            assert isinstance(found, type)
        elif isinstance(odd, int) and odd == 10**400:
            assert isinstance(found, type)  # no float can hold it
        elif isinstance(odd, Fraction):
            assert found is FrozenWarning  # it is run as it is
        else:
            assert same(found, wanted)
    assert same(seen(lambda: compiled(numbers), w), seen(lambda: squares(w, numbers), w))


def test_a_result_waits_while_its_list_is_changed() -> None:
    def changed(xs: list[Any], how: str) -> None:
        if how == "set":
            xs[3] = 100
        elif how == "cleared":
            xs.clear()
        else:
            xs.extend(xs)

    for how in ("set", "cleared", "longer"):
        for kind, f in (
            ("numbers", lambda w, xs: w * w * sum(x * x for x in xs)),
            ("indices", lambda w, xs: sum(gradwalk.take([w, w * w, w * 3.0], x) for x in xs)),
        ):
            w = Value(2.0)
            xs: list[Any] = [i % 3 if kind == "indices" else 0.5 * i for i in range(LONG + 5)]
            compiled = gradwalk.compile(lambda xs, f=f, w=w: f(w, xs))
            for _ in range(3):
                compiled(xs)
            wanted = seen(partial(f, w, xs), w)
            waiting, again = compiled(xs), xs.copy()
            changed(xs, how)
            compiled([x + 1 - x for x in again])
            for _ in range(2):
                assert same(seen(partial(_given, waiting), w), wanted), (how, kind)


def test_the_reader_reads_what_struct_writes() -> None:
    draw = random.Random(3)
    for _ in range(300):
        xs: list[Any] = [draw.choice([draw.gauss(0, 1), 0.0, math.inf]) for _ in range(draw.randrange(20))]
        numbers = np.zeros(30)
        if draw.random() < 0.3 and xs:
            xs[draw.randrange(len(xs))] = draw.choice([1, True, None, "x", Metres(1.0), Value(1.0)])
        plain = all(type(x) is float for x in xs)
        assert FloatReader(numbers).read(xs, 5, len(xs)) == plain
        if plain:
            assert numbers.tobytes() == struct.pack("30d", *[0.0] * 5, *xs, *[0.0] * (25 - len(xs)))
        assert not FloatReader(numbers).read(xs, 5, len(xs) + 1)
        assert not FloatReader(numbers).read(tuple(xs), 5, len(xs))
        assert not numbers[5 + len(xs) :].any()


def test_where_python_cannot_be_read_lists_are_looked_at_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (pythons, watched):
        monkeypatch.setattr(module, "are_readable", lambda: False)
    assert not FloatReader(np.zeros(2)).read([1.0, 2.0], 0, 2)
    test_lists_of_floats_are_read_anew_at_each_call(2 * LONG)
    test_a_model_of_many_lists_is_changed_in_the_midst_of_them()


# --- lists that are looked through before each call ------------------------------------------------------------------


def _holds_the_same(now: Any, then: Any) -> bool:
    if isinstance(now, dict):
        return [*now] == [*then] and now[1] is then[1]
    if now.__class__ is list and then.__class__ is list:
        return len(now) == len(then) and all(map(_holds_the_same, now, then))
    return now is then


def test_a_look_says_whether_lists_hold_the_very_same_things_and_dicts_were_left_alone() -> None:
    draw = random.Random(4)
    things: list[Any] = [*map(Value, range(5)), 1.0, 1, True, None, "a", (1.0,), math.nan]
    changes = 0
    for _ in range(300):
        holders: list[Any] = [[draw.choice(things) for _ in range(draw.randrange(6))] for _ in range(MANY + 4)]
        holders += [{1: 2.0}, (1.0, 2.0), [[1.0], [2.0]]]
        copies = [[row.copy() for row in x] if x == [[1.0], [2.0]] else x if type(x) is tuple else x.copy()
                  for x in holders]  # fmt: skip
        looked_at = Watched(holders, copies)
        assert looked_at.natively
        assert looked_at.hold()
        left_alone = True  # the dict
        for _ in range(4):
            x = draw.choice(holders)
            match draw.randrange(5 if versions_are_readable() else 4):  # else somebody else looks at dicts
                case 0 if type(x) is list and x:
                    x[draw.randrange(len(x))] = draw.choice([*things, float("1.0")])
                case 1 if type(x) is list:
                    x.append(draw.choice(things))
                case 2 if type(x) is list and x:
                    x.pop()
                case 3 if holders[-1] and type(holders[-1][0]) is list:
                    holders[-1][0][0] = draw.choice([1.0, 2.0])
                case 4:
                    before, holders[-3][1] = holders[-3][1], draw.choice([2.0, 3.0])
                    left_alone = left_alone and before is holders[-3][1]
            same = left_alone and all(map(_holds_the_same, holders, copies))
            assert looked_at.hold() == same
            changes += not same
    assert changes > 200


def test_a_model_of_many_lists_is_changed_in_the_midst_of_them() -> None:
    def swapped(model: Any) -> None:
        model.layers[1].neurons[3].w[2] = Value(0.75)

    def equal(model: Any) -> None:
        model.layers[0].neurons[5].w[0] = Value(model.layers[0].neurons[5].w[0].data)

    def longer(model: Any) -> None:
        model.layers.insert(1, nn.Layer(8, 8))

    def turned(model: Any) -> None:
        model.layers[1].neurons.reverse()

    for change in (swapped, equal, longer, turned):
        random.seed(1)
        model = nn.MLP(2, [8, 8, 1])
        loss = gradwalk.compile(lambda x, model=model: model(x) * 2.0)
        for _ in range(3):
            loss([1.0, 2.0]).backward()
            model.zero_grad()
        change(model)
        for p in model.parameters():
            p.grad = 5.0
        out = loss([1.0, 2.0])
        model.zero_grad()
        assert {p.grad for p in model.parameters()} == {0.0}, change
        out.backward()
        found = [p.grad for p in model.parameters()]
        model.zero_grad()
        plain = model([1.0, 2.0]) * 2.0
        plain.backward()
        assert out.data == pytest.approx(plain.data)
        assert found == pytest.approx([p.grad for p in model.parameters()]), change


# --- parameters that are set by hand ---------------------------------------------------------------------------------


@pytest.mark.parametrize("zero", [0.0, 0])
def test_work_by_hand_is_that_of_the_plain_function(zero: float) -> None:
    def trained(wrap: Callable[[Any], Any]) -> list[Any]:
        w, b = Value(2.0), Value(-1.0)
        f = wrap(lambda x: (w * x + b) ** 2)
        seen: list[Any] = []
        for i in range(12):
            out = f(0.5 + i)
            w.grad = b.grad = zero
            if i == 6:
                w.data = 7  # after the call: its numbers count
            if i == 8:
                hook = w.register_hook(lambda gradient: 10.0 * gradient)
            out.backward()
            if i == 8:
                hook.remove()
            if i == 9:
                f(2.0).backward()  # gradients add up
            seen += [out.data, w.data, w.grad, b.grad]
            w.data, b.data = w.data - 0.001 * w.grad, b.data - 0.001 * b.grad
        return seen

    assert trained(gradwalk.compile) == pytest.approx(trained(lambda f: f), rel=1e-12)
