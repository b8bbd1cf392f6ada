"""Lesson 7, third: the walk itself, and the diamond on the learner's own engine."""

from __future__ import annotations

from gradwalk.diagnose.probes import Probe
from gradwalk.learn.page.exercises.model import Exercise, Mistake, Tab, on

__all__ = ["BACKWARD", "DIAMOND"]

_STARTER = """\
def backward(self):
    order = []        # each node once, after its operands
    visited = set()

    def visit(node):
        pass          # 1. write it down, after its operands

    visit(self)
    for node in order:
        if node._prev:        # what an earlier walk has left
            node.grad = 0.0   # there must not count again

    # 2. the seed

    # 3. the walk
"""

_SOLUTION = """\
def backward(self):
    order = []        # each node once, after its operands
    visited = set()

    def visit(node):
        if node not in visited:
            visited.add(node)
            for operand in node._prev:
                visit(operand)
            order.append(node)

    visit(self)
    for node in order:
        if node._prev:        # what an earlier walk has left
            node.grad = 0.0   # there must not count again

    self.grad = 1.0
    for node in reversed(order):
        node._backward()
"""

_CLEARING = """\
    for node in order:
        if node._prev:        # what an earlier walk has left
            node.grad = 0.0   # there must not count again
"""
_LOOP = "    for node in reversed(order):\n        node._backward()\n"
_VISIT = """\
        if node not in visited:
            visited.add(node)
            for operand in node._prev:
                visit(operand)
            order.append(node)
"""
_EARLY = _VISIT.replace("            order.append(node)\n", "").replace(
    "visited.add(node)\n", "visited.add(node)\n            order.append(node)\n"
)

_TAB = Tab(
    "backward",
    "Order, seed, walk: find an order, give the root its one, visit the nodes in reverse.",
    _STARTER,
    _SOLUTION,
    ("The order comes first. `visit` must write a node down only after all of its operands: first "
     "visit every `operand` in `node._prev`, then `order.append(node)`.",
     "A node that is reached along two paths must be written down once. Go on only `if node not in visited`, and "
     "add it to `visited` right away.",
     "The seed is `self.grad = 1.0`. It comes after the loop that clears, and before the walk.",
     "The walk is `for node in reversed(order):`, and at each node `node._backward()`."),
    (on("y = a * b", "y.grad a.grad b.grad", "a · b", a=2, b=-3),
     on("e = a * b; d = e + c; L = d * f", "a.grad b.grad c.grad f.grad", "(a · b + c) · f", a=2, b=-3, c=10, f=-2),
     on("b = a + 1; c = a * 3; d = b * c", "a.grad", "the diamond", True, a=2),
     on("b = a * 2; c = b * b + b", "b.grad a.grad", "b · b + b with b = 2a", True, a=3),
     on("b = a * 2; c = b + b * b", "a.grad", "b + b · b with b = 2a", True, a=3),
     on("s = a * 2; b = s + 1; c = s * 3; d = b * c", "s.grad a.grad", "a diamond with a stem", True, a=1),
     Probe("x · x · x, walked twice, x = 3", "x = Value(3.0)\ny = x * x * x\ny.backward()\ny.backward()", ("x.grad",)),
     Probe("a chain of thirteen diamonds",
           "x = Value(2.0)\ny = x\nfor _ in range(13):\n    y = y * 0.5 + y * 0.5\ny.backward()", ("x.grad",))),
    (Mistake("visited twice",
             ((_VISIT,
               "        for operand in node._prev:\n            visit(operand)\n        if node not in "
               "visited:\n            visited.add(node)\n            order.append(node)\n"),),
             "Every number is right, but on a chain of thirteen diamonds it had to be stopped: the search follows "
             "every path, and there are thousands.", "Does it go on from a node that it has already seen?"),
     Mistake("no seed", (("    self.grad = 1.0\n", ""),),
             "Every gradient is zero. The walk multiplies, and it started with zero.",
             "Which gradient is known before the walk begins?"),
     Mistake("no seed", (("    self.grad = 1.0\n", ""), (_LOOP, _LOOP + "    self.grad = 1.0\n")),
             "The root gets its one, but too late: the walk is already over.", "Does the seed come before the walk?"),
     Mistake("no seed", (("    self.grad = 1.0\n", "    self.grad = self.data\n"),),
             "The root was seeded with its data. It should be seeded with a slope.",
             "What is the slope of anything with respect to itself?"),
     Mistake("no seed",
             (("    self.grad = 1.0\n", ""), ("        node._backward()\n",
               "        node.grad = 1.0\n        node._backward()\n")),
             "Every node is set to one when it is visited, and what had arrived there is gone.",
             "Which node is the only one that begins with a one?"),
     Mistake("wrong order", (("reversed(order)", "order"),),
             "The walk ran from the leaves to the root. When the operands were visited, nothing had reached them yet.",
             "In which direction must the order be walked?"),
     Mistake("wrong order", ((_VISIT, _EARLY), ("reversed(order)", "order")),
             "A node was written down before its operands were, so one that two others share can come too early.",
             "Does `order.append(node)` come after the loop over the operands?"),
     Mistake("wrong order", ((_VISIT, _EARLY),),
             "A node was written down before its operands were, and then the list was walked from its end: "
             "leaves first.", "Does `order.append(node)` come after the loop over the operands?"),
     Mistake("visited twice",
             ((_VISIT,
               "        for operand in node._prev:\n            visit(operand)\n        order.append(node)\n"),),
             "A node that is reached along two paths is in the list twice, and what is visited twice pushes twice.",
             "What is `visited` for?"),
     Mistake("visited twice",
             ((_VISIT, "        order.append(node)\n        for operand in node._prev:\n            visit(operand)\n"),
              ("reversed(order)", "order")),
             "The walk followed every path instead of visiting every node. A shared node pushed once for each path.",
             "What is `visited` for?"),
     Mistake("wrong order",
             (("    self.grad = 1.0\n", ""), ("    visit(self)\n", "    self.grad = 1.0\n    visit(self)\n")),
             "The root gets its one, and then the loop that clears sets it back to zero.",
             "Which comes first: clearing, or the seed?"),
     Mistake("not zeroed", ((_CLEARING, ""),),
             "The first walk is right, the second is not: what the first left in the middle was pushed again.",
             "Which gradients must be zero before a walk begins?"),
     Mistake("not zeroed", (("        if node._prev:        # what", "        if True:        # what"),),
             "The second walk wiped out what the first had brought to the leaves. Leaves add up from walk to "
             "walk; only the nodes in the middle are cleared.",
             "Which gradients must be zero before a walk begins, and which must not?"),
     Mistake("a part is missing", ((_LOOP, "    self._backward()\n"),),
             "Only the root was visited. Its operands have received their share, but they never pass it on.",
             "What visits the other nodes?"),
     Mistake("a part is missing", ((_LOOP, ""),), "The root has its one, and there it stays: no node was visited.",
             "Where is the walk?"),
     Mistake("a part is missing", (("        node._backward()", "        node._backward"),),
             "The loop looks at every `_backward` and calls none.", "Are the brackets there?"),
     Mistake("not zeroed",
             (("        node._backward()\n", "        node._backward()\n        node.grad = 0.0\n"),),
             "Each gradient is set back to zero as soon as it has pushed, so in the end nothing is left to read.",
             "When should gradients be cleared: before the walk, or during it?"),
     Mistake("not zeroed",
             (("        node._backward()\n",
               "        node._backward()\n        if node._prev:\n            node.grad = 0.0\n"),),
             "Each gradient in the middle is set back to zero as soon as it has been pushed, so nobody can read it.",
             "When should gradients be cleared: before the walk, or during it?")),
    "Each node once, each after all that use it.",
)  # fmt: skip

