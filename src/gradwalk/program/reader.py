"""Text to statements: every name, operator and call is looked up here, and whatever is wrong is pointed at.

A statement is kept as steps in postfix order (`a*b + 1` is a, b, *, 1, +), so that running it needs no recursion.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gradwalk.errors import NumberTooLargeError, ProgramError
from gradwalk.ieee import number
from gradwalk.messages import say
from gradwalk.program.language import (
    CALLS,
    COMPARISONS,
    FUNCTIONS,
    LEAF,
    METHODS,
    MODULES,
    OPERATORS,
    SIGNS,
    WHERE,
    Function,
    no_part,
)
from gradwalk.program.source import TOO_LARGE, Source, Span, near

__all__ = ["Apply", "ParsedProgram", "Statement", "read"]

LONGEST = 100_000  # characters of a text: a graph larger than that is not written by hand


@dataclass(frozen=True)
class Apply:
    """A step: take so many operands off the stack, put the result there.

    >>> [step.count for step in read("-a").statements[0].steps if not isinstance(step, str)]
    [1]
    """

    function: Callable[..., Any]
    count: int


Step = float | str | Apply  # a number, a name, or something to do with what is there


@dataclass(frozen=True)
class Statement:
    """One `name = expression`, or the bare expression at the end, which has no name.

    >>> [(s.name, s.leaf) for s in read("a = Value(2.0); a * b").statements]
    [('a', True), (None, False)]
    """

    name: str | None
    steps: tuple[Step, ...]

    @property
    def leaf(self) -> bool:
        """Whether it is a number given a name, as `a = 2.0` or `a = Value(2.0)`.

        >>> [s.leaf for s in read("a = -2; b = a").statements]
        [True, False]
        """
        made_inside = (isinstance(step, Apply) and step.function is LEAF.apply for step in self.steps[:-1])
        return not any(isinstance(step, str) for step in self.steps) and not any(made_inside)


@dataclass(frozen=True)
class ParsedProgram:
    """A program that has been understood: its statements, and where it names what must come from outside.

    >>> list(read("d = a*b + c").free)
    ['a', 'b', 'c']
    """

    source: Source
    statements: tuple[Statement, ...]
    free: dict[str, Span]
    made: dict[str, int]  # the line that first makes each name

    @property
    def leaves(self) -> tuple[str, ...]:
        """The names that the text itself gives a number, once: they can be given another.

        >>> read("a = 2; b = 3; b = b*a").leaves
        ('a',)
        """
        times = Counter(s.name for s in self.statements)
        return tuple(
            s.name for s in self.statements if s.name and s.leaf and times[s.name] == 1 and s.name not in self.free
        )


def read(text: str) -> ParsedProgram:
    """Understand the text of a program, or say what is wrong with it and where.

    >>> read("d = a % b")
    Traceback (most recent call last):
    ...
    gradwalk.errors.ProgramError: % is no part of a program: it has no slope worth following; write / to divide
      line 1: d = a % b
                    ^
    """
    if not isinstance(text, str):
        raise ProgramError(
            say("a program is text, as in program('L = a*b', a=2, b=3), not {kind}", kind=type(text).__name__)
        )
    if len(text) > LONGEST:
        raise ProgramError(
            say(
                "a program has at most {most} characters, and this one has {count}; build a graph of that size with "
                "Values in Python",
                most=f"{LONGEST:,}",
                count=f"{len(text):,}",
            )
        )
    source = Source(text)
    lines = source.parsed()
    if not lines:
        raise ProgramError(say("there is nothing to compute; write a line such as L = a*b"))
    reader = _Reader(source)
    statements = tuple(reader.statement(line, last=line is lines[-1]) for line in lines)
    return ParsedProgram(source, statements, reader.free, reader.made)


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.free: dict[str, Span] = {}  # names used before they are made
        self.made: dict[str, int] = {}
        self.conditions: set[ast.Compare] = set()  # comparisons that stand where one may

    def statement(self, line: ast.stmt, *, last: bool) -> Statement:
        steps: list[Step]
        if isinstance(line, ast.Expr):
            steps = self._steps(line.value)
            if not last:
                raise self.source.error(say("this result is not kept: give it a name, as in d = a*b"), line)
            return Statement(None, tuple(steps))
        if isinstance(line, ast.Assign):
            if len(line.targets) > 1:
                raise self.source.error(say("a line names one result: write b = 2 and then a = b"), line)
            name = self._target(line.targets[0])
            steps = self._steps(line.value)
        elif isinstance(line, ast.AugAssign):
            name = self._target(line.target)
            self._use(name, line.target)
            steps = [name, *self._steps(line.value), Apply(self._operator(line), 2)]
        else:
            raise self.source.refused(line)
        self.made.setdefault(name, line.lineno)
        return Statement(name, tuple(steps))

    def _target(self, target: ast.expr) -> str:
        if isinstance(target, ast.Name):
            return target.id
        if isinstance(target, ast.Tuple):
            raise self.source.refused(target)
        raise self.source.error(say("only a name stands to the left of =, as in d = a*b"), target)

    def _use(self, name: str, node: ast.expr) -> None:
        if name not in self.made:
            self.free.setdefault(name, self.source.place(node))

    # --- expressions -------------------------------------------------------------------------------------------------

    def _steps(self, expression: ast.expr) -> list[Step]:
        """The expression in postfix order, found without recursion."""
        steps: list[Step] = []
        ahead: list[ast.expr | Step] = [expression]
        while ahead:
            item = ahead.pop()
            if isinstance(item, ast.expr):
                step, operands = self._taken_apart(item)
                ahead.append(step)
                ahead.extend(reversed(operands))
            else:
                steps.append(item)
        return steps

    def _taken_apart(self, node: ast.expr) -> tuple[Step, list[ast.expr]]:
        """What to do at this node in the end, and the parts to do first."""
        if isinstance(node, ast.Name):
            self._use(node.id, node)
            return node.id, []
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return self._number(node), []
        if isinstance(node, ast.BinOp):
            return Apply(self._operator(node), 2), [node.left, node.right]
        if isinstance(node, ast.UnaryOp) and type(node.op) in SIGNS:
            return Apply(SIGNS[type(node.op)], 1), [node.operand]
        if isinstance(node, ast.Compare) and node in self.conditions:
            return Apply(self._comparison(node), len(node.comparators) + 1), [node.left, *node.comparators]
        if isinstance(node, ast.Call):
            function, operands = self._call(node)
            return Apply(function.apply, len(operands)), operands
        raise self.source.refused(node, node.op if isinstance(node, (ast.UnaryOp, ast.BoolOp)) else None)

    def _number(self, node: ast.Constant) -> float:
        try:
            return number(node.value)
        except NumberTooLargeError:
            raise self.source.error(TOO_LARGE, node) from None

    def _operator(self, node: ast.BinOp | ast.AugAssign) -> Callable[..., Any]:
        if type(node.op) not in OPERATORS:
            raise self.source.refused(node, node.op)
        return OPERATORS[type(node.op)]

    def _comparison(self, node: ast.Compare) -> Callable[..., float]:
        for sign in node.ops:
            if type(sign) not in COMPARISONS:
                raise self.source.error(say("a condition compares two numbers with <, <=, >, >=, == or !="), node)
        holds = [COMPARISONS[type(sign)] for sign in node.ops]

        def compare(*operands: Any) -> float:
            data = [getattr(x, "data", x) for x in operands]
            return float(all(test(x, y) for test, x, y in zip(holds, data, data[1:], strict=False)))

        return compare

    # --- calls -------------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> tuple[Function, list[ast.expr]]:
        called, operands = node.func, list(node.args)
        if isinstance(called, ast.Name):
            function = self._function(called.id, FUNCTIONS, self.source.place(called))
        elif isinstance(called, ast.Attribute):
            if isinstance(called.value, ast.Name) and called.value.id in MODULES:
                raise self.source.error(say("functions have no module here: write {name}(…)", name=called.attr), called)
            function = self._function(called.attr, METHODS, self.source.attribute(called))
            operands.insert(0, called.value)
        else:
            raise self.source.error(say("only a function by its name can be called; write * to multiply"), called)
        for keyword in node.keywords:
            what = f"{keyword.arg}=" if keyword.arg else "**"
            remedy = say("labels come from the names") if keyword.arg == "label" else say("write the operands in order")
            raise self.source.error(no_part(what, remedy), keyword)
        for operand in node.args:
            if isinstance(operand, ast.Starred):
                raise self.source.refused(operand)
        if not function.fewest <= len(operands) <= function.most:
            raise self.source.error(
                say(
                    "{name} takes {takes} and is given {count}",
                    name=function.name,
                    takes=function.takes,
                    count=len(operands),
                ),
                node,
            )
        if function is LEAF and any(isinstance(part, (ast.Name, ast.Call)) for part in ast.walk(operands[0])):
            raise self.source.error(say("Value(…) holds one number, as in Value(3.0); leave it out here"), node)
        if function is WHERE and isinstance(operands[0], ast.Compare):
            self.conditions.add(operands[0])
        return function, operands

    def _function(self, name: str, known: dict[str, Function], place: Span) -> Function:
        if name in known:
            return known[name]
        if name in CALLS:
            raise self.source.error(no_part(f"{name}()", CALLS[name]), place)
        if name in FUNCTIONS:
            raise self.source.error(say("{name} is not a method: write {name}(…)", name=name), place)
        meant = near(name, known)
        if meant:
            reason = say("no function is called {name}; did you mean {other}?", name=name, other=meant)
        else:
            names = ", ".join(sorted(known))
            reason = say("no function is called {name}; there are {names}", name=name, names=names)
        raise self.source.error(reason, place)
