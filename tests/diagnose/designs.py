"""Right engines of many designs: other names, containers, walks, and other ways to keep a derivative.

Each is the clean engine of `handmade` with something else in a place, or a small engine of its own. Nothing is wrong
with any of them at ordinary points, walked back once; a grader has nothing to say about their essentials.
"""

from __future__ import annotations

import re

from diagnose.handmade import CLASS, CLEAN, KEEP_DATA, NEG, SEARCH, SEED, WALK, WRAP

__all__ = ["DESIGNS"]

DESIGNS: dict[str, str] = {}


def design(name: str, *edits: tuple[str, str]) -> None:
    """Add the clean engine with these edits, each at every place where it fits."""
    source = CLEAN
    for old, new in edits:
        assert old in source, (name, old)
        source = source.replace(old, new)
    DESIGNS[name] = source


WALKING = CLEAN[CLEAN.index("    def backward") :]
BODY = CLEAN[CLEAN.index("        topo, visited") :]
METHODS = CLEAN[CLEAN.index("    def __add__") : CLEAN.index("    def backward")]

# --- names

design("class Scalar", ("Value", "Scalar"))
design("data is value, grad is gradient", (".data", ".value"), (".grad", ".gradient"))
design("underscores", (".data", "._data"), (".grad", "._grad"))
design("odd names", (".data", ".number_inside"), (".grad", ".slope_of_loss"), ("def backward", "def run_it_backwards"))
design("grad is a method", (".grad", ".g"), (NEG, "    def grad(self):\n        return self.g\n\n" + NEG))
design("ReLU, ln and logistic", ("def relu", "def ReLU"), ("def log(", "def ln("), ("def sigmoid", "def logistic"))
design(
    "other is b, out is result",
    ("other", "b"),
    ("out.", "result."),
    ("out = ", "result = "),
    ("return out", "return result"),
)

# --- what a node holds

design("a set of operands", ("tuple(_children)", "set(_children)"))
design("a list of operands", ("tuple(_children)", "list(_children)"))
design("a frozenset of operands", ("tuple(_children)", "frozenset(_children)"))
design("slots", (CLASS, CLASS + '    __slots__ = ("data", "grad", "_prev", "_op", "_backward")\n\n'))
design(
    "a dataclass",
    (CLEAN[CLEAN.index("    def __init__") : CLEAN.index("    def __add__")],
     "    data: float\n    _prev: tuple = ()\n    _op: str = ''\n    grad: float = 0.0\n"
     "    _backward: Callable[[], None] = field(default=lambda: None)\n\n"),
    ("class Value:", "@dataclass(eq=False)\nclass Value:"),
    ("import math\n", "import math\nfrom dataclasses import dataclass, field\nfrom typing import Callable\n"),
)  # fmt: skip
design(
    "properties",
    (KEEP_DATA, "        self._hidden = data\n"),
    (NEG, "    @property\n    def data(self):\n        return self._hidden\n\n    @data.setter\n"
     "    def data(self, x):\n        self._hidden = x\n\n" + NEG),
)  # fmt: skip
design(
    "NumPy numbers",
    (KEEP_DATA, "        self.data = np.float64(data)\n"),
    ("import math\n", "import math\nimport numpy as np\n"),
)
design(
    "arrays of one number",
    (KEEP_DATA, "        self.data = np.array(float(data))\n"),
    ("import math\n", "import math\nimport numpy as np\n"),
    ("        self.grad = 0.0\n", "        self.grad = np.zeros(())\n"),
)
design(
    "single precision",
    (KEEP_DATA, "        self.data = np.float32(data)\n"),
    ("import math\n", "import math\nimport numpy as np\n"),
)
design(
    "gradients in single precision",
    ("        self.grad = 0.0\n", "        self.grad = np.float32(0.0)\n"),
    ("import math\n", "import math\nimport numpy as np\n"),
)
design(
    "closure is None for leaves",
    ("self._backward = lambda: None", "self._backward = None"),
    ("            v._backward()\n", "            if v._backward is not None:\n                v._backward()\n"),
)
design(
    "leaves must ask for gradients",
    ('_op="")', '_op="", requires_grad=False)'),
    (KEEP_DATA, KEEP_DATA + "        self.requires_grad = requires_grad or any(c.requires_grad for c in _children)\n"),
    ("            v._backward()\n", "            if v.requires_grad:\n                v._backward()\n"),
)
design(
    "a label that must be given", ('_children=(), _op=""', "_children, _op"), ("Value(other)", 'Value(other, (), "")')
)
design(
    "operators in a base class",
    (CLASS, "class Operators:\n" + METHODS + "\n\nclass Value(Operators):\n"),
    ("        self._backward = lambda: None\n\n" + METHODS, "        self._backward = lambda: None\n\n"),
)
design(
    "a function for plain numbers",
    (WRAP, "        other = lift(other)\n"),
    ("class Value:", "def lift(x):\n    return x if isinstance(x, Value) else Value(x)\n\n\nclass Value:"),
)

