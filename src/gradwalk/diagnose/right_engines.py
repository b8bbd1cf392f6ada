"""Engines that are right, each written another way, as source text: the grader must be content with all of them.

People write the same engine in many ways: closures or local derivatives, methods or functions, recursion or a stack, a
tape, counted consumers. None of that is a mistake, and none of it may be taken for one. What is particular to a style
stands here in full; its ops, which differ in a formula only, stand as a line each.
"""

from __future__ import annotations

from textwrap import indent

__all__ = ["EDGES", "STYLES"]


def _functions(lines: str, depth: int = 0) -> str:
    """A function for each line, `neg(a): return Node(…)`; what else it does stands indented below."""
    made: list[str] = []
    for line in lines.strip("\n").splitlines():
        if line.startswith(" "):
            made[-1] += f"{line}\n"
        else:
            head, _, statement = line.partition(": ")
            made.append(f"def {head.rstrip(':')}:\n" + (f"    {statement}\n" if statement else ""))
    return indent(("\n" if depth else "\n\n").join(made), "    " * depth)


#: What every one of them ends with.
EDGES = """\
# --- numbers at the edges: inf and nan where Python would raise an error


def divide(x, y):
    if y != 0.0:
        return x / y
    return math.nan if x == 0.0 or math.isnan(x) else math.copysign(math.inf, x)


def power(x, n):
    try:
        return math.pow(x, n)
    except OverflowError:
        return -math.inf if x < 0.0 and n % 2 == 1 else math.inf
    except ValueError:
        return math.inf if x == 0.0 else math.nan


def exponential(x):
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def logarithm(x):
    if x > 0.0:
        return math.log(x)
    return -math.inf if x == 0.0 else math.nan


def logistic(x):
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    return math.exp(x) / (1.0 + math.exp(x))
"""

_MADE_FROM_OTHERS = """\
__neg__(self): return self * -1
__sub__(self, other): return self + (-other)
__truediv__(self, other): {truediv}
__radd__(self, other): return self + other
__rsub__(self, other): return {rsub}
__rmul__(self, other): return self * other
__rtruediv__(self, other): return {rtruediv}
"""

_TUPLES = (
    '''\
"""An op returns its value and its local derivatives; one place multiplies and adds."""

import math


class Value:
    def __init__(self, data, _children=(), _locals=()):
        self.data = data
        self.grad = 0
        self._children = _children
        self._locals = _locals

'''
    + _functions("""
__add__(self, other): other = other if isinstance(other, Value) else Value(other)
    return Value(self.data + other.data, (self, other), (1, 1))
__mul__(self, other): other = other if isinstance(other, Value) else Value(other)
    return Value(self.data * other.data, (self, other), (other.data, self.data))
__pow__(self, n): return Value(power(self.data, n), (self,), (n * power(self.data, n - 1) if n else 0,))
""" + _MADE_FROM_OTHERS.format(
        truediv="return self * other**-1 if isinstance(other, Value) else self * divide(1, other)",
        rsub="-self + other", rtruediv="self**-1 * other") + """\
exp(self): e = exponential(self.data)
    return Value(e, (self,), (e,))
log(self): return Value(logarithm(self.data), (self,), (divide(1, self.data),))
tanh(self): t = math.tanh(self.data)
    return Value(t, (self,), (1 - t**2,))
sigmoid(self): s = logistic(self.data)
    return Value(s, (self,), (s - s * s,))
relu(self): return Value(max(0, self.data), (self,), (float(self.data > 0),))
""", 1)
    + '''
    def backward(self):
        order, seen, stack = [], {id(self)}, [(self, iter(self._children))]
        while stack:
            node, children = stack[-1]
            for child in children:
                if id(child) not in seen:
                    seen.add(id(child))
                    stack.append((child, iter(child._children)))
                    break
            else:
                order.append(node)
                stack.pop()
        for node in order:
            if node._children:
                node.grad = 0
        self.grad = 1
        for node in reversed(order):
            for child, local in zip(node._children, node._locals):
                child.grad += local * node.grad


'''
)  # fmt: skip


