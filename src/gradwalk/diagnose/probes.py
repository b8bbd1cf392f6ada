"""Small programs that engines are run on, and what came of it.

A program is text that a learner can paste and run: `a = Value(3.0)`, operators, `b.backward()`. What is looked at
afterwards are expressions such as `a.grad`. On an engine that spells things differently the same text is run through
the engine's adapter: every operator, method and attribute in it becomes a call.
"""

from __future__ import annotations

import ast
import io
import sys
import warnings
from collections import Counter
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass
from functools import cache, lru_cache
from types import CodeType
from typing import Any

from gradwalk.collecting import collector_off
from gradwalk.diagnose.adapter import Engine, MissingOp, NoNode
from gradwalk.diagnose.budget import OutOfSteps, Steps, limited
from gradwalk.diagnose.places import said
from gradwalk.diagnose.stand_ins import NotHere
from gradwalk.diagnose.vocabulary import SIGNS
from gradwalk.matcher import Outcome
from gradwalk.messages import reason_of
from gradwalk.turns import Turn

__all__ = ["Probe", "Quiet", "run"]

TOO_DEEP = "maximum recursion depth exceeded"  # Pythons add what they were just about to do
STEPS = 300_000  # a right engine needs a few thousand for the largest program but the deep one, and 100,000 for that


@dataclass(frozen=True)
class Probe:
    """A program, and what to look at when it has run.

    `strict`: plain numbers must be taken as they are. `optional`: an engine that refuses has not implemented it yet.

    >>> program = Probe("b = a + a at 3", "a = Value(3.0); b = a + a; b.backward()", ("b.data", "a.grad"))
    >>> program.expected().numbers
    {'b.data': 6.0, 'a.grad': 2.0}
    """

    title: str
    text: str
    see: tuple[str, ...]
    strict: bool = False
    optional: bool = False

    def expected(self) -> Outcome:
        """What is right, by gradwalk's own engine.

        >>> Probe("", "a = Value(0.0); b = 1 / a; b.backward()", ("a.grad",)).expected().numbers
        {'a.grad': -inf}
        """
        return _expected(self)


def run(program: Probe, engine: Engine, steps: int | None = STEPS) -> Outcome:
    """Run a program on an engine, for so many steps; None counts none, for an engine that is known to end.

    >>> run(Probe("", "a = Value(3.0); b = a*a; b.backward()", ("a.grad",)), Engine(Value)).numbers
    {'a.grad': 6.0}
    """
    out, limit = Quiet(), sys.getrecursionlimit()
    try:
        with collector_off(), redirect_stdout(out), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _outcome(program, engine, steps, out)
    finally:
        sys.setrecursionlimit(limit)  # engines that recurse raise it; a bug in the next program must not crash Python


def _outcome(program: Probe, engine: Engine, steps: int | None, out: Quiet) -> Outcome:
    made: list[Any] = []

    def op(name: str, *operands: Any) -> Any:
        node = engine.op(name, *operands, strict=program.strict)
        made.append(node)
        return node

    names: dict[str, Any] = {
        "leaf": engine.leaf,
        "data": engine.data,
        "grad": engine.grad,
        "set_data": engine.set_data,
        "set_grad": engine.set_grad,
        "backward": engine.backward,
        "shared": engine.shared,
        "op": op,
        "in_place": engine.in_place,
        "seen": {},
    }
    count = Steps()
    try:
        with engine.running(), nullcontext(count) if steps is None else limited(steps, files=engine.files) as count:
            exec(_compiled(program.text, program.see), {"_": names})
    except (MissingOp, NotImplementedError) as missing:
        return Outcome("missing", message=said(missing), printed=out.text, steps=count.used)
    except (NotHere, ModuleNotFoundError) as lacking:
        why = lacking if isinstance(lacking, NotHere) else NotHere(lacking.name)
        return Outcome("missing", message=reason_of(why), error=NotHere.__name__, printed=out.text, steps=count.used)
    except OutOfSteps as error:
        return Outcome("stopped", message=reason_of(error), line=error.line, printed=out.text, steps=count.used)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a learner's code may raise anything, sys.exit included
        refused = program.optional and isinstance(error, (TypeError, AssertionError, AttributeError, RuntimeError))
        refused = refused and not isinstance(error, NoNode)
        return Outcome(
            "missing" if refused else "raised",
            message=TOO_DEEP if isinstance(error, RecursionError) else said(error)[:300],
            error="TypeError" if isinstance(error, NoNode) else type(error).__name__,
            line=line_of(error, engine.files),
            printed=out.text,
            steps=count.used,
        )
    finally:
        while made:  # newest first: a long chain that is freed from its end does not take a deep stack, as in a browser
            made.pop()
    return Outcome("numbers", names["seen"], printed=out.text, steps=count.used)


