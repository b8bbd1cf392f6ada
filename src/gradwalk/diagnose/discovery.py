"""Looking at someone's engine: its class, its constructor, and the names of its data, gradient and walk."""

from __future__ import annotations

import dis
import inspect
import operator
from collections.abc import Callable, Collection, Iterator, Mapping
from types import FunctionType
from typing import Any

from gradwalk.diagnose.budget import OutOfSteps, lines_limited
from gradwalk.diagnose.vocabulary import BACK, BACKWARD, BINARY, DATA, FILLERS, GRAD, SWITCHES
from gradwalk.messages import say

__all__ = ["NotAnEngine", "find_class"]

PROBE = 2.71828182  # a number that nothing holds by chance
ANOTHER = 7.41421356


class NotAnEngine(Exception):  # noqa: N818 - a finding, told to the learner in a report
    """Nothing that could be judged was found; the message says what was looked for.

    >>> find_class({"x": 1})
    Traceback (most recent call last):
    ...
    gradwalk.diagnose.discovery.NotAnEngine: there is no class Value here, and no other with operators and backward()
    """


def find_class(namespace: Mapping[str, Any], class_name: str = "Value") -> type[Any]:
    """The class to judge: the one of that name, or else the one that most looks like an engine's node.

    >>> class Scalar:
    ...     def __add__(self, other): ...
    ...     def backward(self): ...
    >>> find_class({"Scalar": Scalar, "int": int}).__name__
    'Scalar'
    """
    named = namespace.get(class_name)
    if isinstance(named, type) and (class_name != "Value" or "__init__" in _own(named)):
        return named
    best, most = None, (False, 3)
    alike: list[type[Any]] = []  # as good as the best: of ops that are classes of nodes, all inherit the operators
    for thing in list(namespace.values()):
        if isinstance(thing, type) and thing.__module__ != "builtins":
            operators = sum(method in _own(thing) for method, _ in BINARY.values())
            points = operators + 5 * any(callable(getattr(thing, name, None)) for name in BACKWARD)
            points += 2 * any(part in name for name in _own(thing) for part in ("grad", "back"))
            if (operators > 1, points) > most:  # an op that is a class has a backward, too, and no operators
                best, most, alike = thing, (operators > 1, points), []
            if best is not None and (operators > 1, points) == most:
                alike.append(thing)
    best = next(filter(_holds_a_number, alike), best) if len(alike) > 1 else best
    if best is None and any(isinstance(namespace.get(name), FunctionType) for name in BACKWARD):
        own = (x for x in namespace.values() if isinstance(x, type) and x.__module__ == namespace.get("__name__"))
        best = next((x for x in own if not issubclass(x, BaseException)), None)
    if best is None and isinstance(named, type):
        return named
    if best is None:
        raise NotAnEngine(
            say("there is no class {name} here, and no other with operators and backward()", name=class_name)
        )
    return best


def _holds_a_number(cls: type[Any]) -> bool:
    """Whether a node can be made from a number, and keeps it."""
    try:
        find_data(find_constructor(cls))
    except Exception:
        return False
    return True


def _own(cls: type[Any]) -> set[str]:
    """What a class and its bases define, less what every object has."""
    return {name for base in cls.__mro__ if base is not object for name in vars(base)}


def find_constructor(cls: type[Any]) -> Callable[[float], Any]:
    """How to make a node from a number."""
    failures = []
    number = _number_parameter(cls)
    for arguments in _ways_to_call(cls, number):

        def make(x: float, extra: dict[str, Any] = arguments) -> Any:
            return cls(**{number: x}, **extra) if number else cls(x, **extra)

        try:
            make(PROBE)
        except Exception as error:
            failures.append(error)
        else:
            return make
    first = failures[0]
    why = f"{type(first).__name__}: {first}".removesuffix(": ")
    raise NotAnEngine(say("{name}(2.5) does not work: {why}", name=cls.__name__, why=why)) from first


def _number_parameter(cls: type[Any]) -> str:
    """The parameter that takes the number, where it is not the first; nothing if it is."""
    try:
        names = list(inspect.signature(cls).parameters)
    except (TypeError, ValueError):
        return ""
    if not names or names[0] not in ("name", "label", "op", "id"):
        return ""
    return next((name for name in DATA if name in names), "")


