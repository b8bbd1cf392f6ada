"""The page walks orders by itself, so that the playground answers at once: the same numbers and words as Python's."""

from __future__ import annotations

import functools
import itertools
import json
import math
import operator
import random
import re
from typing import Any

import pytest
from learn.in_node import in_node

from gradwalk import Value, nn, program, walk
from gradwalk.layout import layout_of
from gradwalk.presets import PRESETS
from gradwalk.walk.formatting import adding_up, written

JUDGE = """
import {judge, play} from "./graph/walk.ts";
import {readable} from "./text/numbers.ts";
import {plain} from "./text/rich.ts";
import {playground as words} from "./strings/en/playground.ts";
import {lossOf, luckOf} from "./widgets/playground/outcome.ts";

function told(graph, judged) {
    if (judged.right) return plain(judged.topological ? words.allRight : luckOf(graph, judged));
    return plain(lossOf(graph, judged, judged.lost[0])) + (judged.early > 1 ? words.firstOf(judged.early) : "");
}

export default ({graphs, orders}) => orders.map(([name, order]) => {
    const graph = graphs[name];
    const steps = play(graph, order);
    const judged = judge(graph, steps);
    return {
        events: steps, right: judged.right, topological: judged.topological,
        sentence: told(graph, judged), expected: judged.expected,
        lost: judged.lost.map((loss) => ({
            node: loss.node, consumers: loss.users, leaf: loss.leaf, path: loss.path, amount: loss.amount,
            sentence: plain(lossOf(graph, judged, loss)),
        })),
    };
});
"""

rng = random.Random(7)


def graphs() -> dict[str, walk.Recording]:
    """The presets, and graphs of other shapes: several leaves, long ways, parts that cancel, a small network."""
    found = {name: walk.record(preset.build().root) for name, preset in PRESETS.items()}
    found["cancels"] = walk.record(program("b = a*2; c = b - b; d = c*a", a=3.0).root)
    found["wide"] = walk.record(
        program("s = a*b; t = s*c; u = s + t; v = u*s; w = v + u*t", a=1.5, b=-2.0, c=0.25).root
    )
    random.seed(3)
    found["network"] = walk.record(
        nn.MLP(2, [2, 1], activation="tanh")([Value(1.0, label="x1"), Value(-2.0, label="x2")])
    )
    return found


def orders(recording: walk.Recording) -> list[tuple[int, ...]]:
    """Every order of a small graph; some of a larger one, the engine's own among them."""
    ids = [node.id for node in recording.graph.nodes if not node.constant]
    if len(ids) <= 5:
        return list(itertools.permutations(ids))
    return [tuple(reversed(ids)), *(tuple(rng.sample(ids, len(ids))) for _ in range(60))]


def same(got: Any, right: Any) -> bool:
    """Equal, with nan equal to nan and floats to the last bit."""
    if isinstance(right, float) and isinstance(got, (int, float)):
        return got == right or (math.isnan(right) and math.isnan(got))
    return bool(got == right)


@pytest.mark.browser
def test_every_order_is_walked_and_judged_as_in_python() -> None:
    known = graphs()
    cases = [(name, order) for name, recording in known.items() for order in orders(recording)]
    assert len(cases) > 500
    data = {"graphs": {name: recording.graph.to_dict() for name, recording in known.items()}, "orders": cases}
    lucky = wrong = 0
    for (name, order), found in zip(cases, in_node(JUDGE, data), strict=True):
        recording = walk.record(known[name], order)
        verdict = recording.verdict
        events = [event.to_dict() for event in recording.events if event.kind != "compute"]
        assert len(events) == len(found["events"])
        for right, got in zip(events, found["events"], strict=True):
            assert all(same(got[key], right[key]) for key in got), (name, order, got, right)
        assert (found["right"], found["topological"]) == (verdict.right, verdict.topological), (name, order)
        assert found["sentence"] == verdict.sentence
        assert all(
            same(a, b)
            for a, b in zip(found["expected"], json.loads(recording.to_json())["verdict"]["expected"], strict=True)
        )
        for mine, theirs in zip(found["lost"], verdict.to_dict()["lost"], strict=True):
            assert all(same(mine[key], theirs[key]) for key in mine), (mine, theirs)
        lucky += verdict.right and not verdict.topological
        wrong += not verdict.right
    assert lucky > 20
    assert wrong > 200


