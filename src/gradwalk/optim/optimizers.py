"""SGD, Adam and AdamW: what changes parameters once gradients are known. The numbers are those of `torch.optim`."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Mapping
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

from gradwalk import modes
from gradwalk.engine import Value
from gradwalk.errors import SettingError
from gradwalk.keepers import Leaves, clear, keeper_of
from gradwalk.node import Node, numbers_of, set_numbers
from gradwalk.optim.loops import apply
from gradwalk.optim.reduction import check_alike, reducer
from gradwalk.optim.settings import (
    State,
    at_least_zero,
    check_fit,
    checked_betas,
    checked_parameters,
    gradients_of,
    one_a_parameter,
    whole,
)
from gradwalk.walk import describe

__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]


def _observable(step: Callable[[Any], None]) -> Callable[[Any], None]:
    """`step()` of a class of optimisers, which observers are told of: once, also where it calls that of its base.

    Gradients are added up over processes before it, once as well.
    """

    @wraps(step)
    def observable(self: Optimizer) -> None:
        if (not modes.layers and self.reduce is None) or self._observed:
            step(self)
            return
        self._observed = True
        try:
            if self.reduce is not None and not self._reduced:
                self.all_reduce()
            modes.top().step(self, partial(step, self))
            self._reduced = False
        finally:
            del self._observed

    return observable


class Remembered:
    """What an optimiser remembers, where the object itself does not have it: then its keeper hands it back.

    A `__getattr__` of the class would do the same, and make every look at any attribute take ten times as long.

    >>> optim.SGD([Value(1.0)], lr=0.1).velocities
    [0.0]
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, optimizer: Any, kind: Any = None) -> Any:
        if optimizer is None:
            return self
        if optimizer._keeper is None:
            raise AttributeError(f"{type(optimizer).__name__!r} object has no attribute {self.name!r}")
        optimizer._keeper.hand_back(optimizer)
        return vars(optimizer)[self.name]


