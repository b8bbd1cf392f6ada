"""Neural networks: modules that hold Values and find them again, neurons, layers, and the losses to train them.

The numbers are micrograd's: the same weights after the same `random.seed`, the same outputs to the last bit.
"""

from __future__ import annotations

import math
import operator
import random
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from operator import methodcaller, mul
from typing import TYPE_CHECKING, Any, TypeVar

from gradwalk.engine import Value
from gradwalk.errors import InputSizeError, NotANumberError, SettingError
from gradwalk.functions import listed, operand, real, size
from gradwalk.losses import binary_cross_entropy, cross_entropy, hinge, log_softmax, logsumexp, mse, softmax
from gradwalk.messages import reason_of, say
from gradwalk.module import Module, kind_of
from gradwalk.ops import TABLE, Op, comes_later

if TYPE_CHECKING:
    from gradwalk.layers import BatchNorm1d as BatchNorm1d
    from gradwalk.layers import Dropout as Dropout
    from gradwalk.layers import Embedding as Embedding
    from gradwalk.layers import LayerNorm as LayerNorm
    from gradwalk.layers import Linear as Linear
    from gradwalk.layers import Sequential as Sequential

__all__ = [
    "ACTIVATIONS",
    "INITS",
    "MLP",
    "Layer",
    "Module",
    "Neuron",
    "binary_cross_entropy",
    "cross_entropy",
    "hinge",
    "log_softmax",
    "logsumexp",
    "mse",
    "softmax",
]

T = TypeVar("T")


def __getattr__(name: str) -> Any:
    """What works on tensors is loaded when it is asked for; `functional` is the package itself, which has all of it."""
    if name in ("BatchNorm1d", "Dropout", "Embedding", "LayerNorm", "Linear", "Sequential"):
        from gradwalk import layers

        return getattr(layers, name)
    if name == "functional":
        import gradwalk

        return gradwalk
    if name.startswith("_"):
        raise AttributeError(f"module 'gradwalk.nn' has no attribute {name!r}")
    from gradwalk.instead import missing

    raise missing("gradwalk.nn", name)


# `import gradwalk.nn.functional as F` looks for a module of that name.
sys.modules[f"{__name__}.functional"] = sys.modules["gradwalk"]


# --- choices by name ---------------------------------------------------------------------------------------------

#: Activations by name, and what a neuron with it is called. Each but `linear` is a method of `Value`.
ACTIVATIONS = {
    "leaky_relu": "LeakyReLU",
    "linear": "Linear",
    "relu": "ReLU",
    "sigmoid": "Sigmoid",
    "softplus": "Softplus",
    "tanh": "Tanh",
}

#: Initialisations by name: one weight for a layer of `nin` inputs and `nout` outputs.
INITS: dict[str, Callable[[int, int], float]] = {
    "kaiming": lambda nin, nout: _within(math.sqrt(6.0 / nin)),  # signals keep their size through relu layers
    "uniform": lambda nin, nout: _within(1.0),  # micrograd's
    "xavier": lambda nin, nout: _within(math.sqrt(6.0 / (nin + nout))),  # … and through tanh layers, both ways
    "zeros": lambda nin, nout: 0.0,
}

Activation = str | Callable[[Any], Any]
Init = str | Callable[[int, int], float]


def _within(limit: float) -> float:
    return random.uniform(-limit, limit)


def _activation(choice: Activation) -> tuple[str, Callable[[Any], Any]]:
    """What a neuron with this activation is called, and the activation as a function."""
    if isinstance(choice, Op) and choice.name in ACTIVATIONS and TABLE[choice.name] is choice:
        choice = choice.name  # activation=gradwalk.tanh is the same as activation="tanh"
    if callable(choice):
        name = str(getattr(choice, "__name__", "") or getattr(choice, "name", ""))
        return (name[:1].upper() + name[1:] if name.isidentifier() else "Custom"), choice
    title = _named("activation", choice, ACTIVATIONS)
    return title, _unchanged if choice == "linear" else methodcaller(choice)


_unchanged = operator.pos


