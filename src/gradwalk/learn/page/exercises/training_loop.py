"""Lesson 9, second: a loss, and the step that makes it smaller."""

from __future__ import annotations

from gradwalk.diagnose.probes import Probe
from gradwalk.learn.page.exercises.model import Exercise, Mistake, Tab

__all__ = ["TRAINING"]

_LOSS = """\
def loss(outputs, targets):
    total = Value(0.0)
    for out, target in zip(outputs, targets):
        total = total + (out - target) ** 2
    return total
"""

_LOSS_TAB = Tab(
    "loss",
    "The squared differences, added up: one Value.",
    '''\
def loss(outputs, targets):
    """How wrong it is: the squared differences, added up."""
    ...
''',
    _LOSS,
    ("Start with `total = Value(0.0)` and add one square for each output.",
     "The difference is `out - target`. Square it with `** 2`.",
     "Return the Value itself, not its `data`: the walk starts there."),
    (Probe("two outputs", "u, v = Value(0.5), Value(-1.0)\nwrong = loss([u, v], [1.0, 2.0])\nwrong.backward()",
           ("wrong.data", "u.grad", "v.grad")),
     Probe("nothing wrong", "u = Value(1.0)\nwrong = loss([u], [1.0])\nwrong.backward()", ("wrong.data", "u.grad"))),
    (Mistake("a part is missing", ((" ** 2", ""),),
             "The differences are not squared, so an output that is too high makes up for one that is too low.",
             "How do you get rid of the sign?"),
     Mistake("turned round", (("(out - target)", "(out + target)"),),
             "Output and target are added. Where they agree, nothing should be left.",
             "What is the difference between two numbers?"),
     Mistake("wrong value", ((" ** 2", " ** 3"),), "A cube keeps the sign.",
             "Which power always gives something positive?"),
     Mistake("wrong value", (("    return total", "    return total * (1 / len(outputs))"),),
             "This is the mean of the squares. That is a fine loss, but here the sum was asked for.",
             "Is there a division too many?"),
     Mistake("wrong order", ((" ** 2", ""), ("    return total", "    return total ** 2")),
             "The sum is squared, not each difference. So an output that is too high makes up for one that is too low.",
             "What has to be squared?"),
     Mistake("overwritten", (("total = total + (", "total = ("),),
             "Only the last square is left: each one replaced the one before.", "What should be added to what?"),
     Mistake("cut off", (("(out - target)", "(out.data - target)"),),
             "The number is right, but no slope comes back: `out.data` leaves the history behind.",
             "Is there a `.data` that should not be there?")),
    "One number that says how wrong it is, and remembers why.",
)  # fmt: skip

_STEP_HEAD = """\
def step(model, xs, ys, rate):
    wrong = loss([model(x) for x in xs], ys)
"""
_STEP = (
    _STEP_HEAD
    + """\
    for p in model.parameters():
        p.grad = 0.0
    wrong.backward()
    for p in model.parameters():
        p.data -= rate * p.grad
    return wrong.data
"""
)
_ZERO = "    for p in model.parameters():\n        p.grad = 0.0\n"
_UPDATE = "        p.data -= rate * p.grad\n"

_LINE = """\
class Line:
    def __init__(self):
        self.a, self.b = Value(1.0), Value(0.0)
    def __call__(self, x):
        return self.a * x + self.b
    def parameters(self):
        return [self.a, self.b]
model = Line()
"""
_STEPS = Probe(
    "one step",
    f"{_LINE}first = step(model, [1.0, 2.0], [3.0, 5.0], 0.05)\na, b = model.parameters()",
    ("first", "a.grad", "b.grad", "a.data", "b.data"),
)
_THREE = Probe(
    "three steps",
    f"{_LINE}for _ in range(3):\n    last = step(model, [1.0, 2.0], [3.0, 5.0], 0.05)\na, b = model.parameters()",
    ("last", "a.grad", "a.data", "b.data"),
)

_EACH = """\
def step(model, xs, ys, rate):
    for x, y in zip(xs, ys):
        wrong = loss([model(x)], [y])
        for p in model.parameters():
            p.grad = 0.0
        wrong.backward()
        for p in model.parameters():
            p.data -= rate * p.grad
    return wrong.data
"""

