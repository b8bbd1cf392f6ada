"""Engines that are right, each written another way, as source text: the grader must be content with all of them.

People write the same engine in many ways: closures or local derivatives, methods or functions, recursion or a stack, a
tape, counted consumers. None of that is a mistake, and none of it may be taken for one.
"""

from __future__ import annotations

__all__ = ["EDGES", "STYLES"]

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

_TUPLES = '''\
"""An op returns its value and its local derivatives; one place multiplies and adds."""

import math


class Value:
    def __init__(self, data, _children=(), _locals=()):
        self.data = data
        self.grad = 0
        self._children = _children
        self._locals = _locals

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data + other.data, (self, other), (1, 1))

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def __pow__(self, n):
        return Value(power(self.data, n), (self,), (n * power(self.data, n - 1) if n else 0,))

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + (-other)

    def __truediv__(self, other):
        return self * other**-1 if isinstance(other, Value) else self * divide(1, other)

    def __radd__(self, other):
        return self + other

    def __rsub__(self, other):
        return -self + other

    def __rmul__(self, other):
        return self * other

    def __rtruediv__(self, other):
        return self**-1 * other

    def exp(self):
        e = exponential(self.data)
        return Value(e, (self,), (e,))

    def log(self):
        return Value(logarithm(self.data), (self,), (divide(1, self.data),))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, (self,), (1 - t**2,))

    def sigmoid(self):
        s = logistic(self.data)
        return Value(s, (self,), (s - s * s,))

    def relu(self):
        return Value(max(0, self.data), (self,), (float(self.data > 0),))

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

_RECURSIVE = '''\
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

    def __add__(self, other):
        if not isinstance(other, Value):
            other = Value(other)
        result = Value(self.data + other.data, (self, other), "+")

        def _backward():
            self.grad += 1.0 * result.grad
            other.grad += 1.0 * result.grad

        result._backward = _backward
        return result

    def __mul__(self, other):
        if not isinstance(other, Value):
            other = Value(other)
        left, right = self.data, other.data
        result = Value(left * right, (self, other), "*")

        def _backward():
            self.grad = self.grad + right * result.grad
            other.grad = other.grad + left * result.grad

        result._backward = _backward
        return result

    def __pow__(self, other):
        assert isinstance(other, (int, float)), "the exponent must be a number"
        base = self.data
        result = Value(power(base, other), (self,), f"**{other}")

        def _backward():
            if other != 0:
                self.grad += other * power(base, other - 1) * result.grad

        result._backward = _backward
        return result

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + (-other)

    def __truediv__(self, other):
        if not isinstance(other, Value):
            other = Value(other)
        return self * other**-1

    def __radd__(self, other):
        return self + other

    def __rsub__(self, other):
        return other + (-self)

    def __rmul__(self, other):
        return self * other

    def __rtruediv__(self, other):
        return other * self**-1

    def exp(self):
        grown = exponential(self.data)
        result = Value(grown, (self,), "exp")

        def _backward():
            self.grad += grown * result.grad

        result._backward = _backward
        return result

    def log(self):
        x = self.data
        result = Value(logarithm(x), (self,), "log")

        def _backward():
            self.grad += divide(1.0, x) * result.grad

        result._backward = _backward
        return result

    def tanh(self):
        t = math.tanh(self.data)
        result = Value(t, (self,), "tanh")

        def _backward():
            self.grad += (1 - t**2) * result.grad

        result._backward = _backward
        return result

    def sigmoid(self):
        s = logistic(self.data)
        result = Value(s, (self,), "sigmoid")

        def _backward():
            self.grad += (1 - s) * s * result.grad

        result._backward = _backward
        return result

    def relu(self):
        positive = self.data > 0
        result = Value(self.data if positive else 0.0, (self,), "ReLU")

        def _backward():
            if positive:
                self.grad += result.grad

        result._backward = _backward
        return result

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

_FUNCTIONS = '''\
"""A plain record and functions: no operators, no methods."""

import math


class Node:
    __slots__ = ("value", "gradient", "parents", "slopes")

    def __init__(self, value, parents, slopes):
        self.value = value
        self.gradient = 0.0
        self.parents = parents
        self.slopes = slopes


def add(a, b):
    return Node(a.value + b.value, [a, b], [1.0, 1.0])


def sub(a, b):
    return Node(a.value - b.value, [a, b], [1.0, -1.0])


def mul(a, b):
    return Node(a.value * b.value, [a, b], [b.value, a.value])


def div(a, b):
    quotient = divide(a.value, b.value)
    return Node(quotient, [a, b], [divide(1.0, b.value), divide(-quotient, b.value)])


def pow(a, n):
    return Node(power(a.value, n), [a], [n * power(a.value, n - 1) if n != 0 else 0.0])


def neg(a):
    return Node(-a.value, [a], [-1.0])


def exp(a):
    e = exponential(a.value)
    return Node(e, [a], [e])


def log(a):
    return Node(logarithm(a.value), [a], [divide(1.0, a.value)])


def tanh(a):
    t = math.tanh(a.value)
    return Node(t, [a], [(1.0 - t) * (1.0 + t)])


def sigmoid(a):
    s = logistic(a.value)
    return Node(s, [a], [s * (1.0 - s)])


def relu(a):
    if a.value > 0.0:
        return Node(a.value, [a], [1.0])
    return Node(0.0, [a], [0.0])


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

_TAPE = '''\
"""Every op is written on a tape as it happens; the walk reads the tape backwards."""

