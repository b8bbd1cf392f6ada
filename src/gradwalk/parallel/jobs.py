"""One job, where it runs: the same random numbers wherever that is, a time limit, and an answer whatever happens.

An answer crosses between processes as bytes, so that a result which cannot be sent is the job's failure and nobody
else's, and so that it can be kept on disk as it came. A function and its settings cross with the code of the user's own
modules in them: a worker need not have those, and if it has older ones it does not matter.
"""

from __future__ import annotations

import ctypes
import faulthandler
import pickle
import platform
import random
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gradwalk
from gradwalk.chance import left_to_this_thread
from gradwalk.errors import MissingExtraError, SettingError
from gradwalk.parallel.fingerprints import is_installed
from gradwalk.tensor import random as own

__all__ = ["Answer", "Failure", "Job", "Packed", "here", "packing", "run", "seeded"]

GRACE = 5.0  # seconds that a job has to end after its time is up, before its process is ended


@dataclass(frozen=True)
class Packed:
    """An object as bytes, which a worker unpacks.

    >>> run(Job(0, Packed(pickle.dumps(abs)), -3.0, 1, None, here())).failure
    """

    content: bytes


@contextmanager
def packing() -> Iterator[Callable[[Any], Packed]]:
    """A block in which things can be packed, the user's own modules with them.

    >>> with packing() as pack:
    ...     run(Job(0, pack(abs), pack(-3.0), 1, None, here())).failure
    """
    try:
        cloudpickle: Any = import_module("cloudpickle")
    except ImportError as error:
        raise MissingExtraError.of("cloudpickle", extra="parallel", wanted_for="more than one worker") from error
    modules = [module for name, module in list(sys.modules.items()) if not is_installed(name) and name != "__main__"]
    registered = []
    for module in modules:
        if module.__name__ in sys.modules and module.__name__ not in cloudpickle.list_registry_pickle_by_value():
            cloudpickle.register_pickle_by_value(module)
            registered.append(module)

    def pack(thing: Any) -> Packed:
        try:
            return Packed(cloudpickle.dumps(thing, protocol=5))
        except Exception as error:
            raise SettingError(
                f"{thing!r:.80} cannot be sent to another process: {error}; make what it needs inside the function"
            ) from error

    try:
        yield pack
    finally:
        for module in registered:
            cloudpickle.unregister_pickle_by_value(module)


@dataclass(frozen=True)
class Job:
    """What is sent to a worker: a function, the setting it is called with, the seed, and who sends it.

    Function and setting may be packed, as what is sent to another process is.

    >>> Job(number=0, function=abs, setting=-3.0, seed=1, time_limit=None, sender=here()).setting
    -3.0
    """

    number: int
    function: Callable[[Any], Any] | Packed
    setting: Any
    seed: int
    time_limit: float | None
    sender: tuple[str, str]


@dataclass(frozen=True)
class Failure:
    """A job that gave no result: its setting, what went wrong, and where.

    >>> Failure(setting={"lr": 10.0}, error="ZeroDivisionError", message="division by zero", traceback="")
    Failure(setting={'lr': 10.0}, error='ZeroDivisionError', message='division by zero')
    """

    setting: Any
    error: str
    message: str
    traceback: str

    def __repr__(self) -> str:
        return f"Failure(setting={self.setting!r}, error={self.error!r}, message={self.message!r})"


@dataclass(frozen=True)
class Answer:
    """What comes back: the pickled result, or else what went wrong, and how long it took.

    >>> pickle.loads(run(Job(0, abs, -3.0, 1, None, here())).result)
    3.0
    """

    number: int
    result: bytes | None
    failure: tuple[str, str, str] | None
    seconds: float


class OutOfTime(BaseException):
    """Raised inside a job whose time is up; no Exception, so that a job's own `except Exception` lets it pass."""


def here() -> tuple[str, str]:
    """The versions of gradwalk and Python in this process, which a worker's must be.

    >>> here()[0] == gradwalk.__version__
    True
    """
    return gradwalk.__version__, ".".join(platform.python_version_tuple()[:2])


