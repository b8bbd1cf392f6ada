"""What people who come from PyTorch and NumPy write: the same numbers and gradients, or a clear no."""

import copy
import math
import operator
import pickle
from typing import Any

import numpy as np
import pytest
import torch

import gradwalk
from gradwalk import GradwalkError, Tensor, nn, optim
from gradwalk.errors import (
    GraphError,
    NotANumberError,
    NumberTooLargeError,
    OpError,
    SettingError,
    ShapeError,
)
from gradwalk.instead import INSTEAD, missing
from gradwalk.tensor import arrays


@pytest.fixture(params=["numpy", "python"], autouse=True)
def provider(request: pytest.FixtureRequest) -> Any:
    with gradwalk.using_arrays(request.param):
        yield request.param


def beside(x: Tensor, theirs: torch.Tensor) -> None:
    assert x.dtype == str(theirs.dtype).removeprefix("torch.")
    assert x.shape == tuple(theirs.shape)
    np.testing.assert_allclose(x.tolist(), theirs.detach().numpy(), rtol=1e-12, atol=0)


# --- updates in place ------------------------------------------------------------------------------------------------


def test_a_loop_over_parameters_updates_them() -> None:
    ours = [Tensor([[1.0, 2.0]], requires_grad=True), Tensor([3.0])]
    theirs = [torch.tensor(p.tolist(), dtype=torch.float64, requires_grad=True) for p in ours]
    for ps, library in ((ours, gradwalk), (theirs, torch)):
        for _ in range(3):
            for p in ps:
                p.grad = None
            ((ps[0] * ps[1]) ** 2).sum().backward()
            with library.no_grad():
                for p in ps:
                    p -= 0.01 * p.grad
                    p *= 0.9
                    p += 0.1
                    p /= 1.1
    for mine, their in zip(ours, theirs, strict=True):
        beside(mine, their)


def test_an_update_that_would_change_nothing_is_refused() -> None:
    asked, walked = Tensor([1.0], requires_grad=True), Tensor([1.0])
    (walked * 2.0).sum().backward()
    for p in (asked, walked):
        with pytest.raises(GraphError, match=r"inside `with gradwalk.no_grad\(\):`"):
            p -= 0.1


def test_sums_may_be_gathered_with_plus_equals() -> None:
    x = Tensor([1.0, 2.0])
    total = gradwalk.zeros(1)
    for part in x:
        total += part * part
    total.backward()
    assert x.grad.tolist() == [2.0, 4.0]
    y = x * 1.0
    y -= 1.0
    assert (y.tolist(), x.tolist()) == ([0.0, 1.0], [1.0, 2.0])


def test_an_update_is_noticed_by_the_walk_and_keeps_shape_and_dtype() -> None:
    x, ints = Tensor([1.0]), Tensor([1, 2])
    loss = (x * x).sum()
    with gradwalk.no_grad():
        x += 1.0
        with pytest.raises(ShapeError, match=r"shape \(1,\) cannot hold a result of shape \(3,\)"):
            x += gradwalk.ones(3)
        ints *= 2
        with pytest.raises(NotANumberError, match="int64 cannot hold a result of float64"):
            ints *= 0.5
    assert (x.tolist(), ints.tolist()) == ([2.0], [2, 4])
    with pytest.raises(GradwalkError, match="out of date"):
        loss.backward()


def test_a_parameter_with_a_hook_is_updated() -> None:
    p = Tensor([1.0])
    p.register_hook(lambda gradient: gradient * 2.0)
    (p * p).sum().backward()
    with pytest.raises(GraphError, match=r"inside `with gradwalk.no_grad\(\):`"):
        p *= 2.0
    q = p
    with gradwalk.no_grad():
        q -= 0.25 * p.grad
    assert p.tolist() == [0.0]
    (p + 1.0).sum().backward()
    assert p.grad.tolist() == [6.0]


def test_copies_of_what_is_not_trained_are_updated_too() -> None:
    for library, of in ((gradwalk, Tensor), (torch, lambda x: torch.tensor(x, dtype=torch.float64))):
        p: Any = of([2.0, 4.0])
        p.requires_grad_()
        (p * p).sum().backward()
        h: Any = p * 1.0
        kept = [p.detach().clone(), p.clone().detach(), p.detach() * 0.5, h]
        with library.no_grad():
            for e in kept:
                e *= 0.5
                e += p
        for e, expected in zip(kept, ([3.0, 6.0], [3.0, 6.0], [2.5, 5.0]), strict=False):
            assert e.tolist() == expected
        assert p.tolist() == [2.0, 4.0]


# --- gradients are for reading ---------------------------------------------------------------------------------------


def test_a_write_to_the_numbers_of_a_gradient_is_refused() -> None:
    x = Tensor([1.0, 2.0])
    (x * x).sum().backward()
    with pytest.raises(ValueError, match="read-only"):
        x.grad.data[0] = 5.0
    with pytest.raises(GraphError, match=r"set it anew, as in p.grad = p.grad \* 0.5"):
        x.grad.data = [0.0, 0.0]
    x.grad *= 0.5
    assert x.grad.tolist() == [1.0, 2.0]
    with gradwalk.no_grad():
        x.grad *= 2.0
    assert x.grad.tolist() == [2.0, 4.0]
    x.grad.detach().data[0] = 5.0  # a tensor of its own
    assert x.grad.tolist() == [2.0, 4.0]


def test_a_gradient_that_was_read_is_scaled_where_it_was_read_from() -> None:
    for of in (Tensor, lambda x: torch.tensor(x, dtype=torch.float64, requires_grad=True)):
        ps: list[Any] = [of([1.0, 2.0]), of([3.0])]
        sum((p * p).sum() for p in ps).backward()
        gradients = [p.grad for p in ps]
        for g in gradients:
            g *= 0.5
            g += 1.0
        assert [p.grad.tolist() for p in ps] == [g.tolist() for g in gradients] == [[2.0, 3.0], [4.0]]
        total = ps[1].grad
        ps[1].grad = None
        (ps[1] * 2.0).sum().backward()
        total += ps[1].grad
        assert (total.tolist(), ps[1].grad.tolist()) == ([6.0], [2.0])