def find_data(make: Callable[[float], Any]) -> str:
    """The attribute in which a node keeps the number that it was made from, exactly or nearly."""
    node, other = make(PROBE), make(ANOTHER)
    names = list(dict.fromkeys((*DATA, *attributes(node))))
    for tolerance in (1e-5, 1.0):  # at second sight also one that is rounded or cut
        for name in names:
            pairs = ((held(node, name), PROBE), (held(other, name), ANOTHER))
            if all(not callable(kept) and _near(kept, x, tolerance) for kept, x in pairs):
                return name
    for name in names:
        kept = held(node, name)
        if isinstance(kept, (list, tuple)) and any(_near(x, PROBE, 1e-5) for x in kept):
            raise NotAnEngine(
                say(
                    "a {name} made from {number} keeps it in a {kind}, `{attribute}`: only engines whose nodes hold "
                    "one number can be judged",
                    name=type(node).__name__,
                    number=PROBE,
                    kind=type(kept).__name__,
                    attribute=name,
                )
            )
    raise NotAnEngine(
        say(
            "a {name} made from {number} keeps that number nowhere: looked for {names} and every other attribute",
            name=type(node).__name__,
            number=PROBE,
            names=", ".join(DATA[:3]),
        )
    )


def find_grad(node: Any, data: str) -> str:
    """The attribute in which a node keeps its gradient."""
    for name in GRAD:
        if name != data and held(node, name, _NOTHING) is not _NOTHING and not inspect.ismethod(held(node, name)):
            return name
    zeros = [name for name in attributes(node) if name != data and _near(held(node, name), 0.0, 1e-9)]
    return zeros[0] if len(zeros) == 1 else GRAD[0]  # it may come with the first walk


def find_backward(cls: type[Any], namespace: Mapping[str, Any], node: Any) -> tuple[str, Callable[[Any], Any]] | None:
    """What the walk is called, and how to start it."""
    for name in BACKWARD:
        found = named_backward(name, cls, namespace, node)
        if found is not None:
            return name, found
    return None


def named_backward(name: str, cls: type[Any], namespace: Mapping[str, Any], node: Any) -> Callable[[Any], Any] | None:
    """How to start the walk of this name: a method, something on each node, or a function beside the class."""
    method = getattr(cls, name, None)
    if callable(method) and not is_unwritten(method):
        seed = (1.0,) if needed_arguments(method, 1) else ()
        return lambda root: getattr(root, name)(*seed)
    function = namespace.get(name)
    if isinstance(function, FunctionType) and not is_unwritten(function):
        return function
    if not callable(method) and callable(held(node, name)):
        return lambda root: getattr(root, name)()
    return None


def is_unwritten(function: Any) -> bool:
    """Whether a function does nothing yet: `pass`, `...`, a docstring, or NotImplementedError."""
    code = getattr(function, "__code__", None)
    if code is None or not set(code.co_names) <= {"NotImplementedError"}:
        return False
    return {step.opname for step in dis.get_instructions(code)} <= _NOTHING_DONE


#: All that Python does in a function that gives a constant, or raises an error at once.
_NOTHING_DONE = frozenset(
    {"RESUME", "NOP", "CACHE", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE", "LOAD_GLOBAL", "PUSH_NULL", "PRECALL",
     "CALL", "RAISE_VARARGS"}
)  # fmt: skip


def find_grad_by_walking(
    make: Callable[[float], Any], start: Callable[[Any], Any], grad: str, files: Collection[str]
) -> str:
    """The attribute that holds 10 and 15 after a walk from 3·2·5, where none has a name that is known.

    An engine that gives its gradients back, or whose walk fails, keeps the name that was guessed.
    """
    for combine in (operator.mul, operator.add):
        try:
            a, b, k = map(make, _LEAVES)
            with lines_limited(files):
                returned = start(combine(combine(a, b), k))
        except (Exception, SystemExit, OutOfSteps):  # then with the next op
            continue
        if hasattr(a, grad) or isinstance(returned, Mapping):
            return grad
        found = _holds_gradients(a, b) if combine is operator.mul else None
        if found:
            return found
        raise NotAnEngine(
            say("no gradient was found: after a walk no attribute of a leaf is called {name}, or holds one", name=grad)
        )
    return grad


