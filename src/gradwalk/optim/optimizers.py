"""SGD, Adam and AdamW: what changes parameters once gradients are known. The numbers are those of `torch.optim`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from gradwalk.engine import Value
from gradwalk.errors import SettingError
from gradwalk.keepers import clear, keeper_of
from gradwalk.ops import div
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
    _native: Any = None  # what holds the memory while compiled code has the parameters

    def __init__(self, parameters: Iterable[Value], lr: float) -> None:
        self.parameters = checked_parameters(parameters, type(self).__name__)
        for i, p in enumerate(self.parameters, start=1):
            if p.inputs:
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
        self._lr = at_least_zero("lr", lr)

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
        clear(self.parameters)

    def gradients(self) -> list[float]:
        """The parameters' gradients as floats.

        >>> from gradwalk import Value, optim
        >>> x, y = Value(3.0), Value(4.0)
        >>> (x * y).backward()
        >>> optim.SGD([x, y], lr=0.5).gradients()
        [4.0, 3.0]
        """
        return gradients_of(self.parameters)

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
        check_fit(state, self.state_dict())
        steps = whole("steps", state["steps"], 0)
        memory = {name: one_a_parameter(name, state[name], len(self.parameters)) for name in self.memory}
        fresh = type(self)(self.parameters, **{name: state[name] for name in self.settings})
        vars(self).update(vars(fresh))
        vars(self).update(memory, steps=steps)

    # --- where compiled code has the parameters, it also takes the steps ---------------------------------------------

    def _stepped_natively(self) -> bool:
        if self._native is not None and self._native.stepped(self):  # as the step before
            return True
        owner = keeper_of(self.parameters)
        return owner is not None and bool(owner.step(self))

    def __getattr__(self, name: str) -> Any:
        if name not in type(self).memory or self._native is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self._native.hand_back(self)
        return vars(self)[name]

    def __getstate__(self) -> State:  # for copies and pickles
        if self._native is not None:
            self._native.hand_back(self)
        return vars(self)


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
        self.momentum = at_least_zero("momentum", momentum)
        self.weight_decay = at_least_zero("weight_decay", weight_decay)
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
        if self._stepped_natively():
            return
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
        self.betas = checked_betas(betas)
        self.eps = at_least_zero("eps", eps)
        self.weight_decay = at_least_zero("weight_decay", weight_decay)
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
        if self._stepped_natively():
            return
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