def test_a_copy_of_a_gradient_is_a_tensor_of_its_own() -> None:
    p = Tensor([1.0, 2.0], requires_grad=True)
    (p * p).sum().backward()
    with gradwalk.no_grad():
        for borrowed in (p.grad, p[:]):
            for own in (copy.copy(borrowed), copy.deepcopy(borrowed), borrowed.clone(), borrowed.detach()):
                alias = own
                assert not own.is_borrowed
                own *= 3.0
                alias.data[0] = 9.0
                assert (own is alias, alias.tolist()[0]) == (True, 9.0)
    assert (p.tolist(), p.grad.tolist()) == ([1.0, 2.0], [2.0, 4.0])
    unpickled = pickle.loads(pickle.dumps(p.grad))
    assert (unpickled.tolist(), unpickled.requires_grad, unpickled.is_borrowed) == ([2.0, 4.0], False, False)


def test_a_gradient_that_two_share_is_scaled_for_one() -> None:
    x, y = Tensor([1.0]), Tensor([2.0])
    (x + y).sum().backward()
    g = x.grad
    g *= 0.5
    assert (x.grad.tolist(), y.grad.tolist()) == ([0.5], [1.0])
    z = Tensor([3.0])
    (z * z * z).sum().backward(create_graph=True)
    z.grad *= 2.0
    z.grad.sum().backward()
    assert z.grad.tolist() == [54.0 + 36.0]
    half = Tensor([1.0], dtype="float32")
    (half * half).sum().backward()
    half.grad /= Tensor([4.0])
    assert (half.grad.dtype, half.grad.tolist()) == ("float32", [0.5])


def test_a_hook_cannot_write_into_the_gradient() -> None:
    x = Tensor([1.0])

    def hook(gradient: Tensor) -> None:
        gradient.data[0] = 100.0

    x.register_hook(hook)
    with pytest.raises(GradwalkError, match="read-only"):
        (x * 2.0).sum().backward()


# --- remainders ------------------------------------------------------------------------------------------------------


def test_gradient_flows_through_remainders() -> None:
    numbers, others = [[-1.3, 0.4, 7.9]], [[0.7], [-1.1]]
    x, y = Tensor(numbers), Tensor(others)
    a, b = (torch.tensor(n, dtype=torch.float64, requires_grad=True) for n in (numbers, others))
    out, theirs = x + x % y * x, a + a % b * a
    beside(out, theirs)
    out.sum().backward()
    theirs.sum().backward()
    beside(x.grad, a.grad)
    beside(y.grad, b.grad)
    assert gradwalk.hessian(lambda z: ((z % 2.0) ** 2).sum())(Tensor([1.0, 5.0])).tolist() == [[2.0, 0.0], [0.0, 2.0]]


def test_remainders_by_the_infinite_and_of_the_huge_are_pytorchs() -> None:
    numbers = [1e308, 5.0, -5.0, 5.0, -5.0, 7.5, math.inf]
    by = [0.3, math.inf, math.inf, -math.inf, -math.inf, -2.0, 2.0]
    x, y = Tensor(numbers), Tensor(by)
    theirs = [torch.tensor(z, dtype=torch.float64, requires_grad=True) for z in (numbers, by)]
    z, out = x % y, theirs[0] % theirs[1]
    beside(z, out)
    z.backward(gradwalk.ones(7))
    out.backward(torch.ones(7))
    beside(x.grad, theirs[0].grad)
    assert y.grad[0].item() < -1e308  # PyTorch has -inf there, which a product with 0 would make nan
    beside(y.grad[1:], theirs[1].grad[1:])


def test_ints_by_0_are_refused_and_floats_are_not() -> None:
    for operation in (operator.floordiv, operator.mod):
        for zero in (0, Tensor([1, 0])):
            with pytest.raises(NotANumberError, match="of ints by 0 has no answer"):
                operation(Tensor([7, -7]), zero)
        assert operation(Tensor([7, -7]), Tensor([2, 2])).dtype == "int64"
    assert math.isnan((Tensor([7.0]) % 0).item())
    assert (Tensor([7.0]) // 0).item() == math.inf


# --- ints and bools --------------------------------------------------------------------------------------------------


def test_the_bits_of_ints_are_inverted() -> None:
    assert (~Tensor([1, 0, -5])).tolist() == [-2, -1, 4]
    assert (~Tensor([True, False])).tolist() == [False, True]
    with pytest.raises(NotANumberError, match="bools and ints"):
        ~Tensor([1.0])


def test_ints_are_of_64_bits() -> None:
    big = 2**62
    for ours, theirs in zip(
        *[
            [t([big]) * 4, t([big]) + t([big]), t([2**63 - 1]) + 1, -t([-(2**63)]), t([-(2**63)]).abs(),
             t([3]) ** t([50]), t([big + 1, big, big]).sum(), t([big + 1, big]).cumsum(0), t([2**40]) @ t([2**30])]
            for t in (Tensor, torch.tensor)
        ],
        strict=True,
    ):  # fmt: skip
        assert (ours.tolist(), ours.dtype) == (theirs.tolist(), "int64")


def test_the_lowest_int_is_found() -> None:
    x = Tensor([5, -(2**63), 2**63 - 1])
    assert (x.argmin().item(), x.min().item(), x.amin(0).item(), x.min(0).values.item()) == (
        1, -(2**63), -(2**63), -(2**63)
    )  # fmt: skip
    assert (Tensor([True, False]).argmin().item(), Tensor([2.0, 1.0]).argmin().item()) == (1, 1)


def test_bools_are_not_multiplied_as_matrices() -> None:
    with pytest.raises(NotANumberError, match="whether, not how many"):
        Tensor([True, True]) @ Tensor([True, True])


def test_comparisons_are_made_in_the_dtype_that_both_have_together() -> None:
    x, their = Tensor([0.1, 0.5], dtype="float32"), torch.tensor([0.1, 0.5], dtype=torch.float32)
    single, alone = Tensor(0.1), torch.tensor(0.1, dtype=torch.float64)
    for ours, theirs in (
        (x == 0.1, their == 0.1),
        (x < 0.1, their < 0.1),
        (x == single, their == alone),
        (x == Tensor([0.1, 0.5]), their == torch.tensor([0.1, 0.5], dtype=torch.float64)),
        (Tensor([2**53 + 1]) == float(2**53), torch.tensor([2**53 + 1]) == float(2**53)),
        (Tensor([2**53 + 1]) == 2**53, torch.tensor([2**53 + 1]) == 2**53),
        (Tensor([1, 2]) > 1.5, torch.tensor([1, 2]) > 1.5),
        (Tensor([True]) == 1, torch.tensor([True]) == 1),
    ):
        assert ours.tolist() == theirs.tolist()


# --- indices ---------------------------------------------------------------------------------------------------------


def test_an_index_that_is_written_to_later_does_not_change_the_way_back(provider: str) -> None:
    if provider == "python":
        pytest.skip("NumPy's arrays are NumPy's")
    at, x = np.array([0, 0]), Tensor([1.0, 2.0])
    y = x[at]
    at[0] = 1
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 0.0]


