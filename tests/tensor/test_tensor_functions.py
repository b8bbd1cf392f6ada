"""Functions of tensors as PyTorch has them, at their edges; chance, making, dtypes and files, line by line."""

from __future__ import annotations

import copy
import io
import math
import operator
import pickle
import random
import zipfile
from array import array
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from beside_torch import provider, same

import gradwalk
from gradwalk import Tensor, Value, nn, using_arrays
from gradwalk.errors import BackwardError, GradwalkError, GraphError, ModelFileError, NotANumberError, ShapeError
from gradwalk.tensor import arrays, backward, python_arrays

__all__ = ["provider"]
pytestmark = pytest.mark.usefixtures("provider")

TF = torch.nn.functional
CUBE = np.arange(24.0).reshape(2, 3, 4) % 7 - 2.5
IMAGES = np.sin(np.arange(120.0)).reshape(2, 3, 4, 5)
KERNEL = np.cos(np.arange(36.0)).reshape(2, 3, 3, 2)


#: Functions of a namespace and a maker of tensors, with one text for both.
ALIKE: list[Callable[[Any, Any], Any]] = [
    lambda g, t: g.zeros(()), lambda g, t: g.zeros(0), lambda g, t: g.ones((2, 0)), lambda g, t: g.full((), 2.5),
    lambda g, t: g.full((2,), 3), lambda g, t: g.full((1,), True), lambda g, t: g.full((2,), fill_value=1.5),
    lambda g, t: g.zeros_like(t([1, 2])), lambda g, t: g.ones_like(t([1.0])), lambda g, t: g.full_like(t([1.0]), 4),
    lambda g, t: g.eye(3), lambda g, t: g.eye(2, 3), lambda g, t: g.eye(3, 2), lambda g, t: g.eye(0),
    lambda g, t: g.arange(3), lambda g, t: g.arange(2, 7), lambda g, t: g.arange(7, 2, -2), lambda g, t: g.arange(0),
    lambda g, t: g.arange(0.0, 1.0, 0.3), lambda g, t: g.arange(1.0, -1.0, -0.5), lambda g, t: g.arange(1.5),
    lambda g, t: g.arange(1, 2, 0.25), lambda g, t: g.linspace(0.1, 0.7, 7), lambda g, t: g.linspace(3.0, 1.0, 4),
    lambda g, t: g.linspace(2.0, 5.0, 1), lambda g, t: g.linspace(2.0, 5.0, 0), lambda g, t: g.linspace(0, 1, 2),
    lambda g, t: g.cat([t([1.0]), t([2.0, 3.0])]), lambda g, t: g.cat([t(CUBE), t(CUBE)], -1),
    lambda g, t: g.cat([t([1]), t([2.5])]), lambda g, t: g.stack([t([1.0]), t([2.0])], -1),
    lambda g, t: g.stack([t(CUBE), t(CUBE)], 1), lambda g, t: g.stack([t(1.0), t(2.0)]),
    lambda g, t: g.einsum("ij", t(CUBE[0])), lambda g, t: g.einsum("ji", t(CUBE[0])),
    lambda g, t: g.einsum("i j , j k", t(CUBE[0]), t(CUBE[0].T)), lambda g, t: g.einsum("...i", t(CUBE)),
    lambda g, t: g.cat([t([]), t(CUBE[0])]), lambda g, t: g.cat([t(CUBE[0]), t([]), t(CUBE[0])], 1),
    lambda g, t: g.einsum("ij->...", t(CUBE[0])), lambda g, t: g.einsum("ij->j...", t(CUBE[0])),
    lambda g, t: g.einsum("i...->...", t(CUBE)), lambda g, t: g.einsum("...ij,...kj->...ik", t(CUBE), t(CUBE[0])),
    lambda g, t: g.einsum("ijk,ijk->", t(CUBE), t(CUBE)), lambda g, t: g.einsum("b...,b...->...b", t(CUBE), t(CUBE)),
    lambda g, t: g.einsum("ba", t(CUBE[0])), lambda g, t: g.einsum("A...,A->...", t(CUBE), t([1.0, 2.0])),
    lambda g, t: g.where(t([True, False]), 1.0, t([2.0, 3.0])), lambda g, t: g.maximum(t([1, 5]), t([2, 3])),
]  # fmt: skip
#: The same where PyTorch has the function elsewhere.
FUNCTIONS: list[tuple[Callable[[], Any], Callable[[], Any]]] = [
    (lambda: gradwalk.one_hot([0, 2]), lambda: TF.one_hot(torch.tensor([0, 2]))),
    (lambda: gradwalk.one_hot([[1], [0]], 3), lambda: TF.one_hot(torch.tensor([[1], [0]]), 3)),
    (lambda: gradwalk.pad(Tensor(CUBE), (1, 2), value=9.0), lambda: TF.pad(torch.tensor(CUBE), (1, 2), value=9.0)),
    (lambda: gradwalk.pad(Tensor(CUBE), ()), lambda: torch.tensor(CUBE)),
    (lambda: gradwalk.pad(Tensor(CUBE), (0, 0, 1, 0)), lambda: TF.pad(torch.tensor(CUBE), (0, 0, 1, 0))),
    (lambda: gradwalk.pad(Tensor(CUBE), (-1, 1, 0, -2)), lambda: TF.pad(torch.tensor(CUBE), (-1, 1, 0, -2))),
    (lambda: gradwalk.pad(Tensor([1.0, 2.0]), (-2, 0)), lambda: torch.zeros(0)),
    (lambda: gradwalk.conv2d(IMAGES, KERNEL), lambda: TF.conv2d(torch.tensor(IMAGES), torch.tensor(KERNEL))),
    (lambda: gradwalk.conv2d(IMAGES[0], KERNEL, stride=(2, 1), padding=(1, 0)),
     lambda: TF.conv2d(torch.tensor(IMAGES[0]), torch.tensor(KERNEL), stride=(2, 1), padding=(1, 0))),
    (lambda: gradwalk.conv2d(IMAGES, KERNEL, [1.0, 2.0], 2, 1),
     lambda: TF.conv2d(torch.tensor(IMAGES), torch.tensor(KERNEL), torch.tensor([1.0, 2.0]), 2, 1)),
    (lambda: gradwalk.conv1d(IMAGES[:, :, 0], KERNEL[:, :, 0], stride=2),
     lambda: TF.conv1d(torch.tensor(IMAGES[:, :, 0]), torch.tensor(KERNEL[:, :, 0]), stride=2)),
    (lambda: gradwalk.conv1d(IMAGES[0, :, 0], KERNEL[:, :, 0]),
     lambda: TF.conv1d(torch.tensor(IMAGES[0, :, 0]), torch.tensor(KERNEL[:, :, 0]))),
    (lambda: gradwalk.max_pool2d(IMAGES, (2, 3), (1, 2)), lambda: TF.max_pool2d(torch.tensor(IMAGES), (2, 3), (1, 2))),
    (lambda: gradwalk.max_pool2d(IMAGES[0], 2), lambda: TF.max_pool2d(torch.tensor(IMAGES[0]), 2)),
    (lambda: gradwalk.avg_pool2d(IMAGES, 2, 1), lambda: TF.avg_pool2d(torch.tensor(IMAGES), 2, 1)),
    (lambda: gradwalk.avg_pool1d(IMAGES[0], 3), lambda: TF.avg_pool1d(torch.tensor(IMAGES[0]), 3)),
    (lambda: gradwalk.max_pool1d(IMAGES[0], 5), lambda: TF.max_pool1d(torch.tensor(IMAGES[0]), 5)),
    (lambda: gradwalk.cross_entropy([1.0, 2.0], 1),
     lambda: TF.cross_entropy(torch.tensor([1.0, 2.0]), torch.tensor(1))),
    (lambda: gradwalk.cross_entropy([1.0, 2.0], [0.5, 0.5]),
     lambda: TF.cross_entropy(torch.tensor([1.0, 2.0]), torch.tensor([0.5, 0.5]))),
    (lambda: gradwalk.cross_entropy(CUBE[0], [3, 0, 1]),
     lambda: TF.cross_entropy(torch.tensor(CUBE[0]), torch.tensor([3, 0, 1]))),
    (lambda: gradwalk.as_tensor([1, 2], "float32"), lambda: torch.tensor([1, 2], dtype=torch.float32)),
    (lambda: gradwalk.as_tensor(Tensor([1.5]), "int64"), lambda: torch.tensor([1])),
    (lambda: gradwalk.arange(3, dtype="float32"), lambda: torch.arange(3, dtype=torch.float32)),
    (lambda: gradwalk.arange(0.0, 2.0, dtype=int), lambda: torch.arange(0, 2)),
    (lambda: gradwalk.arange(2.0, 1.0), lambda: torch.zeros(0)),
]  # fmt: skip


