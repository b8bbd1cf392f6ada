"""Orders and walks over any graph of nodes."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from cases import GRADWALK, Program, programs
from hypothesis import HealthCheck, given, settings

from gradwalk import Value, errors, walk
from gradwalk.walk import describe, formula, operands, short, topological


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
    assert formula("f2", ["1", "2"]) == "f2(1, 2)"
    assert formula("<lambda>", ["3"]) == "<lambda>(3)"
    assert formula("_own", ["3"]) == "_own(3)"
    assert formula("-", ["a"]) == "a-"
    assert formula("@", ["a", "b", "c"]) == "a @ b @ c"


# --- the package ---------------------------------------------------------------------------------------------------


def test_the_engine_loads_only_what_it_needs() -> None:
    script = "import sys, gradwalk; print(*sorted(name for name in sys.modules if name.startswith('gradwalk.walk')))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.split() == ["gradwalk.walk", "gradwalk.walk.nodes", "gradwalk.walk.orders"]


def test_everything_else_is_there_on_demand() -> None:
    for name in walk.__all__:
        assert getattr(walk, name) is not None
        assert name in dir(walk)
    with pytest.raises(AttributeError, match=r"module 'gradwalk\.walk' has no attribute 'recrod'"):
        _ = walk.recrod
