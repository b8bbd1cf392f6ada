"""What no tensor holds, or no memory: refused by name with either provider, and never wrapped or warned of unseen."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gradwalk
from gradwalk import Tensor, using_arrays
from gradwalk.errors import BackwardError, GraphError, NotANumberError, NumberTooLargeError, SettingError, ShapeError


@pytest.fixture(params=["numpy", "python"], autouse=True)
def provider(request: pytest.FixtureRequest) -> Iterator[str]:
    with using_arrays(request.param):
        yield request.param


HUGE = 10**400
NAMES = {
    "g": gradwalk, "Tensor": Tensor, "np": np, "nan": math.nan, "inf": math.inf, "HUGE": HUGE, "e": 10**20, "w": 2**63,
}  # fmt: skip

NO_INTS = (
    "Tensor([1.5, nan], dtype='int64')", "Tensor(nan, dtype='int64')", "Tensor([nan]).long()", "Tensor([inf]).int()",
    "Tensor([1e30]).long()", "g.full((2,), nan, dtype='int64')", "g.full_like(Tensor([1]), inf)",
    "Tensor(np.array([nan]), dtype='int64')", "Tensor([1]).put(0, nan)", "g.pad(Tensor([1]), (1, 1), value=nan)",
    "g.linspace(0, inf, 3, dtype='int64')",
)  # fmt: skip
TOO_LARGE = (
    "Tensor([1.0]) + HUGE", "HUGE * Tensor([1.0])", "Tensor([1.0]) < HUGE", "Tensor([1]) + 10**30", "Tensor([1]) + w",
    "w + Tensor([1])", "Tensor([1]) & w", "Tensor([1.0]).clip(0, HUGE)", "Tensor([1.0]) ** HUGE", "g.full((2,), HUGE)",
    "g.full((2,), w)", "Tensor([1.0]).masked_fill(Tensor([True]), HUGE)", "g.where(Tensor([True]), HUGE, g.ones(1))",
    "Tensor([1]).masked_fill(Tensor([True]), w)", "g.arange(HUGE, HUGE + 2)", "g.linspace(0, HUGE, 3)",
    "Tensor(1.0).backward(HUGE)", "g.arange(w, w + 2)",
)  # fmt: skip
NO_MEMORY = (
    "g.zeros(e)", "g.zeros(10**10, 10**10)", "g.ones(e, 0)", "g.ones(3).expand(e, 3)", "g.ones(3).repeat(e)",
    "g.eye(10**7)", "g.rand(e)", "g.randn(10**13)", "g.randint(0, 2, (e,))", "g.randperm(10**14)", "g.arange(w)",
    "g.arange(1e15)", "g.linspace(0, 1, e)", "g.pad(g.ones(1), (e, 0))", "g.one_hot([1], 10**15)",
    "g.ones(3).diag(10**15)",
)  # fmt: skip


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("text", "error"),
    [(text, NotANumberError) for text in NO_INTS]
    + [(text, NumberTooLargeError) for text in TOO_LARGE]
    + [(text, ShapeError) for text in NO_MEMORY],
)
def test_what_does_not_fit_is_refused(text: str, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"int|float|number|memory"):
        eval(text, dict(NAMES))


@pytest.mark.filterwarnings("error")
def test_what_float32_cannot_hold_is_inf() -> None:
    large: Any = Tensor(1e300, dtype="float32"), Tensor([1e300]).float(), Tensor([1e300], dtype="float32")
    assert [x.max().item() for x in large] == [math.inf] * 3


def test_the_largest_ints() -> None:
    assert gradwalk.arange(2**62, 2**62 + 2).tolist() == [2**62, 2**62 + 1]
    assert gradwalk.arange(3, -(2**63), -(2**62)).tolist() == [3, 3 - 2**62, 3 - 2**63]
    assert (Tensor([1.0]) + 2**70).tolist() == [2.0**70]
    assert ((Tensor([1]) < 2**70).tolist(), (Tensor([1]) == 2**70).tolist()) == ([True], [False])


def test_ints_stay_ints_and_bools_bools(provider: str) -> None:
    """Kinds that Python tells apart, and `tolist` shows."""
    ints, bools = Tensor([2, -3]), Tensor([True, False])
    for found, expected in (
        (ints.relu(), [2, 0]), (ints.floor(), [2, -3]), (ints.round(), [2, -3]), (ints.sign(), [1, -1]),
        (ints**True, [2, -3]), (ints.relu6(), [2, 0]), (ints.hardtanh(), [1, -1]), (bools.cumsum(0), [1, 1]),
        (ints.clip(True, True), [1, 1]), (Tensor([1.5, -0.5]).sign(), [1.0, -1.0]),
        (Tensor([-0.5, 0.5]).ceil(), [-0.0, 1.0]), (bools | bools, [True, False]),
    ):  # fmt: skip
        assert (repr(found.tolist()), type(found.tolist()[0]).__name__) == (repr(expected), type(expected[0]).__name__)


def test_bools_are_not_rounded_nor_divided() -> None:
    bools: Any = Tensor([True, False])
    refused: Any = (
        bools.floor, bools.ceil, bools.round, bools.trunc, bools.hardtanh, bools.relu6, lambda: bools // bools,
        lambda: bools % True,
    )  # fmt: skip
    for make in refused:
        with pytest.raises(NotANumberError, match="of bools is not a number"):
            make()


def test_indices_that_are_none() -> None:
    x: Any = Tensor([1.0, 2.0, 3.0])
    for key, text in (
        (slice(None, None, 1.5), "a slice holds whole numbers"), (slice(None, None, -1), "a slice goes forwards"),
        (Tensor(2.0), "an index holds whole numbers or bools"), (2.0, "an index holds ints"),
    ):  # fmt: skip
        with pytest.raises(ShapeError, match=text):
            x[key]
    assert (x[np.bool_(True)].tolist(), x[np.bool_(False)].shape) == ([[1.0, 2.0, 3.0]], (0, 3))


def test_places_count_from_0_where_they_do_in_pytorch() -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    wrong: Any = (lambda: x.gather(1, [[-1]]), lambda: x.index_select(0, [-1]))
    for pick in wrong:
        with pytest.raises(ShapeError, match="takes places from 0 on, and was given -1"):
            pick()
    assert (x.take([-1]).tolist(), x.sort(descending=True).values.tolist()) == ([4.0], [[2.0, 1.0], [4.0, 3.0]])


def test_products_by_name_take_the_ranks_in_it() -> None:
    v, m, b = (gradwalk.ones(shape) for shape in ((3,), (3, 3), (2, 3, 3)))
    assert [gradwalk.dot(v, v).shape, m.mv(v).shape, m.mm(m).shape, b.bmm(b).shape] == [(), (3,), (3, 3), (2, 3, 3)]
    wrong: Any = (lambda: m.dot(v), lambda: v.mv(v), lambda: m.mm(v), lambda: m.bmm(m), lambda: b.bmm(b[:1]))
    for make in wrong:
        with pytest.raises(ShapeError, match=r"takes a .* and a .*, and was given shapes"):
            make()
    with pytest.raises(ShapeError, match="trace is for a matrix"):
        b.trace()
    with pytest.raises(ShapeError, match="size takes a tensor of at least one dim"):
        Tensor(1.0).size(0)


def test_settings_that_say_what_is_anyway() -> None:
    z, y = gradwalk.zeros(2, 4), Tensor([0, 3])
    plain = gradwalk.cross_entropy(z, y).item()
    assert gradwalk.cross_entropy(z, y, reduction="mean", weight=None, ignore_index=-100).item() == plain
    for loss in (gradwalk.cross_entropy, gradwalk.nll_loss):
        with pytest.raises(SettingError, match="has no 'reduction'; use -logits"):
            loss(z, y, reduction="sum")
    with pytest.raises(ShapeError, match="takes padding of at least 0"):
        gradwalk.conv1d(gradwalk.ones(1, 1, 3), gradwalk.ones(1, 1, 2), padding=-1)
    x = Tensor([[3.0, 1.0], [2.0, 4.0]])
    assert (x.var(False).item(), x.std(True).item()) == (x.var(unbiased=False).item(), x.std().item())


def test_numbers_of_numpys_make_ranges() -> None:
    assert gradwalk.arange(np.int64(3)).tolist() == gradwalk.arange(end=3).tolist() == [0, 1, 2]
    assert gradwalk.arange(np.float32(0.0), 1, np.float32(0.5)).tolist() == [0.0, 0.5]
    with pytest.raises(SettingError, match="arange takes finite numbers"):
        gradwalk.arange()
    ints: Any = Tensor([1, 2])
    found = np.int64(3) ^ ints
    assert (type(found), found.tolist()) == (Tensor, [2, 1])


def test_lists_that_hold_themselves_have_no_shape() -> None:
    endless: list[Any] = []
    endless += [endless, endless]
    made: Any = (
        lambda: Tensor(endless), lambda: Tensor.of(endless), lambda: gradwalk.ones(3)[endless],
        lambda: gradwalk.cat(endless), lambda: gradwalk.ones([1] * 65),
    )  # fmt: skip
    for make in made:
        with pytest.raises(ShapeError, match=r"a tensor has at most 64 dims|an index holds ints"):
            make()
    assert gradwalk.ones([1] * 64).ndim == 64


def test_a_part_of_a_parameter_is_not_written_to() -> None:
    """A view that was made before `no_grad` would be left behind, where PyTorch writes to the parameter."""
    w = gradwalk.ones(2, 3, requires_grad=True)
    part = w.view(3, 2).T[0]
    with pytest.raises(GraphError, match="a part of a parameter"), gradwalk.no_grad():
        part += 1.0
    with pytest.raises(GraphError, match="a part of a parameter"):
        part *= 2.0
    hidden: Any = (w * 2.0)[0]
    hidden += 1.0
    assert hidden.tolist() == [3.0, 3.0, 3.0]
    many = gradwalk.ones(2)
    for _ in range(3000):
        many = many.view(2)
    many += 1.0
    assert many.tolist() == [2.0, 2.0]


def test_numbers_are_written_to_in_place() -> None:
    x = Tensor([1.0, 2.0])
    numbers, loss = x.data, (x * x).sum()
    numbers += 1.0
    numbers *= [2.0, 3.0] if isinstance(numbers, np.ndarray) else 2.0
    assert x.tolist() in ([4.0, 9.0], [4.0, 6.0])
    with pytest.raises(BackwardError, match="was written to after"):
        loss.backward()
    with pytest.raises((TypeError, ValueError)):
        Tensor([1, 2]).data += 0.5
    with pytest.raises(ValueError, match="read-only"):
        x.grad.data += 1.0


def test_a_tensor_of_the_other_provider_can_be_looked_at(provider: str) -> None:
    with using_arrays("python" if provider == "numpy" else "numpy"):
        x = Tensor([1.0, 2.0])
    assert (repr(x), x.tolist(), x.numpy().tolist()) == ("Tensor([1.0, 2.0])", [1.0, 2.0], [1.0, 2.0])
    here = Tensor([1.0, 2.0])
    mixed: Any = (lambda: x + here, lambda: here @ x, lambda: gradwalk.cat([x, here]), lambda: x == here)
    for make in mixed:
        with pytest.raises(GraphError, match="make tensors inside the using_arrays"):
            make()


def test_numbers_that_were_given_as_numpys_are_for_reading() -> None:
    with pytest.raises(ValueError, match="read-only"):
        gradwalk.ones(2).numpy()[0] = 5.0


def test_names_that_would_change_a_tensor_say_what_makes_a_new_one() -> None:
    x: Any = Tensor([1.0])
    for name, text in (("exp_", "use exp, which gives a new tensor"), ("fliplr", "flip"), ("allclose", "gradwalk.all")):
        with pytest.raises(AttributeError, match=text):
            getattr(x, name)
    with pytest.raises(AttributeError, match="use relu, which gives a new tensor"):
        gradwalk.relu_  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'nonsense_'$"):
        gradwalk.nonsense_  # noqa: B018
