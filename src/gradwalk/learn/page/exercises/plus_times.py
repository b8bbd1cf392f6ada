"""Lesson 7, first: what plus and times push. And the slips that any operation can have."""

from __future__ import annotations

from gradwalk.diagnose.probes import Probe
from gradwalk.learn.page.exercises.model import Exercise, Mistake, Tab, on

__all__ = ["PLUS_TIMES", "common_mistakes", "operation"]

_AS_VALUE = "    other = other if isinstance(other, Value) else Value(other)\n"
_HANG = "    out._backward = _backward\n    return out\n"
_OVERWRITTEN = "The second contribution replaced the first."
_PLUS_EQUAL = "Is there an `=` that should be `+=`?"


def operation(head: str, forward: str, prompt: str, pushes: tuple[str, ...]) -> tuple[str, str]:
    """An operation as the learner finds it, and as it should become.

    >>> starter, solution = operation("exp(self)", "Value(math.exp(self.data), (self,), 'exp')", "push",
    ...                               ("self.grad += out.data * out.grad",))
    >>> print(solution)
    def exp(self):
        out = Value(math.exp(self.data), (self,), 'exp')
    <BLANKLINE>
        def _backward():
            self.grad += out.data * out.grad
    <BLANKLINE>
        out._backward = _backward
        return out
    <BLANKLINE>
    """
    start = f"def {head}:\n" + (_AS_VALUE if "other" in head else "") + f"    out = {forward}\n\n    def _backward():\n"
    body = "".join(f"        {line}\n" for line in pushes)
    return f"{start}        # {prompt}\n        pass\n\n{_HANG}", f"{start}{body}\n{_HANG}"


_SLIPS = (
    Mistake("changed the wrong thing", (("self.grad +=", "self.data +="), ("other.grad +=", "other.data +=")),
            "The walk changed the data of an operand. Data belongs to the forward pass; the walk back writes `grad`.",
            "Which field does your push write to?"),
    Mistake("wrong direction",
            (("self.grad += ", "out.grad += self.grad * "), ("other.grad += ", "out.grad += other.grad * ")),
            "Nothing arrives at the operands: this line adds to `out`. Gradients go from the result to its operands.",
            "Which of them receives here, and which gives?"),
    Mistake("changed the wrong thing", (("out._backward = _backward", "self._backward = _backward"),),
            "The function is given to an operand. So visiting `out` does nothing.",
            "Which node should get it, so that visiting `out` pushes?"),
    Mistake("not implemented", (("    out._backward = _backward\n", ""),),
            "Nothing arrives: `out` still has the `_backward` that does nothing.",
            "Is `out._backward = _backward` there, without brackets?"),
    Mistake("cut off", ((", (self, other), ", ", (self,), "),),
            "`other` is not among the operands of `out`, so the walk does not go on to it.",
            "What was `out` made from?"),
    Mistake("cut off", ((", (self, other), ", ", (), "), (", (self,), ", ", (), ")),
            "`out` does not know what it was made from, so the walk ends there.", "Which operands belong to it?"),
    Mistake("forgets the upstream gradient",
            ((" * out.grad", ""), ("self.grad += out.grad", "self.grad += 1.0"),
             ("other.grad += out.grad", "other.grad += 1.0")),
            "This is right only where `out` is the root. Elsewhere the upstream gradient is lost.",
            "Where does `out.grad` come in?"),
    Mistake("forgets the upstream gradient", ((" * out.grad", " * out.data"), ("+= out.grad", "+= out.data")),
            "The push takes the data of `out`. What goes back is its gradient.",
            "Is there an `out.data` that should be `out.grad`?"),
    Mistake("wrong local derivative", ((" * out.grad", " + out.grad"),),
            "The local slope is added to the upstream gradient. They should be multiplied.",
            "Is there a `+` that should be `*`?"),
    Mistake("wrong local derivative", (("self.grad +=", "self.grad -="), ("other.grad +=", "other.grad -=")),
            "Every size is right and every sign is wrong.", "Is there a `-=` that should be `+=`?"),
    Mistake("counted twice",
            (("self.grad += ", "self.grad += self.grad + "), ("other.grad += ", "other.grad += other.grad + ")),
            "What was there before is counted twice: `+=` adds it, and the right-hand side adds it again.",
            "Does the right-hand side of your `+=` mention the same `grad` again?"),
)  # fmt: skip