def _closure(head: str, first: tuple[str, ...], value: str, pushes: tuple[str, ...]) -> str:
    """A method of the next engine: some statements, the result, and a closure that pushes."""
    push = [f"    {line}" for line in pushes]
    lines = [*first, f"result = Value({value})", "", "def _backward():", *push, "",
             "result._backward = _backward", "return result", ""]  # fmt: skip
    return f"def {head}:\n" + "\n".join(f"    {line}" if line else "" for line in lines)


_LIFTED = ("if not isinstance(other, Value):", "    other = Value(other)")
_TWO_OPERANDS = (
    _closure("__add__(self, other)", _LIFTED, 'self.data + other.data, (self, other), "+"',
             ("self.grad += 1.0 * result.grad", "other.grad += 1.0 * result.grad")),
    _closure("__mul__(self, other)", (*_LIFTED, "left, right = self.data, other.data"),
             'left * right, (self, other), "*"',
             ("self.grad = self.grad + right * result.grad", "other.grad = other.grad + left * result.grad")),
    _closure("__pow__(self, other)",
             ('assert isinstance(other, (int, float)), "the exponent must be a number"', "base = self.data"),
             'power(base, other), (self,), f"**{other}"',
             ("if other != 0:", "    self.grad += other * power(base, other - 1) * result.grad")),
)  # fmt: skip
_ONE_OPERAND = (
    _closure("exp(self)", ("grown = exponential(self.data)",), 'grown, (self,), "exp"',
             ("self.grad += grown * result.grad",)),
    _closure("log(self)", ("x = self.data",), 'logarithm(x), (self,), "log"',
             ("self.grad += divide(1.0, x) * result.grad",)),
    _closure("tanh(self)", ("t = math.tanh(self.data)",), 't, (self,), "tanh"',
             ("self.grad += (1 - t**2) * result.grad",)),
    _closure("sigmoid(self)", ("s = logistic(self.data)",), 's, (self,), "sigmoid"',
             ("self.grad += (1 - s) * s * result.grad",)),
    _closure("relu(self)", ("positive = self.data > 0",), 'self.data if positive else 0.0, (self,), "ReLU"',
             ("if positive:", "    self.grad += result.grad")),
)  # fmt: skip

_RECURSIVE = (
    '''\
"""Closures, a set of operands, operators made from other operators, and an order found by recursion."""

import math
import sys


class Value:
    def __init__(self, data, _children=(), _op="", label=""):
        self.data = data
        self.grad = 0.0
        self._prev = set(_children)
        self._op = _op
        self.label = label
        self._backward = lambda: None

    def __repr__(self):
        return f"Value({self.data})"

'''
    + indent("\n".join(_TWO_OPERANDS), "    ")
    + "\n"
    + _functions(_MADE_FROM_OTHERS.format(
        truediv="if not isinstance(other, Value):\n        other = Value(other)\n    return self * other**-1",
        rsub="other + (-self)", rtruediv="other * self**-1"), 1)
    + "\n"
    + indent("\n".join(_ONE_OPERAND), "    ")
    + '''
    def backward(self):
        sys.setrecursionlimit(20_000)
        topo = []
        visited = set()

        def build_topo(v):
            if v not in visited:
                visited.add(v)
                for child in v._prev:
                    build_topo(child)
                topo.append(v)

        build_topo(self)
        for v in topo:
            if v._prev:
                v.grad = 0.0
        self.grad = 1.0
        for v in reversed(topo):
            v._backward()


'''
)  # fmt: skip

