from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import gradwalk
from gradwalk import Value, nn, optim
from gradwalk.errors import GradwalkError, NotANumberError, SettingError
from gradwalk.optim import loops
from gradwalk.provenance import is_users

inf, nan = math.inf, math.nan
STEPS = 50

# --- the same problem for both: a small network, fitted to a curved surface -------------------------------------------

SAMPLES = [[0.5, -1.0], [1.0, 0.3], [-0.7, 0.8], [0.1, 0.1], [-1.2, -0.4]]
TARGETS = [x * x - y for x, y in SAMPLES]


def network() -> nn.MLP:
    random.seed(42)
    return nn.MLP(2, [3, 1], activation="tanh")


def loss_of(model: nn.MLP) -> Value:
    return nn.mse([model(x) for x in SAMPLES], TARGETS)


class Mirror:
    """The same network in torch, all its parameters in one tensor."""

    def __init__(self, model: nn.MLP) -> None:
        self.leaf = torch.tensor([p.data for p in model.parameters()], dtype=torch.float64, requires_grad=True)

    def loss(self) -> Any:
        w = self.leaf
        hidden = torch.tanh(torch.tensor(SAMPLES, dtype=torch.float64) @ w[:9].reshape(3, 3)[:, :2].T + w[2:9:3])
        return torch.nn.functional.mse_loss(hidden @ w[9:12] + w[12], torch.tensor(TARGETS, dtype=torch.float64))


def run_both(
    ours: Callable[[list[Value]], optim.Optimizer],
    theirs: Callable[[list[Any]], Any],
    our_schedule: Callable[[Any], Any] | None = None,
    their_schedule: Callable[[Any], Any] | None = None,
    clip: Callable[[list[Value], Any], None] | None = None,
    *,
    share_gradients: bool = False,
) -> None:
    """Fifty steps on either side, the parameters compared after each.

    Each side computes its own gradients, unless they are to share ours: with a step so bold that training swings
    about, it is training itself that magnifies the last bit of a gradient, on either side.
    """
    model = network()
    mirror = Mirror(model)
    our_optimizer, their_optimizer = ours(model.parameters()), theirs([mirror.leaf])
    schedules = [our_schedule(our_optimizer)] if our_schedule else []
    schedules += [their_schedule(their_optimizer)] if their_schedule else []
    before = [p.data for p in model.parameters()]
    for _ in range(STEPS):
        assert our_optimizer.lr == pytest.approx(their_optimizer.param_groups[0]["lr"], rel=1e-12, abs=1e-18)
        our_optimizer.zero_grad()
        their_optimizer.zero_grad()
        loss_of(model).backward()
        if share_gradients:
            mirror.leaf.grad = torch.tensor(our_optimizer.gradients(), dtype=torch.float64)
        else:
            mirror.loss().backward()
        if clip:
            clip(model.parameters(), mirror.leaf)
        our_optimizer.step()
        their_optimizer.step()
        for schedule in schedules:
            schedule.step()
        # Parameters are of order 1 and some pass through 0, where only their own last places can be compared.
        assert [p.data for p in model.parameters()] == pytest.approx(mirror.leaf.tolist(), rel=1e-12, abs=1e-15)
    assert all(abs(p.data - x) > 1e-6 for p, x in zip(model.parameters(), before, strict=True))


SGD_CASES = [
    {"momentum": momentum, "nesterov": nesterov, "weight_decay": decay}
    for momentum, nesterov, decay in product((0.0, 0.5, 0.9), (False, True), (0.0, 0.01))
    if momentum or not nesterov
]


@pytest.mark.parametrize("options", SGD_CASES, ids=str)
def test_sgd_is_torchs(options: Any) -> None:
    for lr, share in ((0.05, False), (0.3, True)):
        run_both(
            lambda p, lr=lr: optim.SGD(p, lr=lr, **options),  # type: ignore[misc]
            lambda p, lr=lr: torch.optim.SGD(p, lr=lr, **options),  # type: ignore[misc]
            share_gradients=share,
        )


ADAM_CASES = [
    {"lr": lr, "betas": betas, "eps": eps, "weight_decay": decay}
    for lr, betas, eps, decay in product(
        (0.01, 0.1), ((0.9, 0.999), (0.3, 0.9), (0.0, 0.5), (0.6, 0.5)), (1e-8, 1e-3), (0.0, 0.1)
    )
]


