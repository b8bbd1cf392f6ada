"""Births of nan and inf: producers, arrivals and carriers, forwards and backwards, and the lines that made them."""

from __future__ import annotations

import math
from typing import Any

import pytest

import gradwalk
from gradwalk import Value, errors, provenance, walk
from gradwalk.provenance import Place, backward_births, forward_births, users_place


def births_of(root: Value) -> provenance.Births:
    return forward_births(walk.topological(root))


def walked(root: Value) -> provenance.Births:
    root.backward()
    return backward_births(list(walk.topological(root)))


def test_producers_against_carriers() -> None:
    x, y = Value(-1.0, label="x"), Value(0.0, label="y")
    root = x.log() + 1 / y + y.exp()
    found = births_of(root)
    assert [birth.text for birth in found.producers] == ["log(x=-1) gave nan", "1 / y=0 gave inf"]
    assert found.arrivals == []
    assert found.carriers == 2
    assert found.first is found.producers[0]
    assert found


def test_inf_that_turns_nan_is_carried() -> None:
    zero = Value(0.0)
    inf = 1 / zero
    found = births_of(inf - inf)
    assert [birth.text for birth in found.producers] == ["1 / 0 gave inf"]
    assert found.carriers == 1


def test_arrivals_in_leaves_and_constants() -> None:
    leaf = Value(math.inf, label="w")
    found = births_of(leaf * 2)
    assert [birth.text for birth in found.arrivals] == ["inf came in as a leaf: w"]
    assert found.first is found.arrivals[0]
    x = Value(3.0)
    product = x * math.nan
    for _ in range(2):  # a constant that was looked at is a node, and still a constant
        found = forward_births([x, product])
        assert [birth.text for birth in found.arrivals] == ["nan came in as a constant: 3 * nan"]
        assert found.carriers == 0
        assert product.operands


def test_a_finite_graph_has_no_births() -> None:
    found = births_of(Value(1.0) * 2)
    assert not found
    assert found.first is None
    assert not walked(Value(1.0) * 2)


def test_gradients_born_of_a_slope() -> None:
    x = Value(0.0, label="x")
    found = walked((x.sqrt() * 2).tanh() + x)
    assert [birth.text for birth in found.producers] == [
        "the gradient turned inf on its way from sqrt(x=0) = 0 to x=0: upstream 2 × local inf"
    ]
    assert found.producers[0].operand is x
    assert found.carriers == 1  # x itself


def test_no_birth_in_a_branch_not_taken() -> None:
    x = Value(0.0, label="x")
    assert not walked(gradwalk.where(0.0, x.sqrt(), x * 2))


def test_zero_times_inf() -> None:
    x = Value(0.0, label="x")
    found = walked(0.0 * x.sqrt() + x * 2)
    assert [birth.value for birth in found.producers] == [pytest.approx(math.nan, nan_ok=True)]
    assert "upstream 0 × local inf" in found.producers[0].text


def test_gradients_born_in_a_closure() -> None:
    x = Value(2.0, label="x")
    inner = x * 3
    out = Value(inner.data, (inner,), "odd")

    def push() -> None:
        inner.grad += out.grad * math.inf

    out._backward = push
    found = walked(out * 1.0)
    assert [birth.text for birth in found.producers] == ["the _backward of odd(6) = 6 gave 6 the gradient inf"]
    assert found.carriers == 2


def test_gradients_that_overflow_as_they_are_summed() -> None:
    x = Value(1.0, label="x")
    found = walked(x * 1e308 + x * 1e308)
    assert [birth.text for birth in found.producers] == ["the contributions to x=1 are finite, and their sum is inf"]


# --- anomaly() uses the same -----------------------------------------------------------------------------------------


def test_anomaly_tells_a_carrier_from_a_producer() -> None:
    with gradwalk.anomaly(), pytest.raises(errors.AnomalyError) as e:
        Value(math.inf, label="w") * 2
    assert str(e.value).splitlines()[0] == (
        "w=inf * 2 gave inf, and only carries on what came in: look at where its operands come from"
    )
    with gradwalk.anomaly(), pytest.raises(errors.AnomalyError) as e:
        Value(1e300) * 1e300
    assert str(e.value).splitlines()[0] == "1e+300 * 1e+300 gave inf"


def test_anomaly_names_the_closure_and_not_the_node_below_it() -> None:
    x = Value(2.0, label="x")
    with gradwalk.anomaly():
        inner = x * 3
        out = Value(inner.data, (inner,), "odd", label="out")

        def push() -> None:
            inner.grad += out.grad * math.nan

        out._backward = push
        root = out * 1.0
        with pytest.raises(errors.AnomalyError, match=r"the _backward of out = odd\(6\) gave 6 the gradient nan"):
            root.backward()
    assert (x.grad, inner.grad) == (0.0, 0.0)


# --- lines ---------------------------------------------------------------------------------------------------------


def test_the_users_line_is_the_innermost_outside_of_gradwalk() -> None:
    place = users_place()
    assert place.file == __file__
    assert place.function == "test_the_users_line_is_the_innermost_outside_of_gradwalk"
    assert place.source == "place = users_place()"
    assert str(place) == f"{__file__}, line {place.line}, in {place.function}:\n    place = users_place()"


def test_a_line_that_cannot_be_read_has_no_source() -> None:
    assert str(Place("<stdin>", 4, "f")) == "<stdin>, line 4, in f"


def test_nodes_keep_their_line_under_anomaly_only() -> None:
    def made() -> Any:
        return Value(2.0).exp()

    assert provenance.made_by(made()) is None
    with gradwalk.anomaly():
        node = made()
    place = provenance.made_by(node)
    assert place is not None
    assert (place.function, place.source) == ("made", "return Value(2.0).exp()")
