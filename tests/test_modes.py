"""no_grad and anomaly."""

from __future__ import annotations

import asyncio
import contextlib
import math
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
from apart import run_apart
from interrupting import interrupts, needs_timer, seconds_of

import gradwalk
from gradwalk import Value, errors, modes
from gradwalk.node import gradients_of, numbers_of, set_numbers


def test_no_grad_makes_leaves_for_every_kind_of_op() -> None:
    a, b = Value(3.0), Value(2.0)
    with gradwalk.no_grad():
        for out, expected in (
            (a + b, 5.0),
            (a * b, 6.0),
            (a - b, 1.0),
            (a / b, 1.5),
            (a**b, 9.0),
            (-a, -3.0),
            (a.relu(), 3.0),
            (a + 1, 4.0),
            (1 - a, -2.0),
            (a * 2.0, 6.0),
            (a / 2, 1.5),
            (a**2, 9.0),
            (a.tanh(), math.tanh(3.0)),
            (a.clamp(0, 1), 1.0),
        ):
            assert (out.data, out.operands) == (expected, ())
    assert (a + b).operands == (a, b)


def test_no_grad_as_a_decorator_and_nested() -> None:
    @gradwalk.no_grad()
    def forward(x: Value) -> Value:
        with gradwalk.no_grad():
            x * 2
        return x * 2

    for _ in range(2):
        assert forward(Value(1.0)).operands == ()
        assert len((Value(1.0) * Value(2.0)).operands) == 2
        assert modes.active == 0


def test_no_grad_as_a_decorator_without_brackets() -> None:
    @gradwalk.no_grad
    def forward(x: Value, *, by: int) -> Value:
        """Told."""
        return x * by

    for _ in range(2):
        out = forward(Value(2.0), by=3)
        assert (out.data, out.is_leaf, (Value(1.0) * 2).is_leaf) == (6.0, True, False)
    assert (forward.__name__, forward.__doc__) == ("forward", "Told.")
    with pytest.raises(errors.GraphError, match=r"not 3$"):
        gradwalk.no_grad(3)  # type: ignore[call-overload]


def test_modes_end_with_an_exception() -> None:
    with pytest.raises(KeyError), gradwalk.no_grad(), gradwalk.anomaly():
        raise KeyError
    assert modes.recording()
    assert not modes.every_op()
    assert modes.active == 0


def test_backward_works_inside_no_grad() -> None:
    x = Value(3.0)
    y = x * x
    with gradwalk.no_grad():
        y.backward()
    assert x.grad == 6.0


BIRTHS: list[tuple[Callable[[], Any], str]] = [
    (lambda: Value(-1.0, label="z").log(), r"log\(z=-1\) gave nan"),
    (lambda: Value(1.0) / Value(0.0), "1 / 0 gave inf"),
    (lambda: Value(1e200) * Value(1e200), r"1e\+200 \* 1e\+200 gave inf"),
    (lambda: Value(1e308) + 1e308, r"1e\+308 \+ 1e\+308 gave inf"),
    (lambda: Value(0.0) ** -1, r"0 \*\* -1 gave inf"),
    (lambda: Value(math.inf) - Value(math.inf), "inf - inf gave nan"),
    (lambda: -Value(math.inf), r"neg\(inf\) gave -inf"),
    (lambda: Value(math.inf).relu(), r"ReLU\(inf\) gave inf"),
    (lambda: Value(1000.0).exp(), r"exp\(1000\) gave inf"),
]


@pytest.mark.parametrize(("birth", "message"), BIRTHS)
def test_anomaly_names_op_operands_and_line(birth: Callable[[], Any], message: str) -> None:
    assert not math.isfinite(birth().data), "outside anomaly() the number is simply made"
    with gradwalk.anomaly(), pytest.raises(errors.AnomalyError, match=message) as e:
        birth()
    text = str(e.value)
    assert f"made by {__file__}, line {birth.__code__.co_firstlineno}, in <lambda>" in text
    assert "lambda: " in text.splitlines()[-1]


