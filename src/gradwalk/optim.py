"""Optimisers, gradient clipping and learning-rate schedules: what changes parameters once gradients are known.

The numbers are those of `torch.optim`, step for step. A gradient that is nan or inf is not hidden: it spoils the
parameter, as it does there.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from gradwalk.engine import Value
from gradwalk.errors import NotANumberError, NumberTooLargeError, SettingError
from gradwalk.ops import div, number
from gradwalk.walk import describe

__all__ = [
    "SGD",
    "Adam",
    "AdamW",
    "CosineSchedule",
    "LinearSchedule",
    "Optimizer",
    "Schedule",
    "clip_grad_norm",
    "clip_grad_value",
]

State = dict[str, Any]


# --- optimisers --------------------------------------------------------------------------------------------------


class Optimizer:
    """What optimisers share: the parameters, the learning rate `lr`, and a state that can be kept and restored.

    To write one of your own, give it a `step()`. Name the keywords of its constructor in `settings`, and its lists
    of a number for each parameter in `memory`: they make up its state.

    >>> from gradwalk import Value, optim
    >>> class SignDescent(optim.Optimizer):
    ...     def step(self):
    ...         for p, g in zip(self.parameters, self.gradients(), strict=True):
    ...             p.data -= self.lr * ((g > 0) - (g < 0))
    >>> x = Value(3.0)
    >>> (x * x).backward()
    >>> SignDescent([x], lr=0.5).step()
    >>> x.data
    2.5
    """

    settings: tuple[str, ...] = ("lr",)
    memory: tuple[str, ...] = ()

    def __init__(self, parameters: Iterable[Value], lr: float) -> None:
        self.parameters = _parameters(parameters, type(self).__name__)
        for i, p in enumerate(self.parameters, start=1):
            if p._inputs():
                raise SettingError(
                    f"parameter {i} was computed from other Values ({describe(p)}), so a change to it would not last; "
                    "give those, or make it a leaf with detach()"
                )
        self.lr = lr
        self.steps = 0  # how many have been taken

    @property
    def lr(self) -> float:
        """The learning rate: how far a step goes. It may be changed at any time.

        >>> from gradwalk import Value, optim
        >>> descent = optim.SGD([Value(1.0)], lr=0.1)
        >>> descent.lr = 0.01
        """
        return self._lr

    @lr.setter
    def lr(self, lr: float) -> None:
        self._lr = _setting("lr", lr)

    def step(self) -> None:
        """Change every parameter according to its gradient.

        >>> from gradwalk import Value, optim
        >>> x = Value(3.0)
        >>> (x * x).backward()
        >>> optim.SGD([x], lr=0.5).step()
        >>> x.data
        0.0
        """
        raise NotImplementedError(f"{type(self).__name__} has no step(); write one, or use SGD, Adam or AdamW")

    def zero_grad(self) -> None:
        """Set the gradient of every parameter back to 0.

        >>> from gradwalk import Value, optim
        >>> x = Value(3.0)
        >>> (x * x).backward()
        >>> optim.SGD([x], lr=0.5).zero_grad()
        >>> x.grad
        0.0
        """
        for p in self.parameters:
            p.grad = 0.0

    def gradients(self) -> list[float]:
        """The parameters' gradients as floats.

        >>> from gradwalk import Value, optim
        >>> x, y = Value(3.0), Value(4.0)
        >>> (x * y).backward()
        >>> optim.SGD([x, y], lr=0.5).gradients()
        [4.0, 3.0]
        """
        return _gradients(self.parameters)

    def state_dict(self) -> State:
        """All that is needed to go on later as if nothing had happened; plain numbers and lists, fit for JSON.

        >>> from gradwalk import Value, optim
        >>> optim.SGD([Value(1.0)], lr=0.1, momentum=0.9).state_dict()["momentum"]
        0.9
        """
        numbers = {name: getattr(self, name) for name in (*self.settings, "steps")}
        return {"kind": type(self).__name__, **numbers, **{name: list(getattr(self, name)) for name in self.memory}}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state that `state_dict` gave; one that does not fit changes nothing.

        >>> from gradwalk import Value, optim
        >>> first, second = (optim.Adam([Value(1.0)], lr=rate) for rate in (0.1, 0.2))
        >>> second.load_state_dict(first.state_dict())
        >>> second.lr
        0.1
        """
        _check_fit(state, self.state_dict())
        steps = _whole("steps", state["steps"], 0)
        memory = {name: _memory(name, state[name], len(self.parameters)) for name in self.memory}
        fresh = type(self)(self.parameters, **{name: state[name] for name in self.settings})
        vars(self).update(vars(fresh))
        vars(self).update(memory, steps=steps)


