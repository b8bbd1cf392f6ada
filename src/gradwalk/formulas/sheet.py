"""A sheet holds the steps of a computation as plain data, each made once; a symbol is the result of one of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["Sheet", "Symbol"]

Step = tuple[
    Any, ...
]  # the name of an op and its operands: an int is the position of an earlier step, a float a number
#: Steps that give a truth rather than a number.
TRUTHS = {"<", "<=", ">", ">=", "==", "!=", "&", "|"}


class Undecided(Exception):  # noqa: N818 (a question, not an error)
    """Raised inside a rule that asks whether a symbol is true, before that has been decided."""

    def __init__(self, condition: Symbol) -> None:
        super().__init__("a symbol is neither true nor false; see gradwalk.formulas.explore")
        self.condition = condition


class Sheet:
    """Steps in the order in which they were made; equal steps are one step.

    With `whole_ops`, an op such as `sigmoid` is one step; otherwise it is made of the steps of its value.

    >>> sheet = Sheet()
    >>> (x,) = sheet.inputs("x")
    >>> y = (x * x + x * x) / 2
    >>> sheet.steps
    [('input', 'x'), ('*', 0, 0), ('+', 1, 1), ('/', 2, 2.0)]
    """

    def __init__(self, *, whole_ops: bool = False) -> None:
        self.steps: list[Step] = []
        self.whole_ops = whole_ops
        self.decided: dict[int, bool] = {}  # conditions, by position, while the ways of a rule are explored
        self._positions: dict[Step, int] = {}

    def inputs(self, *names: str) -> list[Symbol]:
        """Symbols for numbers that come from outside.

        >>> x, y = Sheet().inputs("x", "y")
        >>> str(x - y)
        'x - y'
        """
        return [self._made(("input", name), ("input", name)) for name in names]

    def step(self, op: str, *operands: Any) -> Symbol:
        """A symbol made by this step from symbols and numbers.

        >>> sheet = Sheet()
        >>> str(sheet.step("exp", *sheet.inputs("x")))
        'exp(x)'
        """
        for x in operands:
            if not isinstance(x, (Symbol, int, float)):  # `==` must not fall back to asking whether they are the same
                raise TypeError(f"a symbol meets numbers and symbols only, not {type(x).__name__}: {x!r:.60}")
            if isinstance(x, Symbol) and x.sheet is not self:
                raise ValueError("symbols of different sheets cannot meet; make them with one call of inputs()")
        words = tuple(x.position if isinstance(x, Symbol) else float(x) for x in operands)
        if op == "**" and words[1] == 1.0 and isinstance(words[1], float):
            return operands[0]  # type: ignore[no-any-return]
        # 0.0 and -0.0 are equal and nan is not, so that numbers are told apart as they are written
        return self._made((op, *words), (op, *(repr(x) if isinstance(x, float) else x for x in words)))

    def _made(self, step: Step, key: Step) -> Symbol:
        position = self._positions.setdefault(key, len(self.steps))
        if position == len(self.steps):
            self.steps.append(step)
        return Symbol(self, position)

    def needed(self, results: Iterable[Any], truths: Mapping[int, bool] = {}) -> list[int]:
        """The positions of all steps that results (symbols or numbers) are made of, in order.

        >>> sheet = Sheet()
        >>> x, y = sheet.inputs("x", "y")
        >>> unused, result = x * y, y + 1
        >>> sheet.needed([result])
        [1, 3]
        """
        found: set[int] = set()
        waiting = list(results)
        while waiting:
            position = self.chosen(waiting.pop(), truths)
            if isinstance(position, int) and position not in found:
                found.add(position)
                waiting += self.steps[position][1:]
        return sorted(found)

    def chosen(self, x: Any, truths: Mapping[int, bool]) -> Any:
        """An operand or result as a position or a number, past all choices on conditions whose truths are known.

        >>> sheet = Sheet()
        >>> x, y = sheet.inputs("x", "y")
        >>> larger = ops.choose(x > y, x, y)
        >>> sheet.chosen(larger, {2: False})
        1
        """
        x = x.position if isinstance(x, Symbol) else x
        while isinstance(x, int) and self.steps[x][0] == "choose" and self.steps[x][1] in truths:
            _, condition, yes, no = self.steps[x]
            x = yes if truths[condition] else no
        return x


def _operator(op: str) -> tuple[Any, Any]:
    """An operator of `Symbol` and its reflected form."""

    def forth(self: Symbol, other: Any) -> Any:
        return self.sheet.step(op, self, other) if isinstance(other, (Symbol, int, float)) else NotImplemented

    def back(self: Symbol, other: Any) -> Any:
        return self.sheet.step(op, other, self) if isinstance(other, (Symbol, int, float)) else NotImplemented

    return forth, back


class Symbol:
    """A number that is not known yet: what is done to it becomes a step on its sheet.

    >>> from gradwalk import tanh
    >>> x, y = Sheet(whole_ops=True).inputs("x", "y")
    >>> str((x + 1) * tanh(y) / (x - y))
    '(x + 1) * tanh(y) / (x - y)'
    """

    __hash__ = None  # type: ignore[assignment]
    __slots__ = ("position", "sheet")

    def __init__(self, sheet: Sheet, position: int) -> None:
        self.sheet = sheet
        self.position = position

    __add__, __radd__ = _operator("+")
    __sub__, __rsub__ = _operator("-")
    __mul__, __rmul__ = _operator("*")
    __truediv__, __rtruediv__ = _operator("/")
    __pow__, __rpow__ = _operator("**")
    __lt__, __gt__ = _operator("<")[0], _operator(">")[0]
    __le__, __ge__ = _operator("<=")[0], _operator(">=")[0]
    __and__, __rand__ = _operator("&")
    __or__, __ror__ = _operator("|")

    def __eq__(self, other: object) -> Any:
        return self.__gradwalk_equal__(other)

    def __ne__(self, other: object) -> Any:
        return self.sheet.step("!=", self, other)

    def __neg__(self) -> Symbol:
        return self.sheet.step("neg", self)

    def __pos__(self) -> Symbol:
        return self

    def __abs__(self) -> Symbol:
        return self.sheet.step("fabs", self)

    def __bool__(self) -> bool:
        condition = self if self.sheet.steps[self.position][0] in TRUTHS else self != 0.0
        decided = self.sheet.decided.get(condition.position)
        if decided is None:
            raise Undecided(condition)
        return decided

    def __float__(self) -> float:
        raise TypeError("float() of an operand cannot be compiled")

    def __gradwalk_equal__(self, other: Any) -> Symbol:
        """Whether two numbers are equal, for `ops.equal`.

        >>> (x,) = Sheet().inputs("x")
        >>> str(ops.equal(x, 0.0))
        'x == 0'
        """
        return self.sheet.step("==", self, other)

    def __gradwalk_choose__(self, yes: Any, no: Any) -> Symbol:
        """`yes` where this condition holds, else `no`, for `ops.choose`.

        >>> (x,) = Sheet().inputs("x")
        >>> str(ops.choose(x > 0, 1.0, 0.0))
        '1 if x > 0 else 0'
        """
        return self.sheet.step("choose", self, yes, no)

    def __gradwalk_op__(self, op: Any, operands: tuple[Any, ...]) -> Any:
        from gradwalk.formulas.rules import applied  # rules build on symbols

        return applied(self.sheet, op, operands)

    def __str__(self) -> str:
        from gradwalk.formulas.text import text

        return text(self)

    def __repr__(self) -> str:
        return f"Symbol({str(self)!r})"
