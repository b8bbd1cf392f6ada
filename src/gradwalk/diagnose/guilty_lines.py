"""The guilty line: where in someone's source a fault is written, as far as its tree can tell."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from gradwalk.diagnose.museum.faults import EVERY, Fault
from gradwalk.diagnose.source_tree import (
    Function,
    GradientWrite,
    SourceTree,
    assigned,
    called_name,
    holds_line,
    mentions,
    mentions_name,
)

__all__ = ["guilty_line", "walk_line"]

AnyNode = TypeVar("AnyNode", bound=ast.AST)


def guilty_line(fault: Fault, tree: SourceTree, called: str, backward: str) -> int | None:
    """The line of a fault in an op that the engine calls `called`, or in the walk that `backward` starts.

    >>> from gradwalk.diagnose.museum.faults import source_with
    >>> text = source_with([Fault("overwriting", "mul", 1)])
    >>> tree = SourceTree(text, "Value", "data", "grad")
    >>> line = guilty_line(Fault("overwriting", "mul", 1), tree, "__mul__", "backward")
    >>> text.splitlines()[line - 1].strip()
    'other.grad = x * out.grad'
    """
    if fault.op == EVERY:
        return _pushing(tree, backward)
    if not fault.op:
        find = _IN_WALK.get(fault.name)
        return find(tree, backward) if find else None
    function = tree.function(called)
    return None if function is None else _in_op(fault, tree, function, backward)


# --- in an op ------------------------------------------------------------------------------------------------------


def _in_op(fault: Fault, tree: SourceTree, function: Function, backward: str) -> int | None:
    pushes = [
        push
        for push in tree.pushes(function)
        if fault.operand is None or tree.operand(function, push.owner) == fault.operand
    ]
    match fault.kind:
        case "overwriting":
            return next((push.line for push in pushes if not push.adds), None) or next(
                iter(_overwriting_lines(tree, backward)), None
            )
        case "counting-itself":
            found = [push.line for push in pushes if push.adds and push.owner in _gradients(push, tree.grad)]
        case "without-upstream":
            found = [push.line for push in pushes if not _gradients(push, tree.grad) - {push.owner}]
            found = found or list(_slopes(tree, function, fault.operand))
        case "slope" | "adds-upstream":
            found = [push.line for push in pushes] or list(_slopes(tree, function, fault.operand))
        case "detached":
            found = [] if fault.operand is None else list(_slopes(tree, function, fault.operand))
            makes = tree.cls.name if tree.cls else "Value"
            found = (
                _copied(tree, function, fault.operand)
                or found
                or [call.lineno for call in _nodes(function, ast.Call) if called_name(call.func) == makes]
            )
        case "reflected":
            found = _lines(function, ast.Return)
        case "closure-on-operand":
            found = [line] if (line := _closure_in(function)) else []
        case "data-read-late":
            found = [push.line for push in pushes if mentions(push.right, tree.data)]
        case "keyed-by-operand":
            found = _lines(function, ast.Dict, ast.DictComp)
        case "specimen" if fault.name == "changes-its-input":
            found = tree.data_lines(function)
        case _:
            found = _values(tree, function)
    elsewhere = not found and fault.kind in _PUSHED  # a walk that knows every op, say
    return None if elsewhere else found[0] if found else function.lineno


#: Faults in what an op pushes: where it pushes nothing itself, they are not in its lines.
_PUSHED = ("slope", "adds-upstream", "without-upstream", "counting-itself", "data-read-late")


def _copied(tree: SourceTree, function: Function, operand: int | None) -> list[int]:
    """Lines that put a copy of an operand in its place: `other = Value(other.data)`."""
    names = [argument.arg for argument in function.args.args]
    named = names[operand] if operand is not None and operand < len(names) else ""
    copies = (node for node in _nodes(function, ast.Assign) if getattr(node.targets[0], "id", "") == named)
    return [
        node.lineno
        for node in copies
        if any(
            part.attr == tree.data and getattr(part.value, "id", "") == named for part in _nodes(node, ast.Attribute)
        )
    ]


def _nodes(tree: ast.AST, *kinds: type[AnyNode]) -> Iterator[AnyNode]:
    return (node for node in ast.walk(tree) if isinstance(node, kinds))


def _lines(tree: ast.AST, *kinds: type[ast.stmt | ast.expr]) -> list[int]:
    return [node.lineno for node in _nodes(tree, *kinds)]


def _gradients(push: GradientWrite, grad: str) -> set[str]:
    """Whose gradients stand on the right of a push."""
    return {ast.unparse(node.value) for node in _nodes(push.right, ast.Attribute) if node.attr == grad}


def _slopes(tree: SourceTree, function: Function, operand: int | None) -> Iterator[int]:
    """Lines with local derivatives that are handed over: in a tuple, beside an operand, or returned."""
    inner = tree.helper(function, "backward")
    if inner is not None:
        yield from _lines(inner, ast.Return)
    names = [argument.arg for argument in function.args.args]
    unpacked = [each.value for each in _nodes(function, ast.Assign) if isinstance(each.targets[0], ast.Tuple)]
    for node in ast.walk(function):
        if (
            isinstance(node, (ast.Tuple, ast.List))
            and node.elts
            and isinstance(node.ctx, ast.Load)
            and node not in unpacked
        ):
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


def _values(tree: SourceTree, function: Function) -> list[int]:
    """Lines that compute with the operands' data, outside the closures."""
    inner = tree.helper(function, "forward")
    if inner is not None:
        return _lines(inner, ast.Return)
    given = _given(tree, function)
    if given is not None:
        return [_origin(function, given)]
    return [node.lineno for node in function.body if isinstance(node, ast.Return)]