def test_places_and_masks_are_told_apart() -> None:
    x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    their = torch.tensor(x.tolist(), dtype=torch.float64)
    beside(x.masked_select(x[0] > 1.5), their.masked_select(their[0] > 1.5))
    beside(x[0, 0].masked_select(x[0, 0] > 1e9), their[0, 0].masked_select(their[0, 0] > 1e9))
    beside(x[0, 0].masked_select(x[0, 0] < 1e9), their[0, 0].masked_select(their[0, 0] < 1e9))
    beside(x.index_select(1, 2), their.index_select(1, torch.tensor(2)))
    beside(x.tile(2), their.tile(2))
    beside(x.tile((2, 1, 1)), their.tile((2, 1, 1)))
    with pytest.raises(NotANumberError, match="a mask of bools"):
        x.masked_select([0, 1])
    with pytest.raises(NotANumberError, match="whole numbers"):
        x.index_select(0, [True, False])
    with pytest.raises(NotANumberError, match="whole numbers"):
        x.take([True] * 6)
    with pytest.raises(ShapeError, match="places in one row"):
        x.index_select(0, [[0, 1]])
    with pytest.raises(SettingError, match="things 0 to 3, and was given -1"):
        nn.Embedding(4, 2)([-1])


# --- activations and other functions ---------------------------------------------------------------------------------


def test_activations_keep_float32_and_pass_nan_on_as_pytorch_does() -> None:
    edges = [0.0, 1.0, -1.0, 6.0, -2.5, math.inf, -math.inf]
    ours: Any
    theirs: Any
    for dtype in (torch.float32, torch.float64):
        for ours, theirs in (
            (lambda x: x.hardtanh(), torch.nn.functional.hardtanh),
            (lambda x: x.hardtanh(-2.0, 0.5), lambda x: torch.nn.functional.hardtanh(x, -2.0, 0.5)),
            (lambda x: x.relu6(), torch.nn.functional.relu6),
            (lambda x: x.elu(), torch.nn.functional.elu),
            (lambda x: x.elu(0.5), lambda x: torch.nn.functional.elu(x, 0.5)),
        ):
            # of nan in hardtanh PyTorch gives 0 or 1, as its processor's width has it
            numbers = [*edges, math.nan] if -0.5 < ours(Tensor([-0.5])).item() < 0.0 else edges  # elu
            x = Tensor(numbers, dtype=str(dtype).removeprefix("torch."))
            their = torch.tensor(numbers, dtype=dtype, requires_grad=True)
            y, out = ours(x), theirs(their)
            assert y.dtype == x.dtype
            y.sum().backward()
            out.sum().backward()
            np.testing.assert_allclose(y.tolist(), out.tolist(), rtol=1e-6)
            np.testing.assert_allclose(x.grad.tolist(), their.grad.tolist(), rtol=1e-6)
    with pytest.raises(SettingError, match="a lower bound and an upper one"):
        Tensor([0.0]).hardtanh(1.0, -1.0)


def test_infinities_are_near_themselves() -> None:
    inf, nan = math.inf, math.nan
    assert gradwalk.allclose(Tensor([inf, -inf, 1.0]), Tensor([inf, -inf, 1.0]))
    assert not gradwalk.allclose(Tensor([inf]), Tensor([-inf]))
    assert not gradwalk.allclose(Tensor([1.0]), Tensor([inf]))
    assert not gradwalk.allclose(Tensor([nan]), Tensor([nan]))
    assert gradwalk.allclose(Tensor([nan]), Tensor([nan]), equal_nan=True)
    assert not gradwalk.allclose(Tensor([nan]), Tensor([1.0]), equal_nan=True)


def test_padding_with_none_is_padding_with_0() -> None:
    assert gradwalk.pad(gradwalk.ones(1), (1, 0), value=None).tolist() == [0.0, 1.0]
    with pytest.raises(NotANumberError, match="pad fills with one number"):
        gradwalk.pad(gradwalk.ones(1), (1, 0), value="x")  # type: ignore[arg-type]


# --- derivatives -----------------------------------------------------------------------------------------------------


def test_several_results_are_not_taken_for_one() -> None:
    x = Tensor([1.0, 2.0])
    for result in (lambda z: ((z * z).sum(), 1), lambda z: [(z * z).sum()], lambda z: {"loss": z.sum()}):
        for derivative in (gradwalk.grad, gradwalk.value_and_grad, gradwalk.hessian):
            with pytest.raises(NotANumberError, match=r"needs f to give one number, and it gave (tuple|list|dict)"):
                derivative(result)(x)
    assert gradwalk.grad(lambda z: 3.0)(x).tolist() == [0.0, 0.0]


# --- arrays of others ------------------------------------------------------------------------------------------------


def test_arrays_that_would_lose_something_are_refused() -> None:
    with pytest.raises(NotANumberError, match="would lose its mask"):
        Tensor(np.ma.array([1.0, 2.0], mask=[False, True]))
    with pytest.raises(NumberTooLargeError, match="18446744073709551615 does not fit int64"):
        Tensor(np.array([2**64 - 1], dtype=np.uint64))
    assert Tensor(np.array([5], dtype=np.uint64)).tolist() == [5]


