"""What holds for all tests: where they may write, what examples see, and which of them `make quick` leaves out."""

from __future__ import annotations

import asyncio
import gc
import math
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parent
#: Kept between runs: compiled kernels and other programs' caches. `make clean` removes it.
KEPT = ROOT / "out" / "tests"
#: The home of every test of a run, empty when it begins and when it ends; another run at the same time has its own.
WITHIN_A_RUN = "PYTEST_XDIST_WORKER" in os.environ  # then the home is that of the run
HOME = Path(os.environ["HOME"]) if WITHIN_A_RUN else KEPT / "homes" / str(os.getpid())
A_DAY = 24 * 60 * 60  # seconds
DEEPEST = sys.getrecursionlimit()
TEMPORARY = pytest.StashKey[Path]()  # the temporary folder of the run
FILE = pytest.StashKey[Path]()  # that of the test before
#: Where programs keep what they would otherwise keep in the user's home.
FOLDERS = {
    "DASK_TEMPORARY_DIRECTORY": "dask",
    "GRADWALK_CACHE": "kernels",
    "IPYTHONDIR": "ipython",
    "JUPYTER_CONFIG_DIR": "jupyter/config",
    "JUPYTER_DATA_DIR": "jupyter/data",
    "JUPYTER_RUNTIME_DIR": "jupyter/runtime",
    "JUPYTERLAB_SETTINGS_DIR": "jupyter/settings",
    "JUPYTERLAB_WORKSPACES_DIR": "jupyter/workspaces",
    "MPLCONFIGDIR": "matplotlib",
    "TORCHINDUCTOR_CACHE_DIR": "torchinductor",
    "XDG_CACHE_HOME": "cache",
    "XDG_CONFIG_HOME": "config",
    "XDG_DATA_HOME": "data",
    "XDG_STATE_HOME": "state",
    "npm_config_cache": "npm",
}
PLACES = {"HOME": str(HOME), "USERPROFILE": str(HOME), **{name: str(KEPT / part) for name, part in FOLDERS.items()}}
#: What whole folders need, and examples that no mark can stand on; a test elsewhere carries its mark itself.
MARKS = {
    "tests/web/": "browser",
    "tests/compile/": "native",
    "src/gradwalk/compile/": "native",
    "src/gradwalk/learn/page/export.py": "slow",
    "src/gradwalk/learn/page/hunting/repair.py": "slow",
    "src/gradwalk/learn/page/recordings.py": "slow",
    "src/gradwalk/learn/relief.py": "slow",
}

#: What examples of the inner works of a package see beside that: most of them begin with it.
INNER_WORKS: dict[str, dict[str, tuple[str, ...]]] = {
    "src/gradwalk/compile/": {"gradwalk.compile.trace.tracer": ("Tracer", "trace")},
    "src/gradwalk/diagnose/": {
        "gradwalk.diagnose": ("grade", "museum", "teaching"),
        "gradwalk.diagnose.adapter": ("Engine",),
    },
    "src/gradwalk/doctor/": {"gradwalk.doctor.names": ("names_of",)},
    "src/gradwalk/cli/": {"gradwalk.cli": ("main",)},
    "src/gradwalk/drawing/": {
        "gradwalk.drawing": ("draw",),
        "gradwalk.drawing.by_node": ("scene_by_node",),
        "gradwalk.drawing.drawn_graph": ("drawn_graph",),
        "gradwalk.drawing.geometry": ("geometry",),
        "gradwalk.drawing.modules": ("modules_of",),
        "gradwalk.drawing.scene": ("Row",),
        "gradwalk.walk.heat_maps": ("heat_map",),
    },
    "src/gradwalk/learn/page/hunting/": {
        "gradwalk.learn.page.hunting": ("material", "show"),
        "gradwalk.learn.page.hunting.cases": ("case_of",),
    },
    "src/gradwalk/learn/page/": {
        "gradwalk.diagnose": ("museum", "teaching"),
        "gradwalk.diagnose.checks": ("CHECKS",),
        "gradwalk.learn.page.exercises": ("EXERCISES",),
        "gradwalk.learn.page.exercises.model": ("on",),
    },
    "src/gradwalk/modes.py": {"gradwalk": ("modes",)},
    "src/gradwalk/parallel/": {"gradwalk": ("parallel",)},
    "src/gradwalk/plot/": {"gradwalk": ("plot",)},
    "src/gradwalk/stepper/": {
        "gradwalk.presets": ("PRESETS",),
        "gradwalk.stepper.grid": ("fitting",),
        "gradwalk.walk": ("record",),
    },
    "src/gradwalk/store.py": {"gradwalk": ("store",)},
    "src/gradwalk/train.py": {"gradwalk": ("datasets",)},
}