def test_anomaly_watches_the_backward_walk_too() -> None:
    x = Value(0.0, label="x")
    with gradwalk.anomaly():
        y = x.sqrt()
        y.label = "root"
        z = y * 3
        with pytest.raises(errors.AnomalyError) as e:
            z.backward()
    text = str(e.value)
    assert "the gradient turned inf on its way from root = sqrt(x=0) to x=0: upstream 3 × local inf" in text
    assert "y = x.sqrt()" in text
    assert x.grad == 0.0


def test_anomaly_of_a_graph_built_outside_says_how_to_see_the_line() -> None:
    x = Value(0.0)
    y = x.log() * 0.0
    with gradwalk.anomaly(), pytest.raises(errors.AnomalyError, match=r"build the graph under anomaly\(\)"):
        y.backward()


def test_anomaly_leaves_good_numbers_alone() -> None:
    with gradwalk.anomaly():
        x = Value(0.5)
        y = (x.tanh() + 1) / x
        y.backward()
    again = Value(0.5)
    ((again.tanh() + 1) / again).backward()
    assert x.grad == again.grad
    assert len(y.operands) == 2


def test_modes_belong_to_the_task_that_entered_them() -> None:
    async def with_mode(entered: asyncio.Event, leave: asyncio.Event) -> None:
        with gradwalk.no_grad():
            entered.set()
            await leave.wait()

    async def main() -> tuple[Value, ...]:
        entered, leave = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(with_mode(entered, leave))
        await entered.wait()
        a = Value(1.0)
        out = a * a
        leave.set()
        await task
        return out.operands

    assert len(run_apart(main())) == 2


@pytest.mark.parametrize("mode", [gradwalk.no_grad, gradwalk.anomaly])
def test_a_value_can_be_detached_in_any_mode(mode: Callable[[], Any]) -> None:
    x = Value(3.0)
    with mode():
        y = x.detach()
    assert (y.data, y.operands) == (3.0, ())


def test_a_leaf_that_is_the_root_adds_up_in_anomaly_as_outside() -> None:
    a = Value(2.0)
    a.backward(3.0)
    with gradwalk.anomaly():
        a.backward(4.0)
    assert a.grad == 7.0


class Diary(modes.Observer):
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def op(self, out: Value, operands: tuple[Any, ...]) -> None:
        self.told.append((out._op, out.data))

    def leaf(self, v: Value, data: Any) -> None:
        self.told.append(("leaf", v.data))

    def before_backward(self, root: Value) -> None:
        self.told.append(("before_backward", root.grad))

    def after_backward(self, root: Value) -> None:
        self.told.append(("after_backward", root.grad))

    def before_step(self, optimizer: Any) -> None:
        self.told.append(("before_step", optimizer.parameters[0].data))

    def after_step(self, optimizer: Any) -> None:
        self.told.append(("after_step", optimizer.parameters[0].data))


def test_an_observer_is_told_of_ops_leaves_walks_and_steps_in_order() -> None:
    diary, w = Diary(), Value(2.0)
    descent = gradwalk.optim.SGD([w], lr=0.5)
    with modes.observed(diary):
        loss = w * Value(3.0)
        loss.backward()
        descent.step()
    w * 2.0  # nobody is told of this
    assert diary.told == [
        ("leaf", 3.0), ("*", 6.0), ("before_backward", 0.0), ("after_backward", 1.0), ("before_step", 2.0),
        ("after_step", 0.5),
    ]  # fmt: skip


def test_a_step_that_calls_its_bases_is_told_of_once_and_one_that_fails_ends() -> None:
    class Twice(gradwalk.optim.SGD):
        def step(self) -> None:
            super().step()
            super().step()

    class Failing(gradwalk.optim.Optimizer):
        def step(self) -> None:
            raise KeyError

    diary, w = Diary(), Value(2.0)
    w.grad = 1.0
    twice, failing = Twice([w], lr=0.5), Failing([w], lr=0.5)
    with modes.observed(diary):
        twice.step()
        for _ in range(2):
            with pytest.raises(KeyError):
                failing.step()
    assert diary.told == [("before_step", 2.0), ("after_step", 1.0), ("before_step", 1.0), ("before_step", 1.0)]


