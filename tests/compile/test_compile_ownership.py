"""Who owns the parameters: whatever Python reads and writes between compiled calls, the numbers are eager's."""

# mypy: disable-error-code="func-returns-value"

from __future__ import annotations

import copy
import json
import pickle
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradwalk
from gradwalk import Value, nn, optim
from gradwalk.compile.call.following import Checks
from gradwalk.compile.own.store import stretch_of
from gradwalk.compile.trace.limits import FrozenWarning
from gradwalk.errors import BackwardError, NotANumberError

X = [[0.5, -1.0], [1.5, 0.3], [-0.7, 0.9]]
Y = [1.0, -1.0, 0.5]


class Twins:
    """The same model twice, one trained eagerly and one compiled; whatever is done to one is done to the other."""

    def __init__(self, *, optimiser: Callable[[list[Value]], optim.Optimizer] | None = None) -> None:
        random.seed(11)
        self.models = [nn.MLP(2, [4, 1]), nn.MLP(2, [4, 1])]
        self.models[1].load_state_dict(self.models[0].state_dict())
        make = optimiser or (lambda parameters: optim.Adam(parameters, 0.05))
        self.optimisers = [make(model.parameters()) for model in self.models]
        eager, to_compile = (self.loss_of(model) for model in self.models)
        self.losses = [eager, gradwalk.compile(to_compile)]

    @staticmethod
    def loss_of(model: nn.MLP) -> Callable[..., Any]:
        return lambda X, Y: nn.mse([model(x) for x in X], Y)

    def step(self, n: int = 1) -> None:
        for model, loss_of, optimiser in zip(self.models, self.losses, self.optimisers, strict=True):
            for _ in range(n):
                loss = loss_of(X, Y)
                model.zero_grad()
                loss.backward()
                optimiser.step()
                self.latest = loss.data

    def both(self, action: Callable[[nn.MLP], Any]) -> None:
        results = [action(model) for model in self.models]
        assert results[1] == pytest.approx(results[0], rel=1e-12, abs=1e-14)

    def compare(self) -> None:
        self.both(lambda model: [p.data for p in model.parameters()])
        self.both(lambda model: [p.grad for p in model.parameters()])


def is_owned(model: nn.MLP) -> bool:
    return all(p.keeper is not None for p in model.parameters())


def test_an_ordinary_loop_never_hands_the_parameters_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Checks, "affordable", lambda self, calls: False)  # a check does, now and then
    twins = Twins()
    twins.step()
    handed_back = []
    store: Any = twins.models[1].parameters()[0].keeper
    before = store.hand_back
    store.hand_back = lambda: (handed_back.append(1), before())
    twins.step(5)
    assert handed_back == []
    assert is_owned(twins.models[1])
    twins.compare()
    assert handed_back
    assert not is_owned(twins.models[1])
    assert all(type(p) is Value for p in twins.models[1].parameters())


TOUCHES: list[Callable[[nn.MLP], Any]] = [
    lambda model: model.parameters()[0].data,
    lambda model: model.parameters()[-1].grad,
    lambda model: [setattr(p, "data", 0.9 * p.data) for p in model.parameters()] and 0,
    lambda model: setattr(model.parameters()[2], "data", 1) or 0,
    lambda model: setattr(model.parameters()[3], "grad", 7) or 0,
    lambda model: [setattr(p, "grad", 0.0) for p in model.parameters()] and 0,
    lambda model: gradwalk.zero_grad(model) or 0,
    lambda model: gradwalk.zero_grad(model.parameters()) or 0,
    lambda model: gradwalk.zero_grad(model.parameters()[4]) or 0,
    lambda model: sum(p.data for p in model.parameters()),
    lambda model: list(model.state_dict().values()),
    lambda model: model.load_state_dict({name: 0.1 * i for i, name in enumerate(model.state_dict())}) or 0,
    lambda model: model([0.3, 0.4]).data,
    lambda model: (model([0.3, 0.4]) * 2).backward() or 0,
    lambda model: (model.parameters()[0] * model.parameters()[1] + 3).backward() or 0,
    lambda model: float(format(model.parameters()[0], ".6f")),
    lambda model: model.parameters()[0] > model.parameters()[1],
    lambda model: max(model.parameters(), key=lambda p: p.data).data,
    lambda model: repr(model.parameters()[0]).startswith("Value(data="),
    lambda model: optim.clip_grad_norm(model.parameters(), 0.01),
    lambda model: optim.clip_grad_value(model.parameters(), 0.01) or 0,
    lambda model: [copy.copy(p).data for p in model.parameters()],
    lambda model: [p.data for p in copy.deepcopy(model).parameters()],
    lambda model: [p.grad for p in pickle.loads(pickle.dumps(model.parameters()))],
    lambda model: model.parameters()[0].detach().data,
    lambda model: model.parameters()[0].operands == () and 0,
    lambda model: setattr(model.parameters()[0], "label", "w") or len(model.parameters()[0].label),
    lambda model: gradwalk.gradcheck(lambda x: model([x, 0.5]) * 1, [0.5]) and 0,
    lambda model: model.layers[0].neurons[0].w.__setitem__(0, Value(0.25)) or 0,
]  # fmt: skip