def test_functions_give_pytorchs_numbers() -> None:
    for i, f in enumerate(ALIKE):
        same(f(gradwalk, Tensor), f(torch, torch.tensor), f"number {i}: {f.__code__.co_names} {f.__code__.co_consts}")
    for i, (ours, theirs) in enumerate(FUNCTIONS):
        same(ours(), theirs(), f"function {i}: {ours.__code__.co_names}")


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "full": (lambda: gradwalk.full((2,), "x"), "a shape and a number, not 'x'"),
    "zeros": (lambda: gradwalk.zeros(-1), r"zeros takes sizes of at least 0, not \(-1,\)"),
    "eye": (lambda: gradwalk.eye(2, -1), "eye takes sizes of at least 0, not 2 and -1"),
    "arange": (lambda: gradwalk.arange(0, 1, 0), "a step that is not 0, not 0, 1, 0"),
    "arange inf": (lambda: gradwalk.arange(math.inf), "finite numbers"),
    "linspace": (lambda: gradwalk.linspace(0.0, 1.0, -1), "a number of steps of at least 0, not -1"),
    "linspace from": (lambda: gradwalk.linspace("a", 1.0, 2),
                      "from one number to another, not str"),
    "one_hot floats": (lambda: gradwalk.one_hot([0.5]), "one_hot takes whole numbers, and was given float64"),
    "one_hot large": (lambda: gradwalk.one_hot([1, 3], 3), "one_hot of 3 classes was given labels from 1 to 3"),
    "one_hot below": (lambda: gradwalk.one_hot([-1, 1], 3), "labels from -1 to 1"),
    "cat numbers": (lambda: gradwalk.cat([Tensor([1.0]), Tensor(1.0)]), "number 1 is a single number; use stack"),
    "cat dims": (lambda: gradwalk.cat([CUBE, CUBE[0]]), r"tensors 0 and 1 have shapes \(2, 3, 4\) and \(3, 4\)"),
    "cat one": (lambda: gradwalk.cat(Tensor([1.0])),  # type: ignore[arg-type]
                "cat takes a list of tensors, not Tensor"),
    "pad odd": (lambda: gradwalk.pad(CUBE, (1,)), "two widths for each of up to 3 dims, and was given 1"),
    "pad many": (lambda: gradwalk.pad([1.0], (1, 1, 1, 1)), "up to 1 dims, and was given 4"),
    "pad mode": (lambda: gradwalk.pad([1.0], (1, 1), "reflect"), "mode='constant', not 'reflect'"),
    "pad cuts": (lambda: gradwalk.pad([1.0, 2.0], (-2, -1)),
        r"\(-2, -1\) would cut more than is there from shape \(2,\)"),
    "einsum first": (lambda: gradwalk.einsum(3),  # type: ignore[arg-type]
                     "an equation as in 'ij,jk->ik' first, not 3"),
    "einsum count": (lambda: gradwalk.einsum("i,j", [1.0]), r"names 2 tensor\(s\) and was given 1"),
    "einsum sign": (lambda: gradwalk.einsum("i?", CUBE[0]), r"'i\?' holds something that is no letter"),
    "einsum dims": (lambda: gradwalk.einsum("ij,k->i", CUBE[0], CUBE[0]), r"'k' names 1 dims and tensor 1 has shape"),
    "einsum after": (lambda: gradwalk.einsum("ij->k", CUBE[0]), "each letter after -> stands once there"),
    "einsum twice": (lambda: gradwalk.einsum("ij->ii", CUBE[0]), "each letter after -> stands once there"),
    "einsum dots": (lambda: gradwalk.einsum("...ij,...i", CUBE[0, 0], CUBE[0]), "name more dims than a tensor has"),
    "conv weights": (lambda: gradwalk.conv2d(IMAGES, KERNEL[0]), r"weights \(out, in, kernel, kernel\), not shape"),
    "conv inputs": (lambda: gradwalk.conv2d(IMAGES[:, :2], KERNEL), "do not fit weights of shape"),
    "conv dims": (lambda: gradwalk.conv1d(IMAGES[None], KERNEL[:, :, 0]), "do not fit weights of shape"),
    "conv stride": (lambda: gradwalk.conv2d(IMAGES, KERNEL, stride=(1, 1, 1)),
        r"stride as 2 number\(s\), and was given"),
    "conv window": (lambda: gradwalk.conv2d(IMAGES[:, :, :2], KERNEL),
        "a window of 3 with stride 1 does not fit dim 2"),
    "conv step": (lambda: gradwalk.conv2d(IMAGES, KERNEL, stride=0), "a window of 3 with stride 0 does not fit"),
    "pool": (lambda: gradwalk.max_pool2d([[1.0]], 1), r"max_pool2d takes \(batch, channels, …\) and was given"),
    "pool window": (lambda: gradwalk.avg_pool1d([[1.0]], 0), "a window of 0 with stride 0 does not fit dim 1"),
    "logits": (lambda: gradwalk.cross_entropy(CUBE, [0]), r"not shape \(2, 3, 4\); flatten the dims in front"),
    "shares": (lambda: gradwalk.cross_entropy(CUBE[0], [0.5]), r"shares of shape \(1,\) for logits of shape \(3, 4\)"),
    "nll dims": (lambda: gradwalk.nll_loss(CUBE, [0, 1]), r"of shape \(n, classes\), not \(2, 3, 4\)"),
    "nll count": (lambda: gradwalk.nll_loss(CUBE[0], [0]), r"3 row\(s\) of logits need 3 target\(s\), of shape \(3,\)"),
    "nll none": (lambda: gradwalk.nll_loss(gradwalk.zeros(0, 2), gradwalk.zeros(0, dtype=int)), "a loss of no samples"),
    "nll floats": (lambda: gradwalk.nll_loss([[1.0]], [0.0]), "whole numbers, and were given as float64"),
    "nll low": (lambda: gradwalk.nll_loss([[1.0]], [-1]), "class -1, and 1 logits make classes 0 to 0"),
    "nll high": (lambda: gradwalk.nll_loss([[1.0, 2.0]], [2]), "class 2, and 2 logits make classes 0 to 1"),
    "rand": (lambda: gradwalk.rand(-1), r"rand takes sizes of at least 0, not \(-1,\)"),
    "generator": (lambda: gradwalk.rand(1, generator=3), r"made with gradwalk.Generator\(\), not int"),
    "randint none": (lambda: gradwalk.randint(3, 3, (1,)), "from 3 up to 3 has nothing to choose from"),
    "randint floats": (lambda: gradwalk.randint(0.5, 3, (1,)), "randint takes whole numbers"),  # type: ignore[arg-type]
    "randperm": (lambda: gradwalk.randperm(-1), "a number of places of at least 0, not -1"),
    "multinomial dims": (lambda: gradwalk.multinomial(CUBE, 1), r"shares, or rows of them, not shape \(2, 3, 4\)"),
    "multinomial 0": (lambda: gradwalk.multinomial([1.0], 0), "at least 1 sample, not 0"),
    "multinomial -1": (lambda: gradwalk.multinomial([-1.0, 1.0], 1), "shares of at least 0, and finite"),
    "multinomial inf": (lambda: gradwalk.multinomial([math.inf], 1), "shares of at least 0, and finite"),
    "multinomial few": (lambda: gradwalk.multinomial([0.0, 0.0, 1.0], 2), "asked for 2 of 1 places that have a share"),
    "seed": (lambda: gradwalk.manual_seed(True), "a seed is a whole number, not bool"),
    "large": (lambda: Tensor([2**63]), "an int of 64 bits does not fit int64"),
    "ragged": (lambda: Tensor([[[1.0], [1.0, 2.0]]]), r"these at \[0\] have \(1,\) and \(2,\)"),
    "text within": (lambda: Tensor([[1.0, "a"]]), r"not str: 'a', at \[0, 1\]"),
    "a Value within": (lambda: Tensor([1.0, Value(1.0)]), r"makes one node of many Values, at \[1\]"),
    "rows of Values": (lambda: Tensor.of([[Value(1.0)], [1.0, 2.0]]),
        r"rows of one shape, and was given \(1,\) and \(2,\)"),
    "tensors of": (lambda: Tensor.of([Tensor([1.0])]), "put together with gradwalk.stack or gradwalk.cat"),
    "scalars": (lambda: Tensor([1]).scalars(), r"scalars\(\) is for floats, and this tensor is of int64"),
    "matmul dtypes": (lambda: Tensor([1.0]) @ Tensor([1.0], dtype="float32"),
        "matmul of float64 and float32: give all"),
    "hook shape": (lambda: hooked(lambda g: [1.0, 2.0]),
        r"a hook gave a gradient of shape \(2,\) to a tensor of shape \(1,\)"),
    "op": (lambda: setattr(Tensor([1.0]), "_op", "x"), "how a tensor was made cannot be set"),
    "off": (lambda: setattr(Tensor([1.0]).exp(), "requires_grad", False),
        "for leaves; cut a computed tensor off with detach"),
    "arity": (lambda: Tensor([1.0]).computed(gradwalk.ops.exp, (Tensor([1.0]), Tensor([1]))), "exp takes 1 operand"),
    "arrays": (lambda: using_arrays("cupy").__enter__(), "arrays come from 'numpy' or 'python', not from 'cupy'"),
}  # fmt: skip