def test_functions_of_numpy_do_not_take_a_tensor_out_of_the_graph_unseen() -> None:
    x = Tensor([[3.0, 4.0]])
    for leaves in (
        lambda: np.dot(np.ones(1), x), lambda: np.concatenate([np.ones((1, 2)), x]), lambda: np.where(x > 3, x, 0),
        lambda: np.stack([x, x]), lambda: np.reshape(x, (2, 1)), lambda: np.clip(x, 0, 3), lambda: np.einsum("ij->", x),
        lambda: np.linalg.norm(x), lambda: np.sum(x, axis=0, dtype=float), lambda: np.max(x), lambda: np.var(x),
        lambda: np.linalg.inv(x.T @ x), lambda: np.fft.rfft(x), lambda: np.interp(x, [0, 1], [0, 1]),
        lambda: np.square(x), lambda: np.broadcast_to(x, (2, 2)), lambda: np.nansum(x), lambda: np.split(x, 2, 1),
    ):  # fmt: skip
        with pytest.raises(NotANumberError, match="would take a tensor out of the graph"):
            leaves()
    assert np.sum(x, axis=0).tolist() == [3.0, 4.0]
    mean: Any = np.mean(x)
    mean.backward()
    assert x.grad.tolist() == [[0.5, 0.5]]
    assert np.where(x > 3, 1, 0).tolist() == [[0, 1]]
    assert np.concatenate([Tensor([1, 2]), [3]]).tolist() == [1, 2, 3]
    assert [np.argmax(x), np.shape(x), np.histogram(x, 2)[0].tolist()] == [1, (1, 2), [1, 1]]
    assert np.dot(x.numpy(), [1.0, 1.0]).tolist() == [7.0]
    with pytest.raises(NotANumberError, match=r"np\.linalg\.inv would take"):
        np.linalg.inv(x.T @ x)


def test_functions_of_numpy_that_ask_something_are_answered() -> None:
    x = Tensor([[3.0, math.inf]])
    assert [np.isnan(x).any(), np.isfinite(x).all(), np.isinf(x).sum(), np.signbit(x).any()] == [False, False, 1, False]
    assert np.logical_and(x > 3, x > 0).tolist() == [[False, True]]
    assert [part.tolist() for part in np.where(x > 3)] == [[0], [1]]
    constant = x.numpy() * Tensor([2.0], requires_grad=False)
    assert np.square(constant).tolist() == [[36.0, math.inf]]
    assert np.linalg.norm(Tensor([3.0, 4.0], requires_grad=False)) == 5.0


def test_a_tensor_is_copied() -> None:
    x = Tensor([1.0, 2.0], label="x")
    (x * 2.0).sum().backward()
    y = copy.copy(x)
    y.data[0] = 9.0
    assert (x.tolist(), y.tolist(), y.grad.tolist(), y.label) == ([1.0, 2.0], [9.0, 2.0], [2.0, 2.0], "x")


# --- what is left out ------------------------------------------------------------------------------------------------


def test_what_to_use_gives_what_pytorch_gives() -> None:
    """The remedies that are expressions, as they stand there, for matrices a, b, t and v, positive p, rows i of t."""
    draw = np.random.default_rng(0).normal
    a, b, t, v = (draw(size=shape) for shape in ((4, 3), (4, 3), (5, 3), (4, 3)))
    given = {"a": a, "b": b, "t": t, "v": v, "x": a, "y": b, "q": a, "k": b, "p": np.abs(v), "var": np.abs(v)}
    T: Any = {name: torch.tensor(numbers) for name, numbers in given.items()}.__getitem__
    ours: dict[str, Any] = {name: Tensor(numbers) for name, numbers in given.items()}
    ours |= {name: getattr(gradwalk, name) for name in ("cat", "stack", "one_hot", "softplus", "where")}
    ours |= {"i": Tensor([0, 2, 2, 4]), "n": 5, "scale": 3**-0.5, "limit": 1.0, "tensors": [ours["a"], ours["b"]]}
    F: Any = torch.nn.functional
    for name, wanted in {
        "index_add": T("t").index_add(0, torch.tensor([0, 2, 2, 4]), T("v")),
        "scaled_dot_product_attention": F.scaled_dot_product_attention(T("q"), T("k"), T("v")),
        "gaussian_nll_loss": F.gaussian_nll_loss(T("x"), T("y"), T("var")),
        "renorm": torch.renorm(T("t"), 2, 0, 1.0), "msort": T("t").msort(), "inner": torch.inner(T("a"), T("b")),
        "vstack": torch.vstack([T("a"), T("b")]), "hstack": torch.hstack([T("a"), T("b")]),
        "column_stack": torch.column_stack([T("a"), T("b")]), "dstack": torch.dstack([T("a"), T("b")]),
        "logsigmoid": F.logsigmoid(T("x")), "cdist": torch.cdist(T("a"), T("b")), "l1_loss": F.l1_loss(T("a"), T("b")),
    }.items():  # fmt: skip
        text = INSTEAD.get(name) or str(missing("gradwalk", name)).partition("; use ")[2]
        text = text.split(", which")[0].split(", and")[0].split(" of matrices")[0]
        found = eval(f"t.{text}" if name == "msort" else text, ours)
        assert found.shape == tuple(wanted.shape), name
        np.testing.assert_allclose(found.tolist(), wanted.numpy(), rtol=1e-6, err_msg=name)


def test_a_list_of_tensors_does_not_lose_their_history_unseen() -> None:
    x, asked = Tensor([1.0, 2.0]), Tensor(3.0, requires_grad=True)
    lost: Any = (
        lambda: Tensor([x.sum(), x.mean()]), lambda: Tensor([[1.0], [x[0]]]), lambda: Tensor([asked, 1.0]),
        lambda: gradwalk.mean([x[0], x[1]]),
    )  # fmt: skip
    for make in lost:
        with pytest.raises(NotANumberError, match=r"lose its history in a list; gradwalk\.stack makes"):
            make()
    assert Tensor([x.sum().detach(), x[0].item(), Tensor(5.0)]).tolist() == [3.0, 1.0, 5.0]
    with gradwalk.no_grad():
        assert Tensor([x.sum(), asked]).tolist() == [3.0, 3.0]
    with pytest.raises(NotANumberError, match=r"make a tensor of it: gradwalk.stack\("):
        x * [x[0], x[1]]
    with pytest.raises(NotANumberError, match=r"values and their indices; take one of them, as in t.max\(1\).values"):
        x - x.max(0)


