"""The op table: for every primitive its value and its derivatives, side by side.

An op is two facts: what it gives, and how much that changes when an operand does. Both stand here and nowhere
else. A derivative rule is plain arithmetic over the operands and the result, so one rule runs on floats (the eager
engine), on `Value`s (higher-order derivatives) and on `Symbol`s (text for documents and kernels). Whatever wants to
receive ops, as `Value` does, has a method `__gradwalk_op__(op, operands)`; plain numbers are simply computed.

At the edges (`log(0)`, `1/0`, `relu` at 0) the numbers are PyTorch's, in float64.
"""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gradwalk import ieee
from gradwalk.errors import NotANumberError, NumberTooLargeError, OpError
from gradwalk.ieee import Ieee, number

__all__ = [
    "CUT",
    "TABLE",
    "Cut",
    "Op",
    "abs",
    "acos",
    "add",
    "asin",
    "atan",
    "choose",
    "clamp",
    "comes_later",
    "cos",
    "cosh",
    "div",
    "equal",
    "erf",
    "exp",
    "expm1",
    "leaky_relu",
    "log",
    "log1p",
    "maximum",
    "minimum",
    "mul",
    "neg",
    "number",
    "op",
    "pow",
    "relu",
    "sigmoid",
    "sin",
    "sinh",
    "softplus",
    "sqrt",
    "sub",
    "tan",
    "tanh",
    "where",
]

Interval = tuple[float, float]
Rule = Callable[..., Any]

inf, nan = math.inf, math.nan
REALS: Interval = (-inf, inf)
POSITIVE: Interval = (0.0, inf)


# --- an edge that is cut -----------------------------------------------------------------------------------------


class Cut(float):
    """The slope towards an operand that an op did not take, as `where` does not take one of its branches.

    As a number it is 0. But 0 times an infinite upstream gradient would be nan, and so would 0 times an infinite slope
    further down: along such an edge nothing is pushed at all. A rule says so with `CUT`; its op has the trait `cuts`.

    >>> ops.where.local(1.0, 2.0, 3.0, 2.0)[2] is ops.CUT, ops.CUT + 1.0
    (True, 1.0)
    """

    __slots__ = ()

    def __reduce__(self) -> str:
        return "CUT"  # there is one, in copies and pickles too


CUT = Cut(0.0)