def hooked(hook: Callable[[Any], Any]) -> None:
    x = Tensor([1.0])
    x.register_hook(hook)
    (x * 2.0).sum().backward()


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    call, text = REFUSED[name]
    with pytest.raises(GradwalkError, match=text):
        call()


def test_equally_far_apart_from_both_ends() -> None:
    for n in range(2, 40):
        found = gradwalk.linspace(-0.1, 0.1, n).tolist()
        half = n // 2
        assert found[:half] == [-x for x in reversed(found)][:half]
        assert (found[0], found[-1]) == (-0.1, 0.1)


def test_near() -> None:
    assert gradwalk.allclose([1.0], [1.0 + 9e-6])
    assert not gradwalk.allclose([1.0], [1.0 + 1.2e-5])
    assert gradwalk.allclose([9e-9], [0.0])
    assert not gradwalk.allclose([1.2e-8], [0.0])
    assert gradwalk.allclose([1.0, 2.0], [1.1, 2.1], rtol=0.0, atol=0.2)
    assert not gradwalk.allclose([1.0, 2.0], [1.0, 3.0])


# --- chance ----------------------------------------------------------------------------------------------------------


def test_numbers_by_chance_are_pythons_own() -> None:
    g, known = gradwalk.Generator(), random.Random(0)
    assert gradwalk.rand(2, generator=g).tolist() == [known.random(), known.random()]
    lengths = []
    for _ in range(2):
        length, angle = math.sqrt(-2.0 * math.log(1.0 - known.random())), 2.0 * math.pi * known.random()
        lengths += [length * math.cos(angle), length * math.sin(angle)]
    assert gradwalk.randn(3, generator=g).tolist() == lengths[:3]
    assert gradwalk.randint(5, 9, (2, 2), generator=g).flatten().tolist() == [known.randrange(5, 9) for _ in range(4)]
    assert gradwalk.randint(7, (3,), generator=g).tolist() == [known.randrange(7) for _ in range(3)]
    assert gradwalk.randint(0, 2, 4, generator=g).shape == (4,)
    assert gradwalk.randperm(0).tolist() == []
    assert gradwalk.rand(()).shape == gradwalk.randn(()).shape == ()
    assert gradwalk.rand(2, dtype="float32", requires_grad=False).dtype == "float32"
    with gradwalk.tensor.random.seeded(3):
        inside = gradwalk.rand(1).item()
    assert inside == random.Random(3).random()


