"""Orders and walks over any graph of nodes."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest
from cases import GRADWALK, Program, programs
from hypothesis import HealthCheck, given, settings

from gradwalk import Value, errors, walk
from gradwalk.walk import Push, Seed, Visit, backward_steps, describe, formula, operands, short, topological


@given(programs(max_steps=80))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_topological_lists_each_node_once_after_its_operands(program: Program) -> None:
    root = program.run(Value, GRADWALK)[-1]
    order = list(topological(root))
    place = {node: i for i, node in enumerate(order)}
    assert len(place) == len(order)
    assert order[-1] is root
    assert all(place[x] < place[node] for node in order for x in node.operands)


def test_the_order_is_depth_first_and_deterministic() -> None:
    a, b = Value(1.0, label="a"), Value(2.0, label="b")
    c = a + b
    c.label = "c"
    d = c * a
    d.label = "d"
    assert [v.label for v in topological(d)] == ["a", "b", "c", "d"]
    assert [v.label for v in topological(a)] == ["a"]


class Home:
    """A learner's own node, with whatever field holds its operands."""

    def __init__(self, **fields: Any) -> None:
        vars(self).update(fields)


@pytest.mark.parametrize("field", ["_prev", "_children", "prev", "children", "_parents", "parents", "operands"])
def test_operands_of_home_made_classes(field: str) -> None:
    x, y = Home(), Home()
    assert operands(Home(**{field: (x, y)})) == (x, y)
    assert operands(Home(**{field: lambda: [y]})) == (y,)
    assert set(operands(Home(**{field: {x, y}}))) == {x, y}
    assert operands(Home(**{field: None})) == ()
    assert operands(x) == ()


def test_a_custom_way_to_find_operands() -> None:
    graph = {"d": ["b", "c"], "b": ["a"], "c": ["a"], "a": []}
    assert list(topological("d", graph.__getitem__)) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("graph", [{"a": "a"}, {"a": "b", "b": "a"}, {"a": "b", "b": "cd", "c": "", "d": "b"}])
def test_cycles_are_named(graph: dict[str, str]) -> None:
    with pytest.raises(errors.GraphError, match=r"the graph has a cycle: '[abd]' depends on itself"):
        list(topological("a", graph.__getitem__))


def test_describe_and_its_parts() -> None:
    a, b = Value(2.0, label="a"), Value(-3.0)
    assert describe(a) == "a=2"
    assert describe(b) == "-3"
    assert describe(a * b) == "a=2 * -3 = -6"
    assert describe(a**2) == "a=2**2 = 4"
    assert describe(a.clamp(0, 1)) == "clamp(a=2, 0, 1) = 1"
    named = a - 1
    named.label = "n"
    assert describe(named) == "n = a=2 - 1"
    assert describe(Home(_prev=(a,), data="text")) == "Home(a=2) = 'text'"
    assert describe(Home(_prev=(a,), data=1, _op="")) == "Home(a=2) = 1"
    assert short(0.1 + 0.2) == "0.3"
    assert short(Home(data=5, label=None)) == "5"
    assert formula("max", ["1", "2"]) == "max(1, 2)"
    assert formula("-", ["a"]) == "a-"
    assert formula("@", ["a", "b", "c"]) == "a @ b @ c"


# --- the backward walk, step by step -------------------------------------------------------------------------------


def test_steps_of_the_diamond() -> None:
    a = Value(2.0, label="a")
    b, c = a + 1, a * 3
    b.label, c.label = "b", "c"
    d = b * c
    d.label = "d"
    told: list[tuple[Any, ...]] = []
    for step in backward_steps(d):
        if isinstance(step, Push):
            told.append((step.node.label, step.operand.label, step.upstream, step.local, step.before, step.after))
        else:
            told.append((type(step).__name__, step.node.label, step.gradient))
    assert told == [
        ("Seed", "d", 1.0),
        ("Visit", "d", 1.0),
        ("d", "b", 1.0, 6.0, None, 6.0),
        ("d", "c", 1.0, 3.0, None, 3.0),
        ("Visit", "c", 3.0),
        ("c", "a", 3.0, 3.0, None, 9.0),
        ("Visit", "b", 6.0),
        ("b", "a", 6.0, 1.0, 9.0, 15.0),
        ("Visit", "a", 15.0),
    ]


@given(programs(max_steps=60))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_replaying_the_steps_gives_the_engines_gradients(program: Program) -> None:
    nodes = program.run(Value, GRADWALK)
    replayed: dict[Any, float] = {}
    for step in backward_steps(nodes[-1]):
        match step:
            case Seed(node, gradient):
                replayed[node] = gradient
            case Visit(node, gradient):
                assert replayed[node] == gradient
            case Push(node, operand, upstream, local, contribution, before, after):
                assert replayed[node] == upstream
                assert contribution == upstream * local
                assert replayed.get(operand) == before
                replayed[operand] = after
    assert all(node.grad == 0.0 for node in nodes), "telling the steps touches no gradient"
    nodes[-1].backward()
    for node in nodes:
        if node in replayed:
            assert math.isclose(node.grad, replayed[node], rel_tol=1e-9, abs_tol=1e-12)


def test_events_are_values_that_cannot_be_changed() -> None:
    for step in backward_steps(Value(3.0) * 2):
        with pytest.raises(dataclasses.FrozenInstanceError):
            step.node = None  # type: ignore[misc]


def test_constants_are_not_visited() -> None:
    visited = [step.node.data for step in backward_steps(Value(3.0) * 2) if isinstance(step, walk.Visit)]
    assert visited == [6.0, 3.0]