@pytest.mark.parametrize("options", ADAM_CASES, ids=str)
@pytest.mark.parametrize("kind", ["Adam", "AdamW"])
def test_adam_and_adamw_are_torchs(kind: str, options: Any) -> None:
    ours, theirs = getattr(optim, kind), getattr(torch.optim, kind)
    forgetful = options["betas"][0] < 0.9  # with little memory, Adam steps by about lr to either side of the goal
    run_both(lambda p: ours(p, **options), lambda p: theirs(p, **options), share_gradients=forgetful)


@pytest.mark.parametrize("kind", ["Adam", "AdamW"])
def test_defaults_are_torchs(kind: str) -> None:
    run_both(lambda p: getattr(optim, kind)(p), lambda p: getattr(torch.optim, kind)(p))


@pytest.mark.parametrize("betas", [(0.0, 0.0), (0.9, 0.0), (0.0, 0.999)])
@pytest.mark.parametrize("kind", ["Adam", "AdamW"])
def test_betas_of_zero_forget_at_once_however_small_the_next_gradient(kind: str, betas: tuple[float, float]) -> None:
    x, t = Value(1.0), torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    ours, theirs = getattr(optim, kind)([x], betas=betas), getattr(torch.optim, kind)([t], betas=betas)
    for g in (1e10, 1e-10, -3.0, 2e-5, 7.0):
        x.grad, t.grad = g, torch.tensor(g, dtype=torch.float64)
        ours.step()
        theirs.step()
        assert x.data == pytest.approx(t.item(), rel=1e-12)
        assert ours.means == pytest.approx([theirs.state[t]["exp_avg"].item()], rel=1e-12, abs=0)
        assert ours.squares == pytest.approx([theirs.state[t]["exp_avg_sq"].item()], rel=1e-12, abs=0)


def test_every_optimiser_on_rosenbrocks_valley() -> None:
    cases: list[tuple[Any, Any, Any]] = [
        (optim.SGD, torch.optim.SGD, {"lr": 2e-4, "momentum": 0.9, "nesterov": True}),
        (optim.Adam, torch.optim.Adam, {"lr": 0.02}),
        (optim.AdamW, torch.optim.AdamW, {"lr": 0.02}),
    ]
    for ours, theirs, options in cases:
        x, y = Value(-1.2), Value(1.0)
        a, b = (torch.tensor(v.data, dtype=torch.float64, requires_grad=True) for v in (x, y))
        our_optimizer, their_optimizer = ours([x, y], **options), theirs([a, b], **options)
        for _ in range(STEPS):
            our_optimizer.zero_grad()
            their_optimizer.zero_grad()
            ((1 - x) ** 2 + 100 * (y - x**2) ** 2).backward()
            ((1 - a) ** 2 + 100 * (b - a**2) ** 2).backward()
            our_optimizer.step()
            their_optimizer.step()
            assert [x.data, y.data] == pytest.approx([a.item(), b.item()], rel=1e-12)


# --- schedules ---------------------------------------------------------------------------------------------------

schedulers = torch.optim.lr_scheduler


@pytest.mark.parametrize("steps", [1, 20, 50, 80])
@pytest.mark.parametrize(("start", "end"), [(1.0, 0.0), (1.0, 0.1), (0.25, 1.0), (1.0, 1.0), (0.5, 0.5)])
def test_linear_schedule_is_torchs(steps: int, start: float, end: float) -> None:
    run_both(
        lambda p: optim.SGD(p, lr=0.1, momentum=0.5),
        lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.5),
        lambda o: optim.LinearSchedule(o, steps, start=start, end=end),
        lambda o: schedulers.LinearLR(o, start_factor=start, end_factor=end, total_iters=steps),
    )


@pytest.mark.parametrize("steps", [1, 20, 50, 80])
@pytest.mark.parametrize("lowest", [0.0, 0.01, 0.1])
def test_cosine_schedule_is_torchs(steps: int, lowest: float) -> None:
    run_both(
        lambda p: optim.AdamW(p, lr=0.1),
        lambda p: torch.optim.AdamW(p, lr=0.1),
        lambda o: optim.CosineSchedule(o, steps, lowest=lowest),
        lambda o: schedulers.CosineAnnealingLR(o, T_max=steps, eta_min=lowest),
    )