class Optimizer:
    """What optimisers share: the parameters, the learning rate `lr`, and a state that can be kept and restored.

    To write one of your own, give it a rule: a static method `update(p, g, …)` that takes a parameter's number and its
    gradient and gives the new number. Name the keywords of its constructor in `settings`; the rule takes their values
    last. What it remembers of each parameter from step to step, 0 at first, is named in `memory`; the rule takes it
    after the gradient, and gives what to remember after the new number.

    >>> class Signs(optim.Optimizer):
    ...     memory = ("signs",)
    ...     @staticmethod
    ...     def update(p, g, sign, lr):
    ...         sign = 0.5 * sign + (1.0 if g > 0 else -1.0 if g < 0 else 0.0)
    ...         return p - lr * sign, sign
    >>> x = Value(3.0)
    >>> (x * x).backward()
    >>> descent = Signs([x], lr=0.5)
    >>> descent.step()
    >>> x.data, descent.signs
    (2.5, [1.0])

    A parameter that no gradient has reached counts as one whose gradient is 0: momentum and weight decay move it on,
    where PyTorch leaves it alone, as its `grad` is None.

    Several processes can train one model, each on its part of the data: give `reduce` an mpi4py communicator, a group
    of torch.distributed, or a function that adds an array up in place over all of them. Each step then begins with the
    sum of their gradients.

    If a step needs numbers that are worked out from the settings once for all parameters, give them in `constants()`.
    An optimiser that is no rule for single parameters has a `step()` of its own instead.
    """

    settings: tuple[str, ...] = ("lr",)
    memory: tuple[str, ...] = ()
    update: Callable[..., Any] | None = None
    _keeper: Any = None  # what has the memory in place of this object, if something does
    _observed = False  # whether observers were told of the step that is being taken
    reduce: Any = None  # what adds gradients up over processes
    _reduced: bool | None = None  # whether the next step's gradients were added up; None before the first time

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...  # what is named in `memory`

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "step" in vars(cls):
            cls.step = _observable(cls.step)  # type: ignore[method-assign, assignment]

    def __init__(self, parameters: Iterable[Node], lr: float, *, reduce: Any = None) -> None:
        self.parameters: list[Value] = Leaves(checked_parameters(parameters, type(self).__name__))
        if reduce is not None:
            reducer(reduce)  # which refuses what cannot add up
        self.reduce = reduce
        for i, p in enumerate(self.parameters, start=1):
            if not p.is_leaf:
                raise SettingError(
                    f"parameter {i} was computed from other Values ({describe(p)}), so a change to it would not last; "
                    "give those, or make it a leaf with detach()"
                )
        self.lr = lr
        self.steps = 0  # how many have been taken
        for name in self.memory:
            vars(self).setdefault(name, [0.0] * len(self.parameters))

    @property
    def lr(self) -> float:
        """The learning rate: how far a step goes. It may be changed at any time.

        >>> descent = optim.SGD([Value(1.0)], lr=0.1)
        >>> descent.lr = 0.01
        """
        return self._lr

    @lr.setter
    def lr(self, lr: float) -> None:
        self._lr = at_least_zero("lr", lr)

    def step(self) -> None:
        """Change every parameter according to its gradient.

        >>> x = Value(3.0)
        >>> (x * x).backward()
        >>> optim.SGD([x], lr=0.5).step()
        >>> x.data
        0.0
        """
        if (modes.layers or self.reduce is not None) and not self._observed:
            _observed_step(self)
            return
        keeper, constants = self._keeper, self.constants()
        if keeper is None or not keeper.step(self, constants):  # who took the step before
            self._step(constants)
        self.steps += 1

    def _step(self, constants: tuple[float, ...]) -> None:
        update, keeper = self.update, keeper_of(self.parameters)
        if update is None:
            raise NotImplementedError(f"{type(self).__name__} has no step(); write one, or use SGD, Adam or AdamW")
        if keeper is not None and keeper.step(self, constants):
            return
        gradients = self.gradients()
        memory = [getattr(self, name) for name in self.memory]
        for name, column in zip(self.memory, memory, strict=True):
            if len(column) != len(gradients):
                one_a_parameter(name, column, self.parameters)  # which says so
        if any(p.many for p in self.parameters):
            from gradwalk.optim.tensors import apply_to_all

            numbers, *memory = apply_to_all(update, self.parameters, gradients, memory, constants)
            for p, x in zip(self.parameters, numbers, strict=True):
                p.data = x
        else:
            numbers, *memory = apply(update, numbers_of(self.parameters), gradients, memory, constants)
            set_numbers(self.parameters, numbers)
        vars(self).update(zip(self.memory, memory, strict=True))

    def all_reduce(self) -> None:
        """Put the sum over all processes into the gradients. `step()` does it, unless it has been done since the last.

        Call it before something that needs the whole gradient, as `clip_grad_norm` does, and step right after.

        >>> x = Value(3.0)
        >>> def twice(numbers):  # as if another process had the same
        ...     numbers[:] = type(numbers)("d", [2 * number for number in numbers])
        >>> descent = optim.SGD([x], lr=0.5, reduce=twice)
        >>> (x * x).backward()
        >>> descent.all_reduce()
        >>> x.grad
        12.0
        """
        add_up = reducer(self.reduce)
        if self._reduced is None:
            check_alike(add_up, numbers_of(self.parameters))
        keeper = keeper_of(self.parameters)
        if keeper is None or not keeper.all_reduce(self.parameters, add_up):
            gradients = array("d", self.gradients())
            add_up(gradients)
            for p, gradient in zip(self.parameters, gradients, strict=True):
                p.grad = gradient
        self._reduced = True

    def constants(self) -> tuple[float, ...]:
        """What `update` takes after the memory, the same for all parameters: by default the settings.

        It is asked once a step, before the step counts.

        >>> optim.SGD([Value(1.0)], lr=0.1, momentum=0.9).constants()
        (0.1, 0.9, False, 0.0)
        """
        return tuple([getattr(self, name) for name in self.settings])

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradient of every parameter back to 0. PyTorch's `set_to_none` makes no difference here.

        >>> x = Value(3.0)
        >>> (x * x).backward()
        >>> optim.SGD([x], lr=0.5).zero_grad()
        >>> x.grad
        0.0
        """
        keeper = self._keeper
        if keeper is None or not keeper.zero_grad(self.parameters):
            clear(self.parameters)
        if self._reduced:
            self._reduced = False

    def gradients(self) -> list[Any]:
        """The parameters' gradients as floats; those of tensors as arrays.

        >>> x, y = Value(3.0), Value(4.0)
        >>> (x * y).backward()
        >>> optim.SGD([x, y], lr=0.5).gradients()
        [4.0, 3.0]
        """
        return gradients_of(self.parameters)

    def state_dict(self) -> State:
        """All that is needed to go on later as if nothing had happened; plain numbers and lists, fit for JSON.

        >>> optim.SGD([Value(1.0)], lr=0.1, momentum=0.9).state_dict()["momentum"]
        0.9
        """
        numbers = {name: getattr(self, name) for name in (*self.settings, "steps")}
        kept = {name: [x.tolist() if hasattr(x, "many") else x for x in getattr(self, name)] for name in self.memory}
        return {"kind": type(self).__name__, **numbers, **kept}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state that `state_dict` gave; one that does not fit changes nothing.

        >>> first, second = (optim.Adam([Value(1.0)], lr=rate) for rate in (0.1, 0.2))
        >>> second.load_state_dict(first.state_dict())
        >>> second.lr
        0.1
        """
        check_fit(state, self.state_dict())
        steps = whole("steps", state["steps"], 0)
        memory = {name: one_a_parameter(name, state[name], self.parameters) for name in self.memory}
        fresh = type(self)(self.parameters, **{name: state[name] for name in self.settings})
        vars(self).update({name: value for name, value in vars(fresh).items() if name != "reduce"})
        vars(self).update(memory, steps=steps)

    def _leave_to(self, keeper: Any, names: Iterable[str]) -> None:
        """Let a keeper have what is remembered under these names, which may stand in the class or in the object."""
        kind = type(self)
        for name in names:
            found = getattr(kind, name, None)
            if not isinstance(found, Remembered) and not hasattr(type(found), "__set__"):  # as a property has it
                setattr(kind, name, Remembered(name))
        self._keeper = keeper
        for name in names:
            del vars(self)[name]

    def __getstate__(self) -> State:  # for copies and pickles
        if self._keeper is not None:
            self._keeper.hand_back(self)
        return vars(self)