design(
    "ops under one decorator",
    (WRAP, ""),
    *((f"    def {op}(self, other)", f"    @lifted\n    def {op}(self, other)")
      for op in ("__add__", "__mul__", "__truediv__")),
    ("class Value:", "def lifted(op):\n    def wrapper(self, other):\n        return op(self, as_value(other))\n"
     "    return wrapper\n\n\ndef as_value(x):\n    return x if isinstance(x, Value) else Value(x)\n\n\nclass Value:"),
)  # fmt: skip
design(
    "a Value of a Value is the same Value",
    (WRAP, "        other = Value(other)\n"),
    ("    def __init__", "    def __new__(cls, data, *rest):\n"
     "        return data if isinstance(data, Value) else super().__new__(cls)\n\n    def __init__"),
    (KEEP_DATA, "        if isinstance(data, Value):\n            return\n" + KEEP_DATA),
)  # fmt: skip
design(
    "attributes that come when they are asked for",
    ("        self.grad = 0.0\n", ""),
    (NEG, "    def __getattr__(self, name):\n        self.__dict__[name] = {'grad': 0.0}[name]\n"
     "        return self.__dict__[name]\n\n" + NEG),
)  # fmt: skip

# --- the walk

design("visited by id", ("v not in visited", "id(v) not in visited"), ("visited.add(v)", "visited.add(id(v))"))
design(
    "a mark on each node",
    (KEEP_DATA, KEEP_DATA + "        self.seen = False\n"),
    ("v not in visited", "not v.seen"),
    ("visited.add(v)", "v.seen = True"),
    ("            v._backward()\n", "            v._backward()\n            v.seen = False\n"),
)
design(
    "a list of visited nodes",
    ("topo, visited = [], set()", "topo, visited = [], []"),
    ("visited.add(v)", "visited.append(v)"),
)
design(
    "a stack",
    (
        SEARCH,
        """\
        stack = [(self, iter(self._prev))]
        visited.add(self)
        while stack:
            node, children = stack[-1]
            child = next(children, None)
            if child is None:
                topo.append(node)
                stack.pop()
            elif child not in visited:
                visited.add(child)
                stack.append((child, iter(child._prev)))
""",
    ),
)
design(
    "users counted",
    (
        BODY,
        """\
        users, found = {self: 0}, [self]
        for v in found:
            for child in v._prev:
                if child not in users:
                    found.append(child)
                users[child] = users.get(child, 0) + 1
        self.grad = 1.0
        ready = [self]
        while ready:
            v = ready.pop()
            v._backward()
            for child in v._prev:
                users[child] -= 1
                if not users[child]:
                    ready.append(child)
""",
    ),
)
design(
    "order by a number",
    (KEEP_DATA, KEEP_DATA + "        self.n = 1 + max((c.n for c in _children), default=0)\n"),
    (WALK, "        for v in sorted(topo, key=lambda v: v.n, reverse=True):"),
)
design(
    "the seed is a parameter",
    ("def backward(self)", "def backward(self, grad=1.0)"),
    (SEED, "        self.grad = grad\n"),
)
design("a function beside the class", (WALKING, re.sub(r"(?m)^    ", "", WALKING).replace("self", "root")))
design(
    "on every node",
    (WALKING, "\n\n" + re.sub(r"(?m)^    ", "", WALKING).replace("def backward", "def walk")),
    (KEEP_DATA, KEEP_DATA + "        self.backward = lambda: walk(self)\n"),
)
design("gradients wiped first", (SEED, "        for v in topo:\n            v.grad = 0.0\n" + SEED))
design("an order that is kept", ("        build(self)\n", "        build(self)\n        self.order = topo\n"))

# --- the derivative is kept in another way