def test_a_warm_up_may_start_from_nothing() -> None:
    descent = optim.SGD([Value(1.0)], lr=0.8)
    schedule = optim.LinearSchedule(descent, 4, start=0.0, end=1.0)
    rates = []
    for _ in range(6):
        rates.append(descent.lr)
        schedule.step()
    assert rates == pytest.approx([0.0, 0.2, 0.4, 0.6, 0.8, 0.8], rel=1e-15)


# --- clipping ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1e-3, 0.3, 1.0, 100.0])
def test_clipping_by_norm_is_torchs(limit: float) -> None:
    def clip(ours: list[Value], theirs: Any) -> None:
        norm, expected = optim.clip_grad_norm(ours, limit), torch.nn.utils.clip_grad_norm_(theirs, limit)
        assert norm == pytest.approx(expected.item(), rel=1e-12)
        assert [p.grad for p in ours] == pytest.approx(theirs.grad.tolist(), rel=1e-12)

    run_both(lambda p: optim.SGD(p, lr=0.3), lambda p: torch.optim.SGD(p, lr=0.3), clip=clip)


@pytest.mark.parametrize("limit", [1e-3, 0.1, 100.0])
def test_clipping_by_value_is_torchs(limit: float) -> None:
    def clip(ours: list[Value], theirs: Any) -> None:
        optim.clip_grad_value(ours, limit)
        torch.nn.utils.clip_grad_value_(theirs, limit)
        assert [p.grad for p in ours] == pytest.approx(theirs.grad.tolist(), rel=1e-12)

    run_both(lambda p: optim.SGD(p, lr=0.3), lambda p: torch.optim.SGD(p, lr=0.3), clip=clip)


def pair_of(gradients: list[float]) -> tuple[list[Value], list[Any]]:
    ours, theirs = [Value(1.0) for _ in gradients], [torch.tensor(1.0, dtype=torch.float64) for _ in gradients]
    for p, t, g in zip(ours, theirs, gradients, strict=True):
        p.grad, t.grad = g, torch.tensor(g, dtype=torch.float64)
    return ours, theirs


gradients = st.lists(
    st.floats(-1e100, 1e100, allow_subnormal=False) | st.sampled_from([nan, inf, -inf, 0.0, -0.0]),
    min_size=1,
    max_size=6,
)
limits = st.floats(0, 1e10) | st.just(inf)


@given(gradients.filter(lambda gs: all(g == 0 or abs(g) > 1e-100 or g != g for g in gs)), limits)
def test_clipping_any_gradients_is_torchs_nan_and_inf_included(given_gradients: list[float], limit: float) -> None:
    ours, theirs = pair_of(given_gradients)
    norm, expected = optim.clip_grad_norm(ours, limit), torch.nn.utils.clip_grad_norm_(theirs, limit)
    assert norm == pytest.approx(expected.item(), rel=1e-12, nan_ok=True)
    assert [p.grad for p in ours] == pytest.approx([t.grad.item() for t in theirs], rel=1e-12, nan_ok=True)

    ours, theirs = pair_of(given_gradients)
    optim.clip_grad_value(ours, limit)
    torch.nn.utils.clip_grad_value_(theirs, limit)
    assert [p.grad for p in ours] == pytest.approx([t.grad.item() for t in theirs], rel=1e-12, nan_ok=True)


def test_a_norm_whose_square_overflows_is_still_a_norm() -> None:
    x, y = Value(1.0), Value(1.0)
    x.grad, y.grad = 3e200, 4e200
    assert optim.clip_grad_norm([x, y], 5.0) == pytest.approx(5e200, rel=1e-15)
    assert (x.grad, y.grad) == pytest.approx((3.0, 4.0), rel=1e-12)


def test_small_gradients_are_left_to_the_last_bit() -> None:
    x, y = Value(1.0), Value(1.0)
    x.grad, y.grad = 0.1, -0.2
    optim.clip_grad_norm([x, y], 1.0)
    optim.clip_grad_value([x, y], 1.0)
    assert (x.grad, y.grad) == (0.1, -0.2)


