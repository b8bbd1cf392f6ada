"""Specimens around the engine: the engine is right, and the program that uses it is not."""

from __future__ import annotations

from gradwalk.diagnose.museum.specimen import Specimen

__all__ = ["USAGE"]

USAGE = (
    Specimen(
        name="not-zeroed",
        number=2,
        title="Gradients not set to 0 between steps",
        where="training loop",
        explanation="Gradients add up, also from one step to the next. Without zeroing, step three uses the sum of "
        "three gradients, and the weights run away.",
        hint="What is in `w.grad` at the start of the second step?",
        solution="Set the gradient of every parameter to 0 at the start of each step.",
        program="w = Value(1.0)\n"
        "for step in range(3):\n"
        "    loss = w * 2\n"
        "    loss.backward()",
        repaired="w = Value(1.0)\n"
        "for step in range(3):\n"
        "    w.grad = 0.0\n"
        "    loss = w * 2\n"
        "    loss.backward()",
        right={"w.grad": 2.0},
        wrong={"w.grad": 6.0},
    ),
    Specimen(
        name="check-that-cannot-fail",
        number=13,
        title="A gradient check that cannot fail",
        where="checker",
        explanation="The check subtracts and forgets the absolute value: every gradient that is too large passes. A "
        "check that was never seen to fail is no check.",
        hint="Give your check a gradient that is certainly wrong, once too large and once too small.",
        solution="`abs(numeric - gradient) < 1e-6`; and try the check with 2.001 for 2 before you believe it.",
        program="def passes(gradient, numeric):\n"
        "    return numeric - gradient < 1e-6\n"
        "\n"
        "h = 1e-6\n"
        "numeric = ((3 + h)**2 - (3 - h)**2) / (2 * h)  # the slope of x² at 3: 6\n"
        "verdict = passes(100.0, numeric)",
        repaired="def passes(gradient, numeric):\n"
        "    return abs(numeric - gradient) < 1e-6\n"
        "\n"
        "h = 1e-6\n"
        "numeric = ((3 + h)**2 - (3 - h)**2) / (2 * h)  # the slope of x² at 3: 6\n"
        "verdict = passes(100.0, numeric)",
        right={"verdict": 0.0},
        wrong={"verdict": 1.0},
    ),
    Specimen(
        name="cut-short-by-zip",
        number=14,
        title="Inputs cut short by `zip`",
        where="network",
        explanation="`zip` stops at the end of the shorter list. A neuron with three weights that is given two "
        "inputs answers as if all were well, and its third weight never learns.",
        hint="How many inputs does the neuron expect, how many came, and who compares the two?",
        solution="`zip(weights, inputs, strict=True)`, or compare the lengths and raise an error that names both.",
        program="weights = [Value(1.0), Value(2.0), Value(3.0)]\n"
        "inputs = [4.0, 5.0]\n"
        "out = sum((w * x for w, x in zip(weights, inputs)), Value(0.0))\n"
        "out.backward()",
        repaired="weights = [Value(1.0), Value(2.0), Value(3.0)]\n"
        "inputs = [4.0, 5.0]\n"
        "out = sum((w * x for w, x in zip(weights, inputs, strict=True)), Value(0.0))\n"
        "out.backward()",
        right={},
        right_error="ValueError",
        wrong={"out.data": 14.0, "weights[2].grad": 0.0},
    ),
    Specimen(
        name="detached-constant",
        number=16,
        title="A Value made from another one's data",
        where="network",
        explanation="`Value(v.data * 2)` is a new leaf with the right number and no memory. No gradient passes "
        "through it: here only the direct use of v counts.",
        hint="Which Values does the walk reach from the result? Is there a way through this line?",
        solution="Compute with the Values themselves: `doubled = v * 2`. Take `.data` out only to look at it.",
        program="v = Value(3.0)\ndoubled = Value(v.data * 2)\ny = doubled * v\ny.backward()",
        repaired="v = Value(3.0)\ndoubled = v * 2\ny = doubled * v\ny.backward()",
        right={"y.data": 18.0, "v.grad": 12.0},
        wrong={"y.data": 18.0, "v.grad": 6.0},
    ),
    Specimen(
        name="dead-relu",
        number=16,
        title="A dead ReLU",
        where="network",
        explanation="With a bias of −10 the neuron is below 0 for every input. Its slope is 0 there, so its weights "
        "get gradient 0 and never change: it cannot come back by itself.",
        hint="Look at the sum before the relu for all of your samples. Is it ever positive?",
        solution="Start with smaller biases, take smaller steps, or use a leaky relu.",
        program="w = Value(0.5)\nbias = Value(-10.0)\n"
        "loss = sum(((w * x + bias).relu() for x in [-2.0, 1.0, 3.0]), Value(0.0))\n"
        "loss.backward()",
        repaired="w = Value(0.5)\nbias = Value(0.1)\n"
        "loss = sum(((w * x + bias).relu() for x in [-2.0, 1.0, 3.0]), Value(0.0))\n"
        "loss.backward()",
        right={"w.grad": 4.0, "bias.grad": 2.0},
        wrong={"w.grad": 0.0, "bias.grad": 0.0},
    ),
    Specimen(
        name="saturated-tanh",
        number=16,
        title="A saturated tanh",
        where="network",
        explanation="At 20, tanh is 1 to the last digit, and its slope is 0 in floats. What lies before it learns "
        "nothing, although nothing is wrong with the formulas.",
        hint="How large are the sums that go into your tanh? Where on the curve is that?",
        solution="Scale the inputs, start with smaller weights, or take smaller steps.",
        program="w = Value(10.0)\ny = (w * 2.0).tanh()\ny.backward()",
        repaired="w = Value(0.1)\ny = (w * 2.0).tanh()\ny.backward()",
        right={"w.grad": 1.9220859659322331},
        wrong={"w.grad": 0.0},
    ),
)  # fmt: skip
