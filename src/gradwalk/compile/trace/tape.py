"""A traced function as flat arrays: what the tracer writes, and all that analysis and kernels read.

Every number of the function has an id. The parameters come first (0 to P-1: positions in the buffer they live in), then
the inputs (P to P+I-1: what is written anew before each call), then one id for each row. A row holds the code of its
operation and its operands:

- `code >= 0`: an entry of `ops`. Ops of one or two operands have them in `a` and `b` (`b` is NONE where there is only
  one). Ops of three or more have a list: `a` is where it begins in `aux`, `b` how long it is.
- `TAKE`: one of several nodes, chosen anew at each call. `aux[a:a+3]` holds where the table begins in `aux`, how long
  it is, and the number of the index that chooses.
- `MAX`, `MIN`: the largest or smallest of a list (`a`, `b` as above). The gradient goes to it; a tie shares it evenly.
- `SHIFT`: the largest of a list, and no gradient at all; of a list of one it is that number, cut off from its past.

An operand is a node's id, or `~k`, which is negative, for `constants[k]`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradwalk.compile.array_types import Floats, Ints
from gradwalk.errors import GraphError
from gradwalk.ops import Op

__all__ = ["INPUTS", "MAX", "MIN", "NONE", "ROWS", "SHIFT", "SPECIAL", "TAKE", "Tape"]

TAKE, MAX, MIN, SHIFT = -1, -2, -3, -4
#: What the special codes are called.
SPECIAL = {TAKE: "take", MAX: "max", MIN: "min", SHIFT: "shift"}
#: The second operand of an op of one; no operand is so small, because there are fewer constants.
NONE = -(2**31)
#: While a tape is written, ids are kept apart by what they are: parameters from 0, inputs and rows from these on.
INPUTS, ROWS = 1 << 28, 1 << 29


@dataclass(frozen=True, eq=False)
class Tape:
    """A function of parameters, inputs and indices, row by row; operands always stand before what is made of them.

    >>> import numpy as np
    >>> ints = lambda *numbers: np.array(numbers, np.int32)
    >>> tape = Tape(  # tanh(p * x + 1)
    ...     parameters=1, inputs=1, indices=0, ops=(ops.mul, ops.add, ops.tanh), constants=np.array([1.0]),
    ...     code=ints(0, 1, 2), a=ints(0, 2, 3), b=ints(1, ~0, NONE), aux=ints(), outputs=ints(4),
    ... )
    >>> print(tape)
    p0 = parameter
    x0 = input
    n0 = mul(p0, x0)
    n1 = add(n0, 1)
    n2 = tanh(n1)
    gives n2
    """

    parameters: int
    inputs: int
    indices: int
    code: Ints
    a: Ints
    b: Ints
    ops: tuple[Op, ...]
    constants: Floats
    aux: Ints
    outputs: Ints

    @property
    def rows(self) -> int:
        """How many operations there are.

        >>> trace(lambda x: (x * x).tanh(), [1.0]).tape.rows
        2
        """
        return len(self.code)

    @property
    def first_row(self) -> int:
        """The id of the first operation.

        >>> trace(lambda x, y: x * y, [1.0, 2.0]).tape.first_row
        2
        """
        return self.parameters + self.inputs

    def operands(self, row: int) -> list[int]:
        """The operands of one row: ids, and `~k` for constants; of a TAKE the whole table.

        >>> trace(lambda x, y: x * y - 3.0, [1.0, 2.0]).tape.operands(1)
        [2, -1]
        """
        code, a, b = int(self.code[row]), int(self.a[row]), int(self.b[row])
        if code == TAKE:
            start, length, _ = self.aux[a : a + 3].tolist()
            return [int(x) for x in self.aux[start : start + length]]
        if code < 0 or self.ops[code].arity > 2:
            return [int(x) for x in self.aux[a : a + b]]
        return [a] if b == NONE else [a, b]

    def bytes(self) -> int:
        """How much memory its arrays take.

        >>> trace(lambda x: x * x, [3.0]).tape.bytes() > 0
        True
        """
        return sum(array.nbytes for array in (self.code, self.a, self.b, self.aux, self.constants))

    def placed(self, where: Any, size: int) -> Tape:
        """The same tape with its parameters at other positions, among `size` of them; some may be nobody's.

        >>> import numpy as np
        >>> v, w = Value(1.0), Value(2.0)
        >>> tape = trace(lambda x: w * x + v * x, [3.0]).tape.placed(np.array([2, 0]), 3)
        >>> print(str(tape).splitlines()[4])
        n0 = mul(p2, x0)
        """
        if size == self.parameters and (where == np.arange(size)).all():
            return self
        known = np.arange(self.first_row + self.rows, dtype=np.int32) + np.int32(size - self.parameters)
        known[: self.parameters] = where

        def moved(ids: Any) -> Any:
            return np.where(ids >= 0, known[np.maximum(ids, 0)], ids)

        arity = np.array([op.arity for op in self.ops] or [0])
        plain = (self.code >= 0) & (arity[np.maximum(self.code, 0)] <= 2)
        operands = len(self.aux) - 3 * int((self.code == TAKE).sum())  # the headers of takes stand at the end
        aux = np.concatenate((moved(self.aux[:operands]), self.aux[operands:]))
        a, b = (np.where(plain, moved(np.where(plain, x, -1)), x) for x in (self.a, self.b))
        return replace(self, parameters=size, a=a, b=b, aux=aux, outputs=moved(self.outputs))

    def check(self) -> None:
        """Raise if the arrays do not fit together; for tests and for whoever writes tapes by hand.

        >>> tape = trace(lambda x: x.tanh(), [1.0]).tape
        >>> tape.check()
        >>> replace(tape, a=tape.a + 7).check()
        Traceback (most recent call last):
        ...
        gradwalk.errors.GraphError: row 0 of the tape takes operand 7, which does not stand before it
        """
        if not len(self.code) == len(self.a) == len(self.b):
            raise GraphError(f"a tape of {len(self.code)} codes has {len(self.a)} and {len(self.b)} operands")
        for row in range(self.rows):
            code = int(self.code[row])
            if not (code in SPECIAL or 0 <= code < len(self.ops)):
                raise GraphError(f"row {row} of the tape has code {code}, and there are {len(self.ops)} ops")
            given = self.operands(row)
            if code >= 0 and len(given) != self.ops[code].arity:
                raise GraphError(f"row {row} of the tape gives {len(given)} operands to {self.ops[code].name}")
            if not given:
                raise GraphError(f"row {row} of the tape has no operands")
            for x in given:
                if not -len(self.constants) <= x < self.first_row + row:
                    raise GraphError(f"row {row} of the tape takes operand {x}, which does not stand before it")
            if code == TAKE and not 0 <= int(self.aux[self.a[row] + 2]) < self.indices:
                raise GraphError(f"row {row} of the tape takes by an index that is not there")
        for x in self.outputs:
            if not 0 <= x < self.first_row + self.rows:
                raise GraphError(f"the tape gives node {x}, which is not there")

    def name(self, node: int) -> str:
        """What a node is called in print: p0 a parameter, x0 an input, n0 a row; a constant by its number.

        >>> tape = trace(lambda x: x * 0.5, [1.0]).tape
        >>> [tape.name(node) for node in (0, 1, -1)]
        ['x0', 'n0', '0.5']
        """
        if node < 0:
            return f"{self.constants[~node]:g}"
        if node < self.parameters:
            return f"p{node}"
        return f"x{node - self.parameters}" if node < self.first_row else f"n{node - self.first_row}"

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield from (f"p{i} = parameter" for i in range(self.parameters))
        yield from (f"x{i} = input" for i in range(self.inputs))
        for row in range(self.rows):
            code = int(self.code[row])
            words: list[Any] = [self.name(x) for x in self.operands(row)]
            if code == TAKE:
                words = [f"i{self.aux[self.a[row] + 2]} of {', '.join(words)}"]
            yield f"n{row} = {SPECIAL.get(code) or self.ops[code].name}({', '.join(words)})"
        yield f"gives {', '.join(self.name(int(x)) for x in self.outputs)}"