class SGD(Optimizer):
    """Stochastic gradient descent: against the gradient by `lr`, with momentum, Nesterov's or plain, and weight decay.

    >>> from gradwalk import nn, optim
    >>> model = nn.MLP(2, [4, 1])
    >>> descent = optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    >>> loss = nn.mse(model([1.0, -1.0]), 1.0)
    >>> descent.zero_grad()
    >>> loss.backward()
    >>> descent.step()
    >>> nn.mse(model([1.0, -1.0]), 1.0).data <= loss.data
    True
    """

    settings = ("lr", "momentum", "nesterov", "weight_decay")
    memory = ("velocities",)

    def __init__(
        self,
        parameters: Iterable[Value],
        lr: float,
        *,
        momentum: float = 0.0,
        nesterov: bool = False,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(parameters, lr)
        self.momentum = _setting("momentum", momentum)
        self.weight_decay = _setting("weight_decay", weight_decay)
        self.nesterov = bool(nesterov)
        if nesterov and not self.momentum:
            raise SettingError("nesterov looks ahead along the momentum, which is 0; give momentum=0.9 or the like")
        self.velocities = [0.0] * len(self.parameters)

    def step(self) -> None:
        """Change every parameter according to its gradient.

        >>> from gradwalk import Value, optim
        >>> x = Value(3.0)
        >>> (x * x).backward()
        >>> optim.SGD([x], lr=0.5).step()
        >>> x.data
        0.0
        """
        parameters, moves = self.parameters, self.gradients()
        lr, momentum, decay = self.lr, self.momentum, self.weight_decay
        if decay:
            moves = [g + decay * p.data for p, g in zip(parameters, moves, strict=True)]
        if momentum:
            self.velocities = [momentum * v + g for v, g in zip(self.velocities, moves, strict=True)]
            if self.nesterov:
                moves = [g + momentum * v for v, g in zip(self.velocities, moves, strict=True)]
            else:
                moves = self.velocities
        for p, move in zip(parameters, moves, strict=True):
            p.data -= lr * move
        self.steps += 1


class Adam(Optimizer):
    """Adam: steps scaled by running means of the gradient and of its square; weight decay is added to the gradient.

    >>> from gradwalk import Value, optim
    >>> x = Value(3.0)
    >>> (x * x).backward()
    >>> optim.Adam([x], lr=0.5).step()
    >>> round(x.data, 6)
    2.5
    """

    settings = ("lr", "betas", "eps", "weight_decay")
    memory = ("means", "squares")
    decoupled = False  # whether weight decay shrinks the parameters themselves, past the running means

    def __init__(
        self,
        parameters: Iterable[Value],
        lr: float = 1e-3,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(parameters, lr)
        self.betas = _betas(betas)
        self.eps = _setting("eps", eps)
        self.weight_decay = _setting("weight_decay", weight_decay)
        self.means = [0.0] * len(self.parameters)
        self.squares = [0.0] * len(self.parameters)

    def step(self) -> None:
        """Change every parameter according to its gradient.

        >>> from gradwalk import Value, optim
        >>> x = Value(3.0)
        >>> (x * x).backward()
        >>> optim.AdamW([x], lr=0.5).step()
        >>> round(x.data, 6)
        2.485
        """
        parameters, gradients = self.parameters, self.gradients()
        lr, (beta1, beta2), eps, decay = self.lr, self.betas, self.eps, self.weight_decay
        if decay and self.decoupled:
            for p in parameters:
                p.data *= 1.0 - lr * decay
        elif decay:
            gradients = [g + decay * p.data for p, g in zip(parameters, gradients, strict=True)]
        # m + (g - m)(1 - beta) loses a small g beside a large m when beta is small; g - (g - m)beta then does not.
        new = 1.0 - beta1
        if new < 0.5:
            self.means = [m + new * (g - m) for m, g in zip(self.means, gradients, strict=True)]
        else:
            self.means = [g - (1.0 - new) * (g - m) for m, g in zip(self.means, gradients, strict=True)]
        self.squares = [beta2 * s + (1.0 - beta2) * g * g for s, g in zip(self.squares, gradients, strict=True)]
        self.steps += 1
        # The means start at 0 and so are too small at first; these two make up for it.
        size = lr / (1.0 - beta1**self.steps)
        root = math.sqrt(1.0 - beta2**self.steps)
        for p, mean, square in zip(parameters, self.means, self.squares, strict=True):
            scale = math.sqrt(square) / root + eps
            p.data -= size * mean / scale if scale else div(size * mean, scale)


class AdamW(Adam):
    """Adam with decoupled weight decay: parameters shrink by `lr * weight_decay` of themselves, whatever the gradient.

    >>> from gradwalk import Value, optim
    >>> x = Value(3.0)
    >>> optim.AdamW([x], lr=0.5, weight_decay=0.1).step()
    >>> x.data
    2.8499999999999996
    """

    decoupled = True

    def __init__(
        self,
        parameters: Iterable[Value],
        lr: float = 1e-3,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        super().__init__(parameters, lr, betas=betas, eps=eps, weight_decay=weight_decay)


# --- clipping ----------------------------------------------------------------------------------------------------


def clip_grad_norm(parameters: Iterable[Value], max_norm: float) -> float:
    """Scale all gradients down together until their norm, as one vector, is at most `max_norm`; gives the norm before.

    >>> from gradwalk import Value, optim
    >>> x, y = Value(4.0), Value(3.0)
    >>> (x * y).backward()
    >>> optim.clip_grad_norm([x, y], 1.0)
    5.0
    >>> round(x.grad, 6), round(y.grad, 6)
    (0.6, 0.8)
    """
    limit = _setting("max_norm", max_norm, highest=math.inf)
    found = _parameters(parameters, "clip_grad_norm")
    gradients = _gradients(found)
    norm = math.hypot(*gradients)  # does not overflow where a sum of squares would
    if any(g != g for g in gradients):
        norm = math.nan  # which hypot leaves out if there is also an inf
    factor = limit / (norm + 1e-6)  # torch adds as much, against a norm of 0
    if not factor >= 1.0:  # nan too: a gradient that is nan or inf spoils the others, and so is seen
        for p, g in zip(found, gradients, strict=True):
            p.grad = g * factor
    return norm


def clip_grad_value(parameters: Iterable[Value], limit: float) -> None:
    """Bring every gradient to between `-limit` and `limit`; nan stays nan.

    >>> from gradwalk import Value, optim
    >>> x, y = Value(4.0), Value(0.3)
    >>> (x * y).backward()
    >>> optim.clip_grad_value([x, y], 1.0)
    >>> x.grad, y.grad
    (0.3, 1.0)
    """
    limit = _setting("limit", limit, highest=math.inf)
    found = _parameters(parameters, "clip_grad_value")
    for p, g in zip(found, _gradients(found), strict=True):
        p.grad = limit if g > limit else -limit if g < -limit else g


# --- schedules ---------------------------------------------------------------------------------------------------


class Schedule:
    """What schedules share: from `optimizer.lr` as it is now, each `step()` sets the learning rate of the next one.

    To write one of your own, give it a `rate()`; name the keywords of its constructor in `settings`.

    >>> from gradwalk import Value, optim
    >>> class Halving(optim.Schedule):
    ...     def rate(self, taken):
    ...         return self.base / 2**taken
    >>> descent = optim.SGD([Value(1.0)], lr=0.8)
    >>> schedule = Halving(descent, steps=3)
    >>> schedule.step()
    >>> descent.lr
    0.4
    """

    settings: tuple[str, ...] = ("steps",)

    def __init__(self, optimizer: Optimizer, steps: int) -> None:
        if not isinstance(optimizer, Optimizer):
            kind = type(optimizer).__name__
            raise SettingError(f"a schedule takes an optimiser (SGD, Adam, …), not {kind}: {optimizer!r:.60}")
        self.optimizer = optimizer
        self.base = optimizer.lr
        self.steps = _whole("steps", steps, 1)
        self.taken = 0

    def rate(self, taken: int) -> float:
        """The learning rate after so many steps.

        >>> from gradwalk import Value, optim
        >>> optim.LinearSchedule(optim.SGD([Value(1.0)], lr=0.8), steps=4).rate(1)
        0.6000000000000001
        """
        raise NotImplementedError(f"{type(self).__name__} has no rate(); write one, or use LinearSchedule")

    def step(self) -> None:
        """Set the learning rate for the next step of the optimiser.

        >>> from gradwalk import Value, optim
        >>> descent = optim.SGD([Value(1.0)], lr=0.8)
        >>> schedule = optim.CosineSchedule(descent, steps=2)
        >>> schedule.step()
        >>> descent.lr
        0.4
        """
        self.optimizer.lr = self.rate(self.taken + 1)
        self.taken += 1

    def state_dict(self) -> State:
        """All that is needed to go on later; plain numbers, fit for JSON.

        >>> from gradwalk import Value, optim
        >>> optim.LinearSchedule(optim.SGD([Value(1.0)], lr=0.8), steps=4).state_dict()
        {'kind': 'LinearSchedule', 'steps': 4, 'start': 1.0, 'end': 0.0, 'base': 0.8, 'taken': 0}
        """
        return {
            "kind": type(self).__name__,
            **{name: getattr(self, name) for name in (*self.settings, "base", "taken")},
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state that `state_dict` gave, learning rate included; one that does not fit changes nothing.

        >>> from gradwalk import Value, optim
        >>> first, second = (optim.LinearSchedule(optim.SGD([Value(1.0)], lr=0.8), steps=4) for _ in range(2))
        >>> first.step()
        >>> second.load_state_dict(first.state_dict())
        >>> second.optimizer.lr
        0.6000000000000001
        """
        _check_fit(state, self.state_dict())
        base, taken = _setting("base", state["base"]), _whole("taken", state["taken"], 0)
        rate_before = self.optimizer.lr
        self.optimizer.lr = base
        try:
            fresh = type(self)(self.optimizer, **{name: state[name] for name in self.settings})
            self.optimizer.lr = fresh.rate(taken)
        except BaseException:
            self.optimizer.lr = rate_before
            raise
        vars(self).update(vars(fresh), taken=taken)


class LinearSchedule(Schedule):
    """From `start` times the learning rate to `end` times it, in equal steps, and there it stays.

    With `start=0.0, end=1.0` it warms up.

    >>> from gradwalk import Value, optim
    >>> descent = optim.SGD([Value(1.0)], lr=0.5)
    >>> schedule = optim.LinearSchedule(descent, steps=2)
    >>> for _ in range(3):
    ...     print(descent.lr)
    ...     schedule.step()
    0.5
    0.25
    0.0
    """

    settings = ("steps", "start", "end")

    def __init__(self, optimizer: Optimizer, steps: int, *, start: float = 1.0, end: float = 0.0) -> None:
        super().__init__(optimizer, steps)
        self.start = _setting("start", start)
        self.end = _setting("end", end)
        optimizer.lr = self.rate(0)

    def rate(self, taken: int) -> float:
        """The learning rate after so many steps.

        >>> from gradwalk import Value, optim
        >>> optim.LinearSchedule(optim.SGD([Value(1.0)], lr=0.8), steps=4, end=0.5).rate(4)
        0.4
        """
        return self.base * (self.start + (self.end - self.start) * min(taken, self.steps) / self.steps)


class CosineSchedule(Schedule):
    """Half a cosine wave, from the learning rate down to `lowest` in `steps` steps; further steps climb back up it.

    >>> from gradwalk import Value, optim
    >>> descent = optim.SGD([Value(1.0)], lr=0.5)
    >>> schedule = optim.CosineSchedule(descent, steps=2, lowest=0.1)
    >>> for _ in range(3):
    ...     print(round(descent.lr, 6))
    ...     schedule.step()
    0.5
    0.3
    0.1
    """

    settings = ("steps", "lowest")

    def __init__(self, optimizer: Optimizer, steps: int, *, lowest: float = 0.0) -> None:
        super().__init__(optimizer, steps)
        self.lowest = _setting("lowest", lowest)
        if self.lowest > self.base:
            raise SettingError(f"lowest is {self.lowest:g}, above the learning rate it starts from, {self.base:g}")

    def rate(self, taken: int) -> float:
        """The learning rate after so many steps.

        >>> from gradwalk import Value, optim
        >>> optim.CosineSchedule(optim.SGD([Value(1.0)], lr=0.8), steps=4).rate(2)
        0.4
        """
        return self.lowest + (self.base - self.lowest) * (1.0 + math.cos(math.pi * taken / self.steps)) / 2.0


# --- what was given ----------------------------------------------------------------------------------------------


def _parameters(given: Any, taker: str) -> list[Value]:
    if hasattr(given, "parameters"):
        kind = type(given).__name__
        raise SettingError(f"{taker} takes the parameters of a model, not the {kind}: write model.parameters()")
    if callable(given):
        raise SettingError(f"{taker} takes a list of parameters, not the function {given!r:.60}: call it with ()")
    if isinstance(given, Value):
        raise SettingError(f"{taker} takes a list of parameters, not one Value: put it in brackets")
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise SettingError(f"{taker} takes a list of Values, not {type(given).__name__}: {given!r:.60}")
    found = list(given)
    if not found:
        raise SettingError(f"{taker} was given no parameters; give model.parameters() of a model that has some")
    places: dict[int, int] = {}
    for i, p in enumerate(found, start=1):
        if not isinstance(p, Value):
            remedy = "; from named_parameters() take the second of each pair" if isinstance(p, tuple) else ""
            raise SettingError(f"parameter {i} is no Value but {type(p).__name__}: {p!r:.60}{remedy}")
        if places.setdefault(id(p), i) != i:
            raise SettingError(f"parameters {places[id(p)]} and {i} are the same Value; give each once")
    return found


def _gradients(parameters: list[Value]) -> list[float]:
    return [p.grad if p.grad.__class__ is float else _gradient(p, i) for i, p in enumerate(parameters, start=1)]


def _gradient(p: Value, position: int) -> float:
    """A gradient that is no float: an int that someone set, or a Value after backward(create_graph=True)."""
    try:
        return p.grad.data if isinstance(p.grad, Value) else number(p.grad)
    except NotANumberError as error:
        raise NotANumberError(f"the gradient of parameter {position}: {error}") from None


def _setting(name: str, x: Any, *, highest: float = sys.float_info.max) -> float:
    try:
        found = number(x)
    except (NotANumberError, NumberTooLargeError):
        raise SettingError(f"{name} is a number of at least 0, not {type(x).__name__}: {x!r:.60}") from None
    if not 0.0 <= found <= highest:
        raise SettingError(f"{name} is a number of at least 0, not {found:g}")
    return found


def _betas(given: Any) -> tuple[float, float]:
    if not isinstance(given, (list, tuple)) or len(given) != 2:
        raise SettingError(f"betas are two numbers, as in (0.9, 0.999), not {given!r:.60}")
    beta1, beta2 = (_setting("each of the betas", beta) for beta in given)
    if beta1 >= 1.0 or beta2 >= 1.0:
        raise SettingError(f"betas lie below 1, as in (0.9, 0.999); these are ({beta1:g}, {beta2:g})")
    return beta1, beta2


def _whole(name: str, n: Any, lowest: int) -> int:
    if isinstance(n, bool) or not hasattr(n, "__index__") or operator.index(n) < lowest:
        raise SettingError(f"{name} is a whole number of at least {lowest}, not {n!r:.60}")
    return operator.index(n)


def _check_fit(state: Any, own: State) -> None:
    """Whether a state is of the same kind and holds the same names as our own."""
    if not isinstance(state, Mapping):
        raise SettingError(f"a state is a dict as state_dict() gives it, not {type(state).__name__}: {state!r:.60}")
    if state.get("kind") != own["kind"]:
        raise SettingError(f"the state is of kind {state.get('kind')!r:.60}, and this is {own['kind']}")
    missing = [name for name in own if name not in state]
    unexpected = [str(name) for name in state if name not in own]
    if missing or unexpected:
        raise SettingError(f"the state of {own['kind']} lacks {missing} and has {unexpected} too many")


def _memory(name: str, given: Any, size: int) -> list[float]:
    if not isinstance(given, (list, tuple)) or len(given) != size:
        amount = len(given) if isinstance(given, (list, tuple)) else repr(given)[:60]
        raise SettingError(f"{name} of the state holds {amount}, and must hold {size}: one for each parameter")
    try:
        return [number(x) for x in given]
    except NotANumberError as error:
        raise SettingError(f"{name} of the state: {error}") from None