def _given(tree: SourceTree, function: Function) -> ast.expr | None:
    """What the result is made from: the first argument of the call that makes it."""
    name = tree.cls.name if tree.cls else ""
    made = [call for call in _nodes(function, ast.Call) if mentions_name(call.func, name)]
    returned = [node.value for node in _nodes(function, ast.Return) if isinstance(node.value, ast.Call)]
    calls = [call for call in made if len(call.args) + len(call.keywords) > 1 or call in returned]
    given = [_first(call, tree.data) for call in (*calls, *returned)]  # Value(other) alone only wraps an operand
    return next((found for found in given if found is not None), None)


def _first(call: ast.Call, data: str) -> ast.expr | None:
    """The first argument of a call, or the one that is called as data is."""
    return call.args[0] if call.args else next((each.value for each in call.keywords if each.arg == data), None)


# --- in the walk -----------------------------------------------------------------------------------------------------

Finder = Callable[[SourceTree, str], int | None]


def _start(tree: SourceTree, backward: str) -> int | None:
    function = tree.function(backward)
    return function.lineno if function else None


def _innermost(tree: SourceTree, backward: str) -> int | None:
    """The innermost function of the walk, which is where the order is made."""
    functions = tree.walk(backward)
    return functions[-1].lineno if functions else None


def _loop(tree: SourceTree, backward: str) -> int | None:
    """The last loop of the function that starts the walk."""
    function = tree.function(backward)
    return max(_lines(function, ast.For, ast.While), default=_start(tree, backward)) if function else None


def _walking(is_it: Callable[[ast.AST], bool], otherwise: Finder, inside_first: bool = False) -> Finder:
    """The first line of the walk with such a node; or else what `otherwise` finds."""

    def find(tree: SourceTree, backward: str) -> int | None:
        functions = tree.walk(backward)[:: -1 if inside_first else 1]
        nodes = (node for function in functions for node in ast.walk(function) if is_it(node))
        return next((getattr(node, "lineno", None) for node in nodes), None) or otherwise(tree, backward)

    return find


