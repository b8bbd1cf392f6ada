"""Names are looked at natively, by the words of memory that they depend on: every change is seen at the next call."""

from __future__ import annotations

import ctypes
import random
import types
from collections.abc import Callable
from typing import Any

import pytest

import gradwalk
from gradwalk import Value
from gradwalk.compile.call.following import Checks
from gradwalk.compile.native.pythons import address_in, address_of, versions_are_readable
from gradwalk.compile.own.watched import KNOWN, SEEN

pytestmark = pytest.mark.native

TEXT = """
class Base:
    def scaled(self, x): return 2.0 * x

class Other(Base):
    def scaled(self, x): return 3.0 * x

def square(x): return x * x
def cube(x): return x * x * x
def used(x): return x + 1.0

def make(inside):
    def f(x):
        more = 100.0 if 3 in allowed else 200.0 if used.__name__ == "used" else 300.0
        return (w * x + lam + inside) * box.scaled(used(x)) + box.k + min(lam, 1.5) + more
    def rebind(to):
        nonlocal inside
        inside = to
    return f, rebind

lam, unread, box, allowed = 0.5, 0.0, Base(), {1, 2}
box.k = 1.0
"""


def _world() -> tuple[dict[str, Any], Callable[[Any], Any], dict[str, Callable[[random.Random], None]]]:
    space: dict[str, Any] = {"w": Value(2.0), "__name__": "world"}
    exec(TEXT, space)
    f, rebind = space["make"](0.25)
    box, codes = space["box"], [space[name].__code__ for name in ("square", "cube", "used")]
    numbers = (0.5, 1.5, 2.5, 1.0)

    def shadow(draw: random.Random) -> None:
        if "min" in space:
            del space["min"]
        else:
            space["min"] = draw.choice([max, lambda x, y: x])

    def other_attributes(draw: random.Random) -> None:
        box.__dict__ = {"k": draw.choice(numbers)}

    changes: dict[str, Callable[[random.Random], None]] = {
        "a global": lambda draw: space.update(lam=draw.choice(numbers)),
        "a global to an equal one": lambda draw: space.update(lam=float(str(space["lam"]))),
        "a global that nobody reads": lambda draw: space.update(unread=draw.random()),
        "a new global": lambda draw: space.update({f"new{draw.randrange(99)}": 0.0}),
        "a builtin's name": shadow,
        "a parameter": lambda draw: space.update(w=Value(draw.choice(numbers))),
        "what a function has captured": lambda draw: rebind(draw.choice(numbers)),
        "a function's code": lambda draw: setattr(space["used"], "__code__", draw.choice(codes)),
        "a function's name": lambda draw: setattr(space["used"], "__name__", draw.choice(["used", "other"])),
        "a set, which Python compares": lambda draw: space["allowed"].symmetric_difference_update(
            {draw.choice([3, 4])}
        ),
        "an object's class": lambda draw: setattr(box, "__class__", space[draw.choice(["Base", "Other"])]),
        "an object's attributes": other_attributes,
        "an attribute": lambda draw: setattr(box, "k", draw.choice(numbers)),
        "a method": lambda draw: setattr(space["Base"], "scaled", draw.choice([METHOD, space["Other"].scaled])),
        "a class that nobody asks": lambda draw: setattr(space["Other"], "unread", draw.random()),
    }
    return space, f, changes


def METHOD(self: Any, x: Any) -> Any:  # noqa: N802 (a method from elsewhere)
    return 4.0 * x


@pytest.mark.filterwarnings("ignore:.*was traced anew")
@pytest.mark.parametrize("seed", range(6))
def test_every_change_of_a_name_is_seen_at_the_next_call(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Checks, "affordable", lambda checks, calls: False)  # it is this look that has to notice
    _, f, changes = _world()
    compiled, draw = gradwalk.compile(f, cache=1000), random.Random(seed)
    for turn in range(150):
        for _ in range(draw.choice([0, 0, 1, 1, 2])):
            changes[draw.choice([*changes])](draw)
        x = draw.choice([1.0, 2.0, 3.0])
        plain = f(x)
        assert compiled(x).data == pytest.approx(plain.data, rel=1e-12), (seed, turn)


@pytest.mark.skipif(not versions_are_readable(), reason="this Python's dicts do not say whether they were changed")
def test_names_are_asked_for_only_after_a_change() -> None:
    space, f, _ = _world()
    compiled = gradwalk.compile(f)
    for _ in range(6):  # at the fifth it is traced once more, which sets names for a while
        compiled(2.0)
    [trace] = compiled.traces()
    table = trace.surroundings.watched.natively["answer"]
    seen = table[SEEN]
    compiled(3.0)
    assert seen == table[SEEN] == table[KNOWN]
    space["unread"] = 7.0
    compiled(3.0)
    assert seen < table[SEEN] == table[KNOWN]
    space["lam"] = 9.0
    assert not trace.holds()
    assert table[SEEN] > table[KNOWN]
    assert not trace.holds()  # also where nothing has changed since


def test_where_a_slot_stands_is_known_by_its_name() -> None:
    def f() -> None: ...

    w = gradwalk.Tensor([1.0, 2.0])
    assert address_of(f, "__name__")
    assert address_of(f, "__name__") != address_of(f, "__qualname__")
    assert not address_of(f, "scale")
    assert not address_of(w, "scale")
    assert not address_of(Value(1.0), "_flows")
    word = ctypes.c_int64.from_address(address_of(w, "_flows"))
    assert word.value == id(True)
    w.requires_grad = False
    assert word.value == id(False)


def test_a_tensor_that_becomes_a_constant_is_noticed_natively() -> None:
    w, v = gradwalk.Tensor([1.0, 2.0]), gradwalk.Tensor([3.0])
    f = gradwalk.compile(lambda x: (w * x).sum() + v.sum())
    for _ in range(10):
        f(2.0)
    [trace] = f.traces()
    assert trace.holds()
    w.requires_grad = False
    assert not trace.holds()
    f(2.0).backward()
    assert (w.grad, v.grad.tolist()) == (None, [1.0])


def test_a_word_that_stands_twice_in_a_thing_is_not_known() -> None:
    class Twice:
        __slots__ = ("a", "b")
        a: Any
        b: Any

    thing, held = Twice(), object()
    thing.a = held
    assert address_in(thing, held)
    thing.b = held
    assert not address_in(thing, held)
    assert address_in(thing, Twice)
    assert address_in(types.CellType(held), held)