# --- what an op is -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Op:
    """One primitive. Call it on numbers to get a number, on Values to get a Value.

    `domain` holds an open interval for each operand in which the op is smooth, except where `rough(*operands)` is 0;
    `there` says in words what it gives at such a point. `doc` says what it is, and `defaults` are its last operands if
    they are left out. `at_once` gives all derivatives together, on floats, where rules would repeat each other's work.
    `cuts` tells that a rule may give `CUT`, and `shortened` that it may be called with fewer operands.

    >>> ops.tanh(0.0), ops.mul(3, 4)
    (0.0, 12.0)
    >>> ops.mul.local(3.0, 4.0, 12.0)
    [4.0, 3.0]
    """

    name: str
    symbol: str
    value: Callable[..., float]
    partials: tuple[Rule, ...]
    domain: tuple[Interval, ...] = ()
    rough: Rule | None = None
    there: str = ""
    doc: str = ""
    defaults: tuple[float, ...] = ()
    at_once: Callable[..., list[float]] | None = None
    cuts: bool = False
    shortened: bool = False

    def __post_init__(self) -> None:
        if self.doc:
            vars(self)["__doc__"] = self.doc  # what help() shows
        if not self.domain:
            object.__setattr__(self, "domain", (REALS,) * self.arity)

    @property
    def arity(self) -> int:
        """How many operands the op takes.

        >>> ops.exp.arity, ops.add.arity, ops.clamp.arity
        (1, 2, 3)
        """
        return len(self.partials)

    def __call__(self, *operands: Any, **settings: Any) -> Any:  # noqa: D102
        if settings or (self.shortened and len(operands) < self.arity):
            return self._completed(operands, settings)
        for operand in operands:
            if operand.__class__ is not float:
                break
        else:
            return self.forward(*operands)
        apply = getattr(operand, "__gradwalk_op__", None)  # of the first, as mostly
        if apply is not None:
            return apply(self, operands)
        for operand in operands:
            apply = getattr(operand, "__gradwalk_op__", None)
            if apply is not None:
                return apply(self, operands)
        return self.forward(*map(number, operands))

    def _completed(self, operands: tuple[Any, ...], settings: dict[str, Any]) -> Any:
        """A call that leaves operands out or names them, as in `clamp(x, min=0)`: a tensor's method knows how."""
        method = getattr(operands[0], self.name, None) if operands else None
        if method is not None and getattr(operands[0], "many", False) and TABLE.get(self.name) is self:
            return method(*operands[1:], **settings)
        if settings:
            raise OpError(f"{self.name} takes its operands in their order, without names: {', '.join(settings)}")
        left_out = self.arity - len(operands)
        if not operands or left_out > len(self.defaults):
            raise wrong_count(self, len(operands))
        return self(*operands, *self.defaults[-left_out:])

    def forward(self, *operands: float) -> float:
        """The op's value on floats.

        >>> ops.log.forward(0.0)
        -inf
        """
        try:
            out = self.value(*operands)
            if out.__class__ is float:
                return out
        except Exception:  # the careful way finds out what is wrong, and says it
            pass
        return _carefully(self.value, operands, self, 0)

    def slope(self, position: int, *operands_and_out: float) -> float:
        """The derivative with respect to one operand, counted from 0, on floats.

        >>> ops.div.slope(1, 1.0, 0.0, ops.div(1.0, 0.0))
        -inf
        """
        rule = self.partials[position]
        try:
            slope = rule(*operands_and_out)
            if slope.__class__ is float or slope is CUT:
                return slope
        except Exception:  # the careful way finds out what is wrong, and says it
            pass
        return _carefully(rule, operands_and_out, self, position + 1)

    def local(self, *operands_and_out: float) -> list[float]:
        """The derivative with respect to each operand, on floats.

        >>> ops.div.local(1.0, 0.0, ops.div(1.0, 0.0))
        [inf, -inf]
        """
        if self.at_once is not None:
            return self.at_once(*operands_and_out)
        return [self.slope(position, *operands_and_out) for position in range(self.arity)]

    def __copy__(self) -> Op:  # an op is known by its identity, so that a copied model still uses this one
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Op:
        return self

    def __reduce__(self) -> Any:  # … and for pickles: by its name here, or by where the user defined it
        if TABLE.get(self.name) is self:
            return _named, (self.name,)
        place = str(vars(self).get("__module__", self.value.__module__))
        there = vars(sys.modules.get(place, object))
        name = next((name for name, thing in there.items() if thing is self), None)
        if name is None:
            raise OpError(
                f"the op {self.name} cannot be pickled: it is pickled by its name, and {place} has none for it; "
                "define it at the top of a module"
            )
        return _imported, (place, name)

    def __repr__(self) -> str:
        return f"<op {self.name}>"


def op(*partials: Rule, symbol: str = "", **traits: Any) -> Callable[[Callable[..., float]], Op]:
    """Make an op of your own: the decorated function is its value, the arguments are its derivatives.

    Give one rule for each operand; a rule takes the operands and the result, and is written with operators and
    gradwalk's own functions, so that it also runs on Values. The op then works on Values and tensors, at
    any order of derivative, and in checks.

    >>> @gradwalk.op(lambda x, out: 3 * x * x)
    ... def cube(x):
    ...     return x * x * x
    >>> x = gradwalk.Value(2.0)
    >>> cube(x).backward()
    >>> x.grad, gradwalk.grad(gradwalk.grad(cube))(2.0)
    (12.0, 12.0)
    """
    if not partials or not all(callable(rule) for rule in partials):
        raise OpError(
            "@op takes one derivative rule for each operand, as in @op(lambda x, out: 3 * x * x); "
            f"it was given {partials!r}"
        )

    def make(value: Callable[..., float]) -> Op:
        if not callable(value):  # as after `@op` alone, which takes the function for a rule
            raise OpError(
                "@op is given derivative rules first, and decorates the function they belong to: "
                f"@op(lambda x, out: 3 * x * x); in its place was {value!r:.60}"
            )
        name = getattr(value, "__name__", "op")
        code = getattr(value, "__code__", None)
        if code is not None and not code.co_flags & 0x04:  # without *args
            least = code.co_argcount - len(getattr(value, "__defaults__", None) or ())
            if not least <= len(partials) <= code.co_argcount:
                raise OpError(
                    f"{name} takes {code.co_argcount} operand(s) and has {len(partials)} derivative rule(s); "
                    "give one for each operand"
                )
        made = Op(name, symbol or name, value, partials, **traits)
        vars(made).update(__name__=name, __doc__=value.__doc__, __module__=value.__module__)  # what help() shows
        return made

    return make


