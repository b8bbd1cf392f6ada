"""Small programs to look at, with the numbers that must come out: for the terminal, the tests and the course.

Each is a program as text with its inputs, and beside it what the forward and the backward pass give. Where a common
mistake gives another gradient, that number and its cause are here too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gradwalk.errors import SettingError
from gradwalk.program import Program, program

__all__ = ["ALIASES", "PRESETS", "Preset", "WrongGradient", "preset"]


@dataclass(frozen=True)
class WrongGradient:
    """What a mistake makes of a node's gradient, and which mistake it is.

    >>> wrong = PRESETS["a-plus-a"].wrong[0]
    >>> wrong.node, wrong.gradient, wrong.cause
    ('a', 1.0, 'the second contribution replaces the first: = instead of +=')
    """

    node: str
    gradient: float
    cause: str


@dataclass(frozen=True)
class Preset:
    """A program, its inputs, the data and gradients by name, gradients that mistakes give, and what it shows.

    >>> diamond = PRESETS["diamond"]
    >>> diamond.text, diamond.inputs, diamond.values, diamond.gradients["a"]
    ('b = a + 1; c = a*3; d = b*c', {'a': 2.0}, {'b': 3.0, 'c': 6.0, 'd': 18.0}, 15.0)
    """

    name: str
    title: str
    text: str
    inputs: Mapping[str, float]
    values: Mapping[str, float]
    gradients: Mapping[str, float]
    note: str
    wrong: tuple[WrongGradient, ...] = field(default=())

    def build(self) -> Program:
        """The program run on its inputs, fresh each time.

        >>> values = PRESETS["neuron"].build()
        >>> values.root.backward()
        >>> round(values["x1"].grad, 6)
        -1.5
        """
        return program(self.text, **self.inputs)


OVERWRITTEN = "the second contribution replaces the first: = instead of +="

_NEURON = {"x1": 2.0, "x2": 0.0, "w1": -3.0, "w2": 1.0, "b": 6.8813735870195432}
_NEURON_GRADIENTS = {"n": 0.5, "x1": -1.5, "w1": 1.0, "x2": 0.5, "w2": 0.0, "b": 0.5}

_TABLE = (
    Preset(
        "sum-times", "(a + b) · c", "s = a + b; p = s*c",
        {"a": 2.0, "b": -3.0, "c": 10.0},
        {"s": -1.0, "p": -10.0},
        {"p": 1.0, "s": 10.0, "a": 10.0, "b": 10.0, "c": -1.0},
        "+ copies the gradient to both operands; × gives each the other operand times it.",
    ),
    Preset(
        "expression-l", "Expression L", "e = a*b; d = e + c; L = d*f",
        {"a": 2.0, "b": -3.0, "c": 10.0, "f": -2.0},
        {"e": -6.0, "d": 4.0, "L": -8.0},
        {"L": 1.0, "d": -2.0, "f": 4.0, "c": -2.0, "e": -2.0, "a": 6.0, "b": -4.0},
        "A chain to walk back by hand: seed L with 1, then d and f, then e and c, then a and b.",
    ),
    Preset(
        "neuron", "A neuron", "x1w1 = x1*w1; x2w2 = x2*w2; sum = x1w1 + x2w2; n = sum + b; o = tanh(n)",
        _NEURON,
        {"x1w1": -6.0, "x2w2": 0.0, "sum": -6.0, "n": 0.8813735870195432, "o": 0.7071067811865477},
        {"o": 1.0, "sum": 0.5, "x1w1": 0.5, "x2w2": 0.5, **_NEURON_GRADIENTS},
        "w2 gets a gradient of 0 because x2 is 0: changing it changes nothing here.",
    ),
    Preset(
        "neuron-apart", "A neuron, taken apart",
        "x1w1 = x1*w1; x2w2 = x2*w2; sum = x1w1 + x2w2; n = sum + b\n"
        "e = exp(2*n)\n"
        "up = e - 1; down = e + 1; o = up/down",
        _NEURON,
        {"n": 0.8813735870195432, "o": 0.7071067811865477},
        {"o": 1.0, **_NEURON_GRADIENTS},
        "tanh written with exp: more nodes, the same gradients at the leaves.",
    ),
    Preset(
        "a-plus-a", "a + a", "b = a + a",
        {"a": 3.0},
        {"b": 6.0},
        {"b": 1.0, "a": 2.0},
        "One node used twice: both contributions count, so they add.",
        (WrongGradient("a", 1.0, OVERWRITTEN),),
    ),
    Preset(
        "a-times-a", "a · a", "b = a*a",
        {"a": 3.0},
        {"b": 9.0},
        {"b": 1.0, "a": 6.0},
        "A square: each factor gives the other, and the two add up to 2a.",
        (WrongGradient("a", 3.0, OVERWRITTEN),),
    ),
    Preset(
        "diamond", "The diamond", "b = a + 1; c = a*3; d = b*c",
        {"a": 2.0},
        {"b": 3.0, "c": 6.0, "d": 18.0},
        {"d": 1.0, "b": 6.0, "c": 3.0, "a": 15.0},
        "Two paths lead to a: through b 6, through c 9.",
        (
            WrongGradient("a", 6.0, "the 9 that goes through c is lost: c was visited before d"),
            WrongGradient("a", 9.0, "the 6 that goes through b is lost: b was visited before d"),
        ),
    ),
    Preset(
        "shared-pair", "A shared pair", "d = a*b; e = a + b; f = d*e",
        {"a": -2.0, "b": 3.0},
        {"d": -6.0, "e": 1.0, "f": -6.0},
        {"f": 1.0, "d": 1.0, "e": -6.0, "a": -3.0, "b": -8.0},
        "Two leaves, each used by both d and e; contributions of both signs.",
        (
            WrongGradient("a", 3.0, "only the contribution of d is left: = instead of +="),
            WrongGradient("b", -2.0, "only the contribution of d is left: = instead of +="),
        ),
    ),
    Preset(
        "two-uses", "Two uses, deep", "b = a*2; c = b*b + b",
        {"a": 3.0},
        {"b": 6.0, "c": 42.0},
        {"c": 1.0, "b": 13.0, "a": 26.0},
        "b is used three times; it may push to a only once, when all three have arrived.",
        (WrongGradient("a", 78.0, "b pushes its whole gradient once for every path that reaches it: 3 × 26"),),
    ),
    Preset(
        "product-plus", "a · b + c", "d = a*b + c",
        {"a": 2.0, "b": -3.0, "c": 10.0},
        {"d": 4.0},
        {"d": 1.0, "a": -3.0, "b": 2.0, "c": 1.0},
        "Small enough to check by hand: change one input a little and compare.",
    ),
    Preset(
        "parabola", "3x² − 4x + 5", "y = 3*x**2 - 4*x + 5",
        {"x": 3.0},
        {"y": 20.0},
        {"y": 1.0, "x": 14.0},
        "The slope is 6x − 4: 14 at x = 3, and 0 at x = 2/3, where y is lowest.",
    ),
    Preset(
        "dead-relu", "A ReLU that is off", "n = x*w + b; o = relu(n)",
        {"x": 2.0, "w": -1.0, "b": 0.5},
        {"n": -1.5, "o": 0.0},
        {"o": 1.0, "n": 0.0, "x": 0.0, "w": 0.0, "b": 0.0},
        "Below 0 a ReLU passes nothing back: its neuron cannot learn from this input.",
    ),
)  # fmt: skip

#: Every preset by its name.
PRESETS: dict[str, Preset] = {entry.name: entry for entry in _TABLE}

#: Other names that people try.
ALIASES: dict[str, str] = {
    "l": "expression-l", "expression": "expression-l", "chain": "expression-l",
    "(a+b)*c": "sum-times", "apart": "neuron-apart", "tanh-apart": "neuron-apart",
    "a+a": "a-plus-a", "a*a": "a-times-a", "square": "a-times-a",
    "shared": "shared-pair", "pair": "shared-pair", "two-uses-deep": "two-uses", "b*b+b": "two-uses",
    "a*b+c": "product-plus", "relu": "dead-relu",
}  # fmt: skip


def preset(name: str) -> Preset:
    """The preset of that name or alias, however it is cased.

    >>> preset("L").title, preset("a*a").name
    ('Expression L', 'a-times-a')
    >>> preset("diamnd")
    Traceback (most recent call last):
    ...
    gradwalk.errors.SettingError: no preset is called 'diamnd'; did you mean diamond?
    """
    wanted = "-".join(str(name).lower().replace("_", " ").replace("·", "*").split())
    wanted = ALIASES.get(wanted, ALIASES.get(wanted.replace("-", ""), wanted))
    if wanted in PRESETS:
        return PRESETS[wanted]
    from difflib import get_close_matches  # only here, where something went wrong anyway

    close = get_close_matches(wanted, [*PRESETS, *ALIASES], n=1)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(PRESETS)}"
    raise SettingError(f"no preset is called {name!r:.60}; {hint}")
