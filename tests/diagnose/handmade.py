"""Edits of one clean engine, each with the truth about it: 61 engines for tests of the grader.

`ENGINES` maps a name to an `Engine` with its `source`, its `verdict` and `what`, the truth in plain words. The verdict is
`right` (nothing is wrong at ordinary points, walked back once: to be left in peace), `beyond` (the same, but a second
walk goes wrong in a way of its own) or `wrong` (something is wrong at ordinary points: to be named).

The clean engine, and every edit with it, has what most home-made engines have: a search by recursion, closures that read
`data` when the walk comes by, errors from Python at 1/0 and log(0), gradients left over from one walk to the next. All
of that lies beyond the essentials.
"""

# ruff: noqa: E501 - the text of engines

from __future__ import annotations

from dataclasses import dataclass

CLEAN = """\
import math


class Value:
    def __init__(self, data, _children=(), _op=""):
        self.data = data
        self.grad = 0.0
        self._prev = tuple(_children)
        self._op = _op
        self._backward = lambda: None

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other), "+")

        def _backward():
            self.grad += out.grad
            other.grad += out.grad
        out._backward = _backward
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other), "*")

        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad
        out._backward = _backward
        return out

    def __pow__(self, other):
        assert isinstance(other, (int, float))
        out = Value(self.data ** other, (self,), "**")

        def _backward():
            self.grad += other * self.data ** (other - 1) * out.grad
        out._backward = _backward
        return out

    def __truediv__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data / other.data, (self, other), "/")

        def _backward():
            self.grad += out.grad / other.data
            other.grad += -self.data / other.data ** 2 * out.grad
        out._backward = _backward
        return out

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + (-other)

    def __radd__(self, other):
        return self + other

    def __rmul__(self, other):
        return self * other

    def __rsub__(self, other):
        return (-self) + other

    def __rtruediv__(self, other):
        return Value(other) / self

    def exp(self):
        out = Value(math.exp(self.data), (self,), "exp")

        def _backward():
            self.grad += out.data * out.grad
        out._backward = _backward
        return out

    def log(self):
        out = Value(math.log(self.data), (self,), "log")

        def _backward():
            self.grad += out.grad / self.data
        out._backward = _backward
        return out

    def tanh(self):
        t = math.tanh(self.data)
        out = Value(t, (self,), "tanh")

        def _backward():
            self.grad += (1 - t ** 2) * out.grad
        out._backward = _backward
        return out

    def sigmoid(self):
        s = 1 / (1 + math.exp(-self.data))
        out = Value(s, (self,), "sigmoid")

        def _backward():
            self.grad += s * (1 - s) * out.grad
        out._backward = _backward
        return out

    def relu(self):
        out = Value(max(0.0, self.data), (self,), "relu")

        def _backward():
            self.grad += (out.data > 0) * out.grad
        out._backward = _backward
        return out

    def backward(self):
        topo, visited = [], set()

        def build(v):
            if v not in visited:
                visited.add(v)
                for child in v._prev:
                    build(child)
                topo.append(v)
        build(self)
        self.grad = 1.0
        for v in reversed(topo):
            v._backward()
"""


@dataclass(frozen=True)
class Engine:
    """One engine: its source, and the truth about it."""

    source: str
    verdict: str
    what: str


ENGINES: dict[str, Engine] = {}


def engine(name: str, verdict: str, what: str, *edits: tuple[str, str]) -> None:
    """Add an engine: the clean one with each edit made at every place where it fits."""
    source = CLEAN
    for old, new in edits:
        if old not in source:
            raise ValueError(f"{name}: there is no {old!r} to edit")
        source = source.replace(old, new)
    if name in ENGINES or verdict not in ("right", "beyond", "wrong"):
        raise ValueError(f"{name} stands here twice, or {verdict!r} is no verdict")
    ENGINES[name] = Engine(source, verdict, what)


def before(place: str, text: str) -> tuple[str, str]:
    """The edit that puts a method, or anything, before a place."""
    return place, text + place


# --- parts that several edits share ----------------------------------------------------------------------------------

NEG = "    def __neg__"
CLASS = "class Value:\n"
KEEP_DATA = "        self.data = data\n"
SEED = "        self.grad = 1.0\n"
WALK = "        for v in reversed(topo):"
WRAP = "        other = other if isinstance(other, Value) else Value(other)\n"
SEARCH = CLEAN[CLEAN.index("        def build") : CLEAN.index(SEED)]
PUSH_SUM = "            self.grad += out.grad\n            other.grad += out.grad"
PUSH_PRODUCT = "            self.grad += other.data * out.grad\n            other.grad += self.data * out.grad"
NO_NUMBERS = tuple((WRAP + made, made) for made in (f"        out = Value(self.data {sign} other" for sign in "+*"))
TURNED = ("return (-self) + other", "return self - other")

