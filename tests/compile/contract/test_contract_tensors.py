"""Functions of tensors: plain and compiled over several calls, with something changing in between."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
# mypy: disable-error-code="attr-defined,no-any-return,method-assign,assignment,list-item,func-returns-value,operator"
from __future__ import annotations

import copy
import math
import pickle
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from outside_cases import Case, Cases, flat, outcome_of

import gradwalk
from gradwalk import Tensor, Value, nn, no_grad, optim
from gradwalk.compile.trace.limits import FrozenWarning
from gradwalk.errors import GradwalkError, GraphError, TraceError


@dataclass
class Samples:
    x: Any
    y: Any


cases = Cases()
shared: Any = None


def numbers(x: Any) -> Any:
    """The numbers in anything: of what carries no gradient nan, and what it is."""
    if x is None:
        return math.nan
    if isinstance(x, dict):
        return [numbers(part) for part in x.values()]
    if isinstance(x, (list, tuple)):
        return [numbers(part) for part in x]
    if isinstance(x, Tensor):
        return [len(x.dtype), x.requires_grad, *x.shape, x.reshape(-1).tolist()]
    if isinstance(x, np.ndarray):
        return x.tolist()
    return x.data if isinstance(x, Value) else x


def walked(loss: Any, *leaves: Any) -> Any:
    """A loss, and the gradients that a walk back from it gives these leaves, which are cleared first."""
    for v in leaves:
        v.grad = 0.0
    loss.backward()
    return [numbers(loss), *[numbers(v.grad) for v in leaves]]


def tried(act: Any, *args: Any) -> Any:
    """What an action gives, or how long the name of its error is."""
    try:
        return numbers(act(*args))
    except (GradwalkError, TypeError, ValueError, IndexError) as error:
        return len(type(error).__name__)


def tensors() -> tuple[Any, Any]:
    return Tensor([[0.5, -1.0], [2.0, 0.25]]), Tensor([0.1, -0.2])


def squares(compile: Any, w: Any, b: Any) -> Any:
    return compile(lambda x: ((w @ x + b).tanh() ** 2).sum())


# --- numbers of parameters -------------------------------------------------------------------------------------------


@cases.followed
def numbers_are_set_in_every_way(compile):
    w, b = tensors()
    f = squares(compile, w, b)
    x = Tensor([1.0, 2.0], requires_grad=False)
    yield walked(f(x), w, b)
    w.data = w.data * 0.5
    yield walked(f(x), w, b)
    w.data[0, 1] = 3.0
    yield walked(f(x), w, b)
    kept = b.data
    yield walked(f(x), w, b)
    kept[1] = 0.75
    yield walked(f(x), w, b)
    kept -= 0.5
    yield walked(f(x), w, b)
    b.data = [0.0, -0.0]
    kept[0] = 100.0  # which is nobody's any more
    yield walked(f(x), w, b)
    w.data[...] = math.inf
    yield walked(f(x), w, b)


@cases.followed
def gradients_are_read_set_and_added_to(compile):
    w, b = tensors()
    f = squares(compile, w, b)
    for factor in (1.0, 2.0, 3.0):
        f([factor, 1.0] if factor < 0 else np.array([factor, 1.0])).backward()
        yield numbers([w.grad, b.grad])
    w.grad = None
    yield numbers([w.grad, b.grad])
    b.grad = [5.0, 6.0]
    f(np.array([1.0, 1.0])).backward()
    yield numbers([w.grad, b.grad])
    gradwalk.zero_grad(w)
    yield numbers([w.grad, b.grad])


@cases.followed
def a_value_is_a_parameter_and_an_argument(compile):
    t, w = Tensor([1.0, 2.0]), Value(1.5)
    f = compile(lambda x, u: (t * x).sum() * w + u * 0.5)
    for given in (2.0, w, w * 2.0, w):
        f(np.array([1.0, -3.0]), given).backward()  # gradients add up, where the compiled function keeps them
        yield numbers([t.grad, w.grad])


@cases.followed
def a_number_among_the_arguments_is_an_int(compile):
    table, w = nn.Embedding(4, 3), Tensor(2.0)
    table.weight.data = np.arange(12.0).reshape(4, 3)
    row = compile(lambda n: (table(n) * w).sum())
    for n in (2, 1, np.int64(3), 3):
        yield walked(row(n), table.weight, w)


@cases.followed
def numbers_among_the_arguments_are_stacked(compile):
    both = compile(lambda n: gradwalk.stack([n, 2]))
    for x in (1.5, 2, 3, 0.5):
        yield numbers(both(x))


def _trained(optimiser: Any) -> Any:
    def program(compile):
        w, b = tensors()
        v = Value(0.5)
        descent = optimiser([w, v, b])
        f = compile(lambda x: ((w @ x * v + b) ** 2).mean() + v * v)
        x = np.array([1.0, -2.0])
        for step in range(6):
            loss = f(x)
            descent.zero_grad()
            loss.backward()
            if step == 4:
                optim.clip_grad_norm([w, v, b], 0.1)
            descent.step()
            if step % 2:
                yield numbers([loss.item(), w, b, v, [numbers(getattr(descent, name)) for name in descent.memory]])
        yield numbers([w.grad, v.grad, b.grad])
        fresh = optimiser([w, v, b])
        fresh.load_state_dict(descent.state_dict())
        f(x).backward()
        fresh.step()
        yield numbers([w, b, v])

    program.__name__ = f"trained_with_{optimiser.__name__}"
    return program


def descent(parameters: Any) -> Any:
    return optim.SGD(parameters, lr=0.1)


def momentum(parameters: Any) -> Any:
    return optim.SGD(parameters, lr=0.1, momentum=0.9)


def adam(parameters: Any) -> Any:
    return optim.Adam(parameters, lr=0.1)


for _made in (descent, momentum, adam):
    cases.followed(_trained(_made))


@cases.followed
def steps_are_taken_while_somebody_holds_the_array(compile):
    w, b = tensors()
    f, step = squares(compile, w, b), optim.SGD([w, b], lr=0.5)
    x = np.array([1.0, 2.0])
    held = w.data
    for _ in range(3):
        loss = f(x)
        step.zero_grad()
        loss.backward()
        held[0, 0] += 1.0
        step.step()
        yield numbers([loss, held, w, b])
        held = w.data


@cases.followed
def an_optimiser_has_more_than_the_function(compile):
    w, b = tensors()
    other = Tensor([3.0, 4.0])
    f, step = squares(compile, w, b), optim.Adam([w, other, b], lr=0.1)
    for _ in range(3):
        loss = f(np.array([1.0, 2.0]))
        step.zero_grad()
        loss.backward()
        step.step()
        yield numbers([w, other, b])


@cases.followed
def what_shared_the_array_keeps_its_numbers(compile):
    w, b = tensors()
    f, step = squares(compile, w, b), optim.SGD([w, b], lr=0.5)
    before, view, graph = w.detach(), w.numpy(), (w * w).sum()
    f(np.array([1.0, 2.0])).backward()
    step.step()
    yield numbers([before, view, w])
    yield tried(graph.backward)  # it is out of date
    with_view = w.T.detach()
    f(np.array([1.0, 2.0])).backward()
    step.step()
    yield numbers([with_view, w])


@cases.followed
def two_functions_share_parameters(compile):
    w, b = tensors()
    f = squares(compile, w, b)
    g = compile(lambda x: (w * x).sum())
    h = compile(lambda: (b * b).sum())
    for factor in (1.0, 2.0):
        first, second, third = f(np.array([factor, 1.0])), g(factor), h()
        yield [walked(second, w, b), walked(third, w, b), walked(first, w, b)]
        w.data = w.data * 0.9


@cases.followed
def a_model_is_copied_pickled_and_loaded(compile):
    model = nn.Sequential(nn.Linear(2, 3), gradwalk.tanh, nn.Linear(3, 1))
    for i, p in enumerate(model.parameters()):
        p.data = np.linspace(-1.0, 1.0 + i, p.numel()).reshape(p.shape)
    f = compile(lambda x: (model(x) ** 2).sum())
    x = Tensor([[1.0, 2.0], [0.5, -1.0]], requires_grad=False)
    yield walked(f(x), *model.parameters())
    again = copy.deepcopy(model)
    state = pickle.loads(pickle.dumps({name: p.detach() for name, p in model.state_dict().items()}))
    yield numbers([p.grad for p in again.parameters()])
    for p in model.parameters():
        p.data = p.data * 2.0
    yield walked(f(x), *model.parameters())
    model.load_state_dict(state)
    yield walked(f(x), *model.parameters())


# --- parameters and constants that are replaced ----------------------------------------------------------------------


@cases.followed
def a_tensor_in_a_list_is_replaced_by_an_equal_one(compile):
    ws = [Tensor([2.0]), Tensor([3.0])]
    f = compile(lambda x: (ws[0] * x + ws[1]).sum())
    yield walked(f(2.0), *ws)
    ws[0] = Tensor([2.0])
    yield walked(f(2.0), *ws)
    ws[1] = Tensor([3.0])
    yield walked(f(2.0), *ws)


@cases.followed
def a_pair_in_a_list_is_replaced_by_an_equal_one(compile):
    layers = [(Tensor([2.0]), Tensor([3.0]))]
    f = compile(lambda x: sum((w * x + b).sum() for w, b in layers))
    yield walked(f(2.0), *layers[0])
    layers[0] = (Tensor([2.0]), Tensor([3.0]))
    yield walked(f(2.0), *layers[0])


@cases.followed
def an_attribute_is_replaced_by_an_equal_one(compile):
    net = SimpleNamespace(w=Tensor([2.0]), b=Tensor([1.0, 2.0]))
    layer = nn.Linear(1, 1)
    f = compile(lambda x: (net.w * x + net.b).sum() + layer(Tensor([[1.0]])).sum())
    leaves = lambda: (net.w, net.b, layer.weight, layer.bias)  # noqa: E731
    yield walked(f(2.0), *leaves())[1:]
    net.w, layer.bias = Tensor([2.0]), Tensor(layer.bias.detach())
    yield walked(f(2.0), *leaves())[1:]
    net.b = Tensor([1.0, 2.0])
    yield walked(f(2.0), *leaves())[1:]


@cases.followed
def a_global_name_is_bound_anew(compile):
    global shared
    shared = Tensor([2.0])
    f = compile(lambda x: (shared * x).sum())
    yield walked(f(2.0), shared)
    shared = Tensor([2.0])
    yield walked(f(3.0), shared)
    shared = Tensor([1.0, 2.0])
    yield walked(f(3.0), shared)


@cases.traced_often
def a_constant_is_changed_in_every_way(compile):
    w = Tensor([1.0, 2.0])
    c = Tensor([3.0, 4.0], requires_grad=False)
    index = Tensor([0, 1])
    f = compile(lambda: ((w * c)[index] ** 2).sum())
    yield walked(f(), w)
    c.data = [5.0, 6.0]
    yield walked(f(), w)
    c.data[0] = 7.0
    yield walked(f(), w)
    held = c.data
    yield walked(f(), w)
    held[1] = 8.0
    yield walked(f(), w)
    index.data = [1, 1]
    yield walked(f(), w)


@cases.traced_often
def requires_grad_is_switched(compile):
    w, b = tensors()
    f = squares(compile, w, b)
    x = np.array([1.0, 2.0])
    yield walked(f(x), w, b)
    b.requires_grad = False
    w.grad = None
    f(x).backward()
    yield numbers([w.grad, b.grad])
    b.data = [1.0, 1.0]
    yield numbers(f(x))
    b.requires_grad = True
    yield walked(f(x), w, b)
    w.requires_grad = b.requires_grad = False
    yield [numbers(f(x)), tried(lambda: f(x).backward())]


# --- arguments -------------------------------------------------------------------------------------------------------


@cases.followed
def arguments_are_tensors_arrays_lists_and_numbers(compile):
    w = Tensor([1.0, 2.0])
    f = compile(lambda x, k: ((w * x) ** 2).sum() * k)
    given = Tensor([3.0, 4.0])
    yield walked(f(given, 2.0), w, given)
    yield walked(f(np.array([3.0, 4.0]), 2), w)
    yield walked(f(Tensor([3.0, 4.0], requires_grad=False), np.float64(3.0)), w)
    yield walked(f(Tensor([3, 4]), 2.0), w)
    yield walked(f(Tensor([True, False]), 2.0), w)
    yield walked(f(3.0, 2.0), w)
    yield walked(f(Tensor([[3.0, 4.0], [5.0, 6.0]]), 2.0), w)
    value = Value(0.5)
    yield walked(f(given, value), w, given, value)
    yield walked(f(value, given[0]), w, given, value)
    yield tried(lambda: f([3.0, 4.0], 2.0))
    yield tried(lambda: f(np.zeros(3), 2.0))


@cases.followed
def arguments_have_a_graph_behind_them(compile):
    w, x = Tensor([1.0, 2.0]), Tensor([0.5, -0.5])
    f = compile(lambda x: (w * x).tanh())
    for factor in (1.0, 2.0):
        inner = x * factor
        out = f(inner)
        yield [walked((out * out).sum() + inner.sum(), w, x), numbers(inner.grad)]
        yield walked(f(f(inner)).sum(), w, x)
        yield walked(f(w).sum(), w, x)  # a parameter, too


@cases.followed
def one_tensor_is_given_twice(compile):
    f = compile(lambda x, pair: (x * pair["a"] + pair["b"][0]).sum())
    x = Tensor([1.0, 2.0])
    yield walked(f(x, {"a": x, "b": (x * 3.0,)}), x)
    yield walked(f(x, {"a": x, "b": (x,)}), x)


@cases.followed
def numbers_of_results_may_be_anything(compile):
    w, _ = tensors()
    c = Tensor([7.0], requires_grad=False)

    def f(x):
        out = w @ x
        best = out.max(0)
        made = Tensor([1.0, 2.0])
        return {"out": out, "best": best, "large": out > 0, "count": (out > 0).sum(), "w": w, "c": c, "made": made,
                "sum": made + 1.0, "number": out.sum().item(), "shape": out.shape, "again": out, "empty": out[:0],
                "padded": gradwalk.pad(out, (1, 1)), "x": x, "detached": out.detach(), "wide": out.expand(2, 2),
                "turned": w.T}  # fmt: skip

    compiled = compile(f)
    for x in (np.array([1.0, 2.0]), np.array([1.5, -2.0])):
        found = compiled(Tensor(x))
        yield [found["w"] is w, found["c"] is c, found["made"] is not compiled(Tensor(x))["made"]]
        yield numbers([found[name] for name in found if name != "number"])
        for name in ("out", "padded", "wide", "turned"):
            w.grad = None
            found[name].backward(np.arange(found[name].numel()).reshape(found[name].shape) + 1.0)
            yield numbers(w.grad)
        w.grad = None
        found["best"].values.backward()
        found["best"].values.backward()
        yield numbers(w.grad)
        yield [tried(found["out"].backward), tried(found["large"].backward), tried(found["count"].backward)]


@cases.followed
def leaves_are_given_as_leaves(compile):
    """Also by a function that is traced under `no_grad()`, where all results are leaves."""
    w = Tensor([1.0, 2.0])

    def f(x):
        with no_grad():
            quiet = w * x
        full = gradwalk.full((2,), 1.5) * 2.0
        return [w * x, (w * x).detach(), w.detach(), quiet, full.detach(), Tensor(x), x.max(), (w * x).sum().amax()]

    compiled = compile(f)
    with no_grad():
        yield [out.is_leaf for out in compiled(Tensor([3.0, 4.0]))]
    for _ in range(2):
        w.data = w.data * 2.0
        found = compiled(Tensor([3.0, 4.0]))
        yield [numbers(found), *[[out.is_leaf, out.requires_grad] for out in found]]
        descent = optim.SGD([out for out in found if out.is_leaf], lr=0.5)
        sum(out.sum() for out in found).backward()
        descent.step()
        yield [numbers(w.grad), *[numbers([out, out.grad]) for out in descent.parameters]]


@cases.followed_with_a_word
def an_argument_is_updated_in_place(compile):
    """Which a leaf refuses from the call on at which it has a gradient."""
    w = Tensor([1.0, 2.0])

    def f(x):
        x += 1.0
        return (w * x).sum()

    compiled = compile(f)
    x = Tensor([3.0, 4.0])
    for given in (x, x, Tensor([1.0, 1.0]), x * 2.0, Tensor([1.0, 1.0], requires_grad=False)):
        yield tried(lambda given=given: walked(compiled(given), w))
        yield numbers(given)


def asked(f: Any) -> Any:
    """A function of two tensors that asks whether they are the same one, or something of that kind."""

    def program(compile):
        w, x, y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0]), Tensor([3.0, 4.0])
        y.label = "y"
        compiled = compile(lambda x, y: (w * x * y).sum() * f(w, x, y))
        for given in ((x, y), (x, x), (y, x), (w, y)):
            yield walked(compiled(*given), w, x, y)

    program.__name__ = f.__name__
    return cases.followed_with_a_word(program)


@asked
def tensors_are_the_same_one(w, x, y):
    return 1.0 if x is y else 2.0


@asked
def a_tensor_is_a_parameter(w, x, y):
    return 1.0 if x is w else 2.0


@asked
def tensors_are_in_a_list(w, x, y):
    return 1.0 if any(x is part for part in [w, y]) else 2.0


@asked
def tensors_are_in_a_set(w, x, y):
    return len({w, x, y})


@asked
def a_tensor_has_a_label(w, x, y):
    return 1.0 if x.label else 2.0


@cases.followed_with_a_word
def a_tensor_is_looked_for_in_a_list(compile):
    w, x, y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0]), Tensor([3.0, 4.0])
    f = compile(lambda x, y: (w * x).sum() * (2.0 if x in [y] else 3.0))
    for given in ((x, x), (x, y), (y, y)):
        yield tried(lambda given=given: walked(f(*given), w))


@cases.followed
def tensors_are_made_of_numbers_of_numpy(compile):
    f = compile(lambda k: [Tensor(k), Tensor(k * 2), Tensor([k, 1.0]), gradwalk.tensor(k) * 3.0, Tensor([1, 2]) * k])
    for k in (np.float32(0.1), np.float64(0.1), 0.1, np.float32(0.2), np.float16(0.1), 3, np.int8(3), np.float32(0.1)):
        yield numbers(f(k))


@cases.followed
def gradients_of_results_are_cleared_by_those_behind_which_they_lie(compile):
    w = Tensor([1.5, 2.0])
    f = compile(lambda x: [y := w * x, (y * y).sum(), (y * w).float()])
    for x in (2.0, 3.0):
        y, loss, narrow = f(x)
        for cleared in (loss, narrow, y):
            for result in (y, loss, narrow):
                result.sum().backward()
            gradwalk.zero_grad(cleared)
            yield numbers([w.grad, y.grad if cleared is not y else None, loss.grad if cleared is loss else None])


@cases.said
def a_leaf_that_is_given_back_was_used_on(compile):
    w = Tensor([1.0, 2.0])
    f = compile(lambda x: [d := w.detach(), t := Tensor([x, 2.0]), (d * x).sum() + (w * t).sum()])
    for x in (2.0, 3.0):
        d, t, loss = f(x)
        loss.backward()
        yield numbers([w.grad, copy.copy(d).tolist(), d.is_leaf, d.grad, t.grad])


@cases.followed
def a_leaf_that_is_given_back_was_not_used_on(compile):
    w = Tensor([1.0, 2.0])
    f = compile(lambda x: [(w * x).detach(), Tensor([x, 2.0]), (w * x).sum()])
    for x in (2.0, 3.0):
        d, t, loss = f(x)
        loss.backward()
        yield numbers([w.grad, d.grad, t.grad])


@cases.followed_with_a_word
def it_is_asked_how_an_argument_was_made(compile):
    w = Tensor([1.0, 2.0])
    f = compile(lambda x: (w * x).sum() * (1.0 if x.is_leaf else 3.0))
    x = Tensor([3.0, 4.0])
    for given in (x, x * 2.0, x):
        yield walked(f(given), w, x)


@cases.followed_with_a_word
def an_argument_is_made_a_constant(compile):
    w, x = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])

    def f(x):
        x.requires_grad = False
        return (w * x).sum()

    yield walked(compile(f)(x), w)
    yield [x.requires_grad, tried(lambda: compile(f)(Tensor([1.0]) * x))]


@cases.followed
def ints_are_divided_by_zero_at_a_later_call(compile):
    w = Tensor([1.0, 2.0])
    by_number, by_tensor = compile(lambda n: w * (Tensor([4, 7]) // n)), compile(lambda t: w * (7 % t))
    for n in (2, 0, 3, 0, -1):
        yield [tried(by_number, n), tried(by_number, Tensor(n)), tried(by_tensor, Tensor([n, 2]))]
    with no_grad():
        yield tried(by_number, 0)


@cases.followed
def one_trace_serves_a_table_that_is_asked_for_single_things(compile):
    table = nn.Embedding(5, 2)
    table.weight.data = np.arange(10.0).reshape(5, 2)
    row = compile(lambda n: table(n).sum())
    yield [numbers(row(n)) for n in (3, 1, 0, 4)]
    yield [tried(row, n) for n in (5, -1)]
    yield len(row.traces()) == 1 if hasattr(row, "traces") else True


@cases.said
def a_gradient_goes_through_one_result_from_another(compile):
    w = Tensor([1.0, 2.0])
    h, loss = compile(lambda x: [h := (w * x).tanh(), (h * h).sum()])(Tensor([3.0, 4.0]))
    loss.backward()
    yield numbers(h.grad)


@cases.said
def the_same_of_a_value(compile):
    w = Value(1.5)
    h, loss = compile(lambda x: [h := (w * x).tanh(), h * h])(3.0)
    (loss * 2.0).backward()
    yield h.grad


@cases.said
def a_walk_goes_past_a_result_with_a_hook(compile):
    w = Tensor([1.0, 2.0])
    h, loss = compile(lambda x: [h := (w * x).tanh(), (h * h).sum()])(Tensor([0.3, 0.4]))
    h.register_hook(lambda gradient: gradient * 2.0)
    loss.backward()
    yield numbers(w.grad)


@cases.followed
def results_are_walked_back_from_one_after_the_other(compile):
    """Nothing is said of gradients that do not go through another result, nor of hooks that were removed."""
    w, v = Tensor([1.0, 2.0]), Tensor([0.5, -0.5])
    h, loss, other = compile(lambda x: [h := (w * x).tanh(), (h * h).sum(), (v * x).sum()])(Tensor([0.3, 0.4]))
    h.register_hook(lambda gradient: gradient * 2.0).remove()
    other.backward()
    yield numbers([h.grad, loss.grad, other.grad])
    loss.backward()
    yield numbers([loss.grad, other.grad, w.grad, v.grad])


@cases.followed
def hooks_see_and_change_gradients(compile):
    w, b = tensors()
    x = Tensor([1.0, 2.0])
    seen: list[Any] = []
    f = squares(compile, w, b)
    yield walked(f(x), w, b, x)
    handle = w.register_hook(lambda gradient: seen.append(gradient.tolist()) or gradient * 10.0)
    other = x.register_hook(lambda gradient: gradient + 1.0)
    yield [walked(f(x), w, b, x), seen]
    handle.remove()
    loss = f(x)
    loss.register_hook(lambda gradient: gradient * 3.0)
    yield [walked(loss, w, b, x), seen]
    other.remove()
    yield walked(f(x), w, b, x)


@cases.followed
def results_wait(compile):
    w, b = tensors()
    f = squares(compile, w, b)
    first, second = f(np.array([1.0, 2.0])), f(np.array([3.0, 1.0]))
    yield walked(first, w, b)
    yield walked(second, w, b)
    yield walked(first, w, b)
    loss = f(np.array([0.5, 0.5]))
    with no_grad():
        yield numbers(f(np.array([1.0, 2.0])))
    yield walked(loss + loss * 2.0, w, b)
    gradwalk.zero_grad(loss)
    yield numbers([w.grad, b.grad])


# --- decisions -------------------------------------------------------------------------------------------------------

XS = ([1.0, -2.0, 0.5], [-1.0, -2.0, -0.5], [1.0, 2.0, 0.5], [0.0, 0.0, 0.0], [1.0, -2.0, 0.5])


def decided(f: Any) -> Any:
    def program(compile):
        w = Tensor([1.0, 2.0, 3.0])
        compiled = compile(lambda x: f(w * x))
        for x in XS:
            yield walked(compiled(Tensor(x)), w)
        w.data = [1.0, -2.0, 3.0]
        for x in XS:
            yield walked(compiled(np.array(x)), w)

    program.__name__ = f.__name__
    return cases.followed(program)


@decided
def if_the_sum_is_positive(t):
    return (t * t).sum() if t.sum() > 0 else -t.sum()


@decided
def if_an_item_is_positive(t):
    return t.sum() * 2.0 if t[0].item() > t.mean().item() else t.exp().sum()


@decided
def if_all_or_any_are_positive(t):
    out = t.sum()
    if (t > 0).all():
        out = out * 2.0
    if (t > 1.5).any() or not bool(t[1] <= 0):
        out = out + t[0] * t[1]
    return out


@decided
def by_the_largest(t):
    return t[int(t.argmax())] * 2.0 + t[t.argmin().item()] + t.max(0).values * t.max()


@decided
def numbers_above_a_bound(t):
    return (t[t > 0.4] ** 2).sum() + t[(t < 0) & ~(t < -3.0)].sum()


@decided
def until_it_is_small(t):
    n = 0
    while (t * t).sum() > 0.3 and n < 10:
        t, n = t * 0.5, n + 1
    return t.sum() + n


@decided
def by_lists_of_numbers(t):
    return sum(part * k for k, part in enumerate(t) if part.tolist() > 0) + t.sum()


@decided
def by_order(t):
    return (t.sort().values * Tensor([1.0, 10.0, 100.0], requires_grad=False)).sum() + t.topk(2).values[0]


@decided
def masks_that_need_no_decision(t):
    return (gradwalk.where(t > 0, t, t * 0.1) * (t != 2.0)).sum() + (t > 0).double().mean() * t[0]


@decided
def without_gradient_on_the_way(t):
    with no_grad():
        scale = t.abs().sum() + 1.0
    less = t - t.detach().mean() - t.max().detach()
    return (less / scale).sum() + t.softmax(0)[0] + (t / t.norm()).sum() * 0.0 + t.floor().sum() * t[0]


@decided
def with_what_numpy_makes_of_it(t):
    return t.sum() * float(np.sum(t.detach().numpy() > 0)) + (t * t.data).sum() + t[0] * len(f"{t[1].item():.1f}")


@cases.followed
def indices_are_arguments(compile):
    table = Tensor(np.arange(12.0).reshape(4, 3) ** 1.5)
    f = compile(lambda tokens, targets: (table[tokens].tanh()[range(len(targets)), targets] * table[0, 0:1]).sum())
    for tokens, targets in (([0, 1], [2, 0]), ([3, 3], [1, 1]), ([2, 0], [0, 0]), ([-1, 1], [0, -1]), ([1, 2], [1, 2])):
        yield walked(f(tokens, targets), table)
        yield walked(f(Tensor(tokens), np.array(targets)), table)
    yield [tried(lambda i=i: f([i, 0], [0, 0])) for i in (4, -5, 3)]
    one = compile(lambda i: table[i].sum() + table[1:, i].sum())
    yield [walked(one(i), table) for i in (0, 2, 1)] + [tried(one, i) for i in (3, -1)]
    scores = compile(lambda x, y: nn.cross_entropy(x @ table, y))
    for labels in ([0, 2], [1, 1], [2, 0]):
        yield walked(scores(np.array([[0.1, 0.0, 0.2, 0.0], [0.0, 0.1, 0.0, 0.3]]), labels), table)


@cases.followed
def edges_of_numbers(compile):
    w = Tensor([1.0, 1.0, 1.0])
    f = compile(
        lambda x: (1.0 / x, x.log(), x.sqrt(), x.max(), x.relu(), (w * x).softmax(0), gradwalk.clip(x, 0.0, 1.0))
    )
    nan, inf = math.nan, math.inf
    for x in ([1.0, 2.0, 2.0], [0.0, -0.0, -1.0], [nan, 1.0, 2.0], [inf, -inf, 0.0]):
        given = Tensor(x)
        parts = f(given)
        yield numbers(parts)
        for part in parts[:5]:
            given.grad = None
            part.sum().backward()
            yield numbers(given.grad)
    at = compile(lambda x: x.argmax().item() * w.sum())
    for x in ([1.0, nan, 3.0], [1.0, 3.0, 3.0], [nan, 1.0, nan], [1.0, 2.0, 3.0]):
        yield numbers(at(Tensor(x)))


# --- with Values -----------------------------------------------------------------------------------------------------


@cases.followed
def tensors_and_values_together(compile):
    w, v = Tensor([1.0, 2.0]), Value(3.0)
    vs = [Value(1.0), Value(-2.0)]

    def f(x, y):
        both = Tensor.of([vs[0] * x, vs[1] + v])
        return ((v * w + w * x - y / w) @ both).sum() + v * x + (x * w).sum() * (v * 2.0) + both[0] ** v, v * x

    compiled = compile(f)
    for x, y in ((1.0, 2.0), (0.5, -1.0), (3, 1)):
        total, product = compiled(x, y)
        yield walked(total, w, v, *vs)
        yield walked(product, w, v, *vs)
        yield walked(product * 2.0 + product, w, v, *vs)
        given = Value(float(x))
        yield walked(compiled(given, Value(float(y)) * 2.0)[0], w, v, given, *vs)
        v.data = v.data + 0.5


@cases.followed
def it_is_differentiated_from_outside(compile):
    w = Tensor([1.0, 2.0])
    f = compile(lambda x: ((w * x) ** 3).sum())
    x = Tensor([0.5, -1.0])
    yield numbers(gradwalk.grad(f)(x))
    yield numbers(gradwalk.value_and_grad(f)(x))
    yield numbers(gradwalk.grad(gradwalk.grad(lambda x: f(x) * 1.0))(Tensor(0.5)) if False else gradwalk.jacobian(f)(x))
    yield numbers([w.grad, x.grad])


# --- what cannot be compiled -----------------------------------------------------------------------------------------


@cases.followed_with_a_word
def dropout_draws_numbers(compile):
    gradwalk.manual_seed(3)
    w, drop = Tensor(np.ones(20)), nn.Dropout(0.5)
    f = compile(lambda x: drop(w * x).sum())
    for _ in range(4):
        yield walked(f(2.0), w)
    drop.eval()
    yield walked(f(2.0), w)


@cases.followed_with_a_word
def a_generator_of_our_own_draws(compile):
    source = gradwalk.Generator().manual_seed(1)
    w = Tensor([1.0, 2.0])
    f = compile(lambda x: (w * x * gradwalk.rand(2, generator=source)).sum())
    for _ in range(4):
        yield walked(f(2.0), w)


@cases.followed_with_a_word
def batch_norm_keeps_running_means(compile):
    norm = nn.BatchNorm1d(2)
    f = compile(lambda x: (norm(x) ** 3).sum())
    for k in range(3):
        x = Tensor(np.array([[1.0, 2.0], [3.0 + k, 5.0], [0.0, 1.0]]), requires_grad=False)
        yield [walked(f(x), norm.weight, norm.bias), numbers([norm.running_mean, norm.running_var])]


@cases.followed
def batch_norm_in_use(compile):
    norm = nn.BatchNorm1d(2)
    norm.eval()
    f = compile(lambda x: (norm(x) ** 3).sum())
    for k in range(3):
        norm.running_mean.data = [float(k), 1.0]
        yield walked(f(np.array([[1.0, 2.0], [3.0 + k, 5.0]])), norm.weight, norm.bias)


@cases.followed
def single_precision(compile):
    w = Tensor([0.1, 0.2], dtype="float32")
    f = compile(lambda x: (w * x).exp().sum())
    for x in (1.0, 2.0):
        yield walked(f(x), w)


@cases.followed
def nan_is_made_anew_at_each_call(compile):
    w = Tensor([0.1, 0.2, 0.3], dtype="float32")
    f = compile(lambda x: gradwalk.where(x > 0.5, w * x, float("nan")))
    for k in range(6):
        out = f(Tensor([k / 3.0, 1.0, 0.0], dtype="float32"))
        w.grad = None
        out.backward([1.0, 2.0, 3.0])
        yield numbers([out, w.grad])


@cases.followed_with_a_word
def single_precision_in_an_argument(compile):
    w = Tensor([0.1, 0.2])
    f = compile(lambda x: (w * x).exp().sum() + x.sum())
    yield walked(f(Tensor([0.1, 0.2])), w)
    yield numbers(f(Tensor([0.1, 0.2], dtype="float32")))
    yield numbers(f(np.array([0.1, 0.2], np.float32)))


@cases.followed_with_a_word
def numbers_of_a_parameter_are_set_inside(compile):
    w, count = Tensor([1.0, 2.0]), Tensor([0.0])

    def f(x):
        count.data = count + 1.0
        return (w * x * count).sum()

    compiled = compile(f)
    for x in (1.0, 2.0, 3.0):
        yield [numbers(compiled(x)), numbers(count)]


@cases.followed_with_a_word
def a_result_is_kept_for_the_next_call(compile):
    state = SimpleNamespace(h=Tensor([0.0, 0.0], requires_grad=False))
    w = Tensor([1.0, 2.0])

    def f(x):
        state.h = (state.h + w * x).detach()
        return (state.h * w).sum()

    compiled = compile(f)
    for x in (1.0, 2.0, 3.0):
        yield walked(compiled(x), w)


@cases.followed
def a_hidden_copy_of_a_parameter(compile):
    w = Tensor([1.0, 2.0])
    f = compile(lambda x: (copy.deepcopy(w) * x).sum())
    for x in (1.0, 2.0):
        yield numbers(f(x))
        w.data = w.data * 2.0


@cases.said
def a_graph_inside_the_function(compile):
    w = Tensor([1.0, 2.0])

    def f(x):
        loss = (w * x).sum()
        loss.backward()
        return loss

    yield numbers(compile(f)(2.0))


@cases.said
def a_tensor_computed_outside_is_read_by_name(compile):
    w = Tensor([1.0, 2.0])
    twice = w * 2.0
    f = compile(lambda x: (twice * x).sum())
    yield walked(f(2.0), w)


@cases.said
def a_second_derivative_of_a_result(compile):
    w = Tensor([1.0, 2.0])
    loss = compile(lambda x: (w * w * x).sum())(2.0)
    loss.backward(create_graph=True)
    yield numbers(w.grad)


@cases.said
def the_graph_of_a_stand_in(compile):
    w = Tensor([1.0, 2.0])
    yield numbers(compile(lambda x: (w * x).operands[0] * 2.0)(2.0))


@cases.followed
def nothing_of_tensors_but_the_result(compile):
    f = compile(lambda x, y: Tensor.of([x * y, x + y]) * gradwalk.tensor([1.0, 2.0]) + Tensor(x))
    for x in (1.0, 2.0):
        yield numbers(f(x, 3.0))


@cases.followed
def an_optimiser_is_given_and_loses_parameters_between_its_steps(compile):
    w, b = tensors()
    f = squares(compile, w, b)
    descent = optim.SGD([w, b], lr=0.1, momentum=0.9)
    x = Tensor([1.0, 2.0], requires_grad=False)
    f(x).backward()
    descent.step()
    more = Value(3.0)
    descent.parameters.append(more)  # before its memory, which is handed back as it was, is touched
    descent.velocities.append(0.5)
    f(x).backward()
    descent.step()
    yield numbers([w, b, more, descent.velocities])
    del descent.parameters[:2]
    yield numbers(descent.velocities)
    del descent.velocities[:2]
    descent.step()
    yield numbers([w, b, more, descent.velocities])


@cases.followed
def an_optimiser_has_a_list_of_ones_own_in_which_a_tensor_stands_for_an_equal_one(compile):
    w, b = Tensor([1.0]), Tensor([1.0])
    f = compile(lambda x: ((w + 3.0 * b) * x).sum())
    descent = optim.SGD([w], lr=0.5)
    own: list[Any] = [w]
    descent.parameters = own
    f(1.0).backward()
    descent.step()
    b.data = w.data.copy()
    gradwalk.zero_grad(w), gradwalk.zero_grad(b)
    for _ in range(2):
        f(1.0).backward()
    own[0] = b
    descent.step()
    yield numbers([w, b])
    larger = Tensor([1.0, 2.0])
    f(1.0).backward()
    own[0] = larger  # which cannot be compared with one number
    descent.step()
    yield numbers([w, b, larger])


@cases.followed
def a_tensor_of_an_optimisers_is_frozen_and_let_go_again(compile):
    w, b = Tensor([0.1, 0.2]), Tensor([0.0, 0.1])
    descent = optim.SGD([w, b], lr=0.1, momentum=0.9, weight_decay=0.1)
    f = compile(lambda x: ((w * x + b).tanh() ** 2).sum())

    def step():
        descent.zero_grad()
        f(2.0).backward()
        norm = optim.clip_grad_norm(descent.parameters, 0.5)
        descent.step()
        return norm

    yield [tried(step), tried(step), numbers([w, b])]
    w.requires_grad = False
    yield [tried(step), tried(descent.step), numbers([w, b])]
    rest = optim.SGD([b], lr=0.1)
    yield [tried(rest.step), numbers([w, b])]
    w.requires_grad = True
    yield [tried(step), tried(step), numbers([w, b])]


@cases.followed
def a_number_decides_the_dtype_of_a_tensor_and_turns_from_int_to_float(compile):
    c = Tensor([1, 2, 3])
    f = compile(lambda x: [c * x, c - x, gradwalk.where(c > 1, x, 0), gradwalk.full((2,), x), c.maximum(x)])
    g = compile(lambda x, y: [gradwalk.tensor([x, y]), gradwalk.tensor([x > 1, y > 1])])
    for x in (2, 2.0, 2.5, 2):
        yield [numbers(f(x)), numbers(g(x, 3)), numbers(g(3, x)), numbers(g(x, 2.5))]


@cases.followed
def a_list_decides_the_dtype_of_a_tensor_and_turns_from_ints_to_floats(compile):
    c = Tensor([1, 2, 3])
    f = compile(lambda xs: [c * gradwalk.tensor(xs), c * np.array(xs), Tensor(np.array(xs) * 2)])
    for xs in ([1, 2, 3], [1.5, 2.5, 3.5], [1, 2, 3.5], [1, 2, 3]):
        yield numbers(f(xs))


@cases.followed
def arrays_of_numpys_that_were_made_with_a_number_beside_tensors(compile):
    w, a = Tensor([0.1, 0.2, 0.3]), np.array([1, 2, 3])
    made = [
        lambda x: a * x,
        lambda x: np.where(a > 1, a, x),
        lambda x: np.full(3, x),
        lambda x: np.concatenate([a[:2], [x]]),
        lambda x: np.stack([a, a * x])[1],
    ]
    fs = [compile(lambda x, m=m: [(w * m(x)).sum(), w + m(x), gradwalk.tensor(m(x)), w @ m(x)]) for m in made]
    for x in (1.5, 2.5, 2, 1.5):
        yield [[numbers(f(x)[1:]), walked(f(x)[0], w)] for f in fs]


@cases.followed
def arrays_in_a_list_become_a_tensor(compile):
    w = Tensor([0.1, 0.2])
    f = compile(lambda x: (gradwalk.tensor([x, x]) * w).sum())
    for x in (np.array([1.0, 2.0]), np.array([1, 2]), np.array([3.0, 0.5])):
        yield walked(f(x), w)


@cases.followed
def full_of_numpys_numbers(compile):
    f = compile(lambda x: gradwalk.full((2,), x))
    yield [numbers(f(x)) for x in (np.int64(2), np.float64(2.5), np.int64(3), 2.5)]


@cases.followed
def numbers_of_tensors_make_a_tensor_with_plain_ones(compile):
    w = Tensor([1.0, 2.0])
    f = compile(lambda x: [gradwalk.tensor([w[0].detach(), x]), gradwalk.tensor([[x, 1], [w.sum().item(), 2]])])
    yield numbers([f(1), f(2.5)])
    w.data = w.data + 1.0
    yield numbers([f(1), f(2.5)])


@cases.test()
def test_tensors(case: Case) -> None:
    assert outcome_of(case) == case.outcome


def test_a_stand_in_that_escapes_says_so() -> None:
    w, kept = Tensor([1.0, 2.0]), []
    f = gradwalk.compile(lambda x: (kept.append(w * x), (w * x).sum())[1])
    with pytest.warns(match="kept"):
        assert f(2.0).item() == 6.0
    assert kept[-1].tolist() == [2.0, 4.0]  # it is run as it is


def test_tensors_of_plain_python_are_run_as_they_are() -> None:
    with gradwalk.using_arrays("python"):
        w = Tensor([1.0, 2.0])
        f = gradwalk.compile(lambda x: (w * x).sum())
        with pytest.warns(match="not NumPy's"):
            assert f(2.0).item() == 6.0


#: One line each: a function of an argument `x`, made of parameters `w` and `v` and a constant `c`.
LINES: dict[str, Any] = {
    "iter rows": lambda w, v, c: lambda x: sum((r * x).sum() for r in w),
    "unpack": lambda w, v, c: lambda x: (lambda a, b: a * b)(*(w @ x)),
    "in-place style +=": lambda w, v, c: lambda x: [h := w @ x, h := h + v][1].sum(),
    "int()": lambda w, v, c: lambda x: (w @ x).sum() * int((v * v).sum()),
    "len/shape": lambda w, v, c: lambda x: (w @ x).sum() * len(x) / x.shape[0] + x.numel(),
    "f-string": lambda w, v, c: lambda x: (w @ x).sum() * len(f"{(w @ x)}"),
    "format": lambda w, v, c: lambda x: (w @ x).sum() * len(f"{(w @ x).sum():.3f}"),
    "np func on tensor": lambda w, v, c: lambda x: np.exp(w @ x).sum(),
    "np.asarray const": lambda w, v, c: lambda x: (w @ x * np.asarray(c)).sum(),
    "np.asarray param": lambda w, v, c: lambda x: (w @ x * np.asarray(v)).sum(),
    "v.numpy()": lambda w, v, c: lambda x: (w @ x * v.numpy()).sum(),
    "v.tolist()": lambda w, v, c: lambda x: (w @ x * v.tolist()[0]).sum(),
    "isinstance": lambda w, v, c: (
        lambda x: (w @ x).sum() if isinstance(x, Tensor) and isinstance(w @ x, Tensor) else v.sum()
    ),
    "in": lambda w, v, c: lambda x: (w @ x).sum() if 1.0 in x else v.sum(),
    "==": lambda w, v, c: lambda x: (w @ x).sum() if bool((x == c).all()) else v.sum(),
    "requires_grad_": lambda w, v, c: lambda x: (w @ x.detach().requires_grad_()).sum(),
    "clone": lambda w, v, c: lambda x: (w.clone() @ x).sum(),
    "hash dict": lambda w, v, c: lambda x: {w: 2.0}[w] * (w @ x).sum(),
    "dict of traced": lambda w, v, c: lambda x: {(h := w @ x): 2.0}[h] * h.sum(),
    "sorted": lambda w, v, c: lambda x: sorted(w @ x)[0] * 2.0,
    "max builtin": lambda w, v, c: lambda x: max(w @ x) * 2.0,
    "sum builtin": lambda w, v, c: lambda x: sum(w @ x),
    "zip": lambda w, v, c: lambda x: sum(a * b for a, b in zip(w @ x, v, strict=True)),
    "arange": lambda w, v, c: lambda x: (w @ x * gradwalk.arange(2)).sum(),
    "zeros_like": lambda w, v, c: lambda x: (w @ x + gradwalk.zeros_like(x) + gradwalk.ones_like(w @ x)).sum(),
    "full": lambda w, v, c: lambda x: (w @ x + gradwalk.full((2,), x[0].item())).sum(),
    "stack cat": lambda w, v, c: (
        lambda x: (
            gradwalk.stack([w @ x, v, x, c]).sum(0).prod() if False else gradwalk.cat([w @ x, v, x, c]).tanh().sum()
        )
    ),
    "put": lambda w, v, c: lambda x: (w @ x).put(0, x[1] * v[0]).exp().sum(),
    "gather arg": lambda w, v, c: lambda x: w.gather(1, gradwalk.tensor([[0], [1]])).sum() * x.sum(),
    "einsum": lambda w, v, c: lambda x: gradwalk.einsum("ij,j,j->i", w, x, c).sum(),
    "vector result": lambda w, v, c: lambda x: w @ x,
    "tuple result": lambda w, v, c: lambda x: ((w @ x).sum(), w @ x, (w @ x) > 0, (w @ x).argmax()),
    "returns arg": lambda w, v, c: lambda x: x,
    "returns param": lambda w, v, c: lambda x: w,
    "std norm": lambda w, v, c: lambda x: (w @ x).std() + (x - x).norm() + w.var(),
    "empty": lambda w, v, c: lambda x: (w[:, :0] @ x[:0]).sum() + w.sum(),
    "0-d": lambda w, v, c: lambda x: x[0] * v[1] + w[0, 0],
    "mul bool": lambda w, v, c: lambda x: ((w @ x > 0) * v).sum() + (~(x > 0)).double().sum(),
    "floordiv mod": lambda w, v, c: lambda x: (w @ x).sum() * ((x // 0.7).sum() + (x % 0.3).sum()),
    "pow neg": lambda w, v, c: lambda x: ((w @ x) ** -2).sum() + (2.0**x).sum() + (x.abs() ** v).sum(),
    "ndarray left": lambda w, v, c: lambda x: (np.ones((2, 2)) @ w @ x + np.float64(2) * v).sum(),
    "items loop": lambda w, v, c: lambda x: sum(float(i) * h for i, h in enumerate((w @ x).unbind())),
    "np.array param": lambda w, v, c: lambda x: (w @ x * np.array(v)).sum(),
    "np.array arg": lambda w, v, c: lambda x: (w @ np.array(x)).sum(),
    "__class__": lambda w, v, c: (
        lambda x: (w @ x).sum() if x.__class__ is Tensor and (w @ x).__class__ is Tensor else v.sum()
    ),
    "no_grad detach loop": lambda w, v, c: lambda x: sum((w @ x * k).detach().sum() * v.sum() for k in (1, 2)),
    "Tensor(w)": lambda w, v, c: lambda x: (Tensor(w) @ x * v).sum() + (w @ Tensor(x)).sum(),
    "Tensor(x,False)": lambda w, v, c: lambda x: (Tensor(x, False) * v * x).sum() + (w @ Tensor(w @ x, False)).sum(),
    "deepcopy": lambda w, v, c: lambda x: (copy.deepcopy(w) @ x * v).sum(),
    "deepcopy traced": lambda w, v, c: lambda x: (copy.deepcopy((w @ x).detach()) * v).sum(),
    "item of arg": lambda w, v, c: (
        lambda x: (x[0].item() * w @ x).sum() + x.tolist()[1] * v.sum() + (x.numpy() * x).sum()
    ),
    "softmax size 1": lambda w, v, c: (
        lambda x: (
            x.unsqueeze(1).softmax(1).sum() + x.unsqueeze(1).logsumexp(1).sum() + (x.unsqueeze(1).amax(1) * v).sum()
        )
    ),
    "value detach": lambda w, v, c: lambda x: ((w @ x).detach() * x).sum() + (x.detach() * x).sum(),
    "floor sign arg": lambda w, v, c: lambda x: ((x * 1.5).floor() * v).sum() + (x.sign() * x).sum(),
    "max min arg": lambda w, v, c: lambda x: x.max(0).values * x.min(0).values + x.max() * x.amin(),
}


def test_one_line_each() -> None:
    for name, make in LINES.items():
        worlds = []
        for compile in (lambda f: f, gradwalk.compile):
            w, v = Tensor([[0.5, -1.0], [2.0, 0.25]]), Tensor([1.0, 2.0])
            f = compile(make(w, v, Tensor([3.0, 4.0], requires_grad=False)))
            seen = []
            for numbers_of_x in ([1.0, 2.0], [-1.0, 0.5], [1.0, 2.0], [0.5, 0.5]):
                x = Tensor(numbers_of_x)
                w.grad = v.grad = None
                out = f(x)
                first = out[0] if isinstance(out, tuple) else out
                first.backward(np.ones(first.shape))
                seen.append(numbers([out, w.grad, v.grad, x.grad]))
                v.data = v.data + 0.3
            worlds.append(flat(seen))
        assert worlds[1] == pytest.approx(worlds[0], rel=1e-12, abs=1e-12, nan_ok=True), name


def test_what_is_said_is_true_of_the_function() -> None:
    w, norm = Tensor([1.0, 2.0]), nn.BatchNorm1d(2)
    descent = optim.SGD([w], lr=0.1)

    def trains(x: Any) -> Any:
        loss = (w * x).sum()
        descent.zero_grad()
        loss.backward()
        return loss

    def norms(x: Any) -> Any:
        return norm(x * w).sum()

    reasons = {
        trains: r"(?s)the gradient of a tensor was set .*descent.zero_grad\(\).*outside the compiled function",
        norms: r"(?s)BatchNorm1d keeps means as it trains .*use LayerNorm",
    }
    for function, reason in reasons.items():
        with pytest.warns(FrozenWarning, match=reason):
            gradwalk.compile(function)(Tensor([[1.0, 2.0], [2.0, 5.0]], requires_grad=False))
    with pytest.raises(TraceError, match=r"(?s)test_contract_tensors.py, line .*gradwalk.grad\(fn\)"):
        gradwalk.compile(lambda x: gradwalk.grad(lambda t: (t * w).sum())(x).sum())(Tensor([1.0, 2.0]))


def test_data_in_a_dataclass_is_an_argument_like_any() -> None:
    """With what gradient flows to it is a model, which keeps its parameters in the buffer."""
    w, net = Tensor([1.0, 2.0]), Samples(Tensor([0.5, 0.5]), Tensor(1.0))
    f = gradwalk.compile(lambda s, net: ((w * s.x * net.x).sum() - s.y * net.y) ** 2)
    for i in range(4):
        given = Samples(Tensor([1.0 + i, 2.0], requires_grad=False), Tensor([i]))
        w.grad = net.x.grad = None
        found = flat(walked(f(given, net).sum(), w, net.x))
        assert found == pytest.approx(flat(walked(f.eager(given, net).sum(), w, net.x)), rel=1e-12)
    assert f.traced == 1


def test_what_is_updated_in_place_is_updated_at_every_call() -> None:
    def calls(compile: Any) -> Any:
        count, w = Tensor([0.0], requires_grad=False), Tensor([1.0, 2.0], requires_grad=True)
        rows = Tensor([1.0, 2.0])

        @compile
        def counted(x: Any) -> Any:
            with no_grad():
                now = count
                now += 1.0
            return (x * w * count).sum()

        @compile
        def f(x: Any) -> Any:
            y, total = x * w, gradwalk.zeros(2)
            with no_grad():
                total += x
                total /= 2.0
                y += 1.0
            return (y * w * total).sum()

        @compile
        def part(x: Any) -> Any:
            with no_grad():
                row = w[0]
                row += 1.0
            return (x * w).sum()

        with pytest.raises(GraphError, match="a part of a parameter"):
            part(rows)
        return [(counted(rows).item(), f(rows).item(), count.tolist()) for _ in range(3)]

    with pytest.warns(FrozenWarning, match="in counted .* the numbers of a tensor were set"):
        compiled = calls(gradwalk.compile)
    assert compiled == calls(lambda f: f)
