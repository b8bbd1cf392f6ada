"""The checklist: what is asked of an engine, as data. Each check is one or more programs that must all come out right.

An order that is wrong only when operands stand the other way round meets its mirror image.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from gradwalk.diagnose.op_probes import at_points, chained, probe_of, spelt, with_itself, with_number
from gradwalk.diagnose.probes import Probe
from gradwalk.diagnose.vocabulary import BINARY, EXTRA, SYMBOL, UNARY
from gradwalk.errors import SettingError
from gradwalk.messages import Message, say, sentence, verbatim

__all__ = ["BEYOND", "CHECKS", "GROUPS", "OF_THE_WALK", "Check", "is_essential", "select"]

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

#: Groups that ask how an engine walks: where it has no walk of its own, there is nothing to judge.
OF_THE_WALK = frozenset({"order", "repeat", "depth"})

#: Groups and checks that go beyond what an engine must have: much that learns well does without them.
BEYOND = frozenset({"repeat", "depth", "edges", "data-changed-later"})

RANDOM = 100  # how many random expressions


@dataclass(frozen=True)
class Check:
    """One line of the checklist. `extra`: only for engines that have the op; `repeats`: where chance may play a part.

    >>> CHECKS["a-plus-a"].title, CHECKS["a-plus-a"].programs[0].text
    ('a + a', 'a = Value(3.0)\\nb = a + a\\nb.backward()')
    """

    name: str
    group: str
    title: Message
    programs: tuple[Probe, ...]
    extra: str = ""
    repeats: int = 1


def is_essential(name: str, group: str) -> bool:
    """Whether a check asks for what every engine must have: ordinary numbers, used in any way, walked back once.

    >>> is_essential("a-plus-a", "reuse"), is_essential("deep", "depth")
    (True, False)
    """
    return group not in BEYOND and name not in BEYOND


def _check(
    name: str, title: str, body: str, see: str, *points: Mapping[str, float], extra: str = "", repeats: int = 1
) -> Check:
    programs = tuple(probe_of(body, point, see) for point in points)
    return Check(name, "", sentence(title), programs, extra, repeats)


def _grouped(group: str, *checks: Check) -> tuple[Check, ...]:
    return tuple(replace(check, group=group) for check in checks)


# --- the list -------------------------------------------------------------------------------------------------------

_OPS = (*SYMBOL, "pow", "neg", *UNARY)
_TITLES = {
    **{op: verbatim(f"{op}(a)") for op in (*UNARY, *EXTRA)},
    **{op: verbatim(f"a {sign} b") for op, sign in {"add": "+", "sub": "−", "mul": "·", "div": "/"}.items()},
    "pow": say("a to a number"), "neg": verbatim("−a"),
}  # fmt: skip

_EACH_OP = tuple(
    Check(op, "ops", _TITLES[op], at_points(op), extra=op if op in EXTRA else "") for op in (*_OPS, *EXTRA)
)
_ZERO = Check("zero-factor", "ops", say("a product with a factor 0"), (
    probe_of("c = a * b", {"a": 3.0, "b": 0.0}, "c.data a.grad b.grad"),
    probe_of("c = a * b * d", {"a": 3.0, "b": 0.0, "d": -2.0}, "c.data a.grad b.grad d.grad")))  # fmt: skip
_CHAIN = tuple(
    Check(f"chain-{op}", "chain", say("k·{op} + a", op=op_) if "(" in op_ else say("k·({op}) + a", op=op_),
          (chained(op), chained(op, -2.0)), extra=op if op in EXTRA else "")
    for op in (*_OPS, *EXTRA) for op_ in (_TITLES[op],)
)  # fmt: skip

_CONSTRUCTION = _grouped(
    "construction",
    Check("float", "", say("Value(2.5) holds 2.5 and gradient 0"),
          (Probe("Value(2.5)", "a = Value(2.5)", ("a.data", "a.grad")),
           Probe("Value(0.123456789)", "a = Value(0.123456789)", ("a.data", "a.grad")),
           Probe("Value(-7.25)", "a = Value(-7.25)", ("a.data", "a.grad")))),
    Check("int", "", say("Value(3) holds 3"), (Probe("Value(3)", "a = Value(3)", ("a.data", "a.grad")),)),
    Check("own-state", "", say("two Values share nothing"),
          tuple(Probe("a new Value after an op", f"a = Value(2.0)\nb = a {sign} a\nfresh = Value(5.0)",
                      ("shared(fresh, a)",)) for sign in "*+")),
)  # fmt: skip

#: Operators that change what stands on their left, where the engine has them.
_IN_PLACE = tuple(
    Check(f"i{op}", "ops", verbatim(f"y {sign}= b"),
          (probe_of(f"y = a * a; y {sign}= b; y.backward()", {"a": 1.5, "b": 0.7}, "y.data a.grad b.grad",
                    optional=True),),
          extra=f"__i{BINARY[op][0][2:]}")
    for op, sign in SYMBOL.items()
)  # fmt: skip

_REUSE = _grouped(
    "reuse",
    *(Check(f"a-{word}-a", "", verbatim(_TITLES[op].replace("b", "a")), with_itself(op))
      for word, op in (("plus", "add"), ("times", "mul"), ("minus", "sub"), ("over", "div"))),
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
    Check("equal-numbers", "", say("two nodes that hold the same number"), (
        probe_of("b = a * k; c = b * k", {"a": 3.0, "k": 1.0}, "c.data a.grad k.grad"),
        probe_of("b = a + k; c = b + k", {"a": 3.0, "k": 0.0}, "c.data a.grad k.grad"),
        probe_of("c = a * b + a", {"a": 2.0, "b": 2.0}, "c.data a.grad b.grad"))),
)  # fmt: skip


_NUMBERS = (
    *(Check(f"{op}-number", "numbers", verbatim(f"a {sign} 2, a {sign} 0.5"), with_number(op))
      for op, sign in SYMBOL.items()),
    *(Check(f"r{op}", "numbers", verbatim(f"8 {sign} a, 0.5 {sign} a"), with_number(op, left=True))
      for op, sign in SYMBOL.items()),
    Check("rpow", "numbers", say("2 to the power of a"), extra="__rpow__", programs=tuple(
        probe_of(f"b = {n!r} ** a", {"a": 1.5}, "b.data a.grad", strict=True, optional=True) for n in (2, 0.5))),
)  # fmt: skip

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
    Check("diamonds", "", say("a chain of 25 diamonds"), (
        Probe("x = x·0.5 + x·0.5, 25 times",
                "a = Value(2.0)\nx = a\nfor i in range(25):\n    x = x * 0.5 + x * 0.5\nx.backward()",
                ("x.data", "a.grad")),)),
    Check("deep", "", say("a chain of 5,000 additions"), (
        Probe("x = x + 1, 5,000 times", "a = Value(2.0)\nx = a\nfor i in range(5000):\n    x = x + 1.0\nx.backward()",
                ("x.data", "a.grad")),)),
)  # fmt: skip

_EDGES = _grouped(
    "edges",
    _check("relu-at-zero", "relu at 0: slope 0", "b = a.relu()", "b.data a.grad", {"a": 0.0}),
    _check("tanh-large", "tanh at ±20, ±400, ±1000", "b = a.tanh()", "b.data a.grad",
           *({"a": x} for x in (20.0, -20.0, 400.0, -400.0, 1000.0, -1000.0))),
    _check("sigmoid-large", "sigmoid at ±400, ±1000", "b = a.sigmoid()", "b.data a.grad",
           *({"a": x} for x in (400.0, -400.0, 1000.0, -1000.0))),
    _check("exp-large", "exp at ±1000", "b = a.exp()", "b.data a.grad", {"a": -1000.0}, {"a": 1000.0}),
    _check("power-zero", "x to the power 0 at 0", "b = a ** 0", "b.data a.grad", {"a": 0.0}),
    Check("power-at-zero", "", say("x to the powers 1, 2, 3 at 0"),
          tuple(probe_of(f"b = a ** {n}", {"a": 0.0}, "b.data a.grad") for n in (1, 2, 3))),
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


_AT = {"log": 0.5}  # where an op is tried that is not smooth at −1.5
_LATER = "a.data = 10.0; b.data = 20.0; c.backward()"
_MANNERS = (
    Check("inputs-kept", "manners", say("an op leaves its operands' data alone"), (
        *(probe_of(f"c = a {sign} b; c.backward()", {"a": 3.5, "b": -2.0}, "a.data b.data")
          for sign in SYMBOL.values()),
        *(probe_of(f"b = {spelt(op)}; b.backward()", {"a": _AT.get(op, -1.5)}, "a.data")
          for op in ("pow", "neg", *UNARY)),
        *(replace(at_points(op)[1], see=("a.data",)) for op in EXTRA))),
    Check("networks", "manners", say("parameters and zero_grad of a network reach every weight"), (), extra="networks"),
    Check("data-changed-later", "manners", say("data changed after the op: the gradient is still the op's"), (
        *(probe_of(f"c = a {sign} b; {_LATER}", {"a": 3.0, "b": 2.0}, "a.grad b.grad") for sign in SYMBOL.values()),
        *(probe_of(f"b = {spelt(op)}; a.data = -2.0; b.backward()", {"a": 0.5}, "a.grad")
          for op in ("pow", *UNARY)))),
    Check("quiet", "manners", say("nothing is printed"), ()),
)  # fmt: skip

_ALL = (
    *_CONSTRUCTION, *_EACH_OP, _ZERO, *_IN_PLACE, *_CHAIN, *_REUSE, *_ORDER, *_NUMBERS, *_REPEAT, *_DEPTH, *_EDGES,
    *_MANNERS,
    Check("random", "random", say("{count} random expressions", count=RANDOM), ()),
)  # fmt: skip

#: Every check by its name, in the order of the report.
CHECKS: dict[str, Check] = {check.name: check for check in _ALL}


def select(names: Collection[str] | None = None) -> tuple[Check, ...]:
    """The checks of these names or groups, in the order of the report; all without names.

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
