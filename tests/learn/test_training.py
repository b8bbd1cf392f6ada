"""Training in the page: steps as a function of the state, the same as the engine's own loop; what forgetting does."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from learn.in_node import in_node

from gradwalk import Value, datasets, nn, optim
from gradwalk.errors import SettingError
from gradwalk.learn.page import bridge
from gradwalk.learn.page.exercises import solutions
from gradwalk.learn.page.training import HIDDEN, RATE, SEED, Training, advance, points, start


def right(state: Training) -> float:
    return 1.0 - len(state["wrong"]) / len(points()["y"])


@pytest.fixture(scope="module")
def learned() -> Training:
    """The default network after eighty steps."""
    return advance(start(), steps=80)


@pytest.mark.slow
def test_the_default_settings_learn_the_moons(learned: Training) -> None:
    assert right(learned) == 1.0
    assert learned["loss"] < 1.5


@pytest.mark.slow
@pytest.mark.parametrize(("hidden", "steps"), [([4], 80), ([8], 80), ([16, 16], 50)])
def test_other_networks_learn_the_moons(hidden: list[int], steps: int) -> None:
    assert right(advance(start(hidden), steps=steps)) > 0.95


@pytest.mark.slow
def test_a_step_is_the_step_of_the_engines_own_loop() -> None:
    """Against the lesson's network and its loss over all points at once, and the optimiser."""
    random.seed(SEED)
    model = nn.MLP(2, [*HIDDEN, 1], activation="tanh")
    optimizer = optim.SGD(model.parameters(), lr=RATE)
    X, y = datasets.moons(100, 0.1)
    state = start()
    for _ in range(3):
        loss = sum((model(x).tanh() - target) ** 2 for x, target in zip(X, y, strict=True))
        optimizer.zero_grad()
        loss.backward()
        assert state["loss"] == pytest.approx(loss.data, rel=1e-12)
        assert state["gradients"] == pytest.approx([p.grad for p in model.parameters()], rel=1e-9, abs=1e-12)
        assert state["parameters"] == pytest.approx([p.data for p in model.parameters()], rel=1e-9, abs=1e-12)
        optimizer.step()
        state = advance(state)


@pytest.mark.slow
def test_the_network_and_the_loss_are_those_of_the_lessons_exercises() -> None:
    """One story: what the learner has written in lesson nine gives the numbers of the demo below it."""
    names: dict[str, Any] = {"Value": Value, "random": random}
    for name in ("Neuron", "Layer", "MLP", "loss", "step"):
        exec(solutions()[name], names)
    net, state = names["MLP"]([2, *HIDDEN, 1]), start()
    for knob, x in zip(net.parameters(), state["parameters"], strict=True):
        knob.data = x
    X, y = datasets.moons(100, 0.1)
    assert names["step"](net, X, y, RATE) == pytest.approx(state["loss"], rel=1e-12)
    assert [p.data for p in net.parameters()] == pytest.approx(advance(state)["parameters"], rel=1e-9, abs=1e-12)


def test_forgetting_adds_every_walk_to_the_ones_before() -> None:
    first = start()
    second = advance(first, forget=True)
    zeroed = advance(first)
    assert second["parameters"] == zeroed["parameters"]  # the first step knows no difference
    assert second["gradients"] == pytest.approx(
        [a + b for a, b in zip(first["gradients"], zeroed["gradients"], strict=True)]
    )
    assert second["fresh"] == pytest.approx(zeroed["length"])
    assert zeroed["fresh"] == zeroed["length"]


def test_with_a_slope_that_stays_the_third_gradient_is_three_times_too_long() -> None:
    state = start()
    for step in range(3):
        assert state["length"] / state["fresh"] == pytest.approx(step + 1, rel=1e-3)
        state = advance(state, rate=1e-6, forget=True)


@pytest.mark.slow
def test_forgetting_spoils_the_run_that_zeroing_wins(learned: Training) -> None:
    forgot = advance(start(), forget=True, steps=80)
    assert right(forgot) < 0.95
    assert forgot["loss"] > 20 * learned["loss"]


def test_numbers_that_outgrow_a_float_stop_the_run_with_the_last_good_state() -> None:
    state = advance(start(), rate=10.0, forget=True, steps=3)
    huge: Training = {**state, "gradients": [1e308] * len(state["gradients"])}
    broken = advance(huge, rate=10.0, steps=5)
    assert broken["broken"]
    assert broken["step"] == huge["step"]
    assert broken["parameters"] == huge["parameters"]
    assert advance(broken, steps=3) == broken


def test_a_state_survives_its_way_through_json() -> None:
    def call(function: str, **arguments: Any) -> Any:
        return json.loads(bridge.call(f"training.{function}", json.dumps(arguments), print))["result"]

    state = call("start", hidden=[4])
    assert call("advance", state=state, rate=0.5, forget=False, steps=2) == advance(start([4]), rate=0.5, steps=2)


@pytest.mark.parametrize("hidden", [[], [0], [17], [8, 8, 8, 8], [2.5], [True]])
def test_sizes_that_are_none_are_refused(hidden: list[Any]) -> None:
    with pytest.raises(SettingError, match="hidden layers: 1 to 3"):
        start(hidden)


@pytest.mark.parametrize("rate", [0.0, -1.0, 11.0, float("nan")])
def test_learning_rates_that_are_none_are_refused(rate: float) -> None:
    with pytest.raises(SettingError, match="the learning rate lies above 0"):
        advance(start([4]), rate=rate)


@pytest.mark.browser
def test_the_pages_map_scores_as_the_engine_does() -> None:
    state = advance(start([4, 3]), steps=2)
    model = nn.MLP(2, [4, 3, 1], activation="tanh")
    for knob, x in zip(model.parameters(), state["parameters"], strict=True):
        knob.data = x
    spots = points()["X"][:20]
    code = """
    import {scorer} from "./widgets/training/network.ts";
    export default ({hidden, parameters, spots}) => spots.map(([a, b]) => scorer(hidden, parameters)(a, b));
    """
    found = in_node(code, {"hidden": [4, 3], "parameters": state["parameters"], "spots": spots})
    assert found == pytest.approx([model(x).tanh().data for x in spots], rel=1e-12)


@pytest.mark.browser
def test_level_lines_lie_where_the_field_crosses_the_level() -> None:
    code = """
    import {rings, sampled} from "./widgets/training/contour.ts";
    const cone = (x, y) => 4 - Math.hypot(x - 10, y - 8);
    export default () => ({
        circle: rings(sampled(21, 17, cone), 0),
        saddle: rings(sampled(21, 17, (x, y) => (x - 9.7) * (y - 7.6)), 0).length,
        none: rings(sampled(21, 17, cone), 9),
        everywhere: rings(sampled(21, 17, cone), -99),
    });
    """
    found = in_node(code, None)
    (circle,) = found["circle"]
    assert all(abs(((x - 10) ** 2 + (y - 8) ** 2) ** 0.5 - 4) < 0.1 for x, y in circle)
    assert len(circle) > 20
    assert found["saddle"] == 2
    assert found["none"] == []
    (rim,) = found["everywhere"]
    assert all(x in (-0.5, 20.5) or y in (-0.5, 16.5) for x, y in rim)  # outside of what is seen
