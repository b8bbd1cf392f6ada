"""Many trainings at once: what `parallel.map` gives, wherever it runs and whatever goes wrong there."""

from __future__ import annotations

import os
import pickle
import random
import re
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradwalk
from gradwalk import Value, nn, optim, parallel
from gradwalk.errors import JobsFailedError, MissingExtraError, SettingError
from gradwalk.parallel.fingerprints import digest
from gradwalk.parallel.jobs import Job, here, packing, run

ROOT = Path(__file__).resolve().parents[1]


def training(setting: dict[str, Any]) -> list[float]:
    """A small network's losses: random weights from the job's own seed."""
    model = nn.MLP(2, [setting.get("hidden", 2), 1])
    descent = optim.SGD(model.parameters(), lr=setting["lr"])
    losses = []
    for _ in range(3):
        descent.zero_grad()
        loss = (model([0.5, -1.0]) - 1.0) ** 2
        loss.backward()
        descent.step()
        losses.append(loss.data)
    return losses


# --- what it gives ---------------------------------------------------------------------------------------------------


def test_results_come_in_the_order_of_the_settings_and_are_the_same_with_any_number_of_workers() -> None:
    settings = parallel.grid(lr=[0.1, 0.01], hidden=[2, 3])
    alone = parallel.map(training, settings, workers=1)
    together = parallel.map(training, settings, workers=2)
    backwards = parallel.map(training, settings[::-1], workers=2)
    assert alone == together == backwards[::-1]
    assert len({tuple(losses) for losses in alone}) == 4
    assert parallel.map(training, settings, workers=1, seed=1) != alone


def test_equal_settings_get_random_numbers_of_their_own() -> None:
    drawn = parallel.map(lambda _: (random.random(), float(np.random.rand())), [None] * 3, workers=1)
    assert len(set(drawn)) == 3
    assert drawn == parallel.map(lambda _: (random.random(), float(np.random.rand())), [None] * 3, workers=2)


def test_the_callers_random_numbers_go_on_as_if_nothing_had_been_drawn() -> None:
    random.seed(1)
    np.random.seed(1)
    expected = random.random(), np.random.rand()
    random.seed(1)
    np.random.seed(1)
    parallel.map(lambda _: random.random(), [None] * 2, workers=1)
    assert (random.random(), np.random.rand()) == expected


def test_closures_compiled_functions_and_models_travel() -> None:
    w = Value(3.0)
    fast = gradwalk.compile(lambda x: w * x)

    def slope(x: float) -> tuple[float, nn.MLP]:
        fast(x).backward()
        return w.grad, nn.MLP(1, [1])

    (first, model), (second, _) = parallel.map(slope, [2.0, 5.0], workers=2)
    assert (first, second) == (2.0, 5.0)
    assert isinstance(model, nn.MLP)
    assert w.grad == 0.0  # what happens in a worker stays there


def test_nothing_to_do_is_done_at_once() -> None:
    assert parallel.map(training, [], workers=2) == []


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"backend": "threads"}, "backend is"),
        ({"workers": 0}, "workers is a whole number"),
        ({"workers": True}, "workers is a whole number"),
        ({"workers": 2.0}, "workers is a whole number"),
        ({"address": "tcp://nowhere:1"}, "name its kind"),
        ({"time_limit": 0}, "time_limit is a number"),
        ({"time_limit": float("nan")}, "time_limit is a number"),
        ({"failures": "ignore"}, "failures is"),
        ({"keep": "/proc/nowhere/at all"}, "cannot keep results"),
    ],
)
def test_rubbish_is_refused_before_anything_runs(wrong: dict[str, Any], words: str) -> None:
    def never(_: Any) -> None:
        raise AssertionError("it ran")

    with pytest.raises(SettingError, match=words):
        parallel.map(never, [1], **{"workers": 1, **wrong})
    with pytest.raises(SettingError, match="a function of one setting"):
        parallel.map([1], [1])  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="settings are several, one for each job, not int: 5"):
        parallel.map(abs, 5)  # type: ignore[arg-type]


def test_a_grid_of_a_word_is_refused() -> None:
    with pytest.raises(SettingError, match=r"lr=\['0.1'\]"):
        parallel.grid(lr="0.1")
    assert parallel.grid() == [{}]
    assert parallel.grid(lr=(x / 10 for x in (1, 2))) == [{"lr": 0.1}, {"lr": 0.2}]


# --- failures --------------------------------------------------------------------------------------------------------


def troubled(x: int) -> Any:
    if x == 1:
        raise ValueError("one is too few")
    if x == 2:
        sys.exit("gone")
    if x == 3:
        return threading.Lock()
    return x


