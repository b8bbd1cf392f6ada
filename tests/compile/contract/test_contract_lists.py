"""Lists that native code reads where they lie: long ones among the arguments, and those that parameters stand in."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

import gradwalk
from gradwalk import Value, nn
from gradwalk.compile.call import batch_arguments
from gradwalk.compile.call.arguments import Numbers, key_of
from gradwalk.compile.call.batch_arguments import BatchNumbers, key_of_samples
from gradwalk.compile.call.familiar import LONG, Alike
from gradwalk.compile.native import pythons
from gradwalk.compile.native.pythons import (
    OTHERS,
    READ,
    UNREAD,
    Described,
    NumberReader,
    are_readable,
    describe,
    flat,
    versions_are_readable,
)
from gradwalk.compile.own import watched
from gradwalk.compile.own.watched import MANY, Watched
from gradwalk.compile.trace.limits import FrozenWarning
from gradwalk.errors import NotANumberError


class Metres(float):
    """A float of a class of its own."""


def described_of(xs: Any) -> Described:
    found = describe(xs)
    assert found is not None
    return found


class Pair(NamedTuple):
    """Two of anything."""

    a: Any
    b: Any


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


WHOLE = [0, 1, -1, 7, -255, 2**30 - 1, 2**30, -(2**30), 2**31, 2**40 + 3, -(2**45), 2**53 - 1, 1 - 2**53]


def test_the_reader_reads_what_struct_writes() -> None:
    draw = random.Random(3)
    for _ in range(1000):
        kind, width, count = draw.choice([list, tuple]), draw.randrange(1, 6), draw.randrange(1, 6)
        xs: list[Any] = [draw.choice([draw.gauss(0, 1), 0.0, math.inf, *WHOLE]) for _ in range(width * count)]
        numbers = np.zeros(40)
        if draw.random() < 0.3:
            xs[draw.randrange(len(xs))] = draw.choice([2**53, -(2**60), True, None, "x", Metres(1.0), Value(1.0)])
        plain = all(type(x) is float or (type(x) is int and abs(x) < 2**53) for x in xs)
        rows = draw.choice([list, tuple])(kind(xs[i : i + width]) for i in range(0, len(xs), width))
        like = [1.5] * width
        described = described_of(type(rows)(kind(like) for _ in range(count)))
        for given, how in ((xs, flat(list, len(xs))), (tuple(xs), flat(tuple, len(xs))), (rows, described)):
            numbers[:] = 0.0
            assert NumberReader(numbers).read(given, how, 5) == (READ if plain else UNREAD)
            if plain:
                assert numbers.tobytes() == struct.pack("40d", *[0.0] * 5, *xs, *[0.0] * (35 - len(xs)))
            assert not numbers[5 + len(xs) :].any()
        for other in (
            described_of([kind([*like, 1.5])] * count),
            described_of((kind(like),) * (count + 1)),
            flat(list, 99),
        ):
            assert not other.fits(rows)


@pytest.mark.parametrize(
    "xs",
    [
        [([1.0, 2], 3), ([4.0], -5)], [1.0, [2.0, (3, [4.0], 5.0)], [], 6], [[[[1.5]]], (), [[]]],
        ({"a": 1}.popitem(), None, True, b"x"), [Pair(1.0, [2.0, "x"]), Pair(3, [4.0, "x"])],
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_described_is_read_in_order_and_nothing_else_fits(xs: Any) -> None:
    described, numbers = described_of(xs), np.zeros(30)
    leaves, structure = gradwalk.tree.flatten(xs)
    plain = [x for x in leaves if type(x) in (int, float)]
    assert list(Alike(xs, described)) == plain
    assert NumberReader(numbers).read(xs, described, 1) == READ
    assert numbers.tolist() == [0.0, *plain, *[0.0] * (29 - len(plain))]
    for i, leaf in enumerate(leaves):
        for other in (1, 2.5, True, False, None, "y", b"y", [], (), [1.0], Value(1.0), np.float64(1.0), 2**60):
            changed = structure.unflatten([*leaves[:i], other, *leaves[i + 1 :]])
            alike = other is leaf or (type(leaf) in (int, float) and type(other) in (int, float) and other != 2**60)
            assert (NumberReader(numbers).read(changed, described, 1) == READ) == alike
            assert described.fits(changed) or not alike
    for kind in (list, tuple):
        assert described.fits(kind(xs)) == (type(xs) is kind)
        assert not described.fits(kind([*xs, 1.0]))
        assert not xs or not described.fits(kind())


@pytest.mark.parametrize("odd", [Value(1.0), np.float64(1.0), np.zeros(2), {}, {1.0}, 2**53, Metres(1.0), 1j], ids=repr)
def test_what_cannot_be_told_is_not_described(odd: Any) -> None:
    assert describe([[1.0, odd]]) is None


def test_the_reader_tells_numbers_of_other_types_and_sizes() -> None:
    classes, limits = np.array([0, id(int), id(float), 0]), np.array([-1.0, -1.0, -1.0, 7.0])
    reader, two = NumberReader(np.zeros(4), classes, limits), described_of([[1, 2], [3, 4]])
    for xs, answer in (
        ([1, 2, 3.0, 7], READ), ([1.0, 2, 3.0, -7.0], READ), ([1, 2.0, 3.0, 7], OTHERS), ([1, 2, 3, 7], OTHERS),
        ([1, 2, 3.0, 8], OTHERS), ([1, 2, 3.0, math.nan], OTHERS), ([1, True, 3.0, 7], UNREAD),
    ):  # fmt: skip
        assert reader.read(xs, flat(list, 4), 0) == answer
        assert reader.read([xs[:2], xs[2:]], two, 0) == answer
    assert [reader.read([3.0, 7], flat(list, 2), at) for at in (2, 1)] == [READ, OTHERS]


def _weighted(w: Value, rows: Any, labels: Any) -> Any:
    scores = [sum(x * (i + 1) for i, x in enumerate(row)) for row in rows]
    return sum((w * s - y // 2) ** 2 if y % 2 == 0 else w * s * y for s, y in zip(scores, labels, strict=True))


@pytest.mark.parametrize("count", [LONG // 2 - 1, LONG // 2, LONG, 3 * LONG])
@pytest.mark.parametrize("kind", [list, tuple])
def test_rows_and_ints_are_read_anew_at_each_call(kind: Any, count: int) -> None:
    draw, w = random.Random(count), Value(2.0)
    compiled = gradwalk.compile(partial(_weighted, w))
    rows: list[Any] = [kind([draw.random(), i % 3]) for i in range(count)]
    labels: list[Any] = [draw.randrange(-9, 9) for _ in range(count)]
    changes: list[Callable[[], Any]] = [
        lambda: None,
        lambda: rows.__setitem__(1, kind([5, 6.5])),  # other types
        lambda: labels.__setitem__(1, labels[1] + 2),
        lambda: labels.__setitem__(1, float(labels[1])),
        lambda: labels.__setitem__(-2, True),
        lambda: rows.__setitem__(-2, kind([2**53 + 1, 1.0])),
        lambda: rows.__setitem__(3, kind([1.0, 2.0, 3.0])),  # no longer as long
        lambda: rows.__setitem__(3, (list if kind is tuple else tuple)([1.0, 2.0])),
        lambda: rows.__setitem__(4, np.array([1.0, 2.0])),
        lambda: (rows.pop(), labels.pop()),
        lambda: rows.__setitem__(2, kind([None, 1.0])),
    ]
    for change in changes:
        change()
        for _ in range(3):
            found, wanted = [seen(partial(f, rows, labels), w) for f in (compiled, partial(_weighted, w))]
            assert same(found, wanted) or (isinstance(found, type) and isinstance(wanted, type))


@dataclass
class Point:
    """A record in a dict of its own."""

    x: float
    y: float = 1.0


@dataclass(slots=True)
class Slotted:
    """A record in slots."""

    x: float
    y: float = 1.0


class Measured(NamedTuple):
    """A record that is a tuple."""

    x: float
    y: float = 1.0


def _added(x: Any) -> Any:
    """The sum of all numbers in anything, weighted by where they stand; flags and names have a say."""
    if isinstance(x, (bool, str)) or x is None:
        return 2.0 if x is True else 0.5 if x == "a" else 1.0
    if isinstance(x, (Point, Slotted, Measured)):
        return x.x * 2.0 + x.y + getattr(x, "extra", 0.0)
    if isinstance(x, dict):
        return sum(_added(part) * (i + 1) for i, part in enumerate(x.values()))
    if isinstance(x, (list, tuple, np.ndarray)):
        return sum((i + 1) * _added(part) for i, part in enumerate(x))
    return x * 1.5


KINDS: dict[str, Callable[[float, int], Any]] = {
    "row and label": lambda x, i: ([x, x + 1.0], i % 3),
    "row, label and flag": lambda x, i: ([x, x + 1.0], i % 3, i % 2 == 0, "a"),
    "ragged": lambda x, i: [x] * (i % 4),
    "matrices": lambda x, i: [[x, 1], [2.0, i]],
    "tuples": Measured,
    "dataclasses": Point,
    "slotted": Slotted,
    "dicts": lambda x, i: {"x": x, "y": i},
    "arrays": lambda x, i: np.array([x, i]),
    "NumPy's numbers": lambda x, i: [np.float64(x), np.float64(i)],
    "flags": lambda x, i: [i % 2 == 0, x],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [3, 40])
def test_records_of_any_kind_are_read_anew_at_each_call(kind: str, count: int) -> None:
    draw, make, w = random.Random(count), KINDS[kind], Value(2.0)
    compiled = gradwalk.compile(lambda xs, more=0.0: w * _added(xs) * w + more)
    plain = compiled.eager
    records = [make(draw.random(), i) for i in range(count)]

    def put(at: int, record: Any) -> None:
        records[at] = record

    def give_extra() -> None:
        if hasattr(records[1], "__dict__"):
            records[1].extra = 5.0

    changes: list[Callable[[], Any]] = [
        lambda: None, lambda: None, lambda: put(0, make(0.25, 7)), lambda: put(-1, make(3, 2)),
        lambda: put(1, make(0.5, 1)), lambda: put(2, 7.5), lambda: put(2, make(1.5, 2)), lambda: put(2, Value(0.75)),
        lambda: put(2, make(2.5, 2)), lambda: put(1, make(2**53 + 1, 1)), lambda: put(1, make(True, 1)),
        lambda: put(1, make(0.5, 1)), give_extra, lambda: records.append(make(1.0, 5)), lambda: records.reverse(),
        lambda: put(0, None), lambda: put(0, [None, [1.0]]),
    ]  # fmt: skip
    for change in changes:
        change()
        for arguments in [(records,), (records, 1.5), (records,)]:
            found, wanted = [seen(partial(f, *arguments), w) for f in (compiled, plain)]
            assert same(found, wanted), (kind, changes.index(change))


SAMPLES: list[Callable[[int], Any]] = [
    lambda i: [0.5 * i, 1.5], lambda i: (0.5 * i, 1.5), lambda i: [i, 2], lambda i: [i, 1.5], lambda i: [0.5 * i, 2],
    lambda i: [np.float64(i), 1.5], lambda i: 0.5 * i, lambda i: i, lambda i: i if i % 2 else 0.5 * i,
    lambda i: i % 3 == 0, lambda i: [0.5 * i, i % 3 == 0], lambda i: [0.5 * i, 2**53 + i], lambda i: 2**60 + i,
    lambda i: [1.5] * (1 + (i == 7)), lambda i: [1.5, None if i == 7 else 2.5],
]  # fmt: skip


@pytest.mark.parametrize("make", SAMPLES)
def test_many_samples_are_read_as_few_are(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def looked_at() -> Any:
        numbers = BatchNumbers()
        try:
            key = key_of_samples([make(i) for i in range(2 * LONG)], numbers)
        except NotANumberError as error:
            return str(error)
        return key, numbers.mixed, [(x.dtype, x.shape, x.tolist()) for x in numbers.arrays]

    natively = looked_at()
    monkeypatch.setattr(batch_arguments, "LONG", 10**9)
    assert natively == looked_at()


def _drawn(draw: random.Random, depth: int) -> Any:
    """A tree of numbers mostly, of all that arguments can be made of."""
    if depth == 0 or draw.random() < 0.15:
        odd = draw.choice([True, None, "a", 2**53 + 1, np.float64(1.5), np.array([1.0, 2.0]), Value(1.0)])
        return odd if draw.random() < 0.03 else draw.choice([draw.random(), draw.randrange(-5, 5)])
    several = [_drawn(draw, depth - 1) for _ in range(draw.randrange(7))]
    two = _drawn(draw, depth - 1), _drawn(draw, 0)
    return draw.choice([several, several, tuple(several), Pair(*two), dict(zip("abc", several, strict=False)),
                        Point(*two), Slotted(*two)])  # fmt: skip


def _drawn_anew(draw: random.Random, x: Any) -> Any:
    """The same tree with other numbers, and now and then with something else in a place."""
    if draw.random() < 0.01:
        return _drawn(draw, 2)
    return draw.random() if type(x) is float else draw.randrange(-5, 5) if type(x) is int else x


def test_what_is_known_at_a_glance_is_what_a_look_at_all_of_it_gives() -> None:
    draw, familiar = random.Random(5), 0
    for _ in range(400):
        row = draw.choice([[0.5, 1.5], ([0.5], 1), (1, 0.5, True), Pair(0.5, 2), Point(0.5, 1), {"a": 0.5}])
        x: Any = [row] * draw.randrange(10, 40) if draw.random() < 0.5 else [_drawn(draw, 3) for _ in range(9)]
        for _ in range(6):
            x = gradwalk.tree.map(partial(_drawn_anew, draw), x)
            careful, found = Numbers(careful=True), Numbers()
            key, at_a_glance = key_of(x, careful), key_of(x, found)
            reader = NumberReader(np.zeros(found.count() + 1))
            start, read = 0, True
            for piece in (*found.pieces, *([found.plain] if found.plain else [])):
                alike = isinstance(piece, Alike)
                familiar += alike
                how = piece.described if alike else flat(list, len(piece))
                read = read and reader.read(piece.content if alike else piece, how, start) == READ
                start += len(piece)
            if read:  # else it is looked at with care
                assert at_a_glance == key
                assert reader.numbers[:-1].tolist() == [float(x) for x in careful.plain]
                assert [*map(id, found.arrays)] == [*map(id, careful.arrays)]
                assert [(i, id(v)) for i, v in found.values] == [(i, id(v)) for i, v in careful.values]
    assert familiar > 100


def test_rows_that_only_seem_to_be_alike_are_told_apart() -> None:
    w = Value(2.0)
    compiled = gradwalk.compile(lambda rows: w * _added(rows))
    for odd in ([(0.3, 0.4), None], [[], (0.3, 0.4)], [0.3, 0.4], [Pair(0.3, 0.4), ()], [0.3, True]):
        for _ in range(4):
            rows: list[Any] = [[0.1, 0.2] for _ in range(LONG)]
            rows[8] = odd
            assert same(seen(partial(compiled, rows), w), seen(partial(compiled.eager, rows), w))


@pytest.mark.parametrize("size", [2, 40])
def test_values_in_lists_in_lists_are_told_apart(size: int) -> None:
    compiled = gradwalk.compile(lambda rows, x: sum((i + 1) * v * v * x for row in rows for i, v in enumerate(row)))
    a, b, c = [[Value(i + 0.5 * k) for i in range(size)] for k in range(3)]
    others: list[Any] = [[a, [*b[1:], a[0]]], [[*a[1:], a[1]], b], [a, b, c], [c, [1.0, a[0]], a]]
    for rows in [[a, b], [b, c], [a, a], [a, b], *others] * 2:
        grads = []
        for f in (compiled, compiled.eager):
            for v in (*a, *b, *c):
                v.grad = 0.0
            loss = f(rows, 1.5)
            loss.backward()
            grads.append([loss.data, *[v.grad for v in (*a, *b, *c)]])
        assert grads[0] == pytest.approx(grads[1], rel=1e-9)


def test_where_python_cannot_be_read_lists_are_looked_at_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (pythons, watched):
        monkeypatch.setattr(module, "are_readable", lambda: False)
    assert NumberReader(np.zeros(2)).read([1.0, 2.0], flat(list, 2), 0) == UNREAD
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