import math

TAPE = []


class Scalar:
    def __init__(self, value, requires_grad=True):
        self.value = value
        self.grad = None

    def __add__(self, other):
        return record(self.value + lift(other).value, (self, 1.0), (lift(other), 1.0))

    def __sub__(self, other):
        return record(self.value - lift(other).value, (self, 1.0), (lift(other), -1.0))

    def __mul__(self, other):
        other = lift(other)
        return record(self.value * other.value, (self, other.value), (other, self.value))

    def __truediv__(self, other):
        other = lift(other)
        ratio = divide(self.value, other.value)
        return record(ratio, (self, divide(1.0, other.value)), (other, divide(-ratio, other.value)))

    def __pow__(self, n):
        slope = n * power(self.value, n - 1) if n != 0 else 0.0
        return record(power(self.value, n), (self, slope))

    def __neg__(self):
        return record(-self.value, (self, -1.0))

    def __rsub__(self, other):
        return lift(other) - self

    def __rtruediv__(self, other):
        return lift(other) / self

    __radd__ = __add__
    __rmul__ = __mul__

    def exp(self):
        grown = exponential(self.value)
        return record(grown, (self, grown))

    def ln(self):
        return record(logarithm(self.value), (self, divide(1.0, self.value)))

    def tanh(self):
        t = math.tanh(self.value)
        return record(t, (self, 1.0 - t * t))

    def sigmoid(self):
        s = logistic(self.value)
        return record(s, (self, s * (1.0 - s)))

    def ReLU(self):
        return record(max(self.value, 0.0), (self, 1.0 if self.value > 0.0 else 0.0))

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

_CLASSES = '''\
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


class Add(Function):
    def forward(self, x, y):
        return x + y

    def backward(self, upstream):
        return upstream, upstream


class Sub(Function):
    def forward(self, x, y):
        return x - y

    def backward(self, upstream):
        return upstream, -upstream


class Mul(Function):
    def forward(self, x, y):
        return x * y

    def backward(self, upstream):
        x, y = self.inputs
        return upstream * y, upstream * x


class Div(Function):
    def forward(self, x, y):
        return divide(x, y)

    def backward(self, upstream):
        x, y = self.inputs
        return upstream * divide(1.0, y), upstream * divide(-self.result, y)


class Pow(Function):
    n = 1

    def forward(self, x):
        return power(x, self.n)

    def backward(self, upstream):
        (x,) = self.inputs
        return (upstream * self.n * power(x, self.n - 1) if self.n != 0 else 0.0,)


class Neg(Function):
    def forward(self, x):
        return -x

    def backward(self, upstream):
        return (-upstream,)


class Exp(Function):
    def forward(self, x):
        return exponential(x)

    def backward(self, upstream):
        return (upstream * self.result,)


class Log(Function):
    def forward(self, x):
        return logarithm(x)

    def backward(self, upstream):
        return (upstream * divide(1.0, self.inputs[0]),)


class Tanh(Function):
    def forward(self, x):
        return math.tanh(x)

    def backward(self, upstream):
        return (upstream * (1.0 - self.result**2),)


class Sigmoid(Function):
    def forward(self, x):
        return logistic(x)

    def backward(self, upstream):
        return (upstream * self.result * (1.0 - self.result),)


class ReLU(Function):
    def forward(self, x):
        return x if x > 0.0 else 0.0

    def backward(self, upstream):
        return (upstream if self.inputs[0] > 0.0 else 0.0,)


class Tensor:
    def __init__(self, data, creator=None):
        self.data = float(data)
        self.grad = 0.0
        self.creator = creator

    def __add__(self, other):
        return Add.apply(self, other)

    def __radd__(self, other):
        return Add.apply(other, self)

    def __sub__(self, other):
        return Sub.apply(self, other)

    def __rsub__(self, other):
        return Sub.apply(other, self)

    def __mul__(self, other):
        return Mul.apply(self, other)

    def __rmul__(self, other):
        return Mul.apply(other, self)

    def __truediv__(self, other):
        return Div.apply(self, other)

    def __rtruediv__(self, other):
        return Div.apply(other, self)

    def __pow__(self, n):
        return Pow.apply(self, n=n)

    def __neg__(self):
        return Neg.apply(self)

    def exp(self):
        return Exp.apply(self)

    def log(self):
        return Log.apply(self)

    def tanh(self):
        return Tanh.apply(self)

    def sigmoid(self):
        return Sigmoid.apply(self)

    def relu(self):
        return ReLU.apply(self)

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

#: Engines of other styles than the teaching engine's, by what is different about them.
STYLES: dict[str, str] = {
    "local derivatives in tuples": _TUPLES + EDGES,
    "a set of operands and recursion": _RECURSIVE + EDGES,
    "functions and a count of uses": _FUNCTIONS + EDGES,
    "a tape": _TAPE + EDGES,
    "classes of ops": _CLASSES + EDGES,
}
