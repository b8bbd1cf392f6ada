from __future__ import annotations

import collections
import copy
import dataclasses
import math
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import micrograd.engine
import micrograd.nn
import numpy as np
import pytest
import torch

import gradwalk
from gradwalk import Value, losses, nn, store
from gradwalk.errors import GradwalkError, InputSizeError, ModelFileError, NotANumberError, SettingError


def bits(model: Any) -> list[bytes]:
    """The parameters to the last bit, so that nan equals nan and -0.0 does not equal 0.0."""
    return [struct.pack("d", p.data) for p in model.parameters()]


def half_moons(n: int) -> tuple[list[list[float]], list[int]]:
    """Two interleaved arcs with a little noise, from a generator of its own."""
    noise = random.Random(7)
    points, labels = [], []
    for i in range(n):
        angle, label = math.pi * i / n, 1 if i % 2 else -1
        x, y = (math.cos(angle), math.sin(angle)) if label < 0 else (1 - math.cos(angle), 0.5 - math.sin(angle))
        points.append([x + noise.gauss(0, 0.1), y + noise.gauss(0, 0.1)])
        labels.append(label)
    return points, labels


# --- micrograd side by side --------------------------------------------------------------------------------------

SHAPES = [(2, [16, 16, 1]), (3, [4, 2]), (1, [1]), (2, [5])]


@pytest.mark.parametrize(("nin", "nouts"), SHAPES)
def test_a_seed_gives_micrograds_very_weights_and_outputs(nin: int, nouts: list[int]) -> None:
    random.seed(1337)
    ours = nn.MLP(nin, nouts)
    ours_next = random.random()
    random.seed(1337)
    theirs = micrograd.nn.MLP(nin, nouts)
    assert ours_next == random.random()  # no number drawn more or less
    assert [p.data for p in ours.parameters()] == [p.data for p in theirs.parameters()]
    assert repr(ours) == repr(theirs)
    for _ in range(10):
        x = [random.uniform(-3, 3) for _ in range(nin)]
        out, expected = ours(x), theirs(x)
        if len(nouts) and nouts[-1] == 1:
            assert out.data == expected.data
        else:
            assert [v.data for v in out] == [v.data for v in expected]


@pytest.mark.parametrize("nonlin", [True, False])
def test_neurons_and_layers_take_micrograds_arguments(nonlin: bool) -> None:
    random.seed(3)
    neuron, layer = nn.Neuron(4, nonlin), nn.Layer(4, 3, nonlin=nonlin)
    random.seed(3)
    their_neuron, their_layer = micrograd.nn.Neuron(4, nonlin), micrograd.nn.Layer(4, 3, nonlin=nonlin)
    x = [0.5, -2.0, 3.0, 0.25]
    assert neuron(x).data == their_neuron(x).data
    assert [v.data for v in layer(x)] == [v.data for v in their_layer(x)]
    assert (repr(neuron), repr(layer)) == (repr(their_neuron), repr(their_layer))
    assert neuron.nonlin is nonlin
    assert [v.data for v in neuron.w] == [v.data for v in their_neuron.w]
    assert neuron.b.data == their_neuron.b.data == 0


def test_nonlin_can_be_switched_afterwards_as_in_micrograd() -> None:
    neuron = nn.Neuron(1, nonlin=False, init=lambda nin, nout: -1.0)
    assert neuron([2.0]).data == -2.0
    neuron.nonlin = True
    assert neuron([2.0]).data == 0.0
    assert repr(neuron) == "ReLUNeuron(1)"


def micrograd_losses(package: Any, value: Any, steps: int) -> tuple[list[float], list[float]]:
    """micrograd's moons demo, word for word the same program for whichever package is given."""
    points, labels = half_moons(30)
    random.seed(1337)
    model = package.MLP(2, [8, 8, 1])
    losses = []
    for k in range(steps):
        inputs = [list(map(value, row)) for row in points]
        scores = list(map(model, inputs))
        margins = [(1 + -yi * scorei).relu() for yi, scorei in zip(labels, scores, strict=True)]
        data_loss = sum(margins) * (1.0 / len(margins))
        total_loss = data_loss + 1e-4 * sum(p * p for p in model.parameters())
        model.zero_grad()
        total_loss.backward()
        for p in model.parameters():
            p.data -= (1.0 - 0.9 * k / 100) * p.grad
        losses.append(total_loss.data)
    return losses, [p.data for p in model.parameters()]