_observed_step = _observable(Optimizer.step)  # most steps nobody observes, and these need no wrapper


class SGD(Optimizer):
    """Stochastic gradient descent: against the gradient by `lr`, with momentum, Nesterov's or plain, and weight decay.

    >>> x = Value(3.0)
    >>> (x * x).backward()
    >>> optim.SGD([x], lr=0.1, momentum=0.9, nesterov=True).step()
    >>> round(x.data, 6)
    1.86
    """

    settings: tuple[str, ...] = ("lr", "momentum", "nesterov", "weight_decay")
    memory: tuple[str, ...] = ("velocities",)

    def __init__(
        self,
        parameters: Iterable[Node],
        lr: float,
        *,
        momentum: float = 0.0,
        nesterov: bool = False,
        weight_decay: float = 0.0,
        reduce: Any = None,
    ) -> None:
        super().__init__(parameters, lr, reduce=reduce)
        self.momentum = at_least_zero("momentum", momentum)
        self.weight_decay = at_least_zero("weight_decay", weight_decay)
        self.nesterov = bool(nesterov)
        if nesterov and not self.momentum:
            raise SettingError("nesterov looks ahead along the momentum, which is 0; give momentum=0.9 or the like")

    @staticmethod
    def update(p: Any, g: Any, velocity: Any, lr: Any, momentum: Any, nesterov: Any, weight_decay: Any) -> Any:
        """The rule: a parameter and its velocity after a step.

        >>> optim.SGD.update(3.0, 4.0, 2.0, lr=0.5, momentum=0.5, nesterov=False, weight_decay=0.0)
        (0.5, 5.0)
        """
        if weight_decay:
            g = g + weight_decay * p
        if momentum:
            velocity = momentum * velocity + g
            g = g + momentum * velocity if nesterov else velocity
        return p - lr * g, velocity


