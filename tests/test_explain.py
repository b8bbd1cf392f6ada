from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import pytest
from cases import GRADWALK, Program, path_weights, programs
from hypothesis import given, settings
from micrograd.engine import Value as Micro

import gradwalk
from gradwalk import Value, explain, nn
from gradwalk.errors import GraphError
from gradwalk.explain import Explanation, LeafGradient
from gradwalk.explain.paths import MOST_LEAVES, MOST_PATHS
from gradwalk.presets import PRESETS
from gradwalk.program import program


def told(name: str) -> str:
    return str(explain(PRESETS[name].build().root))


def leaves(explanation: Explanation) -> dict[str, LeafGradient]:
    return {found.leaf.name: found for found in explanation.leaves}


def doubling(leaf: Value, times: int) -> Value:
    """A chain of diamonds: twice as many paths with each."""
    node = leaf
    for _ in range(times):
        node = node + node
    return node


# --- what it says ----------------------------------------------------------------------------------------------------

SAID = {
    "diamond": """\
a.grad = 15: through b 6 + through c 9 = 15
  d → b → a: 6 × 1 = 6
  d → c → a: 3 × 3 = 9""",
    "a-plus-a": """\
a.grad = 2: as 1st operand 1 + as 2nd operand 1 = 2
  b → a (1st): 1
  b → a (2nd): 1""",
    "shared-pair": """\
a.grad = −3: through d 3 + through e −6 = −3
  f → d → a: 1 × 3 = 3
  f → e → a: −6 × 1 = −6
b.grad = −8: through d −2 + through e −6 = −8
  f → d → b: 1 × −2 = −2
  f → e → b: −6 × 1 = −6""",
    "two-uses": """\
a.grad = 26: through (b × b → b (1st)) 12 + through (b × b → b (2nd)) 12 + through b 2 = 26
  c → b × b → b (1st) → a: 1 × 6 × 2 = 12
  c → b × b → b (2nd) → a: 1 × 6 × 2 = 12
  c → b → a: 1 × 2 = 2""",
    "expression-l": """\
a.grad = 6: L → d → e → a: −2 × 1 × −3 = 6
b.grad = −4: L → d → e → b: −2 × 1 × 2 = −4
c.grad = −2: L → d → c: −2 × 1 = −2
f.grad = 4: L → f: 4""",
    "parabola": """\
x.grad = 14: through (x**2 × 3 → x**2) 18 + through (x × 4) −4 = 14
  y → (x**2 × 3) − (x × 4) → x**2 × 3 → x**2 → x: 1 × 1 × 3 × 6 = 18
  y → (x**2 × 3) − (x × 4) → x × 4 → x: 1 × −1 × 4 = −4""",
}


@pytest.mark.parametrize(("name", "text"), SAID.items(), ids=SAID)
def test_the_words_for_the_presets(name: str, text: str) -> None:
    assert told(name) == text
    assert repr(explain(PRESETS[name].build().root)) == text


def test_one_node_can_be_asked_for() -> None:
    values = PRESETS["two-uses"].build()
    whole = SAID["two-uses"]
    assert str(explain(values.root, values["a"])) == str(explain(values.root, "a")) == whole
    assert str(explain(values.root, "b")).startswith("b.grad = 13: through (b × b → b (1st)) 6 +")
    assert str(explain(values.root, "c")) == "c.grad = 1: it is the root"
    alone = explain(Value(3.0, label="x"))
    assert str(alone) == "x.grad = 1: it is the root"
    assert [node.name for node in alone.leaves[0].paths[0].nodes] == ["x"]


def test_nodes_without_labels_are_called_by_number_or_formula() -> None:
    a, b, c = Value(2.0), Value(-3.0), Value(10.0)
    assert str(explain((a + b) * c, c)) == "Value(10).grad = −1: n4 → Value(10): −1"
    a.label, b.label, c.label = "a", "b", "c"
    assert str(explain((a + b) * c, a)) == "a.grad = 10: (a + b) × c → a + b → a: 10 × 1 = 10"
    assert str(explain((a + b).tanh() * 2, a)).startswith("a.grad = 0.8399: tanh(a + b) × 2 → tanh(a + b) → a + b → a:")
    assert "n8 → (a + b) × (b + c) → a + b → b" in str(explain((a + b) * (b + c) * (a + 7), b))