def test_observers_see_what_the_reader_sees_and_the_leaf_that_no_grad_gives() -> None:
    class Doubling(Diary):
        def read(self, v: Value, field: str, number: float) -> float:
            return 2.0 * number if field == "data" else number

    doubling, x = Doubling(), Value(3.0)
    with modes.observed(doubling), gradwalk.no_grad():
        assert (x.data, x.grad, (x * x).data) == (6.0, 0.0, 18.0)
    assert x.data == 3.0
    assert doubling.told == [("", 18.0)]


def test_interpreters_are_a_stack_that_belongs_to_its_thread() -> None:
    diary = Diary()
    with modes.observed(diary), gradwalk.anomaly():
        assert [type(layer).__name__ for layer in modes.stack()] == ["Anomaly", "Observing"]
        thread = threading.Thread(target=lambda: Value(1.0) * 2.0)
        thread.start()
        thread.join()
    assert diary.told == []
    assert (list(modes.stack()), modes.active) == ([], 0)


def test_an_observer_of_steps_alone_sends_no_op_down_the_slow_road() -> None:
    from gradwalk import optim

    class Steps(modes.Observer):
        def __init__(self) -> None:
            self.told: list[str] = []

        def before_backward(self, root: Any) -> None:
            self.told.append("before backward")

        def after_step(self, optimizer: Any) -> None:
            self.told.append("after step")

    class Ops(modes.Observer):
        def op(self, out: Any, operands: Any) -> None:
            seen.append(out)

    seen: list[Any] = []
    x, steps = Value(3.0), Steps()
    with modes.observed(steps):
        assert modes.active == 0
        with modes.observed(Ops()):
            assert modes.active == 1
            y = x * x
        z = y * 2
        z.backward()
        optim.SGD([x], lr=0.1).step()
    assert steps.told == ["before backward", "after step"]
    assert seen == [y]


def test_who_came_first_may_go_first() -> None:
    class Counting(modes.Observer):
        count = 0

        def op(self, out: Any, operands: Any) -> None:
            self.count += 1

    first, second = Counting(), Counting()
    one, two = modes.observed(first), modes.observed(second)
    one.__enter__()
    two.__enter__()
    x = Value(3.0) * 2
    one.__exit__(None, None, None)
    x = x * 2
    two.__exit__(None, None, None)
    x * 2
    assert (first.count, second.count) == (1, 2)
    assert (modes.active, modes.top()) == (0, modes.bottom)


def test_leaves_and_detached_ones_are_told() -> None:
    class Leaves(modes.Observer):
        def leaf(self, v: Any, data: Any) -> None:
            told.append(("leaf", data))

        def detached(self, out: Any, v: Any) -> None:
            told.append(("detached", out.data, v is x))

        def write(self, v: Any, field: str, number: Any) -> Any:
            return number + 1.0

    told: list[Any] = []
    with modes.observed(Leaves()):
        x = Value(2)
        y = x.detach()
        y.data = 5.0
    assert told == [("leaf", 2), ("detached", 2.0, True)]
    assert (x.data, y.data) == (2.0, 6.0)


def test_an_observer_of_steps_is_told_of_all_threads_whatever_is_entered_and_left_meanwhile() -> None:
    class Steps(modes.Observer):
        def __init__(self) -> None:
            self.told = 0

        def after_backward(self, root: Any) -> None:
            self.told += 1

    def walk() -> None:
        (Value(3.0) * 2).backward()

    def elsewhere() -> None:
        thread = threading.Thread(target=walk)
        thread.start()
        thread.join()

    outer, inner = Steps(), Steps()
    with modes.anomaly():
        one, two = modes.observed(outer), modes.observed(inner)
        one.__enter__()
        with gradwalk.no_grad():
            two.__enter__()
        walk()
        elsewhere()
        assert (outer.told, inner.told) == (2, 2)
        one.__exit__(None, None, None)
        walk()
        elsewhere()
        assert (outer.told, inner.told) == (2, 4)
    walk()
    two.__exit__(None, None, None)
    walk()
    elsewhere()
    assert (outer.told, inner.told) == (2, 5)
    assert (modes.active, modes.top()) == (0, modes.bottom)