BACKWARD = Exercise("backward", "The walk", "methods", {"backward": _TAB})

_PROGRAM = """\
a = Value(2.0)
b = a + 1
c = a * 3
d = b * c
d.backward()
"""

_DIAMOND = Tab(
    "diamond",
    "Build b = a + 1, c = a · 3 and d = b · c from a = 2, and walk back from d.",
    "a = Value(2.0)\n# b, c and d, then walk back from d\n",
    _PROGRAM,
    ("Write one line for each: `b = a + 1`, and so on.", "The walk starts at the end: `d.backward()`."),
    (Probe("the diamond", "", ("b.data", "c.data", "d.data", "d.grad", "b.grad", "c.grad", "a.grad")),),
    (Mistake("a part is missing", (("d.backward()\n", ""),), "The forward pass is right. Nothing has walked back yet.",
             "From which node does the walk start?"),
     Mistake("wrong direction", (("d.backward()", "a.backward()"),),
             "The walk started at `a`, where it should end. `a` is a leaf and has nothing to push to.",
             "Which node is the root?"),
     Mistake("wrong direction", (("d.backward()", "b.backward()"),),
             "The walk started at `b`, in the middle. `c` and `d` were never visited.", "Which node is the root?"),
     Mistake("wrong direction", (("d.backward()", "c.backward()"),),
             "The walk started at `c`, in the middle. `b` and `d` were never visited.", "Which node is the root?"),
     Mistake("cut off", (("a + 1", "Value(2.0) + 1"), ("a * 3", "Value(2.0) * 3")),
             "Nothing arrives at `a`: your `d` is not made from it.", "Do `b` and `c` use `a` itself?"),
     Mistake("wrong value", (("b * c", "b + c"),), "`d` is the sum of `b` and `c` here.", "Which operation makes `d`?"),
     Mistake("counted twice", (("d.backward()\n", "d.backward()\nd.backward()\n"),),
             "You walked back twice, and the gradients of leaves add up from walk to walk.",
             "Is `d.backward()` there once?")),
    "Fifteen, on an engine that you wrote yourself.",
)  # fmt: skip

DIAMOND = Exercise("diamond", "The diamond on your own engine", "program", {"diamond": _DIAMOND})