def _named(name: str) -> Op:
    """An op of the table, for pickles."""
    if name not in TABLE:
        raise OpError(f"this pickle needs the op {name}, which this gradwalk does not have; make it anew with this one")
    return TABLE[name]


def _imported(module: str, name: str) -> Op:
    """An op of the user's, for pickles."""
    found = getattr(importlib.import_module(module), name, None)
    if not isinstance(found, Op):
        raise OpError(f"this pickle needs the op {module}.{name}, which is no longer there")
    return found


def wrong_count(op: Op, given: int) -> OpError:
    """What is raised where an op is given too many operands, or too few."""
    return OpError(f"{op.name} takes {op.arity} operand(s) and was given {given}")


def _carefully(rule: Rule, arguments: tuple[float, ...], op: Op, position: int) -> float:
    """`rule(*arguments)`, with IEEE's answer where Python's arithmetic raises or turns complex."""
    given = len(arguments) - (position > 0)
    if given != op.arity:
        raise wrong_count(op, given)
    try:
        try:
            result = rule(*arguments)
        except ArithmeticError:
            result = rule(*map(Ieee, arguments))
        if isinstance(result, complex):
            result = rule(*map(Ieee, arguments))
    except Exception as error:
        raise OpError(
            f"{_part(op, position)} raised {type(error).__name__} ({error}) at {_point(op, arguments)}; "
            "gradwalk's own functions (gradwalk.log, gradwalk.sqrt, …) give inf and nan where math's raise"
        ) from error
    try:
        return CUT if result is CUT else number(result)
    except NumberTooLargeError as error:
        raise OpError(f"{_part(op, position)} at {_point(op, arguments)}: {error}") from None
    except NotANumberError:
        raise OpError(
            f"{_part(op, position)} gave {type(result).__name__} {result!r} at {_point(op, arguments)}; "
            "it must give a number"
        ) from None


def _part(op: Op, position: int) -> str:
    return f"the derivative of {op.name} with respect to operand {position}" if position else f"the value of {op.name}"


def _point(op: Op, arguments: tuple[float, ...]) -> str:
    return "(" + ", ".join(map(repr, arguments[: op.arity])) + ")"


# --- words that rules may use beside operators and ops -----------------------------------------------------------


def choose(condition: Any, yes: Any, no: Any) -> Any:
    """`yes` where the condition holds, else `no`: a branch that can also be written down as text.

    A condition that is not known yet has a method `__gradwalk_choose__(yes, no)`.

    >>> choose(3.0 > 2.0, "yes", "no")
    'yes'
    """
    if condition is True:
        return yes
    if condition is False:
        return no
    if hasattr(condition, "__gradwalk_choose__"):
        return condition.__gradwalk_choose__(yes, no)
    if getattr(condition, "ndim", None) == 0:  # NumPy's True and False
        return yes if condition else no
    raise OpError(
        f"choose takes one condition, True or False, not {type(condition).__name__}: {condition!r:.60}; "
        "apply the rule to one number at a time"
    )


def equal(x: Any, y: Any) -> Any:
    """Whether two numbers are equal; `==` will not do in a rule, because Values compare by identity.

    A number that is not known yet has a method `__gradwalk_equal__(other)`.

    >>> equal(Value(0.0), 0.0), equal(float("nan"), float("nan"))
    (True, False)
    """
    if isinstance(x, float) and isinstance(y, float):
        return x == y
    for one, other in ((x, y), (y, x)):
        if hasattr(one, "__gradwalk_equal__"):
            return one.__gradwalk_equal__(other)
    return (x <= y) & (x >= y)


def comes_later(x: Any) -> bool:
    """Whether `x` stands for a number that is not known yet: it says so itself.

    >>> comes_later(3.0)
    False
    """
    return getattr(x, "comes_later", False)


# --- values that need a line or two --------------------------------------------------------------------------


def _sigmoid(x: float) -> float:
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    z = ieee.exp(x)
    return z / (1.0 + z)


def _softplus(x: float) -> float:
    return (x if x > 0.0 else 0.0) + math.log1p(math.exp(-math.fabs(x))) if x == x else nan