# A busy machine is no failure: how long an example takes is a matter for benchmarks.
settings.register_profile("gradwalk", deadline=None)
if settings.get_current_profile_name() == "default":  # `make mutants` has a profile of its own
    settings.load_profile("gradwalk")
    # Bytecode is kept whatever the shell says: without it every process of every run compiles all that it imports.
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are cores: many tests wait, for a browser, a kernel or a process."""
    return len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)) + 1


def pytest_configure(config: pytest.Config) -> None:
    """Give this process, and all that it starts, a home and caches in the checkout, and a temporary folder."""
    gc.disable()  # until all tests are there: next to nothing of what is made so far is garbage
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in `make test &`; but what tests start must hear it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(config, "workerinput"):
        return  # its parent has done it
    os.environ.setdefault("PLAYWRIGHT_BROWSERS_PATH", str(_browsers()))
    for home in HOME.parent.glob("*"):  # of runs that were killed
        with suppress(FileNotFoundError):  # another run may see to it
            if time.time() - home.stat().st_mtime > A_DAY:
                shutil.rmtree(home)
    HOME.mkdir(parents=True, exist_ok=True)
    os.environ.update(PLACES)
    if not WITHIN_A_RUN:
        systems = tempfile.gettempdir()
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", systems)  # pytest's own, which it clears itself
        ours = tempfile.mkdtemp(prefix="gradwalk-tests-")
        config.add_cleanup(lambda: shutil.rmtree(ours, ignore_errors=True))
        config.add_cleanup(lambda: _name_temporary_folder(systems))
        _name_temporary_folder(ours)
        config.stash[TEMPORARY] = Path(ours)


def _name_temporary_folder(path: str) -> None:
    os.environ["TMPDIR"] = os.environ["TEMP"] = os.environ["TMP"] = path
    tempfile.tempdir = None  # it is looked up anew


def pytest_unconfigure(config: pytest.Config) -> None:
    """Take the home away, when all has been said about it."""
    if not WITHIN_A_RUN:
        shutil.rmtree(HOME, ignore_errors=True)


def _browsers() -> Path:
    """Where Playwright keeps browsers that it has fetched, in the home of whoever runs the tests."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "ms-playwright"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "ms-playwright"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "ms-playwright"


def written_home() -> list[str]:
    """What was written into the home of the tests: without them it would have been the user's."""
    return sorted(str(path.relative_to(HOME)) for path in HOME.rglob("*") if not path.is_dir())


def left_behind(config: pytest.Config) -> list[str]:
    """What is still in the temporary folder of the run: without it, it would lie in the system's."""
    folder = config.stash.get(TEMPORARY, None)
    return sorted(path.name for path in folder.iterdir()) if folder else []


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run that wrote into its home, or left something behind in the temporary folder."""
    if not WITHIN_A_RUN and (written_home() or left_behind(session.config)):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was written, and what to do."""
    for title, found in (
        ("written into the home folder: name another place for it in conftest.py", written_home()),
        ("left in the temporary folder: use tmp_path, or clear up", left_behind(terminalreporter.config)),
    ):
        if found:
            terminalreporter.section(title, red=True)
            terminalreporter.write("\n".join(found[:20]) + "\n")


def pytest_collection_finish() -> None:
    """Have the garbage collector back."""
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Lead a test to the same folders, and as deep as any, though the one before may have named others."""
    os.environ.update(PLACES)
    sys.setrecursionlimit(DEEPEST)  # at 20,000, as engines set it that recurse, recursion without an end ends Python
    if item.path != item.session.stash.get(FILE, None):
        item.session.stash[FILE] = item.path
        _spare_the_collector()


def _spare_the_collector() -> None:
    """Take all that is there now (pytest, thousands of tests, PyTorch) out of what the garbage collector goes through.

    It would go through all of it again and again while a test makes its nodes, which took half of many tests' time.
    """
    gc.collect()  # what is garbage by now must not be kept
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Clear up after an example that makes a temporary folder: it has better things to show than how that goes."""
    looks = "browser" in item.keywords or "browser" in getattr(item, "fixturenames", ())
    with nullcontext() if looks else no_event_loop():
        if not isinstance(item, pytest.DoctestItem):
            return (yield)
        before = tempfile.gettempdir()
        with tempfile.TemporaryDirectory() as tempfile.tempdir:
            try:
                return (yield)
            finally:
                tempfile.tempdir = before


@contextmanager
def no_event_loop() -> Iterator[None]:
    """A block that may call asyncio.run(), though a browser is open: Playwright holds the thread's event loop."""
    playwrights = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(playwrights)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what whole folders need, let examples see the package by its usual names, and put them all in order."""
    import gradwalk
    from gradwalk import Value, nn, ops, optim, walk

    names = {"gradwalk": gradwalk, "math": math, "nn": nn, "ops": ops, "optim": optim, "walk": walk, "Value": Value}
    for item in items:
        for folder, mark in MARKS.items():
            if item.nodeid.startswith(folder):
                item.add_marker(mark)
        if isinstance(item, pytest.DoctestItem):
            seen = dict(names)
            for part in INNER_WORKS:
                if item.nodeid.startswith(part):
                    seen |= _inner_works(part)
            for name in seen.keys() - item.dtest.globs.keys():
                item.dtest.globs[name] = seen[name]
    # What waits for a browser or a kernel begins first, so that other processes compute meanwhile.
    items.sort(key=lambda item: not any(item.iter_markers("browser")) and not any(item.iter_markers("notebook")))


@cache
def _inner_works(part: str) -> dict[str, Any]:
    return {name: getattr(import_module(home), name) for home, names in INNER_WORKS[part].items() for name in names}


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for each process of tests; each test has contexts of its own in it."""
    from chromium import launched

    with launched() as browser:
        yield browser


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """One JupyterLab for all notebooks: its folder, and its address with NAME for the name of a notebook."""
    from hosts import jupyterlab

    folder = tmp_path_factory.mktemp("lab")
    with jupyterlab(folder, "NAME") as address:
        yield folder, address
