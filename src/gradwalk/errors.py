"""Every error that gradwalk raises on purpose, in one tree.

```
GradwalkError
├── NotANumberError        (TypeError)      an operand that is no real number
├── NumberTooLargeError    (OverflowError)  an int that no float can hold
├── GraphError             (ValueError)     children that are no Values, a graph that bites its own tail
├── BackwardError          (RuntimeError)   a walk that failed, with the node where it did
├── OpError                (ValueError)     a user-defined op whose value or derivative cannot be used
├── AnomalyError           (ArithmeticError) the first nan or inf under `anomaly()`
├── InputSizeError         (ValueError)     a layer or a loss given the wrong number of inputs
├── ModelFileError         (ValueError)     a model file that is truncated, foreign or of another shape
├── SettingError           (ValueError)     an option outside what it may be
├── ProgramError           (ValueError)     a program as text that cannot be read, with the line and column
├── TraceError             (RuntimeError)   a function that cannot be compiled as it is written, with the line
├── JobsFailedError        (RuntimeError)   jobs of `parallel.map` that failed, with the results of the others
├── GradientCheckError     (AssertionError) a gradient that does not agree with the function
└── MissingExtraError      (ImportError)    an optional dependency that is not installed
```

Each also is the built-in error that fits, so `except TypeError` and the like go on working.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "AnomalyError",
    "BackwardError",
    "GradientCheckError",
    "GradwalkError",
    "GraphError",
    "InputSizeError",
    "JobsFailedError",
    "MissingExtraError",
    "ModelFileError",
    "NotANumberError",
    "NumberTooLargeError",
    "OpError",
    "ProgramError",
    "SettingError",
    "TraceError",
]


class GradwalkError(Exception):
    """The root of the tree: catch it to catch whatever gradwalk says is wrong.

    >>> try:
    ...     gradwalk.Value("three")
    ... except gradwalk.GradwalkError as error:
    ...     print(type(error).__name__)
    NotANumberError
    """


class NotANumberError(GradwalkError, TypeError):
    """An operand is not a real number.

    >>> gradwalk.Value(1 + 2j)
    Traceback (most recent call last):
    ...
    gradwalk.errors.NotANumberError: a Value holds one real number (int, float, or a NumPy number), not complex: (1+2j)
    """


class NumberTooLargeError(GradwalkError, OverflowError):
    """An int is too large for a float.

    >>> gradwalk.Value(10**400)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    gradwalk.errors.NumberTooLargeError: an int of 1329 bits does not fit a float ...
    """


class GraphError(GradwalkError, ValueError):
    """A graph cannot be walked: children that are no Values, or a cycle.

    >>> gradwalk.Value(1.0, (2.0,))
    Traceback (most recent call last):
    ...
    gradwalk.errors.GraphError: the children of a Value are Values, not float: 2.0; wrap it as Value(2.0)
    """


class BackwardError(GradwalkError, RuntimeError):
    """A backward walk failed at a node, which it names; data and leaf gradients are as they were before.

    >>> a = gradwalk.Value(2.0, label="a")
    >>> out = gradwalk.Value(4.0, (a,), "double", label="out")
    >>> def forgetful():
    ...     a.grad += 2 * upstream
    >>> out._backward = forgetful
    >>> out.backward()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    gradwalk.errors.BackwardError: backward() failed at out = double(a=2): NameError: name 'upstream' is not ...
    """


class OpError(GradwalkError, ValueError):
    """A user-defined op gave something that is no float, or raised.

    >>> @gradwalk.op(lambda x, out: "one")
    ... def same(x):
    ...     return x
    >>> same(gradwalk.Value(3.0))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    gradwalk.errors.OpError: the derivative of same with respect to operand 1 gave str 'one' at (3.0); ...
    """


class AnomalyError(GradwalkError, ArithmeticError):
    """A nan or inf was born under `anomaly()`: the op, its operands and the line that asked for it.

    >>> with gradwalk.anomaly():
    ...     gradwalk.Value(-1.0).log()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    gradwalk.errors.AnomalyError: log(-1) gave nan
      made by ...
    """


class InputSizeError(GradwalkError, ValueError):
    """A layer or a loss was given the wrong number of inputs.

    >>> nn.MLP(2, [4, 1])([1.0, 2.0, 3.0])
    Traceback (most recent call last):
    ...
    gradwalk.errors.InputSizeError: layer 1 of MLP: Layer of 4 ReLU neurons takes 2 inputs and was given 3
    """


class ModelFileError(GradwalkError, ValueError):
    """A model file is truncated, foreign, or of another shape than the model.

    >>> nn.MLP(2, [1]).load("README.md")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    gradwalk.errors.ModelFileError: README.md is not a gradwalk model file...
    """


class SettingError(GradwalkError, ValueError):
    """An option lies outside what it may be.

    >>> nn.MLP(2, [4, 1], activation="rel")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    gradwalk.errors.SettingError: no activation is called 'rel'; there are leaky_relu, linear, relu, ...
    """


class ProgramError(GradwalkError, ValueError):
    """The text of a program cannot be read: what is wrong, where, and what to write instead.

    `reason` is the message without the picture of the line; `line`, `column` and `end_column` count from 1, and are
    None where no single place is to blame.

    >>> gradwalk.program("L = a^2", a=3)
    Traceback (most recent call last):
    ...
    gradwalk.errors.ProgramError: ^ is no part of a program: write ** for a power, as in a**2
      line 1: L = a^2
                   ^
    """

    def __init__(
        self,
        reason: str,
        picture: str = "",
        *,
        line: int | None = None,
        column: int | None = None,
        end_column: int | None = None,
    ) -> None:
        super().__init__(f"{reason}\n{picture}" if picture else reason)
        self.reason = reason
        self.line, self.column, self.end_column = line, column, end_column


class TraceError(GradwalkError, RuntimeError):
    """A function cannot be compiled as it is written: what it does, the line, and what to write instead.

    >>> @gradwalk.compile
    ... def slope(w):
    ...     return (w * w).grad
    >>> slope(gradwalk.Value(1.0))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    gradwalk.errors.TraceError: a gradient was asked for inside a compiled function
      at ...
    """


class JobsFailedError(GradwalkError, RuntimeError):
    """Some jobs of `parallel.map` failed: which, with what setting, and where; the others' results are here too.

    >>> from gradwalk import parallel
    >>> try:
    ...     parallel.map(lambda x: 1 / x, [1.0, 0.0], workers=1)
    ... except JobsFailedError as error:
    ...     error.results[0], error.failures[0].error
    (1.0, 'ZeroDivisionError')
    """

    def __init__(self, message: str, results: list[Any], failures: list[Any]) -> None:
        super().__init__(message, results, failures)
        self.results, self.failures = results, failures

    def __str__(self) -> str:
        return str(self.args[0])


class GradientCheckError(GradwalkError, AssertionError):
    """A gradient does not agree with the function it is said to belong to.

    >>> wrong = gradwalk.op(lambda x, out: 2.001 * x)(lambda x: x * x)
    >>> gradwalk.gradcheck(wrong, [3.0])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    gradwalk.errors.GradientCheckError: ...
    """


class MissingExtraError(GradwalkError, ImportError):
    """An optional dependency is not installed; the message holds the command that installs it.

    >>> raise MissingExtraError.of("matplotlib", extra="plot", wanted_for="drawing plots")
    Traceback (most recent call last):
    ...
    gradwalk.errors.MissingExtraError: drawing plots needs matplotlib: pip install "gradwalk[plot]"
    """

    @classmethod
    def of(cls, module: str, *, extra: str, wanted_for: str) -> MissingExtraError:
        """The error for `module`, which the extra `extra` would bring.

        >>> print(MissingExtraError.of("matplotlib", extra="plot", wanted_for="this"))
        this needs matplotlib: pip install "gradwalk[plot]"
        """
        return cls(f'{wanted_for} needs {module}: pip install "gradwalk[{extra}]"')