# --- gradients that are no ordinary floats -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["SGD", "Adam", "AdamW"])
@pytest.mark.parametrize("special", [nan, inf, -inf, 0.0])
def test_nan_and_inf_spread_as_in_torch(kind: str, special: float) -> None:
    options: Any = {"lr": 0.1, **({"momentum": 0.9} if kind == "SGD" else {}), "weight_decay": 0.1}
    x, t = Value(1.0), torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    ours, theirs = getattr(optim, kind)([x], **options), getattr(torch.optim, kind)([t], **options)
    for g in (0.5, special, 0.5):
        x.grad, t.grad = g, torch.tensor(g, dtype=torch.float64)
        ours.step()
        theirs.step()
        assert x.data == pytest.approx(t.item(), rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("g", [0.0, 1e-200, -1e-200])
def test_adam_without_eps_divides_by_zero_as_torch_does(g: float) -> None:
    x, t = Value(1.0), torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    x.grad, t.grad = g, torch.tensor(g, dtype=torch.float64)
    optim.Adam([x], eps=0.0).step()
    torch.optim.Adam([t], eps=0.0).step()
    assert x.data == pytest.approx(t.item(), nan_ok=True)


def test_without_a_gradient_nothing_moves() -> None:
    x = Value(3.0)
    for optimizer in (optim.SGD([x], lr=0.1, momentum=0.9), optim.Adam([x]), optim.AdamW([x], weight_decay=0.0)):
        optimizer.step()
        assert x.data == 3.0


def test_gradients_may_be_ints_or_values() -> None:
    x = Value(3.0)
    x.grad = 2  # as micrograd programs set it
    optim.SGD([x], lr=0.5).step()
    assert x.data == 2.0
    x.grad = 0.0
    (x * x).backward(create_graph=True)
    assert isinstance(x.grad, Value)
    optim.clip_grad_norm([x], 2.0)
    optim.SGD([x], lr=0.5).step()
    assert type(x.data) is float
    assert x.data == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("kind", ["SGD", "Adam", "AdamW"])
@pytest.mark.parametrize("bad", [None, "1", 1j, [1.0]], ids=repr)
def test_a_gradient_that_is_no_number_stops_before_anything_moves(kind: str, bad: Any) -> None:
    x, y = Value(1.0), Value(2.0)
    optimizer = getattr(optim, kind)([x, y], lr=0.1)
    state = copy.deepcopy(optimizer.state_dict())
    x.grad, y.grad = 1.0, bad
    with pytest.raises(NotANumberError, match="the gradient of parameter 2: a Value holds one real number"):
        optimizer.step()
    assert (x.data, y.data) == (1.0, 2.0)
    assert optimizer.state_dict() == state


# --- keeping and restoring ---------------------------------------------------------------------------------------

RESUMED: list[Callable[[list[Value]], optim.Optimizer]] = [
    lambda p: optim.SGD(p, lr=0.1),
    lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    lambda p: optim.Adam(p, lr=0.05, betas=(0.8, 0.95), weight_decay=0.01),
    lambda p: optim.AdamW(p, lr=0.05),
]


@pytest.mark.parametrize("make", RESUMED)
@pytest.mark.parametrize("plan", [optim.LinearSchedule, optim.CosineSchedule])
def test_training_goes_on_exactly_where_it_stopped(make: Any, plan: Any, tmp_path: Any) -> None:
    def train(model: nn.MLP, optimizer: optim.Optimizer, schedule: optim.Schedule, steps: int) -> None:
        for _ in range(steps):
            optimizer.zero_grad()
            loss_of(model).backward()
            optimizer.step()
            schedule.step()

    straight = network()
    optimizer = make(straight.parameters())
    train(straight, optimizer, plan(optimizer, 60), 50)

    first = network()
    optimizer = make(first.parameters())
    schedule = plan(optimizer, 60)
    train(first, optimizer, schedule, 25)
    first.save(tmp_path / "model.json")
    kept = json.dumps([optimizer.state_dict(), schedule.state_dict()])

    second = nn.MLP(2, [3, 1], activation="tanh")
    second.load(tmp_path / "model.json")
    kind = type(optimizer)
    optimizer = kind(second.parameters(), lr=0.7)  # the state knows better, for every setting
    schedule = plan(optimizer, 3)
    states = json.loads(kept)
    optimizer.load_state_dict(states[0])
    schedule.load_state_dict(states[1])
    train(second, optimizer, schedule, 25)
    assert second.state_dict() == straight.state_dict()
    assert optimizer.steps == 50


def test_a_state_is_a_copy() -> None:
    x = Value(1.0)
    optimizer = optim.Adam([x])
    state = optimizer.state_dict()
    x.grad = 1.0
    optimizer.step()
    assert state["means"] == [0.0]
    assert state["steps"] == 0
    optimizer.load_state_dict(state)
    assert optimizer.means is not state["means"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.update(kind="Adam"), "the state is of kind 'Adam', and this is SGD"),
        (lambda s: s.pop("kind"), "the state is of kind None, and this is SGD"),
        (lambda s: s.pop("momentum"), r"the state of SGD lacks \['momentum'\] and has \[\] too many"),
        (lambda s: s.update(beta=1), r"the state of SGD lacks \[\] and has \['beta'\] too many"),
        (
            lambda s: s.update(velocities=[1.0]),
            "velocities of the state holds 1, and must hold 2: one for each parameter",
        ),
        (lambda s: s.update(velocities=None), "velocities of the state holds None, and must hold 2"),
        (lambda s: s.update(velocities=[1.0, "2"]), "velocities of the state: a Value holds one real number"),
        (lambda s: s.update(steps=-1), "steps is a whole number of at least 0, not -1"),
        (lambda s: s.update(steps=1.5), "steps is a whole number of at least 0, not 1.5"),
        (lambda s: s.update(lr=-1.0), "lr is a number of at least 0, not -1"),
        (lambda s: s.update(momentum=0.0), "nesterov looks ahead along the momentum, which is 0"),
    ],
)
def test_a_state_that_does_not_fit_changes_nothing(change: Any, message: str) -> None:
    x, y = Value(1.0), Value(2.0)
    optimizer = optim.SGD([x, y], lr=0.1, momentum=0.9, nesterov=True)
    before, state = optimizer.state_dict(), optim.SGD([x, y], lr=0.2, momentum=0.5, nesterov=True).state_dict()
    change(state)
    with pytest.raises(SettingError, match=message):
        optimizer.load_state_dict(state)
    assert optimizer.state_dict() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda s: s.update(kind="CosineSchedule"),
            "the state is of kind 'CosineSchedule', and this is LinearSchedule",
        ),
        (lambda s: s.pop("end"), r"lacks \['end'\]"),
        (lambda s: s.update(end=-1.0), "end is a number of at least 0, not -1"),
        (lambda s: s.update(base=nan), "base is a number of at least 0, not nan"),
        (lambda s: s.update(taken=-1), "taken is a whole number of at least 0, not -1"),
        (lambda s: s.update(steps=0), "steps is a whole number of at least 1, not 0"),
    ],
)
def test_a_schedules_state_that_does_not_fit_changes_nothing(change: Any, message: str) -> None:
    optimizer = optim.SGD([Value(1.0)], lr=0.8)
    schedule = optim.LinearSchedule(optimizer, 4)
    schedule.step()
    before, rate = schedule.state_dict(), optimizer.lr
    state: dict[str, Any] = {**before, "base": 0.4, "taken": 3}
    change(state)
    with pytest.raises(SettingError, match=message):
        schedule.load_state_dict(state)
    assert (schedule.state_dict(), optimizer.lr) == (before, rate)


