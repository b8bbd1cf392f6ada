"""Lesson 7, second: power, tanh and exp. Lesson 8, last: relu, log and sigmoid. One operand, one slope."""

from __future__ import annotations

from gradwalk.diagnose.probes import Probe
from gradwalk.learn.page.exercises.model import Exercise, Mistake, Tab, on
from gradwalk.learn.page.exercises.plus_times import common_mistakes, operation

__all__ = ["FUNCTIONS", "SLOPES"]


def _slope(
    name: str,
    task: str,
    head: str,
    forward: str,
    slope: str,
    hints: tuple[str, ...],
    checks: tuple[Probe, ...],
    wrong: tuple[tuple[str, str, str], ...],
    done: str,
) -> Tab:
    """A tab for an operation with one operand; `wrong` lists slopes that people write, each with why and a question."""
    starter, solution = operation(
        head, forward, "your turn: out.grad, times the local slope", (f"self.grad += {slope} * out.grad",)
    )
    mistakes = tuple(
        Mistake("wrong local derivative", ((f"+= {slope} *", f"+= {other} *"),), why, ask) for other, why, ask in wrong
    )
    return Tab(name, task, starter, solution, hints, checks, (*mistakes, *common_mistakes(solution)), done)


def _points(call: str, title: str, *points: float) -> tuple[Probe, ...]:
    """The function alone at some points, then with something behind it, beside it and before it."""
    alone = tuple(
        on(f"y = x.{call}", "y.data x.grad" if i == 0 else "x.grad", title, x=x) for i, x in enumerate(points)
    )
    among = on(f"y = x.{call} * 3 + x", "x.grad", f"3 · {title} + x", x=points[0])
    after = on(f"y = (x * 2).{call}", "x.grad", title.replace("(x)", "(2x)"), x=points[0])
    return (*alone, among, after)


_POW = _slope(
    "__pow__",
    "The power rule: n·xⁿ⁻¹. The exponent `n` is a plain number.",
    "__pow__(self, n)",
    'Value(self.data ** n, (self,), f"**{n}")',
    "n * self.data ** (n - 1)",
    ("From school: the slope of xⁿ is n·xⁿ⁻¹. Here `x` is `self.data`.",
     "In Python: `n * self.data ** (n - 1)`. The brackets matter.",
     "Multiply that by `out.grad`, and add it to `self.grad`."),
    (on("y = x ** 2", "y.data x.grad", "x²", x=3),
     on("y = x ** 3", "x.grad", "x³", x=-2),
     on("y = x ** -1", "x.grad", "x⁻¹", x=4),
     on("y = x ** 0.5", "x.grad", "√x", x=9),
     on("y = x ** 3 * 2 + x", "x.grad", "2 · x³ + x", x=3),
     on("y = (x * 2) ** 2", "x.grad", "(2x)²", x=3)),
    (("self.data ** (n - 1)", "The factor `n` is missing: at x² the slope came out as `x`.",
      "The slope of xⁿ has two parts. Which one did you leave out?"),
     ("n * self.data ** n", "The exponent did not go down by one.", "Is the exponent `n - 1`, in brackets?"),
     ("n * self.data ** n - 1", "Python reads `x ** n - 1` as xⁿ − 1.", "Where do the brackets belong?"),
     ("(n - 1) * self.data ** n", "The `n` and the `n - 1` have changed places.",
      "Which of the two is the factor, and which the exponent?"),
     ("n * out.data", "The slope was taken from the result, xⁿ. It needs xⁿ⁻¹.", "What is the exponent one step down?"),
     ("n * self.data", "That is the slope of x² only.", "What happens to the exponent?")),
    "The power rule, for whole, negative and fractional exponents.",
)  # fmt: skip

_TANH = _slope(
    "tanh",
    "The slope of tanh is one minus its own *output* squared.",
    "tanh(self)",
    'Value(math.tanh(self.data), (self,), "tanh")',
    "(1 - out.data ** 2)",
    ("The slope is 1 − tanh²(x). You do not need to compute tanh again: you have it in `out.data`.",
     "So the local slope is `1 - out.data ** 2`, in brackets.",
     "`self.grad += (1 - out.data ** 2) * out.grad`"),
    _points("tanh()", "tanh(x)", 0.5, -1.0, 0.0, 2.0),
    (("(1 - self.data ** 2)", "You squared the input. The slope of tanh is one minus its *output* squared.",
      "Is there a `self.data` that should be `out.data`?"),
     ("(1 - out.data)", "The output is there, but not squared.", "1 − out²: what is missing?"),
     ("out.data", "That is the height of the curve, not its steepness.",
      "For large inputs the output is almost one, and the curve almost flat. What does your slope say there?"),
     ("out.data ** 2", "You have the square, but it is not subtracted from one.",
      "At zero tanh is steepest. What does your slope say there?"),
     ("(1 + out.data ** 2)", "The slope of tanh is never more than one.", "Is there a `+` that should be a `-`?"),
     ("1 - out.data ** 2", "Python multiplies before it subtracts: only the square is multiplied by `out.grad`.",
      "Where do the brackets belong?"),
     ("out.data * (1 - out.data)", "That is the slope of the sigmoid.", "What is the slope of tanh?")),
    "One minus the output squared.",
)  # fmt: skip

