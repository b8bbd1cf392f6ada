"""Solutions with one random slip in them, and whether it is named right.

    python tests/learn/mutated_solutions.py [how many for each tab] [tab …]

A slip is named right if the line that it was made in is painted red, and no other; or, where a line was taken out, if
it is said that something is missing, and no line is painted. An error that Python raises in the guilty line counts too.
"""

from __future__ import annotations

import ast
import copy
import random
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from gradwalk.learn.page.exercises import EXERCISES, run, solutions

HOME = {tab: exercise.name for exercise in EXERCISES.values() for tab in exercise.tabs}
ABSENT = {"a part is missing", "not implemented", "no seed", "not zeroed", "visited twice", "wrong order", "cut off"}


@dataclass(frozen=True)
class Slip:
    """A text with a slip, what was done, and in which line; no line where one was taken out."""

    text: str
    what: str
    line: int | None


def slips(tab: str, seed: int) -> Iterator[Slip]:
    """Slips in the solution of a tab that make a difference, without end, the same for the same seed."""
    chance = random.Random(f"{tab} {seed}")
    solution = solutions()[tab]
    seen = {ast.unparse(ast.parse(solution))}
    misses = 0
    while misses < 400:
        tree = ast.parse(ast.unparse(ast.parse(solution)))
        made = chance.choice(MUTATORS)(tree, chance)
        if made is not None and (text := ast.unparse(tree)) not in seen:
            seen.add(text)
            misses = 0
            yield Slip(text + "\n", made[0], made[1])
        else:
            misses += 1


def judged(tab: str, slip: Slip) -> tuple[bool, Any] | None:
    """Whether it was named right, and what was said; nothing if all is right with it after all."""
    result: Any = run(HOME[tab], tab, {**solutions(), tab: slip.text})
    if result["status"] in ("passed", "missing"):
        return None
    if slip.line is None:
        return (result["lines"] == [] and result["kind"] in ABSENT) or _at_a_use(slip, result), result
    return result["lines"] == [slip.line], result


def _at_a_use(slip: Slip, result: dict[str, Any]) -> bool:
    """A line that made a name was taken out: Python stops where the name is used, and says so."""
    return result["status"] == "error" and result["error"]["kind"] in (
        "NameError",
        "UnboundLocalError",
        "AttributeError",
    )


# --- slips -----------------------------------------------------------------------------------------------------------

Made = tuple[str, int | None] | None
Mutator = Callable[[ast.Module, random.Random], Made]


def _pick(tree: ast.AST, chance: random.Random, *types: type[ast.AST]) -> Any:
    found = [node for node in ast.walk(tree) if isinstance(node, types)]
    return chance.choice(found) if found else None


def _parent(tree: ast.AST, node: ast.AST) -> tuple[ast.AST, str, int | None]:
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is node:
                return parent, name, None
            if isinstance(value, list) and any(item is node for item in value):
                return parent, name, next(i for i, item in enumerate(value) if item is node)
    raise LookupError


def _put(tree: ast.AST, node: ast.AST, new: ast.AST) -> None:
    parent, name, at = _parent(tree, node)
    if at is None:
        setattr(parent, name, new)
    else:
        getattr(parent, name)[at] = new


def _assignment(tree: ast.Module, chance: random.Random) -> Made:
    node = _pick(tree, chance, ast.AugAssign)
    if node is None:
        return None
    new: ast.stmt = ast.Assign([node.target], node.value, lineno=node.lineno)
    if chance.random() < 0.4:
        new = ast.AugAssign(node.target, ast.Sub() if isinstance(node.op, ast.Add) else ast.Add(), node.value)
    _put(tree, node, new)
    return "another assignment", node.lineno


def _operator(tree: ast.Module, chance: random.Random) -> Made:
    node = _pick(tree, chance, ast.BinOp)
    if node is None:
        return None
    node.op = chance.choice([op for op in (ast.Add, ast.Sub, ast.Mult, ast.Div) if not isinstance(node.op, op)])()
    return "another operator", node.lineno


def _comparison(tree: ast.Module, chance: random.Random) -> Made:
    node = _pick(tree, chance, ast.Compare)
    if node is None:
        return None
    turned = {ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Eq: ast.NotEq, ast.Gt: ast.Lt, ast.Lt: ast.Gt}
    node.ops = [turned.get(type(node.ops[0]), ast.Eq)()]
    return "another comparison", node.lineno