def test_an_observer_of_steps_lies_below_all_layers_and_is_counted_once() -> None:
    class Steps(modes.Observer):
        every_op = False

        def __init__(self) -> None:
            self.walked = 0

        def after_backward(self, root: Any) -> None:
            self.walked += 1

    outer, inner = Steps(), Steps()
    before = modes.layers
    with modes.observed(outer), modes.no_grad(), modes.anomaly():
        with modes.observed(inner):
            layers = list(modes.stack())
            assert [type(layer).__name__ for layer in layers] == ["Anomaly", "NoGrad", "Observing", "Observing"]
            assert [layer.observer for layer in layers[2:]] == [inner, outer]  # type: ignore[attr-defined]
            assert modes.layers == before + 4
            Value(2.0).backward()
        Value(2.0).backward()
        assert modes.layers == before + 3
    assert modes.top() is modes.bottom
    assert modes.layers == before
    assert (outer.walked, inner.walked) == (2, 1)


def test_an_observer_says_at_any_time_whether_it_wants_every_op() -> None:
    observer = modes.Observer()
    with modes.observed(observer):
        assert modes.every_op()
        observer.every_op = False
        assert not modes.every_op()


def test_an_observer_hears_of_numbers_that_are_read_in_bulk() -> None:
    heard = []

    class Reader(modes.Observer):
        def read(self, v: Any, field: str, number: Any) -> Any:
            heard.append((field, number))
            return number

    nodes = [Value(2.0), Value(3.0)]
    with modes.observed(Reader()):
        assert numbers_of(nodes) == [2.0, 3.0]
        assert gradients_of(nodes) == [0.0, 0.0]
    assert heard == [("data", 2.0), ("data", 3.0), ("grad", 0.0), ("grad", 0.0)]


def test_numbers_that_are_set_in_bulk_are_told_one_by_one() -> None:
    heard: list[tuple[str, float]] = []

    class Writer(modes.Observer):
        def write(self, v: Any, field: str, number: Any) -> Any:
            heard.append((field, number))
            return 10 * number

    nodes = [Value(2.0), Value(3.0)]
    with modes.observed(Writer()):
        set_numbers(nodes, [4.0, 5.0])
    assert heard == [("data", 4.0), ("data", 5.0)]
    assert numbers_of(nodes) == [40.0, 50.0]


@pytest.mark.parametrize(
    ("mode", "wanted"),
    [
        (lambda: modes.entered(modes.OpByOp()), True),
        (gradwalk.anomaly, True),
        (gradwalk.no_grad, False),
        (lambda: modes.observed(modes.Observer()), True),
    ],
)
def test_who_needs_ops_one_at_a_time_says_so(mode: Callable[[], Any], wanted: bool) -> None:
    assert not modes.every_op()
    with mode():
        assert modes.every_op() is wanted
        observing = isinstance(modes.top(), modes.Observing)
        assert modes.every_op(for_a_loss=False) is (wanted and not observing)
    assert not modes.every_op()


def test_who_wants_ops_one_at_a_time_need_not_see_them() -> None:
    with modes.entered(modes.OpByOp()):
        assert (modes.layers, modes.active) == (1, 0)


def test_one_observer_of_steps_ends_and_the_other_stays() -> None:
    class Steps(modes.Observer):
        walked = 0

        def after_backward(self, root: Any) -> None:
            self.walked += 1

    outer, inner = Steps(), Steps()
    with modes.observed(outer):
        with modes.observed(inner):
            Value(1.0).backward()
        Value(1.0).backward()
        assert [layer.observer for layer in modes.stack() if isinstance(layer, modes.Observing)] == [outer]
    Value(1.0).backward()
    assert (outer.walked, inner.walked) == (2, 1)
    assert modes.top() is modes.bottom