def test_places_by_chance() -> None:
    g, known = gradwalk.Generator().manual_seed(4), random.Random(4)
    for _ in range(20):
        (place,) = gradwalk.multinomial([0.0, 1.0, 0.0, 3.0], 1, generator=g).tolist()
        assert place == (1 if known.random() * 4.0 < 1.0 else 3)
    rows = gradwalk.multinomial([[1.0, 1.0, 0.0], [0.0, 2.0, 2.0]], 2, generator=g).tolist()
    assert [sorted(row) for row in rows] == [[0, 1], [1, 2]]
    assert gradwalk.multinomial([0.0, 5.0], 3, replacement=True).tolist() == [1, 1, 1]
    assert gradwalk.multinomial(Tensor([1.0]), 1).dtype == "int64"


# --- making ----------------------------------------------------------------------------------------------------------


def test_what_tensors_are_made_of(provider: str) -> None:
    cases: list[tuple[Any, tuple[int, ...], str]] = [
        ([[], []], (2, 0), "float64"), ([[[]]], (1, 1, 0), "float64"), (range(3), (3,), "int64"),
        ((1, 2.5), (2,), "float64"), ([True, 2], (2,), "int64"), (True, (), "bool"), (2**63 - 1, (), "int64"),
        (-(2**63), (), "int64"), (np.float16(1.5), (), "float32"), (np.ones(2, "uint8"), (2,), "int64"),
        (np.ones((2, 0), "float32"), (2, 0), "float32"), (torch.ones((0, 2)), (0, 2), "float64"),
        (torch.ones(2, dtype=torch.bfloat16), (2,), "float32"),
        (torch.ones((2, 1), dtype=torch.int32), (2, 1), "int64"), ([Tensor([1, 2]), [3, 4]], (2, 2), "int64"),
        ([np.ones(2), np.zeros(2)], (2, 2), "float64"),
        ([array("d", [1.0, 2.0])], (1, 2), "float64"), (np.bool_(True), (), "bool"),
        ([np.float64(2.0)], (1,), "float64"),
        (Tensor([1.0], dtype="float32"), (1,), "float32"), (python_arrays.new([[1, 2]], "int64"), (1, 2), "int64"),
    ]  # fmt: skip
    for given, shape, dtype in cases:
        x = Tensor(given)
        assert (x.shape, x.dtype) == (shape, dtype), given
    assert Tensor([True, 2]).tolist() == [1, 2]
    assert Tensor(np.array([[1, 2]], "int8")).tolist() == [[1, 2]]
    for wrong in (np.array(["a"]), np.array([1j]), np.array([Value(1.0)]), np.array(["2020"], "datetime64")):
        with pytest.raises(NotANumberError):
            Tensor(wrong)


