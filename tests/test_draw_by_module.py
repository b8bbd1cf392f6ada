"""Drawings by module: which node belongs to which neuron, and what a large graph looks like by layer."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET
from typing import Any

import micrograd.engine
import micrograd.nn
import pytest
from test_draw_layout import check_that_all_is_clear

from gradwalk import Value, datasets, draw, nn, walk
from gradwalk.drawing.api import LEGIBLE, Drawing
from gradwalk.drawing.calls import calls_in
from gradwalk.drawing.drawn_graph import drawn_graph
from gradwalk.drawing.modules import modules_of
from gradwalk.errors import GraphError, SettingError


def by_label(drawing: Drawing) -> dict[str, Any]:
    return {box.label: box for box in drawing.scene.boxes if box.label}


def joined(drawing: Drawing) -> set[tuple[str, str, int]]:
    """Which labelled box reads which, by how many edges."""
    boxes = drawing.scene.boxes
    return {(boxes[line.source].label, boxes[line.target].label, line.count) for line in drawing.scene.lines}


def owners(root: Any, model: Any) -> dict[int, str]:
    """The path of the module that each computed node was put to, by the node's id; "" for none."""
    taken, modules = drawn_graph([root]), modules_of(model)
    calls = calls_in(taken, modules)
    return {
        id(node): modules.all[calls.module[call]].path if (call := calls.call[i]) is not None else ""
        for i, node in enumerate(taken.values)
        if taken.operands[i]
    }


class Told:
    """Calls a neuron and notes which nodes came to be: the truth that the rule is held to."""

    def __init__(self, model: nn.MLP) -> None:
        self.model = model
        self.made: dict[int, str] = {}
        self.keep: list[Any] = []

    def __call__(self, x: Any) -> Any:
        for i, layer in enumerate(self.model.layers):
            outs = []
            for j, neuron in enumerate(layer.neurons):
                inputs = {id(v) for v in x if isinstance(v, Value)}
                out = neuron(x)
                outs.append(out)
                # All nodes between the neuron's output and its inputs and parameters.
                ahead = [out]
                while ahead:
                    node = ahead.pop()
                    if id(node) not in inputs and walk.operands(node):
                        self.made[id(node)] = f"layers.{i}.neurons.{j}"
                        self.keep.append(node)
                        ahead += walk.operands(node)
            x = outs
        return x[0] if len(x) == 1 else x


# --- the rule --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("activation", ["relu", "tanh", "sigmoid", "softplus", "leaky_relu", "linear"])
@pytest.mark.parametrize("inputs", ["values", "numbers"])
def test_the_rule_finds_exactly_the_nodes_that_each_neuron_made(activation: str, inputs: str) -> None:
    random.seed(3)
    model = nn.MLP(2, [3, 2, 1], activation=activation)
    told = Told(model)
    samples = [[random.uniform(-1, 1) for _ in range(2)] for _ in range(4)]
    outs = [told([Value(x) for x in sample] if inputs == "values" else sample) for sample in samples]
    penalty = sum((p * p for p in model.parameters()), Value(0.0))
    for loss in (
        nn.mse(outs, [1.0, -1.0, 1.0, -1.0]),
        nn.hinge(outs, [1, -1, 1, -1]),
        nn.binary_cross_entropy(outs, [1, 0, 1, 0]),
        nn.mse(outs, [0.0] * 4) + 1e-4 * penalty,
    ):
        found = owners(loss, model)
        for node, path in found.items():
            assert path == told.made.get(node, "")


def test_a_layer_with_several_outputs_and_a_softmax_after_it() -> None:
    random.seed(3)
    model = nn.MLP(2, [3, 3], activation="tanh")
    told = Told(model)
    loss = nn.cross_entropy([told([1.0, 2.0]), told([3.0, 4.0])], [0, 2])
    for node, path in owners(loss, model).items():
        assert path == told.made.get(node, "")


def test_a_loss_that_activates_a_linear_output_is_not_taken_for_the_neuron() -> None:
    model = nn.MLP(1, [2, 1])  # its last neuron says that it is linear
    score = model([1.0])
    assert owners(score.tanh(), model)[id(score)] == "layers.1.neurons.0"
    root = score.tanh()
    assert owners(root, model)[id(root)] == ""


def test_a_module_of_ones_own_that_holds_a_matrix() -> None:
    class Linear(nn.Module):
        def __init__(self) -> None:
            self.rows = [[Value(0.5), Value(-0.5)], [Value(0.25), Value(2.0)]]

        def __call__(self, x: list[Any]) -> list[Value]:
            return [row[0] * x[0] + row[1] * x[1] for row in self.rows]

    class Two(nn.Module):
        def __init__(self) -> None:
            self.first, self.second, self.scale = Linear(), Linear(), Value(3.0)

        def __call__(self, x: list[Any]) -> Value:
            a, b = self.second([v.tanh() for v in self.first(x)])
            return (a - b) * self.scale

    model = Two()
    drawing = draw(model([Value(1.0, label="x"), Value(2.0, label="y")]), model=model, depth="neurons")
    assert {("x", "first", 2), ("y", "first", 2), ("first", "second", 4)} <= joined(drawing)
    assert "Two" in by_label(drawing)  # what the outermost module does with its own parameter