@pytest.mark.parametrize("state", [None, 3, "state", []])
def test_what_is_no_state_at_all(state: Any) -> None:
    optimizer = optim.SGD([Value(1.0)], lr=0.8)
    for target in (optimizer, optim.LinearSchedule(optimizer, 4)):
        with pytest.raises(SettingError, match=r"a state is a dict as state_dict\(\) gives it, not"):
            target.load_state_dict(state)


# --- settings ----------------------------------------------------------------------------------------------------

NOT_NUMBERS: list[Any] = ["0.1", None, 1j, [0.1], Value(0.1)]
OUTSIDE: list[Any] = [-0.1, nan, inf, -inf, *NOT_NUMBERS]


@pytest.mark.parametrize("bad", OUTSIDE, ids=repr)
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("lr", lambda bad: optim.SGD([Value(1.0)], lr=bad)),
        ("lr", lambda bad: optim.Adam([Value(1.0)], bad)),
        ("momentum", lambda bad: optim.SGD([Value(1.0)], lr=0.1, momentum=bad)),
        ("weight_decay", lambda bad: optim.SGD([Value(1.0)], lr=0.1, weight_decay=bad)),
        ("weight_decay", lambda bad: optim.AdamW([Value(1.0)], weight_decay=bad)),
        ("eps", lambda bad: optim.Adam([Value(1.0)], eps=bad)),
        ("each of the betas", lambda bad: optim.Adam([Value(1.0)], betas=(bad, 0.9))),
        ("each of the betas", lambda bad: optim.Adam([Value(1.0)], betas=(0.9, bad))),
        ("start", lambda bad: optim.LinearSchedule(optim.SGD([Value(1.0)], lr=0.1), 5, start=bad)),
        ("end", lambda bad: optim.LinearSchedule(optim.SGD([Value(1.0)], lr=0.1), 5, end=bad)),
        ("lowest", lambda bad: optim.CosineSchedule(optim.SGD([Value(1.0)], lr=0.1), 5, lowest=bad)),
    ],
)
def test_numbers_outside_what_they_may_be(name: str, make: Callable[[Any], Any], bad: Any) -> None:
    with pytest.raises(SettingError, match=f"^{name} is a number of at least 0, not "):
        make(bad)