@pytest.mark.parametrize("touch", range(len(TOUCHES)))
def test_touching_parameters_between_compiled_calls_gives_eagers_numbers(touch: int) -> None:
    twins = Twins()
    twins.step(2)
    assert is_owned(twins.models[1])
    replaces = touch == len(TOUCHES) - 1
    twins.both(TOUCHES[touch])
    if replaces:  # other Values than were traced: the function must be told
        twins.losses[1].clear()
        twins.optimisers = [optim.Adam(model.parameters(), 0.05) for model in twins.models]
    twins.step(2)
    twins.compare()


def test_between_forward_and_backward() -> None:
    twins = Twins()
    for touch in (
        lambda p: p.data,
        lambda p: setattr(p, "grad", 0.0),
        lambda p: setattr(p, "grad", p.grad + 1),
        lambda p: setattr(p, "data", p.data),
    ):
        for model, loss_of in zip(twins.models, twins.losses, strict=True):
            loss = loss_of(X, Y)
            for p in model.parameters():
                touch(p)
            loss.backward()
        twins.compare()


def test_optimisers_made_before_and_after_and_several_of_them() -> None:
    twins = Twins()
    twins.step(2)
    later = [optim.SGD(model.parameters()[:5], 0.1, momentum=0.9) for model in twins.models]
    for _ in range(3):
        twins.step()
        for optimiser in later:
            optimiser.step()
    twins.compare()


def test_two_functions_that_share_some_parameters() -> None:
    random.seed(2)
    shared, one, other = (nn.Layer(2, 3) for _ in range(3)), nn.Neuron(3), nn.Neuron(3)
    first = next(iter(shared))

    def run(compiled: bool) -> list[float]:
        for module in (first, one, other):
            for i, p in enumerate(module.parameters()):
                p.data, p.grad = 0.1 * i - 0.2, 0.0
        wrap = gradwalk.compile if compiled else (lambda f: f)
        f, g = wrap(lambda x: one(first(x)) ** 2), wrap(lambda x: other(first(x)) ** 2)
        alone = wrap(lambda x: one([x, x, x]))
        optimiser = optim.SGD([*one.parameters(), *first.parameters(), *other.parameters()], 0.05, momentum=0.5)
        out = []
        for step in range(6):
            loss, loss_too = f([0.5, 0.1 * step]), g([1.0, -0.5])
            optimiser.zero_grad()
            loss_too.backward()
            loss.backward()
            if step % 2:
                alone(0.3).backward()
            optimiser.step()
            out += [loss.data, loss_too.data]
        return [*out, *(p.data for p in optimiser.parameters), *(p.grad for p in optimiser.parameters)]

    assert run(compiled=True) == pytest.approx(run(compiled=False), rel=1e-12, abs=1e-14)


def test_stores_grow_together_when_a_function_uses_both() -> None:
    a, b, c = Value(2.0), Value(3.0), Value(5.0)
    f, g = gradwalk.compile(lambda x: a * x), gradwalk.compile(lambda x: b * x)
    pending = f(1.0)
    g(1.0).backward()
    both = gradwalk.compile(lambda x: a * b * c * x)
    both(1.0).backward()
    assert a.keeper is b.keeper is c.keeper
    assert (a.grad, b.grad, c.grad) == (15.0, 11.0, 6.0)
    f(2.0).backward()
    g(2.0).backward()
    pending.backward()
    assert (a.grad, b.grad, c.grad) == (18.0, 13.0, 6.0)
    assert [g(7.0).data, f(7.0).data, both(1.0).data] == [21.0, 14.0, 30.0]


