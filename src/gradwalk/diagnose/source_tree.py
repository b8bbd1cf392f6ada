"""Someone's source read as a tree: where an op is written, what it pushes, where the walk is."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

__all__ = [
    "Function",
    "GradientWrite",
    "SourceTree",
    "assigned",
    "called_name",
    "holds_line",
    "mentions",
    "mentions_name",
]

Function = ast.FunctionDef | ast.AsyncFunctionDef
_OF_CONTAINERS = frozenset({*dir(list), *dir(set), *dir(dict), *dir(deque)})


@dataclass(frozen=True)
class GradientWrite:
    """A statement that changes someone's gradient: `owner.grad += right`.

    >>> tree = SourceTree("def f(self):\\n    self.grad = 1.0", "Value", "data", "grad")
    >>> [(push.owner, push.adds, push.line) for push in tree.pushes(tree.function("f"))]
    [('self', False, 2)]
    """

    owner: str
    adds: bool
    right: ast.expr
    line: int


class SourceTree:
    """The source of an engine, with the names that it gives to data and gradient.

    >>> tree = SourceTree(teaching.SOURCE, "Value", "data", "grad")
    >>> tree.function("__mul__").args.args[1].arg
    'other'
    """

    def __init__(self, source: str, class_name: str, data: str, grad: str) -> None:
        self.tree = ast.parse(source)
        self.data, self.grad = data, grad
        self.classes = {node.name: node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef)}
        self.cls = self.classes.get(class_name)
        imports = (node for node in ast.walk(self.tree) if isinstance(node, ast.Import))
        self.modules = {(name.asname or name.name).split(".")[0] for node in imports for name in node.names}

    def function(self, name: str) -> Function | None:
        """The method or function of this name; `__radd__ = __add__` leads to `__add__`.

        >>> text = "class V:\\n    def __add__(self, other): ...\\n    __radd__ = __add__"
        >>> SourceTree(text, "V", "data", "grad").function("__radd__").lineno
        2
        """
        for body in self._bodies():
            for node in body:
                if isinstance(node, Function) and node.name == name:
                    return node
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id != name:
                    if any(isinstance(target, ast.Name) and target.id == name for target in node.targets):
                        return self.function(node.value.id)
                    if any(isinstance(target, ast.Attribute) and target.attr == name for target in node.targets):
                        return self.function(node.value.id)
        return None

    def helper(self, function: Function, method: str) -> Function | None:
        """For an op that is a class of its own, `return Mul.apply(self, other)`: that class's method of this name.

        >>> ops = "class Mul:\\n    def backward(self): ...\\n"
        >>> nodes = "class V:\\n    def __mul__(self, other): return Mul.apply(self, other)"
        >>> tree = SourceTree(ops + nodes, "V", "data", "grad")
        >>> tree.helper(tree.function("__mul__"), "backward").lineno
        2
        """
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and node.id in self.classes and self.classes[node.id] is not self.cls:
                for part in self.classes[node.id].body:
                    if isinstance(part, Function) and part.name == method:
                        return part
        return None

    def functions(self) -> Iterator[Function]:
        """Every function of the file, also those inside others.

        >>> [f.name for f in SourceTree("def f():\\n    def g(): ...", "Value", "data", "grad").functions()]
        ['f', 'g']
        """
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))

    def pushes(self, function: Function | None) -> list[GradientWrite]:
        """The statements in a function that change a gradient.

        >>> tree = SourceTree(teaching.SOURCE, "Value", "data", "grad")
        >>> [push.owner for push in tree.pushes(tree.function("__mul__"))]
        ['self', 'other']
        """
        found = []
        for node in ast.walk(function) if function else ():
            if isinstance(node, ast.AugAssign) and self._is_grad(node.target):
                found.append(GradientWrite(_owner(node.target), True, node.value, node.lineno))
            elif isinstance(node, ast.Assign) and any(self._is_grad(target) for target in node.targets):
                target = next(target for target in node.targets if self._is_grad(target))
                itself = ast.dump(ast.parse(ast.unparse(target), mode="eval").body)
                adds = any(ast.dump(part) == itself for part in ast.walk(node.value))
                found.append(GradientWrite(_owner(target), adds, node.value, node.lineno))
        return sorted(found, key=lambda push: push.line)

    def data_lines(self, function: Function) -> list[int]:
        """The lines of a function that change somebody's data.

        >>> tree = SourceTree("def f(self):\\n    self.data += 1.0", "Value", "data", "grad")
        >>> tree.data_lines(tree.function("f"))
        [2]
        """
        stored = (node for node in ast.walk(function) if isinstance(node, ast.Attribute))
        return [node.lineno for node in stored if isinstance(node.ctx, ast.Store) and node.attr == self.data]

    def operand(self, function: Function, owner: str) -> int | None:
        """Which operand of an op a name stands for, if any.

        >>> tree = SourceTree(teaching.SOURCE, "Value", "data", "grad")
        >>> tree.operand(tree.function("__mul__"), "other")
        1
        """
        names = [argument.arg for argument in function.args.args]
        return names.index(owner) if owner in names else None

    def walk(self, backward: str) -> list[Function]:
        """The functions that do the walk: `backward`, those inside it, and those of the file that these call.

        >>> [f.name for f in SourceTree(teaching.SOURCE, "Value", "data", "grad").walk("backward")]
        ['backward', 'ordered']
        """
        start = self.function(backward)
        found: list[Function] = [start] if start else []
        for function in found:
            for node in ast.walk(function):
                if isinstance(node, Function) and node not in found:
                    found.append(node)
            for call in self.calls(function):
                called = self.function(called_name(call.func))
                if called is not None and called not in found and not called.name.startswith("__"):
                    found.append(called)
        return found

    def calls(self, function: Function) -> Iterator[ast.Call]:
        """The calls in a function, but for a module's and a container's: `math.cos` is not the engine's own `cos`.

        >>> text = "import math\\ndef cos(x): return Value(math.cos(x))"
        >>> tree = SourceTree(text, "Value", "data", "grad")
        >>> [call.lineno for call in tree.calls(tree.function("cos"))]
        [2]
        """
        for node in ast.walk(function):
            if isinstance(node, ast.Call):
                owner = node.func.value if isinstance(node.func, ast.Attribute) else None
                elsewhere = isinstance(owner, ast.Name) and owner.id in self.modules
                if not elsewhere and (owner is None or called_name(node.func) not in _OF_CONTAINERS):
                    yield node

    def goes_back_over_a_list(self, backward: str) -> bool:
        """Whether the walk puts nodes in a list first and then takes them from the far end.

        >>> SourceTree(teaching.SOURCE, "Value", "data", "grad").goes_back_over_a_list("backward")
        True
        >>> SourceTree(museum.find("no-order").source(), "Value", "data", "grad").goes_back_over_a_list("backward")
        False
        """
        return any(_turns_round(node) for function in self.walk(backward) for node in ast.walk(function))

    def takes_powers(self, name: str) -> bool:
        """Whether an op calls a function with exp in its name, or raises a number to a power that varies.

        >>> text = "class V:\\n    def tanh(self):\\n        return math.exp(2 * self.data)"
        >>> SourceTree(text, "V", "data", "grad").takes_powers("tanh")
        True
        """
        function = self.function(name)
        called = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)] if function else []
        names = [getattr(each, "attr", getattr(each, "id", "")) for each in called]
        powers = [node for node in ast.walk(function) if isinstance(node, ast.BinOp)] if function else []
        return any("exp" in each.lower() for each in names) or any(
            isinstance(power.op, ast.Pow) and not isinstance(power.right, ast.Constant) for power in powers
        )

    def makes_functions_in_a_loop(self, name: str) -> bool:
        """Whether an op makes functions inside a `for`.

        >>> text = "def f(self):\\n    for x in self:\\n        push(lambda: x)"
        >>> SourceTree(text, "Value", "data", "grad").makes_functions_in_a_loop("f")
        True
        """
        function = self.function(name)
        loops = [node for node in ast.walk(function) if isinstance(node, ast.For)] if function else []
        return any(isinstance(node, (ast.Lambda, Function)) for loop in loops for node in ast.walk(loop))

    def misspelt_attribute(self, name: str, meant: str) -> tuple[str, int] | None:
        """An attribute that a function sets, and its line, whose name is nearly the one that is meant.

        >>> tree = SourceTree("def f(out):\\n    out._bakward = f", "Value", "data", "grad")
        >>> tree.misspelt_attribute("f", "_backward")
        ('_bakward', 2)
        """
        function = self.function(name)
        written = {target.attr: target.lineno for target, _ in assigned(function)} if function else {}
        near = get_close_matches(meant, written, 1, 0.8) if meant not in written else []
        return (near[0], written[near[0]]) if near else None

    def called_at_once(self) -> tuple[str, str, int] | None:
        """An attribute that is set to what a function inside a function gives, that function, and the line.

        >>> text = "def f(out):\\n    def push(): ...\\n    out._backward = push()"
        >>> SourceTree(text, "Value", "data", "grad").called_at_once()
        ('_backward', 'push', 3)
        """
        for function in self.functions():
            inner = {node.name for node in function.body if isinstance(node, Function)}
            for target, value in assigned(function):
                if isinstance(value, ast.Call) and not value.args and getattr(value.func, "id", "") in inner:
                    return target.attr, called_name(value.func), target.lineno
        return None

    def loop_around(self, line: int) -> int | None:
        """The line of the innermost loop that this line belongs to.

        >>> SourceTree("while x:\\n    y()", "Value", "data", "grad").loop_around(2)
        1
        """
        loops = (node for node in ast.walk(self.tree) if isinstance(node, (ast.While, ast.For)))
        return max((loop.lineno for loop in loops if holds_line(loop, line)), default=None)

    def method_line(self, owner: str, method: str) -> int | None:
        """The line on which a class, or the first of its bases that has it, defines a method.

        >>> SourceTree("class A:\\n    def f(self): ...", "Value", "data", "grad").method_line("A", "f")
        2
        """
        cls = self.classes.get(owner)
        while cls is not None:
            for node in cls.body:
                if isinstance(node, Function) and node.name == method:
                    return node.lineno
            bases = [base.id for base in cls.bases if isinstance(base, ast.Name) and base.id in self.classes]
            cls = self.classes[bases[0]] if bases and self.classes[bases[0]] is not cls else None
        return None

    def prints(self) -> list[ast.Call]:
        """The calls of `print` inside the class.

        >>> len(SourceTree("class Value:\\n    def f(self): print(1)", "Value", "data", "grad").prints())
        1
        """
        calls = (node for node in ast.walk(self.cls or self.tree) if isinstance(node, ast.Call))
        return [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"]

    def _is_grad(self, target: ast.expr) -> bool:
        return isinstance(target, ast.Attribute) and target.attr == self.grad

    def _bodies(self) -> Iterator[list[ast.stmt]]:
        cls = self.cls
        while cls is not None:
            yield cls.body
            bases = [base.id for base in cls.bases if isinstance(base, ast.Name) and base.id in self.classes]
            cls = self.classes[bases[0]] if bases and self.classes[bases[0]] is not cls else None
        yield self.tree.body


def mentions(expression: ast.AST, attribute: str) -> bool:
    """Whether an expression reads an attribute of this name.

    >>> mentions(ast.parse("y * out.grad"), "grad"), mentions(ast.parse("y"), "grad")
    (True, False)
    """
    return any(isinstance(node, ast.Attribute) and node.attr == attribute for node in ast.walk(expression))


def mentions_name(expression: ast.AST, name: str) -> bool:
    """Whether an expression mentions a name.

    >>> mentions_name(ast.parse("Value(2)"), "Value")
    True
    """
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(expression))


def assigned(tree: ast.AST) -> Iterator[tuple[ast.Attribute, ast.expr]]:
    """Every attribute that is set with `=`, and to what.

    >>> [target.attr for target, _ in assigned(ast.parse("a.x = b.y = 1; a.z += 2; c = 3"))]
    ['x', 'y']
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            yield from ((target, node.value) for target in node.targets if isinstance(target, ast.Attribute))