def test_an_int_too_large_for_a_float() -> None:
    with pytest.raises(SettingError, match="lr is a number of at least 0, not int: 1000"):
        optim.SGD([Value(1.0)], lr=10**400)


@pytest.mark.parametrize("bad", [-0.1, nan, -inf, *NOT_NUMBERS], ids=repr)
@pytest.mark.parametrize(("clip", "name"), [(optim.clip_grad_norm, "max_norm"), (optim.clip_grad_value, "limit")])
def test_limits_outside_what_they_may_be(clip: Any, name: str, bad: Any) -> None:
    x = Value(1.0)
    x.grad = 7.0
    with pytest.raises(SettingError, match=f"^{name} is a number of at least 0, not "):
        clip([x], bad)
    assert x.grad == 7.0


@pytest.mark.parametrize("betas", [(1.0, 0.9), (0.9, 1.0), (1.5, 0.9)])
def test_betas_of_one_and_more(betas: tuple[float, float]) -> None:
    with pytest.raises(SettingError, match=r"betas lie below 1, as in \(0\.9, 0\.999\); these are"):
        optim.Adam([Value(1.0)], betas=betas)


@pytest.mark.parametrize("betas", [0.9, (0.9,), (0.9, 0.99, 0.999), None, "ab"])
def test_betas_that_are_no_pair(betas: Any) -> None:
    with pytest.raises(SettingError, match="betas are two numbers"):
        optim.Adam([Value(1.0)], betas=betas)


def test_settings_that_contradict_each_other() -> None:
    with pytest.raises(SettingError, match=r"nesterov looks ahead along the momentum, which is 0; give momentum=0\.9"):
        optim.SGD([Value(1.0)], lr=0.1, nesterov=True)
    with pytest.raises(SettingError, match=r"lowest is 0\.2, above the learning rate it starts from, 0\.1"):
        optim.CosineSchedule(optim.SGD([Value(1.0)], lr=0.1), 5, lowest=0.2)


@pytest.mark.parametrize("bad", OUTSIDE, ids=repr)
def test_a_learning_rate_set_afterwards_is_looked_at_too(bad: Any) -> None:
    optimizer = optim.SGD([Value(1.0)], lr=0.1)
    with pytest.raises(SettingError, match="lr is a number of at least 0"):
        optimizer.lr = bad
    assert optimizer.lr == 0.1
    optimizer.lr = 0
    assert optimizer.lr == 0.0


@pytest.mark.parametrize("steps", [0, -1, 1.5, "3", None, True])
@pytest.mark.parametrize("plan", [optim.LinearSchedule, optim.CosineSchedule])
def test_schedules_of_no_length(plan: Any, steps: Any) -> None:
    optimizer = optim.SGD([Value(1.0)], lr=0.1)
    with pytest.raises(SettingError, match="steps is a whole number of at least 1, not"):
        plan(optimizer, steps)
    assert optimizer.lr == 0.1


@pytest.mark.parametrize("plan", [optim.LinearSchedule, optim.CosineSchedule])
@pytest.mark.parametrize("bad", [None, 0.1, nn.Neuron(1), optim.SGD], ids=str)
def test_schedules_of_what_is_no_optimiser(plan: Any, bad: Any) -> None:
    with pytest.raises(SettingError, match="a schedule takes an optimiser"):
        plan(bad, 5)