def _number(tree: ast.Module, chance: random.Random) -> Made:
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Constant) and type(n.value) in (int, float)]
    if not found:
        return None
    node = chance.choice(found)
    node.value = chance.choice([x for x in (0, 1, 2, 3, 0.5) if x != node.value])
    return "another number", node.lineno


def _operand(tree: ast.Module, chance: random.Random) -> Made:
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr in ("data", "grad")]
    if not found:
        return None
    node = chance.choice(found)
    others = sorted({ast.unparse(n) for n in found} - {ast.unparse(node)})
    if not others:
        return None
    new: Any = ast.parse(chance.choice(others), mode="eval").body
    new.ctx = node.ctx
    _put(tree, node, new)
    return "another operand", node.lineno


def _removed(tree: ast.Module, chance: random.Random) -> Made:
    node = _pick(tree, chance, ast.Assign, ast.AugAssign, ast.Expr, ast.Return)
    parent, name, at = _parent(tree, node)
    body = getattr(parent, name)
    if len(body) == 1:
        body[0] = ast.Pass()
    else:
        del body[at]
    return f"without `{ast.unparse(node)}`", None


def _twice(tree: ast.Module, chance: random.Random) -> Made:
    node = _pick(tree, chance, ast.AugAssign, ast.Expr)
    if node is None:
        return None
    parent, name, at = _parent(tree, node)
    getattr(parent, name).insert(at, copy.deepcopy(node))
    return f"`{ast.unparse(node)}` twice", node.lineno + 1


def _thrown_away(tree: ast.Module, chance: random.Random) -> Made:
    node = _pick(tree, chance, ast.AugAssign)
    if node is None:
        return None
    _put(tree, node, ast.Expr(ast.BinOp(copy.deepcopy(node.target), node.op, node.value)))
    return "computed, not kept", node.lineno


def _factor(tree: ast.Module, chance: random.Random) -> Made:
    node = _pick(tree, chance, ast.BinOp)
    if node is None:
        return None
    _put(tree, node, node.left if chance.random() < 0.5 else node.right)
    return "one part left out", node.lineno


def _sign(tree: ast.Module, chance: random.Random) -> Made:
    node = _pick(tree, chance, ast.BinOp)
    if node is None:
        return None
    _put(tree, node, ast.UnaryOp(ast.USub(), copy.deepcopy(node)))
    return "a minus too many", node.lineno


def _misspelt(tree: ast.Module, chance: random.Random) -> Made:
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr in ("data", "grad")]
    if not found:
        return None
    node = chance.choice(found)
    node.attr = {"data": "dat", "grad": "gard"}[node.attr]
    return "misspelt", node.lineno


def _call(tree: ast.Module, chance: random.Random) -> Made:
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and not n.args]
    if not found:
        return None
    node: Any = chance.choice(found)
    _put(tree, node, node.func.value)
    return "a call left out", node.lineno


MUTATORS: list[Mutator] = [
    _assignment, _assignment, _operator, _operator, _comparison, _number, _operand, _operand, _removed, _removed,
    _twice, _thrown_away, _factor, _sign, _misspelt, _call,
]  # fmt: skip


def sample(tab: str, count: int, seed: int = 0) -> Iterator[tuple[Slip, bool, dict[str, Any]]]:
    """So many slips that make a difference: the slip, whether it was named right, what was said."""
    found = 0
    for slip in slips(tab, seed):
        told = judged(tab, slip)
        if told is not None:
            yield slip, *told
            found += 1
            if found == count:
                return


if __name__ == "__main__":
    many = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    right = total = 0
    for name in sys.argv[2:] or HOME:
        began = time.perf_counter()
        said = list(sample(name, many))
        good = sum(ok for _, ok, _ in said)
        right, total = right + good, total + len(said)
        print(f"{name:14} {good:4} of {len(said):4} named right   {time.perf_counter() - began:6.1f} s", flush=True)
        for slip, ok, result in said:
            if not ok:
                print(f"    {slip.what}, line {slip.line}: {result['kind']}, lines {result['lines']}: {result['why']}")
    print(f"{right} of {total}: {right / total:.1%}")
