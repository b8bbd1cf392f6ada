"""Lesson 9, first: a neuron, a layer and a network."""

from __future__ import annotations

import math
import random
from typing import Any

from gradwalk.diagnose.probes import Probe
from gradwalk.engine import Value
from gradwalk.learn.page.exercises.model import Exercise, Mistake, Tab

__all__ = ["NETWORK"]


def _tools() -> dict[str, Any]:
    return {"Value": Value, "math": math, "random": random}


_NEURON_HEAD = """\
class Neuron:
    def __init__(self, n):
        self.w = [Value(random.uniform(-1, 1)) for _ in range(n)]
        self.b = Value(0.0)

"""
_NEURON = (
    _NEURON_HEAD
    + """\
    def __call__(self, x):
        total = self.b
        for wi, xi in zip(self.w, x, strict=True):
            total = total + wi * xi
        return total.tanh()

    def parameters(self):
        return [*self.w, self.b]
"""
)
_SET = "n.w[0].data, n.w[1].data, n.b.data = -3.0, 1.0, 6.8813735870195432\n"

_NEURON_TAB = Tab(
    "Neuron",
    "Weights times inputs, plus the bias, through tanh. And the list of its knobs.",
    _NEURON_HEAD
    + """\
    def __call__(self, x):
        ...  # w[0]*x[0] + w[1]*x[1] + … + b, then tanh

    def parameters(self):
        ...  # all the knobs in one list: weights, then bias
""",
    _NEURON,
    ("Start from `self.b` and add `wi * xi` for each weight and input.",
     "`zip(self.w, x)` gives the pairs. But if `x` is too short, `zip` quietly stops early: `zip(self.w, x, "
     "strict=True)` complains instead.",
     "At the end `return total.tanh()`. The knobs are `[*self.w, self.b]`."),
    (Probe("the neuron of lesson four", f"random.seed(4)\nn = Neuron(2)\n{_SET}o = n([2.0, 0.0])\no.backward()",
           ("o.data", "n.w[0].grad", "n.w[1].grad", "n.b.grad")),
     Probe("other inputs", f"random.seed(4)\nn = Neuron(2)\n{_SET}o = n([2.0, -1.0])\no.backward()",
           ("o.data", "n.w[0].grad", "n.w[1].grad")),
     Probe("how many knobs",
           "random.seed(4)\nn = Neuron(3)\nknobs = len(n.parameters())\nown = float(n.parameters()[-1] is n.b)",
           ("knobs", "own")),
     Probe("two inputs for three weights",
           "random.seed(4)\nn = Neuron(3)\ntry:\n    n([1.0, 2.0])\nexcept Exception:\n    complains = "
           "1\nelse:\n    complains = 0\n", ("complains",))),
    (Mistake("a part is missing", (("total = self.b", "total = Value(0.0)"),), "The bias does not take part.",
             "What does the sum start from?"),
     Mistake("a part is missing", (("total.tanh()", "total"),), "The sum is right, but it was not squashed.",
             "What comes after the sum?"),
     Mistake("a part is missing", (("[*self.w, self.b]", "self.w"),),
             "The bias is not in the list of knobs, so nobody will ever turn it.",
             "How many knobs has a neuron with three inputs?"),
     Mistake("inputs cut short", ((", strict=True", ""),),
             "Given two inputs for three weights, your neuron leaves one weight out and says nothing. Such "
             "slips are hard to find later.", "`zip` has a way to be strict. Which?"),
     Mistake("wrong value", (("wi * xi", "wi + xi"),), "Weights and inputs are added here.",
             "What does a weight do to its input?"),
     Mistake("wrong value",
             (("            total = total + wi * xi\n        return total.tanh()",
               "            total = (total + wi * xi).tanh()\n        return total"),),
             "It is squashed after each term, not once at the end.", "Where does the `tanh` belong?"),
     Mistake("cut off", (("total.tanh()", "Value(math.tanh(total.data))"),),
             "The output is right, but no slope comes back: the result is a fresh box without a past.",
             "Is there a `.data` that should not be there?")),
    "A neuron, and it complains when its inputs do not fit.",
)  # fmt: skip

_LAYER = """\
class Layer:
    def __init__(self, inputs, outputs):
        self.neurons = [Neuron(inputs) for _ in range(outputs)]

    def __call__(self, x):
        return [neuron(x) for neuron in self.neurons]

    def parameters(self):
        return [p for neuron in self.neurons for p in neuron.parameters()]
"""
_COUNT = "for i, p in enumerate(layer.parameters()):\n    p.data = (i % 5 - 2) / 4\n"