def _named(what: str, choice: Any, table: Mapping[str, T]) -> T:
    if not isinstance(choice, str):
        kind = type(choice).__name__
        raise SettingError(
            say(
                "{what} is a name ({names}) or a function, not {kind}: {given}",
                what=what,
                names=", ".join(table),
                kind=kind,
                given=f"{choice!r:.60}",
            )
        )
    if choice not in table:
        raise SettingError(
            say(
                "no {what} is called {name}; there are {names}",
                what=what,
                name=f"{choice!r:.60}",
                names=", ".join(table),
            )
        )
    return table[choice]


# --- neurons, layers, networks -----------------------------------------------------------------------------------


class Neuron(Module):
    """A weighted sum of its inputs plus a bias, and an activation: micrograd's relu unless told otherwise.

    `activation` is a name (see `ACTIVATIONS`) or a function of a Value; `nonlin=False` leaves it out. `init` is a
    name (see `INITS`) or a function of the numbers of inputs and outputs that gives one weight; the bias starts at 0.

    >>> nn.Neuron(2), nn.Neuron(2, nonlin=False), nn.Neuron(3, activation="tanh")
    (ReLUNeuron(2), LinearNeuron(2), TanhNeuron(3))
    >>> nn.Neuron(2, init=lambda nin, nout: 0.5)([1.0, 3.0]).data
    2.0
    """

    def __init__(
        self, nin: int, nonlin: bool = True, *, activation: Activation = "relu", init: Init = "uniform"
    ) -> None:
        if isinstance(nonlin, str) or callable(nonlin):
            raise SettingError(
                say("nonlin is True or False, not {given}; write activation={given}", given=f"{nonlin!r:.60}")
            )
        nin = size("nin", nin)
        self._title, self._activate = _activation(activation)
        draw = init if callable(init) else _named("init", init, INITS)
        self.w = [Value(real(draw(nin, 1), "init, for weight", i)) for i in range(1, nin + 1)]
        self.b = Value(0.0)
        self.nonlin = bool(nonlin) and self._activate is not _unchanged

    def __call__(self, x: Any) -> Any:
        """The neuron's output for `nin` inputs, Values or numbers.

        >>> nn.Neuron(2, init="zeros")([Value(1.0), 2])
        Value(data=0.0, grad=0.0)
        """
        w = self.w
        if x.__class__ is not _Inputs or len(x) != len(w):  # a Layer has looked at them once for all its neurons
            x = _inputs(self, x, len(w))
        total = x.weighted_sum(w, x, self.b) if x.weighted_sum is not None else None
        if total is None:
            total = sum(map(mul, w, x), self.b)  # b + w[0]*x[0] + w[1]*x[1] + …, in micrograd's order
        return self._activate(total) if self.nonlin else total

    def __repr__(self) -> str:
        return f"{self._kind()}Neuron({len(self.w)})"

    def _kind(self) -> str:
        return self._title if self.nonlin else ACTIVATIONS["linear"]


class Layer(Module):
    """Neurons side by side on the same inputs; options are those of `Neuron`. One neuron gives a Value, more a list.

    >>> nn.Layer(2, 3, activation="tanh")
    Layer of [TanhNeuron(2), TanhNeuron(2), TanhNeuron(2)]
    >>> len(nn.Layer(2, 3)([1.0, -2.0]))
    3
    """

    def __init__(
        self, nin: int, nout: int, *, nonlin: bool = True, activation: Activation = "relu", init: Init = "uniform"
    ) -> None:
        self.nin, nout = size("nin", nin), size("nout", nout)
        draw = init if callable(init) else _named("init", init, INITS)

        def weight(nin: int, _: int) -> float:  # a neuron alone does not know how many stand beside it
            return draw(nin, nout)

        self.neurons = [Neuron(nin, nonlin, activation=activation, init=weight) for _ in range(nout)]

    def __call__(self, x: Any) -> Any:
        """The output of every neuron, for `nin` inputs.

        >>> nn.Layer(2, 3)([1.0, 2.0, 3.0])
        Traceback (most recent call last):
        ...
        gradwalk.errors.InputSizeError: Layer of 3 ReLU neurons takes 2 inputs and was given 3
        """
        x = _inputs(self, x, self.nin)
        out = [neuron(x) for neuron in self.neurons]
        return out[0] if len(out) == 1 else out

    def __repr__(self) -> str:
        return f"Layer of [{', '.join(map(repr, self.neurons))}]"