def test_parameters_in_another_order_than_they_were_met() -> None:
    a, b, c = Value(2.0), Value(3.0), Value(5.0)
    gradwalk.compile(lambda x: a * x + b * x * x + c)(2.0).backward()
    optimiser = optim.SGD([c, a, b], 1.0, momentum=0.5)
    optimiser.step()
    assert optimiser.velocities == [1.0, 2.0, 4.0]
    assert (a.data, b.data, c.data) == (0.0, -1.0, 4.0)


def test_hooks_on_parameters_are_called() -> None:
    seen: list[list[float]] = [[], []]
    twins = Twins()
    twins.step()
    for model, calls in zip(twins.models, seen, strict=True):
        model.parameters()[0].register_hook(calls.append)
        model.parameters()[1].register_hook(lambda gradient: 2 * gradient)
    twins.step(2)
    twins.compare()
    assert seen[1] == pytest.approx(seen[0], rel=1e-12)
    assert len(seen[0]) == 2


def test_hooks_may_look_at_every_parameter() -> None:
    def walked(compiled: bool) -> list[tuple[float, ...]]:
        w, v = Value(2.0), Value(5.0)
        w.grad = 7.0
        w.register_hook(lambda gradient: gradient * (w.data + v.data))
        w.register_hook(lambda gradient: gradient + w.grad)
        v.register_hook(lambda gradient: 100 * gradient)

        def f(x: float) -> Value:
            return w * x + v * x * x

        loss: Any = gradwalk.compile(f) if compiled else f
        found: list[tuple[float, ...]] = []
        for _ in range(3):
            loss(3.0).backward()
            found.append((w.data, w.grad, v.data, v.grad))
        return found

    assert walked(compiled=True) == walked(compiled=False)


def test_hooks_see_the_parameters_as_they_are_when_an_old_result_is_walked_back() -> None:
    w = Value(2.0)
    square = gradwalk.compile(lambda x: w * w * x)
    square(1.0)
    seen = []
    w.register_hook(lambda gradient: seen.append((gradient, w.data)))
    old = square(3.0)
    w.data = 10.0
    old.backward()
    assert (seen, w.data, w.grad) == ([(12.0, 10.0)], 10.0, 12.0)


@pytest.mark.parametrize("batch", [None, "sum", "mean"])
def test_a_hook_that_raises_leaves_gradients_as_they_were(batch: Any) -> None:
    w, v, t = Value(2.0), Value(5.0), gradwalk.Tensor([1.0, 2.0])
    w.grad, v.grad, t.grad = 7.0, 8.0, gradwalk.Tensor([9.0, 10.0])

    def broken(gradient: float) -> None:
        w.grad = 99.0
        raise KeyError("oops")

    v.register_hook(broken)
    f = gradwalk.compile(lambda x: w * x + v * x + (t.sum() if batch is None else 0.0), batch=batch)
    for _ in range(3):
        out = f(3.0) if batch is None else f(np.array([1.0, 2.0]))
        with pytest.raises(BackwardError, match="KeyError: 'oops'"):  # as of the plain function
            out.backward()
        assert (w.grad, v.grad, t.grad.array.tolist()) == (7.0, 8.0, [9.0, 10.0])


def test_saving_copying_and_pickling_a_model_in_the_middle_of_training(tmp_path: Path) -> None:
    twins = Twins()
    twins.step(3)
    twins.models[1].save(tmp_path / "model.json")
    assert json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    twins.step(2)
    clones = copy.deepcopy(twins.models[1]), pickle.loads(pickle.dumps(twins.models[1].parameters()))
    assert all(type(p) is Value for p in [*clones[0].parameters(), *clones[1]])
    assert [p.data for p in clones[0].parameters()] == [p.data for p in twins.models[1].parameters()]
    state = [p.data for p in clones[0].parameters()]
    twins.step(2)
    assert [p.data for p in clones[0].parameters()] == state  # it goes its own way
    twins.compare()
    random.seed(5)
    again = nn.MLP(2, [4, 1])
    again.load(tmp_path / "model.json")
    assert again([0.1, 0.2]).data != twins.models[1]([0.1, 0.2]).data