def test_a_formula_whose_gradient_is_explained_stands_in_brackets() -> None:
    a = Value(2.0, label="a")
    b = a * 3
    assert str((b * 2).explain(b)).startswith("(a × 3).grad = 2: ")
    b.label = "twice a"
    assert str((b * 2).explain(b)).startswith("twice a.grad = 2: ")


def test_a_constant_makes_no_path() -> None:
    a = Value(2.0, label="a")
    found = explain(3 * a + 1)
    assert [leaf.leaf.name for leaf in found.leaves] == ["a"]
    assert found.leaves[0].count == 1


def test_nan_and_inf_are_shown() -> None:
    x = Value(0.0, label="x")
    assert str(explain(x.sqrt() * x)) == (
        "x.grad = nan: through sqrt(x) nan + directly 0 = nan\n"
        "  sqrt(x) × x → sqrt(x) → x: 0 × inf = nan\n"
        "  sqrt(x) × x → x: 0"
    )
    assert str(explain(x.log())) == "x.grad = inf: log(x) → x: inf"


def test_paths_that_overflow_where_the_walk_does_not() -> None:
    x = Value(1.0, label="x")
    deep = x * 1e200 * 1e200
    deep.label = "p"
    root = deep - deep
    root.backward()
    lines = str(explain(root)).split("\n")
    assert x.grad == 0.0
    assert lines[0] == "x.grad = 0: through p (1st) inf + through p (2nd) −inf"
    assert lines[-1] == "  (these add up to nan: paths overflow or lose digits, and backward() adds first)"


def test_odd_labels_stay_on_their_line() -> None:
    a = Value(2.0, label="a\nb" * 1000)
    text = str(explain(a * a))
    assert text.count("\n") == 2
    assert max(map(len, text.split("\n"))) < 200


def test_hooks_are_mentioned() -> None:
    a = Value(2.0, label="a")
    a.register_hook(lambda gradient: gradient / 2)
    assert str(explain(a * 3)).split("\n")[-1] == "(hooks change gradients on their way; they are left out here)"


# --- few paths, and many ---------------------------------------------------------------------------------------------


def test_up_to_six_paths_are_named_in_the_headline() -> None:
    a = Value(2.0, label="a")
    assert str(explain(sum([a * i for i in range(1, 7)], Value(0.0)), a)).startswith("a.grad = 21: through ")
    found = explain(sum([a * i for i in range(1, 8)], Value(0.0)), a)
    assert str(found).startswith("a.grad = 28: the sum of 7 paths\n")
    assert str(found).count("\n") == 7


def test_many_paths_are_counted_and_grouped() -> None:
    a = Value(2.0, label="a")
    listed, counted = explain(doubling(a, 6)).leaves[0], explain(doubling(a, 7)).leaves[0]
    assert (listed.count, len(listed.paths)) == (MOST_PATHS, MOST_PATHS)
    assert (counted.count, len(counted.paths), counted.gradient) == (2 * MOST_PATHS, 0, 128.0)
    assert str(counted) == (
        "a.grad = 128: the sum over 128 paths, too many to list; by the nodes that use a:\n"
        "  through a + a: gradient 64 × slope 1 = 64\n"
        "  through a + a: gradient 64 × slope 1 = 64"
    )
    assert sum(share.upstream * share.local for share in counted.shares) == counted.gradient


def test_paths_too_many_to_walk_are_counted() -> None:
    found = explain(doubling(Value(1.0, label="a"), 1000)).leaves[0]
    assert "the sum over more than 10¹⁸ paths" in str(found)
    assert found.gradient == 2.0**1000


@pytest.mark.slow
def test_a_long_path_is_cut() -> None:
    node = a = Value(1.0, label="a")
    for _ in range(20_000):
        node = node * 1.0
    found = explain(node)
    text = str(found)
    assert "… 19993 nodes …" in text
    assert "… 19992 slopes …" in text
    assert len(text) < 400
    assert len(found.leaves[0].paths[0].nodes) == 20_001
    assert explain(node, a).leaves[0].gradient == 1.0


def test_many_leaves_are_not_all_told() -> None:
    model = nn.MLP(2, [4, 4, 1])
    found = explain(model([1.0, -2.0]))
    assert len(found.leaves) == MOST_LEAVES
    assert found.left_out == len(model.parameters()) - MOST_LEAVES
    assert str(found).endswith("more leaves; name one: explain(root, leaf)")


