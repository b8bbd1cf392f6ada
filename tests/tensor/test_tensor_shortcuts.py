"""Where NumPy has a quicker way to the same numbers: the very same ones, bit for bit."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest
from interrupting import interrupts, needs_timer, seconds_of

import gradwalk
from gradwalk import Tensor, modes, ops
from gradwalk.errors import BackwardError, GraphError, ShapeError
from gradwalk.tensor import arrays, backward, kernels, numpy_arrays

RNG = np.random.default_rng(7)
SIZES = (0, 1, 2, 3, 7, 16, 33, 100)


def numbers(*shape: int, dtype: str = "float64") -> Any:
    """Numbers with zeros of both signs among them."""
    return (RNG.normal(size=shape) * RNG.choice([1.0, 1.0, 0.0, -0.0], size=shape)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_sums_and_products_have_numpys_bits(dtype: str) -> None:
    for n in SIZES:
        for m in SIZES:
            a = numbers(n, m, dtype=dtype)
            for x in (a, a.T, np.asfortranarray(a), a[::-1], numbers(m, dtype=dtype) + np.zeros((n, m), dtype)):
                for axes in ((0,), (1,), (0, 1)):
                    for keep in (False, True):
                        want = np.asarray(np.add.reduce(x, axes, keepdims=keep))
                        found = numpy_arrays.total(x, axes, keep)
                        assert (found.shape, found.dtype, found.tobytes()) == (want.shape, want.dtype, want.tobytes())
            for k in (1, 2, 16):
                b = numbers(m, k, dtype=dtype)
                turned, wide = np.asfortranarray(b), np.broadcast_to(numbers(k, dtype=dtype), (m, k))
                for x, y in ((a, b), (b.T, a.T), (a, turned), (a, wide), (wide.T, a.T), (a[::-1], b)):
                    assert numpy_arrays.matmul(x, y).tobytes() == np.matmul(x, y).tobytes(), (x.shape, y.shape)


def test_products_of_many_are_taken_in_the_best_order_and_of_two_in_numpys() -> None:
    a, b, c = numbers(33, 100), numbers(100, 20), numbers(20, 7)
    two, three = np.einsum("ij,jk->ik", a, b), np.einsum("ij,jk,kl->il", a, b, c, optimize=True)
    assert numpy_arrays.einsum("ij,jk->ik", [a, b]).tobytes() == two.tobytes()
    assert numpy_arrays.einsum("ij,jk,kl->il", [a, b, c]).tobytes() == three.tobytes()


def test_sums_of_ints_and_bools_are_ints() -> None:
    assert Tensor([[1, 2], [3, 4]]).sum(0).tolist() == [4, 6]
    assert Tensor([[True, True], [False, True]]).sum(0).tolist() == [1, 2]


def test_a_choice_among_few_numbers_is_that_among_many() -> None:
    for shape in ((), (1,), (3,), (2, 3), (99,), (100,), (0, 3)):
        condition, no = np.asarray(numbers(*shape) <= 0), np.asarray(numbers(*shape, dtype="float32"))
        for yes in (0.0, np.float64(2.0), numbers(*shape)):
            want = np.where(condition, yes, no)
            found = numpy_arrays.bare["choose"](condition, yes, no)
            assert (found.dtype, found.tobytes()) == (want.dtype, want.tobytes())
    crossed = numpy_arrays.bare["choose"](np.array([[True, False, True]]), 0.0, np.ones((3, 1)))
    assert crossed.tolist() == [[0.0, 1.0, 0.0]] * 3


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_choice_among_very_many_numbers_has_the_bits_of_where(dtype: str) -> None:
    for shape in ((2047,), (2048,), (5000,), (64, 40), (3, 1000), (2, 0, 4)):
        x = numbers(*shape, dtype=dtype)
        special = np.where(numbers(*shape) > 0, np.array(-np.nan, dtype), np.array(-np.inf, dtype))
        wide = np.broadcast_to(np.array(-0.7, dtype), shape)
        for condition in (x <= 0, np.asfortranarray(x) > 0, np.broadcast_to(np.array(True), shape), x):
            for yes, no in itertools.permutations(
                (0.0, -0.0, 2.5, x, x[::-1], special, wide, x[:1], x.astype(float)), 2
            ):
                want = np.where(condition, yes, no)
                found = numpy_arrays.bare["choose"](condition, yes, no)
                assert (found.shape, found.dtype, found.tobytes()) == (want.shape, want.dtype, want.tobytes())


def test_a_choice_leaves_what_it_chooses_from_alone() -> None:
    x, y = numbers(3000), numbers(3000)
    before = x.copy(), y.copy()
    for condition in (x > 0, x <= 0):
        for yes, no in ((x, y), (x, 0.0), (0.0, x), (x, x)):
            numpy_arrays.bare["choose"](condition, yes, no)
    assert (x.tobytes(), y.tobytes()) == (before[0].tobytes(), before[1].tobytes())


def test_sigmoid_has_the_bits_of_its_two_halves() -> None:
    x = np.concatenate([RNG.normal(size=200) * 30, [0.0, -0.0, 1e3, -1e3, -740.0, 5e-324, np.inf, -np.inf]])
    small = np.exp(-np.abs(x))
    want = np.where(x >= 0, 1.0, small) / (1.0 + small)
    assert numpy_arrays.functions["sigmoid"](x).tobytes() == want.tobytes()
    assert np.isnan(numpy_arrays.functions["sigmoid"](np.array([np.nan]))).all()


#: Numbers at which functions and their slopes have something special: what overflows, ties, ends of a domain. Not 0.5:
#: if that is the only exponent, NumPy itself takes a root, which differs from the power at -0.0 and -inf.
EDGES = (0.0, -0.0, 0.25, 1.0, 1.5, -1.0, 2.0, -3.0, 5e-324, 740.0, -740.0, 1e308, np.inf, -np.inf, np.nan)
FEW = (0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan)  # of three operands, all combinations of these


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ops.TABLE)
def test_one_number_has_the_bits_of_one_of_many(name: str, dtype: str) -> None:
    """Every op of the table, forward and back; operands beside the first may be plain numbers, too."""
    op = ops.TABLE[name]
    with np.errstate(over="ignore"):
        points = np.array(list(itertools.product(FEW if op.arity == 3 else EDGES, repeat=op.arity))).astype(dtype)
    points = np.concatenate([points, RNG.normal(size=(50, op.arity)).astype(dtype) * 3])
    shapes, seeds = itertools.cycle([(), (1,), (1, 1)]), itertools.cycle([1.0, -0.7, 3.0, np.inf])
    for point, plain in itertools.product(points, {False, op.arity > 1}):
        shape, seed = next(shapes), next(seeds)
        one, many = (gone_through(op, point, seed, plain, size) for size in (shape, (9,)))
        assert one == many, f"{name}{tuple(point.tolist())}, {shape=}, {seed=}, {plain=}"


def gone_through(op: ops.Op, point: Any, seed: float, plain: bool, shape: tuple[int, ...]) -> list[Any]:
    """The number that an op gives everywhere in an array of this shape, and those that flow back; all nans are one."""
    numbers = [x.item() if plain and i else np.full(shape, x) for i, x in enumerate(point)]
    out = kernels.kernel(op)(*numbers)
    g = np.full(shape, seed, out.dtype)
    arrays = [(pull, x) for pull, x in zip(kernels.pulls(op), numbers, strict=True) if not isinstance(x, float)]
    shares = [numpy_arrays.quietly(pull, g, *numbers, out) for pull, _ in arrays]
    found = [out, *(x for x in shares if x.__class__ is not float)]
    assert all(np.shape(x) == shape for x in found)
    return [{(x.dtype, float(y).hex()) for y in np.ravel(x)} for x in found]


def test_both_shares_of_one_number_at_once_have_the_bits_of_each_by_itself() -> None:
    """Through the walk itself, beside nine numbers of the same; what a pair is not made for goes by the pulls."""
    taken = set()
    for op in (ops.TABLE[name] for name in ops.TABLE if ops.TABLE[name].arity == 2):
        points = [*itertools.product(EDGES, EDGES), *(RNG.normal(size=(50, 2)) * 3).tolist()]
        for point, seed, shape in zip(
            points, itertools.cycle([1.0, -0.7, np.inf]), itertools.cycle([(), (1,), (1, 1)])
        ):
            found = []
            for size in (shape, (9,)):
                x, y = (np.full(size, number) for number in point)
                out = kernels.kernel(op)(x, y)
                g = np.full(size, seed)
                shares = [numpy_arrays.quietly(pull, g, x, y, out) for pull in kernels.pulls(op)]
                if size == shape and op in arrays.made.pairs:
                    at_once = numpy_arrays.quietly(arrays.made.pairs[op], g, x, y, out)
                    if at_once is not None:
                        taken.add(op.name)
                        shares = at_once
                        assert all(share.shape == shape for share in shares)
                found.append([{float(number).hex() for number in np.ravel(share)} for share in shares])
            assert found[0] == found[1], (op.name, point, seed, shape)
    assert {"pow", "div", "maximum", "minimum"} <= taken


def test_shares_of_two_shapes_dtypes_or_uses_go_by_the_pulls() -> None:
    x, y = Tensor([[1.5]]), Tensor([0.5])
    (x**y).backward()
    assert (x.grad.shape, y.grad.shape) == ((1, 1), (1,))
    pair = arrays.made.pairs[ops.pow]
    one, other, half = np.array([1.5]), np.array([[0.5]]), np.array([0.5], "float32")
    assert pair(one, one, other, one) is None
    assert pair(other, one, one, one) is None
    assert pair(one, one, half, one) is None
    assert pair(half, one, one, one) is None
    assert pair(np.array([1.0]), np.array([1.0]), np.array([0.0]), one) is not None
    assert arrays.made.pairs[ops.div](one, one, np.array([0.0]), one) is None  # 1/0 is inf among arrays
    (z := Tensor([3.0]) / Tensor([0.0])).backward()
    assert z.inputs[1].grad.tolist() == [-np.inf]
    (x * x / x).backward()
    both = Tensor([2.0])
    (both**both).backward()
    assert both.grad.item() == pytest.approx(4 * (1 + math.log(2.0)), rel=1e-15)


def test_numbers_of_two_dtypes_go_back_as_among_many() -> None:
    """The logarithm of a float32 is one, whatever it is multiplied by."""
    for x in RNG.uniform(0.1, 3.0, size=50):
        for n in (1, 2):
            base, exponent = Tensor([x] * n, dtype="float32"), Tensor([[1.7] * n])
            base = base.sum() / n  # of no dims, it takes the other's dtype
            (base**exponent).sum().backward()
            if n == 1:
                alone = exponent.grad.item()
            else:
                assert exponent.grad[0].tolist() == [alone, alone]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_condition_may_be_of_any_dtype(dtype: str) -> None:
    for kind, n, truth in itertools.product(("float64", "float32", "int64", "bool"), (1, 3), (False, True)):
        x, y = Tensor([[2.0] * n], dtype=dtype), Tensor([-3.0] * n, dtype=dtype)
        out = ops.where(Tensor([truth] * n, dtype=kind), x, y)
        assert (out.dtype, out.tolist()) == (dtype, [[2.0 if truth else -3.0] * n])
        out.backward(np.full((1, n), np.inf))
        taken, left = (x, y) if truth else (y, x)
        assert (taken.grad == np.inf).all()
        assert (left.grad == 0.0).all()
    assert ops.where(Tensor([1.0], dtype="float32"), 1.0, 2.0).dtype == "float64"  # which is not the condition's


def test_a_condition_in_other_arrays_is_refused() -> None:
    with gradwalk.using_arrays("python"):
        condition = Tensor([True])
    with pytest.raises(GraphError, match="not in an array of numpy's"):
        ops.where(condition, Tensor([1.0]), 2.0)


def test_one_number_may_be_shared_by_shapes_of_one() -> None:
    x, y = Tensor([2.0]), Tensor([[3.0]])
    (x**y).backward()
    assert (x.grad.shape, x.grad.tolist()) == ((1,), [12.0])
    assert (y.grad.shape, y.grad.item()) == ((1, 1), pytest.approx(8.0 * math.log(2.0)))


@pytest.mark.parametrize("op", [ops.div, ops.pow])
@pytest.mark.parametrize("y", [3.0, 2.0, 1.0, -0.7, 1e-310, 1e308, 0.0, -0.0, np.inf, np.nan])
def test_a_plain_number_goes_back_as_an_array_of_it(op: ops.Op, y: float) -> None:
    x = np.concatenate([numbers(20), EDGES])
    g, out = numbers(x.size), kernels.kernel(op)(x, y)
    found, want = (numpy_arrays.quietly(kernels.pulls(op)[0], g, x, z, out) for z in (y, np.full(x.size, y)))
    assert [z.hex() for z in found.tolist()] == [z.hex() for z in want.tolist()]


def test_all_roads_give_one_result() -> None:
    """Operators, the general road, `no_grad` and an observer: the same numbers, dtypes and kinds of nodes."""
    for dtype in ("float64", "float32"):
        for shape in ((), (1,), (2, 3)):
            x, y = (Tensor(numbers(*shape, dtype=dtype)) for _ in range(2))
            for op, operands in (
                (ops.mul, (x, y)), (ops.mul, (x, 2.5)), (ops.div, (1.0, x)), (ops.tanh, (x,)), (ops.sigmoid, (x,)),
                (ops.relu, (x,)), (ops.maximum, (x, y)), (ops.clamp, (x, -0.5, 0.5)), (ops.where, (x, y, 1.0)),
            ):  # fmt: skip
                plain = op(*operands)
                with gradwalk.no_grad():
                    bare = op(*operands)
                with modes.observed(Listening()):
                    heard = op(*operands)
                for found in (bare, heard):
                    assert (found.dtype, found.shape) == (plain.dtype, plain.shape) == (dtype, shape)
                    assert found.array.tobytes() == plain.array.tobytes()
                assert bare.is_leaf
                assert not heard.is_leaf
                assert heard.inputs == plain.inputs


class Listening(modes.Observer):
    """Who hears of every op."""

    def op(self, out: Any, operands: tuple[Any, ...]) -> None:
        """Nothing to do."""


def test_what_does_not_fit_says_so_on_every_road() -> None:
    x, y = Tensor([[1.0, 2.0, 3.0]]), Tensor([1.0, 2.0])
    with pytest.raises(ShapeError, match=r"\(1, 3\) and \(2,\)"):
        ops.maximum(x, y)
    with gradwalk.no_grad(), pytest.raises(ShapeError, match=r"\(1, 3\) and \(2,\)"):
        x * y
    for inside in (False, True):
        with (
            gradwalk.no_grad() if inside else gradwalk.anomaly(),
            pytest.raises(ShapeError, match=r"\(1, 3\) @ \(2,\)"),
        ):
            x @ y
    with pytest.raises(ShapeError, match=r"\(1, 3\) @ \(1, 3\)"):
        x @ x


def test_a_leaf_that_was_written_to_is_noticed_at_either_operand() -> None:
    for position in (0, 1):
        pair = [Tensor([1.0, 2.0]), Tensor([3.0, 4.0])]
        loss = (pair[0] * pair[1]).sum()
        pair[position].data = [5.0, 6.0]
        with pytest.raises(BackwardError, match=r"leaf of shape \(2,\) was written to after \* of shape \(2,\) had"):
            loss.backward()
        pair[position].label = "w"
        with pytest.raises(BackwardError, match="the data of the leaf w was written to after"):
            loss.backward()
        later = (pair[0] * pair[1]).sum()
        later.backward()
        assert pair[1 - position].grad.tolist() == [5.0, 6.0]


def test_what_is_written_to_a_leafs_data_is_read_on_every_road() -> None:
    y = Tensor([3.0])
    roads: list[Any] = [
        lambda x: x * y, lambda x: y * x, lambda x: x * 2.0, lambda x: 2.0 * x, lambda x: x.exp(), lambda x: x.sum(),
        lambda x: x.maximum(y), lambda x: y.maximum(x), lambda x: x @ y, lambda x: ops.where(x > 4.0, x, y),
        lambda x: ops.where(x - 1.0, y, x), lambda x: x > 4.0, lambda x: x.detach(), lambda x: x.argmax(),
    ]  # fmt: skip
    for road in roads:
        x = Tensor([1.0])
        x.data[0] = 5.0
        assert road(x).tolist() == road(Tensor([5.0])).tolist()


def test_two_dtypes_on_every_road_are_the_wider_one() -> None:
    narrow, wide = Tensor([1.0, 2.0], dtype="float32"), Tensor([3.0, 1.0])
    for op in (ops.mul, ops.maximum, ops.sub):
        for pair in ((narrow, wide), (wide, narrow)):
            out = op(*pair)
            assert out.dtype == "float64"
            assert out.tolist() == op(*(x.double() for x in pair)).tolist()
    for op in (ops.mul, ops.maximum):
        for pair in ((narrow, Tensor([4, 5])), (Tensor([4, 5]), narrow)):
            assert op(*pair).dtype == "float32"


def test_what_is_written_elsewhere_makes_no_graph_older(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backward.Clock, "time", 0)
    x, fixed, other = Tensor([2.0]), Tensor([3.0], requires_grad=False), Tensor([1.0])
    loss = x * fixed * x.detach()
    other.data = [2.0]
    assert backward.Clock.time == 1
    loss.backward()
    assert x.grad.tolist() == [6.0]


def test_a_constant_that_was_written_to_is_noticed() -> None:
    x, w = Tensor([1.0, 2.0], requires_grad=False), Tensor([3.0, 4.0])
    loss = (x * w).sum()
    x.data = [5.0, 6.0]
    with pytest.raises(BackwardError, match="was written to after"):
        loss.backward()
    assert w.grad.tolist() == [0.0, 0.0]


def test_a_function_of_ones_own_keeps_dtypes_and_may_pass_nothing_on() -> None:
    step = gradwalk.op(lambda x, out: 0.0)(lambda x: float(x > 0))
    cube = gradwalk.op(lambda x, out: 3 * x * x if x == x else x)(lambda x: x * x * x)  # a rule with an if in it
    for dtype in ("float64", "float32"):
        x = Tensor([2.0, -1.0], dtype=dtype)
        (step(x) + cube(x)).sum().backward()
        assert (x.grad.dtype, x.grad.tolist()) == (dtype, [12.0, 3.0])


def test_an_expanded_tensor_gets_the_sum_back() -> None:
    x = Tensor([[1.0], [2.0]])
    x.expand(2, 3).sum().backward()
    assert x.grad.tolist() == [[3.0], [3.0]]


def test_the_order_of_a_walk_names_each_node_once() -> None:
    x, y = Tensor([1.0]), Tensor([2.0])
    a = x * y
    b = a + x
    c = (b * a) + b
    order, leaves, cuts = backward.plain_order(c) or ([], [], True)
    assert [order.index(v) for v in (a, b, c.inputs[0], c)] == [0, 1, 2, 3]
    assert {id(v) for v in leaves} == {id(x), id(y)}
    assert len(order) == 4
    assert not cuts
    assert backward.plain_order(x) == ([], [x], False)


def test_a_compiled_function_of_large_tensors_may_use_plain_ones_beside() -> None:
    x, scale = Tensor(np.ones((1, 1))), np.array([[2.0]])
    loss = gradwalk.compile(lambda: (x.float().double() * scale).sum())()  # a cast is done on whole arrays
    loss.backward()
    assert x.grad.tolist() == [[2.0]]


@needs_timer
def test_ctrl_c_leaves_no_kernels_of_another_provider() -> None:
    """Whenever it is heard while arrays are taken from elsewhere, for a block or for a trace."""
    w = Tensor([2.0, 3.0])

    def used() -> None:
        with gradwalk.using_arrays("python"):
            (Tensor([2.0]) ** Tensor([3.0])).backward()

    def traced() -> None:
        gradwalk.compile(lambda: (w**w).sum())().backward()

    draw = random.Random(0)
    for run in (used, traced):
        took, count = seconds_of(run), 0
        with interrupts() as broken_off:
            for _ in range(100):
                error = broken_off(run, max(1e-6, draw.uniform(0.0, 1.1) * took))
                count += error is not None
                del error  # and with it the frames that it was raised in
                assert vars(arrays)["now"] is numpy_arrays
                (Tensor([2.0]) ** Tensor([3.0])).backward()
                assert ops.pow in arrays.made.pairs
        assert count
