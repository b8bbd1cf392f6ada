"""Lesson 9, first: a neuron, a layer and a network."""

from __future__ import annotations

from dataclasses import replace

from gradwalk.diagnose.probes import Probe
from gradwalk.learn.page.exercises.model import Exercise, Mistake, Tab

__all__ = ["NETWORK"]


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

_LENIENT = (", strict=True", "")
_SUM = "            total = total + wi * xi\n"
_NEURON_MISTAKES = (
    Mistake("a part is missing", (("total = self.b", "total = Value(0.0)"),), "The bias is not used.",
            "What does the sum start from?"),
    Mistake("a part is missing", (("total.tanh()", "total"),), "The sum is right, but it was not squashed.",
            "What comes after the sum?"),
    Mistake("a part is missing", (("total = self.b", "total = Value(0.0)"), ("total.tanh()", "total")),
            "The bias is not used, and the sum is not squashed.",
            "What does the sum start from, and what comes after it?"),
    Mistake("a part is missing", (("[*self.w, self.b]", "self.w"),),
            "The bias is not in the list of parameters, so training will never change it.",
            "How many parameters does a neuron with three inputs have?"),
    Mistake("nested", (("[*self.w, self.b]", "[self.w, self.b]"),),
            "The list of weights is one item of your list. One flat list was asked for.",
            "How do you put the weights themselves into the list?"),
    Mistake("nested", (("[*self.w, self.b]", "self.w, self.b"),),
            "You give back two things, a list and a Value. One flat list was asked for.",
            "How do you put the weights themselves into the list?"),
    Mistake("keeps from call to call",
            (("total = self.b", "pass"), ("total = total + wi * xi", "self.b = self.b + wi * xi"),
             ("total.tanh()", "self.b.tanh()")),
            "The first call is right, and the second is not: each call changes `self.b`, the bias itself.",
            "Which line writes to `self.b`? What should it write to instead?"),
    Mistake("wrong value", (("wi * xi", "wi + xi"),), "Weights and inputs are added here.",
            "What does a weight do to its input?"),
    Mistake("wrong value",
            ((_SUM + "        return total.tanh()",
              "            total = (total + wi * xi).tanh()\n        return total"),),
            "It is squashed after each term, not once at the end.", "Where does the `tanh` belong?"),
    Mistake("wrong value", (("total = self.b", "total = Value(0.0)"), ("total + wi * xi", "total + wi * xi + self.b")),
            "The bias is added once for each input. Once is enough.", "Does `self.b` belong in the loop?",
            innocent=("total = Value(0.0)",)),
    Mistake("wrong order", (("total = self.b", "total = Value(0.0)"), ("total.tanh()", "total.tanh() + self.b")),
            "The bias is added after the squashing. It belongs in the sum.", "What should `tanh` be given?",
            innocent=("total = Value(0.0)",)),
    Mistake("keeps from call to call",
            (("return [*self.w, self.b]", "self.w.append(self.b)\n        return self.w"),),
            "Each call of `parameters` puts the bias into `self.w`, the list of weights itself, once more.",
            "How do you make a new list, and leave `self.w` as it is?", innocent=("return self.w",)),
    Mistake("overwritten", (("total = total + wi * xi", "total = wi * xi"),),
            "Only the last product is left: each one replaced the one before.", "What should be added to what?"),
    Mistake("cut off", (("total.tanh()", "Value(math.tanh(total.data))"),),
            "The output is right, but no slope comes back: the result is a new Value without a history.",
            "Is there a `.data` that should not be there?"),
)  # fmt: skip

