"""The widgets as Python sees them: traits, what they refuse, and that the engine does the work. Browsers come later."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import traitlets
from ipywidgets import Widget as IpyWidget  # type: ignore[import-untyped]

import gradwalk
from gradwalk import Value, nn, op, walk
from gradwalk.bundles import BundleError, bundle
from gradwalk.errors import GraphError, SettingError
from gradwalk.learn.page import training
from gradwalk.notebook.training_view import LIMIT
from gradwalk.notebook.traits import HELD, WIDGETS, typescript
from gradwalk.presets import PRESETS


@pytest.fixture(autouse=True)
def no_widget_stays_open() -> Any:
    yield
    IpyWidget.close_all()


def sent(widget: Any) -> dict[str, Any]:
    """What the front end gets, through JSON, as a notebook sends it."""
    state: dict[str, Any] = json.loads(json.dumps(widget.get_state(), allow_nan=False))
    return state


def from_the_view(widget: Any, **state: Any) -> None:
    """What the front end says."""
    widget.set_state(json.loads(json.dumps(state)))


# --- the walk --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_sent_whole(name: str) -> None:
    preset = PRESETS[name]
    widget = gradwalk.walk_widget(preset.build().root)
    state = sent(widget)
    assert len(state["scene"]["recording"]["events"]) == len(widget.recording.events)
    assert state["leaves"] == {**preset.inputs} == widget.leaves
    assert state["_esm"] == bundle("walk.js")
    assert state["step"] == 0


def test_the_leaves_of_python_and_of_the_view_are_one() -> None:
    graph = PRESETS["expression-l"].build()
    widget = gradwalk.walk_widget(graph.root)
    widget.leaves = {"a": 3}  # one of them: the others stay
    assert widget.leaves == {"a": 3.0, "b": -3.0, "c": 10.0, "f": -2.0}
    assert (graph["a"].data, graph["e"].data, graph["L"].data) == (3.0, -9.0, -2.0)
    assert sent(widget)["scene"]["recording"]["graph"]["nodes"][-1]["data"] == -2.0

    from_the_view(widget, leaves={"a": 3, "b": -3, "c": 10, "f": 5})
    assert widget.leaves == {"a": 3.0, "b": -3.0, "c": 10.0, "f": 5.0}
    assert all(type(x) is float for x in widget.leaves.values())
    assert graph["L"].data == 5.0
    graph.root.backward()  # and the slopes are those of the new numbers
    assert graph["f"].grad == 1.0
    assert walk.record(graph.root).grads == widget.recording.grads


def test_the_step_is_shared_and_kept_within_the_walk() -> None:
    widget = gradwalk.walk_widget(PRESETS["diamond"].build().root, step=3)
    from_the_view(widget, step=7)
    assert widget.step == 7
    widget.step = 11
    for wrong in (12, -1):
        with pytest.raises(SettingError, match=f"the walk has 11 steps: w.step is 0 to 11, not {wrong}"):
            widget.step = wrong
    with pytest.raises(traitlets.TraitError):
        widget.step = 2.5  # type: ignore[assignment]
    assert widget.step == 11
    assert repr(widget) == "WalkWidget of d: step 11 of 11"


def test_a_step_beyond_a_walk_that_became_shorter_comes_back() -> None:
    a = Value(2.0, label="a")
    widget = gradwalk.walk_widget((a * a).relu())
    widget.step = len(widget.recording.events)
    widget.leaves = {"a": 0.0}
    assert widget.step <= len(widget.recording.events)


def test_a_leaf_that_nobody_knows_and_a_number_that_is_none_are_refused() -> None:
    graph = PRESETS["diamond"].build()
    widget = gradwalk.walk_widget(graph.root)
    with pytest.raises(SettingError, match="no leaf is called 'b'; there are a"):
        widget.leaves = {"b": 2.0}
    with pytest.raises(SettingError, match="one real number"):
        widget.leaves = {"a": "two"}
    assert widget.leaves == {"a": 2.0}
    assert graph.root.data == 18.0


def test_an_op_that_refuses_a_number_leaves_all_as_it_was() -> None:
    @op(lambda x, out: 1.0)
    def fussy(x: float) -> float:
        if x > 5:
            raise ValueError("more than 5")
        return x

    a = Value(1.0, label="a")
    root = fussy(a) * 2
    widget = gradwalk.walk_widget(root)
    with pytest.raises(SettingError, match=r"w\.leaves: .*more than 5"):
        widget.leaves = {"a": 6.0}
    assert (widget.leaves, a.data, root.data) == ({"a": 1.0}, 1.0, 2.0)
    with pytest.raises(SettingError):
        from_the_view(widget, leaves={"a": 6})
    assert (widget.leaves, a.data, root.data) == ({"a": 1.0}, 1.0, 2.0)


def test_nan_and_inf_travel() -> None:
    a, b = Value(math.inf, label="a"), Value(2.0, label="b")
    widget = gradwalk.walk_widget(a * b)
    assert sent(widget)["leaves"] == {"a": "inf", "b": 2.0}
    from_the_view(widget, leaves={"a": "inf", "b": 3})
    assert widget.leaves == {"a": math.inf, "b": 3.0}
    widget.leaves = {"b": math.nan}
    assert sent(widget)["leaves"]["b"] == "nan"


def test_leaves_without_a_label_or_with_the_same_one_can_be_told_apart() -> None:
    widget = gradwalk.walk_widget(Value(1.0, label="a") * Value(2.0, label="a") + Value(3.0))
    assert widget.leaves == {"a": 1.0, "a (id 1)": 2.0, "n3": 3.0}
    widget.leaves = {"a (id 1)": 5.0}
    assert widget.recording.graph.nodes[-1].data == 8.0


def test_a_graph_made_by_hand_can_be_stepped_and_says_why_no_more() -> None:
    a = Value(2.0, label="a")
    out = Value(4.0, (a,), "double", label="out")

    def back() -> None:
        a.grad += 2 * out.grad

    out._backward = back
    widget = gradwalk.walk_widget(out)
    assert widget.leaves == {}
    widget.step = 4
    with pytest.raises(SettingError, match="out was made by hand, so the graph cannot be computed anew"):
        widget.leaves = {"a": 1.0}


def test_a_graph_of_another_engine_can_be_stepped() -> None:
    from micrograd.engine import Value as Other

    a = Other(3.0)
    widget = gradwalk.walk_widget(a * a + a)
    widget.step = 6
    assert widget.recording.grads[0] == 7.0
    with pytest.raises(SettingError, match=r"another engine \(micrograd.engine\)"):
        widget.leaves = {"n0": 1.0}
    widget.refresh()
    assert "luck" in gradwalk.playground_widget(a * a).verdict  # the leaf first, which pushes nothing


def test_refresh_looks_again() -> None:
    graph = PRESETS["diamond"].build()
    widget = gradwalk.walk_widget(graph.root)
    graph["a"].data = 3.0
    widget.refresh()
    assert (widget.leaves, graph.root.data) == ({"a": 3.0}, 36.0)
    graph["b"].data = 99.0  # not a leaf: it is computed anew
    widget.refresh()
    assert graph["b"].data == 4.0


def test_a_hostile_label_stays_a_text() -> None:
    label = "</script><img src=x onerror=alert(1)>"
    widget = gradwalk.walk_widget(Value(2.0, label=label) * 3)
    assert widget.leaves == {label: 2.0}
    assert sent(widget)["scene"]["recording"]["graph"]["nodes"][0]["label"] == label


# --- the playground --------------------------------------------------------------------------------------------------


def test_the_verdict_is_the_walks_own() -> None:
    graph = PRESETS["diamond"].build()
    widget = gradwalk.playground_widget(graph.root, order=["c", "d", "b", "a"])
    assert widget.verdict == walk.record(graph.root, order=["c", "d", "b", "a"]).verdict.sentence
    assert not widget.right
    assert "the 9 that goes through `c` never reached `a`" in widget.verdict
    from_the_view(widget, order=["d", "a", "b", "c"], visits=2)
    assert widget.right
    assert "luck" in widget.verdict
    assert widget.visits == 2
    widget.run()
    assert widget.visits == 4
    state = sent(widget)
    assert (state["right"], state["verdict"]) == (True, widget.verdict)


def test_an_order_lists_every_node_once() -> None:
    root = PRESETS["diamond"].build().root
    widget = gradwalk.playground_widget(root)
    for wrong in (["a", "b"], ["a", "b", "c", "c"], ["a", "b", "c", "x"]):
        with pytest.raises(SettingError, match="lists each node once: a, b, c, d"):
            widget.order = wrong
        with pytest.raises(SettingError, match="lists each node once: a, b, c, d"):
            gradwalk.playground_widget(root, order=wrong)
    assert widget.order == ["a", "b", "c", "d"]
    with pytest.raises(SettingError, match="4 nodes can be visited"):
        widget.visits = 5
    with pytest.raises(traitlets.TraitError):
        widget.verdict = "all is well"


def test_the_search_comes_along() -> None:
    scene = sent(gradwalk.playground_widget(PRESETS["diamond"].build().root))["scene"]
    assert scene["search"][0]["kind"] == "enter"
    assert scene["names"] == {"a": 0, "b": 2, "c": 4, "d": 5}


# --- training --------------------------------------------------------------------------------------------------------


def test_it_trains_as_the_course_does() -> None:
    widget = gradwalk.training_widget()
    widget.advance(3)
    assert widget.state == training.advance(training.start(), steps=3)
    assert len(widget.losses) == 4
    assert widget.losses[-1] == widget.loss
    assert repr(widget) == f"TrainingWidget of MLP(2, [8, 8, 1]): step 3, loss {widget.loss:.4f}"


def test_the_model_given_is_the_one_that_learns() -> None:
    random.seed(5)
    model = nn.MLP(2, [4, 1], activation="tanh")
    first = [p.data for p in model.parameters()]
    widget = gradwalk.training_widget(model, rate=0.5)
    widget.advance(2)
    assert [p.data for p in model.parameters()] == widget.state["parameters"] != first
    assert [p.grad for p in model.parameters()] == widget.state["gradients"]
    widget.reset()
    assert [p.data for p in model.parameters()] == first
    with pytest.raises(SettingError, match="those of the model"):
        widget.hidden = [8, 8]


@pytest.mark.parametrize("model", [
    nn.MLP(3, [4, 1], activation="tanh"), nn.MLP(2, [4, 1]), nn.MLP(2, [4, 2], activation="tanh"),
    nn.MLP(2, [1], activation="tanh"), nn.Neuron(2), 3,
])  # fmt: skip
def test_other_models_are_refused_with_the_one_that_fits(model: Any) -> None:
    with pytest.raises(SettingError, match=r'nn\.MLP\(2, \[8, 8, 1\], activation="tanh"\)'):
        gradwalk.training_widget(model)


def test_the_view_asks_for_one_step_at_a_time() -> None:
    widget = gradwalk.training_widget(hidden=[2])
    from_the_view(widget, playing=True)
    from_the_view(widget, _ask={"do": "step", "at": 0, "n": 1})
    from_the_view(widget, _ask={"do": "step", "at": 0, "n": 2})  # a second view, which saw the same step
    assert widget.step == 1
    from_the_view(widget, _ask={"do": "step", "at": 1, "n": 3})
    assert (widget.step, widget.playing) == (2, True)
    from_the_view(widget, _ask={"do": "reset", "at": 2, "n": 4})
    assert (widget.step, widget.playing) == (0, False)


def test_a_run_ends_and_begins_anew_when_it_is_played_again() -> None:
    widget = gradwalk.training_widget(hidden=[2])
    widget.advance(LIMIT - 1)
    from_the_view(widget, playing=True)
    from_the_view(widget, _ask={"do": "step", "at": LIMIT - 1, "n": 1})
    assert (widget.step, widget.playing) == (LIMIT, False)
    widget.playing = True
    assert widget.step == 0


def test_forgetting_begins_anew_with_the_run_before_beside_it() -> None:
    widget = gradwalk.training_widget(hidden=[2])
    widget.advance(12)
    before = list(widget.losses)
    widget.forget = True
    assert widget.step == 0
    assert widget.other == {"losses": before, "forgot": False}
    widget.advance(3)
    assert widget.state["length"] > 1.5 * widget.state["fresh"]
    widget.hidden = [3]
    assert (widget.other, widget.step, len(widget.state["parameters"])) == ({}, 0, 13)


def test_numbers_that_leave_the_floats_stop_it() -> None:
    widget = gradwalk.training_widget(hidden=[2], rate=10.0, forget=True)
    widget.playing = True
    widget.state = {**widget.state, "gradients": [1e308] * len(widget.state["gradients"])}
    widget.advance(2)
    assert widget.state["broken"]
    assert not widget.playing


def test_what_may_not_be_set_is_refused() -> None:
    widget = gradwalk.training_widget()
    for rate in (0.0, -1.0, 11.0, math.nan):
        with pytest.raises(SettingError, match="above 0 and up to 10"):
            widget.rate = rate
    wrong: list[Any] = [[], [0], [17], [1, 2, 3, 4], [2.5]]
    for hidden in wrong:
        with pytest.raises(SettingError, match="hidden layers: 1 to 3"):
            widget.hidden = hidden
    with pytest.raises(SettingError, match="has its hidden sizes already"):
        gradwalk.training_widget(nn.MLP(2, [4, 1], activation="tanh"), hidden=[4])


def test_the_notebooks_random_numbers_go_on_as_if_nothing_was() -> None:
    random.seed(7)
    wanted = random.Random(7).random()
    widget = gradwalk.training_widget()
    widget.hidden = [4]
    assert random.random() == wanted


# --- all -------------------------------------------------------------------------------------------------------------

MAKERS = (gradwalk.walk_widget, gradwalk.playground_widget)


@pytest.mark.parametrize("make", MAKERS)
def test_a_graph_too_large_is_refused(make: Any) -> None:
    value = Value(0.5)
    for _ in range(200):
        value = value.tanh()
    with pytest.raises(GraphError, match=r"201 nodes.*shows up to 100"):
        make(value)
    with pytest.raises(GraphError, match="the Value at the end of a graph"):
        make(3.0)


def test_without_the_script_the_remedy_is_said(tmp_path: Any) -> None:
    with pytest.raises(BundleError, match=r"walk\.js is not built(.|\n)*make site"):
        bundle("walk.js", tmp_path)


ALONE = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("anywidget", "traitlets", "ipywidgets"):
            raise ImportError(f"{name} is blocked")
sys.meta_path.insert(0, Blocker())
import gradwalk
assert not any(name.startswith("gradwalk.notebook") for name in sys.modules)
a = gradwalk.Value(2.0, label="a")
gradwalk.explain(a * a).save("walk.html")
for make in (lambda: gradwalk.walk_widget(a * a), lambda: gradwalk.playground_widget(a * a), gradwalk.training_widget):
    try:
        make()
    except gradwalk.errors.MissingExtraError as error:
        print(error)
"""


