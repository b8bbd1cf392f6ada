"""Tensors while a function is traced array by array: each is a node as ever, around an array that comes later.

The graph that the function makes is kept: from it a walk back is written down when one is first asked for. A parameter
is met as a stand-in, so that the graph holds nothing but what comes later and constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwalk.compile.trace.array_tape import ArrayTape
from gradwalk.compile.trace.limits import Unfollowable
from gradwalk.compile.trace.plain import Number
from gradwalk.compile.trace.tensors import Tensors, TracedTensor
from gradwalk.compile.trace.whole_arrays import ArgumentArray, LaterArray, WholeArrays
from gradwalk.engine import Value
from gradwalk.ops import Op, where
from gradwalk.provenance import users_place
from gradwalk.tensor import arrays
from gradwalk.tensor.arrays import FLOAT32, FLOAT64
from gradwalk.tensor.backward import gradients_of, plain_order
from gradwalk.tensor.core import Tensor, constant

if TYPE_CHECKING:
    from gradwalk.compile.trace.tracer import Tracer

__all__ = ["WholeTensor", "WholeTensors"]

MIXED = "keep Values and large tensors in functions of their own, or make tensors of the Values, as in Tensor(v.data)"


class WayBack(NamedTuple):
    """A walk back that was written down: the row of its seed, and those of the gradients of leaves, by their id()."""

    seed: int
    gradients: dict[int, int]
    cuts: bool  # whether an op leaves numbers out
    order: list[Any]  # the nodes that are walked, operands first
    leaves: list[Any]


class WholeTensor(TracedTensor):
    """What stands for a tensor around an array that comes later."""

    __slots__ = ()


class WholeTensors(Tensors):
    """What a tracer does with tensors whose arrays are written down as wholes.

    >>> Tracer(by_array=True).tensors.argument(gradwalk.Tensor([1.0, 2.0]), np.ones(2)).shape
    (2,)
    """

    stand_in = WholeTensor

    def __init__(self, tracer: Tracer) -> None:
        super().__init__(tracer)
        self.blocks = WholeArrays(tracer, arrays.now)
        self.parameters: list[Tensor] = []
        self.met: dict[int, Any] = {}  # what stands for a parameter, by id()
        self.arguments: dict[int, int] = {}  # which array what is given stands for, by id()
        self.results: list[Tensor] = []  # what the function gives

    def argument(self, given: Tensor, array: Any) -> Tensor:
        """What stands for a tensor among the arguments."""
        self._check_provider()
        out = self.standing_for(self.blocks.inputs(array), flows=given.requires_grad)
        self.given[id(out)] = out
        self.arguments[id(out)] = self.blocks.given - 1
        if not given.is_leaf:
            self.computed[id(out)] = out
        return out

    def array_argument(self, array: Any) -> LaterArray:
        """What stands for an array of NumPy's among the arguments."""
        self._check_provider()
        found: LaterArray = self.blocks.inputs(array, ArgumentArray)
        return found

    def array_of(self, v: Tensor) -> Any:
        """The numbers of a tensor: an array that comes later, or one of what is known."""
        return self._met(v)._data

    def _met(self, v: Tensor) -> Tensor:
        """A tensor as it stands in the graph of the trace."""
        if isinstance(v._data, LaterArray) or id(v) in self.tracer.made:
            return v
        if not v._flows:  # a constant, which somebody may take the numbers of, as native code does with parameters
            return constant(v._data)
        found = self.met.get(id(v))
        if found is None:
            self._check_parameter(v)
            if self.parameters and self.parameters[0]._data.dtype != v._data.dtype:
                raise Unfollowable(
                    f"{{function}} has parameters of float32 and of float64 ({users_place()})",
                    "give them all one dtype, with .float() or .double()",
                )
            array = self.blocks.leaf("parameter", len(self.parameters), v._data)
            found = self.met[id(v)] = self.standing_for(array, flows=True)
            self.parameters.append(v)
        return found

    def apply(self, op: Any, operands: tuple[Any, ...]) -> Any:
        """Write down an op, one of whose operands is a tensor."""
        self._check_provider()
        self.used.update(id(x) for x in operands if id(x) in self.tracer.made)
        if any(isinstance(x, Value) for x in operands) or (op.name == "of" and not isinstance(op, Op)):
            raise Unfollowable(f"{{function}} mixes Values with large tensors ({users_place()})", MIXED)
        single = self._dtype_of_numbers(operands[1:] if op is where else operands)
        given = tuple([self._operand(x, single) for x in operands])
        owner: Any = next(x for x in given if isinstance(x, Tensor))
        return self.taken_in(owner.computed(op, given))

    def _dtype_of_numbers(self, operands: tuple[Any, ...]) -> str:
        """The dtype in which a plain number counts beside tensors: theirs, if they are of floats; else none."""
        floats = [x for x in operands if isinstance(x, Tensor) and x.dtype.startswith("float")]
        names = {x.dtype for x in floats if x.ndim} or {x.dtype for x in floats}
        return "" if not names else FLOAT32 if names == {FLOAT32} else FLOAT64

    def _operand(self, x: Any, single: str) -> Any:
        if isinstance(x, Number):
            kind = single if x._kind in (float, int, np.float64) else ""  # NumPy's others have a dtype of their own
            array = self.blocks.new(x, kind)
            return self.standing_for(self.blocks.new(array, array.dtype.name), flows=False)
        return self._met(x) if isinstance(x, Tensor) else x

    def leaf(self, v: Tensor, data: Any) -> None:
        """A tensor that the function makes."""
        v.filled(self.blocks.new(data, "") if isinstance(data, LaterArray) else data)
        if isinstance(data, LaterArray) and type(v) is Tensor:
            v.__class__ = WholeTensor
        self.tracer.made[id(v)] = v

    def detach(self, v: Tensor) -> Tensor:
        """The same numbers, through which nothing flows back."""
        array = self.array_of(v)
        later = isinstance(array, LaterArray)
        out = self.standing_for(array, flows=array.dtype.kind == "f") if later else v.detached()
        self.tracer.made[id(out)] = out
        return out

    def read(self, v: Tensor, field: str, found: Any) -> Any:
        """Somebody reads the numbers of a tensor, or its gradient."""
        if field == "data" and isinstance(self.array_of(v), LaterArray):
            return self.blocks.read_only(self.array_of(v))
        return super().read(v, field, found)

    def give(self, x: Tensor) -> int:
        """Note that a tensor is given by the function; says which of them it is."""
        self.results.append(x)
        return len(self.results) - 1

    def finished(self, *, values: bool, renumber: Any) -> tuple[ArrayTape, WholeTensors, list[Tensor]]:
        """The tape, this with the graph in it, and the parameters; refused if there are Values beside them."""
        if values:
            raise Unfollowable("{function} mixes Values with large tensors", MIXED)
        self.blocks.end(renumber)
        return self.blocks.tape([x._data.row for x in self.results]), self, self.parameters

    def written_back(self, position: int, numbers: Sequence[Any]) -> WayBack:
        """Write a walk back from one of the results down, given the arrays of a replay; nobody may trace meanwhile."""
        blocks, root = self.blocks, self.results[position]
        plain = plain_order(root)
        assert plain is not None, "a graph of stand-ins has plain ops alone"
        order, leaves, cuts = plain
        blocks.remember(numbers)
        try:
            seed = blocks.leaf("seed", position, np.ones(root.shape, root.dtype))
            with arrays.provided_by(blocks):
                found = blocks.quietly(gradients_of, root, seed, order)
            rows = {id(leaf): found[leaf].row for leaf in leaves if leaf in found}
        finally:
            blocks.forget()
        return WayBack(seed.row, rows, cuts, order, leaves)