# --- what is drawn ---------------------------------------------------------------------------------------------------


def test_one_sample_by_neuron_shows_every_neuron_with_its_numbers() -> None:
    random.seed(1)
    model = nn.MLP(2, [4, 3, 1], activation="tanh")
    x = [Value(1.0, label="x1"), Value(-2.0, label="x2")]
    loss = nn.mse(model(x), 1.0)
    loss.backward()
    drawing = draw(loss, model=model, depth="neurons")
    boxes = by_label(drawing)
    for i, layer in enumerate(model.layers):
        for j, _ in enumerate(layer.neurons):
            assert boxes[f"layers.{i}.neurons.{j}"].kind == "group"
    wires = joined(drawing)
    assert ("x1", "layers.0.neurons.3", 1) in wires
    assert ("layers.0.neurons.3", "layers.1.neurons.2", 1) in wires
    assert ("layers.1.neurons.2", "layers.2.neurons.0", 1) in wires
    hidden = model.layers[0](x)[0]
    assert boxes["layers.0.neurons.0"].rows[0].text == f"{hidden.data:.4f}".rstrip("0").replace("-", "−")
    assert boxes["layers.0.neurons.0"].note == "TanhNeuron(2)"
    assert "3 parameters" in boxes["layers.0.neurons.0"].title
    assert "norm of the gradient" in boxes["layers.0.neurons.0"].title
    check_that_all_is_clear(drawing)


def test_a_whole_batch_by_layer_is_a_handful_of_boxes() -> None:
    random.seed(1)
    model = nn.MLP(2, [16, 16, 1], activation="tanh")
    X, y = datasets.moons(30)
    loss = nn.hinge([model(x) for x in X], y)
    loss.label = "loss"
    loss.backward()
    drawing = draw(loss, model=model, depth="layers")
    boxes = by_label(drawing)
    assert list(boxes) == ["layers.0", "layers.1", "layers.2", "loss"]
    assert boxes["layers.0"].note == "16 × TanhNeuron(2), 30 calls"
    assert "…" in boxes["layers.1"].rows[0].text
    assert joined(drawing) == {
        ("layers.0", "layers.1", 30 * 16 * 16), ("layers.1", "layers.2", 30 * 16), ("layers.2", "loss", 30),
    }  # fmt: skip
    assert drawing.summary == f"4 boxes for {len(list(walk.topological(loss))):,} nodes, by layer"
    ET.fromstring(drawing.svg)


def test_penalties_and_inputs_have_boxes_of_their_own() -> None:
    random.seed(1)
    model = nn.MLP(2, [8, 1])
    X, y = datasets.moons(20)
    samples = [[Value(v) for v in x] for x in X]
    loss = nn.hinge([model(x) for x in samples], y) + sum((p * p for p in model.parameters()), Value(0.0))
    drawing = draw(loss, model=model, depth="layers", heat=True)
    boxes = by_label(drawing)
    assert boxes["inputs"].note == "41 numbers"
    assert boxes["inputs"].rows[0].text.count("…") == 1
    assert "result" in boxes
    assert "in between" in boxes
    assert ("inputs", "layers.0", 20 * 8 * 2) in joined(drawing)
    check_that_all_is_clear(drawing)


def test_depth_chooses_itself_when_the_model_is_known() -> None:
    random.seed(1)
    small, large = nn.MLP(2, [2, 1]), nn.MLP(2, [16, 16, 1])
    loss = nn.mse(small([1.0, 2.0]), 1.0)
    drawing = draw(loss, model=small)
    assert drawing.summary.endswith("edges")  # node by node, with the parameters' names
    assert "0.neurons.1.w.0" in by_label(drawing)
    loss = nn.mse([large([1.0, 2.0])], [1.0])
    assert draw(loss, model=large).summary.endswith("by neuron")
    huge = nn.MLP(2, [LEGIBLE, 1])
    assert draw(huge([1.0, 2.0]), model=huge).summary.endswith("by layer")
    assert draw(loss, model=large, depth="nodes").summary.startswith("1,")


def test_a_model_alone_is_drawn_on_inputs_of_one() -> None:
    model = nn.MLP(2, [3, 2])
    drawing = draw(model)
    assert {"x1", "x2", "layers.0.neurons.2", "layers.1.neurons.1"} <= set(by_label(drawing))
    assert by_label(draw(nn.Neuron(2)))["Neuron"].note == "ReLUNeuron(2)"
    assert by_label(draw(nn.Layer(2, 3), depth="layers"))["Layer"].note == "3 × ReLUNeuron(2)"
    assert draw(model, depth="nodes").summary.endswith("edges")

    class Odd(nn.Module):
        def __init__(self) -> None:
            self.a = Value(1.0)

    with pytest.raises(SettingError, match=r"how many inputs a Odd takes .*draw\(model\(x\), model=model\)"):
        draw(Odd())


