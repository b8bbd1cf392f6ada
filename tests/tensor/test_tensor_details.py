"""What single lines of the tensor package promise: texts of errors, printing, jacobians, functions of providers."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import gradwalk
from gradwalk import Tensor, Value, using_arrays
from gradwalk.errors import BackwardError, GraphError, ModelFileError, NotANumberError, SettingError, ShapeError
from gradwalk.tensor import backward, numpy_arrays, python_arrays, shapes
from gradwalk.tensor.backward import FREED
from gradwalk.tensor.entries import Einsum, MatMul, Max, Reshape, Sum, unbroadcast
from gradwalk.tensor.jacobians import hessians, jacobians, one_number

RNG = np.random.default_rng(3)
DTYPES = ("float64", "float64", "float32")


# --- errors say what is wrong, and where -----------------------------------------------------------------------------

ERRORS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "no dims": (lambda: Tensor(1.0) @ Tensor([1.0]), ShapeError,
                r"\(\) @ \(1,\): a product of matrices needs one dim at least on both sides; for numbers use \*"),
    "transposed": (lambda: Tensor(np.ones((2, 3))) @ Tensor(np.ones((2, 3))), ShapeError,
                   r"\(2, 3\) @ \(2, 3\) does not fit: the last dim of the left, 3, must be the last but one dim of "
                   r"the right, 2; did you mean the transpose, right.T\?"),
    "a vector": (lambda: Tensor(np.ones((2, 3))) @ Tensor(np.ones(2)), ShapeError,
                 r"\(2, 3\) @ \(2,\) does not fit: the last dim of the left, 3, must be the only dim of the right, 2"),
    "many in front": (lambda: Tensor(np.ones((2, 3, 4))) @ Tensor(np.ones((5, 4, 2))), ShapeError,
                      r"the dims in front are \(2,\) and \(5,\), 2 against 5"),
    "no numbers": (lambda: Tensor(np.ones((2, 0))).amax(1), ShapeError,
                   r"max over dim 1 of shape \(2, 0\): of no numbers none is the largest"),
    "lost dim": (lambda: Tensor(np.ones((2, 3))) - Tensor(np.ones((2, 3))).sum(1), ShapeError,
                 r"shapes \(2, 3\) and \(2,\) do not fit together in -: axis 1 has size 3 and 2; sizes must be equal, "
                 r"or one of them 1. Was a dim lost\? With keepdim=True a sum over dim 1 has the shape \(2, 1\)"),
    "lost inner dim": (lambda: Tensor(np.ones((4, 2, 3))) - Tensor(np.ones((4, 2, 3))).sum(1), ShapeError,
                       r"With keepdim=True a sum over dim 1 has the shape \(4, 1, 3\), which fits"),
    "of three": (lambda: gradwalk.where(Tensor([1.0, 2.0]), Tensor([1.0]), Tensor([1.0, 2.0, 3.0])), ShapeError,
                 r"shapes \(2,\) and \(3,\) do not fit together in where: axis 0 has size 2 and 3"),
    "dtypes": (lambda: gradwalk.einsum("i,i,i->", *[gradwalk.ones(1, dtype=x) for x in DTYPES]), NotANumberError,
               "einsum of float64 and float32: give all the same dtype"),
    "far dim": (lambda: Tensor(np.ones((2, 3))).sum(2), ShapeError,
                "sum was given dim 2, and a tensor of 2 dims has -2 to 1"),
    "twice": (lambda: Tensor(np.ones((2, 3))).sum((0, -2)), ShapeError, r"sum was given dim 0 twice in \(0, -2\)"),
    "both names": (lambda: Tensor([1.0]).sum(dim=0, axis=0), ShapeError, "both dim and axis, which mean the same"),
    "out of range": (lambda: Tensor([1.0, 2.0])[2], ShapeError, r"index 2 is out of range in dim 0 of shape \(2,\)"),
    "in a list": (lambda: Tensor([1.0, 2.0])[[0, -3]], ShapeError, r"index -3 is out of range .* there are 0 to 1"),
    "too many": (lambda: Tensor([1.0])[0, 0], ShapeError, r"an index of 2 dims was given for a tensor of 1, of shape"),
    "two ...": (lambda: Tensor([1.0])[..., ...], ShapeError, "may hold one `...`"),
    "backwards": (lambda: Tensor([1.0])[::-1], ShapeError, r"step of -1; to turn a dim use flip\(dim\)"),
    "mask": (lambda: Tensor(np.ones((2, 3)))[np.ones((2, 2), bool)], ShapeError,
             r"a mask of shape \(2, 2\) was given for dims 0 to 1 of shape \(2, 3\)"),
    "floats": (lambda: Tensor([1.0])[np.array([0.5])], ShapeError, "an array of float64; convert it with .long()"),
    "many roots": (lambda: Tensor([1.0, 2.0]).backward(), BackwardError, r"shape \(2,\); take its sum\(\) or mean\(\)"),
    "ints": (lambda: Tensor([1, 2]).backward(), BackwardError, "it is of int64"),
    "constants": (lambda: (Tensor([1.0], False) * 2).sum().backward(), BackwardError, "from constants only"),
    "seed": (lambda: Tensor([1.0]).exp().backward([1.0, 2.0]), ShapeError, r"\(2,\) for a tensor of shape \(1,\)"),
    "set": (lambda: setattr(Tensor([1.0]).exp(), "data", [2.0]), GraphError, r"computed \(exp of shape \(1,\)\)"),
    "set shape": (lambda: setattr(Tensor([1.0]), "data", [2.0, 3.0]), ShapeError, r"\(2,\) was set on .* \(1,\)"),
    "grad shape": (lambda: setattr(Tensor([1.0]), "grad", [2.0, 3.0]), ShapeError, r"gradient of shape \(2,\) was set"),
    "grad of ints": (lambda: setattr(Tensor([1]), "grad", [2.0]), GraphError, "of int64 that carries no gradient"),
    "flag": (lambda: Tensor([1.0], requires_grad=1), SettingError, "True or False, not 1"),  # type: ignore[arg-type]
    "ints flow": (lambda: Tensor([1], requires_grad=True), SettingError, "int64 carries no gradient"),
    "hook": (lambda: Tensor([1.0]).register_hook(3), GraphError, "a function of the gradient, not int: 3"),
    "item": (lambda: Tensor([1.0, 2.0]).item(), ShapeError, r"item\(\) is for one number, .* shape \(2,\)"),
    "grad of many": (lambda: gradwalk.grad(lambda x: x * 2)(Tensor([1.0, 2.0])), NotANumberError, r"use jacobian\(f\)"),
    "diagonal": (lambda: Tensor([1.0]).diagonal(), ShapeError, r"diagonal is for matrices, .* shape \(1,\)"),
    "diagonal twice": (lambda: Tensor([[1.0]]).diagonal(0, 1, -1), ShapeError, "dim 1 twice; rows and columns are two"),
    "diag": (lambda: Tensor(1.0).diag(), ShapeError, r"a vector or a matrix, and this tensor has shape \(\)"),
    "unflatten": (lambda: Tensor(1.0).unflatten(0, (1, 1)), ShapeError, "unflatten takes a tensor of at least one dim"),
    "topk": (lambda: Tensor([1.0]).topk(2), ShapeError, r"topk was asked for 2 along dim 0 of shape \(1,\)"),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_what_an_error_says(name: str) -> None:
    call, kind, text = ERRORS[name]
    with pytest.raises(kind, match=text):
        call()


def test_a_list_beside_a_tensor_is_shown_if_it_is_short() -> None:
    for listed, shown in (([1, 2, 3, 4], r"\[1, 2, 3, 4\]"), ([1] * 5, r"\[\.\.\.\]"), ((1, 2), r"\[1, 2\]")):
        with pytest.raises(NotANumberError, match=rf"add was given a {type(listed).__name__}; .* Tensor\({shown}\)"):
            Tensor([1.0]) + listed


def test_no_hint_where_none_fits() -> None:
    with pytest.raises(ShapeError) as error:
        Tensor(np.ones((2, 3))) + Tensor(np.ones((2, 4)))
    assert "Was a dim lost" not in str(error.value)
    with pytest.raises(ShapeError) as error:
        Tensor(np.ones((2, 3))) @ Tensor(np.ones((4, 2)))
    assert "transpose" not in str(error.value)
    assert __file__.rpartition("/")[2] in str(error.value)


# --- printing --------------------------------------------------------------------------------------------------------


def test_how_tensors_are_printed() -> None:
    assert repr(Tensor([1.0, 1e-7, 12345678.0, float("inf"), float("nan")])) == (
        "Tensor([1.0, 1e-07, 1.23457e+07, inf, nan])"
    )
    assert repr(Tensor([1, 2])) == "Tensor([1, 2])"
    assert repr(Tensor([1.0], dtype="float32", label="w")) == "Tensor([1.0], dtype='float32', label='w')"
    assert repr(Tensor(np.zeros((0, 2)))) == "Tensor([], shape=(0, 2))"
    assert "…" not in repr(Tensor(np.zeros(200)))
    assert repr(Tensor(np.arange(201.0))) == "Tensor([0.0, 1.0, 2.0, …, 198.0, 199.0, 200.0], shape=(201,))"
    assert repr(Tensor(np.zeros((40, 6)))).count("0.0") == 36


# --- jacobians -------------------------------------------------------------------------------------------------------


def test_jacobians_and_hessians_of_several_inputs() -> None:
    a, b = RNG.normal(size=(2, 2)), RNG.normal(size=2)
    x, y = Tensor(a), Tensor(b)
    tx, ty = torch.tensor(a), torch.tensor(b)

    def f(x: Any, y: Any) -> Any:
        return ((x @ y).tanh() * y).sum() + (x * x * x).sum()

    for ours, theirs in zip(
        jacobians((x @ y).tanh(), [x, y]),
        torch.autograd.functional.jacobian(lambda x, y: (x @ y).tanh(), (tx, ty)),
        strict=True,
    ):
        assert ours.shape == tuple(theirs.shape)
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-12)
    for mine, other in zip(hessians(f(x, y), [x, y]), torch.autograd.functional.hessian(f, (tx, ty)), strict=True):
        for ours, theirs in zip(mine, other, strict=True):
            assert ours.shape == tuple(theirs.shape)
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-12, atol=1e-15)


def test_jacobians_where_there_is_nothing() -> None:
    x = Tensor([1.0, 2.0])
    (found,) = jacobians(x[:0], [x])
    assert (found.shape, found.dtype) == ((0, 2), "float64")
    (found,) = jacobians(Tensor([3.0], False), [x])
    assert found.tolist() == [[0.0, 0.0]]
    assert jacobians(5.0, [x])[0].tolist() == [0.0, 0.0]
    assert one_number(3.0).data == 3.0
    value = Value(2.0)
    assert one_number(value) is value


def test_gradients_with_values_beside_tensors() -> None:
    """A Value beside tensors is one of no dims: the second derivatives were 0."""
    f: Any = lambda a, b: (a * b).sum() ** 2  # noqa: E731
    given = [1.0, 2.0, 3.0], 2.0
    x, v = Tensor(given[0]), Value(given[1])
    theirs: Any = tuple(torch.tensor(part, dtype=torch.float64) for part in given)
    for ours, wanted in (
        (gradwalk.grad(f)(x, v), torch.func.grad(f, argnums=(0, 1))(*theirs)),
        (gradwalk.jacobian(lambda a, b: a * b)(x, v), torch.autograd.functional.jacobian(lambda a, b: a * b, theirs)),
        *zip(gradwalk.hessian(f)(x, v), torch.autograd.functional.hessian(f, theirs), strict=True),
        (
            gradwalk.jacobian(lambda a, b: gradwalk.grad(f)(a, b)[1])(x, v),
            torch.autograd.functional.hessian(f, theirs)[1],
        ),
    ):
        assert [part.tolist() for part in ours] == [part.tolist() for part in wanted]
    assert gradwalk.grad(lambda a, b: b * b)(x, v)[0].tolist() == [0.0, 0.0, 0.0]
    assert gradwalk.grad(lambda a: v * v)(x).tolist() == [0.0, 0.0, 0.0]
    for derivative in (gradwalk.grad, gradwalk.jacobian, gradwalk.hessian):
        with pytest.raises(NotANumberError, match="give them as tensors"):
            derivative(lambda b: f(x, b))(v)


# --- entries ---------------------------------------------------------------------------------------------------------


def test_entries_tell_what_they_are() -> None:
    assert repr(Sum((0,), keep=True)) == "<sum axes=(0,), keep=True>"
    assert repr(MatMul()) == "<matmul>"
    assert MatMul().symbol == "@"
    assert Reshape((2,)).symbol == "reshape"
    assert (Max.cuts, Sum.cuts) == (True, False)


@pytest.mark.parametrize("provider", ["numpy", "python"])
def test_unbroadcast_undoes_what_broadcasting_did(provider: str) -> None:
    with using_arrays(provider):
        for wide in ((2, 3), (2, 1, 3), (4, 2, 3), (0, 3)):
            for narrow in ((3,), (1,), (), (1, 3), (2, 3), (2, 1), (1, 1)):
                try:
                    fits = shapes.broadcast([wide, narrow]) == wide
                except ShapeError:
                    continue
                if not fits:
                    continue
                g = RNG.normal(size=wide)
                t = torch.zeros(narrow, dtype=torch.float64, requires_grad=True)
                t.expand(wide).backward(torch.tensor(g))
                assert t.grad is not None
                array = Tensor(g.tolist()).reshape(wide) if 0 not in wide else gradwalk.zeros(wide)
                for given in (array.array, array):
                    found = unbroadcast(given, narrow)
                    assert found.shape == narrow
                    np.testing.assert_allclose(
                        np.array(found.tolist()).reshape(narrow), t.grad.numpy(), rtol=1e-12, atol=1e-15
                    )


@pytest.mark.parametrize(
    ("equation", "sizes"),
    [("ij,jk->ik", ((2, 3), (3, 2))), ("ii->i", ((3, 3),)), ("ii->", ((3, 3),)), ("ij->j", ((2, 3),)),
     ("i,j,k->ijk", ((2,), (3,), (2,))), ("iij->ji", ((2, 2, 3),)), ("bij,bjk->bik", ((2, 2, 3), (2, 3, 2))),
     ("ij,ij->", ((2, 3), (2, 3))), ("iii->i", ((2, 2, 2),))],
)  # fmt: skip
def test_sums_by_letters_go_back_to_every_operand(equation: str, sizes: tuple[tuple[int, ...], ...]) -> None:
    given = [RNG.normal(size=size) for size in sizes]
    for provider in ("numpy", "python"):
        with using_arrays(provider):
            ours = [Tensor(x.tolist()) for x in given]
            theirs = [torch.tensor(x, requires_grad=True) for x in given]
            out, want = gradwalk.einsum(equation, *ours), torch.einsum(equation, *theirs)
            weights = np.cos(np.arange(want.numel())).reshape(tuple(want.shape))
            (out * Tensor(weights.tolist())).sum().backward()
            (want * torch.tensor(weights)).sum().backward()
            for x, t in zip(ours, theirs, strict=True):
                assert t.grad is not None
                np.testing.assert_allclose(np.array(x.grad.tolist()), t.grad.numpy(), rtol=1e-12, atol=1e-14)
    assert Einsum(("ij",), "ji").name == "einsum"


# --- the way back ----------------------------------------------------------------------------------------------------


def test_gradients_are_let_go_beyond_a_number_and_not_at_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in (4, 5):
        monkeypatch.setattr(backward, "KEPT_NUMBERS", limit)
        x = Tensor([1.0, 2.0])
        middle = x * 2
        root = (middle * x).sum()  # 2 + 2 + 1 numbers between the leaves and here
        root.backward()
        assert (middle._grad is FREED) is (limit == 4)
        assert root._grad is not FREED
        assert x.grad.tolist() == [4.0, 8.0]


def test_large_gradients_are_no_cause_for_a_warning() -> None:
    x = Tensor([1.0, -1.0])
    (gradwalk.where(x > 0, x, 2 * x) * 1e200).sum().backward()  # looked at for nan, because of the where
    assert x.grad.tolist() == [1e200, 2e200]


def test_a_gradient_that_was_asked_for_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backward, "KEPT_NUMBERS", 0)
    x = Tensor([1.0, 2.0])
    asked, named, plain = x * 2, x * 3, x * 4
    asked.retain_grad()
    named.label = "named"
    (asked + named + plain).sum().backward()
    assert asked.grad.tolist() == [1.0, 1.0]
    assert named.grad.tolist() == [1.0, 1.0]
    with pytest.raises(BackwardError, match=r"the gradient of \* of shape \(2,\) was let go as backward"):
        plain.grad  # noqa: B018
    assert x.grad.tolist() == [9.0, 9.0]


def test_a_leaf_is_walked_back_to_by_itself() -> None:
    x = Tensor([2.0])
    x.backward()
    x.backward([3.0])
    assert x.grad.tolist() == [4.0]


def test_what_arrives_has_the_operands_dtype() -> None:
    x, y = Tensor([1.0, 2.0], dtype="float32"), Tensor([[3.0, 4.0]])
    loss = (x * y).sum()
    assert loss.dtype == "float64"
    loss.backward()
    assert (x.grad.dtype, x.grad.tolist()) == ("float32", [3.0, 4.0])
    assert (y.grad.dtype, y.grad.shape) == ("float64", (1, 2))


# --- both providers, function by function ----------------------------------------------------------------------------


def python_array(x: Any) -> Any:
    return python_arrays.reshape(python_arrays.new(x.reshape(-1).tolist(), str(x.dtype)), x.shape)


def same(ours: Any, theirs: Any, what: str) -> None:
    flat = np.array(list(ours.numbers()), dtype=theirs.dtype).reshape(ours.shape)
    assert tuple(ours.shape) == tuple(theirs.shape), what
    np.testing.assert_allclose(flat, theirs, rtol=1e-13, atol=1e-300, err_msg=what)


def test_the_two_providers_have_the_same_functions() -> None:
    assert numpy_arrays.functions.keys() == numpy_arrays.bare.keys()
    assert set(python_arrays.functions) >= set(numpy_arrays.functions)
    edges = np.array([-2.5, -1.0, -0.0, 0.0, 0.5, 1.5, 2.5, 3.0])
    for name in ("floor", "ceil", "round", "sign", "trunc", "isfinite", "isnan", "isinf", "neg", "abs", "relu", "erf"):
        x = np.append(edges, [np.inf, -np.inf, np.nan])
        same(python_arrays.functions[name](python_array(x)), numpy_arrays.functions[name](x), name)
        with np.errstate(all="ignore"):
            same(python_arrays.functions[name](python_array(x)), numpy_arrays.bare[name](x), name)
    for name in ("+", "-", "*", "/", "**", "<", "<=", ">", ">=", "==", "!=", "//", "%", "maximum", "minimum"):
        left, right = edges[:, None], edges[None, :]
        ours = python_arrays.functions[name](python_array(left), python_array(right))
        same(ours, numpy_arrays.functions[name](left, right), name)


def test_whole_quotients_by_zero() -> None:
    for provider in ("numpy", "python"):
        with using_arrays(provider):
            x = Tensor([2.5, -1.0])
            assert (x // 0.0).tolist() == [float("inf"), float("-inf")]
            assert np.isnan((x % 0.0).tolist()).all()
            assert (Tensor([7, -7]) // 2).tolist() == [3, -4]
            assert (Tensor([7, -7]) % 4).tolist() == [3, 1]


def test_the_two_providers_have_the_same_structure() -> None:
    x = RNG.normal(size=(2, 3, 2))
    p = python_array(x)
    for axes in ((0,), (1,), (0, 2), (0, 1, 2)):
        for keep in (False, True):
            same(python_arrays.total(p, axes, keep), numpy_arrays.total(x, axes, keep), f"total {axes} {keep}")
            same(python_arrays.largest(p, axes, keep), numpy_arrays.largest(x, axes, keep), f"largest {axes} {keep}")
    for axis in range(3):
        same(python_arrays.cumsum(p, axis), numpy_arrays.cumsum(x, axis), "cumsum")
        same(python_arrays.argmax(p, axis), numpy_arrays.argmax(x, axis), "argmax")
        same(python_arrays.concat([p, p], axis), numpy_arrays.concat([x, x], axis), "concat")
        for down in (False, True):
            ties = np.round(x)
            ours = python_arrays.argsort(python_array(ties), axis, down)
            same(ours, numpy_arrays.argsort(ties, axis, down), f"argsort {axis} {down}")
    widths = ((1, 0), (0, 2), (1, 1))
    same(python_arrays.pad(p, widths, 7.0), numpy_arrays.pad(x, widths, 7.0), "pad")
    for a, b in zip(python_arrays.nonzero(python_arrays.functions[">"](p, 0.0)), np.nonzero(x > 0), strict=True):
        assert list(a.numbers()) == b.tolist()
    one = np.array([[5.0]])
    for wide in ((2, 3), (1, 1), (4, 2, 1)):
        same(python_arrays.expand(python_array(one), wide), numpy_arrays.expand(one, wide), "expand")
    assert not numpy_arrays.expand(one, (2, 3)).flags.writeable
    with pytest.raises(ValueError, match="dimensions"):
        numpy_arrays.expand(np.ones((1, 1, 1)), (1, 1))


def test_the_largest_floats_are_sorted_too() -> None:
    for provider in ("numpy", "python"):
        with using_arrays(provider):
            assert Tensor([1.7e308, 1.6e308]).argsort().tolist() == [1, 0]
            assert Tensor([1.6e308, 1.7e308]).argsort(descending=True).tolist() == [1, 0]
            assert Tensor([2**53 + 1, 2**53]).argsort().tolist() == [1, 0]  # which are one float
            assert Tensor([2**53, 2**53 + 1]).argsort(descending=True).tolist() == [1, 0]


def test_looking_for_nan() -> None:
    nan, inf = float("nan"), float("inf")
    for have, found in (([nan], True), ([inf], False), ([inf, -inf], False), ([1e300, 1e300], False), ([0.0], False)):
        assert numpy_arrays.have_nan([np.zeros(2), np.array(have)]) is found
        assert python_arrays.have_nan([python_array(np.array(have))]) is found
    assert not numpy_arrays.have_nan([])
    assert numpy_arrays.have_nan([np.array([[1.0, nan], [2.0, 3.0]]).T])


def test_warnings_of_numpys_are_not_for_users() -> None:
    with np.errstate(all="raise"):
        assert (Tensor([1.0]) / Tensor([0.0])).tolist() == [float("inf")]
        assert np.isnan((Tensor([np.inf, -np.inf])).sum().item())
        assert np.isnan((Tensor([[np.inf, 1.0], [-np.inf, 1.0]])).sum(0).tolist()[0])
        assert Tensor([1e308]).exp().tolist() == [float("inf")]
        large = Tensor([[1e200, 1e200], [1.0, np.inf]])
        for product in (large @ large, large[:1] @ large, gradwalk.einsum("ij,jk->ik", large, large), large * large):
            assert product.array[0, 0] == float("inf")
            product.backward(np.full(product.shape, 1e200))
        assert large.cumsum(0).array.shape == large.amax(0, keepdim=True).exp().expand(2, 2).shape
        x = Tensor([0.0])
        x.sqrt().backward()
        assert x.grad.tolist() == [float("inf")]
    assert np.geterr()["divide"] != "ignore"


def test_a_slope_that_is_a_function_is_one_node_of_a_gradients_graph() -> None:
    x = Tensor([0.5])
    x.softplus().backward(create_graph=True)
    assert {v._op for v in x.grad.operands} == {"", "sigmoid"}


def test_numbers_that_an_index_takes_come_back_without_a_sum() -> None:
    x = Tensor([2.0, 3.0])
    (x[0] * x[0]).backward(create_graph=True)
    first, second = x.grad.scalars()
    assert (first.data, second.data) == (4.0, 0.0)
    assert [v._op for v in gradwalk.walk.topological(first) if v._op] == ["*", "*", "+"]


# --- making, and files -----------------------------------------------------------------------------------------------


def test_a_full_tensor_has_the_dtype_of_its_number_unless_told() -> None:
    assert [gradwalk.full((1,), x).dtype for x in (True, 2, 2.0)] == ["bool", "int64", "float64"]
    assert gradwalk.full((1,), 2, dtype="float32").dtype == "float32"
    assert gradwalk.full((1,), Tensor([2.0])).tolist() == [2.0]


def test_a_compiled_functions_array_is_taken_in_the_dtype_that_is_asked_for() -> None:
    for dtype in ("float32", "float64", None):
        found = gradwalk.compile(lambda x, dtype=dtype: Tensor(x, dtype=dtype) * 2.0)(np.array([0.1, 0.2]))
        plain = Tensor([0.1, 0.2], dtype=dtype) * 2.0
        assert (found.dtype, found.tolist()) == (plain.dtype, plain.tolist())


@pytest.mark.parametrize(
    "content", [b"", b"\x93NUMPY", b"\x93NUMPY\x03", b"\x93NUMPY\x01\x00\x10", b"\x93NUMPY\x02\x00\x10\x00"]
)
def test_a_file_with_an_array_cut_short_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("w.npy", content)
    with pytest.raises(ModelFileError, match="is damaged"):
        gradwalk.load(path)


def test_a_damaged_file_is_read_or_refused(tmp_path: Path) -> None:
    """Whatever byte is another one: no error of zipfile's, zlib's or struct's comes through."""
    path, whole = tmp_path / "model.npz", io.BytesIO()
    np.savez_compressed(whole, w=np.arange(40.0))
    refused = 0
    for place in range(0, len(whole.getvalue()), 7):
        content = bytearray(whole.getvalue())
        content[place] ^= 0xFF
        path.write_bytes(content)
        try:
            gradwalk.load(path)
        except ModelFileError:
            refused += 1
    assert refused > 20


def test_a_file_that_numpy_wrote_in_any_version_is_read(tmp_path: Path) -> None:
    for version in ((1, 0), (2, 0)):
        content = io.BytesIO()
        np.lib.format.write_array(content, np.array([[1.5, 2.5]]), version=version)
        with zipfile.ZipFile(tmp_path / "model.npz", "w") as archive:
            archive.writestr("w.npy", content.getvalue())
        assert gradwalk.load(tmp_path / "model.npz")["w"].tolist() == [[1.5, 2.5]]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"(2,)", b"2.0,"),
        (b"(2,)", b"(-2)"),
        (b"(2,)", b"[2,]"),
        (b"'<f8'", b"12345"),
        (b"False", b"12345"),
        (b"{", b"["),
    ],
)
def test_a_file_with_a_header_of_another_kind_is_refused(old: bytes, new: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    gradwalk.save({"w": gradwalk.ones(2)}, path)
    content = path.read_bytes()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        array = archive.read("w.npy").replace(old, new)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("w.npy", array)
    with pytest.raises(ModelFileError, match=r"w\.npy is no array of numbers"):
        gradwalk.load(path)