OPS = {
    "__add__(self, other)": ("self.data + other.data", ("1.0", "1.0")),
    "__mul__(self, other)": ("self.data * other.data", ("other.data", "self.data")),
    "__truediv__(self, other)": ("self.data / other.data", ("1 / other.data", "-self.data / other.data**2")),
    "__pow__(self, n)": ("self.data**n", ("n * self.data ** (n - 1)",)),
    "exp(self)": ("math.exp(self.data)", ("math.exp(self.data)",)),
    "log(self)": ("math.log(self.data)", ("1 / self.data",)),
    "tanh(self)": ("math.tanh(self.data)", ("1 - math.tanh(self.data) ** 2",)),
    "relu(self)": ("max(0.0, self.data)", ("1.0 if self.data > 0 else 0.0",)),
}
DERIVED = """\
    def __neg__(self): return self * -1
    def __sub__(self, other): return self + (-other)
    def __radd__(self, other): return self + other
    def __rmul__(self, other): return self * other
    def __rsub__(self, other): return (-self) + other
    def __rtruediv__(self, other): return Value(other) / self
"""


def small(name: str, head: str, made: str, walk: str, tail: str = "") -> None:
    """Add an engine whose ops make `made` of a value and of pairs of operands and derivatives."""
    methods = ""
    for signature, (value, slopes) in OPS.items():
        lift = "        other = other if isinstance(other, Value) else Value(other)\n" if "other" in signature else ""
        operands = ("self", "other")[: len(slopes)]
        line = made.format(
            value=value,
            pairs="".join(f"({x}, {slope}), " for x, slope in zip(operands, slopes, strict=True)),
            operands="".join(f"{x}, " for x in operands),
            slopes="".join(f"{slope}, " for slope in slopes),
        )
        methods += f"    def {signature}:\n{lift}        return {line}\n\n"
    DESIGNS[name] = f"import math\n\n\nclass Value:\n{head}\n{methods}{DERIVED}\n{walk}{tail}"


ORDER = """\
        topo, visited = [], set()

        def build(v):
            if v not in visited:
                visited.add(v)
                for child, _ in v.pairs:
                    build(child)
                topo.append(v)
        build(self)
"""
PAIRS = "    def __init__(self, data, pairs=()):\n        self.data, self.grad, self.pairs = data, 0.0, pairs\n"
small(
    "pairs of operand and slope",
    PAIRS,
    "Value({value}, ({pairs}))",
    f"""\
    def backward(self):
{ORDER}        self.grad = 1.0
        for v in reversed(topo):
            for child, slope in v.pairs:
                child.grad += slope * v.grad
""",
)
small(
    "every path, each with its part",
    PAIRS,
    "Value({value}, ({pairs}))",
    """\
    def backward(self, part=1.0):
        self.grad += part
        for child, slope in self.pairs:
            child.backward(part * slope)
""",
)
small(
    "a dict of gradients is given back",
    PAIRS.replace("self.data, self.grad, self.pairs = data, 0.0, pairs", "self.data, self.pairs = data, pairs"),
    "Value({value}, ({pairs}))",
    f"""\
    def backward(self):
{ORDER}        grads = {{self: 1.0}}
        for v in reversed(topo):
            for child, slope in v.pairs:
                grads[child] = grads.get(child, 0.0) + slope * grads[v]
        return grads
""",
)
small(
    "two tuples side by side",
    "    def __init__(self, data, children=(), local_grads=()):\n        self.data, self.grad = data, 0.0\n"
    "        self.children, self.local_grads = children, local_grads\n",
    "Value({value}, ({operands}), ({slopes}))",
    "    def backward(self):\n"
    + ORDER.replace("for child, _ in v.pairs", "for child in v.children")
    + """\
        self.grad = 1.0
        for v in reversed(topo):
            for child, slope in zip(v.children, v.local_grads):
                child.grad += slope * v.grad
""",
)
small(
    "a tape",
    "    def __init__(self, data):\n        self.data, self.grad = data, 0.0\n",
    "record({value}, ({pairs}))",
    """\
    def backward(self):
        self.grad = 1.0
        for out, pairs in reversed(TAPE):
            for operand, slope in pairs:
                operand.grad += slope * out.grad
""",
    """\


TAPE = []


def record(data, pairs):
    out = Value(data)
    TAPE.append((out, pairs))
    return out
""",
)
small(
    "the push is a method of the class",
    PAIRS,
    "Value({value}, ({pairs}))",
    f"""\
    def _push(self):
        for child, slope in self.pairs:
            child.grad += slope * self.grad

    def backward(self):
{ORDER}        self.grad = 1.0
        for v in reversed(topo):
            v._push()
""",
)
small(
    "the push is given the gradient",
    PAIRS.replace("pairs=()", "pairs=()").rstrip()
    + "\n        self._backward = lambda grad: [_give(c, s * grad) for c, s in pairs]\n",
    "Value({value}, ({pairs}))",
    f"""\
    def backward(self):
{ORDER}        self.grad = 1.0
        for v in reversed(topo):
            v._backward(v.grad)
""",
    "\n\ndef _give(child, part):\n    child.grad += part\n",
)