def run(job: Job) -> Answer:
    """Do a job and give its answer; it raises only what stops the whole process, as Ctrl-C does.

    >>> run(Job(0, lambda lr: [1][lr], 1, 1, None, here())).failure[:2]
    ('IndexError', 'list index out of range')
    """
    began = time.perf_counter()

    def failed(error: str, message: str, trace: str = "") -> Answer:
        return Answer(job.number, None, (error, message, trace), time.perf_counter() - began)

    if job.sender != here():
        (ours, python), (theirs, their_python) = here(), job.sender
        return failed(
            "VersionMismatch",
            f"the worker {platform.node()} has gradwalk {ours} on Python {python}, and the job was sent by gradwalk "
            f"{theirs} on Python {their_python}; install the same versions on both",
        )
    try:
        function, setting = (
            pickle.loads(x.content) if isinstance(x, Packed) else x for x in (job.function, job.setting)
        )
    except Exception as error:
        words = f"the worker {platform.node()} cannot read the job: {error}; install the same packages there as here"
        return failed("UnreadableJob", words, _trace())
    try:
        with seeded(job.seed), _limited(job.time_limit):
            result = function(setting)
    except OutOfTime:
        return failed("TimeLimit", f"it was not done after {job.time_limit:g} s, its time limit", _trace())
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit as well: a job that calls sys.exit() ends itself, not the sweep
        return failed(type(error).__name__, str(error), _trace())
    try:
        return Answer(job.number, _pickled(result), None, time.perf_counter() - began)
    except Exception as error:
        return failed(
            "UnsendableResult", f"its result, a {type(result).__name__}, cannot be pickled: {error}; return plain data"
        )


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Random numbers that depend on the seed alone; outside, they go on as if nothing had been drawn.

    The usual generators belong to a process, not to a job. So jobs in threads of one process take turns; and what other
    threads draw, as Dask does when it estimates sizes, comes from elsewhere as long as a job runs.

    >>> with seeded(7):
    ...     first = random.random()
    >>> with seeded(7):
    ...     random.random() == first
    True
    """
    in_main = threading.current_thread() is threading.main_thread()  # of a worker that does nothing else
    with nullcontext() if in_main else left_to_this_thread(), own.seeded(seed):
        numpy = sys.modules.get("numpy") or (__import__("numpy") if find_spec("numpy") else None)
        torch = sys.modules.get("torch")
        before = random.getstate(), numpy and numpy.random.get_state(), torch and torch.get_rng_state()
        random.seed(seed)
        if numpy:
            numpy.random.seed(seed % 2**32)
        if torch:
            torch.manual_seed(seed)
        try:
            yield
        finally:
            random.setstate(before[0])
            if numpy and before[1] is not None:
                numpy.random.set_state(before[1])
            if torch and before[2] is not None:
                torch.set_rng_state(before[2])


def _trace() -> str:
    """The traceback of the job itself, without the frames around it."""
    kind, error, frames = sys.exc_info()
    while frames is not None and Path(frames.tb_frame.f_code.co_filename).parent == Path(__file__).parent:
        frames = frames.tb_next
    return "".join(traceback.format_exception(kind, error, frames))


def _pickled(result: Any) -> bytes:
    try:
        return pickle.dumps(result, protocol=5)
    except Exception:
        with suppress(ImportError):
            return bytes(import_module("cloudpickle").dumps(result, protocol=5))
        raise


@contextmanager
def _limited(seconds: float | None) -> Iterator[None]:
    """Raise OutOfTime in this thread when the time is up; end the process if even that does not stop it."""
    if seconds is None:
        yield
        return
    target = threading.get_ident()
    over = threading.Event()

    def stop() -> None:
        over.set()
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(target), ctypes.py_object(OutOfTime))

    in_main = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
    alarm = threading.Timer(seconds, stop)
    alarm.daemon = True
    earlier: Any = None
    if in_main:  # a signal also wakes time.sleep() and a wait for a lock

        def ring(*_: Any) -> None:
            raise OutOfTime

        earlier = signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        faulthandler.dump_traceback_later(seconds + GRACE, exit=True)  # native code that never comes back
    else:
        alarm.start()
    try:
        yield
    finally:
        alarm.cancel()
        if in_main:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, earlier)
            faulthandler.cancel_dump_traceback_later()
    if over.is_set():  # the exception is on its way, and must not arrive later, somewhere else
        with suppress(OutOfTime):
            while True:
                time.sleep(0.001)
        raise OutOfTime