@pytest.mark.parametrize("workers", [1, 2])
def test_a_job_that_fails_is_reported_while_the_others_go_on(workers: int) -> None:
    results = parallel.map(troubled, [0, 1, 2, 3, 4], workers=workers, failures="return")
    assert (results[0], results[4]) == (0, 4)
    assert [(f.error, f.setting) for f in results[1:4]] == [
        ("ValueError", 1),
        ("SystemExit", 2),
        ("UnsendableResult", 3),
    ]
    assert "one is too few" in results[1].traceback
    assert "troubled" in results[1].traceback
    assert "jobs.py" not in results[1].traceback
    with pytest.raises(JobsFailedError, match="1 of 2 jobs failed") as caught:
        parallel.map(troubled, [0, 1], workers=workers)
    assert caught.value.results[0] == 0
    assert [failure.setting for failure in caught.value.failures] == [1]
    assert "setting 1" in str(caught.value)
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), JobsFailedError)


def test_a_failure_that_a_job_returns_is_a_result() -> None:
    mine = parallel.Failure("mine", "E", "m", "")
    assert parallel.map(lambda _: mine, [1], workers=1) == [mine]


def endless(x: int) -> int:
    while x == 1:
        try:
            time.sleep(60)
        except Exception:  # catches whatever it can
            pass
    return x


@pytest.mark.parametrize("workers", [1, 2])
def test_a_job_that_never_ends_is_ended(workers: int) -> None:
    began = time.monotonic()
    results = parallel.map(endless, [0, 1, 2], workers=workers, time_limit=0.5, failures="return")
    assert (results[0], results[2]) == (0, 2)
    assert results[1].error == "TimeLimit"
    assert "endless" in results[1].traceback
    assert time.monotonic() - began < 30


def test_a_time_limit_holds_in_a_thread_too_and_leaves_nothing_behind() -> None:
    answers: list[Any] = []

    def spin(_: Any) -> None:
        while True:
            pass

    def work() -> None:
        answers.append(run(Job(0, spin, None, 0, 0.2, here())))
        answers.append(run(Job(1, abs, -1, 0, 0.2, here())))
        time.sleep(0.3)
        answers.append("still alive")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(20)
    assert [answers[0].failure[0], answers[1].failure, answers[2]] == ["TimeLimit", None, "still alive"]


