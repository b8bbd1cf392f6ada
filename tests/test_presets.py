from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import pytest

import gradwalk
from gradwalk import Value, walk
from gradwalk.errors import SettingError
from gradwalk.presets import ALIASES, OVERWRITTEN, PRESETS, Preset, preset

BY_NAME = pytest.mark.parametrize("entry", PRESETS.values(), ids=PRESETS)


@BY_NAME
def test_the_engine_gives_the_numbers_of_the_table(entry: Preset) -> None:
    values = entry.build()
    values.root.backward()
    assert set(entry.inputs) == set(values.inputs)
    for name, data in entry.values.items():
        assert values[name].data == pytest.approx(data, rel=1e-15, abs=0), name
    for name, gradient in entry.gradients.items():
        assert values[name].grad == pytest.approx(gradient, rel=1e-14, abs=1e-14), name
    assert set(entry.inputs) <= set(entry.gradients), "every leaf has its gradient in the table"
    assert entry.values[values.root.label] == pytest.approx(values.root.data, rel=1e-15)
    assert entry.gradients[values.root.label] == 1.0


@BY_NAME
def test_measured_slopes_agree_with_the_table(entry: Preset) -> None:
    """Without any derivative: change a leaf a little and build it again."""
    values, h = entry.build(), 1e-6
    for name, x in entry.inputs.items():
        slope = (values.rerun(**{name: x + h}).root.data - values.rerun(**{name: x - h}).root.data) / (2 * h)
        assert slope == pytest.approx(entry.gradients[name], abs=1e-6), name


@BY_NAME
def test_a_preset_is_plain_data_with_words(entry: Preset) -> None:
    assert PRESETS[entry.name] is entry
    assert entry.title
    assert entry.note.endswith(".")
    again = json.loads(json.dumps(dataclasses.asdict(entry)))
    assert again["inputs"] == entry.inputs
    assert again["text"] == entry.text
    assert entry.build().root is not entry.build().root


def test_the_course_has_its_nine() -> None:
    course = ["sum-times", "expression-l", "neuron", "neuron-apart", "a-plus-a", "a-times-a", "diamond", "shared-pair"]
    assert list(PRESETS)[:9] == [*course, "two-uses"]


def test_the_neuron_taken_apart_is_the_same_neuron() -> None:
    whole, apart = PRESETS["neuron"], PRESETS["neuron-apart"]
    assert whole.inputs == apart.inputs
    assert {name: whole.gradients[name] for name in whole.inputs} == {
        name: apart.gradients[name] for name in apart.inputs
    }
    assert apart.build().root.data == pytest.approx(math.tanh(apart.values["n"]), rel=1e-15)


# --- the wrong numbers are what the mistakes really give -------------------------------------------------------------


def overwriting(root: Value) -> dict[str, float]:
    """A backward walk with = where += belongs."""
    gradients: dict[int, float] = {id(root): 1.0}
    nodes = list(walk.topological(root))
    for node in reversed(nodes):
        for operand, slope in zip(node.operands, node.local_derivatives, strict=True):
            if slope is not None:
                gradients[id(operand)] = gradients[id(node)] * slope
    return {node.label: gradients[id(node)] for node in nodes if node.label}


def recursing(root: Value) -> dict[str, float]:
    """A backward walk that follows every path and lets each node push all it holds every time it is reached."""
    gradients: dict[int, float] = {id(node): 0.0 for node in walk.topological(root)}
    gradients[id(root)] = 1.0

    def push(node: Any) -> None:
        slopes = list(zip(node.operands, node.local_derivatives, strict=True))
        for operand, slope in slopes:
            gradients[id(operand)] += gradients[id(node)] * (slope or 0.0)
        for operand, _ in slopes:
            push(operand)

    push(root)
    return {node.label: gradients[id(node)] for node in walk.topological(root) if node.label}


def in_order(values: Any, order: str) -> dict[str, float]:
    """The nodes visited in an order of one's own; what has not arrived is not passed on."""
    gradients = dict.fromkeys(values, 0.0)
    gradients[values.root.label] = 1.0
    for name in order:
        for operand, slope in zip(values[name].operands, values[name].local_derivatives, strict=True):
            if slope is not None:
                gradients[operand.label] += gradients[name] * slope
    return gradients


def test_overwriting_gives_the_numbers_said_to_come_from_it() -> None:
    seen = 0
    for entry in PRESETS.values():
        found = overwriting(entry.build().root)
        for wrong in entry.wrong:
            if "=" in wrong.cause:
                seen += 1
                assert found[wrong.node] == wrong.gradient, entry.name
    assert seen == 4
    assert PRESETS["a-times-a"].wrong[0].cause == OVERWRITTEN


def test_recursion_without_an_order_gives_78() -> None:
    (wrong,) = PRESETS["two-uses"].wrong
    assert recursing(PRESETS["two-uses"].build().root)["a"] == wrong.gradient == 78.0


def test_a_node_visited_too_early_loses_what_goes_through_it() -> None:
    values = PRESETS["diamond"].build()
    assert in_order(values, "dbca")["a"] == in_order(values, "dcba")["a"] == 15.0
    through_b, through_c = PRESETS["diamond"].wrong
    assert in_order(values, "cdba")["a"] == through_b.gradient == 6.0
    assert in_order(values, "bdca")["a"] == through_c.gradient == 9.0


def test_no_wrong_number_is_right() -> None:
    for entry in PRESETS.values():
        for wrong in entry.wrong:
            assert wrong.gradient != entry.gradients[wrong.node]
            assert wrong.cause


# --- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("neuron", "neuron"), ("L", "expression-l"), ("l", "expression-l"), ("Expression L", "expression-l"),
        ("DIAMOND", "diamond"), ("a + a", "a-plus-a"), ("a·a", "a-times-a"), ("a_times_a", "a-times-a"),
        ("(a + b) * c", "sum-times"), ("Shared pair", "shared-pair"), ("two uses deep", "two-uses"),
        (" neuron ", "neuron"),
    ],
)  # fmt: skip
def test_friendly_names(name: str, found: str) -> None:
    assert preset(name) is PRESETS[found]


def test_every_alias_leads_to_a_preset_and_hides_none() -> None:
    for alias, name in ALIASES.items():
        assert preset(alias) is PRESETS[name]
        assert alias not in PRESETS


@pytest.mark.parametrize(
    ("name", "words"),
    [("nueron", "did you mean neuron?"), ("xyzzy", "there are sum-times, expression-l,"), (3, "there are sum-times")],
)
def test_other_names_are_refused(name: Any, words: str) -> None:
    with pytest.raises(SettingError) as caught:
        preset(name)
    assert str(caught.value).startswith(f"no preset is called {name!r}; {words}")


def test_presets_are_there_on_demand() -> None:
    assert gradwalk.presets.PRESETS is PRESETS