def test_names_of_pytorch_that_are_left_out_say_what_to_use() -> None:
    for module, name, instead in (
        (gradwalk, "mse_loss", "nn.mse"),
        (gradwalk, "prod", "logs for positive numbers"),
        (gradwalk.nn.functional, "fmod", "trunc"),
        (nn, "ReLU", "gradwalk.relu"),
        (nn, "Parameter", "gradwalk.Tensor"),
        (optim, "RMSprop", "Adam"),
    ):
        with pytest.raises(AttributeError, match=rf"has no attribute '{name}'; use .*{instead}"):
            getattr(module, name)
    for module in (gradwalk, nn, optim):
        with pytest.raises(AttributeError, match=r"has no attribute 'nonsense'$"):
            module.nonsense  # noqa: B018
        assert not hasattr(module, "_nonsense")
    with pytest.raises(AttributeError, match=r"use to\(other.dtype\)"):
        Tensor([1.0]).type_as  # noqa: B018
    with pytest.raises(SettingError, match="cross_entropy has no 'ignore_index'; use the rows that count"):
        gradwalk.cross_entropy(gradwalk.zeros(1, 2), [0], ignore_index=0)
    with pytest.raises(SettingError, match=r"cross_entropy has no 'nonsense'$"):
        gradwalk.cross_entropy(gradwalk.zeros(1, 2), [0], nonsense=0)
    with pytest.raises(OpError, match=r"where takes 3 .* was given 1; t.nonzero\(as_tuple=True\) gives the places"):
        gradwalk.where(Tensor([1.0]) > 0)
    with pytest.raises(OpError, match=r"clamp takes its operands in their order, without names: min"):
        gradwalk.clamp(gradwalk.Value(1.0), min=0.0)
    left_out: Any
    for left_out in (lambda: gradwalk.clamp(gradwalk.Value(1.0)), lambda: gradwalk.leaky_relu()):
        with pytest.raises(OpError, match=r"takes \d operand\(s\) and was given"):
            left_out()
    with pytest.raises(SettingError, match="topk was given largest=1, which is True or False"):
        Tensor([1.0, 2.0]).topk(1, 0, 1)  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match=r"flip was given dims twice: \(0,\) and dims=1"):
        Tensor([[1.0]]).flip(0, dims=1)
    with pytest.raises(SettingError, match="'a' is a dict"):
        gradwalk.save({"a": {"w": gradwalk.ones(1)}}, "never written.npz")


def test_the_nearest_thing_is_true() -> None:
    logits, targets, n = torch.randn(4, 3, dtype=torch.float64), torch.tensor([0, 2, 1, 1]), 3
    z, right = Tensor(logits.numpy()), targets.tolist()
    theirs = torch.nn.functional.cross_entropy
    beside(-z.log_softmax(1)[range(4), right], theirs(logits, targets, reduction="none"))
    smooth = gradwalk.one_hot(right, n) * (1 - 0.1) + 0.1 / n
    beside(gradwalk.cross_entropy(z, smooth), theirs(logits, targets, label_smoothing=0.1))
    weight = Tensor([1.0, 2.0, 0.5])
    beside(
        (-z.log_softmax(1)[range(4), right] * weight[right]).sum() / weight[right].sum(),
        theirs(logits, targets, weight=torch.tensor([1.0, 2.0, 0.5], dtype=torch.float64)),
    )
    a, b = Tensor(np.linspace(-2.0, 1.0, 12).reshape(3, 4)), Tensor(np.cos(np.arange(12.0)).reshape(3, 4))
    p, q = (torch.tensor(z.tolist(), dtype=torch.float64) for z in (a, b))
    half = (a - b).abs()
    huber = gradwalk.where(half < 1, 0.5 * half * half, half - 0.5).mean()
    left, right_half = a.chunk(2, -1)
    functional = torch.nn.functional
    for ours, expected in (
        ((a.unsqueeze(-2) - b.unsqueeze(-3)).norm(dim=-1), torch.cdist(p, q)),
        ((a * b).sum(1) / (a.norm(dim=1) * b.norm(dim=1)), functional.cosine_similarity(p, q)),
        (left * right_half.sigmoid(), functional.glu(p)),
        (huber, functional.huber_loss(p, q)),
        (huber, functional.smooth_l1_loss(p, q)),
        ((a.softmax(1) * (a.softmax(1).log() - b.log_softmax(1))).mean(),
         functional.kl_div(q.log_softmax(1), p.softmax(1), reduction="none").mean()),
        ((-(a - b) + 0.3).relu().mean(), functional.margin_ranking_loss(p, q, torch.ones(3, 4), margin=0.3)),
        (1.0507009873554805 * gradwalk.elu(a, 1.6732632423543772), functional.selu(p)),
        (10.0 ** gradwalk.linspace(0, 2, 3), torch.logspace(0, 2, 3, dtype=torch.float64)),
        ((Tensor([1.0, 2.0]) < a.unsqueeze(-1)).sum(-1), torch.searchsorted(torch.tensor([1.0, 2.0]).double(), p)),
        (gradwalk.ones(3, 3).tril().nonzero().T, torch.tril_indices(3, 3)),
        (gradwalk.stack([a, b]).logsumexp(0), torch.logaddexp(p, q)),
        (a - a.trunc(), p.frac()), (a @ b.mT, torch.inner(p, q)), (2.0**a, torch.exp2(p)), (1 - a.erf(), torch.erfc(p)),
        (a[1:] - a[:-1], torch.diff(p, dim=0)), ((a - b).norm(), torch.dist(p, q)),
    ):  # fmt: skip
        beside(ours, expected)
    x, y = Tensor([5.5, -5.5]), 2.0
    beside(x - y * (x / y).trunc(), torch.fmod(torch.tensor([5.5, -5.5], dtype=torch.float64), y))


