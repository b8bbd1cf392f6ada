"""Depth costs memory, never the stack; shared nodes cost time in proportion to their number, not to their paths."""

from __future__ import annotations

import _thread
import copy
import dis
import gc
import random
import subprocess
import sys
import textwrap
import threading
import time
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from interrupting import interrupts, needs_timer, seconds_of

import gradwalk
from gradwalk import Tensor, Value, walk
from gradwalk.turns import Turn

MILLION = """
import gc, sys, threading
from gradwalk import Value, walk, zero_grad

gc.disable()  # until all is to be freed: it takes half of the time
limit = sys.getrecursionlimit()
x = k = None

def job():
    global x, total
    x = Value(1.0)
    y = x
    k = Value(1.0)
    for _ in range(1_000_000):
        y = y * k
    count = sum(1 for _ in walk.topological(y))
    assert count == 1_000_002, count
    y.backward()
    assert x.grad == 1.0 and k.grad == 1_000_000.0
    zero_grad(y)
    assert x.grad == 0.0
    del y
    gc.collect()

thread = threading.Thread(target=job)   # a thread's stack is smaller than the main one
thread.start()
thread.join()
assert sys.getrecursionlimit() == limit
print("walked", x.data)
"""


@pytest.mark.slow
def test_a_chain_of_a_million_nodes() -> None:
    """In a process of its own: a stack overflow there must fail this test, not the test run."""
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(MILLION)], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr[-2000:]
    assert run.stdout.strip() == "walked 1.0"


def test_a_chain_of_two_thousand_diamonds_has_every_path_counted() -> None:
    """2¹⁰⁰ paths would never end if each were walked; 2,000 diamonds have 2²⁰⁰⁰."""
    x = Value(1.0)
    y = x
    for _ in range(2000):
        y = y * 0.5 + y * 0.5
    nodes = sum(1 for _ in walk.topological(y, gradwalk.reverse.flowing))
    assert nodes == 6001
    y.backward()
    assert x.grad == 1.0


@pytest.mark.slow
def test_depth_in_the_careful_walk_in_copies_and_at_higher_order() -> None:
    x = Value(0.5)
    y = x
    for _ in range(20_000):
        y = y * 1.0
    y.register_hook(lambda g: None)
    gradwalk.engine.walk_back(y, 1.0)
    assert x.grad == 1.0
    twin = copy.deepcopy(y)
    twin.backward()
    assert sum(1 for _ in walk.topological(twin)) == sum(1 for _ in walk.topological(y))
    x.grad = 0.0
    z = x * x
    for _ in range(5000):
        z = z + 0.0
    z.backward(create_graph=True)
    assert x.grad.data == 1.0
    slope, x.grad = x.grad, 0.0
    slope.backward()
    assert x.grad == 2.0


