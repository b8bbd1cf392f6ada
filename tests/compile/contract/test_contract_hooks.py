"""Hooks on parameters: called by compiled code as by the plain function, once a walk, with all that it brings.

Hooks here are not linear (they clip, add, square), so that a sum in parts, or a call too many, shows in the gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradwalk
from gradwalk import Tensor, Value, optim
from gradwalk.errors import BackwardError, GraphError, TraceError

pytestmark = pytest.mark.native

Compile = Callable[..., Any]
Program = Callable[[Compile], Any]
PROGRAMS: list[Program] = []


def program(fn: Program) -> Program:
    PROGRAMS.append(fn)
    return fn


def clip(log: list[float]) -> Callable[[float], float]:
    def hook(gradient: float) -> float:
        log.append(gradient)
        return max(-1.0, min(1.0, gradient))

    return hook


def one_more(log: list[float]) -> Callable[[float], float]:
    def hook(gradient: float) -> float:
        log.append(gradient)
        return gradient + 1.0

    return hook


def refuse(gradient: Any) -> None:
    raise ValueError("no")


@program
def two_results(c: Compile) -> Any:
    log: list[Any] = []
    w, v = Value(2.0), Value(3.0)
    f = c(lambda x: w * x * v)
    f(1.0).backward()
    w.register_hook(clip(log))
    found = []
    for _ in range(3):
        (f(0.25) + f(0.5)).backward()
        found.append((w.grad, v.grad))
    return found, log


@program
def a_hook_that_comes_after_the_call(c: Compile) -> Any:
    log: list[Any] = []
    w = Value(2.0)
    f = c(lambda x: w * x)
    loss = f(0.75) + f(0.5)
    w.register_hook(clip(log))
    loss.backward()
    loss.backward()
    return w.grad, log


@program
def a_hook_that_is_removed(c: Compile) -> Any:
    log: list[Any] = []
    found: list[Any] = []
    w = Value(2.0)
    f = c(lambda x: w * x)
    for step in range(14):  # long enough for parameters that are stepped by hand to stay in Python
        w.grad = 0.0
        loss = f(0.5 + step) if step % 2 else f(0.5 + step) + f(0.25)
        if step == 8:
            hook = w.register_hook(clip(log))
        if step == 11:
            hook.remove()
        loss.backward()
        found.append(w.grad)
        w.data -= 0.125 * w.grad
    return found, log


@program
def past_the_results_too(c: Compile) -> Any:
    log: list[Any] = []
    found: list[Any] = []
    w = Value(2.0)
    w.register_hook(clip(log))
    f = c(lambda x: w * x)
    for _ in range(3):
        for loss in (f(0.75) + w * 0.5, w * 0.5 + f(0.75), (w * 0.25 + f(0.5)) * f(0.75)):
            loss.backward()
            found.append(w.grad)
    return found, log


@program
def two_functions(c: Compile) -> Any:
    log: list[Any] = []
    found: list[Any] = []
    w, v = Value(2.0), Value(1.0)
    w.register_hook(clip(log))
    f, g = c(lambda x: w * x), c(lambda x: w * v * x)
    for _ in range(3):
        (f(0.75) + g(0.5)).backward()
        found.append((w.grad, v.grad))
    return found, log


@program
def a_parameter_of_the_other_function(c: Compile) -> Any:
    log: list[Any] = []
    found: list[Any] = []
    w, v = Value(2.0), Value(1.0)
    v.register_hook(one_more(log))
    f, g = c(lambda x: w * x), c(lambda x: w * v * x)
    descent = optim.SGD([w, v], lr=0.125)  # which brings both into one buffer
    for _ in range(3):
        for h in (f, g):
            descent.zero_grad()
            h(1.0).backward()
            found.append((w.grad, v.grad))
            descent.step()
    return found, log


@program
def a_parameter_of_the_other_result(c: Compile) -> Any:
    log: list[Any] = []
    found: list[Any] = []
    w, v = Value(2.0), Value(3.0)
    v.register_hook(one_more(log))
    f = c(lambda x: (w * x, v * x))
    for _ in range(2):
        for first, second in ((1.0, 0.0), (2.0, 0.0), (1.0, 1.0)):
            a, b = f(1.0)
            (a * first + b if second else a * first if first > 1.0 else a).backward()
            found.append((w.grad, v.grad))
    return found, log


@program
def a_parameter_that_is_only_read(c: Compile) -> Any:
    log: list[Any] = []
    w, v = Value(2.0), Value(3.0)
    w.register_hook(one_more(log))
    f, g = c(lambda x: w.data * x * v), c(lambda x: w.detach() * x * v)
    for h in (f, g):
        h(1.0).backward()
        h(2.0).backward()
        (h(1.0) + h(2.0)).backward()
    return w.grad, v.grad, log


@program
def values_as_arguments(c: Compile) -> Any:
    log: list[Any] = []
    found: list[Any] = []
    w = Value(2.0)
    w.register_hook(clip(log))
    f = c(lambda x: w * x)
    for _ in range(3):
        for given in (w * 0.5, f(Value(0.25)), w):
            f(given).backward()
            found.append(w.grad)
    return found, log


@program
def what_a_hook_sees(c: Compile) -> Any:
    log: list[Any] = []
    w, v = Value(2.0), Value(1.0)
    f = c(lambda x: w * v * x)
    w.grad = 0.1  # which would cost digits, were it taken off again
    w.register_hook(lambda gradient: log.append((gradient, w.grad, v.data)))
    (f(0.3) + f(2.0)).backward()
    f(0.3).backward()
    return log, w.grad, v.grad


@program
def in_which_order(c: Compile) -> Any:
    log: list[Any] = []
    w, v = Value(2.0), Value(3.0)
    w.register_hook(lambda gradient: log.append(("w", gradient)))
    v.register_hook(lambda gradient: log.append(("v", gradient)))
    f = c(lambda x: v * x * w)
    for loss in (f(1.0), f(1.0) + w, w * f(1.0) + v):
        loss.backward()
    return log


@program
def a_training(c: Compile) -> Any:
    log: list[Any] = []
    found: list[Any] = []
    w, v = Value(2.0), Value(1.0)
    w.register_hook(clip(log))
    f = c(lambda x: (w * v * x - 3.0) ** 2)
    adam = optim.Adam([w, v], lr=0.1)
    for _ in range(5):
        adam.zero_grad()
        loss = f(0.75) + f(0.5)
        loss.backward()
        adam.step()
        found += [loss.data, w.data, v.data]
    return [round(x, 12) for x in (*found, *log)]


@program
def a_hook_that_raises(c: Compile) -> Any:
    w, v = Value(2.0), Value(1.0)
    f = c(lambda x: w * v * x)
    f(1.0).backward()
    w.register_hook(refuse)
    for loss in (f(2.0), f(1.0) + f(2.0)):
        with pytest.raises(BackwardError, match="ValueError: no"):
            loss.backward()
    return w.grad, v.grad


@program
def a_walk_that_breaks_off_past_the_results(c: Compile) -> Any:
    found: list[Any] = []
    w, u = Value(2.0), Value(5.0)
    f = c(lambda x: w * x)
    f(1.0).backward()
    for loss in (f(3.0) + u, u + f(3.0), f(f(Value(1.0)) + u), (u * f(2.0)) * f(2.0)):
        hook = u.register_hook(refuse)
        with pytest.raises(BackwardError, match="as they were before"):
            loss.backward()
        hook.remove()
        found.append((w.grad, w.data, u.grad))
    return found


@program
def tensors(c: Compile) -> Any:
    log: list[Any] = []
    found: list[Any] = []
    w = Tensor([2.0, 3.0])

    def square(gradient: Any) -> Any:
        log.append(gradient.tolist())
        return gradient * gradient

    w.register_hook(square)
    f = c(lambda x: (w * x).sum())
    for _ in range(3):
        for loss in (f(0.5), f(0.75) + f(0.5), f(0.75) + (w * 0.5).sum()):
            loss.backward()
            found.append(w.grad.tolist())
    return found, log


@program
def tensors_that_break_off(c: Compile) -> Any:
    found: list[Any] = []
    w, u = Tensor([2.0, 3.0]), Tensor([1.0])
    f = c(lambda x: (w * x).sum())
    f(1.0).backward()
    for loss in (f(3.0) + u.sum(), u.sum() + f(3.0)):
        hook = u.register_hook(refuse)
        with pytest.raises(BackwardError, match="as they were before"):
            loss.backward()
        hook.remove()
        found.append((w.grad.tolist(), w.tolist()))
    return found


@program
def clearing_what_lies_behind(c: Compile) -> Any:
    w, t = Value(2.0), Tensor([2.0])
    f, g = c(lambda x: w * x), c(lambda x: (t * x).sum())
    for loss in (f(1.0) * 2.0, g(1.0) * 2.0):
        loss.backward()
        gradwalk.zero_grad(loss)
    return w.grad, t.grad.tolist()


@pytest.mark.parametrize("run", PROGRAMS, ids=lambda run: run.__name__)
def test_as_the_plain_function(run: Program) -> None:
    assert run(gradwalk.compile) == run(lambda fn: fn)


@pytest.mark.parametrize("batch", ["sum", "each"])
def test_once_for_all_samples(batch: str) -> None:
    log: list[Any] = []
    w = Value(2.0)
    w.register_hook(clip(log))
    f = gradwalk.compile(lambda x: w * x, batch=batch)
    f([1.0, 2.0]).backward()
    f([0.25, 0.5]).backward()
    assert (w.grad, log) == (1.75, [3.0, 0.75])


def test_once_for_several_batches() -> None:
    log: list[Any] = []
    w = Value(2.0)
    w.register_hook(clip(log))
    f = gradwalk.compile(lambda x: w * x, batch="sum")
    (f([1.0, 2.0]) + f([3.0, 1.0])).backward()
    assert (w.grad, log) == (1.0, [7.0])


# --- hooks and nodes that fail ---------------------------------------------------------------------------------------


def test_a_hook_that_raises_on_what_compiled_code_gave_is_named() -> None:
    def fail(gradient: Any) -> Any:
        raise LookupError("nothing here")

    w, v = Value(2.0), Tensor([1.0, 2.0])
    functions: dict[str, Callable[[Any], Any]] = {"6": lambda x: w * x, "9": lambda x: (v * x).sum()}
    for number, f in functions.items():
        for factor in (None, 2.0):
            out = gradwalk.compile(f)(3.0)
            out.register_hook(fail)
            with pytest.raises(BackwardError, match=rf"failed at {number}: LookupError"):
                (out if factor is None else out * factor).backward()


def test_what_compiled_code_gave_cannot_be_taken_apart() -> None:
    w = Tensor([1.0, 2.0])
    loss = gradwalk.compile(lambda x: (w * x).sum())(3.0)
    for attempt in (lambda: gradwalk.explain(loss), loss.scalars, (loss * 2.0).scalars):
        with pytest.raises(GraphError, match=r"9 cannot be taken apart.*call fn\.eager"):
            attempt()
    with pytest.raises(GraphError, match=r"computed \(compiled of shape \(\)\) cannot be replaced"):
        loss.data = 1.0
    with pytest.raises(TraceError, match=r"call fn\.eager.*gradwalk\.grad\(fn\)"):
        (loss * 2.0).backward(create_graph=True)