# --- the sum over paths is the gradient ------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(programs(max_steps=25))
def test_the_paths_add_up_to_what_backward_gives(random: Program) -> None:
    nodes = random.run(lambda x: Value(x, label=f"v{x}"), GRADWALK)
    root = nodes[-1]
    root.backward()
    scale = path_weights(nodes)
    for i, leaf in enumerate(nodes[: len(random.leaves)]):
        try:
            found = explain(root, leaf).leaves[0]
        except GraphError:
            assert leaf.grad == 0.0, f"leaf {i} takes part after all"
            continue
        near = pytest.approx(leaf.grad, rel=1e-11, abs=1e-13 * max(scale[leaf], 1.0))
        assert found.gradient == near
        assert sum(share.upstream * share.local for share in found.shares) == near
        assert bool(found.paths) == (0 < found.count <= MOST_PATHS)
        if found.paths:
            assert len(found.paths) == found.count
            assert len({path.edges for path in found.paths}) == found.count
            assert sum(path.contribution for path in found.paths) == near
            for path in found.paths:
                assert math.prod(path.slopes) == path.contribution
                assert (path.nodes[0].data, path.nodes[-1].data) == (root.data, leaf.data)


def test_gradients_are_left_as_they_were() -> None:
    values = PRESETS["neuron"].build()
    values.root.backward()
    before = {name: (v.data, v.grad) for name, v in values.items()}
    str(explain(values.root))
    assert before == {name: (v.data, v.grad) for name, v in values.items()}


# --- engines of one's own, and what does not fit ---------------------------------------------------------------------


def test_an_operation_made_by_hand_tells_its_slopes_when_run() -> None:
    a = Value(3.0, label="a")
    square = Value(9.0, (a,), "square", label="s")

    def push() -> None:
        a.grad += 2 * a.data * square.grad

    square._backward = push
    assert str(explain(square * 2)) == "a.grad = 12: s × 2 → s → a: 2 × 6 = 12"
    assert a.grad == 0.0


def test_a_slope_that_cannot_be_seen_is_said_to_be_so() -> None:
    a = Value(3.0, label="a")
    square = Value(9.0, (a,), "square", label="s")

    def push() -> None:
        a.grad += 2 * a.data * square.grad

    square._backward = push
    with pytest.raises(GraphError, match="s has a _backward of its own that does not tell its slopes"):
        explain(square * 0)  # what arrives at s is 0, and 0 times any slope is 0


def test_graphs_of_other_engines_are_explained() -> None:
    m = Micro(2.0)
    n = Micro(3.0)
    text = str(explain(m * n + m, m))
    assert text.startswith("Value(2).grad = 4: ")
    assert m.grad == 0


@pytest.mark.parametrize("root", [3.0, None, "L", [Value(1.0)]])
def test_a_root_is_a_value(root: Any) -> None:
    with pytest.raises(GraphError, match="explain takes the Value at the end of a graph, not "):
        explain(root)


def test_a_leaf_is_part_of_the_graph() -> None:
    values = program("d = a*2; d = d*b", a=2, b=3)
    for leaf, words in (
        ("x", "no node is labelled 'x', so nothing flows to it; there are a, b, d"),
        (Value(7.0, label="far"), "far=7 is not part of the graph, so nothing flows to it; there are a, b, d"),
        ("d", "2 nodes are labelled 'd'; give the Value itself"),
        (values["d"].operands[0].operands[1], "2 is a constant: no gradient flows to it"),
    ):
        with pytest.raises(GraphError) as caught:
            explain(values.root, leaf)
        assert str(caught.value) == words


def test_a_cycle_is_refused() -> None:
    a = Value(1.0, label="a")
    b = a * 2
    a._prev = {b}
    with pytest.raises(GraphError, match="the graph has a cycle"):
        explain(b)


@pytest.mark.parametrize("first", ["", "import gradwalk.explain\n", "from gradwalk.explain import Path\n"])
def test_gradwalk_explain_can_be_called_whatever_was_imported_before(first: str) -> None:
    code = f"{first}import gradwalk\nprint(gradwalk.explain(gradwalk.Value(2.0, label='a') * 3))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.stdout == "a.grad = 3: a × 3 → a: 3\n", run.stderr
    assert "explain" in gradwalk.__all__