@pytest.mark.slow
def test_twenty_training_steps_give_micrograds_losses() -> None:
    losses, weights = micrograd_losses(nn, Value, 20)
    their_losses, their_weights = micrograd_losses(micrograd.nn, micrograd.engine.Value, 20)
    assert losses[-1] < losses[0] / 2
    assert losses == pytest.approx(their_losses, rel=1e-12)
    assert weights == pytest.approx(their_weights, rel=1e-11, abs=1e-13)


# --- outputs and inputs ------------------------------------------------------------------------------------------


def test_one_output_is_a_value_and_more_are_a_list() -> None:
    assert isinstance(nn.MLP(2, [4, 1])([1.0, 2.0]), Value)
    several = nn.MLP(2, [1, 3])([1.0, 2.0])
    assert [type(v) for v in several] == [Value, Value, Value]
    assert isinstance(nn.MLP(2, [1, 1, 1])([1.0, 2.0]), Value)


def test_a_one_neuron_layer_in_the_middle_computes_what_it_should() -> None:
    model = nn.MLP(2, [1, 3], init=lambda nin, nout: 2.0)
    assert [v.data for v in model([1.0, 0.5])] == [6.0, 6.0, 6.0]
    model([1.0, 0.5])[1].backward()
    assert [p.grad for p in model.layers[0].parameters()] == [2.0, 1.0, 2.0]


NUMBERS: list[Any] = [
    [1, 2],
    (1.0, 2.0),
    [Value(1.0), 2],
    [True, 2],
    np.array([1.0, 2.0]),
    np.array([1, 2]),
    [np.float32(1.0), np.int64(2)],
    range(1, 3),
]


@pytest.mark.parametrize("x", NUMBERS, ids=str)
def test_inputs_are_values_or_numbers_of_any_kind(x: Any) -> None:
    model = nn.MLP(2, [3, 1], activation="tanh")
    expected = model([Value(1.0), Value(2.0)])
    out = model(x)
    assert out.data == expected.data
    assert type(out.data) is float
    model.zero_grad()
    out.backward()
    grads = [p.grad for p in model.parameters()]
    model.zero_grad()
    expected.backward()
    assert grads == [p.grad for p in model.parameters()]


def test_inputs_may_come_from_a_generator() -> None:
    model = nn.MLP(2, [3, 1])
    assert model(float(i) for i in (1, 2)).data == model([1.0, 2.0]).data


def test_inputs_that_are_values_get_gradients() -> None:
    model = nn.MLP(2, [3, 1], activation="tanh", init="xavier")
    x = [Value(0.3), Value(-0.4)]
    model(x).backward()
    rise = model([0.3 + 1e-6, -0.4]).data - model([0.3 - 1e-6, -0.4]).data
    assert x[0].grad == pytest.approx(rise / 2e-6, rel=1e-6)


def test_a_wrong_number_of_inputs_names_the_layer_and_both_numbers() -> None:
    with pytest.raises(
        InputSizeError, match=r"^layer 1 of MLP: Layer of 4 ReLU neurons takes 2 inputs and was given 3$"
    ):
        nn.MLP(2, [4, 1])([1.0, 2.0, 3.0])
    with pytest.raises(
        InputSizeError, match=r"^layer 1 of MLP: Layer of 4 ReLU neurons takes 2 inputs and was given 0$"
    ):
        nn.MLP(2, [4, 1])([])
    with pytest.raises(
        InputSizeError, match=r"^layer 1 of MLP: Layer of 4 ReLU neurons takes 2 inputs and was given 1$"
    ):
        nn.MLP(2, [4, 1])(5.0)
    with pytest.raises(InputSizeError, match=r"^Layer of 1 Linear neuron takes 3 inputs and was given 2$"):
        nn.Layer(3, 1, nonlin=False)([1.0, 2.0])
    with pytest.raises(InputSizeError, match=r"^TanhNeuron\(3\) takes 3 inputs and was given 2$"):
        nn.Neuron(3, activation="tanh")([1.0, 2.0])
    with pytest.raises(InputSizeError, match=r"^ReLUNeuron\(1\) takes 1 input and was given 2$"):
        nn.Neuron(1)([1.0, 2.0])


def test_layers_put_together_wrongly_are_named_too() -> None:
    model = nn.MLP(2, [3, 16, 1])
    model.layers[1] = nn.Layer(16, 4)
    with pytest.raises(
        InputSizeError, match=r"layer 2 of MLP: Layer of 4 ReLU neurons takes 16 inputs and was given 3"
    ):
        model([1.0, 2.0])
    layer = nn.Layer(2, 3)
    layer.neurons[1] = nn.Neuron(4)
    with pytest.raises(InputSizeError, match=r"ReLUNeuron\(4\) takes 4 inputs and was given 2"):
        layer([1.0, 2.0])