_FUNCTIONS = (
    '''\
"""A plain record and functions: no operators, no methods."""

import math


class Node:
    __slots__ = ("value", "gradient", "parents", "slopes")

    def __init__(self, value, parents, slopes):
        self.value = value
        self.gradient = 0.0
        self.parents = parents
        self.slopes = slopes


'''
    + _functions("""
add(a, b): return Node(a.value + b.value, [a, b], [1.0, 1.0])
sub(a, b): return Node(a.value - b.value, [a, b], [1.0, -1.0])
mul(a, b): return Node(a.value * b.value, [a, b], [b.value, a.value])
div(a, b): quotient = divide(a.value, b.value)
    return Node(quotient, [a, b], [divide(1.0, b.value), divide(-quotient, b.value)])
pow(a, n): return Node(power(a.value, n), [a], [n * power(a.value, n - 1) if n != 0 else 0.0])
neg(a): return Node(-a.value, [a], [-1.0])
exp(a): e = exponential(a.value)
    return Node(e, [a], [e])
log(a): return Node(logarithm(a.value), [a], [divide(1.0, a.value)])
tanh(a): t = math.tanh(a.value)
    return Node(t, [a], [(1.0 - t) * (1.0 + t)])
sigmoid(a): s = logistic(a.value)
    return Node(s, [a], [s * (1.0 - s)])
relu(a): if a.value > 0.0:
        return Node(a.value, [a], [1.0])
    return Node(0.0, [a], [0.0])
""")
    + '''

def backward(root):
    waiting = {}
    stack = [root]
    while stack:  # how many uses of each node lie under the root
        for parent in stack.pop().parents:
            if parent not in waiting:
                waiting[parent] = 0
                stack.append(parent)
            waiting[parent] += 1
    for node in waiting:
        if node.parents:
            node.gradient = 0.0
    root.gradient = 1.0
    ready = [root]
    while ready:  # a node goes on once all of its uses have reported
        node = ready.pop()
        for parent, slope in zip(node.parents, node.slopes):
            parent.gradient += slope * node.gradient
            waiting[parent] -= 1
            if waiting[parent] == 0:
                ready.append(parent)


'''
)  # fmt: skip

_TAPE = (
    '''\
"""Every op is written on a tape as it happens; the walk reads the tape backwards."""

import math

TAPE = []


class Scalar:
    def __init__(self, value, requires_grad=True):
        self.value = value
        self.grad = None

'''
    + _functions("""
__add__(self, other): return record(self.value + lift(other).value, (self, 1.0), (lift(other), 1.0))
__sub__(self, other): return record(self.value - lift(other).value, (self, 1.0), (lift(other), -1.0))
__mul__(self, other): other = lift(other)
    return record(self.value * other.value, (self, other.value), (other, self.value))
__truediv__(self, other): other = lift(other)
    ratio = divide(self.value, other.value)
    return record(ratio, (self, divide(1.0, other.value)), (other, divide(-ratio, other.value)))
__pow__(self, n): slope = n * power(self.value, n - 1) if n != 0 else 0.0
    return record(power(self.value, n), (self, slope))
__neg__(self): return record(-self.value, (self, -1.0))
__rsub__(self, other): return lift(other) - self
__rtruediv__(self, other): return lift(other) / self
""", 1)
    + '''
    __radd__ = __add__
    __rmul__ = __mul__

'''
    + _functions("""
exp(self): grown = exponential(self.value)
    return record(grown, (self, grown))
ln(self): return record(logarithm(self.value), (self, divide(1.0, self.value)))
tanh(self): t = math.tanh(self.value)
    return record(t, (self, 1.0 - t * t))
sigmoid(self): s = logistic(self.value)
    return record(s, (self, s * (1.0 - s)))
ReLU(self): return record(max(self.value, 0.0), (self, 1.0 if self.value > 0.0 else 0.0))
""", 1)
    + '''
    def backprop(self):
        reached = {self: 1.0}
        for result, shares in reversed(TAPE):
            if result in reached:
                result.grad = upstream = reached.pop(result)
                for operand, slope in shares:
                    reached[operand] = reached.get(operand, 0.0) + slope * upstream
        for leaf, gradient in reached.items():
            leaf.grad = gradient if leaf.grad is None else leaf.grad + gradient


def lift(x):
    return x if isinstance(x, Scalar) else Scalar(x)


def record(value, *shares):
    result = Scalar(value)
    TAPE.append((result, shares))
    return result


'''
)  # fmt: skip


def _op_class(name: str, arguments: str, value: str, shares: str, first: str = "", field: str = "") -> str:
    """An op of the next engine."""
    field, first = (f"    {field}\n\n" if field else ""), (f"        {first}\n" if first else "")
    return (
        f"class {name}(Function):\n{field}    def forward(self, {arguments}):\n        return {value}\n\n"
        f"    def backward(self, upstream):\n{first}        return {shares}\n"
    )