# --- parameters --------------------------------------------------------------------------------------------------

SHARED = Value(1.0)
NEURON = nn.Neuron(2)
WRONG: list[tuple[Any, str]] = [
    (NEURON, r"takes the parameters of a model, not the Neuron: write model\.parameters\(\)"),
    (NEURON.parameters, r"takes a list of parameters, not the function .*: call it with \(\)"),
    (SHARED, "takes a list of parameters, not one Value: put it in brackets"),
    (None, "takes a list of Values, not NoneType"),
    (3.0, "takes a list of Values, not float"),
    ("weights", "takes a list of Values, not str"),
    ([], "was given no parameters; give model.parameters"),
    (iter(()), "was given no parameters"),
    ([SHARED, 2.0], "parameter 2 is not a Value but of type float: 2.0"),
    ([torch.tensor(1.0)], "parameter 1 is not a Value but of type Tensor"),
    ([[SHARED]], "parameter 1 is not a Value but of type list"),
    (
        NEURON.named_parameters(),
        r"parameter 1 is not a Value but of type tuple: .*; from named_parameters\(\) take the second",
    ),
    (NEURON.state_dict(), "parameter 1 is not a Value but of type str: 'w.0'"),
    ([SHARED, Value(2.0), SHARED], "parameters 1 and 3 are the same Value; give each once"),
]


@pytest.mark.parametrize(("given_parameters", "message"), WRONG, ids=[message[:30] for _, message in WRONG])
def test_parameters_that_are_none(given_parameters: Any, message: str) -> None:
    takers: list[Callable[[Any], Any]] = [
        lambda p: optim.SGD(p, lr=0.1),
        lambda p: optim.Adam(p),
        lambda p: optim.AdamW(p),
        lambda p: optim.clip_grad_norm(p, 1.0),
        lambda p: optim.clip_grad_value(p, 1.0),
    ]
    for take in takers:
        with pytest.raises(GradwalkError, match=message) as caught:
            take(given_parameters)
        assert isinstance(caught.value, SettingError)


def test_a_parameter_that_was_computed_is_refused() -> None:
    start = Value(2.0, label="start")
    with pytest.raises(
        SettingError, match=r"parameter 1 was computed from other Values \(start=2 \* 3 = 6\).*detach\(\)"
    ):
        optim.SGD([start * 3.0], lr=0.1)
    optim.SGD([(start * 3.0).detach()], lr=0.1)
    with gradwalk.no_grad():
        leaf = start * 3.0
    optim.SGD([leaf], lr=0.1)


def test_parameters_may_come_from_a_generator() -> None:
    model = network()
    optimizer = optim.SGD((p for p in model.parameters()), lr=0.1)
    assert optimizer.parameters == model.parameters()


def test_training_gets_somewhere() -> None:
    makers: list[Callable[[Any], Any]] = [lambda p: optim.SGD(p, 0.1, momentum=0.9), lambda p: optim.Adam(p, 0.05)]
    for make in makers:
        model = network()
        optimizer = make(model.parameters())
        first = loss_of(model).data
        for _ in range(100):
            optimizer.zero_grad()
            loss_of(model).backward()
            optimizer.step()
        assert loss_of(model).data < first / 50


def test_ones_own_must_say_what_they_do() -> None:
    with pytest.raises(NotImplementedError, match=r"Optimizer has no step\(\)"):
        optim.Optimizer([Value(1.0)], lr=0.1).step()
    with pytest.raises(NotImplementedError, match=r"Schedule has no rate\(\)"):
        optim.Schedule(optim.SGD([Value(1.0)], lr=0.1), 3).step()


def test_everything_public_is_exported() -> None:
    parts = (optim.optimizers, optim.clipping, optim.schedules)
    assert sorted(name for part in parts for name in part.__all__) == sorted(optim.__all__)


# --- rules of one's own ----------------------------------------------------------------------------------------------


class Friction(optim.Optimizer):
    settings = ("lr", "friction")
    memory = ("speeds",)

    def __init__(self, parameters: Any, lr: float, friction: float = 0.5) -> None:
        super().__init__(parameters, lr)
        self.friction = friction

    @staticmethod
    def update(p: Any, g: Any, speed: Any, lr: Any, friction: Any) -> Any:
        speed = friction * speed - lr * (g if abs(g) < 1.0 else g / abs(g))
        return p + speed, speed