@pytest.mark.parametrize("x", [None, "ab", b"ab", {"a": 1, "b": 2}, {1.0, 2.0}])
@pytest.mark.parametrize("model", [nn.MLP(2, [4, 1]), nn.Layer(2, 3), nn.Neuron(2)], ids=["MLP", "Layer", "Neuron"])
def test_inputs_that_are_no_list_of_numbers(model: Any, x: Any) -> None:
    with pytest.raises(
        NotANumberError, match=r"takes 2 inputs as a list of numbers or Values, not (None|str|bytes|dict|set)"
    ):
        model(x)


@pytest.mark.parametrize(
    "bad", ["1", None, 1j, [1.0], np.array([1.0, 2.0]), torch.tensor(1.0), object()], ids=lambda bad: type(bad).__name__
)
def test_an_input_that_is_no_number_is_named(bad: Any) -> None:
    with pytest.raises(
        NotANumberError, match="layer 1 of MLP: Layer of 4 ReLU neurons: input 2: a Value holds one real"
    ):
        nn.MLP(2, [4, 1])([1.0, bad])


def test_a_sample_that_is_a_number_will_do_for_one_input() -> None:
    model = nn.MLP(1, [3, 1])
    assert model(2.0).data == model(Value(2.0)).data == model(np.float64(2.0)).data == model([2.0]).data


def test_nan_and_inf_pass_through() -> None:
    model = nn.MLP(2, [3, 1], activation="tanh")
    assert math.isnan(model([math.nan, 1.0]).data)
    assert math.isfinite(model([math.inf, 1.0]).data)


def test_what_takes_ops_in_its_own_way_is_left_as_it_is() -> None:
    class Recorder:
        def __init__(self) -> None:
            self.seen: list[str] = []

        def __gradwalk_op__(self, op: Any, operands: Any) -> Recorder:
            self.seen.append(op.name)
            return self

        def relu(self) -> Recorder:
            return self

    recorder = Recorder()
    assert nn.Neuron(1)([recorder]) is recorder
    assert recorder.seen == ["mul", "add"]


def test_a_layer_honours_neurons_of_ones_own() -> None:
    class Constant(nn.Module):
        def __call__(self, x: Any) -> Value:
            assert list(x) == [1.0, 2.0]
            return Value(7.0)

    layer: Any = nn.Layer(2, 2)
    layer.neurons[0] = Constant()
    assert layer([1, 2])[0].data == 7.0
    with pytest.raises(InputSizeError, match="Layer of 2 Constant neurons"):
        layer([1.0])


# --- choices -----------------------------------------------------------------------------------------------------

F = torch.nn.functional
TORCHS: dict[str, Callable[[Any], Any]] = {
    "linear": lambda t: t,
    "relu": torch.relu,
    "leaky_relu": F.leaky_relu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "softplus": F.softplus,
}


@pytest.mark.parametrize("name", sorted(nn.ACTIVATIONS))
def test_every_activation_is_torchs(name: str) -> None:
    random.seed(5)
    model = nn.MLP(2, [3, 2], activation=name, output=name)
    x = [0.7, -1.3]
    out = model(x)
    (out[0] * 2.0 + out[1]).backward()

    rows: Any = torch.tensor(x, dtype=torch.float64)
    leaves = []
    for layer in model.layers:
        w = torch.tensor([[v.data for v in n.w] for n in layer.neurons], dtype=torch.float64, requires_grad=True)
        b = torch.zeros(len(layer.neurons), dtype=torch.float64, requires_grad=True)
        leaves.append((w, b))
        rows = TORCHS[name](w @ rows + b)
    (rows[0] * 2.0 + rows[1]).backward()
    assert [v.data for v in out] == pytest.approx(rows.tolist(), rel=1e-12)
    for layer, (w, b) in zip(model.layers, leaves, strict=True):
        for i, neuron in enumerate(layer.neurons):
            assert [v.grad for v in neuron.w] == pytest.approx(w.grad[i].tolist(), rel=1e-12)
            assert neuron.b.grad == pytest.approx(b.grad[i].item(), rel=1e-12)


def cube(v: Value) -> Value:
    return v * v * v


