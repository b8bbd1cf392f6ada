"""Specimens in the walk: which node comes when, how often, and what is left over from the walk before."""

from __future__ import annotations

from gradwalk.diagnose.museum.specimen import Edit, Specimen

__all__ = ["WALKS"]

_WALK = """\
        order = ordered(self)
        for node in order:
            if node._prev:
                node.grad = 0.0  # made on the way: only this walk counts; leaves add up from walk to walk
        self.grad = 1.0
        for node in reversed(order):
            node._backward()
"""
_RESET = """\
        for node in order:
            if node._prev:
                node.grad = 0.0  # made on the way: only this walk counts; leaves add up from walk to walk
"""
_SEARCH = """\
        if operands_done:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            for operand in reversed(node._prev):
                stack.append((operand, False))
    return order
"""
_ORDERED = (
    "    order, seen, stack = [], set(), [(root, False)]\n    while stack:\n        node, operands_done = stack.pop()\n"
)


def _order(body: str) -> Edit:
    """Another way to find the order."""
    return _ORDERED + _SEARCH, body


WALKS = (
    Specimen(
        name="no-order",
        number=3,
        title="A node visited before all of its users are done",
        explanation="The walk goes from each node straight to its operands. A Value that is used in two places is "
        "visited twice, each time with what has arrived so far, and pushes the early part again with the late one.",
        hint="A node may only pass its gradient on when it is complete. When you come to a Value that is used in two "
        "places, have both of them reported?",
        solution="First put the nodes in an order in which every node comes after all of its users, then let each "
        "push once in that order.",
        program="a = Value(3.0)\nb = a * 2\nc = b * b + b\nc.backward()",
        right={"a.grad": 26.0},
        wrong={"a.grad": 78.0},
        edits=(
            (_WALK, "        self.grad = 1.0\n        follow(self)\n"),
            ("def ordered(root):",
             "def follow(node):\n    node._backward()\n    for operand in node._prev:\n        follow(operand)\n\n\n"
             "def ordered(root):"),
        ),
    ),
    Specimen(
        name="left-over-gradients",
        number=5,
        title="Gradients inside the graph left over from the walk before",
        explanation="Leaves are meant to add up from walk to walk; the nodes in between are not. Here they keep what "
        "the first walk left in them, and the second walk pushes it down once more: 27, then 72 where 54 is right. "
        "Setting only the leaves to 0 does not help: that gives 45.",
        hint="Before the second walk, look at the gradients of the nodes between root and leaves. Should they still "
        "count?",
        solution="At the start of `backward`, set the gradient of every node that was made by an op to 0.",
        program="x = Value(3.0)\ny = x * x * x\ny.backward()\nfirst = x.grad\ny.backward()",
        right={"first": 27.0, "x.grad": 54.0},
        wrong={"first": 27.0, "x.grad": 72.0},
        edits=((_RESET, ""),),
    ),
    Specimen(
        name="every-path",
        number=10,
        title="Walking every path instead of every node",
        explanation="Nodes are marked as seen after their operands have been searched, and so the search goes down "
        "from a node as often as there are paths to it. The numbers are right. The time doubles with every diamond: "
        "25 of them in a row take 33 million steps.",
        hint="Count how often your search looks at the first Value of a chain of three diamonds. And of four?",
        solution="Mark a node as seen when the search first comes to it, before going on to its operands.",
        program="x = Value(2.0)\nfor i in range(25):\n    x = x * 0.5 + x * 0.5\nx.backward()",
        right={"x.data": 2.0},
        wrong_error="OutOfSteps",
        edits=(
            (_SEARCH,
             "        if not operands_done:\n"
             "            stack.append((node, True))\n"
             "            for operand in reversed(node._prev):\n"
             "                stack.append((operand, False))\n"
             "        elif node not in seen:\n"
             "            seen.add(node)\n"
             "            order.append(node)\n"
             "    return order\n"),
        ),
    ),
    Specimen(
        name="only-once",
        number=11,
        title="A second backward that silently does nothing",
        explanation="The walk throws the closures away once they have run, to save memory. Whoever calls `backward` "
        "a second time, on this root or on another that shares nodes with it, gets too little and no error.",
        hint="What is left of the graph after the first walk?",
        solution="Leave the closures in place, or raise an error that says that the graph has been used up.",
        program="x = Value(3.0)\ny = x * x * x\ny.backward()\nx.grad = 0.0\ny.backward()",
        right={"x.grad": 27.0},
        wrong={"x.grad": 0.0},
        edits=(("            node._backward()\n",
                "            node._backward()\n            node._backward = lambda: None\n"),),
    ),
    Specimen(
        name="listed-twice",
        number=17,
        title="A node listed twice in the order",
        explanation="The search forgets to mark what it has seen, so a Value that is used twice stands in the order "
        "twice. At its second turn it pushes its whole gradient again.",
        hint="Print the order for b = 2a, c = b·b + b. How often does b stand in it?",
        solution="Keep a set of the nodes that were seen, and do not go to them again.",
        program="a = Value(3.0)\nb = a * 2\nc = b * b + b\nc.backward()",
        right={"a.grad": 26.0},
        wrong={"a.grad": 54.0},
        edits=(("        elif node not in seen:\n            seen.add(node)\n", "        else:\n"),),
    ),
    Specimen(
        name="root-twice",
        number=17,
        title="The root listed twice in the order",
        explanation="The order starts with the root, and the search then adds the root once more. It pushes twice, "
        "and every gradient is twice what it should be.",
        hint="All of your gradients are off by the same factor. Which node can do that to all of them?",
        solution="Let the search add the root, and start from an empty list.",
        program="a = Value(3.0)\nb = a * 2\nb.backward()",
        right={"a.grad": 2.0},
        wrong={"a.grad": 4.0},
        edits=(("for node in reversed(order):", "for node in [self, *reversed(order)]:"),),
    ),
    Specimen(
        name="breadth-first",
        number=17,
        title="Breadth first taken for a topological order",
        explanation="The nodes are visited level by level, counted from the root. A Value with a long and a short "
        "way to the root is reached by the short one first, and pushes before the long way has delivered.",
        hint="Draw b + (b·3)·2 and number the nodes in the order of your walk. Does b come after all of its users?",
        solution="Order the nodes by depth-first search, each after its operands, and walk that list backwards; or "
        "count the users of each node and let it go when the last one is done.",
        program="a = Value(3.0)\nb = a * 2\nc = (b * 3) * 2 + b\nc.backward()",
        right={"a.grad": 14.0},
        wrong={"a.grad": 2.0},
        edits=(
            _order("    order = [root]\n"
                   "    for node in order:\n"
                   "        order += [operand for operand in dict.fromkeys(node._prev) if operand not in order]\n"
                   "    return order[::-1]\n"),
        ),
    ),
    Specimen(
        name="preorder",
        number=17,
        title="Preorder taken for a topological order",
        explanation="Each node is put in the list before its operands, as the search meets it, and the list is "
        "walked from the front. That is not the reverse of putting each node after its operands: a Value that is met "
        "early on one way pushes before the other way has delivered.",
        hint="Your walk is right for b·b + b. Try b + b·b: which node is met first, and is it complete?",
        solution="Append a node after its operands have been searched, not before, and walk the list backwards.",
        program="a = Value(3.0)\nb = a * 2\nc = b + b * b\nc.backward()",
        right={"a.grad": 26.0},
        wrong={"a.grad": 2.0},
        edits=(
            (_SEARCH,
             "        if node not in seen:\n"
             "            seen.add(node)\n"
             "            order.append(node)\n"
             "            for operand in reversed(node._prev):\n"
             "                stack.append((operand, False))\n"
             "    return order[::-1]\n"),
        ),
    ),
    Specimen(
        name="not-seeded",
        number=18,
        title="Nobody set the root's gradient to 1",
        explanation="The walk multiplies by the gradient of the root, which is how much the root changes when it "
        "itself changes: 1. It starts at 0 here, and everything below is 0 as well.",
        hint="What is the derivative of the result with respect to itself? Who says so to the root?",
        solution="Write `self.grad = 1.0` before the walk.",
        program="a = Value(3.0)\nb = a * 2\nb.backward()",
        right={"a.grad": 2.0},
        wrong={"a.grad": 0.0},
        edits=(("        self.grad = 1.0\n", ""),),
    ),
    Specimen(
        name="wrong-end",
        number=18,
        title="The order walked from the wrong end",
        explanation="The nodes are in order, operands before what is made from them, and the walk takes them as they "
        "are: leaves first. Every node pushes before anything has reached it, and the root, which has the 1, comes "
        "last. Only its own operands get anything.",
        hint="Which node has a gradient when the walk begins? When is it its turn?",
        solution="Walk the list backwards: `for node in reversed(order)`.",
        program="a = Value(3.0)\nb = a * 2\nc = b * b\nc.backward()",
        right={"b.grad": 12.0, "a.grad": 24.0},
        wrong={"b.grad": 12.0, "a.grad": 0.0},
        edits=(("for node in reversed(order):", "for node in order:"),),
    ),
    Specimen(
        name="leaves-reset",
        number=18,
        title="A walk that wipes the leaves",
        explanation="Every walk sets all gradients to 0 first. That spares a training loop its zeroing, and it "
        "breaks whoever adds up gradients over several results: only the last one counts.",
        hint="Two losses share a weight, and you call backward on both. What should the weight's gradient be?",
        solution="Set only the gradients of nodes made by an op to 0, and leave those of leaves to whoever calls.",
        program="x = Value(3.0)\nf = x * 2\ng = x * 5\nf.backward()\ng.backward()",
        right={"x.grad": 7.0},
        wrong={"x.grad": 5.0},
        edits=((_RESET, "        for node in order:\n            node.grad = 0.0\n"),),
    ),
    Specimen(
        name="recursion-limit",
        number=18,
        title="A search by recursion, and a deep graph",
        explanation="A search that calls itself for each operand is as deep as the graph, and Python stops it after "
        "a thousand calls or so. A sum over a few thousand terms is that deep.",
        hint="How many calls of your search are open at once in a chain of 5,000 additions?",
        solution="Keep the nodes that are still to be searched in a list of your own, and work it off in a `while` "
        "loop.",
        program="a = Value(1.0)\nx = a\nfor i in range(5000):\n    x = x + 1\nx.backward()",
        right={"a.grad": 1.0},
        wrong_error="RecursionError",
        edits=(
            _order("    order, seen = [], set()\n\n"
                   "    def search(node):\n"
                   "        if node not in seen:\n"
                   "            seen.add(node)\n"
                   "            for operand in node._prev:\n"
                   "                search(operand)\n"
                   "            order.append(node)\n\n"
                   "    search(root)\n"
                   "    return order\n"),
        ),
    ),
)  # fmt: skip