@pytest.mark.browser
def test_on_the_diamond_eight_orders_are_right_and_two_are_topological() -> None:
    recording = walk.record(PRESETS["diamond"].build().root)
    data = {
        "graphs": {"diamond": recording.graph.to_dict()},
        "orders": [("diamond", order) for order in orders(recording)],
    }
    found = in_node(JUDGE, data)
    assert len(found) == 24
    assert sum(each["right"] for each in found) == 8
    assert sum(each["topological"] for each in found) == 2


@pytest.mark.browser
def test_numbers_are_written_as_python_writes_them() -> None:
    numbers = [
        0.0, -0.0, 1.0, -1.5, 0.4999999999999998, 6.8813735870195432, 1 / 3, -2 / 3, math.inf, -math.inf, math.nan,
        1e-7, -1e-7, 0.001, 0.00099999, 2.5e-5, 5e-324, 0.00012345, 1e5, 999999.99999, 1e6, 1234567.5, 1e15, 1e16,
        1e300, 123456789.0, 0.03125, -0.03125, 0.09375, 0.15625, 3.90625e-3,  # the last five lie exactly between two
        *(rng.gauss(0, 10 ** rng.randint(-6, 9)) for _ in range(400)),
        *(rng.randint(-5000, 5000) / 32 for _ in range(400)),
    ]  # fmt: skip
    code = """
    import {readable, num} from "./text/numbers.ts";
    export default (numbers) => numbers.map((x) => readable(num(x)));
    """
    plain = [x if math.isfinite(x) else str(x) for x in numbers]
    assert in_node(code, plain) == [walk.readable(x) for x in numbers]


@pytest.mark.browser
def test_sums_are_written_so_that_they_add_up_as_python_writes_them() -> None:
    sums = [[rng.gauss(0, 10 ** rng.randint(-4, 5)) for _ in range(rng.randint(2, 4))] for _ in range(300)]
    sums += [[-0.10355339059327377, 0.14644660940672624], [1e-9, 1.0], [math.inf, 1.0], [6.0, 9.0]]
    code = """
    import {addingUp, num} from "./text/numbers.ts";
    export default (sums) => sums.map((numbers) => {
        const parts = numbers.map(num);
        const total = parts.reduce((a, b) => a + b);
        return [...parts, total].map(addingUp(parts, total));
    });
    """
    plain = [[x if math.isfinite(x) else str(x) for x in numbers] for numbers in sums]
    shown = in_node(code, plain)
    totals = [functools.reduce(operator.add, numbers) for numbers in sums]  # one after the other, as the page adds
    assert shown == [
        [written(x, adding_up(parts, total)) for x in (*parts, total)]
        for parts, total in zip(sums, totals, strict=True)
    ]
    assert shown[300] == ["−0.1035534", "0.1464466", "0.0428932"]


SLOPES = """
import {SLOPES} from "./strings/formulas.ts";
const both = (slope) => [0, 1].map((position) => slope(position, ["x", "y"], "out"));
export default () => Object.entries(SLOPES).map(([op, slope]) => [op, both(slope)]);
"""


def test_slopes_are_written_as_the_op_table_has_them() -> None:
    """The formulas are for reading, so they are held to the table by their numbers at some points."""
    rng = random.Random(5)
    told = in_node(SLOPES, {})
    assert len(told) > 10
    for sign, formulas in told:
        for _ in range(20):
            x, y = rng.uniform(0.1, 3), rng.uniform(0.1, 3)
            a, b = Value(x), Value(y)
            out = a ** float(sign[2:]) if sign.startswith("**") else a / b if sign == "/" else getattr(a, sign)()
            slopes = [slope for slope in out.slopes if slope is not None]
            for formula, slope in zip(formulas, slopes, strict=False):
                text = re.sub(r"(sin|cos) (\w)", r"\1(\2)", formula).replace("−", "-").replace("·", "*")
                found = eval(text.replace("²", "**2"), {**vars(math)}, {"x": x, "y": y, "out": out.data})
                assert found == pytest.approx(slope, rel=1e-12), f"{sign}: {formula}"


LAYOUT = """
import {drawn} from "./graph/model.ts";
import {place} from "./graph/geometry.ts";
export default ({graphs, layouts, widths}) => graphs.map((graph, i) => {
    const shown = drawn(graph);
    const layout = layouts[i];
    return {
        layout, signs: shown.nodes.map((node) => node.op), edges: shown.edges,
        pictures: widths.map((width) => {
            const {cards, ops, edges, ...rest} = place(shown, layout, width);
            const lines = [...edges].map(([id, edge]) => [id, edge.path, edge.chip]);
            return {...rest, cards: [...cards], ops: [...ops], edges: lines};
        }),
    };
});
"""
WIDTHS = [1040, 850, 700, 342, 280]