def test_an_activation_may_be_a_function_or_an_op() -> None:
    @gradwalk.op(lambda x, out: 2 * x)
    def square(x: Any) -> Any:
        return x * x

    assert repr(nn.Neuron(2, activation=square)) == "SquareNeuron(2)"
    assert repr(nn.Neuron(2, activation=cube)) == "CubeNeuron(2)"
    assert repr(nn.Neuron(2, activation=lambda v: v)) == "CustomNeuron(2)"
    assert repr(nn.Neuron(2, activation=gradwalk.tanh)) == "TanhNeuron(2)"
    assert repr(nn.Neuron(2, activation=gradwalk.sin)) == "SinNeuron(2)"
    assert repr(nn.MLP(1, [2, 1], activation="leaky_relu", output="sigmoid")) == (
        "MLP of [Layer of [LeakyReLUNeuron(1), LeakyReLUNeuron(1)], Layer of [SigmoidNeuron(2)]]"
    )
    ones: Any = lambda nin, nout: 1.0  # noqa: E731
    assert nn.Neuron(2, activation=cube, init=ones)([1.0, 2.0]).data == 27.0
    assert nn.Neuron(2, activation=square, init=ones)([1.0, 2.0]).data == 9.0
    assert nn.Neuron(2, activation=gradwalk.sin, init=ones)([1.0, 2.0]).data == math.sin(3.0)
    assert nn.Neuron(2, False, activation=cube, init=ones)([1.0, 2.0]).data == 3.0


def test_a_function_that_is_called_linear_is_still_called() -> None:
    def linear(v: Value) -> Value:
        return v * 3.0

    assert nn.Neuron(1, activation=linear, init=lambda nin, nout: 1.0)([2.0]).data == 6.0


def test_linear_by_name_is_micrograds_nonlin_false() -> None:
    neuron = nn.Neuron(2, activation="linear")
    assert neuron.nonlin is False
    assert repr(neuron) == "LinearNeuron(2)"


@pytest.mark.parametrize(
    ("init", "limit"), [("uniform", 1.0), ("xavier", math.sqrt(6 / 70)), ("kaiming", math.sqrt(6 / 50))]
)
def test_initialisations_fill_their_range_evenly(init: str, limit: float) -> None:
    random.seed(11)
    weights = [v.data for n in nn.Layer(50, 20, init=init).neurons for v in n.w]
    assert max(map(abs, weights)) <= limit
    assert max(weights) > 0.98 * limit
    assert min(weights) < -0.98 * limit
    variance = sum(w * w for w in weights) / len(weights)
    assert variance == pytest.approx(limit**2 / 3, rel=0.1)


