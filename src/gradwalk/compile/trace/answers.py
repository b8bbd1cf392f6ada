"""What is written down of plain numbers, and what a function is told of them: each answer becomes a guard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradwalk.compile.trace.guards import QUESTIONS, BeingWritten, Guard, numbers_at, same, typed
from gradwalk.compile.trace.kinds import BOOLS, LIMITED, WHOLE, is_too_large
from gradwalk.compile.trace.limits import limit
from gradwalk.compile.trace.plain import Condition, Number
from gradwalk.compile.trace.tape import INPUTS, NONE, ROWS, SHIFT
from gradwalk.compile.trace.traced import COMPARISONS, IsTensor
from gradwalk.compile.trace.whole import limited, with_large
from gradwalk.compile.trace.written import Written
from gradwalk.engine import Value
from gradwalk.ops import TABLE, Op
from gradwalk.provenance import users_place

__all__ = ["Answers"]


class Answers(Written):
    """The part of a tracer that knows the numbers of the call at hand, and what was asked of them.

    >>> isinstance(Tracer(), Answers)
    True
    """

    tensors: Any  # what is done with tensors, which knows where their numbers stand

    def __init__(self, *, samples: bool) -> None:
        super().__init__()
        self.Number: Any  # the classes of this trace for plain numbers …
        self.Condition: Any  # … and for conditions
        self.samples = samples  # whether the trace is to serve many samples, so that no number can be told
        self.inputs = 0
        self.given: list[Any] = []  # the numbers of the call at hand, for each input
        self.numbers: dict[int, float] = {}  # what was computed of them, by id
        self.numbering = BeingWritten(self)
        self.guards: dict[Any, Guard] = {}  # what was asked of numbers, and the answers
        self.types: dict[int, type] = {}  # inputs whose types were asked for
        self.ints: dict[int, int] = {}  # inputs that are ints, and computed with as such: how large they may be …
        self.largest: dict[int, int] = {}  # … and how large the results of rows can be then
        self.whole: set[int] = set()  # rows that are ints for the function
        self.read_at: dict[int, int] = {}  # copies of numbers that were read, by what they are copies of
        self.hashes: dict[int, int] = {}  # of stand-ins that were asked for theirs, by their rows
        self.hashed = False  # whether the hash of a stand-in was asked for
        self.mixed = False  # whether samples are of several types
        self.truths_asked = False  # whether code that nobody can answer for asks `is True` of comparisons

    def plain(self, code: int, a: int, b: int, kind: type) -> Any:
        """Write down a row whose result is for the function a plain number of this type.

        >>> tracer = Tracer()
        >>> x = tracer.input(3)
        >>> tracer.plain(tracer.code(ops.neg), x._row, NONE, int)
        -3
        """
        out = object.__new__(self.Number)
        out._row, out._kind = self.row(code, a, b), kind
        if kind is not float and issubclass(kind, WHOLE):
            self.whole.add(out._row)
            if code == self.codes[id(TABLE["mul"])]:  # of floats, -3 * 0 is -0
                out._row = self.row(self.codes[id(TABLE["add"])], out._row, self.zero)
                self.whole.add(out._row)
        return out

    def plain_again(self, x: Any, kind: type) -> Any:
        """The same number as one of another type.

        >>> tracer = Tracer()
        >>> tracer.plain_again(tracer.input(3), float)
        3.0
        """
        out = object.__new__(self.Number)
        out._row, out._kind = x._row, kind
        if issubclass(kind, WHOLE):
            self.whole.add(x._row)
        return out

    def data_of(self, v: Any) -> Any:
        """The number of a Value, without gradient.

        >>> trace(lambda x: Value(x).data * 2.0, [3.0]).tape.rows
        2
        """
        row = self.operand(v)
        copy = self.read_at.get(row)
        if copy is None:
            copy = self.read_at[row] = self.row(SHIFT, self.listed([row]), 1)
        out = object.__new__(self.Number)
        out._row, out._kind = copy, float
        if INPUTS <= row < ROWS and isinstance(self.given[row - INPUTS], int):
            out._kind = type(self.given[row - INPUTS])
            self.whole.add(copy)
        return out

    def compare(self, name: str, x: Any, y: Any) -> Any:
        """Write down a comparison.

        >>> tracer = Tracer()
        >>> tracer.compare("less", tracer.input(3.0), 4.0)
        True
        """
        try:
            return self._condition(self.comparison(name), x, y)
        except IsTensor:
            return NotImplemented

    def comparison(self, name: str) -> int:
        """The code of a comparison.

        >>> tracer = Tracer()
        >>> tracer.comparisons[tracer.comparison("less")]
        'less'
        """
        return self.codes[id(COMPARISONS[name])]

    def condition(self, op: Op, x: Any, y: Any) -> Any:
        """Write down what is made of two conditions.

        >>> tracer = Tracer()
        >>> tracer.condition(ops.mul, tracer.input(3.0) > 2.0, True)
        True
        """
        return self._condition(self.code(op), x, y)

    def _condition(self, code: int, x: Any, y: Any) -> Any:
        kinds = self.kind_of(x), self.kind_of(y)
        numpy = None not in kinds and any(issubclass(kind, np.generic) for kind in kinds if kind)
        out = object.__new__(self.Condition)
        out._row = self.row(code, self.operand(x), self.operand(y))
        out._kind = np.bool_ if numpy else bool
        self.whole.add(out._row)
        if self.truths_asked:
            if self.samples:
                raise limit("one sample", " (the function asks `is True` or `is False`)")
            return out._kind(out)
        return out

    def kind_of(self, x: Any) -> type | None:
        """The type that a number has for the function; None for a Value.

        >>> tracer = Tracer()
        >>> tracer.kind_of(tracer.input(3)), tracer.kind_of(2.5), tracer.kind_of(Value(1.0))
        (<class 'int'>, <class 'float'>, None)
        """
        if isinstance(x, Number):
            return x._kind
        return None if isinstance(x, Value) else type(x)

    def kind_asked(self, x: Number) -> type:
        """The type of a number, which then has to be the same in every replay.

        >>> tracer = Tracer()
        >>> tracer.kind_asked(tracer.input(3) + 1), tracer.types
        (<class 'int'>, {0: <class 'int'>})
        """
        if self.mixed:
            raise limit("one sample", " (the function asks for the type of a number, and the samples are of several)")
        ahead, seen = [x._row], set()
        while ahead:
            node = ahead.pop()
            if node in seen:
                continue
            seen.add(node)
            if INPUTS <= node < ROWS:
                self.types[node - INPUTS] = type(self.given[node - INPUTS])
            elif node >= ROWS and self.rows[3 * (node - ROWS)] != SHIFT:
                ahead += self.numbering.operands(node)
        return x._kind

    def number_at(self, node: int) -> float:
        """The number of a node in the call at hand.

        >>> tracer = Tracer()
        >>> tracer.number_at((tracer.input(3.0) * 2.0)._row)
        6.0
        """
        return numbers_at([node], self.numbers, self.numbering)[0]

    def number_of(self, x: Any) -> Any:
        """A plain number in the call at hand, of its own type, which nobody has asked for.

        >>> tracer = Tracer()
        >>> tracer.number_of(tracer.input(3) * 2), len(tracer.guards)
        (6, 0)
        """
        return self._typed(x._kind, x._row) if isinstance(x, Number) else x

    def told(self, x: Any) -> Any:
        """The plain number that a stand-in stands for: from now on the path is one for this number.

        >>> tracer = Tracer()
        >>> tracer.told(tracer.input(3) * 2), len(tracer.guards)
        (6, 1)
        """
        return self.ask(_itself, x) if isinstance(x, Number) else x

    def ask(self, question: Callable[..., Any], *operands: Any) -> Any:
        """The answer to a question about plain numbers: from now on the path is one for this answer.

        >>> tracer = Tracer()
        >>> tracer.ask(round, tracer.input(2.7)), len(tracer.guards)
        (3, 1)
        """
        if any(map(is_too_large, operands)):  # constants of a tape are floats
            question = with_large(question, operands)
            operands = tuple([x for x in operands if not is_too_large(x)])
        ids = tuple([self.operand(x) for x in operands])
        kinds = tuple([self.kind_of(x) or float for x in operands])
        numbers = tuple(map(self._typed, kinds, ids))
        for x, known in zip(operands, numbers, strict=True):
            if isinstance(x, Number) and x._kind in LIMITED:
                limited(self, x)
                if known == 0:  # of floats there is -0.0, too
                    self.kind_asked(x)
        try:
            answer = question(*numbers)
        except Exception as error:  # which the function may catch, and go on
            self._guard((question, ids), question, ids, kinds, type(error))
            raise
        self._guard((question, ids), question, ids, kinds, same(answer))
        return answer

    def asked_condition(self, x: Condition) -> bool:
        """Whether a condition holds.

        >>> [guard.answer for guard in trace(lambda x: bool(x > 2.0), [3.0]).guards]
        [True]
        """
        row = x._row
        answer = self.number_at(row) != 0.0 if not self.samples else False
        begins = 3 * (row - ROWS)
        name = self.comparisons.get(self.rows[begins])
        if name is None:
            self._guard(row, _holds, (row,), (float,), answer, row)
        else:
            ids = (self.rows[begins + 1], self.rows[begins + 2])
            self._guard((name, ids), QUESTIONS[name], ids, (float, float), answer, row)
        return answer

    def _typed(self, kind: type, node: int) -> Any:
        if self.samples:
            raise limit("one sample", " (the function asks for the number itself)")
        if INPUTS <= node < ROWS and type(self.given[node - INPUTS]) is kind:
            return self.given[node - INPUTS]  # an int of any size
        return typed(kind, self.number_at(node))

    def _guard(
        self, key: Any, question: Any, ids: tuple[int, ...], kinds: tuple[type, ...], answer: Any, row: int = NONE
    ) -> None:
        if self.samples:
            raise limit("one sample")
        if key not in self.guards and any(x >= 0 for x in ids):
            self.guards[key] = Guard(question, ids, kinds, answer, users_place(), row)

    def plain_kind(self, x: Any) -> type | None:
        """The type in which a number is given back that is no Value for the caller: None for what is one.

        >>> [output.plain for output in trace(lambda x: [x, x * 2, x > 2], [3]).result]
        [<class 'int'>, None, <class 'bool'>]
        """
        if not isinstance(x, Number):
            return None
        if x._kind in BOOLS:
            return bool
        if x._row < ROWS and not self.samples:  # an argument, which is given back as the one it is
            self.kind_asked(x)
        is_read = x._row < ROWS or self.rows[3 * (x._row - ROWS)] == SHIFT
        return x._kind if is_read else None


def _itself(x: Any) -> Any:
    return x


def _holds(x: Any) -> bool:
    return bool(x)