def test_micrograds_models_are_grouped_too() -> None:
    random.seed(1)
    model = micrograd.nn.MLP(2, [4, 4, 1])
    x = [micrograd.engine.Value(1.0), micrograd.engine.Value(-2.0)]
    loss = (model(x) - 1) ** 2
    loss.backward()
    drawing = draw(loss, model=model, depth="layers")
    assert {("layers.0", "layers.1", 16), ("layers.1", "layers.2", 4)} <= joined(drawing)
    assert by_label(draw(model, depth="neurons"))["layers.0.neurons.1"].note == "ReLUNeuron(2)"


def test_a_layer_called_on_its_own_output_is_drawn_again_each_time() -> None:
    random.seed(1)
    layer = nn.Layer(3, 3, activation="tanh")
    state: Any = [1.0, 0.5, -0.5]
    for _ in range(3):
        state = layer(state)
    drawing = draw(state, model=layer, depth="layers")
    assert [box.label for box in drawing.scene.boxes] == ["Layer"] * 3
    check_that_all_is_clear(drawing)


def test_modules_that_read_each_other_in_a_circle_are_drawn_as_one() -> None:
    class Tied(nn.Module):
        """Its second neuron's weight is normalised by its first's parameters, and the other way about."""

        def __init__(self) -> None:
            self.a, self.b = nn.Neuron(1), nn.Neuron(1)

    model = Tied()
    x = Value(1.0, label="x")
    mixed = [model.a.w[0] * model.b.w[0] for _ in range(30)]  # too many to be drawn one by one
    one = model.a([sum(mixed, x)])
    root = sum([model.b([one]) * model.a.w[0] * model.b.w[0]] * 30, one)
    for depth in ("neurons", "layers"):
        drawing = draw(root, model=model, depth=depth)
        ET.fromstring(drawing.svg)
        assert all(line.source < line.target for line in drawing.scene.lines)


def test_too_many_boxes_are_refused_as_too_many_nodes_are() -> None:
    model = nn.MLP(2, [12, 1])
    with pytest.raises(GraphError, match=r"19 boxes are too many to draw by neuron \(max_nodes is 5\).*spy"):
        draw(nn.mse(model([1.0, 2.0]), 1.0).tanh(), model=model, depth="neurons", max_nodes=5)


def test_gradients_and_nans_in_boxes() -> None:
    model = nn.MLP(1, [2, 1])
    out = [model([x]) for x in (1.0, float("nan"))]
    loss = nn.mse(out, [1.0, 1.0])
    fresh = draw(loss, model=model, depth="layers")
    assert by_label(fresh)["layers.0"].rows[1].text is None
    assert by_label(fresh)["layers.0"].rows[0].text == "nan"
    loss.backward()
    drawing = draw(loss, model=model, depth="layers", heat=True)
    assert by_label(drawing)["layers.0"].rows[1].heat == -1
    assert [row.caption for row in by_label(draw(loss, model=model, depth="layers", grads=False))["layers.0"].rows] == [
        "data"
    ]


def test_a_model_that_has_nothing_to_do_with_the_graph() -> None:
    drawing = draw(Value(1.0, label="a") * 2, model=nn.MLP(2, [2]), depth="layers")
    assert drawing.summary == "3 boxes for 3 nodes, by layer"


def test_parameters_that_no_attribute_leads_to_still_count() -> None:
    hidden = [Value(2.0), Value(3.0)]

    class Sly(nn.Module):
        def parameters(self) -> list[Value]:
            return hidden

        def __call__(self, x: Value) -> Value:
            return hidden[0] * x + hidden[1]

    model = Sly()
    drawing = draw(model(Value(1.0, label="x")), model=model, depth="neurons")
    assert joined(drawing) == {("x", "Sly", 1)}
    assert by_label(draw(model(Value(1.0)), model=model))["1"].rows[0].text == "3"


def test_sums_of_different_calls_are_not_one_call() -> None:
    """A module that never finishes a sum (it holds a parameter it does not use here) still has two calls, not one."""

    class Half(nn.Module):
        def __init__(self) -> None:
            self.w, self.b = [Value(2.0)], Value(1.0)

    model = Half()
    one, two = model.w[0] * Value(3.0), model.w[0] * Value(4.0)
    root = one + two + model.b
    found = owners(root, model)
    assert found[id(one)] == found[id(two)] == ""  # the model itself has the path ""
    calls = calls_in(drawn_graph([root]), modules_of(model))
    assert len(calls.module) == 3


def test_modules_in_dicts_and_shared_ones_are_found_once() -> None:
    class Shared(nn.Module):
        def __init__(self) -> None:
            neuron = nn.Neuron(1)
            self.parts = {"first": neuron, "again": neuron, "other": (nn.Neuron(1),)}

    assert [module.path for module in modules_of(Shared()).all] == ["", "parts.first", "parts.other.0"]


def test_numbers_that_are_none_are_shown_in_boxes_too() -> None:
    model = nn.MLP(1, [30, 1])
    hidden = model.layers[0]([1.0])
    root = model.layers[1](hidden)
    hidden[3]._data = "broken"  # as a stranger's engine may have it
    boxes = by_label(draw(root, model=model, depth="layers"))
    assert boxes["layers.0"].rows[0].text == "'broken'"