#: One text for both libraries: `g` is the library, `F` its functional, the rest are tensors.
SPELLINGS = (
    "g.clamp(x, min=0)", "g.clamp(x, max=y)", "g.clamp(x, 0.1)", "g.clamp(k, min=2)", "g.clamp(f, min=0.1)",
    "F.leaky_relu(x)", "F.leaky_relu(x, 0.3)", "F.leaky_relu(x, negative_slope=0.2)", "F.leaky_relu(f)",
    "g.add(x, y) * g.mul(x, 2) - g.div(y, 3) + g.sub(x, 1) + g.neg(x)", "g.pow(x, 2) + g.pow(2.0, x)", "g.pow(k, 2)",
    "g.div(k, 2).double()", "g.mul(k, f)", "g.eq(k, 0) | g.ne(k, 2) & g.lt(k, 3) ^ g.gt(k, 1)", "g.ge(x, y)",
    "g.le(x, 0.1)", "x.lt(0)", "x.gt(y)", "x.ge(0)", "x.le(y)", "x.ne(0)", "f.eq(0.1)", "g.mv(x, y[0])", "g.trace(x)",
    "g.trunc(x) + x", "g.diagonal(c, dim1=1, dim2=2)", "g.index_select(x, 1, k[0])", "g.masked_select(x, x > 0)",
    "g.reciprocal(y)", "g.masked_fill(x, x > 0, 0.5)", "g.narrow(x, 1, 0, 2)", "g.select(x, 1, 0)",
    "g.swapaxes(c, 0, 1)", "g.t(x)", "g.unflatten(c, 2, (1, 3))", "g.count_nonzero(k, dim=1)", "g.clone(x)",
    "g.ravel(x)", "g.tile(x, (2,))",
    "F.pad(x, pad=(1, 1), value=2.0)", "x.split(split_size=2, dim=1)[1]",
    "g.nonzero(x > 0)", "(x > 0).nonzero(as_tuple=True)[1]", "(y[0, 0] != 0).nonzero()", "(y[0, 0] == 0).nonzero()",
    "(y[0, 0] != 0).nonzero(as_tuple=True)[0]", "g.flip(x, dims=[0])", "x.flip(dims=(0, 1))", "x.permute(dims=(1, 0))",
    "g.permute(c, dims=(2, 0, 1))", "7 // k.clamp(min=1)", "7 % k.clamp(min=1)", "(7.5 % k.clamp(min=1)).double()",
    "7.5 % f.detach()", "7 // f.detach()", "7 % (x * x + 1.0).detach()",
    "g.einsum('ij,ij->ij', x, y[:1, :1])", "g.einsum('ij,ij->', x[:1], y)", "g.einsum('ij,j->ij', x[:, :1], y[0])",
    "g.einsum('...ij,...jk->...ik', c[:1], c.mT)", "g.einsum('bij,bkj->ik', c, c[:1])", "g.einsum('ij,i->i', x, y[0])",
)  # fmt: skip


def test_pytorchs_other_spellings() -> None:
    numbers: dict[str, Any] = {
        "x": np.sin(np.arange(6.0) * 5.0).reshape(2, 3)[[0, 1, 0]] + 0.01, "y": np.cos(np.arange(9.0)).reshape(3, 3),
        "c": np.sin(np.arange(18.0)).reshape(2, 3, 3), "f": np.array([0.1, -0.5, 2.0], "float32"),
        "k": np.array([[2, 0, 1], [1, 2, 0]]),
    }  # fmt: skip
    for text in SPELLINGS:
        ours = {name: Tensor(x) for name, x in numbers.items()}
        theirs = {name: torch.tensor(x, requires_grad=x.dtype.kind == "f") for name, x in numbers.items()}
        found = eval(text, {**ours, "g": gradwalk, "F": gradwalk.nn.functional})
        expected = eval(text, {**theirs, "g": torch, "F": torch.nn.functional})
        assert (found.shape, found.dtype) == (tuple(expected.shape), str(expected.dtype).removeprefix("torch.")), text
        near = 1e-6 if found.dtype == "float32" else 1e-12
        assert np.allclose(found.tolist(), expected.detach().numpy(), rtol=near, atol=near), text
        if not expected.requires_grad:
            continue
        found.backward(gradwalk.ones_like(found))
        expected.backward(torch.ones_like(expected))
        for name, leaf in theirs.items():
            if leaf.grad is not None:
                assert np.allclose(ours[name].grad.tolist(), leaf.grad.numpy(), rtol=near, atol=near), f"{text}: {name}"