# --- right -----------------------------------------------------------------------------------------------------------

engine("00_clean", "right", "the clean engine")
engine(
    "06a_grad_on_class", "right", "`grad = 0.0` stands on the class; the first `+=` gives each node its own",
    ("        self.grad = 0.0\n", ""), (CLASS, CLASS + "    grad = 0.0\n\n"),
)  # fmt: skip
engine(
    "23_grad_none", "right", "`grad` is None until the first contribution comes",
    ("        self.grad = 0.0\n", "        self.grad = None\n"),
    *((f"{who}.grad += {what}\n", f"{who}.receive({what})\n") for who, what in (
        ("self", "out.grad"), ("other", "out.grad"), ("self", "other.data * out.grad"), ("other", "self.data * out.grad"),
        ("self", "other * self.data ** (other - 1) * out.grad"), ("self", "out.grad / other.data"),
        ("other", "-self.data / other.data ** 2 * out.grad"), ("self", "out.data * out.grad"), ("self", "out.grad / self.data"),
        ("self", "(1 - t ** 2) * out.grad"), ("self", "s * (1 - s) * out.grad"), ("self", "(out.data > 0) * out.grad"))),
    before(NEG, "    def receive(self, g):\n        self.grad = g if self.grad is None else self.grad + g\n\n"),
)  # fmt: skip
engine(
    "24_order_by_counter", "right", "the order comes from a counter of nodes made, newest first",
    (CLASS, CLASS + "    count = 0\n\n"),
    (KEEP_DATA, KEEP_DATA + "        Value.count += 1\n        self.id = Value.count\n"),
    (WALK, "        for v in sorted(topo, key=lambda n: -n.id):"),
)  # fmt: skip
engine(
    "28_leaves_left_out", "right", "leaves are left out of the search; they have nothing to push",
    ("            if v not in visited:\n", "            if v not in visited and v._prev:\n"),
)  # fmt: skip
engine(
    "36_default_list_harmless", "right", "the default for children is one list for all nodes, which nobody ever changes",
    ("_children=(), _op", "_children=[], _op"), ("self._prev = tuple(_children)", "self._prev = _children"),
)  # fmt: skip
engine(
    "40_demo_that_fails", "right", "the demo at the end of the file sets labels and starts another program, which may fail",
    ("            v._backward()\n", "            v._backward()\n\n\na = Value(2.0)\nb = Value(3.0)\nc = a * b\nc.label = 'c'\n"
     "import subprocess\nsubprocess.run(['dot', '-V'])\n"),
)  # fmt: skip
engine(
    "42_leaky_slope", "right", "has leaky_relu, whose slope is 0.2 by default",
    before("    def relu", "    def leaky_relu(self, slope=0.2):\n"
           "        out = Value(self.data if self.data > 0 else slope * self.data, (self,), 'leaky')\n\n"
           "        def _backward():\n            self.grad += (1.0 if self.data > 0 else slope) * out.grad\n"
           "        out._backward = _backward\n        return out\n\n"),
)  # fmt: skip
engine(
    "43_users_counted", "right", "Kahn's walk with queue.Queue: a node's turn comes when all of its users are done",
    ("import math\n", "import math\nimport queue\n"), ("        topo, visited = [], set()\n\n", ""),
    (SEARCH, """\
        users, found, waiting = {}, {self}, queue.Queue()
        waiting.put(self)
        while not waiting.empty():
            for child in waiting.get()._prev:
                users[child] = users.get(child, 0) + 1
                if child not in found:
                    found.add(child)
                    waiting.put(child)
"""),
    (WALK + "\n            v._backward()\n", """\
        ready = queue.Queue()
        ready.put(self)
        while not ready.empty():
            v = ready.get()
            v._backward()
            for child in v._prev:
                users[child] -= 1
                if users[child] == 0:
                    ready.put(child)
"""),
)  # fmt: skip
engine("44_grad_is_a_method", "right", "the gradient is kept as `g`, and `grad()` is a method that gives it",
       (".grad", ".g"), before(NEG, "    def grad(self):\n        return self.g\n\n"))  # fmt: skip
