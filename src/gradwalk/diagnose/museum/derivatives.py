"""Specimens in what an op gives: a wrong local derivative, a wrong value, operands that stand the wrong way round."""

from __future__ import annotations

from gradwalk.diagnose.museum.specimen import Specimen

__all__ = ["DERIVATIVES"]

DERIVATIVES = (
    Specimen(
        name="tanh-of-its-input",
        number=4,
        title="tanh′ taken as 1 − x²",
        explanation="The derivative of tanh is 1 − t², where t is the value of tanh, not its input. Near 0 the two "
        "are alike, and a test at 0.1 hardly tells them apart.",
        hint="Is it the input or the output that is squared in the derivative of tanh?",
        solution="`(1.0 - z * z) * out.grad`, where z is tanh(x).",
        program="a = Value(2.0)\nb = a.tanh()\nb.backward()",
        right={"a.grad": 0.07065082485316443},
        wrong={"a.grad": -3.0},
        edits=(("(1.0 - z * z) * out.grad", "(1.0 - x * x) * out.grad"),),
    ),
    Specimen(
        name="sigmoid-with-slope-one",
        number=4,
        title="sigmoid′ left at 1",
        explanation="The gradient is passed on as if the sigmoid were not there. Its slope is at most a quarter.",
        hint="Nudge the input of your sigmoid by 0.001. How much does the output move?",
        solution="`z * (1.0 - z) * out.grad`, where z is sigmoid(x).",
        program="a = Value(0.0)\nb = a.sigmoid()\nb.backward()",
        right={"a.grad": 0.25},
        wrong={"a.grad": 1.0},
        edits=(("z * (1.0 - z) * out.grad", "out.grad"),),
    ),
    Specimen(
        name="exp-as-a-power",
        number=4,
        title="exp′ by the rule for powers",
        explanation="The rule n·xⁿ⁻¹ is for a fixed exponent and a base that varies. In eˣ the base is fixed and the "
        "exponent varies: its derivative is eˣ itself.",
        hint="In eˣ, what varies: the base or the exponent? Which rule is for that?",
        solution="`z * out.grad`, where z is exp(x).",
        program="a = Value(2.0)\nb = a.exp()\nb.backward()",
        right={"a.grad": 7.38905609893065},
        wrong={"a.grad": 5.43656365691809},
        edits=(("self.grad += z * out.grad", "self.grad += x * exponential(x - 1.0) * out.grad"),),
    ),
    Specimen(
        name="minus-without-its-sign",
        number=4,
        title="d(a − b)/db taken as +1",
        explanation="In a − b, more b means less result: the slope is −1. The two lines of the sum were copied, and "
        "the sign was not put in.",
        hint="If b grows by 1, does a − b grow or shrink?",
        solution="`other.grad += -out.grad`, or `other.grad -= out.grad`.",
        program="a = Value(5.0)\nb = Value(3.0)\nc = a - b\nc.backward()",
        right={"b.grad": -1.0},
        wrong={"b.grad": 1.0},
        edits=(("other.grad += -out.grad", "other.grad += out.grad"),),
    ),
    Specimen(
        name="log-slope-is-log",
        number=4,
        title="log′ taken as log",
        explanation="exp is its own derivative, and log is not: its slope is 1/x, steep near 0 and ever flatter "
        "further out.",
        hint="At x = 1 the logarithm is 0. Is it flat there?",
        solution="`divide(1.0, x) * out.grad`.",
        program="a = Value(2.0)\nb = a.log()\nb.backward()",
        right={"a.grad": 0.5},
        wrong={"a.grad": 0.6931471805599453},
        edits=(("divide(1.0, x) * out.grad", "logarithm(x) * out.grad"),),
    ),
    Specimen(
        name="power-without-its-factor",
        number=4,
        title="A power without its factor n",
        explanation="The derivative of xⁿ is n·xⁿ⁻¹. The exponent was lowered, and did not come down in front.",
        hint="What is the slope of x² at 3? And what does your op say?",
        solution="`n * power(x, n - 1) * out.grad`.",
        program="a = Value(3.0)\nb = a**2\nb.backward()",
        right={"a.grad": 6.0},
        wrong={"a.grad": 3.0},
        edits=(("n * power(x, n - 1)", "power(x, n - 1)"),),
    ),
    Specimen(
        name="wrong-derivative",
        number=4,
        title="A wrong local derivative",
        explanation="Every op has a local derivative for each operand. In a product each operand gets the *other* "
        "one as its factor; here each gets itself.",
        hint="Nudge one operand by 0.001, leave the others alone, and see how much the result moves: that is the "
        "slope that your op must use.",
        solution="`self.grad += y * out.grad` and `other.grad += x * out.grad`.",
        program="a = Value(3.0)\nb = Value(2.0)\nc = a * b\nc.backward()",
        right={"a.grad": 2.0, "b.grad": 3.0},
        wrong={"a.grad": 3.0, "b.grad": 2.0},
        edits=(
            ("self.grad += y * out.grad\n            other.grad += x * out.grad",
             "self.grad += x * out.grad\n            other.grad += y * out.grad"),
        ),
    ),
    Specimen(
        name="wrong-value",
        number=18,
        title="An op that computes something else",
        explanation="Before gradients come values: this difference is turned round, b − a. Its derivatives belong to "
        "a − b, so even a check of the gradient against the value would complain.",
        hint="Try the op on two numbers that you can work out in your head.",
        solution="`z = x - y`.",
        program="a = Value(5.0)\nb = Value(3.0)\nc = a - b\nc.backward()",
        right={"c.data": 2.0, "a.grad": 1.0},
        wrong={"c.data": -2.0, "a.grad": 1.0},
        edits=(("z = x - y", "z = y - x"),),
    ),
    Specimen(
        name="reversed-division",
        number=7,
        title="8 / a computed as a / 8",
        explanation="Python calls `a.__rtruediv__(8)` for `8 / a`: the number on the left arrives as the argument. "
        "Who writes `self / other` there divides the wrong way round. At a² = 8 nobody would notice.",
        hint="In `__rtruediv__`, which of `self` and `other` stands on the left of the `/` that was written?",
        solution="`return as_value(other) / self`.",
        program="a = Value(2.0)\nb = 8 / a\nb.backward()",
        right={"b.data": 4.0, "a.grad": -2.0},
        wrong={"b.data": 0.25, "a.grad": 0.125},
        edits=(("return as_value(other) / self", "return self / other"),),
    ),
    Specimen(
        name="reversed-subtraction",
        number=7,
        title="2 − a computed as a − 2",
        explanation="Python calls `a.__rsub__(2)` for `2 - a`: the number on the left arrives as the argument. Who "
        "writes `self - other` there subtracts the wrong way round. At a = 2 both are 0, so do not test it there.",
        hint="In `__rsub__`, which of `self` and `other` stands on the left of the `-` that was written?",
        solution="`return as_value(other) - self`.",
        program="a = Value(3.0)\nb = 2 - a\nb.backward()",
        right={"b.data": -1.0, "a.grad": -1.0},
        wrong={"b.data": 1.0, "a.grad": 1.0},
        edits=(("return as_value(other) - self", "return self - other"),),
    ),
    Specimen(
        name="tanh-through-exp",
        number=12,
        title="tanh through exp",
        explanation="(e²ˣ − 1)/(e²ˣ + 1) is tanh on paper. From x = 355 on, e²ˣ is larger than any float, and what "
        "should be 1 is an error, or inf/inf.",
        hint="What is e to the power of 2000, as a float? And what is tanh of 1000?",
        solution="Use `math.tanh(x)`; or, through exp, only ever exponents that are not positive.",
        program="a = Value(1000.0)\nb = a.tanh()\nb.backward()",
        right={"b.data": 1.0, "a.grad": 0.0},
        wrong_error="OverflowError",
        edits=(("z = math.tanh(x)", "z = (math.exp(2.0 * x) - 1.0) / (math.exp(2.0 * x) + 1.0)"),),
    ),
    Specimen(
        name="sigmoid-through-exp",
        number=12,
        title="sigmoid by the formula in the book",
        explanation="1/(1 + e⁻ˣ) is right on paper. For x below −709 the power is larger than any float, and what "
        "should be 0 is an error, or nan in the derivative.",
        hint="What is e to the power of 1000, as a float? And what is the sigmoid of −1000?",
        solution="For negative x use eˣ/(1 + eˣ), which is the same number and has a small exponent.",
        program="a = Value(-1000.0)\nb = a.sigmoid()\nb.backward()",
        right={"b.data": 0.0, "a.grad": 0.0},
        wrong_error="OverflowError",
        edits=(("z = logistic(x)", "z = 1.0 / (1.0 + math.exp(-x))"),),
    ),
    Specimen(
        name="python-raises",
        number=18,
        title="An error in the middle of a forward pass",
        explanation="Python's own `/`, `**` and `math.log` raise errors where floating-point arithmetic has an "
        "answer: 1/0 is inf, 0/0 is nan. In a training run one bad sample then ends everything, where large "
        "frameworks go on and let you look for the nan.",
        hint="What do NumPy and PyTorch give here? Which numbers mean “too large” and “no number at all”?",
        solution="Catch the error and give inf or nan: `except ZeroDivisionError: return math.inf`, as the case may "
        "be.",
        program="a = Value(0.0)\nb = 1 / a\nb.backward()",
        right={"b.data": float("inf")},
        wrong_error="ZeroDivisionError",
        edits=(("z = divide(x, y)", "z = x / y"),),
    ),
)  # fmt: skip