def common_mistakes(solution: str) -> tuple[Mistake, ...]:
    """The slips that any operation can have, as far as they make a difference to this one.

    >>> [mistake.kind for mistake in common_mistakes(PLUS_TIMES.tabs["__add__"].solution)][:2]
    ['overwritten', 'overwritten']
    """
    both = (("self.grad +=", "self.grad ="), ("other.grad +=", "other.grad ="))
    ways = [both, both[:1], both[1:]] if "other.grad" in solution else [both]
    overwriting = [Mistake("overwritten", edits, _OVERWRITTEN, _PLUS_EQUAL) for edits in ways]
    return tuple(mistake for mistake in (*overwriting, *_SLIPS) if mistake.apply(solution) != solution)


def _tab(
    name: str,
    task: str,
    texts: tuple[str, str],
    hints: tuple[str, ...],
    checks: tuple[Probe, ...],
    mistakes: tuple[Mistake, ...],
    done: str,
) -> Tab:
    starter, solution = texts
    return Tab(name, task, starter, solution, hints, checks, (*mistakes, *common_mistakes(solution)), done)


_HALF = Mistake(
    "a part is missing",
    (("        other.grad += out.grad\n", ""), ("        other.grad += self.data * out.grad\n", "")),
    "One operand received nothing. Both were used, so both receive.",
    "What does `other` get?",
)  # fmt: skip
_OTHER_HALF = Mistake(
    "a part is missing",
    (("        self.grad += out.grad\n", ""), ("        self.grad += other.data * out.grad\n", "")),
    "One operand received nothing. Both were used, so both receive.",
    "What does `self` get?",
)  # fmt: skip

_ADD = _tab(
    "__add__",
    "Plus copies: each operand receives the gradient of the result.",
    operation("__add__(self, other)", 'Value(self.data + other.data, (self, other), "+")',
              "your turn: what does each operand receive?",
              ("self.grad += out.grad", "other.grad += out.grad")),
    ("Raise `self` a little, and `out` rises by the same amount. So the local slope is one, for both operands.",
     "Two lines are enough. Each changes the `grad` of one operand, and takes `out.grad`.",
     "In `x + x` both lines write to the same node. So the second must add to what the first left there: `+=`."),
    (on("y = x + z", "y.data x.grad z.grad", "x + z", x=3, z=-4),
     on("y = x + x", "x.grad", "x + x", x=3),
     on("y = x + 1", "x.grad", "x + 1", x=3),
     on("y = (x + z) * 3", "x.grad z.grad", "(x + z) · 3", x=3, z=-4),
     on("y = (x + z) + x", "x.grad z.grad", "(x + z) + x", x=3, z=-4),
     on("y = (x * 2) + z", "x.grad", "(x · 2) + z", x=3, z=-4),
     on("y = z + (x * 2)", "x.grad", "z + (x · 2)", x=3, z=-4),
     on("y = (x + x) * 3 + x", "x.grad", "(x + x) · 3 + x", x=3)),
    (_HALF,
     _OTHER_HALF,
     Mistake("wrong local derivative",
             (("self.grad += out.grad", "self.grad += other.data * out.grad"),
              ("other.grad += out.grad", "other.grad += self.data * out.grad")),
             "That is the rule for times. A sum does not care how large its terms are.",
             "Raise one term a little. By how much does the sum rise?"),
     Mistake("wrong local derivative",
             (("self.grad += out.grad", "self.grad += self.data * out.grad"),
              ("other.grad += out.grad", "other.grad += other.data * out.grad")),
             "Each operand was multiplied by its own data. A sum does not care how large its terms are.",
             "Raise one term a little. By how much does the sum rise?"),
     Mistake("wrong local derivative", (("other.grad += out.grad", "other.grad += -out.grad"),),
             "The second operand has the wrong sign. That would be right for minus.",
             "Raise `other` a little. Does the sum rise or fall?"),
     Mistake("counted twice",
             (("self.grad += out.grad", "self.grad += 2 * out.grad"),
              ("other.grad += out.grad", "other.grad += 2 * out.grad")), "Everything arrives twice.",
             "Is each line there once?")),
    "Plus copies, and `x + x` adds up to two.",
)  # fmt: skip