class FrictionOneByOne(Friction):
    """The same rule, which cannot be put into a loop, because it reads a list."""

    limits = [1.0]  # noqa: RUF012

    @staticmethod
    def update(p: Any, g: Any, speed: Any, lr: Any, friction: Any) -> Any:
        limit = FrictionOneByOne.limits[0]
        speed = friction * speed - lr * (g if abs(g) < limit else g / abs(g))
        return p + speed, speed


@pytest.mark.parametrize("kind", [Friction, FrictionOneByOne])
def test_a_rule_is_applied_to_every_parameter_and_its_memory(kind: Any) -> None:
    parameters = [Value(1.0), Value(-2.0), Value(0.5)]
    expected, speeds = [1.0, -2.0, 0.5], [0.0] * 3
    descent = kind(parameters, lr=0.1, friction=0.25)
    for gs in ([0.5, -3.0, 0.0], [2.0, 0.1, -0.1], [0.0, 0.0, 7.0]):
        for i, (p, g) in enumerate(zip(parameters, gs, strict=True)):
            p.grad = g
            speeds[i] = 0.25 * speeds[i] - 0.1 * (g if abs(g) < 1.0 else g / abs(g))
            expected[i] += speeds[i]
        descent.step()
        assert [p.data for p in parameters] == expected
        assert descent.speeds == speeds
    assert descent.steps == 3
    again = kind(parameters, lr=0.3)
    again.load_state_dict(json.loads(json.dumps(descent.state_dict())))
    assert (again.speeds, again.friction, again.steps) == (speeds, 0.25, 3)


@pytest.mark.parametrize("listed", [False, True])
def test_a_rule_that_divides_by_zero_gives_what_ieee_754_has(listed: bool) -> None:
    limits = [1.0]

    class Inverse(optim.Optimizer):
        if listed:

            @staticmethod
            def update(p: Any, g: Any, lr: Any) -> Any:
                return p + lr * limits[0] / g

        else:

            @staticmethod
            def update(p: Any, g: Any, lr: Any) -> Any:
                return p + lr / g

    x, y, z = Value(1.0), Value(1.0), Value(1.0)
    x.grad, y.grad, z.grad = 2.0, 0.0, -0.0
    Inverse([x, y, z], lr=1.0).step()
    assert (x.data, y.data, z.data) == (1.5, inf, -inf)
    assert all(type(p.data) is float for p in (x, y, z))


def test_loops_are_not_the_users_code() -> None:
    """What watches the user's code must not take the loop's reading of numbers for theirs."""
    loop = loops._loop(optim.SGD.update, 1, 4)
    assert loop is not None
    assert not is_users(loop.__code__.co_filename)


def test_a_rule_that_fails_changes_nothing() -> None:
    class Fails(optim.Optimizer):
        memory = ("kept",)

        @staticmethod
        def update(p: Any, g: Any, kept: Any, lr: Any) -> Any:
            if g > 1.0:
                raise RuntimeError("too steep")
            return p - lr * g, kept + 1.0

    x, y = Value(1.0), Value(1.0)
    x.grad, y.grad = 0.5, 2.0
    descent = Fails([x, y], lr=1.0)
    with pytest.raises(RuntimeError, match="too steep"):
        descent.step()
    assert (x.data, y.data, descent.kept, descent.steps) == (1.0, 1.0, [0.0, 0.0], 0)
    descent.kept = [0.0]  # type: ignore[attr-defined]
    y.grad = 0.5
    with pytest.raises(SettingError, match="kept of the state holds 1, and must hold 2"):
        descent.step()


def test_a_rule_that_gives_too_few_numbers_is_refused() -> None:
    class Short(optim.Optimizer):
        memory = ("kept",)

        @staticmethod
        def update(p: Any, g: Any, kept: Any, lr: Any) -> Any:
            return p - lr * g

    x = Value(1.0)
    with pytest.raises(SettingError, match=r"Short\.update gave 1 number\(s\), and must give 2: the parameter's new"):
        Short([x], lr=1.0).step()
    assert x.data == 1.0


def test_optimisers_know_nothing_of_compilers() -> None:
    for path in Path(optim.__file__).parent.glob("*.py"):
        words = path.read_text(encoding="utf-8").lower()
        assert not [word for word in ("compil", "trace", "native") if word in words], path.name