def test_optimisers_can_be_saved_copied_and_restored_in_the_middle() -> None:
    twins = Twins()
    twins.step(3)
    states = [optimiser.state_dict() for optimiser in twins.optimisers]
    assert states[1]["means"] == pytest.approx(states[0]["means"], rel=1e-12)
    assert json.loads(json.dumps(states[1])) == states[1] | {"betas": list(states[1]["betas"])}
    twins.step(2)
    copied = copy.copy(twins.optimisers[1])
    assert copied.squares == twins.optimisers[1].squares
    twins.step()
    for optimiser, state in zip(twins.optimisers, states, strict=True):
        optimiser.load_state_dict(state)
    twins.step(2)
    twins.compare()
    for optimiser in twins.optimisers:
        optimiser.means = [0.0] * len(optimiser.parameters)  # type: ignore[attr-defined]
    twins.step(2)
    twins.compare()


def test_an_optimiser_of_ones_own_works_by_handing_back() -> None:
    class Sign(optim.Optimizer):
        def step(self) -> None:
            for p, g in zip(self.parameters, self.gradients(), strict=True):
                p.data -= self.lr * ((g > 0) - (g < 0))

    class Halved(optim.SGD):
        def gradients(self) -> list[float]:
            return [g / 2 for g in super().gradients()]

    for make in (lambda ps: Sign(ps, 0.01), lambda ps: Halved(ps, 0.1, momentum=0.9)):
        twins = Twins(optimiser=make)
        twins.step(4)
        twins.compare()


def test_threads_read_and_write_while_another_trains() -> None:
    model = nn.MLP(2, [4, 1])
    loss_of = gradwalk.compile(lambda X, Y: nn.mse([model(x) for x in X], Y))
    optimiser = optim.SGD(model.parameters(), 1e-3)
    stop = threading.Event()
    failures: list[Value] = []

    def look() -> None:
        while not stop.is_set():
            failures.extend(p for p in model.parameters() if not abs(p.data) < 10 or not abs(p.grad) < 100)

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        for _ in range(300):
            loss = loss_of(X, Y)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    finally:
        stop.set()
        watcher.join()
    assert failures == []
    eager = nn.mse([model(x) for x in X], Y)
    assert loss_of(X, Y).data == pytest.approx(eager.data, rel=1e-12)


def test_gradients_that_are_graphs_are_refused_and_numbers_of_other_kinds_taken() -> None:
    w = Value(2.0)
    f = gradwalk.compile(lambda x: w * w * x)
    (w * w).backward(create_graph=True)
    with pytest.raises(NotANumberError, match=r"call zero_grad\(\)"):
        f(1.0)
    w.grad = 0
    w.data = True
    assert f(3.0).data == 3.0
    assert w.data == 1.0


def test_a_class_of_values_of_ones_own_stays_what_it_is() -> None:
    class Weight(Value):
        """A Value with a place for notes."""

        __slots__ = ("note",)
        note: str

    w = Weight(3.0)
    w.note = "mine"
    f = gradwalk.compile(lambda x: w * x)
    f(2.0).backward()
    assert isinstance(w, Weight)
    assert (w.grad, w.note, type(w)) == (2.0, "mine", Weight)


def test_a_module_that_changes_is_looked_through_again() -> None:
    twins = Twins()
    twins.step(2)
    for model in twins.models:
        model.extra = [Value(4.0)]  # type: ignore[attr-defined]
        model.extra[0].grad = 5.0  # type: ignore[attr-defined]
    twins.step()
    assert [model.extra[0].grad for model in twins.models] == [0.0, 0.0]  # type: ignore[attr-defined]
    for model in twins.models:
        model.extra.append(Value(1.0))  # type: ignore[attr-defined]
        model.extra[1].grad = 5.0  # type: ignore[attr-defined]
    twins.step()
    assert [model.extra[1].grad for model in twins.models] == [0.0, 0.0]  # type: ignore[attr-defined]
    twins.compare()


