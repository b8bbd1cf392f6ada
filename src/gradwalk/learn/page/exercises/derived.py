"""Lesson 8: minus and divided by, from plus, times and power; and numbers on the left."""

from __future__ import annotations

from gradwalk.diagnose.probes import Probe
from gradwalk.learn.page.exercises.model import Exercise, Mistake, Tab, on

__all__ = ["DERIVED", "REFLECTED"]

_CUT = (
    "The value is right, but nothing reaches the operands: the result is a new Value without a history.",
    "Do you use `.data` somewhere? Compute with the Values themselves.",
)


def _line(
    name: str,
    arguments: str,
    task: str,
    right: str,
    cut: str,
    hints: tuple[str, ...],
    checks: tuple[Probe, ...],
    wrong: tuple[tuple[str, str, str], ...],
    done: str,
    beside: tuple[str, ...] = (),
) -> Tab:
    """A method of one line; `cut` is the same line on bare numbers, `wrong` other lines with why and a question."""
    head = f"def {name}({arguments}):\n    "
    other_lines = tuple(
        Mistake("turned round" if "wrong way round" in why else "wrong value", ((right, other),), why, ask)
        for other, why, ask in wrong
    )
    return Tab(
        name,
        task,
        f"{head}...  # your turn: one line, made of operations you have\n",
        f"{head}return {right}\n",
        hints,
        checks,
        (*other_lines, Mistake("cut off", ((right, cut),), *_CUT)),
        done,
        beside,
    )


_NEG = _line(
    "__neg__",
    "self",
    "`-v`, from times.",
    "self * -1",
    "Value(-self.data)",
    ("Minus `v` is `v` times minus one.", "`return self * -1`"),
    (on("y = -x", "y.data x.grad", "−x", x=3),
     on("y = -(x * x)", "y.data x.grad", "−(x · x)", x=3),
     on("y = -x * 4 + x", "x.grad", "−x · 4 + x", x=3),
     on("y = -(x * 2)", "x.grad", "−(x · 2)", x=3)),
    (("self", "It gives back `self` unchanged.", "Where is the minus?"),),
    "Minus, without a rule of its own.",
    ("__sub__", "__rsub__"),
)  # fmt: skip

_SUB = _line(
    "__sub__",
    "self, other",
    "`u - v`, from plus and minus.",
    "self + (-other)",
    "Value(self.data - other.data) if isinstance(other, Value) else Value(self.data - other)",
    ("You already have minus `v`: `-other`.", "`return self + (-other)`"),
    (on("y = u - v", "y.data u.grad v.grad", "u − v", u=5, v=3),
     on("y = u - u", "y.data u.grad", "u − u", u=5),
     on("y = u - 1", "y.data u.grad", "u − 1", u=5),
     on("y = (u - v) * u", "u.grad v.grad", "(u − v) · u", u=5, v=3),
     on("y = u * 2 - v * 3", "u.grad v.grad", "u · 2 − v · 3", u=5, v=3)),
    (("other + (-self)", "The difference is the wrong way round: `v - u`.", "Which of the two gets the minus?"),
     ("self + other", "It adds.", "Which of the two gets a minus?")),
    "A difference is a sum with a minus in it.",
)  # fmt: skip

_TRUEDIV = _line(
    "__truediv__",
    "self, other",
    "`u / v`, from times and power.",
    "self * other ** -1",
    "Value(self.data / other.data) if isinstance(other, Value) else Value(self.data / other)",
    ("One over `v` is `v` to the power of minus one.", "`return self * other ** -1`"),
    (on("y = u / v", "y.data u.grad v.grad", "u / v", u=6, v=2),
     on("y = u / u", "y.data u.grad", "u / u", u=6),
     on("y = u / 4", "y.data u.grad", "u / 4", u=6),
     on("y = (u / v) * u", "u.grad v.grad", "(u / v) · u", u=6, v=2),
     on("y = (u * 2) / (v * 4)", "u.grad v.grad", "(u · 2) / (v · 4)", u=6, v=2)),
    (("self ** -1 * other", "The quotient is the wrong way round: `v / u`.", "Which of the two gets the exponent?"),
     ("self * other", "It multiplies.", "Which of the two gets an exponent of minus one?"),
     ("self * -other", "It multiplies by minus `v`.", "Where does the minus one belong?")),
    "A quotient is a product with a power in it.",
)  # fmt: skip

