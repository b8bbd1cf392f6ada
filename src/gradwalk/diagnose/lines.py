"""The guilty line: where in someone's source a fault is written, as far as its tree can tell."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from gradwalk.diagnose.museum.faults import EVERY, Fault
from gradwalk.diagnose.reading import Function, Push, Reading, mentions, mentions_name

__all__ = ["guilty_line"]


def guilty_line(fault: Fault, reading: Reading, called: str, backward: str) -> int | None:
    """The line of a fault in an op that the engine calls `called`, or in the walk that `backward` starts.

    >>> from gradwalk.diagnose import museum
    >>> from gradwalk.diagnose.lines import guilty_line
    >>> from gradwalk.diagnose.museum.faults import Fault, source_with
    >>> from gradwalk.diagnose.reading import Reading
    >>> text = source_with([Fault("overwriting", "mul", 1)])
    >>> reading = Reading(text, "Value", "data", "grad")
    >>> line = guilty_line(Fault("overwriting", "mul", 1), reading, "__mul__", "backward")
    >>> text.splitlines()[line - 1].strip()
    'other.grad = x * out.grad'
    """
    if fault.op == EVERY:
        return _pushing(reading, backward)
    function = reading.function(called)
    if fault.op and function is None:
        return None
    if function is not None and fault.op:
        return _in_op(fault, reading, function, backward)
    find = _IN_WALK.get(fault.name)
    return find(reading, backward) if find else None


# --- in an op ------------------------------------------------------------------------------------------------------


def _in_op(fault: Fault, reading: Reading, function: Function, backward: str) -> int:
    pushes = [
        push
        for push in reading.pushes(function)
        if fault.operand is None or reading.operand(function, push.owner) == fault.operand
    ]
    match fault.kind:
        case "overwriting":
            found = [push.line for push in pushes if not push.adds] or _overwriting_lines(reading, backward)
        case "counting-itself":
            found = [push.line for push in pushes if push.adds and _says_itself(push, reading.grad)]
        case "without-upstream":
            found = [push.line for push in pushes if not _says_upstream(push, reading.grad)]
            found = found or list(_slopes(reading, function, fault.operand))
        case "slope" | "adds-upstream":
            found = [push.line for push in pushes] or list(_slopes(reading, function, fault.operand))
        case "detached":
            found = [] if fault.operand is None else list(_slopes(reading, function, fault.operand))
            found = found or _made(reading, function)
        case "value":
            found = _values(reading, function)
        case "reflected":
            found = [node.lineno for node in ast.walk(function) if isinstance(node, ast.Return)]
        case "closure-on-operand":
            found = [line] if (line := _closure_in(function)) else []
        case "data-read-late":
            found = [push.line for push in pushes if mentions(push.right, reading.data)]
        case _:
            found = _other(fault, reading, function, pushes)
    return found[0] if found else function.lineno


def _other(fault: Fault, reading: Reading, function: Function, pushes: list[Push]) -> list[int]:
    if fault.name == "changes-its-input":
        return [
            node.lineno
            for node in ast.walk(function)
            if isinstance(node, (ast.Assign, ast.AugAssign))
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Attribute) and target.attr == reading.data
        ]
    if fault.name == "keyed-by-operand":
        return [node.lineno for node in ast.walk(function) if isinstance(node, (ast.Dict, ast.DictComp))]
    return _values(reading, function)


def _says_upstream(push: Push, grad: str) -> bool:
    """Whether a push mentions a gradient that is not the one that it changes."""
    return any(
        isinstance(node, ast.Attribute) and node.attr == grad and ast.unparse(node.value) != push.owner
        for node in ast.walk(push.right)
    )


def _says_itself(push: Push, grad: str) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr == grad and ast.unparse(node.value) == push.owner
        for node in ast.walk(push.right)
    )


def _slopes(reading: Reading, function: Function, operand: int | None) -> Iterator[int]:
    """Lines with local derivatives that are handed over: in a tuple, beside an operand, or returned."""
    inner = reading.helper(function, "backward")
    if inner is not None:
        yield from (node.lineno for node in ast.walk(inner) if isinstance(node, ast.Return))
    names = [argument.arg for argument in function.args.args]
    for node in ast.walk(function):
        if isinstance(node, (ast.Tuple, ast.List)) and node.elts:
            first = node.elts[0]
            if isinstance(first, ast.Name) and first.id in names and len(node.elts) == 2:
                other = node.elts[1]
                is_slope = not (isinstance(other, ast.Name) and other.id in names)
                if is_slope and (operand is None or names.index(first.id) == operand):
                    yield _origin(function, other)
            elif not all(isinstance(part, ast.Name) and part.id in names for part in node.elts):
                yield node.elts[min(operand or 0, len(node.elts) - 1)].lineno


def _origin(function: Function, expression: ast.expr) -> int:
    """The line of an expression; of a name, the line that gave it what it holds."""
    if isinstance(expression, ast.Name):
        for node in function.body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == expression.id:
                return node.lineno
    return expression.lineno


def _values(reading: Reading, function: Function) -> list[int]:
    """Lines that compute with the operands' data, outside the closures."""
    inner = reading.helper(function, "forward")
    if inner is not None:
        return [node.lineno for node in ast.walk(inner) if isinstance(node, ast.Return)]
    given = _given(reading, function)
    if given is not None:
        return [_origin(function, given)]
    return [node.lineno for node in function.body if isinstance(node, ast.Return)]


