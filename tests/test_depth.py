"""Depth costs memory, never the stack; shared nodes cost time in proportion to their number, not to their paths."""

from __future__ import annotations

import copy
import gc
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import gradwalk
from gradwalk import Value, walk

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


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer that sends a signal")
@pytest.mark.parametrize("hooked", [False, True])
def test_ctrl_c_leaves_the_leaves_as_they_were_or_with_all_of_it(hooked: bool) -> None:
    """A signal at any moment, as from the keyboard."""
    leaves = [Value(1.0) for _ in range(3000)]
    y = leaves[0]
    for x in leaves:
        y = y + x * 2.0
    if hooked:
        leaves[1].register_hook(lambda gradient: None)
    y.backward()
    whole = [x.grad for x in leaves]
    draw, outcomes = random.Random(1), []
    earlier = signal.signal(signal.SIGALRM, signal.default_int_handler)
    began = time.perf_counter()
    y.backward()
    took = time.perf_counter() - began
    gc.disable()  # a library that listens to the collector would hear the signal in our place
    try:
        for _ in range(40):
            for x in leaves:
                x.grad = 0.5
            try:
                signal.setitimer(signal.ITIMER_REAL, draw.uniform(0.02, 1.1) * took)
                try:
                    y.backward()
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0.0)
            except KeyboardInterrupt:
                pass
            after = [x.grad for x in leaves]
            outcomes.append("nothing" if after == [0.5] * len(after) else "all")
            assert outcomes[-1] == "nothing" or after == [0.5 + grad for grad in whole]
    finally:
        gc.enable()
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, earlier)
    assert "nothing" in outcomes
    worker = threading.Thread(target=y.backward)  # no walk that was broken off holds others up
    worker.start()
    worker.join(30)
    assert not worker.is_alive()


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