_LEAVES = (3.0, 2.0, 5.0)


def _holds_gradients(a: Any, b: Any) -> str | None:
    """The attribute that holds the gradients of a·b·5 at 3 and 2."""
    names = (name for name in attributes(a) if _near(getattr(a, name), 10.0, 1e-5))
    return next((name for name in names if _near(getattr(b, name, None), 15.0, 1e-5)), None)


def find_by_trying(
    cls: type[Any], namespace: Mapping[str, Any], make: Callable[[float], Any], files: Collection[str]
) -> tuple[str, Callable[[Any], Any], str] | None:
    """A walk under a name that nobody thought of, and the gradient's: what leaves 10 and 15 on the factors of 3·2·5."""
    methods = [name for name in dir(cls) if not name.startswith("__")]
    functions = [name for name, x in namespace.items() if isinstance(x, FunctionType)]
    for name in (*methods, *functions):
        if not any(part in name.lower() for part in BACK):
            continue
        try:
            a, b, k = map(make, _LEAVES)
            root = a * b * k
            start = named_backward(name, cls, namespace, root)
            if start is None or (name in methods and needed_arguments(getattr(cls, name), 1)):
                continue
            with lines_limited(files):
                returned = start(root)
        except (Exception, SystemExit, OutOfSteps):  # it was worth a try
            continue
        kept = _holds_gradients(a, b)
        if kept:
            return name, start, kept
        if isinstance(returned, Mapping) and _near(returned.get(a), 10.0, 1e-5) and _near(returned.get(b), 15.0, 1e-5):
            return name, start, GRAD[0]
    return None


def attributes(node: Any) -> list[str]:
    """The names of what a node holds, in a dict or in slots."""
    slots: list[str] = []
    for cls in type(node).__mro__:
        own = getattr(cls, "__slots__", ())
        slots += [own] if isinstance(own, str) else own
    names = dict.fromkeys((*held(node, "__dict__", ()), *slots))
    return [name for name in names if held(node, name, _NOTHING) is not _NOTHING]


_NOTHING = object()


#: Whose operators a class of nodes may inherit with their numbers: `class Value(float)`.
_OF_NUMBERS = ("builtins", "numpy", "decimal", "fractions")


def defines(cls: type[Any], method: str) -> bool:
    """Whether a class has an operator of its own, not that of the numbers which it inherits from.

    >>> class Value(float):
    ...     def __add__(self, other): ...
    >>> defines(Value, "__add__"), defines(Value, "__mul__")
    (True, False)
    """
    return any(method in vars(base) and base.__module__ not in _OF_NUMBERS for base in cls.__mro__)


def held(node: Any, name: str, otherwise: Any = None) -> Any:
    """What a node holds under a name; an engine's own `__getattr__` may raise anything for one that is not there."""
    try:
        return getattr(node, name, otherwise)
    except Exception:
        return otherwise


def _ways_to_call(cls: type[Any], number: str) -> Iterator[dict[str, Any]]:
    """Arguments beside the number that the constructor may want: none, or a filler for each that has no default."""
    try:
        wanted = list(inspect.signature(cls).parameters.values())
        wanted = [p for p in wanted if p.name != number] if number else wanted[1:]
    except (TypeError, ValueError):
        yield {}
        return
    switches = {p.name: True for p in wanted if p.name in SWITCHES}
    needed = [p for p in wanted if p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    yield switches
    for default in ((), None, ""):
        fillers = {
            p.name: next((filler for part, filler in FILLERS.items() if part in p.name.lower()), default)
            for p in needed
        }
        yield {**fillers, **switches}


def needed_arguments(function: Callable[..., Any], given: int = 0) -> list[str]:
    """The parameters of a function, after the first `given`, that have no default."""
    try:
        parameters = list(inspect.signature(function).parameters.values())[given:]
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
    return [p.name for p in parameters if p.default is p.empty and p.kind in kinds]


def _near(kept: Any, number: float, tolerance: float) -> bool:
    try:
        kept = kept.item() if hasattr(kept, "item") else kept  # an array of one number
        return not isinstance(kept, (bool, str)) and abs(float(kept) - number) <= tolerance
    except Exception:
        return False