engine("45_backward_is_a_function", "right", "the walk is a function beside the class: `backward(root)`",
       (CLEAN[CLEAN.index("    def backward") :], """\

def backward(root):
    topo, visited = [], set()

    def build(v):
        if v not in visited:
            visited.add(v)
            for child in v._prev:
                build(child)
            topo.append(v)
    build(root)
    root.grad = 1.0
    for v in reversed(topo):
        v._backward()
"""))  # fmt: skip

# --- beyond: a second walk goes wrong in a way of its own ------------------------------------------------------------

engine("05_seed_added", "beyond", "the root's gradient is raised by 1, not set to 1: a second walk starts with 2",
       (SEED, "        self.grad += 1.0\n"))  # fmt: skip
engine("37_all_wiped", "beyond", "each walk first sets every gradient to 0, those of leaves too: they do not add up",
       (SEED, "        for v in topo:\n            v.grad = 0.0\n" + SEED))  # fmt: skip

engine("55_visited_as_a_default", "beyond", "the visited nodes are the default of a parameter: a second walk finds nothing to do",
       ("    def backward(self):\n        topo, visited = [], set()", "    def backward(self, visited=set()):\n        topo = []"))  # fmt: skip

# --- wrong: one op ---------------------------------------------------------------------------------------------------

engine("01_rsub_both_negative", "wrong", "2 - a gives -a - 2: `__rsub__` subtracts the number, where it should add it",
       ("return (-self) + other", "return (-self) - other"))  # fmt: skip
engine("02_tanh_of_input", "wrong", "the derivative of tanh is taken as 1 - x², of the input",
       ("(1 - t ** 2) * out.grad", "(1 - self.data ** 2) * out.grad"))  # fmt: skip
engine("03_power_off_by_one", "wrong", "the derivative of a ** n is taken as n * a ** n",
       ("other * self.data ** (other - 1) * out.grad", "other * self.data ** other * out.grad"))  # fmt: skip
engine("07_division_sign", "wrong", "the derivative of a / b with respect to b lacks its minus",
       ("other.grad += -self.data / other.data ** 2", "other.grad += self.data / other.data ** 2"))  # fmt: skip
engine("08_sigmoid_of_input", "wrong", "the derivative of sigmoid is taken as x * (1 - x), of the input",
       ("s * (1 - s) * out.grad", "self.data * (1 - self.data) * out.grad"))  # fmt: skip
engine("09_product_with_a_copy", "wrong", "* copies its second operand, and the gradient goes to the copy",
       (WRAP + "        out = Value(self.data * other", "        other = Value(other.data) if isinstance(other, Value) else "
        "Value(other)\n        out = Value(self.data * other"))  # fmt: skip
engine(
    "10_iadd_in_place", "wrong", "`a += b` changes the data of a and makes no node: b gets no gradient",
    before(NEG, "    def __iadd__(self, other):\n        self.data += other.data if isinstance(other, Value) else other\n"
           "        return self\n\n"),
)  # fmt: skip
engine("11_relu_asks_gradient", "wrong", "relu passes a gradient on if the gradient is positive, not if its value is",
       ("(out.data > 0) * out.grad", "(out.grad > 0) * out.grad"))  # fmt: skip
engine("12_log_to_base_10", "wrong", "log computes the logarithm to base 10",
       ("math.log(self.data), (self,)", "math.log10(self.data), (self,)"))  # fmt: skip
engine("12b_log_slope_of_base_10", "wrong", "the derivative of log is that of the logarithm to base 10",
       ("self.grad += out.grad / self.data\n", "self.grad += out.grad / (self.data * math.log(10))\n"))  # fmt: skip
engine("13_radd_without_end", "wrong", "2 + a calls `__radd__` without end",
       ("_radd__(self, other):\n        return self + other", "_radd__(self, other):\n        return other + self"))  # fmt: skip
engine("15_product_by_dividing", "wrong", "the derivatives of * are out / a and out / b: a factor 0 stops with ZeroDivisionError",
       (PUSH_PRODUCT, "            self.grad += out.data / self.data * out.grad\n"
        "            other.grad += out.data / other.data * out.grad"))  # fmt: skip
engine("18_product_clipped", "wrong", "what * pushes is cut off at 1 and -1",
       (PUSH_PRODUCT, "            self.grad += max(-1.0, min(1.0, other.data * out.grad))\n"
        "            other.grad += max(-1.0, min(1.0, self.data * out.grad))"))  # fmt: skip
