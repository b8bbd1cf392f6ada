"""Numbers by chance, the same wherever arrays come from: Python's own generator, one number at a time.

After the same seed the same program gives the same numbers with NumPy and in the page.
"""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradwalk.errors import InputSizeError, SettingError
from gradwalk.tensor import arrays
from gradwalk.tensor.arrays import FLOAT64, INT64, dtype_named
from gradwalk.tensor.core import Tensor
from gradwalk.tensor.functions import as_tensor
from gradwalk.tensor.shapes import held, shape_error, size_of, sizes_of, whole_of

__all__ = ["Generator", "manual_seed", "multinomial", "rand", "randint", "randn", "randperm", "seeded"]


class Generator:
    """A source of numbers by chance with a state of its own.

    >>> g = gradwalk.Generator().manual_seed(42)
    >>> round(gradwalk.rand(1, generator=g).item(), 6)
    0.639427
    """

    def __init__(self) -> None:
        self.source = random.Random(0)

    def manual_seed(self, seed: int) -> Generator:
        """Begin again from a whole number.

        >>> a, b = (gradwalk.randn(3, generator=gradwalk.Generator().manual_seed(7)) for _ in range(2))
        >>> bool((a == b).all())
        True
        """
        try:
            if isinstance(seed, bool):
                raise TypeError
            self.source = random.Random(operator.index(seed))
        except TypeError:
            raise SettingError(f"a seed is a whole number, not {type(seed).__name__}: {seed!r:.60}") from None
        return self


usual = Generator()


def manual_seed(seed: int) -> Generator:
    """Begin the usual source of numbers again from a whole number.

    >>> generator = gradwalk.manual_seed(42)
    >>> round(gradwalk.rand(1).item(), 6)
    0.639427
    """
    return usual.manual_seed(seed)


@contextmanager
def seeded(seed: int) -> Iterator[Generator]:
    """Begin the usual source anew for a while; afterwards it goes on as if nothing had been drawn.

    >>> with seeded(42):
    ...     round(gradwalk.rand(1).item(), 6)
    0.639427
    """
    before = usual.source
    try:
        yield usual.manual_seed(seed)
    finally:
        usual.source = before


def _source(generator: Any) -> random.Random:
    if generator is not None and not isinstance(generator, Generator):
        raise SettingError(f"a generator is made with gradwalk.Generator(), not {type(generator).__name__}")
    return (generator or usual).source


def _made(numbers: list[Any], shape: tuple[int, ...], dtype: Any, requires_grad: Any) -> Tensor:
    return Tensor(arrays.now.reshape(arrays.now.new(numbers, dtype_named(dtype)), shape), requires_grad)


def rand(
    *shape: Any, size: Any = None, generator: Any = None, dtype: Any = FLOAT64, requires_grad: bool | None = None
) -> Tensor:
    """Numbers between 0 and 1, each as likely as any other.

    >>> gradwalk.rand(2, 3).shape
    (2, 3)
    """
    found, draw = sizes_of(shape if size is None else (*shape, size), "rand"), _source(generator).random
    return _made([draw() for _ in range(size_of(found))], found, dtype, requires_grad)


def randn(
    *shape: Any, size: Any = None, generator: Any = None, dtype: Any = FLOAT64, requires_grad: bool | None = None
) -> Tensor:
    """Numbers from a normal distribution of mean 0 and standard deviation 1.

    >>> gradwalk.randn((2, 3)).shape
    (2, 3)
    """
    found, draw = sizes_of(shape if size is None else (*shape, size), "randn"), _source(generator).random
    n = size_of(found)
    numbers: list[float] = []
    while len(numbers) < n:  # Box and Muller: a length and an angle make two numbers
        length, angle = math.sqrt(-2.0 * math.log(1.0 - draw())), 2.0 * math.pi * draw()
        numbers += (length * math.cos(angle), length * math.sin(angle))
    return _made(numbers[:n], found, dtype, requires_grad)


def randint(low: int, high: Any = None, size: Any = None, *, generator: Any = None, dtype: Any = INT64) -> Tensor:
    """Whole numbers from `low` (0 if it is left out) up to, and without, `high`.

    >>> gradwalk.randint(0, 10, (4,)).shape
    (4,)
    """
    if size is None:
        low, high, size = 0, low, high
    try:
        least, most = operator.index(low), operator.index(high)
    except TypeError:
        raise SettingError(
            f"randint takes whole numbers, as in randint(0, 10, (4,)), not {low!r:.20} and {high!r:.20}"
        ) from None
    if most <= least:
        raise SettingError(f"randint from {least} up to {most} has nothing to choose from")
    if least < -(2**63) or most > 2**63:
        raise SettingError(f"randint from {least} up to {most} gives numbers that do not fit int64")
    found = sizes_of(tuple(size) if isinstance(size, (list, tuple)) else (size,), "randint")
    draw = _source(generator).randrange
    return _made([draw(least, most) for _ in range(size_of(found))], found, dtype, None)


def randperm(n: int, *, generator: Any = None) -> Tensor:
    """The numbers from 0 up to `n` in any order.

    >>> sorted(gradwalk.randperm(4).tolist())
    [0, 1, 2, 3]
    """
    count = whole_of(n, "randperm", "a number of places")
    if count < 0:
        raise SettingError(f"randperm takes a number of places of at least 0, not {count}")
    numbers = list(range(*held((count,), "randperm")))
    _source(generator).shuffle(numbers)
    return _made(numbers, (len(numbers),), INT64, None)


def multinomial(shares: Any, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Tensor:
    """Places by chance, each as likely as its share; a row for each row. Without `replacement` each place at most once.

    >>> gradwalk.multinomial([0.0, 1.0], 1).item()
    1
    """
    weights, draw = as_tensor(shares), _source(generator).random
    if weights.ndim not in (1, 2):
        raise shape_error(f"multinomial takes shares, or rows of them, not shape {weights.shape}")
    count = whole_of(num_samples, "multinomial", "a number of samples")
    rows = [weights.tolist()] if weights.ndim == 1 else weights.tolist()
    if count < 1:
        raise SettingError(f"multinomial takes at least 1 sample, not {count}")
    out = []
    for row in rows:
        left = list(row)
        if any(not 0.0 <= x < math.inf for x in left):
            raise SettingError("multinomial takes shares of at least 0, and finite; one is not")
        picked: list[int] = []
        for _ in range(count):
            total = math.fsum(left)
            if total <= 0.0:
                raise InputSizeError(
                    f"multinomial was asked for {count} of {sum(x > 0 for x in row)} places that have a share"
                )
            at, mark = 0, draw() * total
            for i, x in enumerate(left):
                if x > 0.0:
                    at, mark = i, mark - x
                    if mark < 0.0:
                        break
            picked.append(at)
            if not replacement:
                left[at] = 0.0
        out.append(picked)
    return Tensor(out[0] if weights.ndim == 1 else out, dtype=INT64)