def overlap(a: dict[str, float], b: dict[str, float]) -> bool:
    return (
        a["x"] < b["x"] + b["width"]
        and b["x"] < a["x"] + a["width"]
        and a["y"] < b["y"] + b["height"]
        and b["y"] < a["y"] + a["height"]
    )


@pytest.fixture(scope="module")
def laid_out() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    found = [recording.graph.to_dict() for recording in graphs().values()]
    layouts = [layout_of(recording.graph) for recording in graphs().values()]
    return list(zip(found, in_node(LAYOUT, {"graphs": found, "layouts": layouts, "widths": WIDTHS}), strict=True))


@pytest.mark.browser
def test_no_two_things_of_a_picture_overlap_at_any_width(laid_out: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    for _, found in laid_out:
        for picture in found["pictures"]:
            boxes = [box for _, box in picture["cards"]] + [box for _, box in picture["ops"]]
            assert not any(overlap(a, b) for a, b in itertools.combinations(boxes, 2))
            assert all(0 <= box["x"] and box["x"] + box["width"] <= picture["width"] + 0.01 for box in boxes)
            assert all(0 <= box["y"] and box["y"] + box["height"] <= picture["height"] for box in boxes)
            assert all(box["width"] >= 76 for _, box in picture["cards"])


@pytest.mark.browser
def test_the_walk_goes_to_the_right_where_there_is_room_and_down_where_there_is_none(laid_out: list[Any]) -> None:
    for graph, found in laid_out:
        right = [picture["leftToRight"] for picture in found["pictures"]]
        fits = right[2] and found["pictures"][2]["width"] <= WIDTHS[2]  # a small one also where others go down
        assert right == [True, True, fits, False, False]
        captions = [picture["captions"] for picture in found["pictures"]]
        assert captions[2:] == [True, False, False]
        for width, picture in zip(
            WIDTHS[:2], found["pictures"], strict=False
        ):  # what does not fit is bare, and shrinks
            fits = picture["width"] * picture["scale"] <= width + 0.01
            assert picture["scale"] >= (0.95 if picture["captions"] else 0.8)
            assert fits if not picture["captions"] else (fits or picture["scale"] == 1)
        assert all(picture["scale"] == 1 for picture in found["pictures"][2:])
        for picture in found["pictures"]:
            axis = "x" if picture["leftToRight"] else "y"
            at = {place: box[axis] for place, box in picture["cards"]}
            for node in graph["nodes"]:
                assert all(at[operand] < at[node["id"]] for operand in node["operands"] if operand in at)


@pytest.mark.browser
def test_first_operands_stand_first_where_no_line_crosses(laid_out: list[Any]) -> None:
    spots = laid_out[list(graphs()).index("neuron")][1]["layout"]["spots"]
    names = {node["name"]: spots[str(node["id"])] for node in laid_out[list(graphs()).index("neuron")][0]["nodes"]}
    tracks = [names[name][1] for name in ("x1", "w1", "x2", "w2")]
    assert tracks == sorted(tracks) == [0, 1, 2, 3]
    assert names["x1w1"] == [1, 0.5]
    assert names["b"][0] == names["sum"][0] == 2  # a leaf stands beside what it meets


@pytest.mark.browser
def test_a_square_has_two_edges_that_are_not_the_same_line(laid_out: list[Any]) -> None:
    found = laid_out[list(graphs()).index("a-times-a")][1]
    assert [(edge["twin"], edge["twins"]) for edge in found["edges"]] == [(0, 2), (1, 2)]
    for picture in found["pictures"]:
        (_, first, chip), (_, second, other) = picture["edges"]
        assert first != second
        assert math.dist(chip, other) > 22


@pytest.mark.browser
def test_constants_are_told_by_the_sign_of_their_op(laid_out: list[Any]) -> None:
    known = list(graphs())
    assert laid_out[known.index("diamond")][1]["signs"] == ["", "+ 1", "× 3", "×"]
    assert laid_out[known.index("parabola")][1]["signs"] == ["", "x²", "× 3", "× 4", "−", "+ 5"]
    assert "tanh" in laid_out[known.index("network")][1]["signs"]