_OP_CLASSES = (
    _op_class("Add", "x, y", "x + y", "upstream, upstream"),
    _op_class("Sub", "x, y", "x - y", "upstream, -upstream"),
    _op_class("Mul", "x, y", "x * y", "upstream * y, upstream * x", "x, y = self.inputs"),
    _op_class("Div", "x, y", "divide(x, y)", "upstream * divide(1.0, y), upstream * divide(-self.result, y)",
              "x, y = self.inputs"),
    _op_class("Pow", "x", "power(x, self.n)",
              "(upstream * self.n * power(x, self.n - 1) if self.n != 0 else 0.0,)", "(x,) = self.inputs", "n = 1"),
    _op_class("Neg", "x", "-x", "(-upstream,)"),
    _op_class("Exp", "x", "exponential(x)", "(upstream * self.result,)"),
    _op_class("Log", "x", "logarithm(x)", "(upstream * divide(1.0, self.inputs[0]),)"),
    _op_class("Tanh", "x", "math.tanh(x)", "(upstream * (1.0 - self.result**2),)"),
    _op_class("Sigmoid", "x", "logistic(x)", "(upstream * self.result * (1.0 - self.result),)"),
    _op_class("ReLU", "x", "x if x > 0.0 else 0.0", "(upstream if self.inputs[0] > 0.0 else 0.0,)"),
)  # fmt: skip

_CLASSES = (
    '''\
"""Ops are classes with a forward and a backward, as in large frameworks; a node knows the op that made it."""

import math


class Function:
    def __init__(self, *operands):
        self.operands = operands
        self.inputs = [operand.data for operand in operands]

    @classmethod
    def apply(cls, *operands, **options):
        operands = [x if isinstance(x, Tensor) else Tensor(x) for x in operands]
        function = cls(*operands)
        for name, option in options.items():
            setattr(function, name, option)
        function.result = function.forward(*function.inputs)
        return Tensor(function.result, function)


'''
    + "\n\n".join(_OP_CLASSES)
    + '''

class Tensor:
    def __init__(self, data, creator=None):
        self.data = float(data)
        self.grad = 0.0
        self.creator = creator

'''
    + _functions("""
__add__(self, other): return Add.apply(self, other)
__radd__(self, other): return Add.apply(other, self)
__sub__(self, other): return Sub.apply(self, other)
__rsub__(self, other): return Sub.apply(other, self)
__mul__(self, other): return Mul.apply(self, other)
__rmul__(self, other): return Mul.apply(other, self)
__truediv__(self, other): return Div.apply(self, other)
__rtruediv__(self, other): return Div.apply(other, self)
__pow__(self, n): return Pow.apply(self, n=n)
__neg__(self): return Neg.apply(self)
exp(self): return Exp.apply(self)
log(self): return Log.apply(self)
tanh(self): return Tanh.apply(self)
sigmoid(self): return Sigmoid.apply(self)
relu(self): return ReLU.apply(self)
""", 1)
    + '''
    def backward(self, gradient=1.0):
        order, seen, stack = [], set(), [(self, False)]
        while stack:
            tensor, finished = stack.pop()
            if finished:
                order.append(tensor)
            elif tensor not in seen:
                seen.add(tensor)
                stack.append((tensor, True))
                if tensor.creator is not None:
                    tensor.grad = 0.0
                    stack.extend((operand, False) for operand in tensor.creator.operands)
        self.grad = gradient
        for tensor in reversed(order):
            if tensor.creator is not None:
                shares = tensor.creator.backward(tensor.grad)
                for operand, share in zip(tensor.creator.operands, shares):
                    operand.grad += share


'''
)  # fmt: skip

#: Engines of other styles than the teaching engine's, by what is different about them.
STYLES: dict[str, str] = {
    "local derivatives in tuples": _TUPLES + EDGES,
    "a set of operands and recursion": _RECURSIVE + EDGES,
    "functions and a count of uses": _FUNCTIONS + EDGES,
    "a tape": _TAPE + EDGES,
    "classes of ops": _CLASSES + EDGES,
}
