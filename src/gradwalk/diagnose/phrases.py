"""What each fault is called in a sentence: in one op, in every op, in the walk."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gradwalk.diagnose.formulas import pretty
from gradwalk.diagnose.museum.faults import EVERY, Fault, right_slopes, right_value
from gradwalk.diagnose.vocabulary import SYMBOL
from gradwalk.messages import Message, say

__all__: list[str] = []


def sentence(fault: Fault, op: str, walk: str, line: int | None) -> Message:
    """What is wrong, and where; `op` and `walk` are what the engine calls them."""
    if fault.op == EVERY:
        return Message(IN_EVERY_OP[fault.kind], {"at": at(line)})
    if fault.op:
        return _in_op(fault, op, line)
    if fault.name == "overwriting":
        if line:
            return say("your engine overwrites gradients: line {line} has `=` where `+=` is needed", line=line)
        return say("your engine overwrites gradients instead of adding to them")
    return filled(IN_WALK[fault.name], {"walk": walk, "at": at(line)})


def at(line: int | None) -> Message:
    """A place in the source, in words; nothing if it is not known."""
    return say(" on line {line}", line=line) if line else say("")


def operand(fault: Fault) -> Message:
    """Which operand, in words; nothing if there is only one."""
    if fault.operand is None or fault.op not in SYMBOL:
        return say("")
    return (say("first operand"), say("second operand"))[fault.operand]


def _in_op(fault: Fault, op: str, line: int | None) -> Message:
    name = fault.name if fault.kind in ("specimen", "reflected") else fault.kind
    parts: dict[str, str] = {
        "op": op, "at": at(line), "line": str(line), "which": operand(fault) or say("operand"),
        "formula": pretty(fault.formula), "error": fault.formula,
    }  # fmt: skip
    match name:
        case "overwriting":
            name += ": line" if line else ": operand" if fault.operand is not None else ""
        case "slope":
            name += ": operand" if operand(fault) else ""
            parts["right"] = pretty(right_slopes(fault.op)[fault.operand or 0])
        case "value":
            parts["right"] = pretty(right_value(fault.op))
        case "wrong-value":
            parts["code"], parts["sign"] = fault.formula.replace("as_value(other)", "other"), SYMBOL[fault.op[1:]]
        case "detached":
            name += "" if fault.operand is None else ": operand"
        case "python-raises":
            name += ": complex" if "complex" in fault.formula else ""
    return filled(IN_OP[name], parts)


def filled(words: str, parts: Mapping[str, str]) -> Message:
    """A sentence of a table, with those of the parts that it has holes for."""
    return Message(words, {hole: parts[hole] for hole in re.findall(r"{(\w+)}", words)})


_TURNED = "your `{op}` is the wrong way round{at}: the number on the left arrives as the argument"
#: Each of these has its words here alone; `learn.page.sentences` reads these tables.
IN_OP = {
    "overwriting": "your `{op}` overwrites the gradient of its operands instead of adding to it",
    "overwriting: line": "your `{op}` overwrites: line {line} has `=` where `+=` is needed",
    "overwriting: operand": "your `{op}` overwrites the gradient of its {which} instead of adding to it",
    "slope": "the derivative of your `{op}` is wrong{at}: it gives {formula}, and {right} is right",
    "slope: operand": "the derivative of your `{op}` with respect to its {which} is wrong{at}: it gives {formula}, and "
    "{right} is right",
    "value": "your `{op}` computes {formula}{at}, where {right} is right",
    "wrong-value": "your `{op}` gives `{code}`{at}, where `other {sign} self` is meant",
    "detached": "your `{op}` leaves the graph{at}: no gradient gets through it",
    "detached: operand": "your `{op}` pushes nothing to its {which}{at}",
    "detached: kept": "your `{op}` pushes nothing{at}: no gradient gets through it",
    "detached: slip": "your `{op}` sets `{name}` on line {line}, and the walk calls `{push}`: no gradient gets through "
    "it",
    "python-raises": "your `{op}` raises {error}{at}, where floating-point numbers have an answer",
    "python-raises: complex": "your `{op}` gives a complex number{at}, where floating-point numbers have an answer",
    "reversed-subtraction": _TURNED,
    "reversed-division": _TURNED,
    "counting-itself": "your `{op}` counts what is there already twice{at}",
    "negated": "your `{op}` subtracts its contributions{at}, where it should add them",
    "without-upstream": "your `{op}` forgets the upstream gradient{at}: the local derivative is not multiplied by it",
    "adds-upstream": "your `{op}` adds the upstream gradient{at}, where it should multiply by it",
    "keyed-by-operand": "your `{op}` loses a contribution{at} when both of its operands are the same Value",
    "data-read-late": "your `{op}` reads data when the walk comes by{at}, and not when the op is done",
    "closure-on-operand": "your `{op}` sets its closure on an operand instead of the result{at}",
    "changes-its-input": "your `{op}` changes the data of its operand{at}",
    "tanh-through-exp": "your `{op}` goes through exp{at}, which overflows for large inputs",
    "sigmoid-through-exp": "your `{op}` goes through exp{at}, which overflows for large negative inputs",
}

IN_EVERY_OP = {
    "negated": "your engine subtracts every contribution{at}, where it should add it",
    "slope": "your engine pushes the upstream gradient on as it is{at}: the local derivatives are left out",
    "without-upstream": "your engine pushes local derivatives{at} without the upstream gradient",
    "adds-upstream": "your engine adds local derivative and upstream gradient{at}, where it should multiply them",
    "counting-itself": "your engine counts what is there already twice{at}",
}

IN_WALK = {
    "wrong-end": "your `{walk}` goes from the leaves to the root{at}, where it should start at the root",
    "no-order": "your `{walk}` visits a node before all of its users are done{at}",
    "left-over-gradients": "your `{walk}` starts{at} with gradients inside the graph left over from the walk before",
    "every-path": "your `{walk}` walks every path instead of every node{at}",
    "only-once": "your `{walk}` works only once{at}: a second call silently does nothing",
    "listed-twice": "your `{walk}` has nodes in its order more than once{at}",
    "root-twice": "your `{walk}`{at} lets the root push twice: every gradient is doubled",
    "breadth-first": "your `{walk}` goes level by level{at}, which is no topological order",
    "preorder": "your `{walk}` takes nodes in preorder{at}, which is no topological order",
    "not-seeded": "your `{walk}` does not set the root's gradient to 1{at}",
    "leaves-reset": "your `{walk}` does not keep the gradients of leaves{at}: they should add up from walk to walk",
    "recursion-limit": "your `{walk}` goes one call deeper for each node{at}, and deep graphs are too deep for that",
    "closure-on-operand": "a closure is set on an operand instead of the result{at}",
    "hidden-method": "an attribute hides the method `{walk}`{at}: calling it runs something else",
    "shared-default": "all nodes share one container{at}: it is made once, not for each node",
    "one-user": "each node remembers one user only{at}: a second user overwrites the first",
    "keyed-by-operand": "your engine loses a contribution{at} when both operands of an op are the same Value",
}

#: What was seen of an engine: sentence, hint, solution. Before a colon stands the name of the fault, if it has one.
SEEN = {
    "seeded-with-data": (
        "your `{walk}` starts with the root's data as its gradient{at}, where 1 is right",
        "By how much does the result change when it itself changes by a little?",
        "Set the root's `{grad}` to 1 before the walk.",
    ),
    "seeded-wrong": (
        "your `{walk}` starts{at} with another number than 1 as the root's gradient",
        "By how much does the result change when it itself changes by a little?",
        "Set the root's `{grad}` to 1 before the walk.",
    ),
    "wiped-after-seed": (
        "your `{walk}` sets the root's gradient to 1 and then wipes it{at}: every gradient stays 0",
        "What does the root hold when it is its turn to push?",
        "Wipe first, and set the root's `{grad}` to 1 after that.",
    ),
    "wiped-at-the-end": (
        "your `{walk}` wipes what leaves have received{at}: when it is done, all of them hold 0",
        "Who reads the gradients of leaves, and when?",
        "Wipe nothing after the walk; leaves keep what they have received.",
    ),
    "kept-in-default": (
        "your `{walk}` keeps the nodes of earlier walks{at}: what it collects them in is made once, not for each call",
        "Print your list or set of nodes at the start of the second walk. What is in it?",
        "Make the list or set inside `{walk}`, anew for each call.",
    ),
    "pushes-twice": (
        "in your `{walk}`{at}, every node pushes more than once",
        "Follow one node through your walk. How often is its push called?",
        "Let every node push once.",
    ),
    "zero-at-root": (
        "after your `{walk}`{at} the root's gradient is 0, where 1 is right",
        "What is the derivative of the result with respect to itself? Who says so to the root?",
        "Set the root's `{grad}` to 1 before the walk, and wipe nothing after that.",
    ),
    "no-further": (
        "in your `{walk}`{at}, what the root passes on gets no further than its operands",
        "Which node has a gradient when the walk begins? When is it its turn?",
        "Let every node push once, the root first, and each after all of its users.",
    ),
    "missing-visits": (
        "your `{walk}` leaves nodes out: they never push what they have received",
        "Draw a small graph, and tick each node when your walk comes by. Which one stays?",
        "Let every node that the root was made from push once.",
    ),
    "left-out-by": (
        "after your `{op}`{at}, `{walk}` does not come to every operand: one of them never pushes",
        "Ask the result of this op what it was made from. Are all of its operands there?",
        "Let the result keep all of its operands.",
    ),
    "hashes-all-paths": (
        "a look at one node{at} goes through all that it was made from: in your `{walk}`, that takes every path",
        "What does Python do with a node that is put into a set, or looked for in one?",
        "Compare nodes by what they are: leave `__eq__` and `__hash__` out; of a dataclass, write `eq=False`.",
    ),
    "equal-by-data": (
        "`__eq__` compares data{at}: for your `{walk}`, two nodes that hold the same number are one",
        "When does your walk take a node for one that it has seen? Think of b = a * 1.",
        "Leave `__eq__` and `__hash__` out, or keep the visited nodes by `id(node)`.",
    ),
    "seen-by-data": (
        "your `{walk}` takes two nodes that hold the same number for one{at}",
        "When does your walk take a node for one that it has seen? Think of b = a * 1.",
        "Keep the visited nodes themselves, or their `id`, and not their numbers.",
    ),
    "seed-added": (
        "your `{walk}` adds 1 to the root's gradient{at}, where it should set it to 1: a second walk starts with 2",
        "What does the root hold when the second walk begins?",
        "Set it: `self.{grad} = 1.0`.",
    ),
    "never-ends": (
        "your `{walk}` never ends: on a graph of three nodes it still goes round{at} after hundreds of thousands of "
        "steps",
        "What must change for the loop to stop, and which line changes it?",
        "",
    ),
    "slow": (
        "your engine needs more than {steps} steps for {program}, and the walk back",
        "How many steps does your engine take for each node, and do they become more as the graph grows?",
        "",
    ),
    "endless-recursion": (
        "your `{op}` calls itself without end{at}",
        "Follow one call by hand: which op does it use, and which op does that one use?",
        "",
    ),
    "endless-recursion: walk": (
        "your `{walk}` calls itself without end{at}",
        "On what does your walk stop? Follow it from a result of two operands, call by call.",
        "",
    ),
    "slope-by-dividing": (
        "your `{op}` divides by an operand to find its derivative{at}: a factor 0 stops it with ZeroDivisionError",
        "What is the derivative of a * b with respect to a, and does it need the result at all?",
        "The derivative with respect to each operand is the other operand's data.",
    ),
    "in-place-operator": (
        "your `{method}` changes its left operand in place{at} and makes no node: no gradient reaches the other "
        "operand",
        "After `y += b`, which node remembers that b was used?",
        "Leave `{method}` out: Python then uses `{other}`, which makes a new node.",
    ),
    "loses-digits: cut": (
        "your {name} cuts its data to a whole number{at}: {code} holds {got}",
        "What does a step of training do with a weight that cannot change by a millionth?",
        "Keep the number as it is given.",
    ),
    "loses-digits: rounded": (
        "your {name} rounds its data{at}: {code} holds {got}",
        "What does a step of training do with a weight that cannot change by a millionth?",
        "Keep the number as it is given.",
    ),
    "loses-digits: changed": (
        "your {name} changes its data{at}: {code} holds {got}",
        "Make a node of a negative number, and print what it holds.",
        "Keep the number as it is given.",
    ),
    "starts-with-gradient": (
        "a new {name} starts with the gradient {got}{at}, where 0 is right",
        "What has been pushed to a node that nobody has used yet?",
        "Set it to 0: `self.{grad} = 0.0`.",
    ),
    "misspelt-operator": (
        "Python never calls `{written}`{at}: what it looks for is `{meant}`",
        "Look the operator up in the list of special method names in Python's documentation.",
        "Call it `{meant}`.",
    ),
    "forgets-weights": (
        "`{method}` leaves `{attribute}` out{at}",
        "Which attributes of a {owner} hold weights, and which of them does `{called}` go through?",
        "Let it go through `{attribute}` as well.",
    ),
    "forgets-weights: gradients": (
        "`{method}` leaves the {grad} of `{attribute}` as it is{at}",
        "Which attributes of a {owner} hold weights, and which of them does `{called}` go through?",
        "Let it go through `{attribute}` as well.",
    ),
    "missing-import": (
        "line {line} uses `{name}`, and your file does not import it",
        "A module has to be imported in the file that uses it.",
        "Write `import {module}` at the top.",
    ),
    "missing-import: somewhere": (
        "{said}",
        "A module has to be imported in the file that uses it.",
        "Write `import {module}` at the top.",
    ),
    "closure-called": (
        "line {line} calls `{name}` at once instead of keeping it for the walk: what it sets `{attribute}` to is None",
        "When should `{name}` run: when the op is done, or when the walk comes by?",
        "Keep the function itself, without brackets: `{name}`, not `{name}()`.",
    ),
    "asks-for-input": (
        "your `{name}` waits for input{at}",
        "Who answers when it is called a thousand times while a network trains?",
        "",
    ),
    "unhashable": (
        "line {line} stops with {error}: {said}; `__eq__`{at} takes away the hash",
        "A class that defines `__eq__` and no `__hash__` cannot be put into a set. Do you need `__eq__`?",
        "",
    ),
    "nothing-works": (
        "no op of your engine gives a value here: {why}",
        "Run the program below by itself, and look at the line that the error names.",
        "",
    ),
    "prints": (
        "your engine prints while it computes{at}",
        "Printing belongs to the program that uses the engine. What would 1,000 steps of training look like?",
        "Take the print out.",
    ),
    "no-value": (
        "your `{op}` does not give a {name}{at}: {said}",
        "What does your op hand back, and what do the other ops expect to be given?",
        "Return a node that wraps the result.",
    ),
    ": edge": (
        "your `{op}` has {number} {got} for {program}{at}, where {right} is the usual answer",
        "Put the numbers of this very point into your formula, and ask what the slope is on either side.",
        "PyTorch gives {right} here.",
    ),
    ": wrong": (
        "your `{walk}`{at} gives {number} {got} for {program}, and {right} is right",
        "Work through the program by hand, node by node, and compare each gradient with what your engine has.",
        "",
    ),
    ": repeating": (
        "your `{walk}` does not add up from walk to walk{at}: {number} is {got} where {right} is right",
        "What do leaves and the nodes in between hold when the second walk begins, and what should they hold?",
        "Each walk sets the gradients of nodes made by ops to 0, and adds to those of leaves.",
    ),
}

ANSWERS = {
    "gated": "your `{op}`{at} passes a gradient on only if that gradient is positive",
    "clipped": "your `{op}`{at} cuts off what it pushes",
    "odd": "what your `{op}` pushes{at} is not in proportion to the upstream gradient",
}