def test_other_initialisations() -> None:
    assert set(nn.MLP(2, [3, 1], init="zeros").state_dict().values()) == {0.0}
    sizes: list[tuple[int, int]] = []

    def note(nin: int, nout: int) -> float:
        sizes.append((nin, nout))
        return 0.25

    model = nn.MLP(2, [3, 1], init=note)
    assert sizes == [(2, 3)] * 6 + [(3, 1)] * 3
    assert sorted(set(model.state_dict().values())) == [0.0, 0.25]  # biases start at 0 whatever the weights do


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: nn.MLP(2, [4, 1], activation="rel"),
            "no activation is called 'rel'; there are leaky_relu, linear, relu",
        ),
        (lambda: nn.MLP(2, [1], activation="rel"), "no activation is called 'rel'"),
        (lambda: nn.MLP(2, [1], output="rel"), "no activation is called 'rel'"),
        (lambda: nn.Neuron(2, activation=None), "activation is a name .* or a function, not NoneType"),  # type: ignore[arg-type]
        (lambda: nn.Neuron(2, init="he"), "no init is called 'he'; there are kaiming, uniform, xavier, zeros"),
        (lambda: nn.Layer(2, 2, init=3), "init is a name .* or a function, not int: 3"),  # type: ignore[arg-type]
        (lambda: nn.Neuron(2, "tanh"), "nonlin is True or False, not 'tanh'; write activation='tanh'"),  # type: ignore[arg-type]
        (lambda: nn.Neuron(0), "nin is a whole number of at least 1, not 0"),
        (lambda: nn.MLP(0, [1]), "nin is a whole number of at least 1, not 0"),
        (lambda: nn.MLP(-2, [1]), "nin is a whole number of at least 1, not -2"),
        (lambda: nn.MLP(2.0, [1]), "nin is a whole number of at least 1, not float: 2.0"),  # type: ignore[arg-type]
        (lambda: nn.MLP(True, [1]), "nin is a whole number of at least 1, not bool: True"),
        (lambda: nn.MLP("2", [1]), "nin is a whole number of at least 1, not str: '2'"),  # type: ignore[arg-type]
        (lambda: nn.MLP(10**39, [1]), r"nin is more than memory holds: 1e\+39"),
        (lambda: nn.Neuron(int), "nin is a whole number of at least 1, not type"),  # type: ignore[arg-type]
        (lambda: nn.Neuron(gradwalk.Tensor(2.0)), "nin is a whole number of at least 1, not Tensor"),  # type: ignore[arg-type]
        (lambda: nn.Linear(10**39, 1), r"in_features is more than memory holds"),
        (lambda: nn.Embedding(4, True), "embedding_dim is a whole number of at least 1, not bool: True"),
        (lambda: nn.MLP(2, [4, 0]), r"nouts\[1\] is a whole number of at least 1, not 0"),
        (lambda: nn.MLP(2, [4, None]), r"nouts\[1\] is a whole number of at least 1, not NoneType"),  # type: ignore[list-item]
        (lambda: nn.MLP(2, []), r"nouts lists the number of neurons of each layer, as in \[16, 16, 1\]; it was \[\]"),
        (lambda: nn.MLP(2, 4), r"nouts lists the number of neurons .* it was 4"),  # type: ignore[arg-type]
        (lambda: nn.MLP(2, "41"), r"nouts lists the number of neurons .* it was '41'"),  # type: ignore[arg-type]
        (lambda: nn.MLP(2, None), r"nouts lists the number of neurons .* it was None"),  # type: ignore[arg-type]
        (lambda: nn.Layer(2, 0), "nout is a whole number of at least 1, not 0"),
        (lambda: nn.Layer(2, -1), "nout is a whole number of at least 1, not -1"),
        (lambda: nn.Layer(2, 1.5), "nout is a whole number of at least 1, not float: 1.5"),  # type: ignore[arg-type]
    ],
)
def test_settings_outside_what_they_may_be(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        make()


def test_pytorchs_names_that_a_module_has_not_say_what_to_use() -> None:
    model: Any = nn.MLP(2, [1])
    for name in ("to", "cuda", "apply", "register_buffer", "children"):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=f"MLP has no '{name}'; use "):
            getattr(model, name)

    class Own(nn.Module):
        def __init__(self) -> None:
            self.children = [nn.Neuron(1)]

        def apply(self, x: Any) -> Any:
            return self.children[0](x)

    assert (len(Own().parameters()), Own().apply([0.0]).data) == (2, 0.0)


def test_an_init_that_gives_no_number_is_named() -> None:
    with pytest.raises(NotANumberError, match="init, for weight 1: a Value holds one real number"):
        nn.Neuron(2, init=lambda nin, nout: "0.5")  # type: ignore[arg-type, return-value]


def test_sizes_may_be_numpy_ints_and_nouts_a_tuple() -> None:
    model = nn.MLP(np.int64(2), (np.int32(4), 1))  # type: ignore[arg-type]
    assert len(model.parameters()) == 17


# --- modules of one's own ----------------------------------------------------------------------------------------


class Branchy(nn.Module):
    """Parameters in every place they may be."""

    def __init__(self) -> None:
        self.first = nn.Neuron(1, init="zeros")
        self.scale = Value(2.0)
        self.width = 7  # not a parameter, and neither is the next
        self.title = "branchy"
        self.pair = (Value(3.0), [Value(4.0), nn.Neuron(1, init="zeros")])
        self.table = {"left": Value(5.0), 3: Value(6.0)}
        self.again = self.scale
        self.nothing: list[Value] = []


BRANCHY = {
    "first.w.0": 0.0,
    "first.b": 0.0,
    "scale": 2.0,
    "pair.0": 3.0,
    "pair.1.0": 4.0,
    "pair.1.1.w.0": 0.0,
    "pair.1.1.b": 0.0,
    "table.left": 5.0,
    "table.3": 6.0,
}


def test_parameters_are_found_in_attribute_order_wherever_they_are() -> None:
    module = Branchy()
    assert list(module.state_dict().items()) == list(BRANCHY.items())
    assert [v for _, v in module.named_parameters()] == module.parameters()


def test_a_shared_parameter_counts_once() -> None:
    shared = nn.Layer(2, 2)
    model = nn.MLP(2, [2, 2, 1])
    model.layers[0] = model.layers[1] = shared
    assert len(model.parameters()) == 6 + 3
    assert len(set(model.parameters())) == 9