def test_dtypes_together() -> None:
    operations: list[Callable[[Any, Any], Any]] = [lambda a, b: a * b, lambda a, b: a / b, lambda a, b: a**b]
    kinds = {"float64": 1.5, "float32": 1.5, "int64": 2, "bool": True}
    for one, x in kinds.items():
        for other, y in kinds.items():
            for shape in ((), (1,)):
                for operation in operations:
                    ours = [Tensor([x], dtype=one), Tensor(np.full(shape, y), dtype=other)]
                    theirs = [
                        torch.tensor([x], dtype=getattr(torch, one)),
                        torch.full(shape, y, dtype=getattr(torch, other)),
                    ]
                    try:
                        found = operation(*ours).dtype
                    except NotANumberError:
                        assert one == other == "bool"
                        continue
                    assert f"torch.{found}" == str(operation(*theirs).dtype), (one, other, shape)
    assert (Tensor([2, 4]) ** -1).tolist() == [0.5, 0.25]
    assert (Tensor([2, 4]) ** Tensor([-1, 2])).tolist() == [0.5, 16.0]
    assert (Tensor([2, 4]) ** Tensor([1, 2])).dtype == "int64"
    assert gradwalk.where(Tensor([True]), Tensor([1]), 2).dtype == "int64"
    assert gradwalk.where(Tensor([1.0]), Tensor([True]), Tensor([False])).dtype == "bool"
    assert gradwalk.stack([Tensor([1]), Tensor([True])]).dtype == "int64"
    assert (Tensor([[1, 2]]) @ Tensor([1.5, 1.0])).tolist() == [3.5]


