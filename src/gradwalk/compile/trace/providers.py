"""What gives tensors their arrays while a function is traced, as far as all that do are alike.

Numbers that come later stand in blocks, one by one (`block_arrays.py`), or in arrays as wholes (`whole_arrays.py`).
What is known stays with the provider that was there before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwalk.compile.trace.arrays import TracedArray, parts_in, plain_array
from gradwalk.compile.trace.plain import Number
from gradwalk.compile.trace.traced import Traced
from gradwalk.errors import NotANumberError
from gradwalk.tensor.arrays import BOOL, FLOAT32, FLOAT64, INT64
from gradwalk.tensor.shapes import Shape

if TYPE_CHECKING:
    from gradwalk.compile.trace.tracer import Tracer

__all__ = ["NAMES", "holds_stand_in", "name_of", "parts_of"]


#: The dtypes of tensors that are made of such numbers.
NAMES: dict[type, str] = {float: FLOAT64, int: INT64, bool: BOOL}


class LateProvider:
    """The provider of one trace.

    >>> for by_array in (False, True):
    ...     print(Tracer(by_array=by_array).blocks.full((2,), 1.5, "float64").tolist())
    [1.5, 1.5]
    [1.5, 1.5]
    """

    later: Any  # what its arrays are

    def __init__(self, tracer: Tracer, real: Any) -> None:
        self.tracer = tracer
        self.real = real  # what provides arrays of numbers that are known
        self.name, self.quietly = real.name, real.quietly
        self.on_one: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def is_array(self, x: Any) -> bool:
        return isinstance(x, self.later) or self.real.is_array(x)

    def full(self, shape: Shape, x: Any, dtype: str) -> Any:
        return self.expand(self.new(x, dtype), shape) if isinstance(x, Number) else self.real.full(shape, x, dtype)

    def tolist(self, x: Any) -> Any:
        if not isinstance(x, self.later):
            return self.real.tolist(x)
        return plain_array([*self.stand_ins(x), None], object)[:-1].reshape(x.shape).tolist()

    def same(self, a: Any, b: Any) -> bool:
        return bool(self.real.same(self.told(a), self.told(b)))

    def nonzero(self, x: Any) -> list[Any]:
        found: list[Any] = self.real.nonzero(self.told(self.cast(x, BOOL)) if isinstance(x, self.later) else x)
        return found


def holds_stand_in(x: Any) -> bool:
    """Whether something is a number or an array that comes later, or a list that holds one.

    >>> holds_stand_in([[1.0], 2.0])
    False
    """
    if isinstance(x, (list, tuple)):
        return any(map(holds_stand_in, x))
    return isinstance(x, (Traced, TracedArray))


def parts_of(array: Any) -> list[Any]:
    """The plain numbers of an array of objects, and what stands for such; Values are refused.

    >>> import numpy as np
    >>> parts_of(np.array([[1.0, 2]], object))
    [1.0, 2]
    """
    parts = parts_in(array)
    if any(isinstance(part, Traced) and not isinstance(part, Number) for part in parts):
        raise NotANumberError(
            "an array of objects holds no plain numbers; for an array of Values there is Tensor.of(array)"
        )
    return parts


def name_of(dtype: Any) -> str:
    """What tensors call a dtype of NumPy's: the one of theirs that holds its numbers.

    >>> import numpy as np
    >>> name_of(np.dtype("uint8")), name_of(np.dtype("float16"))
    ('int64', 'float32')
    """
    if dtype.kind == "f":
        return FLOAT64 if dtype.itemsize > 4 else FLOAT32
    return BOOL if dtype.kind == "b" else INT64
