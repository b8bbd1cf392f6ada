"""What each fault is called in a sentence: in one op, in every op, in the walk."""

from __future__ import annotations

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
    words = IN_WALK[fault.name]
    return Message(words, {"walk": walk, "at": at(line)} if "{walk}" in words else {"at": at(line)})


def at(line: int | None) -> Message:
    """A place in the source, in words; nothing if it is not known."""
    return say(" on line {line}", line=line) if line else say("")


def operand(fault: Fault) -> Message:
    """Which operand, in words; nothing if there is only one."""
    if fault.operand is None or fault.op not in SYMBOL:
        return say("")
    return (say("first operand"), say("second operand"))[fault.operand]


def _in_op(fault: Fault, op: str, line: int | None) -> Message:
    which, formula, here = operand(fault) or say("operand"), pretty(fault.formula), at(line)
    match fault.name if fault.kind in ("specimen", "reflected") else fault.kind:
        case "overwriting" if line:
            return say("your `{op}` overwrites: line {line} has `=` where `+=` is needed", op=op, line=line)
        case "overwriting" if fault.operand is not None:
            return say("your `{op}` overwrites the gradient of its {which} instead of adding to it", op=op, which=which)
        case "overwriting":
            return say("your `{op}` overwrites the gradient of its operands instead of adding to it", op=op)
        case "slope":
            right = pretty(right_slopes(fault.op)[fault.operand or 0])
            if operand(fault):
                return say(
                    "the derivative of your `{op}` with respect to its {which} is wrong{at}: it gives {formula}, and "
                    "{right} is right",
                    op=op,
                    which=which,
                    at=here,
                    formula=formula,
                    right=right,
                )
            return say(
                "the derivative of your `{op}` is wrong{at}: it gives {formula}, and {right} is right",
                op=op,
                at=here,
                formula=formula,
                right=right,
            )
        case "value":
            right = pretty(right_value(fault.op))
            return say(
                "your `{op}` computes {formula}{at}, where {right} is right",
                op=op,
                formula=formula,
                at=here,
                right=right,
            )
        case "wrong-value":
            return say(
                "your `{op}` gives `{code}`{at}, where `other {sign} self` is meant",
                op=op,
                code=fault.formula.replace("as_value(other)", "other"),
                at=here,
                sign=SYMBOL[fault.op[1:]],
            )
        case "detached" if fault.operand is None:
            return say("your `{op}` leaves the graph{at}: no gradient gets through it", op=op, at=here)
        case "detached":
            return say("your `{op}` pushes nothing to its {which}{at}", op=op, which=which, at=here)
        case "python-raises" if "complex" in fault.formula:
            return say(
                "your `{op}` gives a complex number{at}, where floating-point numbers have an answer", op=op, at=here
            )
        case "python-raises":
            return say(
                "your `{op}` raises {error}{at}, where floating-point numbers have an answer",
                op=op,
                error=fault.formula,
                at=here,
            )
        case name:
            return Message(IN_OP[name], {"op": op, "at": here})


_TURNED = "your `{op}` is the wrong way round{at}: the number on the left arrives as the argument"
#: Each of these has its words here alone; `learn.page.sentences` reads these tables.
IN_OP = {
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