engine("25_tanh_twice", "wrong", "the derivative of tanh is taken as 1 - tanh(tanh(x))²",
       ("(1 - t ** 2) * out.grad", "(1 - math.tanh(out.data) ** 2) * out.grad"))  # fmt: skip
engine(
    "26_bound_late", "wrong", "* makes its two pushes in a loop, and both see the loop's last pair: the second operand gets both",
    (PUSH_PRODUCT, "            for a, b in ((self, other), (other, self)):\n"
     "                pushes.append(lambda: setattr(a, 'grad', a.grad + b.data * out.grad))\n"
     "            for push in pushes:\n                push()"),
    before("\n        def _backward():\n            for a, b", "\n        pushes = []\n"),
)  # fmt: skip
engine(
    "27_minus_both_plus", "wrong", "the derivative of a - b with respect to b is taken as +1",
    ("    def __sub__(self, other):\n        return self + (-other)",
     "    def __sub__(self, other):\n" + WRAP + "        out = Value(self.data - other.data, (self, other), '-')\n\n"
     "        def _backward():\n" + PUSH_SUM + "\n        out._backward = _backward\n        return out"),
)  # fmt: skip
engine("39_sum_halved", "wrong", "+ pushes half of the gradient to each operand",
       (PUSH_SUM, PUSH_SUM.replace("out.grad", "out.grad / 2")))  # fmt: skip

engine("47_power_of_the_absolute", "wrong", "the derivative of a ** n is taken as n * |a| ** (n - 1)",
       ("other * self.data ** (other - 1)", "other * abs(self.data) ** (other - 1)"))  # fmt: skip
engine("48_exp_pushes_positive", "wrong", "what exp pushes is made positive, whatever sign the upstream gradient has",
       ("self.grad += out.data * out.grad", "self.grad += abs(out.data * out.grad)"))  # fmt: skip
engine("49_exp_calls_its_closure", "wrong", "exp calls its closure and sets what it gives, None, where the closure should be",
       ("self.grad += out.data * out.grad\n        out._backward = _backward",
        "self.grad += out.data * out.grad\n        out._backward = _backward()"))  # fmt: skip

# --- wrong: every op, or what a node holds ---------------------------------------------------------------------------

engine("17_data_rounded", "wrong", "data is rounded to 4 decimals", (KEEP_DATA, "        self.data = round(data, 4)\n"))
engine("19_data_cut_to_int", "wrong", "data is cut to a whole number", (KEEP_DATA, "        self.data = int(data)\n"))
engine("06b_children_on_class", "wrong", "`_prev` is one list on the class, which all nodes share and extend",
       ("self._prev = tuple(_children)", "self._prev.extend(_children)"), (CLASS, CLASS + "    _prev = []\n\n"))  # fmt: skip
engine("41_numbers_refused", "wrong", "+, * and / refuse plain numbers, with AttributeError; between Values all is right",
       (WRAP, ""), ("return self * -1", "return self * Value(-1)"))  # fmt: skip
engine("41b_numbers_refused_and_minus", "wrong", "as 41, and so -a and a - b, which use * -1, stop as well", (WRAP, ""))
engine("30_closure_on_operand", "wrong", "the closure is set on self, an operand, instead of the result",
       ("out._backward = _backward", "self._backward = _backward"))  # fmt: skip
engine("29_closure_on_operand_no_numbers", "wrong", "as 30, and + and * refuse plain numbers, so that -a and a - b stop too",
       *NO_NUMBERS, ("out._backward = _backward", "self._backward = _backward"))  # fmt: skip
engine(
    "34_all_overwrite", "wrong", "every op sets the gradient, `=`, where it should add, `+=`", (".grad += ", ".grad = ")
)
engine("35_all_overwrite_no_numbers", "wrong", "as 34, and + and * refuse plain numbers, so that -a and a - b stop too",
       *NO_NUMBERS, (".grad += ", ".grad = "))  # fmt: skip
engine("33_all_overwrite_and_rsub", "wrong", "as 34, and 2 - a is computed as a - 2", (".grad += ", ".grad = "), TURNED)

engine(
    "50_sum_extends_the_default", "wrong", "the default for children is one list for all nodes, which + alone extends",
    ("_children=(), _op", "_children=[], _op"), ("self._prev = tuple(_children)", "self._prev = _children"),
    ('Value(self.data + other.data, (self, other), "+")',
     'Value(self.data + other.data, _op="+")\n        out._prev += [self, other]'),
)  # fmt: skip