class Once:
    """Does something in the first process that comes by."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __call__(self) -> bool:
        try:
            self.mark.touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


def counting(folder: Path, deadly: Any) -> Any:
    """A job that notes each time it runs, and may take its worker with it."""

    def job(x: int) -> int:
        (folder / f"ran-{x}-{os.urandom(4).hex()}").touch()
        time.sleep(0.05)
        if x == 3 and deadly():
            os.kill(os.getpid(), signal.SIGKILL)
        (folder / f"done-{x}-{os.urandom(4).hex()}").touch()
        return x * x

    return job


@pytest.mark.slow
def test_a_worker_that_is_killed_costs_a_try_and_no_result(tmp_path: Path) -> None:
    results = parallel.map(counting(tmp_path, Once(tmp_path / "killed")), range(8), workers=2)
    assert results == [x * x for x in range(8)]
    assert len(list(tmp_path.glob("ran-3-*"))) == 2
    done = [len(list(tmp_path.glob(f"done-{x}-*"))) for x in range(8)]
    assert done[3] == 1
    # Of the others one at most is done twice: the one that was under way in the other worker, whichever that was.
    assert sorted(done) in ([1] * 8, [1] * 7 + [2])


@pytest.mark.slow
def test_a_job_that_kills_its_worker_every_time_is_named_alone(tmp_path: Path) -> None:
    results = parallel.map(counting(tmp_path, lambda: True), range(6), workers=2, failures="return")
    assert results[3].error == "WorkerDied"
    assert results[:3] + results[4:] == [0, 1, 4, 16, 25]


def test_a_worker_of_another_version_is_refused_by_name() -> None:
    answer = run(Job(0, abs, -1, 0, None, ("0.0.1", "3.11")))
    assert answer.failure is not None
    assert answer.failure[0] == "VersionMismatch"
    assert "gradwalk 0.0.1" in answer.failure[1]


# --- kept results ----------------------------------------------------------------------------------------------------


def test_finished_jobs_are_found_again_and_failed_ones_are_tried_again(tmp_path: Path) -> None:
    runs: list[int] = []
    broken = [True]

    def job(x: int) -> int:
        runs_of(x)
        if x == 1 and is_broken():
            raise OSError("no such file yet")
        return x + 1

    def runs_of(x: int) -> None:
        (tmp_path / f"ran-{x}-{os.urandom(4).hex()}").touch()

    def is_broken() -> bool:
        return not (tmp_path / "there").exists()

    del runs, broken
    kept = tmp_path / "kept"
    first = parallel.map(job, [0, 1, 2], workers=1, keep=kept, failures="return")
    assert [first[0], first[2]] == [1, 3]
    (tmp_path / "there").touch()
    assert parallel.map(job, [2, 1, 0, 5], workers=1, keep=kept) == [3, 2, 1, 6]
    assert sorted(path.name[4] for path in tmp_path.glob("ran-*")) == ["0", "1", "1", "2", "5"]


def test_kept_results_belong_to_the_code_the_data_and_the_seed() -> None:
    scale = [2.0]

    def helper(x: float) -> float:
        return x * scale[0]

    def job(x: float) -> float:
        return helper(x)

    before = digest(job)
    assert digest(job) == before
    scale[0] = 3.0
    assert digest(job) != before
    scale[0] = 2.0
    assert digest(job) == before
    first, second = [
        compile(text, "f.py", "exec") for text in ("def f(x):\n    return g(x)", "def f(x):\n return g(x)")
    ]
    spaces: list[dict[str, Any]] = [{"g": abs}, {"g": abs}, {"g": lambda x: x}]
    for code, space in zip((first, second, first), spaces, strict=True):
        exec(code, space)
    assert digest(spaces[0]["f"]) == digest(spaces[1]["f"])  # how it is laid out says nothing
    assert digest(spaces[0]["f"]) != digest(spaces[2]["f"])  # what g is does


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0), (1, True), ("1", 1), ([1], (1,)), ([1, [2]], [[1], 2]), ({"a": 1}, {"a": 2}), (0.0, -0.0),
        (np.float32(1), np.float64(1)), (np.zeros(2), np.zeros((2, 1))), (np.zeros(2), np.zeros(2, int)),
        ({1, 2}, {1, 3}), (Value(1.0), Value(2.0)), ({"a": {}, "b": 1}, {"a": {"b": 1}}), ("a", b"a"), (None, "None"),
        (optim.SGD, optim.Adam), (Path("a"), Path("b")), (range(3), range(4)),
    ],
)  # fmt: skip
def test_different_settings_have_different_digests(one: Any, other: Any) -> None:
    assert digest(one) != digest(other)
    assert digest(one) == digest(one)


def test_digests_are_the_same_in_another_process_whatever_its_hash_seed(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            """
            import math
            from gradwalk import nn
            from gradwalk.parallel.fingerprints import digest
            DATA = {"b": {"x", "y", "z"}, "a": [1.0, math.pi]}
            class Model(nn.Module):
                size = 3
                def __call__(self, x): return x * self.size
            def helper(x): return Model()(x) + len(DATA)
            def train(setting): return helper(setting["lr"])
            print(digest(train, {"lr": 0.1}))
            """
        )
    )
    seen = {
        subprocess.run(
            [sys.executable, str(script)], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1


def test_what_cannot_be_looked_into_is_refused_with_keep(tmp_path: Path) -> None:
    lock = threading.Lock()
    with pytest.raises(SettingError, match="lock"):
        parallel.map(lambda x: (lock, x), [1], workers=1, keep=tmp_path)
    with pytest.raises(SettingError, match="plain data"):
        parallel.map(abs, [lock], workers=1, keep=tmp_path)


def test_a_damaged_file_is_said_and_its_job_runs_again(tmp_path: Path) -> None:
    assert parallel.map(abs, [-1, -2], workers=1, keep=tmp_path) == [1, 2]
    for file in tmp_path.glob("*.job"):
        file.write_bytes(file.read_bytes()[:-1])
    with pytest.warns(UserWarning, match="is damaged"):
        assert parallel.map(abs, [-1, -2], workers=1, keep=tmp_path) == [1, 2]
    assert parallel.map(abs, [-1, -2], workers=1, keep=tmp_path) == [1, 2]


def test_a_full_disk_is_said_once_and_costs_no_result(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))  # no file may be longer
        with pytest.warns(UserWarning, match="can no longer be kept") as said:
            results = parallel.map(lambda x: [float(x)] * 1000, range(3), workers=1, keep=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert len(said) == 1
    assert [len(result) for result in results] == [1000] * 3
    assert list(tmp_path.iterdir()) == []


INTERRUPTED = """
import sys, time, os, pathlib
from gradwalk import parallel
folder = pathlib.Path(sys.argv[1])
def job(x):
    (folder / f"ran-{x}-{os.urandom(4).hex()}").touch()
    time.sleep(0.3 if x < 4 or (folder / "go").exists() else 60)
    return x
if __name__ == "__main__":
    print(parallel.map(job, range(8), workers=2, keep=folder / "kept"))