def test_without_anywidget_the_exact_line_is_said_and_the_file_is_saved(tmp_path: Any) -> None:
    run = subprocess.run([sys.executable, "-c", ALONE], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert run.stdout == 3 * 'a widget in a notebook needs anywidget: pip install "gradwalk[notebook]"\n', run.stderr
    assert (tmp_path / "walk.html").stat().st_size > 50_000


def test_the_styles_are_those_of_a_shadow_root() -> None:
    """Nothing in them speaks of the page around it, of the screen's width, or in the page's units."""
    for name in ("walk.js", "order.js", "train.js"):
        text = bundle(name)
        assert ":host" in text
        assert ":root" not in text
        assert "@media (max-width:600px)" not in text
        assert "@media (max-width: 600px)" not in text
        assert "@media(max-width:600px)" not in text
        assert "rem;" not in text
        assert "rem}" not in text
        assert len(text) < 130_000


def test_the_front_end_believes_in_the_traits_that_python_has() -> None:
    checked_in = Path(__file__).resolve().parents[2] / "web/src/elsewhere/traits.ts"
    words = "run: python -m gradwalk.notebook.traits > web/src/elsewhere/traits.ts"
    assert checked_in.read_text(encoding="utf-8") == typescript(), words
    held = {(name, trait) for name, widget in WIDGETS.items() for trait in widget.class_own_traits(sync=True)}
    assert set(HELD) <= held  # none of a trait that is gone
