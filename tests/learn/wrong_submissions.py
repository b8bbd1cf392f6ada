"""Wrong submissions as learners write them, each with what must be said about it. Data only.

(tab, text, kind, lines, words that must stand in why or ask); lines are those painted red: no other may be.
"""

from __future__ import annotations

from gradwalk.learn.page.exercises import solutions

S = solutions()
ADD, MUL, TANH, STEP, NEURON = S["__add__"], S["__mul__"], S["tanh"], S["step"], S["Neuron"]

NEURON_OTHERWISE = """\
class Neuron:
    def __init__(self, n):
        self.w = [Value(random.uniform(-1, 1)) for _ in range(n)]
        self.b = Value(0.0)

    def __call__(self, x):
        act = {total}
        return {out}

    def parameters(self):
        return {parameters}
"""


def neuron(
    total: str = "sum((wi * xi for wi, xi in zip(self.w, x)), self.b)",
    out: str = "act.tanh()",
    parameters: str = "self.w + [self.b]",
) -> str:
    return NEURON_OTHERWISE.format(total=total, out=out, parameters=parameters)


def method(tab: str, *lines: str) -> str:
    """The solution of a method with another `_backward` in it."""
    head, _, rest = S[tab].partition("    def _backward():\n")
    return (
        head
        + "    def _backward():\n"
        + "".join(f"        {line}\n" for line in lines)
        + rest[rest.index("\n    out._") :]
    )