def test_numbers_and_arrays_stand_on_the_left_of_a_remainder() -> None:
    x, left = Tensor([2.0, 3.0]), np.array([7.0, 8.5])
    assert ((left % x).tolist(), (left // x).tolist()) == ([1.0, 2.5], [3.0, 2.0])
    (left % x).sum().backward()  # 7 - 3 x, 8.5 - 2 x
    assert x.grad.tolist() == [-3.0, -2.0]
    single: Any = Tensor(2.5, dtype="float32")
    ints: Any = Tensor([2, 3])
    assert ((7.0 % single).dtype, (7 // ints).tolist()) == ("float32", [3, 2])
    with pytest.raises(TypeError):
        None % x  # type: ignore[operator]


def test_sizes_of_1_in_sums_by_letters() -> None:
    ones = gradwalk.ones
    assert gradwalk.einsum("ce,eee->", ones(3, 1), ones(3, 3, 3)).item() == 9.0
    assert gradwalk.einsum("ii,i->i", ones(1, 1), ones(3)).tolist() == [1.0, 1.0, 1.0]
    for equation, sizes, text in (
        ("ii->i", [(1, 3)], "'i' has size 1 and, in tensor 0, 3"),
        ("i,ii->i", [(2,), (3, 3)], "'i' has size 2 and, in tensor 1, 3"),
    ):
        with pytest.raises(ShapeError, match=text):
            gradwalk.einsum(equation, *[ones(size) for size in sizes])


def test_padding_a_number_changes_nothing() -> None:
    assert gradwalk.pad(Tensor(2.0), ()).item() == 2.0


def test_arrays_of_numpys_are_indices_for_both_providers() -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert x[np.array([2, 0])].tolist() == [[5.0, 6.0], [1.0, 2.0]]
    assert x[np.array([[0, 2]]), np.array([1, 0])].tolist() == [[2.0, 5.0]]
    assert x[np.array([True, False, True]), 1].tolist() == [2.0, 6.0]


def test_a_comparison_by_name_takes_no_list() -> None:
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        with pytest.raises(NotANumberError, match="was given a list; make a tensor of it"):
            getattr(Tensor([1.0, 2.0]), name)([1.0, 2.0])


def test_activations_are_layers() -> None:
    model = nn.Sequential(gradwalk.leaky_relu, gradwalk.neg)
    assert (repr(model), model(Tensor([-1.0, 2.0])).tolist()) == ("Sequential(leaky_relu, neg)", [0.01, -2.0])
    assert gradwalk.leaky_relu(-1.0) == -0.01
    assert math.isnan(gradwalk.pow(-4.0, 0.5))  # as a message of the compiler's promises


def test_forward_is_another_name_for_call() -> None:
    class Line(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(2, 1)

        def forward(self, x: Tensor) -> Any:
            return self.layer(x)

    class Twice(Line):
        def forward(self, x: Tensor) -> Any:
            return super().forward(x) * 2.0

    class Own(Line):
        def __call__(self, x: Tensor) -> Any:
            return self.forward(x) + 1.0

    class Below(Own):
        def forward(self, x: Tensor) -> Any:
            return super().forward(x) * 3.0

    class OfOurs(nn.Sequential):
        def __init__(self) -> None:
            super().__init__(nn.Linear(2, 1))
            (self.layer,) = self.layers

        def forward(self, x: Tensor) -> Any:
            return self.layer(x) * 4.0

    x = gradwalk.ones(3, 2)
    kind: Any
    expected: Any
    for kind, expected in (
        (Line, lambda y: y),
        (Twice, lambda y: y * 2.0),
        (Own, lambda y: y + 1.0),
        (Below, lambda y: y * 3.0 + 1.0),
        (OfOurs, lambda y: y * 4.0),
    ):
        model = kind()
        assert model(x).tolist() == expected(model.layer(x)).tolist()


def test_forward_may_come_from_a_mixin_and_need_no_self() -> None:
    class Doubling:
        def forward(self, x: float) -> float:
            return 2.0 * x

    class Mixed(Doubling, nn.Module):
        pass

    class MixedLast(nn.Module, Doubling):
        pass

    class Static(nn.Module):
        @staticmethod
        def forward(x: float) -> float:
            return 2.0 * x

    kind: Any
    for kind in (Mixed, MixedLast, Static):
        assert kind()(3.0) == 6.0
        with pytest.raises(SettingError, match="would go on to use the forward of its class"):
            kind().forward = abs

    class BothWays(nn.Module):
        def __init__(self) -> None:
            self.forward, self.back = nn.Linear(1, 1), nn.Linear(1, 1)

    assert len(BothWays().parameters()) == 4


def test_whole_numbers_by_chance_fit_int64() -> None:
    assert gradwalk.randint(2**63 - 1, 2**63, (1,)).item() == 2**63 - 1
    for low, high in ((0, 2**63 + 1), (-(2**63) - 1, 0)):
        with pytest.raises(SettingError, match="do not fit int64"):
            gradwalk.randint(low, high, (1,))


def test_a_part_of_a_parameter_is_not_updated_in_vain() -> None:
    p, plain = Tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True), Tensor([[1.0], [2.0]])
    with gradwalk.no_grad():
        for part in (p[0], p.T, p.reshape(4), p[:, 1], p.expand(1, 2, 2), p[0][1:], p.T.reshape(4)):
            with pytest.raises(GraphError, match="a part of a parameter, and for reading"):
                part *= 2.0
            with pytest.raises(ValueError, match="read-only"):
                part.data[0] = 1.0
        copies = p[[0, 1]]
        copies *= 2.0
        h = plain.reshape(2)
        h += 1.0
        scaled = p.T * 2.0
        scaled += 1.0
    assert (copies.tolist(), h.tolist(), scaled.tolist()) == (
        [[2.0, 4.0], [6.0, 8.0]], [2.0, 3.0], [[3.0, 7.0], [5.0, 9.0]],
    )  # fmt: skip
    assert (p.tolist(), plain.tolist()) == ([[1.0, 2.0], [3.0, 4.0]], [[1.0], [2.0]])


def test_the_functional_module_is_imported_as_pytorchs_is() -> None:
    import gradwalk.nn.functional as functional  # type: ignore[import-not-found]
    from gradwalk.nn.functional import cross_entropy, relu

    assert (functional.relu, relu, cross_entropy) == (gradwalk.relu, gradwalk.relu, gradwalk.cross_entropy)


def test_names_that_pytorch_has_beside_its_functions() -> None:
    assert (gradwalk.pi, gradwalk.e, gradwalk.inf) == (math.pi, math.e, math.inf)
    assert math.isnan(gradwalk.nan)
    made = [gradwalk.zeros(1, dtype=kind).dtype for kind in (gradwalk.float, gradwalk.double, gradwalk.int)]
    assert made == ["float32", "float64", "int64"]


def test_sizes_by_name_and_numbers_in_tensors() -> None:
    for make in (gradwalk.zeros, gradwalk.ones, gradwalk.rand, gradwalk.randn):
        assert (make(size=(2, 3)).shape, make(size=4).shape) == ((2, 3), (4,))
        with pytest.raises(ShapeError, match="takes a shape in whole numbers"):
            make((2,), size=(3,))
    assert gradwalk.full(size=(2,), fill_value=3.0).tolist() == [3.0, 3.0]
    assert gradwalk.arange(Tensor(3)).tolist() == [0, 1, 2]
    assert gradwalk.arange(0, Tensor(1.0), 0.5).tolist() == [0.0, 0.5]
    assert gradwalk.linspace(Tensor(0.0), Tensor(1.0), 3).tolist() == [0.0, 0.5, 1.0]


def test_a_number_without_a_graph_is_one_for_python_too() -> None:
    right = (Tensor([1.0, 2.0]) > 1.5).double().mean()
    assert (float(right), f"{float(right):.0%}", math.floor(right)) == (0.5, "50%", 0)
    numbers = np.zeros(1)
    numbers[0] = right
    assert numbers.tolist() == [0.5]
    with pytest.raises(ShapeError, match="for one number"):
        float(Tensor([True, False]))
    with pytest.raises(NotANumberError, match="would leave the graph unseen"):
        float(Tensor(1.0))


def test_arrays_of_another_byte_order_are_read() -> None:
    for kind, dtype in ((">f8", "float64"), (">f4", "float32"), (">i4", "int64"), ("<u2", "int64")):
        x = Tensor(np.array([1, 2], kind))
        assert (x.tolist(), x.dtype) == ([1, 2], dtype)
    assert Tensor([5.0, 6.0])[np.array([1], ">i8")].tolist() == [6.0]


# --- dtypes that stay what they are ----------------------------------------------------------------------------------


def test_a_triangle_of_bools_is_a_mask() -> None:
    seen = gradwalk.ones(3, 3, dtype=bool).tril()
    later = gradwalk.ones(3, 3, dtype=bool).triu(1)
    assert (seen.dtype, later.dtype, (~seen).tolist()) == ("bool", "bool", later.tolist())
    scores = gradwalk.zeros(3, 3).masked_fill(~seen, -math.inf).softmax(-1)
    assert scores[1].tolist() == [0.5, 0.5, 0.0]
    assert Tensor([[3, 1], [2, 4]]).tril().tolist() == [[3, 0], [2, 4]]


def test_what_is_filled_in_takes_the_dtype_that_is_there() -> None:
    mask = [True, False]
    theirs_mask = torch.tensor(mask)
    fills = (2.5, 2, True, torch.tensor(1.5, dtype=torch.float64), torch.tensor(1.5), torch.tensor(7))
    for dtype in ("float64", "float32", "int64", "bool"):
        for fill in fills:
            theirs = torch.tensor([1, 0], dtype=getattr(torch, dtype)).masked_fill(theirs_mask, fill)
            given: Any = fill if isinstance(fill, (int, float)) else Tensor(fill)
            ours = Tensor([1, 0], dtype=dtype).masked_fill(Tensor(mask), given)
            beside(ours, theirs)
            beside(
                gradwalk.full_like(Tensor([1, 0], dtype=dtype), given),
                torch.full_like(torch.tensor([1, 0], dtype=getattr(torch, dtype)), fill),
            )
    with pytest.raises(NotANumberError, match="masked_fill was given -inf for a tensor of int64"):
        Tensor([1, 0]).masked_fill(Tensor(mask), -math.inf)
    x, fill = Tensor([1.0, 2.0], dtype="float32"), Tensor(3.0)
    x.masked_fill(Tensor(mask), fill).sum().backward()
    assert (x.grad.tolist(), x.grad.dtype, fill.grad.item(), fill.grad.dtype) == ([0, 1], "float32", 1.0, "float64")


def test_what_is_added_in_place_takes_the_dtype_that_is_there() -> None:
    for recorded in (True, False):
        x = Tensor([1.0, 2.0], dtype="float32")
        total = x * 1.0 if recorded else x.detach()
        total += Tensor([0.1, 0.2])
        assert (total.dtype, total.requires_grad) == ("float32", True)
        if recorded:
            total.sum().backward()
            assert (x.grad.dtype, x.grad.tolist()) == ("float32", [1.0, 1.0])


def test_bools_and_ints_stand_on_the_left_of_their_operators() -> None:
    mask: Any = Tensor([True, False])
    ints: Any = Tensor([6, 3])
    assert [(True & mask).tolist(), (True | mask).tolist(), (True ^ mask).tolist()] == [
        [True, False], [True, True], [False, True]
    ]  # fmt: skip
    assert [(3 & ints).tolist(), (1 | ints).tolist(), (5 ^ ints).tolist()] == [[2, 3], [7, 3], [3, 6]]
    with pytest.raises(NotANumberError, match="& is for bools and ints"):
        1.5 & ints


def test_bools_are_0_and_1_where_that_is_meant() -> None:
    mask = Tensor([[True, False], [True, True]])
    assert (mask.min().item(), mask.amin(0).tolist(), mask.amin(0).dtype) == (False, [True, False], "bool")
    assert gradwalk.allclose(mask, mask)
    assert not gradwalk.allclose(mask, ~mask)
    alone = Tensor(True).cumsum(0)
    assert (alone.dtype, alone.item(), alone.shape) == ("int64", 1, ())
    for zero in (False, Tensor([False, True])):
        with pytest.raises(NotANumberError, match="of ints by 0 has no answer"):
            Tensor([3, 4]) // zero


def test_a_tensor_of_another_provider_can_be_printed() -> None:
    with gradwalk.using_arrays("python"):
        x = Tensor([1.0, 2.0])
    assert repr(x) == "Tensor([1.0, 2.0])"


def test_a_value_is_compared_with_every_number_of_a_tensor() -> None:
    v, t = gradwalk.Value(1.0), Tensor([0.5, 1.0, 2.0])
    found: list[Any] = [v < t, v <= t, v > t, v >= t, t > v]
    assert [x.tolist() for x in found] == [
        [False, False, True], [False, True, True], [True, False, False], [True, True, False], [False, False, True]
    ]  # fmt: skip
    f = gradwalk.compile(lambda v, t: gradwalk.where(v < t, t, 0.0).sum() * v)
    if arrays.now.name == "numpy":
        assert [f(gradwalk.Value(x), t).item() for x in (1.0, 0.0, 1.5)] == [2.0, 0.0, 3.0]


def test_ints_beside_floats_cut_no_gradient_off() -> None:
    whole, given = [[3, -1, 2], [5, 2, -2]], [[0.3, -0.7, 1.9], [0.25, 0.5, -1.1]]
    functions: list[Any] = [
        lambda g, k, x: k @ x.T, lambda g, k, x: k.T @ x, lambda g, k, x: x @ k.T, lambda g, k, x: k[0] @ x[0],
        lambda g, k, x: k @ x[0], lambda g, k, x: g.einsum("ij,kj->ik", k, x), lambda g, k, x: g.einsum("ij,ij", x, k),
    ]  # fmt: skip
    for dtype in ("float64", "float32"):
        for f in functions:
            x = Tensor(given, dtype=dtype)
            theirs = torch.tensor(given, dtype=torch.float64, requires_grad=True)
            out, expected = f(gradwalk, Tensor(whole), x), f(torch, torch.tensor(whole, dtype=torch.float64), theirs)
            upstream = np.cos(np.arange(out.numel())).reshape(out.shape)
            out.backward(upstream)
            expected.backward(torch.tensor(upstream))
            assert (out.dtype, x.grad.dtype) == (dtype, dtype)
            near = 1e-12 if dtype == "float64" else 1e-5
            assert np.allclose(out.tolist(), expected.detach().numpy(), rtol=near, atol=near)
            assert np.allclose(x.grad.tolist(), theirs.grad.numpy(), rtol=near, atol=near)