def holds_line(node: ast.stmt, line: int) -> bool:
    """Whether a function or a loop stands on a line.

    >>> holds_line(ast.parse("def f():\\n    return 1").body[0], 2)
    True
    """
    return node.lineno <= line <= (node.end_lineno or 0)


def called_name(function: ast.expr) -> str:
    """The last name of what is called: `f` of f(x) and of a.f(x).

    >>> called_name(ast.parse("a.f", mode="eval").body)
    'f'
    """
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _owner(target: ast.expr) -> str:
    value = target.value if isinstance(target, ast.Attribute) else target
    return value.id if isinstance(value, ast.Name) else ast.unparse(value)


def _turns_round(node: ast.AST) -> bool:
    """`reversed(order)`, `order[::-1]`, `order.reverse()`, or a list that grows at its front; not a node's operands."""
    turned: ast.expr | None = None
    if isinstance(node, ast.Call) and called_name(node.func) == "reversed" and node.args:
        turned = node.args[0]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        turned = node.func.value if node.func.attr in ("reverse", "appendleft", "insert") else None
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and node.slice.step is not None:
        turned = node.value if ast.unparse(node.slice.step) == "-1" else None
    return isinstance(turned, ast.Name) or (isinstance(turned, ast.Call) and called_name(turned.func) == "list")
