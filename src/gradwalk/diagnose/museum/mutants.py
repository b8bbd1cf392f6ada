"""Engines that were right, with one thing changed: what a slip of the pen does to them.

A mutant is made by AST, one place at a time, and written back into the text, so that every line keeps its number.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from gradwalk.diagnose import teaching

__all__ = ["ENGINES", "Mutant", "mutants"]

#: The engines that slips are made in, by their style.
ENGINES = {"teaching": teaching.SOURCE, **teaching.STYLES}


@dataclass(frozen=True)
class Mutant:
    """One change in one engine: `kind` says what was done, `function` and `line` where.

    >>> next(iter(mutants("teaching")))
    <teaching: drop a term in Value.__add__, line 21: x + y → x>
    """

    engine: str
    kind: str
    function: str
    owner: str  # the class that the function is in, if any
    line: int
    before: str
    after: str
    source: str

    def __repr__(self) -> str:
        where = f"{self.owner}.{self.function}" if self.owner else self.function
        return f"<{self.engine}: {self.kind} in {where}, line {self.line}: {self.before} → {self.after}>"


def mutants(engine: str) -> Iterator[Mutant]:
    """Every mutant of an engine.

    >>> len({mutant.kind for mutant in mutants("teaching")})
    4
    """
    source = ENGINES[engine]
    tree = ast.parse(source)
    for owner, function in _functions(tree):
        if function.name == "__repr__":
            continue
        for node in ast.walk(function):
            for kind, changed in _changes(node):
                text = _replaced(source, node, ast.unparse(changed))
                yield Mutant(
                    engine, kind, function.name, owner, node.lineno,  # type: ignore[attr-defined]
                    ast.unparse(node), ast.unparse(changed), text,
                )  # fmt: skip


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield "", node
        elif isinstance(node, ast.ClassDef):
            for part in node.body:
                if isinstance(part, ast.FunctionDef):
                    yield node.name, part


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.BinOp):
        yield "drop a term", node.left
        yield "drop a term", node.right
        if isinstance(node.op, ast.Add | ast.Sub):
            other = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
            yield "flip a sign", ast.BinOp(node.left, other, node.right)
        yield "swap operands", ast.BinOp(node.right, node.op, node.left)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "flip a sign", node.operand
    elif isinstance(node, ast.AugAssign):
        yield "= for +=", ast.Assign([node.target], node.value, lineno=0)
        if isinstance(node.op, ast.Add):
            yield "flip a sign", ast.AugAssign(node.target, ast.Sub(), node.value)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Gt | ast.Lt | ast.GtE):
        yield "swap operands", ast.Compare(node.comparators[0], node.ops, [node.left])
    elif isinstance(node, ast.Call) and len(node.args) == 2 and getattr(node.func, "id", "") in ("divide", "power"):
        yield "swap operands", ast.Call(node.func, node.args[::-1], [])


def _replaced(source: str, node: ast.AST, text: str) -> str:
    lines = source.splitlines(keepends=True)
    assert isinstance(node, ast.expr | ast.stmt)
    assert node.lineno == node.end_lineno
    line = lines[node.lineno - 1].encode()
    text = f"({text})" if isinstance(node, ast.expr) else text
    lines[node.lineno - 1] = (line[: node.col_offset] + text.encode() + line[node.end_col_offset :]).decode()
    return "".join(lines)