class MLP(Module):
    """Layers one after the other: a multi-layer perceptron. `nouts` holds the number of neurons of each.

    `activation` is that of the hidden layers and `output` that of the last; with one output neuron a call gives a
    Value, with more a list.

    >>> random.seed(1337)
    >>> model = nn.MLP(2, [2, 1])
    >>> model
    MLP of [Layer of [ReLUNeuron(2), ReLUNeuron(2)], Layer of [LinearNeuron(2)]]
    >>> round(model([1.0, -2.0]).data, 6)
    -0.068496
    """

    def __init__(
        self,
        nin: int,
        nouts: Sequence[int],
        *,
        activation: Activation = "relu",
        output: Activation = "linear",
        init: Init = "uniform",
    ) -> None:
        widths = list(nouts) if isinstance(nouts, Iterable) and not isinstance(nouts, (str, bytes, dict, set)) else []
        if not widths:
            raise SettingError(
                say(
                    "nouts lists the number of neurons of each layer, as in [16, 16, 1]; it was {given}",
                    given=f"{nouts!r:.60}",
                )
            )
        sizes = [size("nin", nin), *(size(f"nouts[{i}]", n) for i, n in enumerate(widths))]
        _activation(activation)  # a wrong name is wrong even if there is no hidden layer to use it
        each = [activation] * (len(widths) - 1) + [output]
        self.layers = [
            Layer(before, after, activation=choice, init=init)
            for (before, after), choice in zip(pairwise(sizes), each, strict=True)
        ]

    def __call__(self, x: Any) -> Any:
        """The output of the last layer, for one sample of `nin` inputs.

        >>> len(nn.MLP(2, [1, 3])([1.0, -2.0]))
        3
        >>> nn.MLP(2, [4, 1])([1.0, 2.0, 3.0])
        Traceback (most recent call last):
        ...
        gradwalk.errors.InputSizeError: layer 1 of MLP: Layer of 4 ReLU neurons takes 2 inputs and was given 3
        """
        depth = 0
        try:
            for layer in self.layers:
                depth += 1
                x = layer(x)
        except (InputSizeError, NotANumberError) as error:
            raise type(error)(
                say("layer {depth} of {kind}: {said}", depth=depth, kind=kind_of(self), said=reason_of(error))
            ) from None
        return x

    def __repr__(self) -> str:
        return f"MLP of [{', '.join(map(repr, self.layers))}]"


# --- inputs ------------------------------------------------------------------------------------------------------


class _Inputs(list[Any]):
    """Inputs that have been looked at: as many as they should be, each a Value or a float."""

    weighted_sum: Any = None  # how the first of them writes down a whole neuron at once, if it stands for a number


def _inputs(taker: Neuron | Layer, x: Any, nin: int) -> _Inputs:
    given = x if x.__class__ is list else listed(x, _title(taker), f"{nin} inputs")
    if len(given) != nin:
        taken = say("{count} inputs", count=nin) if nin != 1 else say("1 input")
        raise InputSizeError(
            say("{taker} takes {taken} and was given {count}", taker=_title(taker), taken=taken, count=len(given))
        )
    checked = _Inputs(given)
    for i, xi in enumerate(given):
        if xi.__class__ is not Value and xi.__class__ is not float and not isinstance(xi, Value):
            checked[i] = operand(xi, f"{_title(taker)}: input", i + 1)
    if checked and comes_later(checked[0]):
        checked.weighted_sum = getattr(type(checked[0]), "weighted_sum", None)
    return checked


def _title(taker: Neuron | Layer) -> str:
    if isinstance(taker, Layer):
        first = taker.neurons[0]
        kind = first._kind() if isinstance(first, Neuron) else kind_of(first)
        return f"Layer of {len(taker.neurons)} {kind} neuron{'s' * (len(taker.neurons) != 1)}"
    return repr(taker)