DERIVED = Exercise(
    "derived", "Minus and divide", "methods", {"__neg__": _NEG, "__sub__": _SUB, "__truediv__": _TRUEDIV}
)

_RADD = _line(
    "__radd__",
    "self, other",
    "`1 + v` calls `v.__radd__(1)`.",
    "self + other",
    "Value(other + self.data)",
    ("For a sum the order makes no difference.", "`return self + other`"),
    (on("y = 1 + x", "y.data x.grad", "1 + x", x=3), on("y = (2.5 + x) * x", "y.data x.grad", "(2.5 + x) · x", x=3)),
    (("self", "The number on the left is gone.", "What should happen to `other`?"),),
    "A number on the left of plus.",
)  # fmt: skip

_RMUL = _line(
    "__rmul__",
    "self, other",
    "`2 * v` calls `v.__rmul__(2)`.",
    "self * other",
    "Value(other * self.data)",
    ("For a product the order makes no difference.", "`return self * other`"),
    (on("y = 2 * x", "y.data x.grad", "2 · x", x=3), on("y = (0.5 * x) * x", "y.data x.grad", "(0.5 · x) · x", x=3)),
    (("self + other", "It adds.", "Which operation was asked for?"),
     ("self", "The number on the left is gone.", "What should happen to `other`?")),
    "A number on the left of times.",
)  # fmt: skip

_RSUB = _line(
    "__rsub__",
    "self, other",
    "`8 - v` calls `v.__rsub__(8)`: `self` is `v`, and `other` is the 8.",
    "(-self) + other",
    "Value(other - self.data)",
    ("Careful: it is `other - self`, not `self - other`. But you cannot write `other - self`: `other` is a plain "
     "number, so Python would call `__rsub__` again, for ever.",
     "`(-self) + other` is the same, and uses only what you have.",
     "`return (-self) + other`"),
    (on("y = 8 - x", "y.data x.grad", "8 − x", x=3), on("y = (1 - x) * x", "y.data x.grad", "(1 − x) · x", x=3)),
    (("self - other", "It is the wrong way round: `v - 8` where `8 - v` was asked for.",
      "`self` is the Value on the *right*. What is subtracted from what?"),
     ("self + other", "It adds.", "Which of the two gets the minus?"),
     ("(-self) - other", "Both are negative now.", "Which of the two gets the minus?")),
    "A number on the left of minus, the right way round.",
)  # fmt: skip

_RTRUEDIV = _line(
    "__rtruediv__",
    "self, other",
    "`1 / v` calls `v.__rtruediv__(1)`: `self` is `v`, and `other` is the 1.",
    "self ** -1 * other",
    "Value(other / self.data)",
    ("It is `other / self`, but writing that would call `__rtruediv__` again, for ever.",
     "One over `v` is `self ** -1`. Multiply that by `other`.",
     "`return self ** -1 * other`"),
    (on("y = 1 / x", "y.data x.grad", "1 / x", x=4),
     on("y = 8 / x", "y.data x.grad", "8 / x", x=4),
     on("y = (2 / x) * x", "y.data x.grad", "(2 / x) · x", x=4)),
    (("self / other", "It is the wrong way round: `v / 8` where `8 / v` was asked for.",
      "`self` is the Value on the *right*. What is divided by what?"),
     ("self * other", "It multiplies.", "Which of the two gets an exponent of minus one?"),
     ("self ** -1", "One over `v`, but the number on the left is gone.", "What should happen to `other`?")),
    "A number on the left of divide, the right way round.",
)  # fmt: skip

REFLECTED = Exercise(
    "reflected",
    "A number on the left",
    "methods",
    {"__radd__": _RADD, "__rmul__": _RMUL, "__rsub__": _RSUB, "__rtruediv__": _RTRUEDIV},
)
