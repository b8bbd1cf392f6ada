"""Specimens in what nodes keep: data that an op changes, data that changes under a graph, state that nodes share."""

from __future__ import annotations

from gradwalk.diagnose.museum.specimen import Specimen

__all__ = ["STATE"]

STATE = (
    Specimen(
        name="changes-its-input",
        number=8,
        title="An op that changes its input",
        explanation="This relu writes its result back into the operand. Whoever uses the operand again, in another "
        "op or in the next step of training, finds another number there.",
        hint="Look at the data of the operand before and after your op.",
        solution="Compute a new number and put it in a new Value; `self.data` stands only on the right of `=`.",
        program="a = Value(-2.0)\nb = a.relu()\nc = b + a",
        right={"a.data": -2.0, "c.data": -2.0},
        wrong={"a.data": 0.0, "c.data": 0.0},
        edits=(("z = x if x > 0.0 else 0.0", "z = self.data = x if x > 0.0 else 0.0"),),
    ),
    Specimen(
        name="data-read-late",
        number=9,
        title="Data read when the walk comes by",
        explanation="The closure reads `other.data` during the walk, and not when the op was done. If the data has "
        "changed in between (a training step, a second forward pass over the same weights), the local derivative "
        "belongs to numbers that the value was never computed from.",
        hint="Which numbers was the value computed from, and which numbers does your closure see when it runs?",
        solution="Keep the numbers when the op is done, `x, y = self.data, other.data`, and use those in the closure.",
        program="a = Value(3.0)\nb = Value(2.0)\nc = a * b\na.data = 10.0\nc.backward()",
        right={"c.data": 6.0, "b.grad": 3.0},
        wrong={"c.data": 6.0, "b.grad": 10.0},
        edits=(
            ("self.grad += y * out.grad", "self.grad += other.data * out.grad"),
            ("other.grad += x * out.grad", "other.grad += self.data * out.grad"),
        ),
    ),
    Specimen(
        name="shared-default",
        number=15,
        title="One list for all nodes",
        explanation="A default argument is made once, when `def` is read, and not at each call. Every node that "
        "relies on it has the same list, and what one node adds all of them have: the graph bites its own tail.",
        hint="Make two Values and compare `a._prev is b._prev`. When was that list made?",
        solution="Use a tuple or None as the default, and make the list inside the function.",
        program="a = Value(2.0)\nb = -a\nc = -b\nd = -c\nd.backward()",
        right={"a.grad": -1.0},
        wrong={"a.grad": 0.0},
        edits=(
            ('self, data, _children=(), _op=""):', 'self, data, _children=(), _op="", _prev=[]):'),
            ("self._prev = tuple(_children)", "self._prev = _prev\n        self._prev.extend(_children)"),
        ),
    ),
)  # fmt: skip