def _relu(x: float) -> float:
    return 0.0 if x <= 0.0 else x


def _leaky_relu(x: float, slope: float) -> float:
    return x if x > 0.0 else x * slope


def _maximum(x: float, y: float) -> float:
    return x if x >= y or x != x else y


def _minimum(x: float, y: float) -> float:
    return x if x <= y or x != x else y


def _clamp(x: float, low: float, high: float) -> float:
    return _minimum(_maximum(x, low), high)


# --- the table: name, symbol, value | derivatives | where it is smooth ---------------------------------------------

add: Op = Op("add", "+", lambda x, y: x + y, (lambda x, y, out: 1.0, lambda x, y, out: 1.0))
sub: Op = Op("sub", "-", lambda x, y: x - y, (lambda x, y, out: 1.0, lambda x, y, out: -1.0))
mul: Op = Op("mul", "*", lambda x, y: x * y, (lambda x, y, out: y, lambda x, y, out: x))
div: Op = Op(
    "div", "/", ieee.div,
    (lambda x, y, out: 1.0 / y, lambda x, y, out: -out / y),
    rough=lambda x, y: y, there="inf or nan, as IEEE 754 has it",
)  # fmt: skip
pow: Op = Op(
    "pow", "**", ieee.power,
    (
        lambda x, y, out: choose(equal(y, 0.0), 0.0, y * pow(x, y - 1.0)),
        lambda x, y, out: choose(equal(x, 0.0) & (y >= 0.0), 0.0, out * log(x)),
    ),
    domain=(POSITIVE, REALS), there="a negative base has a derivative for whole exponents, and none in the exponent",
)  # fmt: skip
neg: Op = Op("neg", "neg", lambda x: -x, (lambda x, out: -1.0,))

exp: Op = Op("exp", "exp", ieee.exp, (lambda x, out: out,), doc="The exponential: e to this power.")
expm1: Op = Op(
    "expm1", "expm1", ieee.expm1, (lambda x, out: out + 1.0,), doc="The exponential less 1: exact near 0.",
)  # fmt: skip
log: Op = Op(
    "log", "log", ieee.log, (lambda x, out: 1.0 / x,), domain=(POSITIVE,), there="-inf at 0 with slope inf",
    doc="The natural logarithm.",
)  # fmt: skip
log1p: Op = Op(
    "log1p", "log1p", ieee.log1p, (lambda x, out: 1.0 / (x + 1.0),),
    domain=((-1.0, inf),), there="-inf at -1 with slope inf",
    doc="The natural logarithm of this plus 1: exact near 0.",
)  # fmt: skip
sqrt: Op = Op(
    "sqrt", "sqrt", ieee.sqrt, (lambda x, out: 0.5 / out,), domain=(POSITIVE,), there="slope inf at 0",
    doc="The square root.",
)  # fmt: skip

sin: Op = Op("sin", "sin", ieee.nan_outside(math.sin), (lambda x, out: cos(x),), doc="The sine.")
cos: Op = Op("cos", "cos", ieee.nan_outside(math.cos), (lambda x, out: -sin(x),), doc="The cosine.")
tan: Op = Op(
    "tan", "tan", ieee.nan_outside(math.tan), (lambda x, out: 1.0 + out * out,),
    rough=lambda x: cos(x), there="no float is exactly a pole: the value is huge but finite",
    doc="The tangent.",
)  # fmt: skip
asin: Op = Op(
    "asin", "asin", ieee.nan_outside(math.asin), (lambda x, out: 1.0 / sqrt(1.0 - x * x),),
    domain=((-1.0, 1.0),), there="slope inf at the ends",
    doc="The angle whose sine this is.",
)  # fmt: skip
acos: Op = Op(
    "acos", "acos", ieee.nan_outside(math.acos), (lambda x, out: -1.0 / sqrt(1.0 - x * x),),
    domain=((-1.0, 1.0),), there="slope -inf at the ends",
    doc="The angle whose cosine this is.",
)  # fmt: skip
atan: Op = Op("atan", "atan", math.atan, (lambda x, out: 1.0 / (x * x + 1.0),), doc="The angle whose tangent this is.")
sinh: Op = Op("sinh", "sinh", ieee.sinh, (lambda x, out: cosh(x),), doc="The hyperbolic sine.")
cosh: Op = Op("cosh", "cosh", ieee.cosh, (lambda x, out: sinh(x),), doc="The hyperbolic cosine.")
tanh: Op = Op(
    "tanh", "tanh", math.tanh, (lambda x, out: 1.0 - out * out,),
    doc="The hyperbolic tangent: squashes to between -1 and 1.",
)  # fmt: skip
erf: Op = Op(
    "erf", "erf", math.erf, (lambda x, out: 2.0 / math.sqrt(math.pi) * exp(-(x * x)),),
    doc="The error function.",
)  # fmt: skip

