"""The checklist: what is asked of an engine, as data. Each check is one or more programs that must all come out right.

The points are chosen so that a wrong engine does not give the right number by chance: `2 - a` is not asked at 2, and an
order that is wrong only when operands stand the other way round meets its mirror image.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from gradwalk.diagnose.programs import Program
from gradwalk.diagnose.vocabulary import EXTRA, UNARY
from gradwalk.errors import SettingError

__all__ = ["BEYOND", "CHECKS", "GROUPS", "Check", "chained", "is_essential", "on_points", "select"]

#: The groups in the order of the report, with what each is about.
GROUPS = {
    "construction": "making a Value",
    "ops": "each op: its value and its gradients",
    "chain": "each op inside a longer expression",
    "reuse": "a Value that is used more than once",
    "order": "the order of the walk",
    "numbers": "plain numbers on either side",
    "repeat": "walking back more than once",
    "depth": "long and tangled graphs",
    "edges": "numbers at the edges",
    "manners": "what an op must leave alone",
    "random": "random expressions",
}

#: Groups and checks that go beyond what an engine must have: much that learns well does without them.
BEYOND = frozenset({"repeat", "depth", "edges", "data-changed-later"})

RANDOM = 100  # how many random expressions


@dataclass(frozen=True)
class Check:
    """One line of the checklist. `extra`: only for engines that have the op; `repeats`: where chance may play a part.

    >>> from gradwalk.diagnose.checks import CHECKS
    >>> CHECKS["a-plus-a"].title, CHECKS["a-plus-a"].programs[0].text
    ('a + a', 'a = Value(3.0)\\nb = a + a\\nb.backward()')
    """

    name: str
    group: str
    title: str
    programs: tuple[Program, ...]
    extra: str = ""
    repeats: int = 1


def is_essential(name: str, group: str) -> bool:
    """Whether a check asks for what every engine must have: ordinary numbers, used in any way, walked back once.

    >>> from gradwalk.diagnose.checks import is_essential
    >>> is_essential("a-plus-a", "reuse"), is_essential("deep", "depth")
    (True, False)
    """
    return group not in BEYOND and name not in BEYOND


# --- how programs are written ------------------------------------------------------------------------------------


def _program(body: str, inputs: Mapping[str, float], see: str, **traits: bool) -> Program:
    """Leaves, the lines of the body, and a walk back from the last name, unless the body does the walking itself."""
    lines = [*(f"{name} = Value({_literal(x)})" for name, x in inputs.items()), *body.split("; ")]
    if "backward" not in body:
        lines.append(f"{lines[-1].split(' = ')[0]}.backward()")
    at = ", ".join(f"{name} = {x:g}" for name, x in inputs.items())
    return Program(f"{body} at {at}".replace("\n", "; "), "\n".join(lines), tuple(see.split()), **traits)


def _literal(x: float) -> str:
    return repr(x) if math.isfinite(x) else f'float("{x}")'


def _check(
    name: str, title: str, body: str, see: str, *points: Mapping[str, float], extra: str = "", repeats: int = 1
) -> Check:
    return Check(name, "", title, tuple(_program(body, point, see) for point in points), extra, repeats)


def _grouped(group: str, *checks: Check) -> tuple[Check, ...]:
    return tuple(Check(c.name, group, c.title, c.programs, c.extra, c.repeats) for c in checks)


PAIRS = ((3.0, 2.0), (-1.5, 4.0), (0.25, -2.0), (-0.6, -0.7), (1.25, 0.8))
POINTS = (0.5, -0.75, 2.0, -1.6, 0.1)
POSITIVE = (0.5, 3.0, 2.0, 1.6, 0.1)
POWERS = ((3.0, 2), (-1.5, 3), (2.0, -1), (0.7, 0.5), (1.3, 0), (-0.8, 1), (1.2, -2.5), (2.5, 1.5))
SYMBOL = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


def on_points(op: str) -> tuple[Program, ...]:
    """The programs that try one op by itself, at points where it is smooth.

    >>> from gradwalk.diagnose.checks import on_points
    >>> print(on_points("tanh")[0].text)
    a = Value(0.5)
    b = a.tanh()
    b.backward()
    """
    if op in SYMBOL:
        return tuple(_program(f"c = a {SYMBOL[op]} b", {"a": a, "b": b}, "c.data a.grad b.grad") for a, b in PAIRS)
    if op == "pow":
        return tuple(_program(f"b = a ** {n}", {"a": a}, "b.data a.grad") for a, n in POWERS)
    text = "b = -a" if op == "neg" else f"b = a.{op}()"
    points = POSITIVE if op in ("log", "sqrt") else POINTS
    return tuple(_program(text, {"a": a}, "b.data a.grad") for a in points)


def chained(op: str) -> Program:
    """The program that tries one op inside a longer expression, with an operand that is used once more.

    >>> from gradwalk.diagnose.checks import chained
    >>> chained("tanh").title
    'y = k * a.tanh() + a at k = 3, a = 0.6'
    """
    if op in SYMBOL:
        return _program(
            f"y = k * (a {SYMBOL[op]} b) + a", {"k": 3.0, "a": 1.7, "b": 0.6}, "y.data a.grad b.grad k.grad"
        )
    spelt = {"neg": "(-a)", "pow": "a ** 3"}.get(op, f"a.{op}()")
    return _program(f"y = k * {spelt} + a", {"k": 3.0, "a": 0.6}, "y.data a.grad k.grad")


# --- the list -------------------------------------------------------------------------------------------------------

_OPS = (*SYMBOL, "pow", "neg", *UNARY)
_TITLES = {"add": "a + b", "sub": "a − b", "mul": "a · b", "div": "a / b", "pow": "a to a number", "neg": "−a"}


def _op_checks() -> tuple[Check, ...]:
    return tuple(
        Check(op, "ops", _TITLES.get(op, f"{op}(a)"), on_points(op), extra=op if op in EXTRA else "")
        for op in (*_OPS, *EXTRA)
    )


def _chain_checks() -> tuple[Check, ...]:
    def title(op: str) -> str:
        inner = _TITLES.get(op, f"{op}(a)")
        return f"3·({inner}) + a" if op in _TITLES else f"3·{inner} + a"

    return tuple(
        Check(f"chain-{op}", "chain", title(op), (chained(op),), extra=op if op in EXTRA else "")
        for op in (*_OPS, *EXTRA)
    )


_CONSTRUCTION = _grouped(
    "construction",
    Check("float", "", "Value(2.5) holds 2.5 and gradient 0",
          (Program("Value(2.5)", "a = Value(2.5)", ("a.data", "a.grad")),)),
    Check("int", "", "Value(3) holds 3", (Program("Value(3)", "a = Value(3)", ("a.data", "a.grad")),)),
    Check("own-state", "", "two Values share nothing",
          (Program("a new Value after an op", "a = Value(2.0)\nb = a * a\nfresh = Value(5.0)",
                   ("shared(fresh, a)",)),)),
)  # fmt: skip

_REUSE = _grouped(
    "reuse",
    _check("a-plus-a", "a + a", "b = a + a", "b.data a.grad", {"a": 3.0}, {"a": -0.7}),
    _check("a-times-a", "a · a", "b = a * a", "b.data a.grad", {"a": 3.0}, {"a": -0.7}),
    _check("a-minus-a", "a − a", "b = a - a", "b.data a.grad", {"a": 3.0}, {"a": -0.7}),
    _check("a-over-a", "a / a", "b = a / a", "b.data a.grad", {"a": 3.0}, {"a": -0.7}),
    _check("diamond", "the diamond: (a + 1)·(3a)", "b = a + 1; c = a * 3; d = b * c", "d.data a.grad",
           {"a": 2.0}, {"a": -1.3}),
    _check("twice-doubled", "b = a + a, then b + b", "b = a + a; c = b + b", "c.data a.grad", {"a": 3.0}),
    _check("product-of-both", "(a·b)·(a + b)", "c = (a * b) * (a + b)", "c.data a.grad b.grad",
           {"a": 3.0, "b": 2.0}, {"a": -1.5, "b": 0.4}),
    _check("three-times", "a + a + a + b", "c = a + a + a + b", "c.data a.grad b.grad", {"a": 2.0, "b": 1.0}),
)  # fmt: skip

_ORDER = _grouped(
    "order",
    _check("square-plus-itself", "b = 2a, then b·b + b", "b = a * 2; c = b * b + b", "c.data a.grad",
           {"a": 3.0}, repeats=5),
    _check("itself-plus-square", "b = 2a, then b + b·b", "b = a * 2; c = b + b * b", "c.data a.grad",
           {"a": 3.0}, repeats=5),
    _check("long-and-short", "a long way and a short one to b", "b = a * 2; c = ((b * 3) * b + 1) * b; d = c + b",
           "d.data a.grad", {"a": 1.5}, repeats=5),
    _check("short-and-long", "a short way and a long one to b", "b = a * 2; c = b * (1 + b * (b * 3)); d = b + c",
           "d.data a.grad", {"a": 1.5}, repeats=5),
    _check("two-layers", "two layers that use both of their inputs",
           "p = a * b + a; q = a * b + b; r = p * q + p; s = p * q + q; y = r * s + r",
           "y.data a.grad b.grad", {"a": 0.7, "b": -1.2}, repeats=5),
)  # fmt: skip


def _number_checks() -> tuple[Check, ...]:
    made = []
    for op, symbol in SYMBOL.items():
        right = [_program(f"b = a {symbol} {n!r}", {"a": 3.5}, "b.data a.grad", strict=True) for n in (2, 0.5)]
        made.append(Check(f"{op}-number", "numbers", f"a {symbol} 2, a {symbol} 0.5", tuple(right)))
    for op, symbol in SYMBOL.items():
        left = [_program(f"b = {n!r} {symbol} a", {"a": 3.5}, "b.data a.grad", strict=True) for n in (8, 0.5)]
        left += [_program(f"b = 8 {symbol} a", {"a": -1.25}, "b.data a.grad", strict=True)]
        made.append(Check(f"r{op}", "numbers", f"8 {symbol} a, 0.5 {symbol} a", tuple(left)))
    power = [_program(f"b = {n!r} ** a", {"a": 1.5}, "b.data a.grad", strict=True, optional=True) for n in (2, 0.5)]
    made.append(Check("rpow", "numbers", "2 to the power of a", tuple(power), extra="__rpow__"))
    return tuple(made)


_REPEAT = _grouped(
    "repeat",
    _check("second-backward", "backward twice: leaves add up, once per walk",
           "y = x * x * x; y.backward(); first = x.grad; y.backward()", "first x.grad", {"x": 3.0}),
    _check("leaf-zeroed", "backward, the leaf set to 0, backward again",
           "y = x * x * x; y.backward(); x.grad = 0.0; y.backward()", "x.grad", {"x": 3.0}),
    _check("interior-zeroed", "backward, every gradient set to 0, backward again",
           "s = x * x; y = s * x; y.backward(); x.grad = 0.0; s.grad = 0.0; y.grad = 0.0; y.backward()",
           "x.grad", {"x": 3.0}),
    _check("two-roots", "two results that share a part, one after the other",
           "s = x * x; f = s * 2; g = s * 5; f.backward(); first = x.grad; g.backward()", "first x.grad", {"x": 3.0}),
    _check("from-the-middle", "backward from a part, then from the whole",
           "s = x * x; y = s * 5; s.backward(); first = x.grad; y.backward()", "first x.grad", {"x": 3.0}),
)  # fmt: skip

_DEPTH = _grouped(
    "depth",
    Check("diamonds", "", "a chain of 25 diamonds", (
        Program("x = x·0.5 + x·0.5, 25 times",
                "a = Value(2.0)\nx = a\nfor i in range(25):\n    x = x * 0.5 + x * 0.5\nx.backward()",
                ("x.data", "a.grad")),)),
    Check("deep", "", "a chain of 5,000 additions", (
        Program("x = x + 1, 5,000 times", "a = Value(2.0)\nx = a\nfor i in range(5000):\n    x = x + 1.0\nx.backward()",
                ("x.data", "a.grad")),)),
)  # fmt: skip

_EDGES = _grouped(
    "edges",
    _check("relu-at-zero", "relu at 0: slope 0", "b = a.relu()", "b.data a.grad", {"a": 0.0}),
    _check("zero-factor", "a product with a factor 0", "c = a * b * d", "c.data a.grad b.grad d.grad",
           {"a": 3.0, "b": 0.0, "d": -2.0}),
    _check("tanh-large", "tanh at ±20, ±400, ±1000", "b = a.tanh()", "b.data a.grad",
           *({"a": x} for x in (20.0, -20.0, 400.0, -400.0, 1000.0, -1000.0))),
    _check("sigmoid-large", "sigmoid at ±400, ±1000", "b = a.sigmoid()", "b.data a.grad",
           *({"a": x} for x in (400.0, -400.0, 1000.0, -1000.0))),
    _check("exp-large", "exp at ±1000", "b = a.exp()", "b.data a.grad", {"a": -1000.0}, {"a": 1000.0}),
    _check("power-zero", "x to the power 0 at 0", "b = a ** 0", "b.data a.grad", {"a": 0.0}),
    _check("power-at-zero", "x to the powers 1, 2, 3 at 0", "b = a ** 1; c = a ** 2; d = a ** 3; e = b + c + d",
           "b.data c.data e.data a.grad", {"a": 0.0}, repeats=5),
    _check("root-at-zero", "x to the power 0.5 at 0: slope inf", "b = a ** 0.5", "b.data a.grad", {"a": 0.0}),
    _check("root-of-negative", "x to the power 0.5 at −2 is nan", "b = a ** 0.5", "b.data a.grad", {"a": -2.0}),
    _check("power-large", "powers too large for a float", "b = a ** 2; c = a ** 3; d = c + b", "b.data c.data",
           {"a": -1e200}),
    _check("one-over-zero", "1/0 is inf, with slope −inf", "b = 1.0 / a", "b.data a.grad", {"a": 0.0}),
    _check("zero-over-zero", "0/0 is nan", "c = a / b", "c.data a.grad b.grad", {"a": 0.0, "b": 0.0}),
    _check("reciprocal-at-zero", "x to the power −1 at 0 is inf", "b = a ** -1", "b.data a.grad", {"a": 0.0}),
    _check("log-of-zero", "log(0) is −inf, with slope inf", "b = a.log()", "b.data a.grad", {"a": 0.0}),
    _check("log-of-negative", "log(−1) is nan", "b = a.log()", "b.data", {"a": -1.0}),
    _check("zero-times-inf", "0·inf is nan", "c = a * b", "c.data a.grad b.grad", {"a": 0.0, "b": float("inf")}),
    _check("sqrt-at-zero", "sqrt at 0: slope inf", "b = a.sqrt()", "b.data a.grad", {"a": 0.0}, extra="sqrt"),
    _check("abs-at-zero", "abs at 0: slope 0", "b = a.abs()", "b.data a.grad", {"a": 0.0}, extra="abs"),
    _check("softplus-large", "softplus at ±1000", "b = a.softplus()", "b.data a.grad",
           {"a": 1000.0}, {"a": -1000.0}, extra="softplus"),
)  # fmt: skip


def _manners() -> tuple[Check, ...]:
    kept = [
        _program(f"c = a {symbol} b; c.backward()", {"a": 3.5, "b": -2.0}, "a.data b.data")
        for symbol in SYMBOL.values()
    ]
    for op in ("pow", "neg", *UNARY):
        spelt = {"neg": "-a", "pow": "a ** 3"}.get(op, f"a.{op}()")
        kept += [_program(f"b = {spelt}; b.backward()", {"a": 0.5 if op == "log" else -1.5}, "a.data")]
    later = [
        _program(f"c = a {symbol} b; a.data = 10.0; b.data = 20.0; c.backward()", {"a": 3.0, "b": 2.0}, "a.grad b.grad")
        for symbol in SYMBOL.values()
    ]
    for op in ("pow", *UNARY):
        spelt = {"pow": "a ** 3"}.get(op, f"a.{op}()")
        later += [_program(f"b = {spelt}; a.data = -2.0; b.backward()", {"a": 0.5}, "a.grad")]
    return (
        Check("inputs-kept", "manners", "an op leaves its operands' data alone", tuple(kept)),
        Check(
            "data-changed-later", "manners", "data changed after the op: the gradient is still the op's", tuple(later)
        ),
        Check("quiet", "manners", "nothing is printed", ()),
    )


_ALL = (
    *_CONSTRUCTION, *_op_checks(), *_chain_checks(), *_REUSE, *_ORDER, *_number_checks(), *_REPEAT, *_DEPTH, *_EDGES,
    *_manners(), Check("random", "random", f"{RANDOM} random expressions", ()),
)  # fmt: skip

#: Every check by its name, in the order of the report.
CHECKS: dict[str, Check] = {check.name: check for check in _ALL}


def select(names: Collection[str] | None = None) -> tuple[Check, ...]:
    """The checks of these names or groups, in the order of the report; all without names.

    >>> from gradwalk.diagnose.checks import select
    >>> [check.name for check in select(["a-times-a", "a-plus-a"])]
    ['a-plus-a', 'a-times-a']
    >>> select(["a-plus-b"])
    Traceback (most recent call last):
    ...
    gradwalk.errors.SettingError: there is no check or group 'a-plus-b'; did you mean 'a-plus-a'?
    """
    if names is None:
        return _ALL
    for name in names:
        if name not in CHECKS and name not in GROUPS:
            from difflib import get_close_matches

            near = get_close_matches(name, [*CHECKS, *GROUPS], 1)
            remedy = f"did you mean {near[0]!r}?" if near else f"the groups are {', '.join(GROUPS)}"
            raise SettingError(f"there is no check or group {name!r}; {remedy}")
    return tuple(check for check in _ALL if check.name in names or check.group in names)
