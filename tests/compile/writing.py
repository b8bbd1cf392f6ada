"""Writing tapes by hand: a few lines of a tracer, so that the native side is tested without the real one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradwalk import ops
from gradwalk.compile.trace.tape import MAX, MIN, NONE, SHIFT, TAKE, Tape
from gradwalk.ops import Op


class Writer:
    """Makes nodes, row by row."""

    def __init__(self, parameters: int, inputs: int, indices: int = 0) -> None:
        self.sizes = parameters, inputs, indices
        self.count = parameters + inputs
        self.rows: list[tuple[int, int, int]] = []
        self.ops: dict[Op, int] = {}
        self.constants: dict[str, int] = {}
        self.numbers: list[float] = []
        self.aux: list[int] = []
        self.parameters = [Node(self, i) for i in range(parameters)]
        self.inputs = [Node(self, parameters + i) for i in range(inputs)]

    def operand(self, x: Any) -> int:
        if isinstance(x, Node):
            return x.id
        key = float(x).hex()
        if key not in self.constants:
            self.constants[key] = len(self.numbers)
            self.numbers.append(float(x))
        return ~self.constants[key]

    def row(self, code: int, a: int, b: int) -> Node:
        self.rows.append((code, a, b))
        self.count += 1
        return Node(self, self.count - 1)

    def op(self, op: Op, operands: Sequence[Any]) -> Node:
        code = self.ops.setdefault(op, len(self.ops))
        ids = [self.operand(x) for x in operands]
        if len(ids) > 2:
            return self.row(code, *self.listed(ids))
        return self.row(code, ids[0], ids[1] if len(ids) == 2 else NONE)

    def listed(self, ids: Sequence[int]) -> tuple[int, int]:
        self.aux += ids
        return len(self.aux) - len(ids), len(ids)

    def special(self, code: int, operands: Sequence[Any]) -> Node:
        return self.row(code, *self.listed([self.operand(x) for x in operands]))

    def max(self, operands: Sequence[Any]) -> Node:
        return self.special(MAX, operands)

    def min(self, operands: Sequence[Any]) -> Node:
        return self.special(MIN, operands)

    def shift(self, operands: Sequence[Any]) -> Node:
        return self.special(SHIFT, operands)

    def take(self, table: Sequence[Any], index: int) -> Node:
        start, length = self.listed([self.operand(x) for x in table])
        return self.row(TAKE, self.listed([start, length, index])[0], 0)

    def tape(self, *outputs: Node) -> Tape:
        parameters, inputs, indices = self.sizes
        columns = np.array(self.rows, np.int32).reshape(-1, 3).T
        code, a, b = (np.ascontiguousarray(column) for column in columns)
        made = Tape(
            parameters=parameters, inputs=inputs, indices=indices, code=code, a=a, b=b, ops=tuple(self.ops),
            constants=np.array(self.numbers), aux=np.array(self.aux, np.int32),
            outputs=np.array([x.id for x in outputs], np.int32),
        )  # fmt: skip
        made.check()
        return made


class Node:
    """A node of a tape that is being written; takes the operators of a Value."""

    def __init__(self, writer: Writer, id: int) -> None:
        self.writer = writer
        self.id = id

    def __gradwalk_op__(self, op: Op, operands: tuple[Any, ...]) -> Node:
        return self.writer.op(op, operands)

    def __add__(self, other: Any) -> Node:
        return self.writer.op(ops.add, (self, other))

    def __radd__(self, other: Any) -> Node:
        return self.writer.op(ops.add, (self, other))

    def __mul__(self, other: Any) -> Node:
        return self.writer.op(ops.mul, (self, other))

    def __rmul__(self, other: Any) -> Node:
        return self.writer.op(ops.mul, (self, other))

    def __sub__(self, other: Any) -> Node:
        return self.writer.op(ops.sub, (self, other))

    def __rsub__(self, other: Any) -> Node:
        return self.writer.op(ops.sub, (other, self))

    def __truediv__(self, other: Any) -> Node:
        return self.writer.op(ops.div, (self, other))

    def __rtruediv__(self, other: Any) -> Node:
        return self.writer.op(ops.div, (other, self))

    def __pow__(self, other: Any) -> Node:
        return self.writer.op(ops.pow, (self, other))

    def __neg__(self) -> Node:
        return self.writer.op(ops.neg, (self,))