def test_results_kept_in_an_attribute_are_no_parameters() -> None:
    class Remembering(nn.Module):
        def __init__(self) -> None:
            self.w = Value(3.0)
            self.out: Any = None

        def __call__(self, x: float) -> Value:
            self.out = self.w * x
            return self.out  # type: ignore[no-any-return]

    module = Remembering()
    module(2.0).backward()
    assert module.parameters() == [module.w]
    assert module.state_dict() == {"w": 3.0}


def test_a_hooked_parameter_is_still_one() -> None:
    neuron = nn.Neuron(1)
    neuron.b.register_hook(lambda g: g)
    assert len(neuron.parameters()) == 2


def test_modules_that_point_at_each_other() -> None:
    class Part(nn.Module):
        def __init__(self, whole: Any) -> None:
            self.whole = whole
            self.w = Value(1.0)

    class Whole(nn.Module):
        def __init__(self) -> None:
            self.parts = [Part(self), Part(self)]

    assert list(Whole().state_dict()) == ["parts.0.w", "parts.1.w"]


def test_a_chain_of_modules_of_any_length() -> None:
    class Link(nn.Module):
        def __init__(self, further: Any) -> None:
            self.further = further
            self.w = Value(1.0)

    chain = None
    for _ in range(5000):
        chain = Link(chain)
    assert chain is not None
    assert len(chain.parameters()) == 5000


class MicrogradStyle(nn.Module):
    """A module as one writes it for micrograd."""

    def __init__(self) -> None:
        self.a, self.b, self.unused = Value(1.0), Value(2.0), Value(3.0)

    def parameters(self) -> list[Value]:
        return [self.b, self.a, self.b]


def test_a_module_may_choose_its_parameters_itself(tmp_path: Path) -> None:
    module = MicrogradStyle()
    assert module.named_parameters() == [("0", module.b), ("1", module.a)]
    (module.a * module.b * module.unused).backward()
    module.zero_grad()
    assert (module.a.grad, module.b.grad, module.unused.grad) == (0.0, 0.0, 2.0)
    module.save(tmp_path / "model.json")
    other = MicrogradStyle()
    other.a.data = other.b.data = other.unused.data = 9.0
    other.load(tmp_path / "model.json")
    assert (other.a.data, other.b.data, other.unused.data) == (1.0, 2.0, 9.0)


def test_such_a_module_inside_another() -> None:
    class Outer(nn.Module):
        def __init__(self) -> None:
            self.inner = MicrogradStyle()
            self.c = Value(4.0)

    assert Outer().state_dict() == {"inner.0": 2.0, "inner.1": 1.0, "c": 4.0}


def test_parameters_of_ones_own_may_build_on_those_found() -> None:
    extra = Value(9.0)

    class More(nn.Neuron):
        def parameters(self) -> list[Value]:
            return [*super().parameters(), extra]

    assert More(1, init="zeros").state_dict() == {"0": 0.0, "1": 0.0, "2": 9.0}


@pytest.mark.parametrize("chosen", [None, 3, ["w"], [Value(1.0), 2.0]])
def test_parameters_of_ones_own_that_are_none(chosen: Any) -> None:
    class Wrong(nn.Module):
        def parameters(self) -> Any:
            return chosen

    with pytest.raises(SettingError, match=r"parameters\(\) of Wrong must give a list of Values"):
        Wrong().state_dict()


def test_a_module_without_parameters() -> None:
    empty = nn.Module()
    empty.zero_grad()
    empty.load_state_dict({})
    assert empty.parameters() == []
    assert empty.state_dict() == {}


def test_two_parameters_of_one_name_are_refused() -> None:
    class Clash(nn.Module):
        def __init__(self) -> None:
            self.table = {1: Value(1.0), "1": Value(2.0)}

    with pytest.raises(SettingError, match=r"two parameters of Clash are called 'table\.1'"):
        Clash().state_dict()


def test_zero_grad_through_the_module_and_the_package() -> None:
    model = nn.MLP(2, [3, 1], activation="tanh")
    clear: Any
    for clear in (model.zero_grad, lambda: gradwalk.zero_grad(model)):
        model([1.0, 2.0]).backward()
        assert any(p.grad for p in model.parameters())
        clear()
        assert [p.grad for p in model.parameters()] == [0.0] * len(model.parameters())