def test_a_model_that_is_given_other_parameters_is_traced_anew() -> None:
    model = nn.MLP(2, [2, 1])
    loss_of = gradwalk.compile(lambda x: model(x) ** 2)
    for _ in range(2):
        loss = loss_of([1.0, 2.0])
        model.zero_grad()
        loss.backward()
    model.steps_taken = 5  # type: ignore[attr-defined]  # something else than a parameter: nothing happens
    model.zero_grad()
    assert loss_of([1.0, 2.0]).data == loss.data
    model.layers[1].neurons[0].b = Value(7.0)
    model.zero_grad()
    changed = loss_of([1.0, 2.0])
    assert changed.data == pytest.approx(loss_of.eager([1.0, 2.0]).data, rel=1e-14)
    assert changed.data != loss.data


def test_places_of_parameters_are_stretches_of_one_store() -> None:
    values = [Value(float(i)) for i in range(6)]
    first, _ = stretch_of(values[:2])
    second, _ = stretch_of(values[3:5])
    assert first.store is not second.store
    third, where = stretch_of([values[4], values[1], values[5]])
    assert first.store is second.store is third.store
    found = [third.store.parameters[third.start + i] for i in where]
    assert found == [values[4], values[1], values[5]]
    assert [second.store.parameters[second.start + i] for i in range(2)] == values[3:5]


def test_containers_and_attributes_of_a_module_are_watched_each_in_its_way() -> None:
    model = nn.MLP(2, [2, 1])
    model.extra = {"scale": Value(2.0)}  # type: ignore[attr-defined]
    model.offset = Value(1.0)  # type: ignore[attr-defined]
    loss_of = gradwalk.compile(lambda x: model(x) * model.extra["scale"] + model.offset)  # type: ignore[attr-defined]
    for _ in range(2):
        loss_of([1.0, 2.0]).backward()
        model.zero_grad()
    model.extra["scale"] = Value(3.0)  # type: ignore[attr-defined]  # no attribute was set
    model.extra["scale"].grad = 5.0  # type: ignore[attr-defined]
    model.zero_grad()
    assert model.extra["scale"].grad == 0.0  # type: ignore[attr-defined]
    gone = model.offset  # type: ignore[attr-defined]
    del model.offset  # type: ignore[attr-defined]
    gone.grad = 5.0
    model.zero_grad()
    assert gone.grad == 5.0


@pytest.mark.parametrize("looked_at", [False, True])
def test_a_parameter_that_is_replaced_is_noticed_at_the_next_call(looked_at: bool) -> None:
    model = nn.MLP(2, [2, 1], activation="tanh")  # no gradient of which is 0 by chance
    loss_of = gradwalk.compile(lambda x: model(x) ** 2)
    loss_of([1.0, 2.0]).backward()
    if looked_at:
        assert model.layers[1].neurons[0].b.grad != 0.0  # so that Python has the parameters when they change
    model.layers[1].neurons[0].b = Value(7.0)
    changed = loss_of([1.0, 2.0])
    assert changed.data == pytest.approx(loss_of.eager([1.0, 2.0]).data, rel=1e-14)
    assert loss_of([1.0, 2.0]).data == changed.data
    model.layers = nn.MLP(2, [2, 1]).layers
    changed = loss_of([1.0, 2.0])
    assert changed.data == pytest.approx(loss_of.eager([1.0, 2.0]).data, rel=1e-14)


def test_attributes_that_hold_results_may_change_at_every_call() -> None:
    model = nn.MLP(2, [2, 1])
    loss_of = gradwalk.compile(lambda x: model(x) ** 2)
    for _ in range(20):
        model.latest = loss_of([1.0, 2.0])  # type: ignore[attr-defined]
    assert loss_of.traced == 1


def test_a_graph_of_gradients_reaches_a_leaf_that_compiled_code_has() -> None:
    w = Value(2.0)
    compiled = gradwalk.compile(lambda x: w * x)
    loss = w + w  # whose slopes are plain numbers: nothing asks for that of the leaf
    compiled(3.0)
    assert w.keeper is not None
    loss.backward(create_graph=True)
    assert (w.grad.data, w.data) == (2.0, 2.0)
    gradwalk.zero_grad([w])
    compiled(3.0).backward()
    assert w.grad == 3.0


def test_a_hook_of_an_eager_graph_may_call_a_compiled_function_of_the_same_leaves() -> None:
    a, b = Value(2.0), Value(3.0)
    compiled = gradwalk.compile(lambda x: a * b * x)
    compiled(1.0)
    seen = []

    def hook(gradient: float) -> None:
        out = compiled(gradient)
        out.backward()
        seen.append(out.data)

    middle = a * b
    loss = middle * 5.0 + a
    middle.register_hook(hook)
    loss.backward()
    assert (seen, a.grad, b.grad) == ([30.0], 1.0 + 15.0 + 15.0, 10.0 + 10.0)