_MUL = _tab(
    "__mul__",
    "Times swaps and scales. Watch out for `x * x`: both operands are the same node.",
    operation("__mul__(self, other)", 'Value(self.data * other.data, (self, other), "*")',
              "your turn: each operand receives out.grad, scaled",
              ("self.grad += other.data * out.grad", "other.grad += self.data * out.grad")),
    ("Raise `self` by a little, and the product rises by that much times `other.data`.",
     "So `self` receives `other.data * out.grad`. What does `other` receive?",
     "Try `x * x` on paper. How many arrows lead to `x`? Each of them has to add (`+=`)."),
    (on("y = x * x", "x.grad", "x · x", x=3),
     on("y = x * z", "y.data x.grad z.grad", "x · z", x=3, z=-4),
     on("y = x * 2", "x.grad", "x · 2", x=3),
     on("y = (x * z) * 0.5", "x.grad z.grad", "(x · z) · 0.5", x=3, z=-4),
     on("y = x * z + x", "x.grad z.grad", "x · z + x", x=3, z=-4),
     on("y = (x + 1) * z", "x.grad", "(x + 1) · z", x=3, z=-4),
     on("y = z * (x + 1)", "x.grad", "z · (x + 1)", x=3, z=-4),
     on("y = (x * x) * 0.5 + x", "x.grad", "(x · x) · 0.5 + x", x=3),
     on("y = x * z", "x.grad z.grad", "x · z", x=0, z=-4)),
    (_HALF,
     _OTHER_HALF,
     Mistake("wrong local derivative",
             (("self.grad += other.data * out.grad", "self.grad += self.data * out.grad"),
              ("other.grad += self.data * out.grad", "other.grad += other.data * out.grad")),
             "Each operand received its own data. Times swaps: each receives the *other's*.",
             "Whose data belongs in which line?"),
     Mistake("wrong local derivative",
             (("other.data * out.grad", "other.grad * out.grad"), ("self.data * out.grad", "self.grad * out.grad")),
             "Each operand received the other's *gradient*. Times scales by the other's data.",
             "Which field of the other operand belongs there?"),
     Mistake("wrong local derivative", (("other.data * out.grad", "out.grad"), ("self.data * out.grad", "out.grad")),
             "That is the rule for plus. A product rises faster the larger the other factor is.",
             "Which factor is missing?"),
     Mistake("wrong local derivative",
             (("other.data * out.grad", "out.data * out.grad"), ("self.data * out.grad", "out.data * out.grad")),
             "The product itself stands where the other factor belongs.",
             "Is there an `out.data` that should be the other operand's data?"),
     Mistake("wrong local derivative",
             (("other.data * out.grad", "out.grad / other.data"), ("self.data * out.grad", "out.grad / self.data")),
             "The upstream gradient is divided by the other factor. Times scales: it multiplies.",
             "Is there a `/` that should be `*`?")),
    "Times swaps and scales, and `x * x` adds up to twice `x`.",
)  # fmt: skip

PLUS_TIMES = Exercise("plus-times", "Plus and times", "methods", {"__add__": _ADD, "__mul__": _MUL})
