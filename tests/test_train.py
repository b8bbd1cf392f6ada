from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import pytest

from gradwalk import Value, datasets, nn, optim
from gradwalk.errors import AnomalyError, InputSizeError, NotANumberError, SettingError
from gradwalk.train import Best, Step, Training


def fresh(seed: int = 1, hidden: int = 6) -> nn.MLP:
    random.seed(seed)
    return nn.MLP(2, [hidden, 1], activation="tanh")


def training_on(model: Any, *, n: int = 20, lr: float = 0.1, **options: Any) -> Training:
    return Training(model, optim.SGD(model.parameters(), lr), *datasets.moons(n=n), **options)


def test_the_loop_is_the_one_that_one_would_write_by_hand() -> None:
    by_hand, model = [], fresh()
    optimizer = optim.Adam(model.parameters(), lr=0.05)
    schedule = optim.LinearSchedule(optimizer, 12, end=0.1)
    X, y = datasets.moons(n=20)
    for _ in range(12):
        scores = [model(x) for x in X]
        loss = nn.hinge(scores, y)
        right = sum((s.data > 0) == (label > 0) for s, label in zip(scores, y, strict=True))
        by_hand.append((loss.data, right / 20))
        model.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()

    again = fresh()
    optimizer = optim.Adam(again.parameters(), lr=0.05)
    training = Training(again, optimizer, X, y, schedule=optim.LinearSchedule(optimizer, 12, end=0.1))
    steps = list(training.run(12))
    assert [(step.loss, step.accuracy) for step in steps] == by_hand
    assert [step.step for step in steps] == list(range(1, 13))
    assert again.state_dict() == model.state_dict()
    assert training.losses == [loss for loss, _ in by_hand]


def test_another_loss_can_be_learnt() -> None:
    model = fresh()

    def as_probabilities(scores: Any, labels: Any) -> Value:
        return nn.binary_cross_entropy(scores, [(label + 1) // 2 for label in labels])

    training = training_on(model, lr=1.0, loss=as_probabilities)
    losses = [step.loss for step in training.run(40)]
    assert losses[0] == pytest.approx(math.log(2.0), abs=0.5)
    assert losses[-1] < 0.6 * losses[0]


class Scripted(nn.Module):
    """A model of one weight on one point, whose loss is scripted by what the optimiser makes of the weight."""

    def __init__(self) -> None:
        self.w = Value(0.0)

    def __call__(self, x: Any) -> Value:
        return self.w * float(x[0])


class Jumping:
    """An optimiser that sets the weight to a list of numbers in turn."""

    lr = 1.0

    def __init__(self, model: Scripted, *weights: float) -> None:
        self.model, self.ahead = model, list(weights)

    def zero_grad(self) -> None:
        self.model.zero_grad()

    def step(self) -> None:
        self.model.w.data = self.ahead.pop(0)


def test_the_best_model_is_the_one_before_the_update_that_spoiled_it() -> None:
    model = Scripted()
    training = Training(model, Jumping(model, 0.25, 0.5, -3.0, 0.375), [[1.0]], [1])
    assert list(training.run(4)) == [Step(1, 1.0, 0.0), Step(2, 0.75, 1.0), Step(3, 0.5, 1.0), Step(4, 4.0, 0.0)]
    assert training.best == Best(2, 0.5, 1.0, {"w": 0.5})
    assert model.w.data == 0.375
    training.restore_best()
    assert model.w.data == 0.5


def test_the_model_after_the_last_update_counts_too() -> None:
    model = Scripted()
    training = Training(model, Jumping(model, 0.25, 0.5), [[1.0]], [1])
    for _ in training.run(2):
        pass
    assert training.best == Best(2, 0.5, 1.0, {"w": 0.5})


def test_with_mini_batches_the_best_is_judged_by_all_points() -> None:
    model = Scripted()
    # Two points of different sizes, one at a time: a batch alone would call 0.5 and 2.0 equally good.
    training = Training(model, Jumping(model, 0.5, 0.5, 0.75, 0.75, 0.1, 0.1), [[1.0], [0.5]], [1, 1], batch=1)
    for _ in training.run(6):
        pass
    assert training.best is not None
    assert (training.best.updates, training.best.state) == (4, {"w": 0.75})
    assert training.best.loss == pytest.approx((0.25 + 0.625) / 2)


def test_a_loss_of_zero_ends_the_run() -> None:
    model = Scripted()
    training = Training(model, Jumping(model, 0.5, 2.0, 2.0, 9.0), [[1.0]], [1])
    assert [step.loss for step in training.run(100)] == [1.0, 0.5, 0.0]
    assert training.done
    assert training.best == Best(2, 0.0, 1.0, {"w": 2.0})
    assert list(training.run(5)) == []


def test_it_goes_on_where_it_stopped() -> None:
    halves, whole = training_on(fresh()), training_on(fresh())
    first, second, all_at_once = list(halves.run(3)), list(halves.run(4)), list(whole.run(7))
    assert first + second == all_at_once


def test_breaking_off_loses_nothing() -> None:
    training = training_on(fresh())
    for step in training.run(100):
        if step.step == 5:
            break
    assert len(training.losses) == 5
    assert training.best is not None
    assert training.best.loss == min(training.losses)


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, MemoryError])
def test_the_best_model_survives_whatever_happens_in_a_step(error: type[BaseException]) -> None:
    model = fresh()
    training = training_on(model)
    update: Callable[[], None] = training.optimizer.step

    def failing() -> None:
        if len(training.losses) == 3:
            model.parameters()[0].data = 1e9  # half an update
            raise error
        update()

    training.optimizer.step = failing
    with pytest.raises(error):
        list(training.run(10))
    assert training.best is not None
    training.restore_best()
    assert training.measure() == (training.best.loss, training.best.accuracy)
    assert training.best.loss < training.losses[0]