def test_whatever_is_done_by_hand_gives_eagers_numbers() -> None:
    """Random actions on parameters and waiting results, compiled and eagerly, side by side."""
    visited = 0
    for seed in range(60):
        draw = random.Random(seed)
        start = [draw.uniform(-1.0, 1.0) for _ in range(3)]
        sides: list[Any] = []
        for compile_ in (gradwalk.compile, lambda f: f):
            ws = [Value(x) for x in start]

            def first(x: Any, ws: Any = ws) -> Any:
                return (ws[0] * x + ws[1]).tanh() * ws[1]

            def second(x: Any, ws: Any = ws) -> Any:
                return [ws[1] * ws[2] * x, ws[2].exp() - x]

            sides.append((ws, [compile_(first), compile_(second)], optim.SGD(ws, lr=0.1, momentum=0.5), [], []))
        weights = draw.choice([(8, 6, 6, 6, 1, 1, 1), (8, 6, 1, 1, 8, 1, 1), (5, 5, 5, 5, 5, 3, 0)])
        for _ in range(60):
            (action,) = draw.choices(range(7), weights)
            i, x, which = draw.randrange(3), draw.uniform(-2.0, 2.0), draw.random()
            for ws, functions, optimiser, waiting, hooks in sides:
                if action == 0:
                    out = functions[which < 0.3](x)
                    waiting += out if isinstance(out, list) else [out]
                elif action == 1 and waiting:
                    waiting.pop(int(which * len(waiting))).backward(x)
                elif action == 2:
                    for w in ws:
                        w.grad = 0 if which < 0.2 else 0.0
                elif action == 3:
                    for w in ws:
                        w.data -= 0.01 * w.grad if which < 0.8 else 1
                elif action == 4:
                    optimiser.step()
                    optimiser.zero_grad()
                elif action == 5 and hooks:
                    hooks.pop().remove()
                elif action == 5:
                    hooks.append(ws[i].register_hook(lambda gradient: 0.5 * gradient))
                elif action == 6 and waiting:
                    del waiting[:]
            numbers = [[[w.data for w in ws], [w.grad for w in ws]] for ws, *_ in sides] if which < 0.7 else []
            for ours, theirs in zip(*numbers, strict=True):
                assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-12), seed
        stores = stretch_of(sides[0][0])[0].store
        visited += stores.visits > 3
    assert visited > 15


def test_after_work_by_hand_an_optimiser_has_the_parameters_in_the_buffer_again() -> None:
    ws = [Value(0.1 * i) for i in range(4)]
    loss = gradwalk.compile(lambda x: sum((w * x) ** 2 for w in ws))
    for _ in range(10):
        loss(1.0).backward()
        for w in ws:
            w.data -= 0.01 * w.grad
            w.grad = 0.0
    store = stretch_of(ws)[0].store
    loss(1.0)
    assert not store.owns
    loss(1.0)
    assert store.owns  # nobody has set them since
    for _ in range(4):
        loss(1.0).backward()
        for w in ws:
            w.data -= 0.01 * w.grad
    loss(1.0)
    assert not store.owns
    descent = optim.SGD(ws, lr=0.01)
    for _ in range(70):
        descent.zero_grad()
        loss(1.0).backward()
        descent.step()
    assert store.owns


def test_gradients_that_are_graphs_are_refused_after_work_by_hand_too() -> None:
    w = Value(2.0)
    loss = gradwalk.compile(lambda x: w * w * x)
    for _ in range(5):
        loss(1.0).backward()
        w.grad = 0.0
    waiting = loss(1.0)
    (w * w).backward(create_graph=True)
    with pytest.raises(NotANumberError, match="zero_grad"):
        waiting.backward()


def test_a_parameter_of_another_precision_is_said_once() -> None:
    w, v = Value(2.0), Value(0.1)
    f = gradwalk.compile(lambda x: w * v * x)
    v.data = np.float32(0.2)
    with pytest.warns(FrozenWarning, match="is a float32 of NumPy's"):
        f(1.0)
    v.data = np.float32(0.3)
    assert f(1.0).data == pytest.approx(0.6)  # and no more is said
