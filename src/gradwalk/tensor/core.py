"""A `Tensor` is many numbers that share one node: made by an op as a `Value` is, and walked back through alike.

Its elementwise ops are those of the op table (`kernels.py`); ops on structure have entries of their own (`entries.py`).
Here are the node itself, how an op makes one, and the way back. What it has in the way of methods is in `methods/`.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any

from gradwalk import keepers, modes, ops, reverse
from gradwalk.engine import Value
from gradwalk.errors import BackwardError, GraphError, NotANumberError, OpError, SettingError
from gradwalk.instead import INSTEAD, LeftOut, instead_of
from gradwalk.node import Hook, Node, Recipe
from gradwalk.ops import Op
from gradwalk.tensor import arrays, kernels, reach
from gradwalk.tensor.arrays import dtype_named
from gradwalk.tensor.backward import FREED, KEPT_NUMBERS, Clock, Slope, filled, walk_back, walk_with_graphs
from gradwalk.tensor.entries import Entry, Expand, Index, Permute, Reshape
from gradwalk.tensor.making import array_of, numbers_in, whole
from gradwalk.tensor.methods import TensorMethods
from gradwalk.tensor.operators import PART, give_operators
from gradwalk.tensor.printing import printed
from gradwalk.tensor.promotion import alike, joined, one_dtype, refuse_whole_division
from gradwalk.tensor.shapes import Shape, broadcast, shape_error

__all__ = ["Tensor"]

VIEWS = (Index, Reshape, Permute, Expand)


class Tensor(TensorMethods, Node):  # type: ignore[misc]  # the functions of the table give tensors here
    """Many numbers in one node: an array of any shape, its gradient, and how it came to be.

    `data` is a number, nested lists or an array, and is copied. Floats are float64 unless `dtype="float32"` asks; ints
    and bools stay what they are, index and compare, and carry no gradient. With `requires_grad=False` it is a constant.

    >>> W = gradwalk.Tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> loss = (W @ gradwalk.Tensor([1.0, -1.0])).tanh().sum()
    >>> loss.backward()
    >>> W.grad.shape, loss.item()
    ((2, 2), -1.5231883119115297)
    """

    __slots__ = ("_asked", "_changed", "_flows", "_gradient_of", "_inputs", "_lent", "_part_of")
    _copied_fields = Node._copied_fields.union(__slots__)

    many = True
    _data: Any  # an array
    _asked: bool | None  # of a leaf: what requires_grad was set to; of another node: whether retain_grad() was called
    _changed: int  # when the numbers of this leaf were last written; of another node: when it was made
    _flows: bool  # whether gradient flows to this node
    _inputs: tuple[Any, ...]  # what the op was given
    _lent: Any  # the array that `data` of this leaf gave away, which may be written to; None if it gave none
    # Borrowed numbers are for reading. Of tensors that have numbers of their own, as most do, these are not set:
    _gradient_of: Tensor  # whose gradient this is
    _part_of: Tensor  # the parameter that this shows a part of, under no_grad

    if TYPE_CHECKING:  # of methods that are called as types are: `float()`

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, data: Any, requires_grad: bool | None = None, dtype: Any = None, *, label: str = "") -> None:
        self._grad = 0.0
        self._kind = self._mark = self._lent = None
        self._changed = 0
        self._inputs = ()
        self._asked = None
        given = array_of(data, None if dtype is None else dtype_named(dtype))
        if modes.active:
            modes.top().leaf(self, given)
        else:
            self._data = given
        self._flows = self.dtype.startswith("float")
        if requires_grad is not None:
            self.requires_grad = requires_grad
        if label:
            self.label = label

    def __repr__(self) -> str:
        return printed(self)

    # --- numbers and gradient ----------------------------------------------------------------------------------------

    @property
    def array(self) -> Any:
        """The numbers as they are now, to be read.

        >>> gradwalk.Tensor([1.0]).array.tolist()
        [1.0]
        """
        if self._lent is not None:
            self._look_at_lent()
        if modes.active and not modes.knows_numbers():
            return modes.top().read(self, "array", self._data)
        return self._data

    @property
    def data(self) -> Any:
        """The numbers, as an array: that of a leaf may be written to, and the others are for reading.

        >>> w = gradwalk.Tensor([1.0, 2.0])
        >>> w.data[0] = 5.0
        >>> w
        Tensor([5.0, 2.0])
        """
        array: Any
        if modes.active and not modes.knows_numbers():
            return modes.top().read(self, "data", self._data)
        if self._lent is not None:
            array = self._lent
        elif (self._kind is not None and not self.is_leaf) or self.is_borrowed:
            array = arrays.now.read_only(self._data)
        else:
            array = self._lent = arrays.now.copy(self._data)
        return modes.top().read(self, "data", array) if modes.active else array

    @data.setter
    def data(self, data: Any) -> None:
        if not self.is_leaf:
            raise GraphError(
                f"the numbers of a tensor that was computed ({self._op} of shape {self.shape}) cannot be replaced; "
                "make a leaf of it with detach()"
            )
        if self.is_borrowed:
            raise GraphError(
                "the numbers of a gradient are for reading; set it anew, as in p.grad = p.grad * 0.5"
                if hasattr(self, "_gradient_of")
                else PART
            )
        if data is self._lent and data is not None:  # t.data += 1 writes, and then sets what it wrote to
            self._look_at_lent()
            return
        new = numbers_in(data, self.dtype)
        if new.shape != self.shape:
            raise shape_error(
                f"data of shape {new.shape} was set on a tensor of shape {self.shape}; shapes must be equal"
            )
        self._write_array(modes.top().write(self, "data", new) if modes.active else new)

    @property
    def is_borrowed(self) -> bool:
        """Whether these are the numbers of a gradient, or a part of a parameter under no_grad: they are for reading.

        >>> gradwalk.Tensor([1.0]).grad.is_borrowed
        True
        """
        return hasattr(self, "_gradient_of") or hasattr(self, "_part_of")

    @property
    def is_part(self) -> bool:
        """Whether this shows a part of a leaf that is surely trained.

        >>> gradwalk.ones(2, 2, requires_grad=True)[0].is_part
        True
        """
        return hasattr(self, "_part_of") or _shows_parameter(self.primitive, self._inputs)

    @property
    def is_surely_trained(self) -> bool:
        """Whether somebody asked for this leaf's gradient, or it has one: others may be mere numbers.

        >>> gradwalk.Tensor([1.0]).is_surely_trained
        False
        """
        return self._asked is True or self._grad.__class__ is not float

    def _write_array(self, array: Any) -> None:
        """Take over an array of our shape and dtype that nobody else writes to."""
        Clock.time += 1
        self._data, self._lent, self._changed = array, None, Clock.time

    def _look_at_lent(self) -> None:
        """What was written to the array that `data` gave away counts from now on."""
        if not arrays.now.same(self._lent, self._data):
            Clock.time += 1
            self._data, self._changed = arrays.now.copy(self._lent), Clock.time

    @property
    def grad(self) -> Any:
        """The gradient, a tensor of the same shape and dtype; None where none can be: of ints, bools and constants.

        >>> x = gradwalk.Tensor([1.0, 2.0])
        >>> x.grad
        Tensor([0.0, 0.0])
        >>> (x * x).sum().backward()
        >>> x.grad
        Tensor([2.0, 4.0])
        """
        held = self._grad
        if held is FREED:
            raise BackwardError(
                f"the gradient of {self._op} of shape {self.shape} was let go as backward() went on, because the graph "
                f"holds more than {KEPT_NUMBERS:,} numbers; call retain_grad() on it, or give it a label, before "
                "backward()"
            )
        if not self._flows:
            return None
        if held.__class__ is not Tensor:
            held = constant(arrays.now.full(self.shape, held, self.dtype) if held.__class__ is float else held)
            held._gradient_of = self
        return modes.top().read(self, "grad", held) if modes.active else held

    @grad.setter
    def grad(self, grad: Any) -> None:
        if modes.active:
            grad = modes.top().write(self, "grad", grad)
        if keepers.keeping:
            self._grad  # noqa: B018 (it is had back from who keeps it)
        if grad is None or (isinstance(grad, (int, float)) and grad == 0):
            self._grad = 0.0
            return
        if not self._flows:
            raise GraphError(f"a tensor of {self.dtype} that carries no gradient cannot be given one")
        new = numbers_in(grad, self.dtype)
        if new.shape != self.shape:
            raise shape_error(f"a gradient of shape {new.shape} was set on a tensor of shape {self.shape}")
        self._grad = grad.to(self.dtype) if isinstance(grad, Tensor) and grad._kind is not None else new

    @property
    def shape(self) -> Shape:
        """How many numbers there are along each dim.

        >>> gradwalk.Tensor([[1.0, 2.0, 3.0]]).shape
        (1, 3)
        """
        return self._data.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> str:
        """`"float64"`, `"float32"`, `"int64"` or `"bool"`.

        >>> gradwalk.Tensor([1.0]).dtype, gradwalk.Tensor([1]).dtype
        ('float64', 'int64')
        """
        return arrays.now.dtype_of(self._data)

    @property
    def requires_grad(self) -> bool:
        """Whether gradient flows here: to every float tensor that was not told otherwise.

        Set to False on a leaf, it makes a constant of it. Set to True on a computed tensor, it makes a leaf of it, as
        it is in PyTorch, where what nobody asked to be differentiated is not remembered.

        >>> gradwalk.Tensor([1.0]).requires_grad, gradwalk.Tensor([1]).requires_grad
        (True, False)
        """
        return self._flows

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        if not isinstance(wanted, bool):
            raise SettingError(f"requires_grad is True or False, not {wanted!r:.60}")
        if wanted and not self.dtype.startswith("float"):
            raise SettingError(
                f"a tensor of {self.dtype} carries no gradient; make it one of floats, as in Tensor(data, "
                "dtype='float64')"
            )
        if keepers.keeping:
            self._data  # noqa: B018 (it is had back from who keeps it, who else would not know)
        if not self.is_leaf:
            if not wanted:
                raise SettingError("requires_grad=False is for leaves; cut a computed tensor off with detach()")
            if any(v._asked for v in reverse.order(self) if v.is_leaf and v.many):
                return  # it leads to parameters, and goes on doing so
            self._kind, self._inputs = None, ()
        self._asked, self._flows = wanted, wanted

    # --- how it was made ---------------------------------------------------------------------------------------------

    @property
    def inputs(self) -> tuple[Any, ...]:
        """What the op was given, in order: tensors, and constants as plain numbers.

        >>> len((gradwalk.Tensor([3.0]) * 2).inputs)
        2
        """
        return self._inputs

    @property
    def operands(self) -> tuple[Any, ...]:
        """What the node was computed from, in order; constants as tensors, which get no gradient.

        >>> [v.shape for v in (gradwalk.Tensor([3.0]) * 2).operands]
        [(1,), ()]
        """
        self._inputs = tuple(map(self._as_node, self._inputs))  # so that a constant is the same tensor each time
        return self._inputs

    @property  # type: ignore[misc]
    def slopes(self) -> tuple[Any, ...]:
        """For each input the linear map that takes an upstream gradient back to it, by `*`; None for a constant.

        >>> x = gradwalk.Tensor([3.0, 4.0])
        >>> ((x * x).slopes[0] * gradwalk.Tensor([1.0, 1.0])).tolist()
        [3.0, 4.0]
        """
        return tuple(Slope(self, i) if _flows_to(x) else None for i, x in enumerate(self.inputs))

    @property
    def local_derivatives(self) -> tuple[Any, ...]:
        """As `slopes`.

        >>> gradwalk.Tensor([3.0]).local_derivatives
        ()
        """
        return self.slopes

    @property
    def _op(self) -> str:
        op = self.primitive
        if op is None:
            return ""
        if op is ops.pow and isinstance(self.inputs[1], float):
            return f"**{self.inputs[1]:g}"
        return op.symbol

    @_op.setter
    def _op(self, text: str) -> None:
        raise GraphError("how a tensor was made cannot be set; an op of your own is made with @gradwalk.op")

    _prev = property(lambda self: set(self.operands))
    _backward = property(lambda self: partial(reverse.push, self))

    def _receive(self, share: Any) -> None:
        if share.__class__ is float:  # nothing arrives
            return
        held = self._grad
        if held.__class__ is float:  # nothing has arrived before
            self._grad = share
        elif held.__class__ is Tensor or share.__class__ is Tensor:
            self._grad = self._as_node(held) + share
        else:
            self._grad = arrays.now.functions["+"](held, share)

    def _as_node(self, x: Any) -> Tensor:
        return x if isinstance(x, Node) else constant(array_of(x))  # type: ignore[return-value]

    def _copied(self, memo: dict[int, Any]) -> Tensor:
        out = constant(arrays.now.copy(self.array))
        out._asked, out._flows, out._grad, out._kind = self._asked, self._flows, self._grad, self.primitive
        out._inputs = tuple([memo.get(id(x), x) for x in self._inputs])
        out._changed = Clock.time
        if self.hooks:
            out._recipe().hooks = list(self.hooks)
        if self._noted() is not None:
            out.label, out.made_at = self.label, self.made_at
        return out

    def __copy__(self) -> Tensor:
        return self._copied({})

    def __reduce_ex__(self, protocol: Any) -> Any:
        if not self.is_leaf:
            raise GraphError(
                f"a tensor that was computed ({self._op} of shape {self.shape}) is not pickled, because its history "
                "would be lost; pickle tensor.detach()"
            )
        held = self._grad
        if held.__class__ is not float:
            held = arrays.now.tolist(arrays.now.reshape(numbers_in(held, self.dtype), (self._data.size,)))
        asked = self._asked if self._flows or not self.dtype.startswith("float") else False
        return _unpickled, (arrays.now.tolist(self.array), self.shape, self.dtype, asked, held, self.label)

    def register_hook(self, hook: Any) -> Hook:
        """Call `hook(gradient)` when this node's gradient is complete; what it returns, if anything, replaces it.

        >>> x = gradwalk.Tensor([3.0])
        >>> handle = x.register_hook(lambda gradient: gradient / 2)
        >>> (x * x).sum().backward()
        >>> x.grad
        Tensor([3.0])
        """
        if not callable(hook):
            raise GraphError(f"a hook is a function of the gradient, not {type(hook).__name__}: {hook!r:.60}")

        def on_arrays(gradient: Any) -> Any:
            as_graph = gradient.__class__ is Tensor
            given = gradient if as_graph else constant(filled(gradient, self))
            if not as_graph:
                given._gradient_of = self
            found = hook(given)
            if found is None:
                return None
            new = numbers_in(found, self.dtype)
            if new.shape != self.shape:
                raise shape_error(f"a hook gave a gradient of shape {new.shape} to a tensor of shape {self.shape}")
            return self._as_node(found) if as_graph else new

        return Hook(self._recipe().hooks, on_arrays)

    def _recipe(self) -> Recipe:
        with self._in_own_hands():
            if not isinstance(self._kind, Recipe):
                self._kind = Recipe(self._kind, self._inputs)
            return self._kind

    def retain_grad(self) -> None:
        """Keep the gradient of this node, however large the graph: small graphs keep them all.

        It is that of the last walk back. PyTorch adds up what several walks bring to such a node.

        >>> gradwalk.Tensor([3.0]).retain_grad()
        """
        if not self.is_leaf:
            self._asked = True

    def explain(self, leaf: Any = None, index: Any = None) -> Any:
        """The gradient of single numbers as sums over paths: of all, of those of one leaf, or of one of its numbers.

        >>> x = gradwalk.Tensor([2.0, 3.0], label="x")
        >>> (x * x).sum().explain(x, index=1)
        x[1].grad = 6: as 1st operand 3 + as 2nd operand 3 = 6
          sum → *[1] → x[1] (1st): 1 × 3 = 3
          sum → *[1] → x[1] (2nd): 1 × 3 = 3
        """
        from gradwalk.tensor.explained import explained  # only whoever asks for it loads it

        return explained(self, leaf, index)

    # --- forward: every op makes a node ------------------------------------------------------------------------------

    def __gradwalk_op__(self, op: Any, operands: tuple[Any, ...]) -> Any:
        if modes.active:
            return modes.top().apply(op, operands)
        if len(operands) != 1 or not self._flows:
            return self.computed(op, operands)
        if self._lent is not None:
            self._look_at_lent()
        x = self._data  # one operand that gradient flows to: most functions have that
        try:
            data = (arrays.made.kernels.get(op) or kernels.kernel(op))(x) if op.__class__ is Op else op.value(x)
        except TypeError:  # the general road says what is missing
            return self.computed(op, operands)
        out = _blank()
        out._data = data
        out._grad = 0.0
        out._kind = op
        out._inputs = operands
        out._changed = Clock.time
        out._mark = out._lent = out._asked = None
        out._flows = True
        return out

    def computed(self, op: Any, operands: tuple[Any, ...]) -> Tensor:
        """An op on operands, one of which is a tensor: computed, and remembered if gradient flows through it.

        >>> gradwalk.Tensor([1.0]).computed(ops.exp, (gradwalk.Tensor([0.0]),))
        Tensor([1.0])
        """
        quick = _of_one_kind(op, operands)
        if quick is not None:
            return quick
        structural = isinstance(op, Entry)
        inputs = tuple([_operand(x, op) for x in operands])
        numbers = [x.array if isinstance(x, Tensor) else x for x in inputs]
        if structural:
            data = op.value(*one_dtype(numbers, op))
        else:
            if len(inputs) != op.arity:
                places = "; t.nonzero(as_tuple=True) gives the places" if op is ops.where else ""
                raise OpError(f"{op.name} takes {op.arity} operand(s) and was given {len(inputs)}{places}")
            numbers, dtype = joined(op, numbers)
            broadcast([x.shape for x in numbers if not isinstance(x, (int, float))], op.symbol)
            data = arrays.now.cast(kernels.kernel(op)(*numbers), dtype)
        return node(op, data, inputs)

    def compared(self, name: str, x: Any, y: Any) -> Tensor:
        """A comparison, number by number; no gradient flows through it.

        >>> gradwalk.Tensor([1.0, 3.0]).compared(">", gradwalk.Tensor([1.0, 3.0]), 2)
        Tensor([False, True])
        """
        numbers = [_operand(z, name) for z in (x, y)]
        found = [z.array if isinstance(z, Tensor) else z for z in numbers]
        broadcast([z.shape for z in found if not isinstance(z, (int, float))], name)
        if name in "&|^":
            kinds = [z.dtype if isinstance(z, Tensor) else type(z).__name__ for z in numbers]
            if any(kind.startswith("float") for kind in kinds):
                raise NotANumberError(f"{name} is for bools and ints, and was given {' and '.join(kinds)}")
            found = [whole(z) if isinstance(z, int) else z for z in found]
        elif name in ("//", "%"):
            refuse_whole_division(name, *found)
        return constant(arrays.now.functions[name](*alike(found)))

    def __gradwalk_choose__(self, yes: Any, no: Any) -> Any:
        return ops.where(self, yes, no)

    def __gradwalk_equal__(self, other: Any) -> Any:
        return self.compared("==", self, other)

    # --- backward: order, seed, push ---------------------------------------------------------------------------------

    def backward(self, gradient: Any = None, *, create_graph: bool = False, retain_graph: Any = None) -> None:
        """Fill `.grad` of every node this one depends on; a tensor of several numbers needs a `gradient` to start from.

        Leaves add to what they hold, once for each call (clear it with `zero_grad`); nodes in between are set anew.
        With `create_graph`, gradients can themselves be differentiated. A graph can always be walked again.

        >>> x = gradwalk.Tensor([1.0, 2.0, 3.0])
        >>> (x * x).sum().backward()
        >>> x.grad
        Tensor([2.0, 4.0, 6.0])
        """
        if not self._flows:
            why = (
                f"it is of {self.dtype}"
                if not self.dtype.startswith("float")
                else "it was computed from constants only"
            )
            raise BackwardError(f"no gradient flows to this tensor of shape {self.shape}: {why}")
        if gradient is None:
            if self._data.size != 1:
                raise BackwardError(
                    f"backward() starts from one number, and this tensor has shape {self.shape}; take its sum() or "
                    "mean(), or give the gradient to start from, of this shape"
                )
            seed: Any = arrays.now.full(self._data.shape, 1.0, self._data.dtype)
        else:
            seed = numbers_in(gradient, self.dtype)
            if seed.shape != self.shape:
                raise shape_error(
                    f"backward was given a gradient of shape {seed.shape} for a tensor of shape {self.shape}"
                )
        walk, start = self._walk_back, seed
        if create_graph:
            walk, start = partial(walk_with_graphs, self), gradient if isinstance(gradient, Tensor) else constant(seed)
        if modes.layers:
            modes.top().backward(self, partial(walk, start))
        else:
            walk(start)

    def reaching(self) -> AbstractContextManager[None]:
        """A block in which slopes push nothing from numbers that this tensor does not depend on.

        >>> x = gradwalk.Tensor([0.0, 4.0])
        >>> y = x.sqrt()
        >>> with y[1].reaching():
        ...     (y.slopes[0] * gradwalk.Tensor([0.0, 1.0])).tolist()
        [0.0, 0.25]
        """
        return reach.reaching(self)

    def _walk_back(self, seed: Any) -> None:
        walk_back(self, seed)

    def zero_grad(self) -> None:
        """Set the gradient back to 0: of this node, and of all that it depends on.

        >>> x = gradwalk.Tensor([1.0])
        >>> (x * x).sum().backward()
        >>> x.zero_grad()
        >>> x.grad
        Tensor([0.0])
        """
        for v in reverse.order(self):
            v._clear()

    def detach(self) -> Tensor:
        """The same numbers as a new leaf: nothing flows back through it.

        >>> x = gradwalk.Tensor([3.0])
        >>> (x * x.detach()).sum().backward()
        >>> x.grad
        Tensor([3.0])
        """
        return modes.top().detach(self) if modes.active else self.detached()

    def detached(self) -> Tensor:
        """What `detach` gives where nobody watches.

        >>> gradwalk.Tensor([3.0]).detached()
        Tensor([3.0])
        """
        out = constant(self.array)
        out._flows = self.dtype.startswith("float")
        return out

    def filled(self, data: Any) -> None:
        """What the constructor does where nobody watches.

        >>> gradwalk.Tensor([3.0]).filled(gradwalk.Tensor([4.0]).array)
        """
        self._data = data


give_operators(Tensor)
_in_place = {f"{_name}_" for _name in {*ops.TABLE, *dir(TensorMethods)} if not _name.startswith("_")}
for _name in {*INSTEAD, *_in_place}.difference(dir(Tensor)):
    setattr(Tensor, _name, LeftOut(_name, instead_of(_name)))


# --- making nodes ----------------------------------------------------------------------------------------------------

_blank = partial(object.__new__, Tensor)  # a Tensor without the cost of __init__


def constant(array: Any) -> Tensor:
    """A leaf that no gradient flows to, around an array that nobody else writes to.

    >>> constant(arrays.now.new([1.0], "float64")).requires_grad
    False
    """
    out = _blank()
    out._data = array
    out._grad = 0.0
    out._kind = out._mark = out._lent = out._asked = None
    out._changed = 0
    out._inputs = ()
    out._flows = False
    return out


def node(op: Any, data: Any, inputs: tuple[Any, ...]) -> Tensor:
    """What an op gives: a node if gradient flows through it, else a constant; under `no_grad()` a leaf.

    >>> node(ops.exp, arrays.now.new([1.0], "float64"), (0.0,)).is_leaf
    True
    """
    out = constant(data)
    flows = any(x.__class__ is not float and _flows_to(x) for x in inputs)
    if flows and arrays.now.dtype_of(data).startswith("float"):
        out._flows = True
        if not modes.active or modes.recording():
            out._kind, out._changed = op, Clock.time
            out._inputs = tuple([float(x) if isinstance(x, int) else x for x in inputs])
        elif _shows_parameter(op, inputs):
            out._part_of = inputs[0]
    return out


def _shows_parameter(op: Any, inputs: tuple[Any, ...]) -> bool:
    """Whether an op shows a part of a leaf that is surely trained, or of such a part."""
    while op.__class__ in VIEWS and not (op.__class__ is Index and op.wholes):
        x = inputs[0]
        if x.is_leaf:
            return x.is_surely_trained or hasattr(x, "_part_of")
        op, inputs = x.primitive, x._inputs
    return False


def _of_one_kind(op: Any, operands: tuple[Any, ...]) -> Tensor | None:
    """What an op gives on float tensors of one dtype and plain floats, as most are; None if they are not."""
    if modes.active and not modes.knows_numbers():
        return None
    numbers: list[Any] = []
    dtype, kind, flows = None, None, False
    for x in operands:
        if x.__class__ is Tensor:
            if x._lent is not None:
                x._look_at_lent()
            data = x._data
            if op is ops.where and not numbers:  # a condition may be of any dtype
                if not arrays.now.is_array(data):
                    return None
            elif dtype is not None and data.dtype is not dtype and (data.__class__ is not kind or data.dtype != dtype):
                return None
            else:
                dtype, kind = data.dtype, data.__class__
            flows = flows or x._flows
            numbers.append(data)
        elif x.__class__ is float and op.__class__ is Op:
            numbers.append(x)
        else:
            return None
    if dtype is None or not arrays.now.is_array(data) or not (name := arrays.now.dtype_of(data)).startswith("float"):
        return None
    try:
        if op.__class__ is not Op:
            data = op.value(*numbers)
        elif len(numbers) != op.arity:
            return None
        else:
            data = (arrays.made.kernels.get(op) or kernels.kernel(op))(*numbers)
            if data.dtype is not dtype:
                data = arrays.now.cast(data, name)
    except ValueError:  # the general road says which shapes do not fit
        return None
    out = constant(data)
    if flows:
        out._flows = True
        if not modes.active or modes.recording():
            out._kind, out._inputs, out._changed = op, operands, Clock.time
        elif _shows_parameter(op, operands):
            out._part_of = operands[0]
    return out


def _flows_to(x: Any) -> bool:
    return x._flows if isinstance(x, Tensor) else isinstance(x, Value)


def _operand(x: Any, op: Any) -> Any:
    """What an op was given: a tensor, or a plain number as it is."""
    if x.__class__ is Tensor or x.__class__ is float:
        if x.__class__ is Tensor and not arrays.now.is_array(x._data):
            raise GraphError(
                f"this tensor's numbers are not in an array of {arrays.now.name}'s, where it is used; make tensors "
                "inside the using_arrays() block they are used in"
            )
        return x
    if isinstance(x, Node):
        return x if isinstance(x, Tensor) else Tensor.of(x)
    if isinstance(x, (bool, int, float)):
        return x if isinstance(x, int) else float(x)
    if isinstance(x, (list, tuple, range)):
        name = op if isinstance(op, str) else op.name
        if hasattr(x, "indices"):
            raise NotANumberError(f"{name} was given values and their indices; take one of them, as in t.max(1).values")
        maker = "gradwalk.stack" if any(isinstance(part, Tensor) for part in x) else "Tensor"
        raise NotANumberError(
            f"{name} was given a {type(x).__name__}; make a tensor of it: {maker}({'[...]' if len(x) > 4 else list(x)})"
        )
    return constant(array_of(x))


def _unpickled(nested: Any, shape: Shape, dtype: str, asked: bool | None, grad: Any, label: str) -> Tensor:
    out = Tensor(arrays.now.reshape(arrays.now.new(nested, dtype), shape), asked, label=label)
    if grad.__class__ is not float:
        out._grad = arrays.now.reshape(arrays.now.new(grad, dtype), shape)
    return out