def test_a_diverging_run_says_so_and_keeps_the_best() -> None:
    model = Scripted()
    training = Training(model, Jumping(model, 0.5, math.nan, 0.0), [[1.0]], [1])
    with pytest.raises(AnomalyError, match=r"turned nan at step 3, with a learning rate of 1; the best model so far"):
        list(training.run(10))
    assert training.best == Best(1, 0.5, 1.0, {"w": 0.5})


def test_a_run_that_starts_broken_has_no_best_model() -> None:
    model = Scripted()
    model.w.data = math.inf
    training = Training(model, Jumping(model), [[-1.0]], [1])
    with pytest.raises(AnomalyError, match=r"^the loss is inf at step 1, before any step was taken: look at"):
        list(training.run(1))
    assert training.best is None


@pytest.mark.parametrize("given", [None, 3.0, [Value(1.0)]])
def test_a_loss_that_is_no_value_is_refused(given: Any) -> None:
    model = Scripted()
    training = Training(model, Jumping(model), [[1.0]], [1], loss=lambda scores, y: given)
    for use in (lambda: list(training.run(1)), training.measure):
        with pytest.raises(NotANumberError, match=f"must give one Value, .* and it gave {type(given).__name__}: "):
            use()


def test_mini_batches_go_through_all_points_before_any_comes_again() -> None:
    seen: list[float] = []

    class Watching(Scripted):
        def __call__(self, x: Any) -> Value:
            seen.append(x[0])
            return super().__call__(x)

    model = Watching()
    points = [[float(i)] for i in range(1, 11)]
    training = Training(model, optim.SGD(model.parameters(), 1e-9), points, [1] * 10, batch=4, seed=3)
    sizes = []
    for _ in training.run(6):
        sizes.append(len(seen))
        del seen[:]
    # Passes of 4 + 4 + 2 points; after a pass the whole set is measured.
    assert sizes == [4, 4, 12, 4, 4, 12]


def test_mini_batches_are_fixed_by_the_seed() -> None:
    def losses(seed: int) -> list[float]:
        return [step.loss for step in training_on(fresh(), batch=6, seed=seed).run(8)]

    random.seed(99)
    first = losses(5)
    assert losses(5) == first
    assert losses(6) != first


def test_a_batch_of_all_points_learns_the_same_as_no_batch() -> None:
    together, batched = training_on(fresh()), training_on(fresh(), batch=20)
    a, b = [s.loss for s in together.run(10)], [s.loss for s in batched.run(10)]
    assert a == pytest.approx(b, rel=1e-12)  # the same sums, in another order


def test_measuring_changes_nothing() -> None:
    model = fresh()
    training = training_on(model)
    nn.hinge([model(x) for x in training.X], training.y).backward()
    before = [(p.data, p.grad) for p in model.parameters()]
    loss, accuracy = training.measure()
    assert (loss, accuracy) == training.measure()
    assert [(p.data, p.grad) for p in model.parameters()] == before


def test_it_learns_xor_to_the_last_point() -> None:
    random.seed(3)
    model = nn.MLP(2, [8, 1])
    training = Training(model, optim.Adam(model.parameters(), lr=0.1), *datasets.xor(n=20))
    for _ in training.run(60):
        pass
    assert training.best is not None
    assert training.best.accuracy == 1.0


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([], [], "there are 0 points and 0 labels"),
        ([[1.0, 2.0]], [], "there are 1 points and 0 labels"),
        ([[1.0, 2.0]], [1, -1], "there are 1 points and 2 labels"),
    ],
)
def test_points_without_labels_are_refused(X: Any, y: Any, words: str) -> None:
    model = fresh()
    with pytest.raises(InputSizeError, match=words):
        Training(model, optim.SGD(model.parameters(), 0.1), X, y)


@pytest.mark.parametrize("label", [0, 2, "1", None, math.nan])
def test_labels_other_than_plus_and_minus_one_are_refused(label: Any) -> None:
    model = fresh()
    with pytest.raises(SettingError, match=r"labels are −1 or \+1, not"):
        Training(model, optim.SGD(model.parameters(), 0.1), [[1.0, 2.0]] * 2, [1, label])


@pytest.mark.parametrize("steps", [0, -1, 2.0, "3", None, True])
def test_steps_are_a_whole_number_from_one_up(steps: Any) -> None:
    with pytest.raises(SettingError, match="steps is a whole number from 1 up, not"):
        list(training_on(fresh()).run(steps))


@pytest.mark.parametrize("batch", [0, -3, 21, 2.0, "3", False])
def test_a_batch_lies_between_one_point_and_all(batch: Any) -> None:
    with pytest.raises(SettingError, match="batch, the points of a step, is a whole number from 1 to 20, not"):
        training_on(fresh(), batch=batch)


def test_a_seed_is_a_whole_number() -> None:
    with pytest.raises(SettingError, match="seed is a whole number, not 'x'"):
        training_on(fresh(), seed="x")


def test_there_is_no_best_model_before_the_first_step() -> None:
    with pytest.raises(SettingError, match="there is no best model yet: run at least one step first"):
        training_on(fresh()).restore_best()