def _container(node: ast.AST, *methods: str) -> str:
    """What one of these methods is called on; nothing if the node is no such call."""
    function = node.func if isinstance(node, ast.Call) else None
    return ast.unparse(function.value) if isinstance(function, ast.Attribute) and function.attr in methods else ""


def _listing(tree: SourceTree, backward: str) -> int | None:
    """The line that puts a node in the order: in a list that the same function takes nothing from, or by `yield`."""
    for function in tree.walk(backward)[::-1]:
        nodes = list(_nodes(function, ast.Call, ast.Yield))
        waiting = {_container(node, "pop", "popleft") for node in nodes}
        for node in nodes:
            grown = _container(node, "append", "insert", "appendleft", "extend")
            if isinstance(node, ast.Yield) or (grown and grown not in waiting):
                return node.lineno
    return _innermost(tree, backward)


_queue = _walking(lambda node: bool(_container(node, "pop", "popleft")), _listing)
_asking = _walking(
    lambda node: isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)),
    _listing, inside_first=True,
)  # fmt: skip


def _recursion(tree: SourceTree, backward: str) -> int | None:
    """The line on which the walk calls itself."""
    for function in tree.walk(backward):
        for call in tree.calls(function):
            if called_name(call.func) == function.name:
                return call.lineno
    return _start(tree, backward)


def _visiting(tree: SourceTree, backward: str) -> int | None:
    """The line that visits a node too early: a call of itself, or the loop over what calls of itself have collected."""
    line, start = _recursion(tree, backward), tree.function(backward)
    if start is None or line is None:
        return line
    inner = [node for node in _nodes(start, ast.FunctionDef, ast.AsyncFunctionDef) if node is not start]
    loops = [each for each in _nodes(start, ast.For, ast.While) if not any(holds_line(f, each.lineno) for f in inner)]
    recursive = [f for f in tree.walk(backward) if f is not start and holds_line(f, line)]
    outer = [each.lineno for each in loops if sum(holds_line(loop, each.lineno) for loop in loops) == 1]
    return max(outer) if outer and recursive else line


def _overwriting_lines(tree: SourceTree, backward: str) -> list[int]:
    """Lines that set a gradient to something that is computed from another, those of the walk first."""
    functions = [*tree.walk(backward), *tree.functions()]
    pushes = [push for push in _computed(tree, functions) if not push.adds]
    return list(dict.fromkeys(push.line for push in pushes if _gradients(push, tree.grad) - {push.owner}))


def _computed(tree: SourceTree, functions: Iterable[Function]) -> list[GradientWrite]:
    pushes = (push for function in functions for push in tree.pushes(function))
    return [push for push in pushes if not isinstance(push.right, ast.Constant)]


def _pushing(tree: SourceTree, backward: str) -> int | None:
    """The line on which the walk pushes: the last that changes a gradient, after those that prepare it."""
    return max((push.line for push in _computed(tree, tree.walk(backward))), default=None)


def _setting(zero: bool) -> Finder:
    """The line that sets a gradient to 0, or to another number, such as the root's to 1."""

    def find(tree: SourceTree, backward: str) -> int | None:
        for function in tree.walk(backward):
            for push in tree.pushes(function):
                if isinstance(push.right, ast.Constant) and bool(push.right.value) is not zero:
                    return push.line
        return _start(tree, backward)

    return find


def _thrown_away(tree: SourceTree, backward: str) -> int | None:
    """The line on which the walk replaces a closure or empties a list of operands, or returns early."""
    for function in tree.walk(backward):
        for target, _ in assigned(function):
            if target.attr not in (tree.grad, tree.data):
                return target.lineno
    return _start(tree, backward)


def _closure_in(function: Function) -> int | None:
    """The line on which a closure is set on an operand."""
    inner = {node.name for node in function.body if isinstance(node, Function)}
    operands = {argument.arg for argument in function.args.args}
    for target, value in assigned(function):
        if getattr(value, "id", "") in inner and getattr(target.value, "id", "") in operands:
            return target.lineno
    return None


