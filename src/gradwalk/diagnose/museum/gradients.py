"""Specimens in how an op pushes its gradient on: overwriting, counting twice, forgetting the upstream gradient."""

from __future__ import annotations

from gradwalk.diagnose.museum.specimen import Specimen

__all__ = ["GRADIENTS"]


def _by_operand(first: str, second: str) -> tuple[str, str]:
    """The two lines of a binary op's push, and the same through a dict that has one entry for each operand."""
    return (
        f"            self.grad += {first}\n            other.grad += {second}\n",
        f"            shares = {{self: {first}, other: {second}}}\n"
        "            for operand, share in shares.items():\n"
        "                operand.grad += share\n",
    )


GRADIENTS = (
    Specimen(
        name="overwriting",
        number=1,
        title="`=` where `+=` is needed",
        explanation="A Value that is used twice is told twice how much it matters, and the two add up. An assignment "
        "keeps only what was said last. As long as nothing is used twice, every number is right, which is why this "
        "is the most common bug of all.",
        hint="A Value that is used twice receives two contributions. What does your line do with the one that is "
        "already there?",
        solution="Add to the gradient instead of setting it: `self.grad += …`, and the same for every other operand.",
        program="a = Value(3.0)\nb = a + a\nb.backward()",
        right={"a.grad": 2.0},
        wrong={"a.grad": 1.0},
        edits=(("self.grad += ", "self.grad = "), ("other.grad += ", "other.grad = ")),
    ),
    Specimen(
        name="counting-itself",
        number=6,
        title="A sum that counts itself twice",
        explanation="`x.grad += x.grad + out.grad` looks careful and says `x.grad` twice: what was there already is "
        "added once more. Fresh operands have gradient 0, so the first use is right and each further one doubles.",
        hint="Read your line aloud with numbers: the gradient is 1 and another 1 arrives. What is it afterwards?",
        solution="Either `x.grad += out.grad` or `x.grad = x.grad + out.grad`, not both at once.",
        program="a = Value(2.0)\nb = Value(1.0)\nc = a + a + a + b  # 3a + b\nc.backward()",
        right={"a.grad": 3.0},
        wrong={"a.grad": 7.0},
        edits=(
            ("self.grad += out.grad\n            other.grad += out.grad",
             "self.grad += self.grad + out.grad\n            other.grad += other.grad + out.grad"),
        ),
    ),
    Specimen(
        name="without-upstream",
        number=17,
        title="A derivative that forgets the upstream gradient",
        explanation="The chain rule multiplies: what an operand gets is the local derivative times the gradient of "
        "the result. This relu adds its local derivative, 1, and leaves the rest out. At the end of an expression "
        "the gradient of the result is 1, so it looks right there.",
        hint="Your op is right when it is the last one. What is different about `out.grad` when it is not?",
        solution="Multiply the local derivative by `out.grad`: `self.grad += (1.0 if x > 0.0 else 0.0) * out.grad`.",
        program="a = Value(2.0)\nb = a.relu() * 3\nb.backward()",
        right={"a.grad": 3.0},
        wrong={"a.grad": 1.0},
        edits=(("(1.0 if x > 0.0 else 0.0) * out.grad", "(1.0 if x > 0.0 else 0.0)"),),
    ),
    Specimen(
        name="closure-on-operand",
        number=17,
        title="The closure set on an operand instead of the result",
        explanation="The result of an op must know how to push its gradient on. Here the closure is set on the "
        "operand, `self._backward = push`. A chain still comes out right, because the operand pushes for the result "
        "at its own turn; but an operand that is used twice has room for one closure only, and the first one is lost.",
        hint="Whose turn is it in the walk when this closure should run: the operand's, or the result's?",
        solution="Set it on the result: `out._backward = push`.",
        program="a = Value(2.0)\nb = a + 1\nc = a * 3\nd = b * c\nd.backward()",
        right={"a.grad": 15.0},
        wrong={"a.grad": 9.0},
        edits=(("out._backward = push", "self._backward = push"),),
    ),
    Specimen(
        name="one-user",
        number=17,
        title="One pointer to the user, which a second user overwrites",
        explanation="Each Value remembers the one node that uses it, and takes its gradient from there. A second "
        "user overwrites the pointer, and the first one's contribution never arrives. `a + a` is right, because it "
        "is one user; two different users are not.",
        hint="How many nodes can use one Value? How many does your pointer remember?",
        solution="Let results know their operands (there are always one or two) instead of operands their users, or "
        "keep a list of users.",
        program="a = Value(2.0)\nb = a * 3\nc = a * 5\nd = b + c\nd.backward()",
        right={"a.grad": 8.0},
        wrong={"a.grad": 5.0},
        edits=(
            ("        self._prev = tuple(_children)\n",
             "        self._prev = tuple(_children)\n"
             "        for child in _children:\n"
             "            child._user = self\n"),
            ("            self.grad += ", "            if self._user is out: self.grad += "),
            ("            other.grad += ", "            if other._user is out: other.grad += "),
        ),
    ),
    Specimen(
        name="keyed-by-operand",
        number=17,
        title="Gradients kept in a dict, one entry for each operand",
        explanation="A dict with the operands as keys has room for one number each. In `a - a` both operands are the "
        "same Value: the second entry replaces the first, and one of the two contributions is gone.",
        hint="Work through a + a: how many contributions should arrive, and how many are kept?",
        solution="Keep the contributions in a list of pairs, or push them one after the other with `+=`.",
        program="a = Value(3.0)\nb = a - a\nb.backward()",
        right={"a.grad": 0.0},
        wrong={"a.grad": -1.0},
        edits=(
            _by_operand("out.grad", "out.grad"),
            _by_operand("out.grad", "-out.grad"),
            _by_operand("y * out.grad", "x * out.grad"),
            _by_operand("divide(1.0, y) * out.grad", "divide(-z, y) * out.grad"),
        ),
    ),
    Specimen(
        name="detached-op",
        number=16,
        title="An op that leaves the graph",
        explanation="This quotient computes with the numbers and wraps the result in a new Value that knows nothing "
        "of its operands. Forwards all is well. Backwards the walk ends there, and the gradients beyond it stay 0.",
        hint="After this op, ask the result what it was made from. What does it answer?",
        solution="Give the result its operands and a closure: `Value(z, (self, other), \"/\")` and `out._backward = "
        "push`.",
        program="a = Value(3.0)\nb = a / 2\nb.backward()",
        right={"b.data": 1.5, "a.grad": 0.5},
        wrong={"b.data": 1.5, "a.grad": 0.0},
        edits=(("        out = Value(z, (self, other), \"/\")\n", "        return Value(z)\n"),),
    ),
    Specimen(
        name="hidden-method",
        number=17,
        title="An attribute that hides the method",
        explanation="The closure is stored under the name `backward`, which is the name of the method that starts "
        "the walk. An attribute of the object hides a method of the class: `c.backward()` runs the closure of one "
        "node, nobody has set its gradient to 1, and 0 is pushed one step.",
        hint="`c.backward()` finds what is on the object before what is on the class. What is stored there?",
        solution="Give the closure a name of its own, such as `_backward`.",
        program="a = Value(3.0)\nb = a * 2\nb.backward()",
        right={"a.grad": 2.0},
        wrong={"a.grad": 0.0},
        edits=(
            ("self._backward = lambda", "self.backward = lambda"),
            ("out._backward = push", "out.backward = push"),
            ("node._backward()", "node.backward()"),
        ),
    ),
)  # fmt: skip