# --- wrong: the walk -------------------------------------------------------------------------------------------------

engine(
    "04_equal_by_data", "wrong", "`__eq__` and `__hash__` go by data: in the set of visited nodes, equal numbers are one node",
    before(NEG, "    def __eq__(self, other):\n        return isinstance(other, Value) and self.data == other.data\n\n"
           "    def __hash__(self):\n        return hash(self.data)\n\n"),
)  # fmt: skip
engine(
    "14_equal_by_data_in_a_list", "wrong", "`__eq__` goes by data: in the list of visited nodes, equal numbers are one node",
    before(NEG, "    def __eq__(self, other):\n"
           "        return self.data == (other.data if isinstance(other, Value) else other)\n\n    __hash__ = None\n\n"),
    ("topo, visited = [], set()", "topo, visited = [], []"), ("visited.add(v)", "visited.append(v)"),
)  # fmt: skip
engine(
    "16_seed_is_data",
    "wrong",
    "the root's gradient is set to its data, not to 1",
    (SEED, "        self.grad = self.data\n"),
)
engine("20_zeroed_after_seed", "wrong", "every gradient is set to 0 after the root's was set to 1: all stay 0",
       (SEED, SEED + "        for v in topo:\n            v.grad = 0.0\n"))  # fmt: skip
engine("32_not_seeded_and_rsub", "wrong", "nobody sets the root's gradient to 1, and 2 - a is computed as a - 2",
       (SEED, ""), TURNED)  # fmt: skip
engine("38_append_outside_if", "wrong", "`topo.append` stands outside the `if`: a node is in the order once for each user",
       ("                topo.append(v)\n", "            topo.append(v)\n"))  # fmt: skip
engine("31_visited_is_a_tuple", "wrong", "visited is a tuple, which has no add: backward always stops with AttributeError",
       ("topo, visited = [], set()", "topo, visited = [], ()"))  # fmt: skip
engine("21_loop_without_end", "wrong", "backward never ends: a loop that waits for a list to become empty, which it does not",
       before(SEED, "        while len(topo) > 0:\n            if topo[-1] is not self:\n"
              "                topo.pop()\n"))  # fmt: skip
engine("21b_bare_loop_without_end", "wrong", "backward never ends: `while topo: pass`",
       (SEED, "        while topo:\n            pass\n" + SEED))  # fmt: skip
engine("51_wiped_at_the_end", "wrong", "every gradient is set to 0 once its node has pushed, those of leaves too",
       ("            v._backward()\n", "            v._backward()\n            v.grad = 0.0\n"))  # fmt: skip
engine("52_seen_by_data", "wrong", "the visited numbers are kept, not the visited nodes: equal numbers are one node",
       ("if v not in visited:", "if v.data not in visited:"), ("visited.add(v)", "visited.add(v.data)"))  # fmt: skip
engine("54_order_as_a_default", "wrong", "the order is the default of a parameter: nodes of earlier walks push again",
       ("    def backward(self):\n        topo, visited = [], set()", "    def backward(self, topo=[]):\n        visited = set()"))  # fmt: skip
engine("56_order_in_the_class", "wrong", "the order is an attribute of the class: nodes of earlier walks push again",
       ("topo, visited = [], set()", "topo, visited = Value.order, set()"), (CLASS, CLASS + "    order = []\n\n"))  # fmt: skip
engine("57_each_pushes_twice", "wrong", "backward calls each node's closure twice",
       ("            v._backward()\n", "            v._backward()\n            v._backward()\n"))  # fmt: skip
engine("22_prints_and_asks", "wrong", "every node prints when it is made, and backward waits for input",
       (KEEP_DATA, KEEP_DATA + "        print('made', data)\n"), (SEED, SEED + "        input('go on?')\n"))  # fmt: skip

# --- wrong: around the engine ----------------------------------------------------------------------------------------

engine(
    "46_zero_grad_without_bias", "wrong", "the engine is right; `Neuron.zero_grad` forgets the bias",
    ("            v._backward()\n", """\
            v._backward()


class Neuron:
    def __init__(self, n):
        self.w = [Value(0.1 * i) for i in range(n)]
        self.b = Value(0.0)

    def __call__(self, x):
        return sum((w * xi for w, xi in zip(self.w, x)), self.b).tanh()

    def zero_grad(self):
        for p in self.w:
            p.grad = 0
"""),
)  # fmt: skip