_EXP = _slope(
    "exp",
    "The exponential is its own slope.",
    "exp(self)",
    'Value(math.exp(self.data), (self,), "exp")',
    "out.data",
    ("The slope of eˣ is eˣ. Which variable already holds that number?",
     "It is `out.data`.",
     "`self.grad += out.data * out.grad`"),
    _points("exp()", "exp(x)", 0.5, -1.0, 0.0, 2.0),
    (("self.data", "You took the input. The exponential is its own slope: its *output*.",
      "Is there a `self.data` that should be `out.data`?"),
     ("self.data * out.data", "One factor too many: x does not belong there.",
      "Did you use the power rule? Here the x is in the exponent."),
     ("self.data * math.exp(self.data - 1)", "That is the power rule. But the x is in the exponent here.",
      "What is the slope of eˣ?")),
    "The exponential is its own slope, at every point.",
)  # fmt: skip

SLOPES = Exercise("slopes", "Power, tanh and exp", "methods", {"__pow__": _POW, "tanh": _TANH, "exp": _EXP})

_RELU = _slope(
    "relu",
    "Open above zero, shut below, and shut *at* zero.",
    "relu(self)",
    'Value(max(0.0, self.data), (self,), "ReLU")',
    "(self.data > 0)",
    ("Above zero the output moves with the input: slope one. Below it does not move at all: slope zero.",
     "In Python `self.data > 0` is `True` or `False`, and in a product these count as one and zero.",
     "`self.grad += (self.data > 0) * out.grad`"),
    (*_points("relu()", "relu(x)", 2.0, -3.0, 0.0),
     on("y = x.relu() * -2", "x.grad", "−2 · relu(x)", x=2.0),
     on("y = x.relu() * 3 + x", "y.data x.grad", "3 · relu(x) + x", x=-3.0)),
    (("1", "The gate is always open. Below zero nothing should pass.", "What is the slope at a negative input?"),
     ("out.data", "You took the output as the slope. Where the gate is open, the slope is one.",
      "How much does relu(x) rise when x rises a little?"),
     ("self.data", "You took the input as the slope. Where the gate is open, the slope is one.",
      "How much does relu(x) rise when x rises a little?"),
     ("(self.data >= 0)", "Almost. At exactly zero there is no single slope. By convention it is zero there.",
      "`>` or `>=`?"),
     ("(out.grad > 0)", "The gate opens for a positive gradient. It should open for a positive input.",
      "What decides whether relu lets something through?"),
     ("(self.data < 0)", "The gate is the wrong way round.", "`<` or `>`?")),
    "Open above zero, shut elsewhere.",
)  # fmt: skip

_LOG = _slope(
    "log",
    "The slope of the logarithm is one over the *input*.",
    "log(self)",
    'Value(math.log(self.data), (self,), "log")',
    "(1 / self.data)",
    ("The slope of log x is 1/x.", "Here `x` is the input, `self.data`.", "`self.grad += (1 / self.data) * out.grad`"),
    _points("log()", "log(x)", 4.0, 0.5, 10.0),
    (("out.data", "That is the logarithm itself. Its slope is one over the input.",
      "At one, the logarithm is zero. Is it flat there?"),
     ("(1 / out.data)", "One over the output. It should be one over the *input*.",
      "Is there an `out.data` that should be `self.data`?"),
     ("self.data", "The input, but not one over it. The logarithm gets flatter to the right.", "What is missing?"),
     ("(-1 / self.data ** 2)", "That is the slope of 1/x. You need the slope of the logarithm, which is 1/x itself.",
      "How often did you take the slope?")),
    "One over the input.",
)  # fmt: skip

_SIGMOID = _slope(
    "sigmoid",
    "The slope of the sigmoid is σ(1 − σ), and σ is in `out`.",
    "sigmoid(self)",
    'Value(1 / (1 + math.exp(-self.data)), (self,), "sigmoid")',
    "out.data * (1 - out.data)",
    ("Like tanh, the sigmoid has a slope that can be written with its own output.",
     "It is the output, times one minus the output.",
     "`self.grad += out.data * (1 - out.data) * out.grad`"),
    _points("sigmoid()", "σ(x)", 0.5, -1.0, 0.0, 2.0),
    (("(1 - out.data ** 2)", "That is the slope of tanh.", "What is the slope of the sigmoid?"),
     ("self.data * (1 - self.data)", "You used the input. The slope is written with the *output*.",
      "Is there a `self.data` that should be `out.data`?"),
     ("(1 - out.data)", "One of the two factors is missing.", "σ times … ?"),
     ("out.data", "One of the two factors is missing.", "σ times … ?"),
     ("1", "A slope of one everywhere would be a straight line.", "How steep is the sigmoid where it is nearly flat?")),
    "The output, times one minus the output.",
)  # fmt: skip

FUNCTIONS = Exercise("functions", "ReLU, log and sigmoid", "methods", {"relu": _RELU, "log": _LOG, "sigmoid": _SIGMOID})
