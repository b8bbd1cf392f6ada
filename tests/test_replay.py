"""A graph computed anew in place is the graph that would have been built on those leaves."""

from __future__ import annotations

import math
from typing import Any

import pytest
from cases import GRADWALK, Program, programs
from hypothesis import given, settings
from hypothesis import strategies as st

from gradwalk import Value, op, walk
from gradwalk.presets import PRESETS
from gradwalk.replay import reason_not_to, recompute, write_back


def same(x: float, y: float) -> bool:
    return x == y or (math.isnan(x) and math.isnan(y))


def moved(nodes: list[Value], leaves: dict[int, float]) -> None:
    write_back(nodes, recompute(nodes, {id(nodes[place]): x for place, x in leaves.items()}))


@settings(max_examples=80)
@given(programs(max_steps=40), st.data())
def test_other_leaves_give_the_graph_that_they_would_have_built(program: Program, data: st.DataObject) -> None:
    """Built at one point and moved to another, against built at the other: data, slopes and gradients to the bit."""
    inputs = tuple(data.draw(st.floats(-3, 3)) for _ in program.leaves)
    ours, there = (p.run(Value, GRADWALK) for p in (program, Program(inputs, program.steps)))
    nodes = list(walk.topological(ours[-1]))
    place = {id(node): i for i, node in enumerate(nodes)}
    leaves = {place[id(v)]: x for v, x in zip(ours, inputs, strict=False) if id(v) in place}
    moved(nodes, leaves)
    other = list(walk.topological(there[-1]))
    assert len(nodes) == len(other)
    ours[-1].backward()
    there[-1].backward()
    for node, wanted in zip(nodes, other, strict=True):
        assert same(node.data, wanted.data)
        for x, y in zip(node.local_derivatives, wanted.local_derivatives, strict=True):
            assert (x is None and y is None) or same(x, y)
        assert same(node.grad, wanted.grad)


@pytest.mark.parametrize("name", PRESETS)
def test_there_and_back_is_as_before(name: str) -> None:
    root = PRESETS[name].build().root
    before = walk.record(root).to_json()
    nodes = list(walk.topological(root))
    place = next(i for i, node in enumerate(nodes) if not node.operands)
    was = nodes[place].data
    moved(nodes, {place: was + 1.5})
    assert walk.record(root).to_json() != before
    moved(nodes, {place: was})
    assert walk.record(root).to_json() == before


def test_unusual_nodes_follow_too() -> None:
    """A hook lays a node out differently; an op of one's own is in no table; an exponent is no operand."""

    @op(lambda x, y, out: 2 * x * y, lambda x, y, out: x * x)
    def mixed(x: float, y: float) -> float:
        return x * x * y

    a = Value(2.0, label="a")
    b = mixed(a, 3) ** 2
    b.register_hook(lambda gradient: gradient * 10)
    nodes = list(walk.topological(b))
    moved(nodes, {nodes.index(a): 3.0})
    assert b.data == 27.0**2
    b.backward()
    assert a.grad == 10 * 2 * 27.0 * 18.0


def test_nothing_is_touched_before_all_is_known() -> None:
    @op(lambda x, out: 1.0)
    def fussy(x: float) -> float:
        if x > 5:
            raise ValueError("too much")
        return x

    a = Value(1.0)
    b = fussy(a) * 2
    nodes = list(walk.topological(b))
    with pytest.raises(ValueError, match="too much"):
        recompute(nodes, {id(a): 6.0})
    assert (a.data, b.data) == (1.0, 2.0)


def handmade() -> Any:
    a = Value(2.0, label="a")
    out = Value(4.0, (a,), "double", label="out")

    def back() -> None:
        a.grad += 2 * out.grad

    out._backward = back
    return out


def test_what_was_made_by_hand_is_named() -> None:
    assert reason_not_to(list(walk.topological(handmade() * 3))) == "out was made by hand"
    assert reason_not_to(list(walk.topological(Value(2.0) * 3))) == ""