def test_dtypes_by_any_name() -> None:
    names = {"double": "float64", "float": "float32", "long": "int64", "int": "int64", float: "float64", bool: "bool",
             np.float32: "float32", np.dtype("int64"): "int64", gradwalk.float32: "float32"}  # fmt: skip
    assert {spelling: arrays.dtype_named(spelling) for spelling in names} == names
    wrong: Any
    for wrong in ("f", [1], {}, None, 3):
        with pytest.raises(GradwalkError, match="a dtype is 'float64', 'float32', 'int64' or 'bool', not"):
            arrays.dtype_named(wrong)


# --- copies, pickles and files ---------------------------------------------------------------------------------------


def test_copies_and_pickles_have_all_that_was_there() -> None:
    x = Tensor([[1.0, 2.0]], dtype="float32", label="x")
    fixed = Tensor([3.0], requires_grad=False)
    x.register_hook(lambda gradient: gradient * 10)
    loss = (x * fixed).sum()
    loss.backward()
    twin = copy.deepcopy(x)
    assert (twin.label, twin.dtype, twin.grad.tolist(), twin.requires_grad) == ("x", "float32", [[30.0, 30.0]], True)
    assert not copy.deepcopy(fixed).requires_grad
    other = copy.deepcopy(loss)
    other.zero_grad()
    other.backward()
    (leaf,) = [v for v in gradwalk.walk.topological(other) if v.label == "x"]
    assert leaf is not x
    assert leaf.grad.tolist() == [[30.0, 30.0]]
    again = pickle.loads(pickle.dumps(x))
    assert (again.tolist(), again.dtype, again.label) == ([[1.0, 2.0]], "float32", "x")
    assert again.grad.tolist() == [[30.0, 30.0]]
    assert not pickle.loads(pickle.dumps(fixed)).requires_grad
    number = Tensor(2.0)
    assert pickle.loads(pickle.dumps(number)).grad.item() == 0.0
    (number * number).backward()
    assert pickle.loads(pickle.dumps(number)).grad.item() == 4.0
    assert pickle.loads(pickle.dumps(gradwalk.zeros(0, 2))).shape == (0, 2)


def test_files_are_numpys_whole_and_the_same_each_time(tmp_path: Path) -> None:
    path = tmp_path / "t.npz"
    tensors = {"a": Tensor([[1.5, -2.0]]), "deep/b": Tensor([True, False]), "c": Tensor(7)}
    gradwalk.save(tensors, path)
    content = path.read_bytes()
    gradwalk.save(tensors, path)
    assert path.read_bytes() == content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert all((10 + archive.read(name)[8]) % 64 == 0 for name in archive.namelist())
    with np.load(path) as found:
        assert {name: found[name].tolist() for name in found} == {name: x.tolist() for name, x in tensors.items()}
    gradwalk.save(Tensor([4.0]), path)
    assert gradwalk.load(path).tolist() == [4.0]
    gradwalk.save(nn.Linear(2, 1), path)
    assert sorted(gradwalk.load(path)) == ["bias", "weight"]
    for name in ("", "/a", "a/../b", 3, "a\0b", "\ud800", "a" * 70_000):
        with pytest.raises(GradwalkError, match="a tensor in a file has a name, not"):
            gradwalk.save({name: Tensor([1.0])}, path)


