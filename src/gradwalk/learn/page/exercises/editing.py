"""A learner's text as a tree: its parts, each of which can be replaced for a moment, and the text that comes of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["Editor", "Place", "line_of", "lines_of", "target_of"]


@dataclass(frozen=True)
class Place:
    """A part of a tree that can be replaced: the field of a node, or an item of a list there.

    >>> [place.field for place in Editor(ast.parse("x = 1")).places]
    ['body', 'targets', 'ctx', 'value']
    """

    parent: ast.AST
    field: str
    at: int | None
    node: Any
    statement: ast.stmt | None

    def put(self, new: Any) -> None:
        """Set this part to something else.

        >>> tree = ast.parse("x = 1")
        >>> Editor(tree).places[-1].put(ast.Constant(2))
        >>> ast.unparse(tree)
        'x = 2'
        """
        if self.at is None:
            setattr(self.parent, self.field, new)
        else:
            getattr(self.parent, self.field)[self.at] = new


def _places(tree: ast.AST, statement: ast.stmt | None = None) -> Iterator[Place]:
    for name, value in ast.iter_fields(tree):
        children = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
        for at, child in children:
            if isinstance(child, ast.AST):
                here = child if isinstance(child, ast.stmt) else statement
                yield Place(tree, name, at, child, here)
                yield from _places(child, here)


class Editor:
    """Makes changes to a tree, gives the text, and takes them back.

    >>> Editor(ast.parse("def f(x):\\n    y = x\\n    return y")).out
    'y'
    """

    def __init__(self, tree: ast.Module, line: int | None = None) -> None:
        """All of a tree, or what is in one line of it."""
        self.tree = tree
        self.places = [place for place in _places(tree) if line is None or line_of(place) == line]
        firsts = [p for p in self.places if p.at == 0 and isinstance(p.node, ast.stmt)]
        self.blocks = [(p.parent, p.field, list(getattr(p.parent, p.field))) for p in firsts]  # whose, where, of what
        self.writes = [p for p in self.places if isinstance(p.node, (ast.Assign, ast.AugAssign))]
        self.out = next((n.value.id for n in ast.walk(tree) if isinstance(n, ast.Return)
                         and isinstance(n.value, ast.Name)), "out")  # fmt: skip

    def text(self, *changes: tuple[Place, Any]) -> str:
        """The text with some parts replaced.

        >>> editor = Editor(ast.parse("x = 1"))
        >>> editor.text((editor.places[-1], ast.Constant(2))), editor.text()
        ('x = 2', 'x = 1')
        """
        for place, new in changes:
            place.put(new)
        try:
            return ast.unparse(self.tree)
        finally:
            for place, _ in changes:
                place.put(place.node)

    def body(self, holder: ast.AST, field: str, statements: list[ast.stmt]) -> str:
        """The text with other statements in a block.

        >>> tree = ast.parse("x = 1")
        >>> Editor(tree).body(tree, "body", [])
        'pass'
        """
        before = getattr(holder, field)
        setattr(holder, field, statements or [ast.Pass()])
        try:
            return ast.unparse(self.tree)
        finally:
            setattr(holder, field, before)


def line_of(place: Place) -> int:
    """The line that a part is in.

    >>> [line_of(place) for place in Editor(ast.parse("x = 1\\ny = 2")).places if place.field == "body"]
    [1, 2]
    """
    node = place.node if hasattr(place.node, "lineno") else place.statement
    return int(getattr(node, "lineno", 0))


def lines_of(*places: Place) -> tuple[int, ...]:
    """The lines that some parts are in, each once.

    >>> lines_of(*Editor(ast.parse("x = 1\\ny = 2")).places)
    (1, 2)
    """
    return tuple(sorted({line_of(place) for place in places}))


def target_of(statement: ast.stmt | None) -> str:
    """What a statement writes to.

    >>> target_of(ast.parse("self.grad += 1").body[0])
    'self.grad'
    """
    if isinstance(statement, ast.AugAssign):
        return ast.unparse(statement.target)
    return ast.unparse(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