def _given(reading: Reading, function: Function) -> ast.expr | None:
    """What the result is made from: the first argument of the call that makes it."""
    made = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        and node.args
        and mentions_name(node.func, reading.cls.name if reading.cls else "")
    ]
    returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    calls = [node for node in made if len(node.args) > 1 or node in returned]  # Value(other) only wraps an operand
    calls += [node for node in returned if isinstance(node, ast.Call) and node.args]
    return calls[0].args[0] if calls else None


def _made(reading: Reading, function: Function) -> list[int]:
    """Lines that make the result."""
    name = reading.cls.name if reading.cls else "Value"
    return [
        node.lineno
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == name
    ]


# --- in the walk -----------------------------------------------------------------------------------------------------

Finder = Callable[[Reading, str], int | None]


def _overwriting_lines(reading: Reading, backward: str) -> list[int]:
    everything = [node for node in ast.walk(reading.tree) if isinstance(node, Function)]
    found = [
        push.line
        for function in [*reading.walk(backward), *everything]
        for push in reading.pushes(function)
        if not push.adds and not isinstance(push.right, ast.Constant)
    ]
    return list(dict.fromkeys(found))


def _pushing(reading: Reading, backward: str) -> int | None:
    """The line on which the walk pushes: the last that changes a gradient, after those that prepare it."""
    lines = [
        push.line
        for function in reading.walk(backward)
        for push in reading.pushes(function)
        if not isinstance(push.right, ast.Constant)
    ]
    return max(lines, default=None)


def _overwriting(reading: Reading, backward: str) -> int | None:
    return next(iter(_overwriting_lines(reading, backward)), None)


def _start(reading: Reading, backward: str) -> int | None:
    function = reading.function(backward)
    return function.lineno if function else None


def _recursion(reading: Reading, backward: str) -> int | None:
    """The line on which the walk calls itself."""
    for function in reading.walk(backward):
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == function.name:
                return node.lineno
    return _start(reading, backward)


def _listing(reading: Reading, backward: str) -> int | None:
    """The line on which the walk adds a node to its list."""
    for function in reversed(reading.walk(backward)):
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in (
                "append",
                "insert",
                "appendleft",
                "extend",
            ):
                return node.lineno
    return _last(reading, backward)


def _asking(reading: Reading, backward: str) -> int | None:
    """The line on which the walk asks whether it has seen a node."""
    for function in reversed(reading.walk(backward)):
        for node in ast.walk(function):
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
                return node.lineno
    return _listing(reading, backward)


def _last(reading: Reading, backward: str) -> int | None:
    """The innermost function of the walk, which is where the order is made."""
    functions = reading.walk(backward)
    return functions[-1].lineno if functions else None