def test_nodes_are_freed_without_the_collector() -> None:
    """No reference cycles: a graph goes when its last reference does."""
    gc.collect()
    gc.disable()
    try:
        x = Value(1.0)
        y = (x * x + 1).tanh() / x
        y.backward()
        del y
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_threads_do_not_disturb_each_other() -> None:
    """Graphs built, switched and walked at once, on parameters of their own and on shared leaves."""
    shared = Value(2.0)
    failures: list[str] = []
    rounds, threads = 60, 6
    barrier = threading.Barrier(threads)

    def job(seed: int) -> None:
        own = Value(float(seed + 1))
        barrier.wait()
        for _ in range(rounds):
            y = own
            for _ in range(40):
                y = y * 1.0 + shared * 0.0
            if seed % 2:
                with gradwalk.no_grad():
                    if (own * own).operands:
                        failures.append("no_grad did not hold")
            elif not (own * own).operands:
                failures.append("another thread's no_grad reached this one")
            y.backward()
        if own.grad != rounds:
            failures.append(f"thread {seed}: {own.grad} where {rounds} is right")

    old = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        workers = [threading.Thread(target=job, args=(i,)) for i in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        sys.setswitchinterval(old)
    assert failures == []
    assert gradwalk.modes.active == 0
    assert shared.grad == 0.0


@needs_timer
@pytest.mark.parametrize("kind", ["plain", "hooked", "graphs", "tensors"])
def test_ctrl_c_leaves_the_leaves_as_they_were_or_with_all_of_it(kind: str) -> None:
    """A signal at any moment, as from the keyboard."""
    count = 300 if kind == "tensors" else 3000
    leaves: list[Any] = [Tensor([1.0, 1.0]) if kind == "tensors" else Value(1.0) for _ in range(count)]
    y = leaves[0]
    for x in leaves:
        y = y + x * 2.0
    y = y.sum() if kind == "tensors" else y
    if kind == "hooked":
        leaves[1].register_hook(lambda gradient: None)

    def numbers(grad: Any) -> float:
        return grad.tolist()[0] if kind == "tensors" else getattr(grad, "data", grad)  # type: ignore[no-any-return]

    back = partial(y.backward, create_graph=kind == "graphs")
    back()
    whole = [numbers(x.grad) for x in leaves]
    draw, outcomes = random.Random(1), []
    took = seconds_of(back)
    with interrupts() as broken_off:
        for _ in range(40):
            for x in leaves:
                x.grad = [0.5, 0.5] if kind == "tensors" else 0.5
            broken_off(back, draw.uniform(0.02, 1.1) * took)
            after = [numbers(x.grad) for x in leaves]
            outcomes.append("nothing" if after == [0.5] * len(after) else "all")
            assert outcomes[-1] == "nothing" or after == [0.5 + grad for grad in whole]
    assert "nothing" in outcomes
    worker = threading.Thread(target=back)  # no walk that was broken off holds others up
    worker.start()
    worker.join(30)
    assert not worker.is_alive()


LOCKS = {"lock", "one_at_a_time", "_lock", "_one_at_a_time", "_setting", "_counting", "_growing"}


def jumps_out_of_locks(path: Path) -> list[str]:
    """The loops under a lock that Ctrl-C, heard where they jump back, leaves without giving the lock back.

    Since Python 3.12 some jumps back are not in the table of what is to be done about an exception, though the code
    around them is.
    """
    found, codes = [], [compile(path.read_text(encoding="utf-8"), str(path), "exec")]
    for code in codes:  # grows as it is read
        codes += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
        if not LOCKS & {*code.co_names, *code.co_freevars}:
            continue
        table = dis._parse_exception_table(code)  # type: ignore[attr-defined]
        instructions = [i for i in dis.get_instructions(code) if i.opname not in ("NOT_TAKEN", "CACHE")]
        handlers = {entry.target for entry in table}
        ends_blocks = {  # of `with`
            first.offset
            for first, second in pairwise(instructions)
            if first.offset in handlers and second.opname == "WITH_EXCEPT_START"
        }
        for before, jump in pairwise(instructions):
            around = [{e.target for e in table if e.start <= i.offset < e.end} for i in (before, jump)]
            if jump.opname == "JUMP_BACKWARD" and (around[0] - around[1]) & ends_blocks:
                found.append(f"{path.name}:{before.positions.lineno if before.positions else code.co_name}")
    return found


def test_ctrl_c_in_a_loop_gives_the_lock_back() -> None:
    paths = [
        path
        for path in sorted(Path(gradwalk.__file__).parent.rglob("*.py"))
        if any(lock in path.read_text(encoding="utf-8") for lock in LOCKS)
    ]
    assert [jump for path in paths for jump in jumps_out_of_locks(path)] == []


@pytest.mark.parametrize("hooked", [False, True])
@pytest.mark.parametrize("inside", [False, True])
def test_threads_add_into_a_shared_leaf_without_loss(inside: bool, hooked: bool) -> None:
    shared, rounds, threads = Value(3.0), 200, 4
    middle = shared * 2.0 + shared  # walked through by all threads at once
    if hooked:
        shared.register_hook(lambda gradient: None)

    def job() -> None:
        for _ in range(rounds):
            (middle * 1.0 if inside else shared * 2.0 + shared).backward()

    old = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        workers = [threading.Thread(target=job) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        sys.setswitchinterval(old)
    assert shared.grad == 3.0 * rounds * threads


def test_ctrl_c_that_is_heard_as_a_lock_is_taken_gives_it_back() -> None:
    """Since Python 3.14 it can be heard when `with` has the lock and its block has not begun."""
    lock, taken = Turn(), threading.Event()

    def hold() -> None:
        with lock:
            taken.set()
            time.sleep(0.2)  # until the other thread waits for the lock
            _thread.interrupt_main()

    def take_twice() -> None:
        with lock, lock:
            pass

    holder = threading.Thread(target=hold)
    holder.start()
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012
        taken.wait()
        with lock:
            for _ in range(1000):  # where Python hears it that has not heard it before
                time.sleep(0.001)
    holder.join()
    other = threading.Thread(target=take_twice, daemon=True)
    other.start()
    other.join(30)
    assert not other.is_alive()