_LAYER_TAB = Tab(
    "Layer",
    "A row of neurons that all see the same inputs. `Neuron` is there.",
    """\
class Layer:
    def __init__(self, inputs, outputs):
        self.neurons = ...  # as many as there are outputs

    def __call__(self, x):
        ...  # what each neuron says, in a list

    def parameters(self):
        ...  # the knobs of all neurons, in one flat list
""",
    _LAYER,
    ("`[Neuron(inputs) for _ in range(outputs)]` makes a new neuron each time round.",
     "`[neuron(x) for neuron in self.neurons]` asks each of them.",
     "For a flat list, two loops in one: `[p for neuron in self.neurons for p in neuron.parameters()]`."),
    (Probe("three neurons, two inputs",
           "random.seed(4)\nlayer = Layer(2, 3)\nouts = layer([1.0, -2.0])\nhow_many = len(outs)\nknobs = "
           "len(layer.parameters())\ndifferent = len({id(p) for p in layer.parameters()})",
           ("how_many", "knobs", "different")),
     Probe("what they say",
           f"random.seed(4)\nlayer = Layer(2, 3)\n{_COUNT}outs = layer([1.0, -2.0])\ny = outs[0] + outs[1] * "
            f"2 + outs[2] * 3\ny.backward()\nfirst, last = layer.parameters()[0].grad, "
            f"layer.parameters()[-1].grad", ("y.data", "first", "last"))),
    (Mistake("changed the wrong thing", (("[Neuron(inputs) for _ in range(outputs)]", "[Neuron(inputs)] * outputs"),),
             "All the neurons are one and the same box, three times in the list. They will always say the same.",
             "Does your line *make* a neuron each time round?"),
     Mistake("a part is missing", (("range(outputs)", "range(inputs)"),),
             "There are as many neurons as inputs, not as outputs.", "How many does the layer need?"),
     Mistake("a part is missing",
             (("p for neuron in self.neurons for p in neuron.parameters()",
               "neuron.parameters() for neuron in self.neurons"),),
             "It is a list of lists. Whoever turns the knobs wants one flat list.",
             "Can the loop go one level deeper?"),
     Mistake("a part is missing",
             (("[p for neuron in self.neurons for p in neuron.parameters()]", "self.neurons[0].parameters()"),),
             "Only the first neuron's knobs are in the list.", "And those of the others?")),
    "A row of neurons, each with knobs of its own.",
)  # fmt: skip

_MLP = """\
class MLP:
    def __init__(self, sizes):
        self.layers = [Layer(sizes[i], sizes[i + 1]) for i in range(len(sizes) - 1)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x[0] if len(x) == 1 else x

    def parameters(self):
        return [p for layer in self.layers for p in layer.parameters()]
"""
_SPREAD = "for i, p in enumerate(net.parameters()):\n    p.data = (i % 7 - 3) / 5\n"

_MLP_TAB = Tab(
    "MLP",
    "Layers in a row, each fed by the one before. `sizes` is [2, 4, 1] for two inputs, four hidden neurons, "
    "one output.",
    """\
class MLP:
    def __init__(self, sizes):
        self.layers = [Layer(sizes[i], sizes[i + 1]) for i in range(len(sizes) - 1)]

    def __call__(self, x):
        ...  # through all layers; what the last one says
        return x[0] if len(x) == 1 else x

    def parameters(self):
        ...
""",
    _MLP,
    ("What one layer gives is what the next one takes: `x = layer(x)`.",
     "`for layer in self.layers:` and nothing else.",
     "The knobs are gathered as in the layer, one level up."),
    (Probe("2, 4, 1",
           f"random.seed(4)\nnet = MLP([2, 4, 1])\n{_SPREAD}y = net([1.0, -2.0])\ny.backward()\nfirst, last = "
            f"net.parameters()[0].grad, net.parameters()[-1].grad", ("y.data", "first", "last")),
     Probe("2, 8, 8, 1", "knobs = len(MLP([2, 8, 8, 1]).parameters())", ("knobs",)),
     Probe("2, 3",
           f"random.seed(4)\nnet = MLP([2, 3])\n{_SPREAD}outs = net([0.5, 0.5])\nhow_many = len(outs)\nsecond "
            f"= outs[1].data", ("how_many", "second"))),
    (Mistake("a part is missing", (("            x = layer(x)\n", "            y = layer(x)\n        x = y\n"),),
             "Every layer was given the first inputs. Only the last one counted.",
             "What should the second layer be fed with?"),
     Mistake("a part is missing",
             (("        for layer in self.layers:\n            x = layer(x)\n", "        x = self.layers[0](x)\n"),),
             "Only the first layer was asked.", "Where are the others?"),
     Mistake("a part is missing",
             (("[p for layer in self.layers for p in layer.parameters()]", "self.layers[-1].parameters()"),),
             "Only one layer's knobs are in the list.", "And those of the others?"),
     Mistake("wrong order",
             (("for layer in self.layers:\n            x", "for layer in reversed(self.layers):\n            x"),),
             "The layers were asked from the last to the first. The walk *back* is the engine's business.",
             "Which layer sees the inputs first?")),
    "A network.",
)  # fmt: skip


def _with_neuron() -> dict[str, Any]:
    names = _tools()
    exec(_NEURON, names)
    exec(_LAYER, names)
    exec(_MLP, names)
    return names


NETWORK = Exercise(
    "network",
    "Neuron, layer, network",
    "definitions",
    {"Neuron": _NEURON_TAB, "Layer": _LAYER_TAB, "MLP": _MLP_TAB},
    _with_neuron,
)
