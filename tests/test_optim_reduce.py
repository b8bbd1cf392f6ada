"""One model trained by several processes: gradients added up by a real MPI, by gloo, and by functions."""

from __future__ import annotations

import math
import os
import random
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import gradwalk
from gradwalk import Value, nn, optim
from gradwalk.errors import SettingError

TRAINING = """
import random, sys
import gradwalk
from gradwalk import nn, optim
kind, compiled, backend = sys.argv[1], sys.argv[2] == "compiled", sys.argv[3]
if backend == "mpi":
    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    rank, size, total = comm.rank, comm.size, comm.allreduce
elif backend == "gloo":
    import torch, torch.distributed as dist
    dist.init_process_group("gloo", init_method=sys.argv[4], rank=int(sys.argv[5]), world_size=2)
    rank, size, comm = dist.get_rank(), dist.get_world_size(), dist.group.WORLD
    def total(x):
        sums = torch.tensor(x, dtype=torch.float64)
        dist.all_reduce(sums)
        return sums.item()
else:
    rank, size, comm, total = 0, 1, None, lambda x: x
random.seed(3 if "different" not in sys.argv else 3 + rank)
model = nn.MLP(2, [4 if "bigger" not in sys.argv or rank == 0 else 5, 1], activation="tanh")
points = [[0.1 * i, 1.0 - 0.2 * i] for i in range(10)]
def part(points):
    return sum((model(p) - 0.3 * p[0]) ** 2 for p in points) * 0.1
loss_of = gradwalk.compile(part) if compiled else part
descent = getattr(optim, kind)(model.parameters(), lr=0.05, reduce=comm)
for step in range(12):
    loss = loss_of(points[rank::size])
    descent.zero_grad()
    loss.backward()
    if "clip" in sys.argv:
        if comm is not None:
            descent.all_reduce()
        optim.clip_grad_norm(model.parameters(), 0.05)
    descent.step()
    whole = total(loss.data)
    if rank == 0:
        print(repr(whole))
if backend == "gloo":  # one that ends while the other listens can make that one abort: both say when they are done
    import os, pathlib, time
    dist.barrier()
    done = [pathlib.Path(sys.argv[4].removeprefix("file://") + f"-{who}") for who in range(2)]
    done[rank].touch()
    while not all(path.exists() for path in done):
        time.sleep(0.01)
    sys.stdout.flush()
    os._exit(0)
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reduce") / "train.py"
    path.write_text(TRAINING)
    return path


def losses(*command: str) -> list[float]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [float(line) for line in done.stdout.split()]


def alone(script: Path, kind: str, how: str, *more: str) -> list[float]:
    return losses(sys.executable, str(script), kind, how, "none", *more)


def mpiexec() -> str:
    found = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    assert found, "mpiexec comes with the package mpich, which the extra test brings"
    return found


def assert_same(found: list[float], expected: list[float]) -> None:
    assert len(found) == len(expected) == 12
    assert max(abs(a - b) for a, b in zip(found, expected, strict=True)) <= 1e-12
    assert expected[-1] < expected[0]


@pytest.mark.native
@pytest.mark.parametrize(
    ("kind", "how", "more"),
    [("SGD", "eager", []), ("Adam", "compiled", []), ("AdamW", "eager", ["clip"]), ("SGD", "compiled", ["clip"])],
)
def test_two_processes_of_mpi_take_the_steps_of_one(script: Path, kind: str, how: str, more: list[str]) -> None:
    both = losses(mpiexec(), "-n", "2", sys.executable, str(script), kind, how, "mpi", *more)
    assert_same(both, alone(script, kind, how, *more))


def test_the_example_gives_the_same_losses_with_any_number_of_processes() -> None:
    example = str(Path(__file__).parents[1] / "examples" / "data_parallel.py")
    told = []
    for count in ("1", "2"):
        done = subprocess.run(
            [mpiexec(), "-n", count, sys.executable, example], capture_output=True, text=True, timeout=120, check=True
        )
        told.append([float(line.split()[-1]) for line in done.stdout.splitlines()])
    assert len(told[0]) == 3
    assert told[0] == pytest.approx(told[1], abs=1e-10)  # Adam makes much of small differences


@pytest.mark.parametrize(("fault", "words"), [("different", "is not the same in all"), ("bigger", "different numbers")])
def test_processes_with_different_models_are_all_told_and_none_waits(script: Path, fault: str, words: str) -> None:
    command = [mpiexec(), "-n", "2", sys.executable, str(script), "SGD", "eager", "mpi", fault]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert words in done.stderr


@pytest.mark.native
def test_two_processes_of_gloo_take_the_steps_of_one(script: Path, tmp_path: Path) -> None:
    store = f"file://{tmp_path / 'store'}"
    command = [sys.executable, str(script), "Adam", "compiled", "gloo", store]
    other = subprocess.Popen([*command, "1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        both = losses(*command, "0")
        assert other.wait(60) == 0
    finally:
        other.kill()
        other.wait()
    assert_same(both, alone(script, "Adam", "compiled"))


# --- any function ----------------------------------------------------------------------------------------------------


class Together:
    """Adds arrays up over threads, as MPI does over processes."""

    def __init__(self, count: int) -> None:
        self.barrier, self.slots = threading.Barrier(count, timeout=20), {}  # type: ignore[var-annotated]

    def __call__(self, numbers: Any) -> None:
        self.slots[threading.get_ident()] = list(numbers)
        self.barrier.wait()
        sums = [math.fsum(column) for column in zip(*self.slots.values(), strict=True)]
        self.barrier.wait()
        for i, x in enumerate(sums):
            numbers[i] = x


class Signs(optim.Optimizer):
    """With a step of its own, which nobody knows."""

    def step(self) -> None:
        for p in self.parameters:
            p.data -= self.lr * math.copysign(1.0, p.grad)


class Twice(optim.SGD):
    """Calls the step of its base twice: gradients must be added up once."""

    def step(self) -> None:
        super().step()
        super().step()


def trained(kind: Any, compiled: bool, parts: int, reduce: Any, part: int = 0) -> list[float]:
    w, b = Value(0.5), Value(-0.25)

    def loss_of(points: list[float]) -> Value:
        return sum(((w * x + b) - 3.0 * x) ** 2 for x in points)  # type: ignore[return-value]

    call = gradwalk.compile(loss_of) if compiled else loss_of
    descent = kind([b, w], lr=0.01, **({"reduce": reduce} if reduce else {}))
    points = [0.1 * i for i in range(8)][part::parts]
    for _ in range(4):
        descent.zero_grad()
        call(points).backward()
        descent.step()
    return [w.data, b.data]


@pytest.mark.native
@pytest.mark.parametrize("kind", [optim.SGD, optim.Adam, optim.AdamW, Signs, Twice])
@pytest.mark.parametrize("compiled", [False, True])
def test_every_optimiser_adds_up_once_a_step_through_any_function(kind: Any, compiled: bool) -> None:
    expected = trained(kind, compiled, 1, None)
    add_up, found = Together(2), {}

    def work(part: int) -> None:
        found[part] = trained(kind, compiled, 2, add_up, part)

    threads = [threading.Thread(target=work, args=(part,)) for part in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert found[0] == found[1]
    assert found[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("wrong", ["all", 3, [1.0]])
def test_what_cannot_add_up_is_refused(wrong: Any) -> None:
    for kind in (optim.SGD, optim.Adam, optim.AdamW):
        with pytest.raises(SettingError, match="reduce is an mpi4py communicator"):
            kind([Value(1.0)], lr=0.1, reduce=wrong)


def test_a_function_may_be_given_later_and_outlives_a_loaded_state() -> None:
    calls: list[int] = []
    x = Value(1.0)
    descent = optim.SGD([x], lr=0.1)
    descent.reduce = lambda numbers: calls.append(len(numbers))
    descent.load_state_dict(optim.SGD([Value(1.0)], lr=0.2).state_dict())
    (x * x).backward()
    descent.step()
    descent.step()
    assert calls == [3, 1, 1, 1, 1]  # how many there are, two looks at the parameters, and one a step
    assert descent.lr == 0.2


def test_an_error_while_adding_up_changes_nothing() -> None:
    def broken(numbers: Any) -> None:
        if len(numbers) == 2 and broken_now:
            raise ConnectionError("the other side has gone")

    broken_now = False
    random.seed(1)
    ws = [Value(1.0), Value(2.0)]
    descent = optim.SGD(ws, lr=0.1, reduce=broken)
    (ws[0] * ws[1]).backward()
    descent.step()
    before = [w.data for w in ws], descent.steps
    broken_now = True
    with pytest.raises(ConnectionError):
        descent.step()
    assert ([w.data for w in ws], descent.steps) == before
    assert [w.grad for w in ws] == [2.0, 1.0]


def test_a_layer_of_a_network_can_be_trained_alone() -> None:
    model = nn.MLP(1, [2, 1])
    descent = optim.SGD(model.layers[0].parameters(), lr=0.1, reduce=lambda numbers: None)
    before = [p.data for p in model.layers[1].parameters()]
    model([1.0]).backward()
    descent.step()
    assert [p.data for p in model.layers[1].parameters()] == before