def test_a_mode_may_know_no_numbers() -> None:
    class Blind(modes.Interpreter):
        knows_numbers = False

    assert modes.knows_numbers()
    with modes.entered(Blind()), gradwalk.no_grad():
        assert not modes.knows_numbers()
    with gradwalk.anomaly(), gradwalk.no_grad():
        assert modes.knows_numbers()


def test_a_block_is_entered_once() -> None:
    block = gradwalk.no_grad()
    with block:
        assert not modes.recording()
        with pytest.raises(RuntimeError, match="entered before; make a new one"), block:
            pass
        assert not modes.recording()
    with pytest.raises(RuntimeError, match="entered before; make a new one"), block:
        pass
    assert modes.recording()


def test_a_block_may_be_one_of_a_stack() -> None:
    with contextlib.ExitStack() as blocks:
        blocks.enter_context(gradwalk.no_grad())
        assert not modes.recording()
    assert modes.recording()
    with pytest.raises(KeyError), contextlib.ExitStack() as blocks:
        raise KeyError(blocks.enter_context(gradwalk.no_grad()))
    assert modes.recording()
    assert modes.active == 0


def test_no_grad_lasts_as_long_as_a_coroutine_that_it_decorates() -> None:
    @gradwalk.no_grad()
    async def forward(x: Value, *, times: int) -> Value:
        """Told."""
        await asyncio.sleep(0)
        return x * times

    async def beside() -> list[Value]:
        return [await forward(x, times=2), x * 3, await forward(x, times=4)]

    x = Value(1.0)
    assert [(v.data, v.is_leaf) for v in asyncio.run(beside())] == [(2.0, True), (3.0, False), (4.0, True)]
    assert (forward.__name__, forward.__doc__) == ("forward", "Told.")


def test_no_grad_decorates_no_generator_which_would_run_after_it() -> None:
    def one() -> Any:
        yield 1

    async def other() -> Any:
        yield 1

    for generator in (one, other):
        with pytest.raises(errors.GraphError, match=f"^{generator.__name__} is a generator, .* between two yields$"):
            gradwalk.no_grad()(generator)


@needs_timer
def test_ctrl_c_never_leaves_a_mode_on() -> None:
    """Not even while somebody keeps the error, and with it all that was under way, as a notebook does."""
    x, draw, kept = Value(2.0), random.Random(1), list[BaseException]()

    def turn() -> None:
        for _ in range(300):
            with gradwalk.no_grad():
                pass

    took = seconds_of(turn)
    with interrupts() as broken_off:
        for _ in range(200):
            error = broken_off(turn, draw.uniform(0.02, 0.9) * took)
            kept += [] if error is None else [error]
            assert (x * x).operands
            assert modes.layers == 0
    assert kept


def test_the_first_block_of_a_program_is_heeded() -> None:
    """Before any block has ended, nothing has been counted anew."""
    script = """
from gradwalk import Value, modes, no_grad
assert (modes.layers, modes.active) == (0, 0)
with no_grad():
    assert (Value(2.0) * 3.0).is_leaf
assert not (Value(2.0) * 3.0).is_leaf
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_an_observer_of_walks_hears_of_them_after_a_block_inside_another_observers() -> None:
    class Walks(modes.Observer):
        count = 0

        def after_backward(self, root: Any) -> None:
            self.count += 1

    first, second = Walks(), Walks()
    with modes.observed(first):
        with gradwalk.no_grad():
            pass
        Value(1.0).backward()
        with modes.observed(second):
            Value(1.0).backward()
    assert (first.count, second.count) == (2, 1)


def test_a_layer_that_is_over_is_taken_out_from_below_another() -> None:
    first, second = modes.no_grad(), modes.entered(modes.Interpreter())
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert (Value(2.0) * 3).operands
    assert second.layer.below is modes.bottom
    second.__exit__(None, None, None)