_turn = Turn()


@lru_cache(maxsize=4096)
def _expected(program: Probe) -> Outcome:
    # The grader's threads ask for this, and share one engine and what is printed to: so one after the other, and
    # nothing that belongs to the whole process is changed meanwhile.
    with _turn:
        return _outcome(program, _reference(), None, Quiet())


@cache
def _reference() -> Engine:
    from gradwalk.engine import Value

    return Engine(Value)


def line_of(error: BaseException, files: set[str]) -> int | None:
    """The last line of these files that an error came through; of endless recursion the line that recurs."""
    lines, trace = [], error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in files:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    if lines and isinstance(error, RecursionError):  # where the stack happened to be full says nothing
        return Counter(lines).most_common(1)[0][0]
    return lines[-1] if lines else None


class Quiet(io.TextIOBase):
    """Where prints go: the beginning is kept, the flood is not.

    >>> quiet = Quiet()
    >>> print("hello", file=quiet)
    >>> quiet.text
    'hello\\n'
    """

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        """Take a text, as `print` gives it.

        >>> Quiet().write("hello")
        5
        """
        if len(self.text) < 200:
            self.text += text[:200]
        return len(text)


# --- text to calls ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _compiled(text: str, see: tuple[str, ...]) -> CodeType:
    tree = ast.parse(text)
    for expression in see:
        wanted = ast.parse(f"_['seen'][{expression!r}] = {expression}").body
        tree.body += wanted
    tree = ast.fix_missing_locations(_Calls().visit(tree))
    return compile(tree, "<program>", "exec")


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    function = ast.Subscript(ast.Name("_", ast.Load()), ast.Constant(name), ast.Load())
    return ast.Call(function, list(arguments), [])


class _Calls(ast.NodeTransformer):
    """Every operator, method and attribute of a program becomes a call of the adapter."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return _call("op", ast.Constant(SIGNS[type(node.op)]), node.left, node.right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return node if isinstance(node.operand, ast.Constant) else _call("op", ast.Constant("neg"), node.operand)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id == "Value":
            return _call("leaf", *map(self.visit, node.args))
        if isinstance(node.func, ast.Name) and node.func.id == "shared":
            return _call("shared", *map(self.visit, node.args))
        if not isinstance(node.func, ast.Attribute):
            self.generic_visit(node)
            return node
        receiver = self.visit(node.func.value)
        if node.func.attr == "backward":
            return _call("backward", receiver)
        return _call("op", ast.Constant(node.func.attr), receiver, *map(self.visit, node.args))

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        return _call(node.attr, node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        assert isinstance(node.target, ast.Name)
        before = ast.Name(node.target.id, ast.Load())
        made = _call("in_place", ast.Constant(SIGNS[type(node.op)]), before, self.visit(node.value))
        return ast.Assign([node.target], made)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        target = node.targets[0]
        if not isinstance(target, ast.Attribute):
            self.generic_visit(node)
            return node
        return ast.Expr(_call(f"set_{target.attr}", self.visit(target.value), self.visit(node.value)))