class Adam(Optimizer):
    """Adam: steps scaled by running means of the gradient and of its square; weight decay is added to the gradient.

    >>> x = Value(3.0)
    >>> (x * x).backward()
    >>> optim.Adam([x], lr=0.5).step()
    >>> round(x.data, 6)
    2.5
    """

    settings: tuple[str, ...] = ("lr", "betas", "eps", "weight_decay")
    memory: tuple[str, ...] = ("means", "squares")
    decoupled = False  # whether weight decay shrinks the parameters themselves, past the running means

    def __init__(
        self,
        parameters: Iterable[Node],
        lr: float = 1e-3,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        reduce: Any = None,
    ) -> None:
        super().__init__(parameters, lr, reduce=reduce)
        self.betas = checked_betas(betas)
        self.eps = at_least_zero("eps", eps)
        self.weight_decay = at_least_zero("weight_decay", weight_decay)

    def constants(self) -> tuple[float, ...]:  # noqa: D102 (as for all)
        lr, (beta1, beta2), decay, steps = self.lr, self.betas, self.weight_decay, self.steps + 1
        # The means start at 0 and so are too small at first; `size` and `root` make up for it.
        size, root = lr / (1.0 - beta1**steps), math.sqrt(1.0 - beta2**steps)
        shrink, decay = (1.0 - lr * decay, 0.0) if decay and self.decoupled else (1.0, decay)
        return 1.0 - beta1, beta2, size, root, self.eps, decay, shrink

    @staticmethod
    def update(
        p: Any, g: Any, mean: Any, square: Any, new: Any, beta2: Any, size: Any, root: Any, eps: Any, decay: Any,
        shrink: Any,
    ) -> Any:  # fmt: skip
        """The rule: a parameter and its running means after a step; `new` is the share of the gradient in its mean.

        >>> optim.Adam.update(3.0, 4.0, 0.0, 0.0, 0.5, 0.75, size=1.0, root=0.5, eps=0.0, decay=0.0, shrink=1.0)
        (2.5, 2.0, 4.0)
        """
        if shrink != 1.0:
            p = p * shrink
        if decay:
            g = g + decay * p
        # m + (g - m)(1 - beta) loses a small g beside a large m when beta is small; g - (g - m)beta then does not.
        mean = mean + new * (g - mean) if new < 0.5 else g - (1.0 - new) * (g - mean)
        square = beta2 * square + (1.0 - beta2) * g * g
        return p - size * mean / (math.sqrt(square) / root + eps), mean, square


class AdamW(Adam):
    """Adam with decoupled weight decay: parameters shrink by `lr * weight_decay` of themselves, whatever the gradient.

    >>> x = Value(3.0)
    >>> optim.AdamW([x], lr=0.5, weight_decay=0.1).step()
    >>> x.data
    2.8499999999999996
    """

    decoupled = True

    def __init__(
        self,
        parameters: Iterable[Node],
        lr: float = 1e-3,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
        reduce: Any = None,
    ) -> None:
        super().__init__(parameters, lr, betas=betas, eps=eps, weight_decay=weight_decay, reduce=reduce)