def test_files_of_numpys_own(tmp_path: Path) -> None:
    path = tmp_path / "t.npz"
    rows = np.arange(6.0).reshape(2, 3)
    for version in ((1, 0), (2, 0), (3, 0)):
        written = io.BytesIO()
        np.lib.format.write_array(written, rows, version)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("x.npy", written.getvalue())
        if version == (3, 0):
            with pytest.raises(ModelFileError, match="no array of numbers"):
                gradwalk.load(path)
        else:
            assert gradwalk.load(path)["x"].tolist() == rows.tolist()
    for wrong in (np.asfortranarray(rows), rows.astype("complex128"), rows.astype(">f8")):
        np.savez(path, x=wrong)
        with pytest.raises(ModelFileError, match=r"x\.npy is no array of numbers that gradwalk reads"):
            gradwalk.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.npy", written.getvalue()[:-8])
    with pytest.raises(ModelFileError, match="damaged"):
        gradwalk.load(path)


# --- how a tensor was made -------------------------------------------------------------------------------------------


def test_what_a_node_tells_of_itself() -> None:
    x = Tensor([2.0, 3.0])
    assert [v._op for v in (x, x**2, x**0.5, x**x, x @ x, x.exp(), x * 2)] == [
        "",
        "**2",
        "**0.5",
        "**",
        "@",
        "exp",
        "*",
    ]
    y = x * 2
    assert (y.inputs[1], y.slopes[1], [v.shape for v in y.operands]) == (2.0, None, [(2,), ()])
    assert y._prev == {x, y.operands[1]}
    assert (x.is_leaf, y.is_leaf, x.slopes, x.inputs) == (True, False, (), ())
    y.requires_grad = True  # it was computed from a leaf that nobody asked for
    assert y.is_leaf
    asked = Tensor([1.0], requires_grad=True)
    z = asked * 2
    z.requires_grad = True
    assert not z.is_leaf
    assert Tensor([1.0], requires_grad=False).grad is None
    y._grad = 0.0
    y._backward()
    x.grad = [1.0, 2.0]
    assert x.grad.tolist() == [1.0, 2.0]
    for nothing in (None, 0, 0.0):
        x.grad = nothing
        assert x.grad.tolist() == [0.0, 0.0]
    x.grad = Tensor([3.0, 4.0])
    x.exp().sum().backward()
    np.testing.assert_allclose(x.grad.tolist(), [3.0 + math.exp(2.0), 4.0 + math.exp(3.0)], rtol=1e-15)


def test_whatever_makes_a_tensor_is_told_whether_it_is_trained() -> None:
    like = gradwalk.ones(2)
    makers: list[tuple[Any, ...]] = [
        (gradwalk.arange, 3.0), (gradwalk.eye, 2), (gradwalk.linspace, 0, 1, 3), (gradwalk.ones, 2),
        (gradwalk.zeros_like, like), (gradwalk.ones_like, like), (gradwalk.full_like, like, 3.0), (gradwalk.randn, 2),
    ]  # fmt: skip
    for make, *given in makers:
        assert make(*given, requires_grad=True).is_surely_trained
        assert not make(*given, requires_grad=False).requires_grad
    with pytest.raises(GradwalkError, match="carries no gradient"):
        gradwalk.arange(3, requires_grad=True)


def test_gradients_add_up_whatever_was_there() -> None:
    x = Tensor([2.0])
    (x**3).sum().backward(create_graph=True)
    (x * 5.0).sum().backward()
    assert x.grad.tolist() == [17.0]
    (x**3).sum().backward(create_graph=True)
    assert x.grad.tolist() == [29.0]
    x.zero_grad()
    x.register_hook(lambda gradient: None)
    (x * 2.0 + x * 3.0).sum().backward()
    (x * 2.0).sum().backward()
    assert x.grad.tolist() == [7.0]


def test_writing_to_a_leaf_is_noticed_by_every_walk() -> None:
    for walk in (lambda v: v.backward(), lambda v: v.backward(create_graph=True), lambda v: gradwalk.explain(v)):
        for hook in (False, True):
            x = Tensor([1.0, 2.0])
            if hook:
                x.register_hook(lambda gradient: None)
            old = (x * x).sum()
            x.data[0] = 5.0
            with pytest.raises(BackwardError, match="was written to after"):
                walk(old)
            assert x.grad.tolist() == [0.0, 0.0]
            walk((x * x).sum())
    x = Tensor([1.0])
    held = x.data
    held[0] = 3.0
    assert (x + 0.0).tolist() == (0.0 + x).tolist() == (x @ Tensor([1.0])).reshape(1).tolist() == x.exp().log().tolist()
    assert (x * 1.0).tolist() == [3.0]
    x.data = [4.0]
    assert (held[0], x.data[0]) == (3.0, 4.0)