def _queue(reading: Reading, backward: str) -> int | None:
    for function in reading.walk(backward):
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("pop", "popleft"):
                return node.lineno
    return _listing(reading, backward)


def _loop(reading: Reading, backward: str) -> int | None:
    """The last loop of the function that starts the walk."""
    function = reading.function(backward)
    loops = [node.lineno for node in ast.walk(function) if isinstance(node, (ast.For, ast.While))] if function else []
    return max(loops, default=_start(reading, backward))


def _seed(reading: Reading, backward: str) -> int | None:
    """The line that sets the root's gradient to 1."""
    for function in reading.walk(backward):
        for push in reading.pushes(function):
            if isinstance(push.right, ast.Constant) and push.right.value:
                return push.line
    return _start(reading, backward)


def _zeroing(reading: Reading, backward: str) -> int | None:
    for function in reading.walk(backward):
        for push in reading.pushes(function):
            if isinstance(push.right, ast.Constant) and not push.right.value:
                return push.line
    return _start(reading, backward)


def _thrown_away(reading: Reading, backward: str) -> int | None:
    """The line on which the walk replaces a closure or empties a list of operands, or returns early."""
    for function in reading.walk(backward):
        for node in ast.walk(function):
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            if isinstance(target, ast.Attribute) and target.attr not in (reading.grad, reading.data):
                return target.lineno
    return _start(reading, backward)


def _closure(reading: Reading, backward: str) -> int | None:
    """The line on which a closure is hung on an operand."""
    functions = (node for node in ast.walk(reading.tree) if isinstance(node, Function))
    return next(filter(None, map(_closure_in, functions)), None)


def _closure_in(function: Function) -> int | None:
    inner = {node.name for node in function.body if isinstance(node, Function)}
    operands = {argument.arg for argument in function.args.args}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            target = node.targets[0]
            if getattr(node.value, "id", "") in inner and getattr(target.value, "id", "") in operands:
                return node.lineno
    return None


def _hiding(reading: Reading, backward: str) -> int | None:
    """The line on which an attribute gets the name of the method that starts the walk."""
    for node in ast.walk(reading.tree):
        if isinstance(node, ast.Assign) and any(getattr(target, "attr", "") == backward for target in node.targets):
            return node.lineno
    return None


def _default(reading: Reading, backward: str) -> int | None:
    """A mutable default of the constructor, or a mutable attribute of the class."""
    constructor = reading.function("__init__")
    for default in (*constructor.args.defaults, *constructor.args.kw_defaults) if constructor else ():
        if isinstance(default, (ast.List, ast.Dict, ast.Set, ast.Call)):
            return default.lineno
    for node in reading.cls.body if reading.cls else ():
        if isinstance(node, ast.Assign) and isinstance(node.value, (ast.List, ast.Dict, ast.Set, ast.Call)):
            return node.lineno
    return None


def _user(reading: Reading, backward: str) -> int | None:
    """The line that remembers one user: an attribute of an operand that is not its gradient, data or closure."""
    for function in (node for node in ast.walk(reading.tree) if isinstance(node, Function)):
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
                target = node.targets[0]
                if getattr(node.value, "id", "") in ("self", "out", "result", "res") and target.attr != reading.grad:
                    return node.lineno
    return None


def _keyed(reading: Reading, backward: str) -> int | None:
    return next((node.lineno for node in ast.walk(reading.tree) if isinstance(node, (ast.Dict, ast.DictComp))), None)


_IN_WALK: dict[str, Finder] = {
    "overwriting": _overwriting,
    "no-order": _recursion,
    "left-over-gradients": _seed,
    "every-path": _asking,
    "only-once": _thrown_away,
    "listed-twice": _listing,
    "root-twice": _start,
    "breadth-first": _queue,
    "preorder": _listing,
    "not-seeded": _start,
    "wrong-end": _loop,
    "leaves-reset": _zeroing,
    "recursion-limit": _recursion,
    "closure-on-operand": _closure,
    "hidden-method": _hiding,
    "shared-default": _default,
    "one-user": _user,
    "keyed-by-operand": _keyed,
}
