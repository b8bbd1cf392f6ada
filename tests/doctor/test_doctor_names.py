"""What parameters are called."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from gradwalk import Value, nn, optim
from gradwalk.doctor.names import names_in_frames, names_of, users_frames
from gradwalk.doctor.routes import Spot, text


def spot_of(model: Any, v: Value) -> tuple[str, str, str]:
    spot = names_of(model).spot(v)
    assert spot is not None
    return spot.path, spot.unit, spot.layer


@dataclass
class Matrices:
    scale: float = 1.0
    left: list[list[Value]] = field(default_factory=lambda: [[Value(1.0), Value(2.0)], [Value(3.0), Value(4.0)]])
    shift: list[Value] = field(default_factory=lambda: [Value(0.0), Value(0.0)])


class Loose:
    def __init__(self) -> None:
        self.hidden = [nn.Neuron(2), nn.Neuron(2)]
        self.out = nn.Neuron(2)
        self.more = {"a": Value(1.0), "b": [Value(2.0)]}


def test_paths_units_and_layers() -> None:
    mlp, layer, matrices, loose = nn.MLP(2, [3, 1]), nn.Layer(2, 2), Matrices(), Loose()
    assert spot_of(mlp, mlp.layers[1].neurons[0].w[2]) == (
        "layers[1].neurons[0].w[2]", "layers[1].neurons[0]", "layers[1]"
    )  # fmt: skip
    assert spot_of(layer, layer.neurons[1].b) == ("neurons[1].b", "neurons[1]", "neurons")
    assert spot_of(matrices, matrices.left[1][0]) == ("left[1][0]", "left[1]", "left")
    assert spot_of(matrices, matrices.shift[1]) == ("shift[1]", "shift[1]", "shift")
    assert spot_of(loose, loose.hidden[1].w[0]) == ("hidden[1].w[0]", "hidden[1]", "hidden")
    assert spot_of(loose, loose.out.b) == ("out.b", "out", "out")
    assert spot_of(loose, loose.more["a"])[0] == "more['a']"  # type: ignore[arg-type]


def test_lists_labels_and_optimisers() -> None:
    w, b = Value(1.0, label="w"), Value(2.0)
    assert [names_of([w, b]).name(v) for v in (w, b)] == ["w", "[1]"]
    assert [names_of(optim.SGD([w, b], 0.1)).name(v) for v in (w, b)] == ["w", "parameters[1]"]
    assert names_of({"w": w}).parameters == [w]


def test_a_model_that_chooses_its_parameters() -> None:
    class Chosen(nn.Module):
        def __init__(self) -> None:
            self.kept, self.frozen = Value(1.0), Value(2.0)

        def parameters(self) -> list[Value]:
            return [self.kept]

    model = Chosen()
    names = names_of(model)
    assert names.parameters == [model.kept]
    assert (names.name(model.kept), names.name(model.frozen)) == ("kept", "frozen")


def test_results_are_no_parameters() -> None:
    class Keeping(nn.Module):
        def __init__(self) -> None:
            self.w = Value(1.0)
            self.last = self.w * 2

    assert len(names_of(Keeping()).parameters) == 1


def test_variables_of_the_program() -> None:
    def inner(model: nn.MLP, scale: Value) -> Any:
        for layer in model.layers:
            p = layer.neurons[0].w[0]
        assert p is not None
        optimiser = optim.SGD(model.parameters(), 0.1)
        assert optimiser
        return names_in_frames(users_frames())

    net, free = nn.MLP(2, [2, 1]), Value(3.0)
    names = inner(net, free)
    assert names.name(net.layers[1].neurons[0].w[0]) == "model.layers[1].neurons[0].w[0]"
    assert names.name(free) == "scale"
    assert len(names.lists[0]) == len(net.parameters())
    assert any(len(optimiser.parameters) == len(net.parameters()) for optimiser in names.optimisers)


def test_frames_are_those_of_the_program() -> None:
    files = {frame.f_code.co_filename for frame in users_frames()}
    assert __file__ in files
    assert not any("site-packages" in file or "/gradwalk/doctor/" in file for file in files)


@pytest.mark.parametrize(
    ("route", "words"),
    [((), ""), (("w",), "w"), (("a", "b"), "a.b"), ((0, 1), "[0][1]"), (("a", ("k",), 2, "b"), "a['k'][2].b")],
)
def test_routes_in_words(route: Any, words: str) -> None:
    assert text(route) == words


def test_a_spot_is_plain_data() -> None:
    assert Spot("a", "b", "c") == Spot("a", "b", "c", "")