def test_the_walk_that_lets_go_names_each_leaf_once(monkeypatch: pytest.MonkeyPatch) -> None:
    x, fixed = Tensor([1.0, 2.0]), Tensor([3.0, 4.0], requires_grad=False)
    found = backward.plain_order(x * fixed + x * x)
    assert found is not None
    assert found[1] == [x]
    monkeypatch.setattr(backward, "KEPT_NUMBERS", 2)
    middle = x * 2
    middle.sum().backward()
    with pytest.raises(BackwardError, match="holds more than 4,000,000 numbers"):
        _ = middle.grad


def test_nothing_of_no_numbers_takes_the_shape_of_another() -> None:
    x, y = gradwalk.zeros(0, 1), gradwalk.ones(1, 3)
    (x * y).sum().backward()
    assert (x.grad.shape, y.grad.tolist()) == ((0, 1), [[0.0, 0.0, 0.0]])


def test_mixed_graphs() -> None:
    a, x = Value(2.0), Tensor([1.0, 3.0])
    loss = (Tensor.of([a, a * a]) * x).sum()
    loss.backward()
    loss.backward()
    assert (a.grad, x.grad.tolist()) == (26.0, [4.0, 8.0])
    with pytest.raises(BackwardError, match=r"through Tensor\.of\(\) cannot be differentiated again"):
        loss.backward(create_graph=True)
    with pytest.raises(ShapeError):
        Tensor([1.0, 2.0]) + Tensor([1.0, 2.0, 3.0])
    with pytest.raises(GraphError, match="give the tensor itself"):
        gradwalk.explain((Tensor([1.0], label="w") * Tensor([1.0], label="w")).sum(), "w")


# --- a leaf's own numbers --------------------------------------------------------------------------------------------


def test_the_data_of_a_leaf_is_written_in_every_way_that_is_advised() -> None:
    x: Any = Tensor([[1.0, 2.0], [3.0, 4.0]])
    ways: list[tuple[Callable[[], Any], Any]] = [
        (lambda: operator.setitem(x.data, ..., 1.0), [[1.0, 1.0], [1.0, 1.0]]),
        (lambda: operator.setitem(x.data, (..., 1), 3.0), [[1.0, 3.0], [1.0, 3.0]]),
        (lambda: operator.setitem(x.data, (0, ...), 5.0), [[5.0, 5.0], [1.0, 3.0]]),
        (lambda: operator.setitem(x.data, (1, -1), 7.0), [[5.0, 5.0], [1.0, 7.0]]),
        (lambda: operator.setitem(x.data, slice(1, 2), [8.0, 9.0]), [[5.0, 5.0], [8.0, 9.0]]),
        (lambda: setattr(x, "data", x.data + 1.0), [[6.0, 6.0], [9.0, 10.0]]),
        (lambda: setattr(x, "data", 1.0 - x.data), [[-5.0, -5.0], [-8.0, -9.0]]),
        (lambda: setattr(x, "data", x.data * 2.0 - x.data), [[-5.0, -5.0], [-8.0, -9.0]]),
        (lambda: setattr(x, "data", 40.0 / x.data), [[-8.0, -8.0], [-5.0, -40.0 / 9.0]]),
    ]
    for write, wanted in ways:
        write()
        assert x.tolist() == wanted
    assert (x.data[0, 1], x.data[..., 0].tolist()) == (-8.0, [-8.0, -5.0])
    assert (len(x.data), [len(row) for row in x.data]) == (2, [2, 2])
    x.data += 1.0
    x.data *= 2.0
    x.data -= Tensor([[1.0, 1.0], [1.0, 1.0]])
    assert x.tolist()[0] == [-15.0, -15.0]


def test_a_nan_that_was_looked_at_has_not_changed() -> None:
    x = Tensor([math.nan, 2.0])
    loss = (x * 3.0).sum()
    assert x.data[1] == 2.0
    loss.backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_numbers_one_by_one_stand_where_they_stood() -> None:
    assert [[[v.data for v in row] for row in rows] for rows in Tensor(CUBE).scalars()] == CUBE.tolist()


def test_powers_of_ints_are_exact() -> None:
    assert (Tensor([3, -2]) ** 39).tolist() == [3**39, -(2**39)]


def test_every_operator_may_be_the_first_that_is_used() -> None:
    functions = ("__add__", "__sub__", "__mul__", "__truediv__", "__pow__")
    for name in functions:
        for reflected in (False, True):
            with arrays.provided_by(SimpleNamespace(**vars(arrays.now))):  # for which nothing has been made yet
                operation = getattr(operator, name)
                found = operation(3.0, Tensor([2.0])) if reflected else operation(Tensor([3.0]), 2.0)
                assert found.tolist() == [operation(3.0, 2.0)]