"""


@pytest.mark.slow
def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(INTERRUPTED)
    command = [sys.executable, str(script), str(tmp_path)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 60
        while len(list((tmp_path / "kept").glob("*.job"))) < 4:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    finally:
        process.kill()
        process.communicate()
    assert "KeyboardInterrupt" in errors
    (tmp_path / "go").touch()
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[0, 1, 2, 3, 4, 5, 6, 7]\n"
    for x in range(4):
        assert len(list(tmp_path.glob(f"ran-{x}-*"))) == 1


def test_two_runs_may_keep_their_results_in_one_folder(tmp_path: Path) -> None:
    results: dict[str, Any] = {}

    def sweep(name: str, settings: list[int]) -> None:
        results[name] = parallel.map(lambda x: x * 10, settings, workers=1, keep=tmp_path)

    threads = [threading.Thread(target=sweep, args=(name, numbers)) for name, numbers in
               (("a", list(range(20))), ("b", list(range(10, 30))))]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {"a": [10 * x for x in range(20)], "b": [10 * x for x in range(10, 30)]}
    assert len(list(tmp_path.glob("*.job"))) == 30


# --- progress --------------------------------------------------------------------------------------------------------


def test_progress_is_told_to_a_function(capsys: pytest.CaptureFixture[str]) -> None:
    told: list[tuple[int, int, int]] = []
    parallel.map(troubled, [0, 1, 4], workers=1, failures="return", progress=lambda *numbers: told.append(numbers))
    assert told == [(0, 0, 3), (1, 0, 3), (2, 1, 3), (3, 1, 3)]
    parallel.map(abs, [1], workers=1)
    assert capsys.readouterr() == ("", "")
    parallel.map(abs, range(20), workers=1, progress=True)
    assert capsys.readouterr().err.splitlines()[-1] == "20/20 jobs"


CELL = """
import time
from gradwalk import parallel
def job(x):
    time.sleep(0.11)
    return 1 // (x - 2)
results = parallel.map(job, range(5), workers=1, failures="return")
"""


@pytest.mark.notebook
def test_progress_is_a_bar_in_a_notebook_that_is_brought_up_to_date() -> None:
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    shown = []
    client = NotebookClient(notebook, timeout=120, kernel_name="python3")
    client.on_cell_executed = lambda **told: shown.extend(told["cell"].outputs)
    client.execute()
    (bar,) = (output for output in shown if output.output_type == "display_data")
    assert bar.data["text/html"] == (
        '<progress value="5" max="5" aria-label="5/5 jobs, 1 failed"></progress> 5/5 jobs, 1 failed'
    )


def drawing(x: int) -> list[Any]:
    """Random numbers of every kind, over a while in which others may draw."""
    drawn: list[Any] = []
    for _ in range(100):
        drawn += [random.random(), random.gauss(0, 1), random.randint(0, 9), float(np.random.rand())]
        drawn += gradwalk.randn(2).tolist()
        time.sleep(1e-5)
    return drawn


@pytest.mark.slow
def test_a_jobs_random_numbers_are_its_own_whoever_else_draws_in_its_process() -> None:
    jobs = [Job(i, drawing, i, 7 + i, None, here()) for i in range(3)]
    alone = [run(job).result for job in jobs]
    outside, done = random.getstate(), threading.Event()

    def disturb() -> None:
        while not done.is_set():
            random.sample(range(9), 3)
            random.gauss(0, 1)

    together: dict[int, bytes | None] = {}

    def answer(job: Job) -> None:
        together[job.number] = run(job).result

    other = threading.Thread(target=disturb)
    workers = [threading.Thread(target=answer, args=[job]) for job in reversed(jobs)]
    for thread in workers:
        thread.start()
    other.start()
    for thread in workers:
        thread.join()
    done.set()
    other.join()
    random.setstate(outside)
    assert [together[i] for i in range(3)] == alone
    assert run(jobs[0]).result == alone[0], "a job leaves nothing behind for the next"


def test_a_function_of_a_script_may_name_what_is_a_package_and_a_function() -> None:
    """`gradwalk.compile` is both, and a script's functions are sent with all they name."""
    scope: dict[str, Any] = {"__name__": "__main__", "gradwalk": gradwalk}
    text = "def train(x):\n    return gradwalk.compile(lambda x: x * x)(x).data + gradwalk.tensor([1.0]).sum().item()"
    exec(text, scope)
    with packing() as pack:
        answer = run(Job(0, pack(scope["train"]), 3.0, 1, None, here()))
    assert answer.failure is None
    assert pickle.loads(answer.result or b"") == 10.0


@pytest.mark.parametrize(
    ("backend", "message"),
    [
        ("processes", 'more than one worker needs joblib: pip install "gradwalk[parallel]"'),
        ("dask", "backend='dask' needs distributed: pip install \"gradwalk[dask]\""),
        ("ray", "backend='ray' needs ray: pip install \"gradwalk[ray]\""),
    ],
)
def test_a_missing_package_is_named_with_the_extra_that_brings_all_of_it(
    backend: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("cloudpickle", "joblib", "distributed", "ray"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=f"^{re.escape(message)}$"):
        parallel.map(abs, [-1.0], workers=2, backend=backend)