SUBMISSIONS: list[tuple[str, str, str, list[int], str]] = [
    # right where the upstream gradient is one, or the exponent two
    (
        "__pow__",
        S["__pow__"].replace("self.data ** (n - 1) * out.grad", "(self.data * out.grad) ** (n - 1)"),
        "wrong local derivative",
        [5],
        "The mistake is on line 5",
    ),
    # one of two that look alike
    ("tanh", TANH.replace("out.data ** 2", "out.grad ** 2"), "wrong local derivative", [5], "one `out.grad`"),
    # the root left out of the walk: no sign in the search is to blame
    (
        "backward",
        S["backward"].replace("reversed(order)", "order[-2::-1]"),
        "a part is missing",
        [],
        "`d` was never visited",
    ),
    # a number computed, shown or given back, and kept nowhere
    ("__add__", ADD.replace("+=", "+"), "thrown away", [6], "throws it away"),
    ("__mul__", MUL.replace("self.grad += other.data", "self.grad + other.data"), "thrown away", [6], "throws it away"),
    ("tanh", TANH.replace("self.grad +=", "self.grad =="), "thrown away", [5], "throws it away"),
    (
        "exp",
        S["exp"].replace("self.grad += out.data * out.grad", "return out.grad"),
        "thrown away",
        [5],
        "gives a number back",
    ),
    (
        "exp",
        S["exp"].replace("self.grad += out.data * out.grad", "print(out.data * out.grad)"),
        "thrown away",
        [5],
        "Printing",
    ),
    # the training step
    (
        "step",
        STEP.replace("    wrong.backward()\n", "").replace(
            "p.data -= rate * p.grad\n", "p.data -= rate * p.grad\n    wrong.backward()\n"
        ),
        "wrong order",
        [5],
        "before the walk",
    ),
    (
        "step",
        STEP.replace("p.data -= rate * p.grad", "p.data = rate * p.grad"),
        "overwritten",
        [7],
        "*set* to the step",
    ),
    ("step", STEP.replace("p.data -= rate * p.grad", "p.data = p.grad * rate"), "overwritten", [7], "`-=`"),
    ("step", STEP.replace("p.data -= rate * p.grad", "p.data = -rate * p.grad"), "overwritten", [7], "`-=`"),
    ("step", STEP.replace("p.data -=", "p.data +="), "wrong direction", [7], "uphill"),
    # gradients cleared as soon as they were pushed
    ("backward", S["backward"] + "        node.grad = 0.0\n", "not zeroed", [20], "as soon as it has pushed"),
    # what the engine does not know yet
    ("diamond", "a = Value(2.0)\nb = a + 1\nc = 3 * a\nd = b * c\nd.backward()\n", "error", [3], "lesson eight"),
    ("diamond", "a = Value(2.0)\nb = 1 + a\nc = a * 3\nd = b * c\nd.backward()\n", "error", [2], "lesson eight"),
    ("diamond", "a = Value(2.0)\nb = a - -1\nc = a * 3\nd = b * c\nd.backward()\n", "error", [2], "lesson eight"),
    # brackets
    (
        "tanh",
        TANH.replace("(1 - out.data ** 2) * out.grad", "1 - out.data**2 * out.grad"),
        "wrong local derivative",
        [5],
        "brackets",
    ),
    (
        "sigmoid",
        S["sigmoid"].replace("out.data * (1 - out.data)", "out.data * 1 - out.data"),
        "wrong local derivative",
        [5],
        "brackets",
    ),
    # neurons, as people write them
    ("Neuron", neuron(out="act"), "a part is missing", [], "squashed"),
    ("Neuron", neuron(total="sum(wi * xi for wi, xi in zip(self.w, x))"), "a part is missing", [], "bias"),
    ("Neuron", neuron(parameters="[self.w, self.b]"), "nested", [], "flat list"),
    ("Neuron", neuron(), "inputs cut short", [], "fit"),
    ("Neuron", NEURON.replace(", strict=True", ""), "inputs cut short", [8], "strict"),
    (
        "Neuron",
        NEURON.replace("total = self.b", "")
        .replace("total = total", "self.b = self.b")
        .replace("total.tanh", "self.b.tanh"),
        "keeps from call to call",
        [],
        "second",
    ),
    (
        "Layer",
        S["Layer"].replace(
            "p for neuron in self.neurons for p in neuron.parameters()",
            "neuron.parameters() for neuron in self.neurons",
        ),
        "nested",
        [9],
        "flat list",
    ),
    (
        "MLP",
        S["MLP"].replace(
            "p for layer in self.layers for p in layer.parameters()", "layer.parameters() for layer in self.layers"
        ),
        "nested",
        [12],
        "flat list",
    ),
    # names that do not exist
    ("exp", S["exp"].replace("out.grad", "out.gard"), "slip", [5], "`grad`"),
    ("exp", S["exp"].replace("out.data * out.grad", "ot.data * out.grad"), "error", [5], "`out`"),
    ("exp", S["exp"].replace("self.grad +=", "self.gard ="), "slip", [5], "`grad`"),
    (
        "__pow__",
        S["__pow__"].replace("self.data ** (n - 1)", "self.data ^ (n - 1)"),
        "slip",
        [5],
        "`**`",
    ),
    # a slope by division
    (
        "__mul__",
        MUL.replace("other.data * out.grad", "out.grad / other.data").replace(
            "self.data * out.grad", "out.grad / self.data"
        ),
        "wrong local derivative",
        [6, 7],
        "divided",
    ),
    (
        "tanh",
        TANH.replace("(1 - out.data ** 2)", "(math.tanh(self.data + 0.0001) - out.data) / 0.0001"),
        "wrong local derivative",
        [5],
        "measured",
    ),
    # a classic, in one line only, and in another hand
    ("__mul__", MUL.replace("other.grad +=", "other.grad ="), "overwritten", [7], "`+=`"),
    ("__mul__", MUL.replace("self.grad +=", "self.grad =+"), "overwritten", [6], "`+=`"),
    (
        "step",
        STEP.replace("        p.grad = 0.0\n", "        p.grad = 0.0\n        p.data = 0.0\n"),
        "slip",
        [5],
        "line 5",
    ),
    # two lines alike: the second should have been about the other operand
    ("__add__", ADD.replace("other.grad", "self.grad"), "changed the wrong thing", [7], "Line 7"),
    # read or written at the wrong time
    (
        "__mul__",
        MUL.replace("* out.grad", "* g").replace("    def _", "    g = out.grad\n\n    def _"),
        "wrong order",
        [5],
        "is being made",
    ),
    (
        "backward",
        S["backward"]
        .replace("    self.grad = 1.0\n", "")
        .replace("    visit(self)", "    self.grad = 1.0\n    visit(self)"),
        "wrong order",
        [],
        "sets it back to zero",
    ),
    # what Python says is explained
    ("__pow__", S["__pow__"].replace("+= n *", "+= n.data *"), "slip", [5], "plain number for its `data`"),
    ("diamond", "a = 2.0\nb = a + 1\nc = a * 3\nd = b * c\nd.backward()\n", "slip", [5], "Only a Value has one"),
    ("diamond", "a = Value(2.0)\nd = (a + 1) * (a * 3)\nd.backward()\n", "a part is missing", [], "looks at `b`"),
    (
        "backward",
        S["backward"].replace("reversed(order)", "order.reverse()"),
        "slip",
        [18],
        "`reversed(order)`",
    ),
    ("backward", S["backward"].replace("node._backward()", "node.backward()"), "error", [19], "only its `_backward`"),
    ("tanh", TANH.replace("out.data ** 2", "np.tanh(self.data) ** 2"), "error", [5], "NumPy"),
    ("step", STEP.replace("wrong.data", "wrong"), "changed the wrong thing", [], "Is a `.data` missing?"),
    (
        "step",
        STEP.replace("    for p in model.parameters():\n        p.grad = 0.0\n", "    model.zero_grad()\n"),
        "error",
        [3],
        "no `zero_grad` here yet",
    ),
    # operands that the walk cannot find, and a function that gives back what it should write
    ("__mul__", MUL.replace('(self, other), "*"', '(self,), "*"'), "cut off", [3], "go on to it"),
    ("__add__", ADD.replace('(self, other), "+"', '(other,), "+"'), "wrong value", [3], "line 3"),
    ("exp", S["exp"].replace("(self,), ", "(), "), "cut off", [2], "ends there"),
    (
        "__mul__",
        MUL[: MUL.index("\n    def")] + "    out._backward = lambda: other.data * out.grad\n    return out\n",
        "not implemented",
        [],
        "No line of yours writes",
    ),
    # one walk for each parameter
    (
        "step",
        "def step(model, xs, ys, rate):\n    wrong = loss([model(x) for x in xs], ys)\n"
        "    for p in model.parameters():\n        p.grad = 0.0\n        wrong.backward()\n"
        "        p.data -= rate * p.grad\n    return wrong.data\n",
        "counted twice",
        [],
        "once for each parameter",
    ),
    # a leaf that nothing is made from
    (
        "diamond",
        "a = Value(2.0)\nb = Value(2.0) + 1\nc = Value(2.0) * 3\nd = b * c\nd.backward()\n",
        "cut off",
        [2, 3],
        "`a` itself",
    ),
    # a gate that looks at the wrong number
    (
        "relu",
        S["relu"].replace("(self.data > 0) * out.grad", "max(0, out.grad)"),
        "wrong local derivative",
        [5],
        "a positive input",
    ),
    # networks, in other hands
    (
        "Neuron",
        NEURON.replace("total = self.b", "total = Value(0.0)").replace("wi * xi", "wi * xi + self.b"),
        "wrong value",
        [9],
        "once for each input",
    ),
    (
        "Neuron",
        NEURON.replace("total = self.b", "total = Value(0.0)").replace("total.tanh()", "total.tanh() + self.b"),
        "wrong order",
        [10],
        "after the squashing",
    ),
    (
        "Neuron",
        NEURON.replace("return [*self.w, self.b]", "self.w.append(self.b)\n        return self.w"),
        "keeps from call to call",
        [13],
        "once more",
    ),
    (
        "MLP",
        S["MLP"].replace("x = layer(x)", "out = layer(x)").replace("x[0] if len(x) == 1 else x", "out"),
        "a part is missing",
        [],
        "the first inputs",
    ),
    (
        "loss",
        S["loss"].replace(" ** 2", "").replace("return total", "return total ** 2"),
        "wrong order",
        [4, 5],
        "not each difference",
    ),
    (
        "step",
        "def step(model, xs, ys, rate):\n    for x, y in zip(xs, ys):\n        wrong = loss([model(x)], [y])\n"
        "        for p in model.parameters():\n            p.grad = 0.0\n        wrong.backward()\n"
        "        for p in model.parameters():\n            p.data -= rate * p.grad\n    return wrong.data\n",
        "wrong order",
        [2, 3],
        "a step of its own",
    ),
    # tensors, in other hands
    (
        "unbroadcast",
        "def unbroadcast(grad, shape):\n    for axis, n in enumerate(shape):\n        if n == 1:\n"
        "            grad = grad.sum(axis, keepdim=True)\n    return grad\n",
        "forgotten sum",
        [],
        "added in front",
    ),
    (
        "unbroadcast",
        "def unbroadcast(grad, shape):\n    while len(grad.shape) > len(shape):\n        grad = grad.sum(0)\n"
        "    for axis in range(len(shape)):\n        if shape[axis] == 1:\n            grad = grad.sum(axis)\n"
        "    return grad\n",
        "lost axis",
        [],
        "took its axis away",
    ),
    ("unbroadcast", S["unbroadcast"].replace("size == 1", "size == 2"), "slip", [5], "line 5"),
    ("unbroadcast", S["unbroadcast"].replace("while", "if"), "a part is missing", [2], "several"),
    (
        "unbroadcast",
        S["unbroadcast"].replace("            grad = grad.sum", "            grad.sum"),
        "thrown away",
        [6],
        "throws it away",
    ),
    ("unbroadcast", S["unbroadcast"].replace("    return grad\n", ""), "not implemented", [], "`return`"),
    ("unbroadcast", "def unbroadcast(grad, shape):\n    return grad.reshape(shape)\n", "error", [2], "6 numbers"),
    ("unbroadcast", "def unbroadcast(grad, shape):\n    return grad.sum(dim=0)\n", "shape", [], "(2, 1)"),
    (
        "sum",
        method("sum", "self.grad += ones(self.data.shape) * out.grad"),
        "lost axis",
        [5],
        "lines up with the wrong",
    ),
    ("sum", method("sum", "self.grad += 1"), "forgets the upstream gradient", [5], "received a one"),
    (
        "max",
        method(
            "max",
            "mask = self.data == self.data.max(dim=dim, keepdim=True)",
            "self.grad += mask * out.grad.unsqueeze(dim)",
        ),
        "counted twice",
        [],
        "In a tie",
    ),
    ("max", method("max", "self.grad += out.grad.unsqueeze(dim)"), "wrong local derivative", [], "as in a sum"),
    (
        "matmul",
        method("matmul", "self.grad = out.grad @ other.data.T", "other.grad = self.data.T @ out.grad"),
        "overwritten",
        [5, 6],
        "`+=`",
    ),
    (
        "matmul",
        S["matmul"].replace("self.data.T @ out.grad", "self.data.T @ out.data"),
        "forgets the upstream gradient",
        [6],
        "`out.data`",
    ),
    (
        "matmul",
        S["matmul"].replace("self.data.T @ out.grad", "(self.data @ out.grad).T"),
        "wrong local derivative",
        [6],
        "line 6",
    ),
    (
        "take",
        method("take", "for k in range(len(rows)):", "    self.grad[rows[k]] = out.grad[k]"),
        "overwritten",
        [6],
        "its last use",
    ),
    ("take", method("take", "self.grad[rows] = self.grad[rows] + out.grad"), "overwritten", [], "famous trap"),
    (
        "take",
        method("take", "for k, i in enumerate(rows):", "    self.grad[i] + out.grad[k]"),
        "thrown away",
        [6],
        "kept",
    ),
    ("take", method("take", "self.grad += out.grad"), "error", [5], "do not fit"),
    # a whole network, in other hands
    (
        "linear_back",
        "def linear_back(g, x, W):\n    return g @ W.T, x.T @ g, g\n",
        "forgotten sum",
        [],
        "was not added up",
    ),
    ("linear_back", "def linear_back(g, x, W):\n    return g @ W, x @ g, g.sum(0)\n", "wrong transpose", [], "Both"),
    ("linear_back", S["linear_back"].replace("    return d_x, d_W, d_b\n", ""), "not implemented", [], "`return`"),
    ("tanh_back", "def tanh_back(d_h, h):\n    return d_h * (1 + h * h)\n", "wrong value", [2], "`+`"),
    (
        "embedding_back",
        "def embedding_back(d_e, X, C):\n    d_C = zeros(C.shape)\n    for i in range(len(X)):\n"
        "        d_C[X[i]] += d_e[i]\n    return d_C\n",
        "overwritten",
        [],
        "written twice",
    ),
    (
        "embedding_back",
        "def embedding_back(d_e, X, C):\n    d_C = zeros(C.shape)\n    for i in range(len(X)):\n"
        "        for j in range(len(X[i])):\n            d_C[X[i][j]] = d_e[i][j]\n    return d_C\n",
        "overwritten",
        [5],
        "the last place",
    ),
    (
        "cross_entropy_back",
        S["cross_entropy_back"].replace("(probs - right) / n", "(right - probs) * (1 / n)"),
        "wrong value",
        [7],
        "sign",
    ),
    (
        "cross_entropy_steps",
        S["cross_entropy_steps"].replace("/ total + d_total", "/ total - d_total"),
        "wrong value",
        [14],
        "`-`",
    ),
    (
        "batch_norm_steps",
        S["batch_norm_steps"].replace("(d_xhat * diff).sum", "(d_xhat * x).sum"),
        "wrong value",
        [13],
        "`x`",
    ),
    (
        "batch_norm_back",
        S["batch_norm_back"].replace("d_xhat = d_y * gamma", "d_xhat = d_y"),
        "wrong value",
        [3],
        "line 3",
    ),
]