_NEURON_TAB = Tab(
    "Neuron",
    "Weights times inputs, plus the bias, through tanh. And the list of its parameters.",
    _NEURON_HEAD
    + """\
    def __call__(self, x):
        ...  # w[0]*x[0] + w[1]*x[1] + … + b, then tanh

    def parameters(self):
        ...  # all parameters in one list: weights, then bias
""",
    _NEURON,
    ("Start from `self.b` and add `wi * xi` for each weight and input.",
     "`zip(self.w, x)` gives the pairs. But if `x` is too short, `zip` stops early without a word. "
     "`zip(self.w, x, strict=True)` raises an error instead.",
     "At the end, `return total.tanh()`. The parameters are `[*self.w, self.b]`."),
    (Probe("the neuron of lesson four", f"random.seed(4)\nn = Neuron(2)\n{_SET}o = n([2.0, 0.0])\no.backward()",
           ("o.data", "n.w[0].grad", "n.w[1].grad", "n.b.grad")),
     Probe("other inputs", f"random.seed(4)\nn = Neuron(2)\n{_SET}o = n([2.0, -1.0])\no.backward()",
           ("o.data", "n.w[0].grad", "n.w[1].grad")),
     Probe("the same neuron, called twice",
           f"random.seed(4)\nn = Neuron(2)\n{_SET}n([2.0, 0.0])\no = n([2.0, 0.0])\no.backward()",
           ("o.data", "n.b.grad", "n.b.data")),
     Probe("how many parameters",
           "random.seed(4)\nn = Neuron(3)\nn.parameters()\ncount = len(n.parameters())\n"
           "last_is_bias = float(n.parameters()[-1] is n.b)",
           ("count", "last_is_bias")),
     Probe("two inputs for three weights",
           "random.seed(4)\nn = Neuron(3)\ntry:\n    n([1.0, 2.0])\nexcept Exception:\n    complains = "
           "1\nelse:\n    complains = 0\n", ("complains",))),
    (*_NEURON_MISTAKES,
     Mistake("inputs cut short", (_LENIENT,),
             "Where the inputs fit, your neuron is right. But given two inputs for three weights, it leaves one weight "
             "out and says nothing. Such slips are hard to find later.", "`zip` can be strict. How?",
             "Right, except for inputs that do not fit"),
     *(replace(mistake, edits=(*mistake.edits, _LENIENT)) for mistake in _NEURON_MISTAKES)),
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
        ...  # the outputs of all neurons, in a list

    def parameters(self):
        ...  # the parameters of all neurons, in one flat list
""",
    _LAYER,
    ("`[Neuron(inputs) for _ in range(outputs)]` makes a new neuron each time round.",
     "`[neuron(x) for neuron in self.neurons]` calls each of them.",
     "For a flat list, two loops in one: `[p for neuron in self.neurons for p in neuron.parameters()]`."),
    (Probe("three neurons, two inputs",
           "random.seed(4)\nlayer = Layer(2, 3)\nouts = layer([1.0, -2.0])\nhow_many = len(outs)\ncount = "
           "len(layer.parameters())\ndifferent = len({id(p) for p in layer.parameters()})",
           ("how_many", "count", "different")),
     Probe("their outputs, called twice",
           f"random.seed(4)\nlayer = Layer(2, 3)\n{_COUNT}layer([1.0, -2.0])\nouts = layer([1.0, -2.0])\n"
            f"y = outs[0] + outs[1] * "
            f"2 + outs[2] * 3\ny.backward()\nfirst, last = layer.parameters()[0].grad, "
            f"layer.parameters()[-1].grad", ("y.data", "first", "last"))),
    (Mistake("changed the wrong thing", (("[Neuron(inputs) for _ in range(outputs)]", "[Neuron(inputs)] * outputs"),),
             "All the neurons are one and the same, three times in the list. They will always give the same output.",
             "Does your line *make* a new neuron each time?"),
     Mistake("a part is missing", (("range(outputs)", "range(inputs)"),),
             "There are as many neurons as inputs, not as outputs.", "How many does the layer need?"),
     Mistake("nested",
             (("p for neuron in self.neurons for p in neuron.parameters()",
               "neuron.parameters() for neuron in self.neurons"),),
             "It is a list of lists. One flat list was asked for.",
             "Can the loop go one level deeper?"),
     Mistake("a part is missing",
             (("[p for neuron in self.neurons for p in neuron.parameters()]", "self.neurons[0].parameters()"),),
             "Only the first neuron's parameters are in the list.", "What about those of the others?")),
    "A row of neurons, each with parameters of its own.",
)  # fmt: skip

_MLP = """\
class MLP:
    def __init__(self, sizes):
        pairs = zip(sizes, sizes[1:])
        self.layers = [Layer(n, m) for n, m in pairs]

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
        pairs = zip(sizes, sizes[1:])
        self.layers = [Layer(n, m) for n, m in pairs]

    def __call__(self, x):
        ...  # through all layers, one after the other
        return x[0] if len(x) == 1 else x

    def parameters(self):
        ...
""",
    _MLP,
    ("The outputs of one layer are the inputs of the next: `x = layer(x)`.",
     "Do that `for layer in self.layers:`.",
     "Collect the parameters as in the layer, one level up."),
    (Probe("2, 4, 1",
           f"random.seed(4)\nnet = MLP([2, 4, 1])\n{_SPREAD}net([1.0, -2.0])\ny = net([1.0, -2.0])\ny.backward()\n"
            f"first, last = "
            f"net.parameters()[0].grad, net.parameters()[-1].grad", ("y.data", "first", "last")),
     Probe("2, 2, 2",
           f"random.seed(4)\nnet = MLP([2, 2, 2])\n{_SPREAD}out = net([1.0, -2.0])[0].data", ("out",)),
     Probe("2, 8, 8, 1", "count = len(MLP([2, 8, 8, 1]).parameters())", ("count",)),
     Probe("2, 3",
           f"random.seed(4)\nnet = MLP([2, 3])\n{_SPREAD}outs = net([0.5, 0.5])\nhow_many = len(outs)\nsecond "
            f"= outs[1].data", ("how_many", "second"))),
    (Mistake("a part is missing", (("            x = layer(x)\n", "            y = layer(x)\n        x = y\n"),),
             "Every layer was given the first inputs. Only the last one counted.",
             "What should the second layer be fed with?"),
     Mistake("a part is missing",
             (("        for layer in self.layers:\n            x = layer(x)\n", "        x = self.layers[0](x)\n"),),
             "Only the first layer was used.", "What about the others?"),
     Mistake("a part is missing",
             (("[p for layer in self.layers for p in layer.parameters()]", "self.layers[-1].parameters()"),),
             "Only one layer's parameters are in the list.", "What about those of the others?"),
     Mistake("wrong order",
             (("for layer in self.layers:\n            x", "for layer in reversed(self.layers):\n            x"),),
             "The layers were used from the last to the first. Only the backward pass goes that way.",
             "Which layer sees the inputs first?"),
     Mistake("nested", (("p for layer in self.layers for p in layer.parameters()",
                         "layer.parameters() for layer in self.layers"),),
             "It is a list of lists. One flat list was asked for.", "Can the loop go one level deeper?")),
    "A network.",
)  # fmt: skip

NETWORK = Exercise(
    "network",
    "Neuron, layer, network",
    "definitions",
    {"Neuron": _NEURON_TAB, "Layer": _LAYER_TAB, "MLP": _MLP_TAB},
    "\n".join([_NEURON, _LAYER, _MLP]),
)