_STEP_TAB = Tab(
    "step",
    "Zero the old gradients, walk back, move every parameter a little against its slope.",
    _STEP_HEAD
    + """\
    # 1. zero: every parameter's gradient back to zero

    # 2. walk back

    # 3. update: every parameter, a little against its slope

    return wrong.data
""",
    _STEP,
    ("`for p in model.parameters():` goes through the parameters. `p.grad = 0.0` sets a gradient back to zero.",
     "Walk back from the loss: `wrong.backward()`.",
     "Against the slope: `p.data -= rate * p.grad`. That changes the number that the parameter holds."),
    (_STEPS, _THREE),
    (Mistake("not zeroed", ((_ZERO, ""),),
             "The first step is right, and the later ones are not: each carries the gradients of all the steps before.",
             "Which line sets the gradients back to zero?"),
     Mistake("not zeroed", (("        p.grad = 0.0\n", "        p.grad = 0.0\n        break\n"),),
             "Only the first parameter's gradient is set back to zero.", "Do all of them go back to zero?"),
     Mistake("wrong order", ((_ZERO, ""), ("    wrong.backward()\n", f"    wrong.backward()\n{_ZERO}")),
             "The gradients are set to zero after the walk has brought them, so nothing moves.",
             "Which comes first: zeroing, or walking back?"),
     Mistake("wrong direction", (("-= rate", "+= rate"),),
             "The parameters move along the slope, which is uphill. The loss grows.",
             "Which sign belongs there?"),
     Mistake("changed the wrong thing", (("p.data -= rate * p.grad", "p.grad -= rate * p.grad"),),
             "The update changed the gradients, and the parameters did not move.", "Which field should change?"),
     Mistake("changed the wrong thing", (("p.data -= rate * p.grad", "p = p - rate * p.grad"),),
             "`p = p - …` makes a new Value and calls it `p`. The model still holds the old one.",
             "How do you change the number *inside* the Value?"),
     Mistake("overwritten", (("p.data -= rate * p.grad", "p.data = -rate * p.grad"),),
             "Each parameter was *set* to the step. It should move by the step.",
             "Is there an `=` that should be `-=`?"),
     Mistake("a part is missing", (("    wrong.backward()\n", ""),),
             "Nothing moved: nothing walked back, so all slopes are zero.", "Where do the gradients come from?"),
     Mistake("a part is missing", (("    for p in model.parameters():\n" + _UPDATE, ""),),
             "The gradients are right, but no parameter was changed.", "What should happen with the gradients?"),
     Mistake("a part is missing", (("rate * p.grad", "p.grad"),),
             "The learning rate is missing: that is a leap, not a step.", "Where does `rate` come in?"),
     Mistake("counted twice",
             ((_ZERO, ""), ("    wrong.backward()\n", ""),
              (_UPDATE, f"        p.grad = 0.0\n        wrong.backward()\n{_UPDATE}")),
             "The walk runs once for each parameter, and each time it brings gradients to all. One walk is enough.",
             "Which of these lines belong in the loop?"),
     Mistake("wrong order", ((_STEP, _EACH),),
             "Every sample makes a step of its own, and the loss is that of the last one. One step has one loss, for "
             "all samples.", "How often should the parameters move in one step?"),
     Mistake("wrong local derivative", (("rate * p.grad", "rate"),),
             "Every parameter moved by the same amount, whatever its slope.", "Where does the gradient come in?"),
     Mistake("overwritten", (("p.data -= rate * p.grad", "p.data = rate * p.grad"),),
             "Each parameter was *set* to the step. It should move by the step, downhill.",
             "Is there an `=` that should be `-=`?"),
     Mistake("wrong order", (("    wrong.backward()\n", ""), (_UPDATE, f"{_UPDATE}    wrong.backward()\n")),
             "The update comes before the walk. So it uses the gradients as they were before: all zero.",
             "What must have happened before the update?"),
     Mistake("wrong order", (("    wrong.backward()\n", ""), (_ZERO, ""),
                             (_UPDATE, f"{_UPDATE}{_ZERO}    wrong.backward()\n")),
             "The update comes before the walk. So each step uses the gradients of the step before.",
             "What must have happened before the update?")),
    "Forward, zero, backward, update: a network can learn.",
)  # fmt: skip


TRAINING = Exercise("training", "Loss and step", "definitions", {"loss": _LOSS_TAB, "step": _STEP_TAB}, _LOSS)
