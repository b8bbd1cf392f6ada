"""What each fault is called in a sentence: in one op, in every op, in the walk."""

from __future__ import annotations

from gradwalk.diagnose.formulas import pretty
from gradwalk.diagnose.museum.faults import EVERY, Fault, right_slopes, right_value
from gradwalk.diagnose.vocabulary import SYMBOL

__all__: list[str] = []


def sentence(fault: Fault, op: str, walk: str, line: int | None) -> str:
    """What is wrong, and where; `op` and `walk` are what the engine calls them."""
    if fault.op == EVERY:
        return _IN_EVERY_OP[fault.kind].format(at=at(line))
    if fault.op:
        return _in_op(fault, f"your `{op}`", line)
    if fault.name == "overwriting":
        if line:
            return f"your engine overwrites gradients: line {line} has `=` where `+=` is needed"
        return "your engine overwrites gradients instead of adding to them"
    return _IN_WALK[fault.name].format(walk=f"`{walk}`", at=at(line))


def at(line: int | None) -> str:
    """A place in the source, in words; nothing if it is not known."""
    return f" in line {line}" if line else ""


def operand(fault: Fault) -> str:
    """Which operand, in words; nothing if there is only one."""
    if fault.operand is None or fault.op not in SYMBOL:
        return ""
    return ("first ", "second ")[fault.operand]


def _in_op(fault: Fault, op: str, line: int | None) -> str:
    which, formula = f"{operand(fault)}operand", pretty(fault.formula)
    match fault.name if fault.kind in ("specimen", "reflected") else fault.kind:
        case "overwriting" if line:
            return f"{op} overwrites: line {line} has `=` where `+=` is needed"
        case "overwriting":
            whose = f"its {which}" if fault.operand is not None else "its operands"
            return f"{op} overwrites the gradient of {whose} instead of adding to it"
        case "slope":
            right = pretty(right_slopes(fault.op)[fault.operand or 0])
            of = f" with respect to its {which}" if operand(fault) else ""
            return f"the derivative of {op}{of} is wrong{at(line)}: it gives {formula}, and {right} is right"
        case "value":
            return f"{op} computes {formula}{at(line)}, where {pretty(right_value(fault.op))} is right"
        case "wrong-value":
            written = fault.formula.replace("as_value(other)", "other")
            return f"{op} gives `{written}`{at(line)}, where `other {SYMBOL[fault.op[1:]]} self` is meant"
        case "detached" if fault.operand is None:
            return f"{op} leaves the graph{at(line)}: no gradient gets through it"
        case "detached":
            return f"{op} pushes nothing to its {which}{at(line)}"
        case "python-raises":
            does = "gives a complex number" if "complex" in fault.formula else f"raises {fault.formula}"
            return f"{op} {does}{at(line)}, where floating-point numbers have an answer"
        case name:
            return _IN_OP[name].format(op=op, at=at(line))


_TURNED = "{op} is the wrong way round{at}: the number on the left arrives as the argument"
_IN_OP = {
    "reversed-subtraction": _TURNED,
    "reversed-division": _TURNED,
    "counting-itself": "{op} counts what is there already twice{at}",
    "negated": "{op} subtracts its contributions{at}, where it should add them",
    "without-upstream": "{op} forgets the upstream gradient{at}: the local derivative is not multiplied by it",
    "adds-upstream": "{op} adds the upstream gradient{at}, where it should multiply by it",
    "keyed-by-operand": "{op} has one entry for each operand{at}, and loses one when both are the same Value",
    "data-read-late": "{op} reads data when the walk comes by{at}, and not when the op is done",
    "closure-on-operand": "{op} sets its closure on an operand instead of the result{at}",
    "changes-its-input": "{op} changes the data of its operand{at}",
    "tanh-through-exp": "{op} goes through exp{at}, which overflows for large inputs",
    "sigmoid-through-exp": "{op} goes through exp{at}, which overflows for large negative inputs",
}

_IN_EVERY_OP = {
    "negated": "your engine subtracts every contribution{at}, where it should add it",
    "slope": "your engine pushes the upstream gradient on as it is{at}: the local derivatives are left out",
    "without-upstream": "your engine pushes local derivatives{at} without the upstream gradient",
    "adds-upstream": "your engine adds local derivative and upstream gradient{at}, where it should multiply them",
    "counting-itself": "your engine counts what is there already twice{at}",
}

_IN_WALK = {
    "wrong-end": "your {walk} goes from the leaves to the root{at}, where it should start at the root",
    "no-order": "your {walk} visits a node before all of its users are done{at}",
    "left-over-gradients": "your {walk} starts{at} with gradients inside the graph left over from the walk before",
    "every-path": "your {walk} walks every path instead of every node{at}",
    "only-once": "your {walk} works only once{at}: a second call silently does nothing",
    "listed-twice": "your {walk} has nodes in its order more than once{at}",
    "root-twice": "your {walk}{at} lets the root push twice: every gradient is doubled",
    "breadth-first": "your {walk} goes level by level{at}, which is no topological order",
    "preorder": "your {walk} takes nodes in preorder{at}, which is no topological order",
    "not-seeded": "your {walk} does not set the root's gradient to 1{at}",
    "leaves-reset": "your {walk} wipes the gradients of leaves{at}: they should add up from walk to walk",
    "recursion-limit": "your {walk} goes one call deeper for each node{at}, and deep graphs are too deep for that",
    "closure-on-operand": "a closure is set on an operand instead of the result{at}",
    "hidden-method": "an attribute hides the method {walk}{at}: calling it runs something else",
    "shared-default": "all nodes share one container{at}: it is made once, not for each node",
    "one-user": "each node remembers one user only{at}: a second user overwrites the first",
    "keyed-by-operand": "gradients are kept by operand{at}: when both operands are the same Value, one is lost",
}