@pytest.mark.parametrize(
    "activation", ["relu", "linear", "tanh", gradwalk.sin, cube], ids=lambda x: getattr(x, "__name__", x)
)
def test_deepcopy_gives_a_model_of_its_own(activation: Any) -> None:
    model = nn.MLP(2, [3, 1], activation=activation)
    model([1.0, 2.0]).backward()
    twin = copy.deepcopy(model)
    assert repr(twin) == repr(model)
    assert bits(twin) == bits(model)
    assert [p.grad for p in twin.parameters()] == [p.grad for p in model.parameters()]
    assert not set(twin.parameters()) & set(model.parameters())
    assert twin([0.5, 0.5]).data == model([0.5, 0.5]).data
    before = bits(model)
    for p in twin.parameters():
        p.data += 1.0
    assert bits(model) == before


def test_deepcopy_keeps_what_is_shared_shared() -> None:
    module = copy.deepcopy(Branchy())
    assert module.scale is module.again
    assert module.state_dict() == BRANCHY


# --- states and files --------------------------------------------------------------------------------------------


@pytest.fixture
def model() -> nn.MLP:
    random.seed(1)
    return nn.MLP(2, [3, 1])


def test_a_state_goes_from_model_to_model(model: nn.MLP) -> None:
    other = nn.MLP(2, [3, 1])
    other.load_state_dict(model.state_dict())
    assert bits(other) == bits(model)


def test_a_state_may_hold_numbers_of_any_kind() -> None:
    neuron = nn.Neuron(2)
    neuron.load_state_dict({"b": np.float32(0.5), "w.0": 1, "w.1": True})  # type: ignore[dict-item]
    assert neuron.state_dict() == {"w.0": 1.0, "w.1": 1.0, "b": 0.5}
    assert {type(p.data) for p in neuron.parameters()} == {float}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda s: s.pop("layers.0.neurons.1.b"),
            "MLP has 13 parameters and the state holds 12; missing: layers.0.neurons.1.b$",
        ),
        (lambda s: s.update(extra=1.0), "MLP has 13 parameters and the state holds 14; unexpected: extra$"),
        (lambda s: s.update({5: 1.0}), "unexpected: 5$"),
        (lambda s: [s.pop(n) for n in list(s)[:5]], "missing: layers.0.neurons.0.w.0, .*w.1, .*b and 2 more$"),
    ],
)
def test_a_state_that_does_not_fit_changes_nothing(model: nn.MLP, change: Callable[[Any], Any], message: str) -> None:
    state, before = nn.MLP(2, [3, 1]).state_dict(), bits(model)
    change(state)
    with pytest.raises(SettingError, match=message):
        model.load_state_dict(state)
    assert bits(model) == before


@pytest.mark.parametrize("bad", ["1.0", None, 1j, [1.0], Value(1.0)], ids=repr)
def test_a_state_with_something_that_is_no_number_changes_nothing(model: nn.MLP, bad: Any) -> None:
    state, before = nn.MLP(2, [3, 1]).state_dict(), bits(model)
    state["layers.1.neurons.0.b"] = bad
    with pytest.raises(NotANumberError, match=r"^parameter layers\.1\.neurons\.0\.b: "):
        model.load_state_dict(state)
    assert bits(model) == before


@pytest.mark.parametrize("state", [None, 3, "state", [("a", 1.0)]])
def test_what_is_no_state_at_all(model: nn.MLP, state: Any) -> None:
    with pytest.raises(SettingError, match="a state is a dict of numbers by name, not"):
        model.load_state_dict(state)


def test_save_and_load(model: nn.MLP, tmp_path: Path) -> None:
    model.layers[0].neurons[0].b.data = math.nan
    model.layers[0].neurons[1].b.data = -math.inf
    model.layers[0].neurons[2].b.data = -0.0
    model.save(tmp_path / "model.json")
    other = nn.MLP(2, [3, 1])
    other.load(str(tmp_path / "model.json"))
    assert bits(other) == bits(model)
    assert store.read(tmp_path / "model.json").keys() == model.state_dict().keys()


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (nn.MLP(2, [4, 1]), "model.json holds another model: MLP has 17 parameters and the state holds 13; missing: "),
        (nn.MLP(2, [2, 1]), "MLP has 9 parameters and the state holds 13; .*unexpected: .* and 1 more"),
        (
            nn.Layer(2, 3),
            "Layer has 9 parameters and the state holds 13; missing: neurons.0.w.0, .*; unexpected: layers",
        ),
    ],
)
def test_a_file_of_another_model_changes_nothing(model: nn.MLP, tmp_path: Path, other: nn.Module, message: str) -> None:
    model.save(tmp_path / "model.json")
    before = bits(other)
    with pytest.raises(ModelFileError, match=message):
        other.load(tmp_path / "model.json")
    assert bits(other) == before


