"""Tensors while a function is traced: what stands for one, and what is done with those that the function reaches.

A tensor of the function's own is a `TracedTensor`, whose numbers are a block (`blocks.py`). A leaf that comes from
outside and that gradient flows to is a parameter, all of its numbers side by side in the buffer; any other is a
constant of the trace, and looked at before each replay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from gradwalk import modes
from gradwalk.compile.trace.arrays import plain_array
from gradwalk.compile.trace.asking import asked_by_insider
from gradwalk.compile.trace.block_arrays import Blocks
from gradwalk.compile.trace.blocks import Block
from gradwalk.compile.trace.limits import TOLD, WALK, Unfollowable, limit
from gradwalk.compile.trace.plain import Number
from gradwalk.engine import Value
from gradwalk.ops import TABLE, Op, where, wrong_count
from gradwalk.provenance import led_through, users_place
from gradwalk.tensor import arrays
from gradwalk.tensor.arrays import FLOAT32, FLOAT64
from gradwalk.tensor.core import Tensor, constant, node
from gradwalk.tensor.entries import Max
from gradwalk.tensor.making import keep_kinds
from gradwalk.tensor.promotion import joined
from gradwalk.tensor.shapes import broadcast

if TYPE_CHECKING:
    from gradwalk.compile.trace.tracer import Tracer

__all__ = ["Tensors", "TracedTensor"]

PROVIDER = "take its tensors from NumPy: leave out using_arrays('python')"
UNSEEN = "let the function reach its tensors by name, or in lists, dicts and attributes; or pass them as arguments"
NORMS = "use LayerNorm, which keeps nothing, or call eval() where it need not train"
SET = "return the new numbers, and set them outside the compiled function"


NOT_ITS_OWN = "do it before the call, or to a tensor that the function makes, such as x.detach()"


class TracedTensor(Tensor):
    """What stands for a tensor: what belongs to the nodes of a graph is refused, with the line and the remedy.

    >>> w = gradwalk.Tensor([1.0, 2.0])
    >>> gradwalk.compile(lambda x: (w * x).grad)(3.0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    gradwalk.errors.TraceError: a gradient was asked for inside a compiled function
    ...
    """

    __slots__ = ()
    comes_later = True
    __class__ = property(lambda self: Tensor)  # for who asks what it stands for

    @property
    def grad(self) -> NoReturn:
        """Refused: there is no gradient yet."""
        raise limit("grad")

    @grad.setter
    def grad(self, grad: Any) -> NoReturn:
        raise limit("grad")

    def backward(self, *_: Any, **__: Any) -> NoReturn:
        """Refused: there is no gradient yet."""
        raise limit("grad")

    zero_grad = backward

    def register_hook(self, hook: Any) -> NoReturn:
        """Refused: nodes in between are not kept."""
        raise limit("structure")

    def retain_grad(self) -> NoReturn:
        """Refused: nodes in between are not kept."""
        raise limit("structure")

    @property
    def operands(self) -> NoReturn:
        """Refused: nodes in between are not kept."""
        raise limit("structure")

    slopes = local_derivatives = inputs = _prev = operands

    @property
    def requires_grad(self) -> bool:
        """Whether gradient flows here; it can be set on what the function made by hand."""
        return self._flows

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        if id(self) not in self._data._tracer.made:
            raise Unfollowable(f"in {{function}} requires_grad of a tensor was set ({users_place()})", NOT_ITS_OWN)
        if wanted != self._flows:
            Tensor.requires_grad.fset(self, wanted)  # type: ignore[attr-defined]

    @property
    def is_leaf(self) -> bool:  # type: ignore[override]
        """Whether the function made it by hand, or was given it as a leaf; which only we may ask of an argument."""
        if id(self) in self._data._tracer.tensors.given and not asked_by_insider():
            raise _asked("how a tensor among its arguments was made")
        return self._kind is None and id(self) not in self._data._tracer.tensors.computed

    def __hash__(self) -> int:
        if id(self) in self._data._tracer.tensors.given and not asked_by_insider():
            raise _asked("which tensor stands among its arguments, as a dict or a set does")
        return id(self)

    def __eq__(self, other: object) -> Any:
        tracer, out = self._data._tracer, Tensor.__eq__(self, other)
        return tracer.tensors.taken_in(out) if id(self) in tracer.tensors.given and isinstance(out, Tensor) else out

    def __bool__(self) -> bool:
        if self.dtype == "bool" and self.array.size != 1:
            raise _asked("whether a tensor among its arguments is one of several, as `x in [y]` does")
        return Tensor.__bool__(self)

    def scalars(self) -> NoReturn:
        """Refused: there is no graph."""
        raise limit("structure")

    def __deepcopy__(self, memo: Any) -> Any:
        return self.detach()  # a copy has a graph of its own, and passes nothing on to this one's

    __copy__ = lambda self: self  # noqa: E731

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise limit("structure")


def _asked(what: str) -> Unfollowable:
    return Unfollowable(f"{{function}} asks {what} ({users_place()})", TOLD)


def _of_its_own(name: str) -> Any:
    """What a tensor has beside its numbers, which is another thing at each call if it is an argument."""
    own = getattr(Tensor, name)

    def get(self: Any) -> Any:
        if id(self) in self._data._tracer.tensors.given and not asked_by_insider():
            raise _asked(f"for .{name} of a tensor among its arguments")
        return own.__get__(self)

    get.__doc__ = own.__doc__
    return property(get, own.fset)


for _name in ("hooks", "label", "made_at"):
    setattr(TracedTensor, _name, _of_its_own(_name))


def _in_place(name: str) -> Any:
    """`x += 1`, which a leaf among the arguments refuses if it is trained, and that may change from call to call."""

    def change(self: Any, other: Any) -> Any:
        if self._flows and self.is_leaf and modes.recording() and id(self) in self._data._tracer.tensors.given:
            raise Unfollowable(f"in {{function}} a tensor was updated in place ({users_place()})", NOT_ITS_OWN)
        return getattr(Tensor, name)(self, other)

    return change


for _name in [name for name in dir(Tensor) if name.startswith("__i") and f"__{name[3:]}" in dir(Tensor)]:
    setattr(TracedTensor, _name, _in_place(_name))


class Tensors:
    """What a tracer does with tensors.

    >>> Tracer().tensors.argument(gradwalk.Tensor([1.0, 2.0]), [1.0, 2.0]).shape
    (2,)
    """

    stand_in: type[Tensor] = TracedTensor  # what stands for a tensor

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.blocks: Any = Blocks(tracer, arrays.now)
        self.met: dict[int, Block] = {}  # tensors from outside, by id(), and what stands for their numbers
        self.places: dict[int, int] = {}  # where the numbers of a tensor begin among the parameters
        self.given: dict[int, Tensor] = {}  # by id(), what stands for tensors from outside that may be given back
        self.computed: dict[int, Tensor] = {}  # those that were computed, where their graph is not theirs to hold
        self.used: set[int] = set()  # those that the function makes and computes with, by id()
        self.before = arrays.taken_from()  # where tensors take their arrays from when they do not from us

    def begin(self) -> None:
        """Let tensors take their arrays from us from now on."""
        if self.blocks.real.name == "numpy":
            arrays.take_from(self.blocks)

    def end(self) -> None:
        """Let tensors take their arrays from where they took them before."""
        arrays.put_back(self.before)

    # --- what stands for tensors -------------------------------------------------------------------------------------

    def argument(self, given: Tensor, array: Any) -> Tensor:
        """What stands for a tensor among the arguments."""
        self._check_provider()
        block = self.blocks.inputs(array, given.dtype)
        out = self.standing_for(block, flows=given.requires_grad)
        if given.requires_grad:
            self.tracer.flowing.update(block.ids.ravel().tolist())
        if not given.is_leaf:
            out._kind, out._inputs = given._kind, given.inputs
        self.given[id(out)] = out
        return out

    def standing_for(self, block: Any, *, flows: bool) -> Tensor:
        """A tensor of these numbers."""
        out = constant(block)
        out.__class__ = self.stand_in
        out._flows = flows
        return out

    def traced(self, v: Tensor) -> Tensor:
        """A tensor as one of the trace, though its numbers may be known."""
        array = v.array
        if isinstance(array, Block) and isinstance(v, TracedTensor):
            return v
        out = self.standing_for(self.blocks.block(self.blocks.ids_of(array), v.dtype), flows=v.requires_grad)
        self.given[id(out)] = out
        return out

    def array_of(self, v: Tensor) -> Any:
        """The numbers of a tensor: a block, or an array of what is known."""
        data = v._data
        if isinstance(data, Block):
            if not v._flows and data.dtype == FLOAT64:  # what follows from it passes on no gradient
                v._data = data = self.blocks.cut(data)
            data.unused = False
            return data
        if id(v) in self.tracer.made:
            return data
        if v._flows:
            return self._parameter(v)
        return data

    def _parameter(self, v: Tensor) -> Block:
        found = self.met.get(id(v))
        if found is not None:
            return found
        tracer = self.tracer
        self._check_parameter(v)
        first = len(tracer.parameters)
        ids = np.arange(first, first + v._data.size).reshape(v.shape)
        self.met[id(v)] = block = self.blocks.block(ids, v.dtype)
        self.places[id(v)] = first
        many: list[Any] = [v]
        tracer.parameters.extend(many * v._data.size)
        if v._data.size:
            tracer.unused_tensors[first] = v._data.size
        return block  # type: ignore[no-any-return]

    def _check_parameter(self, v: Tensor) -> None:
        self._check_provider()
        if not v.is_leaf or v.closure is not None:
            raise limit("outside", f" ({v._op or 'made by hand'})")
        if self.tracer.reached is not None and id(v) not in self.tracer.reached:
            raise Unfollowable(f"{{function}} uses a tensor that cannot be seen from outside ({users_place()})", UNSEEN)

    def _check_provider(self) -> None:
        if self.blocks.real.name != "numpy":
            raise Unfollowable("{function} computes with tensors whose arrays are not NumPy's", PROVIDER)

    # --- what they mean meanwhile ------------------------------------------------------------------------------------

    def apply(self, op: Any, operands: tuple[Any, ...]) -> Any:
        """Write down an op, one of whose operands is a tensor."""
        self._check_provider()
        self.used.update(id(x) for x in operands if id(x) in self.tracer.made)
        if op.name == "of" and not isinstance(op, Op):
            ids = plain_array([self.tracer.operand(x) for x in operands], np.int64).reshape(op.shape)
            out = self.standing_for(self.blocks.block(ids, FLOAT64), flows=any(isinstance(x, Value) for x in operands))
            if out._flows and modes.recording():
                out._kind = op
            return out
        if not any(map(_is_of_floats, operands[1:] if op is where else operands)):  # which a number beside it becomes
            keep_kinds(numbers := [x for x in operands if isinstance(x, Number)])
            if any(x.holds_stand_ins for x in numbers):  # of which tensors of ints become float32
                self.blocks.block(None, FLOAT32)
        given = tuple([self._as_tensor(x) for x in operands])
        owner: Any = next(x for x in given if isinstance(x, Tensor))
        if isinstance(op, Op) and TABLE.get(op.name) is not op:
            out = self._of_users(op, given)
        elif isinstance(op, Max) and owner._flows and isinstance(owner.array, Block) and owner.array.size:
            out = node(op, self.blocks.shared_largest(owner.array, op.axes, op.keep), given)
        else:
            out = owner.computed(op, given)
        return self.taken_in(out)

    def taken_in(self, out: Tensor) -> Tensor:
        """What an op gave, as one of the trace."""
        if isinstance(out._data, self.blocks.later):
            if type(out) is Tensor:
                out.__class__ = self.stand_in
        elif out._flows:
            self.tracer.made[id(out)] = out  # of numbers that are known, so it is one as well
        return out

    def _as_tensor(self, x: Any) -> Any:
        """A number of the trace as a tensor of no dims."""
        if isinstance(x, Value):
            ids = plain_array(self.tracer.operand(x), np.int64)
            return self.standing_for(self.blocks.block(ids, FLOAT64), flows=True)
        if isinstance(x, Number):
            return self.standing_for(self.blocks.new(x, self.blocks.kind_of(x)), flows=False)
        return x

    def _of_users(self, op: Op, operands: tuple[Any, ...]) -> Tensor:
        """An op of the user's own, which has no kernel on arrays."""
        if len(operands) != op.arity:
            raise wrong_count(op, len(operands))
        numbers, _ = joined(op, [x.array if isinstance(x, Tensor) else x for x in operands])
        broadcast([x.shape for x in numbers if not isinstance(x, (int, float))], op.symbol)
        return node(op, self.blocks.applied(op, numbers), operands)

    def leaf(self, v: Tensor, data: Any) -> None:
        """A tensor that the function makes."""
        v.filled(self.blocks.cut(data) if isinstance(data, Block) and data.dtype == FLOAT64 else data)
        if isinstance(data, Block) and type(v) is Tensor:
            v.__class__ = TracedTensor
        self.tracer.made[id(v)] = v

    def detach(self, v: Tensor) -> Tensor:
        """The same numbers, through which nothing flows back."""
        array = v.array
        if not isinstance(array, Block):
            out = v.detached()
            self.tracer.made[id(out)] = out
            return out
        cut = self.blocks.cut(array) if array.dtype == FLOAT64 else array
        out = self.standing_for(cut, flows=array.dtype == FLOAT64)
        self.tracer.made[id(out)] = out
        return out

    def read(self, v: Tensor, field: str, found: Any) -> Any:
        """Somebody reads the numbers of a tensor, or its gradient."""
        if field == "array":
            return self.array_of(v)
        if field == "data":
            array = v.array
            return self.blocks.read_only(array) if isinstance(array, Block) else self._known(v, array)
        if id(v) not in self.tracer.made:
            raise Unfollowable(f"in {{function}} the gradient of a tensor was read ({users_place()})", WALK)
        return found

    def _known(self, v: Tensor, array: Any) -> Any:
        """Numbers that are known and that may be written to, if the tensor is the function's own."""
        if id(v) in self.tracer.made and v.is_leaf:
            if v._lent is None:
                v._lent = arrays.now.copy(array)
            return v._lent
        return arrays.now.read_only(array)

    def write(self, v: Tensor, field: str, new: Any) -> Any:
        """Somebody sets the numbers of a tensor, or its gradient: of one from outside, that is done at each call."""
        if id(v) not in self.tracer.made:
            if field == "data" and led_through("gradwalk.layers"):
                raise Unfollowable(f"in {{function}} BatchNorm1d keeps means as it trains ({users_place()})", NORMS)
            what = "numbers of a tensor were" if field == "data" else "gradient of a tensor was"
            raise Unfollowable(f"in {{function}} the {what} set ({users_place()})", SET if field == "data" else WALK)
        return new


def _is_of_floats(x: Any) -> bool:
    return isinstance(x, Value) or (isinstance(x, Tensor) and x.dtype.startswith("float"))
