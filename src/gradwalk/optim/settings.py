"""What optimisers and schedules were given, checked: each error names the setting, what it was, and what it may be."""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from gradwalk import node
from gradwalk.engine import Value
from gradwalk.errors import NotANumberError, NumberTooLargeError, SettingError
from gradwalk.node import Node
from gradwalk.ops import number

State = dict[str, Any]


def checked_parameters(given: Any, taker: str) -> list[Value]:
    """Parameters as a list, if they are: leaves of a model, each once."""
    if hasattr(given, "parameters"):
        kind = type(given).__name__
        raise SettingError(f"{taker} takes the parameters of a model, not the {kind}: write model.parameters()")
    if callable(given):
        raise SettingError(f"{taker} takes a list of parameters, not the function {given!r:.60}: call it with ()")
    if isinstance(given, Node):
        raise SettingError(f"{taker} takes a list of parameters, not one {type(given).__name__}: put it in brackets")
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise SettingError(f"{taker} takes a list of Values, not {type(given).__name__}: {given!r:.60}")
    found = list(given)
    if not found:
        raise SettingError(f"{taker} was given no parameters; give model.parameters() of a model that has some")
    places: dict[int, int] = {}
    for i, p in enumerate(found, start=1):
        if not isinstance(p, Node):
            remedy = "; from named_parameters() take the second of each pair" if isinstance(p, tuple) else ""
            raise SettingError(f"parameter {i} is not a Value but of type {type(p).__name__}: {p!r:.60}{remedy}")
        if places.setdefault(id(p), i) != i:
            raise SettingError(f"parameters {places[id(p)]} and {i} are the same {type(p).__name__}; give each once")
    check_gradients_flow(found)
    return found


def check_gradients_flow(parameters: Iterable[Any]) -> None:
    """Refuse tensors that no gradient flows to, as they are once requires_grad was set to False.

    >>> check_gradients_flow([Value(1.0)])
    """
    for i, p in enumerate(parameters, start=1):
        if p.many and not p.requires_grad:
            raise SettingError(
                f"parameter {i} is a tensor that no gradient flows to; make it one of floats with requires_grad, or "
                "leave it out"
            )


def gradients_of(parameters: list[Value]) -> list[Any]:
    """The gradients as floats: someone may have set an int, and after backward(create_graph=True) they are Values.

    Those of tensors are arrays.
    """
    if any(p.many for p in parameters):
        check_gradients_flow(parameters)
        plain = iter(gradients_of([p for p in parameters if not p.many]))
        return [p.grad.array if p.many else next(plain) for p in parameters]
    found = node.gradients_of(parameters)
    for i, g in enumerate(found) if {*map(type, found)} != {float} else ():
        if g.__class__ is not float:
            try:
                found[i] = g.data if isinstance(g, Value) else number(g)
            except NotANumberError as error:
                raise NotANumberError(f"the gradient of parameter {i + 1}: {error}") from None
    return found


def at_least_zero(name: str, x: Any, *, highest: float = sys.float_info.max) -> float:
    """A setting that is a number from 0 to `highest`."""
    try:
        found = number(x)
    except (NotANumberError, NumberTooLargeError):
        raise SettingError(f"{name} is a number of at least 0, not {type(x).__name__}: {x!r:.60}") from None
    if not 0.0 <= found <= highest:
        raise SettingError(f"{name} is a number of at least 0, not {found:g}")
    return found


def checked_betas(given: Any) -> tuple[float, float]:
    """The two decay rates of Adam."""
    if not isinstance(given, (list, tuple)) or len(given) != 2:
        raise SettingError(f"betas are two numbers, as in (0.9, 0.999), not {given!r:.60}")
    beta1, beta2 = (at_least_zero("each of the betas", beta) for beta in given)
    if beta1 >= 1.0 or beta2 >= 1.0:
        raise SettingError(f"betas lie below 1, as in (0.9, 0.999); these are ({beta1:g}, {beta2:g})")
    return beta1, beta2


def whole(name: str, n: Any, lowest: int) -> int:
    """A setting that counts something."""
    if isinstance(n, bool) or not hasattr(n, "__index__") or operator.index(n) < lowest:
        raise SettingError(f"{name} is a whole number of at least {lowest}, not {n!r:.60}")
    return operator.index(n)


def check_fit(state: Any, own: State) -> None:
    """Whether a state is of the same kind and holds the same names as our own."""
    if not isinstance(state, Mapping):
        raise SettingError(f"a state is a dict as state_dict() gives it, not {type(state).__name__}: {state!r:.60}")
    if state.get("kind") != own["kind"]:
        raise SettingError(f"the state is of kind {state.get('kind')!r:.60}, and this is {own['kind']}")
    missing = [name for name in own if name not in state]
    unexpected = [str(name) for name in state if name not in own]
    if missing or unexpected:
        raise SettingError(f"the state of {own['kind']} lacks {missing} and has {unexpected} too many")


def one_a_parameter(name: str, given: Any, parameters: list[Value]) -> list[Any]:
    """A list that an optimiser keeps, one number for each parameter, or a tensor for a tensor."""
    size = len(parameters)
    if not isinstance(given, (list, tuple)) or len(given) != size:
        amount = len(given) if isinstance(given, (list, tuple)) else repr(given)[:60]
        raise SettingError(f"{name} of the state holds {amount}, and must hold {size}: one for each parameter")
    try:
        return [_kept(x, p) for x, p in zip(given, parameters, strict=True)]
    except NotANumberError as error:
        raise SettingError(f"{name} of the state: {error}") from None


def _kept(x: Any, p: Any) -> Any:
    """What is remembered of one parameter: a number, or a tensor of its shape."""
    if not p.many or isinstance(x, (int, float)):
        return number(x)
    found = type(p)(x, False, dtype=p.dtype)
    if found.shape != p.shape:
        raise SettingError(f"a state for shape {found.shape} was given to a parameter of shape {p.shape}")
    return found