def test_a_file_cut_short_anywhere_changes_nothing(model: nn.MLP, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    model.save(path)
    whole, before = path.read_bytes(), bits(model)
    for length in range(len(whole) - 2):  # the last two are the closing brace and the end of its line
        path.write_bytes(whole[:length])
        with pytest.raises(
            ModelFileError, match=r"model\.json is (truncated or damaged|not a gradwalk model file: it is empty)"
        ):
            model.load(path)
    assert bits(model) == before


@pytest.mark.parametrize("path", [None, 3, "", b"model.json", ["model.json"]])
def test_paths_that_are_none(model: nn.MLP, path: Any) -> None:
    for action in (model.save, model.load):
        with pytest.raises(GradwalkError, match=r"a model file has a path such as 'model\.json', not"):
            action(path)


def test_everything_public_is_exported() -> None:
    defined = {name for name, thing in vars(nn).items() if getattr(thing, "__module__", "") == "gradwalk.nn"}
    assert {name for name in defined if not name.startswith("_")} - {"T"} <= set(nn.__all__)
    assert set(losses.__all__) <= set(nn.__all__)
    assert all(hasattr(nn, name) for name in nn.__all__)


def test_parameters_that_would_not_be_found_are_refused() -> None:
    @dataclasses.dataclass
    class Pair:
        first: Any

    kept: list[Any] = [
        collections.deque([Value(1.0)]), {Value(1.0)}, frozenset([Value(1.0)]), Pair(Value(1.0)),
        np.array([Value(1.0), Value(2.0)]), collections.deque([nn.Neuron(1)]), Pair(gradwalk.Tensor([1.0])),
    ]  # fmt: skip
    for thing in kept:
        module = nn.Module()
        module.layers = [{"inner": thing}]  # type: ignore[attr-defined]
        for ask in (module.parameters, module.zero_grad, module.state_dict):
            with pytest.raises(SettingError, match=r"layers\.0\.inner is a \w+ with parameters in it"):
                ask()

    class Shared(nn.Module):
        weight = Value(1.0)

    class Slotted(nn.Module):
        __slots__ = ("weight",)

        def __init__(self) -> None:
            self.weight = Value(1.0)

    class Below(Slotted):
        pass

    class SharedMixin:
        bias = Value(1.0)

    class SlottedMixin:
        __slots__ = ("weight",)

    class Mixed(nn.Module, SharedMixin):
        pass

    class MixedSlots(nn.Module, SlottedMixin):
        def __init__(self) -> None:
            self.weight = nn.Neuron(1)

    for kind, what in (
        (Shared, "Shared.weight is a parameter of the class"), (Below, "Slotted.weight is a slot"),
        (Mixed, "SharedMixin.bias is a parameter of the class"), (MixedSlots, "SlottedMixin.weight is a slot"),
    ):  # fmt: skip
        with pytest.raises(SettingError, match=what):
            kind().parameters()


def test_memories_and_constants_hide_nothing() -> None:
    module = nn.Module()
    for name, x in {
        "seen": collections.deque([1.0, 2.0]), "losses": collections.deque([Value(1.0) * 2.0]), "names": {"a"},
        "table": np.arange(3.0), "words": np.array(["a", None], dtype=object), "f": lambda: Value(1.0), "w": Value(3.0),
    }.items():  # fmt: skip
        setattr(module, name, x)
    assert [name for name, _ in module.named_parameters()] == ["w"]


def test_what_is_found_elsewhere_or_is_never_trained_is_not_hidden() -> None:
    @dataclasses.dataclass
    class State:
        best: Any
        batch: Any = dataclasses.field(default_factory=lambda: gradwalk.zeros(2, requires_grad=False))

        def __getattr__(self, name: str) -> Any:
            raise RuntimeError(name)

    class Named:
        __slots__ = ("name",)

    class Model(Named, nn.Module):
        mean, places = gradwalk.Tensor([0.5], requires_grad=False), gradwalk.Tensor([1, 2])
        w = Value(0.0)  # each model has its own

        def __init__(self) -> None:
            self.w, self.layer, self.name = Value(1.0), nn.Neuron(1), "model"
            self.recent, self.frozen = collections.deque([self.w]), {self.layer}
            self.seen = collections.deque([gradwalk.Tensor([1])])
            self.state = State(self.w)

    assert [name for name, _ in Model().named_parameters()] == ["w", "layer.w.0", "layer.b"]
