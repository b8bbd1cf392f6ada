"""From nodes to matrix products: the page's plain sketch finds what the compiler finds, and the recording is true."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Any

import pytest
from recorded import rolled as recording

import gradwalk
from gradwalk import Value, nn
from gradwalk.compile import report
from gradwalk.learn.page import matrix_picture, rolling
from gradwalk.learn.page.programs import built
from gradwalk.learn.page.rolling import EXAMPLE, gathered, levels, roll, steps, tape_of

pytestmark = pytest.mark.native


def compiled_steps(f: Callable[..., Any], *given: Any) -> list[tuple[str, list[int], int]]:
    """What the compiler makes of a function."""
    compiled = gradwalk.compile(f)
    compiled(*given)
    return [(report._what(step), list(step.shape), step.nodes) for step in compiled.traces()[0].prepared.program.steps]


def our_steps(root: Any) -> list[tuple[str, list[int], int]]:
    return [(step["what"], step["shape"], step["nodes"]) for step in steps(tape_of(root))[0]]


@pytest.mark.parametrize(("sizes", "points"), [([16, 16, 1], 100), ([5, 3], 20), ([6, 1], 30), ([9, 4, 4], 25)])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_a_network_is_rolled_up_as_the_compiler_does_it(sizes: list[int], points: int, activation: str) -> None:
    draw = random.Random(1)
    model = nn.MLP(2, sizes, activation=activation)
    X = [[draw.uniform(-1, 1), draw.uniform(-1, 1)] for _ in range(points)]

    def loss(X: Any) -> Any:
        outs = [model(x) for x in X]
        return sum((o - 1) ** 2 for out in outs for o in (out if isinstance(out, list) else [out]))

    assert our_steps(loss(X)) == compiled_steps(loss, X)


def test_every_row_is_done_by_one_step_and_operands_come_before() -> None:
    tape = tape_of(built(EXAMPLE))
    found, step_of, flows = steps(tape)
    assert sum(step["nodes"] for step in found) == len(tape.ops) == len(step_of)
    assert min(step_of) == 0
    assert max(step_of) == len(found) - 1
    assert all(source < target and numbers > 0 for source, target, numbers in flows)
    for row, operands in enumerate(tape.operands):
        assert all(x < tape.leaves + row for x in operands)
        assert all(step_of[x - tape.leaves] <= step_of[row] for x in operands if x >= tape.leaves)


def test_rows_of_a_level_do_not_read_each_other_and_each_is_as_early_as_can_be() -> None:
    tape = tape_of(built(EXAMPLE))
    level = [0] * tape.leaves + levels(tape)
    for row, operands in enumerate(tape.operands):
        assert level[tape.leaves + row] == 1 + max((level[x] for x in operands if x >= 0), default=0)


def test_the_tape_computes_what_the_graph_computed() -> None:
    root = built(EXAMPLE)
    tape = tape_of(root)
    order = list(gradwalk.walk.topological(root))
    values = {f"p{i}": x for i, x in enumerate(_leaves(root))}
    numbers = [leaf.data for leaf in values.values()]
    for op, operands in zip(tape.ops, tape.operands, strict=True):
        given = [tape.constants[~x] if x < 0 else numbers[x] for x in operands]
        numbers.append(gradwalk.ops.TABLE[op].forward(*given))
    assert numbers[-1] == pytest.approx(root.data, rel=1e-12)
    assert len(tape.ops) == sum(1 for node in order if node.operands)


def _leaves(root: Any) -> list[Any]:
    """Leaves in the order in which the tape names them: as they are read."""
    found: dict[int, Any] = {}
    for node in gradwalk.walk.topological(root):
        for x, slope in zip(node.inputs, node.slopes, strict=True) if node.operands else ():
            if slope is not None and not x.operands:
                found[id(x)] = x
    return list(found.values())


def test_what_is_used_twice_is_not_swallowed_by_a_sum() -> None:
    a, b = Value(2.0), Value(3.0)
    product = a * b
    macros = gathered(tape_of(product + product.tanh() + a))
    assert [macro.op for macro in macros] == ["mul", "tanh", "sum"]
    assert len(macros[-1].tails) == 3


def test_a_chain_has_nothing_to_gather() -> None:
    answer: Any = roll("x = Value(0.5)\nfor _ in range(30):\n    x = x.tanh()\nx")
    assert len(answer["rolled"]["steps"]) == len(answer["rolled"]["levels"]) == 30
    assert {step["what"] for step in answer["rolled"]["steps"]} == {"tanh"}


def test_weights_may_stand_on_either_side() -> None:
    ws: Any
    ws, xs = (
        [[Value(0.1 * i + j) for i in range(3)] for j in range(4)],
        [[float(i + k) for i in range(3)] for k in range(5)],
    )
    for left in (True, False):
        total = sum(
            sum(w * x if left else x * w for w, x in zip(row, point, strict=True)).tanh() for row in ws for point in xs
        )
        assert our_steps(total)[0][:2] == ("matrix product", [4, 3, 5])


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        ("L = sigmod(a)", "did you mean sigmoid", 1),
        ("a = Value(2.0)\nb = a +", "invalid syntax", 2),
        ("a = Value(2.0)\nprint(b)", "name 'b' is not defined", 2),
        ("a = Value(2.0)\na", "nothing to roll up", None),
        ("x = 3", "nothing to roll up", None),
        ("x = Value(1.0)\nfor _ in range(30000):\n    x = x + 1\nx", "takes? fewer|rolls up to 20,000", None),
        ("x = Value(1.0)\nwhile True:\n    x = x + 1", "never ends", 2),
    ],
)
def test_what_cannot_be_rolled_up_is_explained(text: str, said: str, line: int | None) -> None:
    error: Any = roll(text)["error"]
    assert re.search(said, error["message"]), error
    if line is not None:
        assert error["line"] in (line, line + 1)


def test_the_answer_is_json() -> None:
    assert json.loads(json.dumps(roll(EXAMPLE), allow_nan=False)) == roll(EXAMPLE)


# --- pictures --------------------------------------------------------------------------------------------------------


def test_a_small_picture_shows_every_edge_once() -> None:
    reads = [[0, 1], [2], [2, 3], [0]]
    picture = matrix_picture.matrix_picture(2, reads, [0, 0, 0, 0])
    dots = {(y, x) for y, row in enumerate(picture["rows"]) for x, cell in enumerate(row) if cell != "."}
    assert dots == {(2 + row, x) for row, read in enumerate(reads) for x in read}


def test_sorting_moves_rows_and_columns_together() -> None:
    reads = [[0], [1], [0], [3]]  # two chains, one after the other
    picture = matrix_picture.matrix_picture(1, reads, [1, 2, 1, 2])
    assert picture["rows"] == [".....", "4....", "4....", ".4...", "..4.."]
    assert picture["cuts"] == [1, 3]


def test_a_large_picture_keeps_its_size_and_gets_darker_where_more_is() -> None:
    reads = [[0] if i < 900 else [i] for i in range(1000)]
    picture = matrix_picture.matrix_picture(1, reads, [0] * 1000)
    assert picture["side"] == len(picture["rows"]) == len(picture["rows"][0]) == matrix_picture.SIDE
    assert {cell for row in picture["rows"] for cell in row} <= set(".1234")


# --- what is recorded ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def committed() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(recording.FILE.read_text(encoding="utf-8"))
    return loaded


def test_the_compiler_still_finds_what_is_recorded(committed: dict[str, Any]) -> None:
    assert json.loads(json.dumps(recording.recorded())) == committed


def test_what_is_recorded_has_the_form_of_the_pages_own(committed: dict[str, Any]) -> None:
    own = rolling.material()["rolled"]
    for graph in committed.values():
        assert graph.keys() == own.keys()
        assert graph["steps"][0].keys() == own["steps"][0].keys()
        assert sum(step["nodes"] for step in graph["steps"]) == graph["nodes"] == sum(graph["levels"])
        assert graph["nodes"] > 60_000


def test_the_page_would_find_the_same_in_the_moons_step(committed: dict[str, Any]) -> None:
    loss = recording.moons()
    X, y = gradwalk.datasets.moons(100)
    ours = our_steps(loss.eager(X, y))
    theirs = [(step["what"], step["shape"], step["nodes"]) for step in committed["moons"]["steps"]]
    products = [step for step in theirs if step[0] == "matrix product"]
    assert len(products) == 3
    assert [step for step in ours if step[0] == "matrix product"] == products
    assert len(ours) - len(theirs) in (0, 1)  # labels are inputs there and constants here
