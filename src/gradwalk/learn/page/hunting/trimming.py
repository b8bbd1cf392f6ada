"""An engine with no more in it than a program needs: a learner should read what matters, not three screens of it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from gradwalk.diagnose.op_probes import ops_in
from gradwalk.diagnose.vocabulary import METHODS, REFLECTED

__all__ = ["functions_of", "ops_of", "trimmed"]

ALWAYS = ("__init__", "__add__", "__mul__", "backward", "__repr__")
#: A helper alone would be taken for the op itself.
_WITH = {"divide": "__truediv__", "power": "__pow__", "exponential": "exp", "logistic": "sigmoid"}


def ops_of(program: str) -> set[str]:
    """The methods that a program calls, by the names that Python has for them.

    >>> sorted(ops_of("a = Value(2.0); b = 8 / a - a.tanh()"))
    ['__rtruediv__', '__sub__', '__truediv__', 'tanh']
    """
    ops = ops_in(program)
    reflected = {f"r{op}": op for op in REFLECTED}
    methods = {**METHODS, **{name: REFLECTED[op] for name, op in reflected.items()}}
    return {methods.get(op, op) for op in ops} | {METHODS[op] for name, op in reflected.items() if name in ops}


def functions_of(source: str) -> set[str]:
    """The functions beside the class.

    >>> functions_of("class Value: ...\\ndef ordered(root): ...")
    {'ordered'}
    """
    return {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}


def trimmed(source: str, program: str, keep: Iterable[str] = ()) -> str:
    """An engine's source without the methods and functions that the program does not need; + and × always stay.

    >>> short = trimmed(teaching.SOURCE, "a = Value(2.0); b = a.tanh()")
    >>> "def tanh" in short, "def exp" in short, "def divide" in short, "def ordered" in short
    (True, False, False, True)
    """
    tree = ast.parse(source)
    methods_of = {cls: {f.name: f for f in cls.body if isinstance(f, ast.FunctionDef)}
            for cls in tree.body if isinstance(cls, ast.ClassDef)}  # fmt: skip
    engines = [cls for cls, own in methods_of.items() if {"__init__", "__add__", "__mul__", "backward"} <= own.keys()]
    if len(engines) != 1:
        return source
    methods = methods_of[engines[0]]
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    others = [node for node in tree.body if node is not engines[0] and node not in functions.values()]
    wanted, used = {*ALWAYS, *ops_of(program), *keep}, set(keep)
    for _ in range(len(functions) + 1):  # what stays needs what it uses, and that may need more
        wanted = _needed(methods, wanted)
        parts: list[ast.AST] = [
            *others,
            *(methods[name] for name in wanted),
            *(functions[name] for name in used & set(functions)),
        ]
        used |= {node.id for part in parts for node in ast.walk(part) if isinstance(node, ast.Name)}
        wanted |= {method for helper, method in _WITH.items() if helper in used}
    gone = [methods[name] for name in methods if name not in wanted]
    gone += [functions[name] for name in functions if name not in used]
    short = _without(source, gone)
    return short if "math." in short else short.replace("import math\n\n\n", "\n", 1)


def _needed(methods: dict[str, ast.FunctionDef], wanted: set[str]) -> set[str]:
    """With every method that one of them is made from: `self + (-other)` needs __neg__."""
    wanted = wanted & set(methods)
    while True:
        more: set[str] = set()
        for name in wanted:
            nested = any(
                isinstance(node, ast.FunctionDef) for node in ast.walk(methods[name]) if node is not methods[name]
            )
            if not nested:
                more |= ops_of(ast.unparse(methods[name])) & set(methods)
            if name in REFLECTED.values():
                more.add(name.replace("__r", "__"))
        if more <= wanted:
            return wanted
        wanted |= more


def _without(source: str, gone: list[ast.FunctionDef]) -> str:
    """The text without these functions, and without headings that nothing stands under any more."""
    lines: list[str | None] = list(source.splitlines())
    for node in gone:
        for at in range(node.lineno - 1, node.end_lineno or node.lineno):
            lines[at] = None
    kept = [line for line in lines if line is not None]
    out: list[str] = []
    for at, line in enumerate(kept):
        following = next((later for later in kept[at + 1 :] if later.strip()), "")
        heading = line.strip().startswith("# ---")
        indent = line[: len(line) - len(line.lstrip())]
        if heading and (not following or following.strip().startswith("# ---") or not following.startswith(indent)):
            continue
        if heading and line.startswith("#") and not following.startswith("def "):
            continue
        blanks = 2 if not following.startswith((" ", "#")) else 1
        enough = len(out) >= blanks and not any(map(str.strip, out[-blanks:]))
        if not line.strip() and (not out or not following or enough):
            continue
        out.append(line)
    return "\n".join(out).rstrip("\n") + "\n"