sigmoid: Op = Op(
    "sigmoid", "sigmoid", _sigmoid, (lambda x, out: out * (1.0 - out),),
    doc="1 / (1 + exp(-x)): squashes to between 0 and 1.",
)  # fmt: skip
softplus: Op = Op(
    "softplus", "softplus", _softplus, (lambda x, out: sigmoid(x),),
    doc="A smooth relu: log(1 + exp(x)).",
)  # fmt: skip
relu: Op = Op(
    "relu", "ReLU", _relu, (lambda x, out: choose(x <= 0.0, 0.0, 1.0),), rough=lambda x: x, there="slope 0 at 0",
    doc="The number itself if positive, else 0.",
)  # fmt: skip
leaky_relu: Op = Op(
    "leaky_relu", "LeakyReLU", _leaky_relu,
    (lambda x, slope, out: choose(x > 0.0, 1.0, slope), lambda x, slope, out: choose(x > 0.0, CUT, x)),
    rough=lambda x, slope: x, there="its lower slope at 0",
    doc="The number itself if positive, else `slope` times it.", defaults=(0.01,), cuts=True, shortened=True,
)  # fmt: skip
abs: Op = Op(
    "abs", "abs", math.fabs,
    (lambda x, out: choose(x > 0.0, 1.0, choose(x < 0.0, -1.0, 0.0)),),
    rough=lambda x: x, there="slope 0 at 0",
    doc="The number without its sign; `abs(v)` does the same.",
)  # fmt: skip
maximum: Op = Op(
    "maximum", "max", _maximum,
    (
        lambda x, y, out: choose(equal(x, y), 0.5, choose(x < y, CUT, 1.0)),
        lambda x, y, out: choose(equal(x, y), 0.5, choose(x > y, CUT, 1.0)),
    ),
    rough=lambda x, y: x - y, there="a tie gives one half to each",
    doc="The larger of two numbers; a tie shares the gradient.", cuts=True,
)  # fmt: skip
minimum: Op = Op(
    "minimum", "min", _minimum,
    (
        lambda x, y, out: choose(equal(x, y), 0.5, choose(x > y, CUT, 1.0)),
        lambda x, y, out: choose(equal(x, y), 0.5, choose(x < y, CUT, 1.0)),
    ),
    rough=lambda x, y: x - y, there="a tie gives one half to each",
    doc="The smaller of two numbers; a tie shares the gradient.", cuts=True,
)  # fmt: skip
clamp: Op = Op(
    "clamp", "clamp", _clamp,
    (
        lambda x, low, high, out: choose((x >= low) & (x <= high), 1.0, CUT),
        lambda x, low, high, out: choose((x < low) & (low < high), 1.0, CUT),
        lambda x, low, high, out: choose((x > high) | (low > high), 1.0, CUT),
    ),
    rough=lambda x, low, high: (x - low) * (x - high) * (high - low), there="slope 1 in x at a bound",
    doc="The number, or the nearer bound if it lies outside them.", cuts=True, shortened=True,
)  # fmt: skip
where: Op = Op(
    "where", "where", lambda condition, x, y: x if condition else y,
    (
        lambda condition, x, y, out: CUT,
        lambda condition, x, y, out: choose(equal(condition, 0.0), CUT, 1.0),
        lambda condition, x, y, out: choose(equal(condition, 0.0), 1.0, CUT),
    ),
    rough=lambda condition, x, y: condition,
    there="the branch not taken gets nothing, even where its own slope is inf (in PyTorch: nan)",
    doc="`x` where the condition is not 0, else `y`.", cuts=True,
)  # fmt: skip

#: Every built-in primitive by its name.
TABLE: dict[str, Op] = {entry.name: entry for entry in list(globals().values()) if isinstance(entry, Op)}