def _hiding(tree: SourceTree, backward: str) -> int | None:
    """The line on which an attribute gets the name of the method that starts the walk."""
    return next((target.lineno for target, _ in assigned(tree.tree) if target.attr == backward), None)


def _default(tree: SourceTree, backward: str) -> int | None:
    """A mutable default of the constructor, or a mutable attribute of the class."""
    constructor = tree.function("__init__")
    held: list[ast.expr | None] = [*constructor.args.defaults, *constructor.args.kw_defaults] if constructor else []
    held += [node.value for node in (tree.cls.body if tree.cls else ()) if isinstance(node, ast.Assign)]
    return next((x.lineno for x in held if isinstance(x, (ast.List, ast.Dict, ast.Set, ast.Call))), None)


def _user(tree: SourceTree, backward: str) -> int | None:
    """The line that remembers one user: an attribute of an operand that is not its gradient, data or closure."""
    for function in tree.functions():
        for target, value in assigned(function):
            if getattr(value, "id", "") in ("self", "out", "result", "res") and target.attr != tree.grad:
                return target.lineno
    return None


_IN_WALK: dict[str, Finder] = {
    "overwriting": lambda tree, backward: next(iter(_overwriting_lines(tree, backward)), None),
    "no-order": _visiting,
    "left-over-gradients": _setting(zero=False),
    "every-path": _asking,
    "only-once": _thrown_away,
    "listed-twice": _listing,
    "root-twice": _start,
    "breadth-first": _queue,
    "preorder": _listing,
    "not-seeded": _start,
    "wrong-end": _loop,
    "leaves-reset": _setting(zero=True),
    "recursion-limit": _recursion,
    "closure-on-operand": lambda tree, _: next(filter(None, map(_closure_in, tree.functions())), None),
    "hidden-method": _hiding,
    "shared-default": _default,
    "one-user": _user,
    "keyed-by-operand": lambda tree, _: next(iter(_lines(tree.tree, ast.Dict, ast.DictComp)), None),
}


# --- what was seen of the walk ---------------------------------------------------------------------------------------


def walk_line(name: str, tree: SourceTree, backward: str) -> int | None:
    """The line of something that the walk was seen to do.

    >>> text = "class V:\\n    def backward(self):\\n        self.grad += 1.0"
    >>> walk_line("seed-added", SourceTree(text, "V", "data", "grad"), "backward")
    3
    """
    if name in ("equal-by-data", "hashes-all-paths"):
        function = tree.function("__eq__") or tree.function("__hash__")
        return function.lineno if function else None
    if name == "seen-by-data":
        return next((test.lineno for test in _tests(tree, backward) if mentions(test.left, tree.data)), None)
    pushes = [push for function in tree.walk(backward) for push in tree.pushes(function)]
    pushes = sorted(dict.fromkeys(pushes), key=lambda push: push.line)
    found = {
        "seeded-with-data": [push.line for push in pushes if not push.adds and mentions(push.right, tree.data)],
        "seeded-wrong": [push.line for push in pushes if not push.adds],
        "wiped-at-the-end": [push.line for push in pushes if _is_number(push.right, 0.0)][-1:],
        "wiped-after-seed": [push.line for push in pushes if _is_number(push.right, 0.0)][-1:],
        "seed-added": [push.line for push in pushes if push.adds and _is_number(push.right, 1.0)],
    }.get(name, [])
    return found[0] if found else _start(tree, backward)


def _tests(tree: SourceTree, backward: str) -> Iterator[ast.Compare]:
    """Where the walk asks whether something is in a collection."""
    for function in tree.walk(backward):
        yield from (node for node in _nodes(function, ast.Compare) if isinstance(node.ops[0], (ast.In, ast.NotIn)))


def _is_number(expression: ast.expr, x: float) -> bool:
    return isinstance(expression, ast.Constant) and expression.value == x
