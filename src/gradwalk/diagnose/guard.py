"""What a learner's code may not do while it is judged: start processes, reach the network, touch files, fill memory.

It keeps accidents and pranks from doing harm. It is no wall against someone who knows Python's insides; for code that
you would not run at all, use a machine that you can throw away.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["Refused", "forbid", "limit_memory"]

#: Events that Python announces before it does them (see `sys.addaudithook`), and what to call them.
_NEVER = {
    **dict.fromkeys(
        ("os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.exec", "os.system", "os.startfile",
         "subprocess.Popen", "pty.spawn", "_winapi.CreateProcess"),
        "start another process",
    ),
    **dict.fromkeys(("os.kill", "os.killpg", "signal.pthread_kill"), "send signals"),
    **dict.fromkeys(("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo"), "use the network"),
    "resource.setrlimit": "change its own limits",
}  # fmt: skip
#: Events whose first arguments are paths that change.
_CHANGING = {
    "os.remove": 1, "os.rmdir": 1, "os.rename": 2, "os.mkdir": 1, "os.truncate": 1, "os.chmod": 1, "os.chown": 1,
    "os.link": 2, "os.symlink": 2, "shutil.rmtree": 1, "shutil.move": 2, "shutil.copyfile": 2,
}  # fmt: skip


class Refused(PermissionError):  # noqa: N818 - the learner reads this name
    """The learner's code wanted to do what it may not do here.

    >>> issubclass(Refused, OSError)
    True
    """


def forbid(writable: Iterable[Path]) -> None:
    """From now on, for the rest of this process: no processes, no network, no changes outside the `writable` folders.

    >>> import subprocess, sys
    >>> script = '''
    ... import os
    ... from gradwalk.diagnose.guard import forbid
    ... forbid([])
    ... try:
    ...     os.fork()
    ... except PermissionError as error:
    ...     print(error)
    ... '''
    >>> subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout
    'a submission may not start another process while it is judged\\n'
    """
    roots = tuple(os.path.realpath(folder) + os.sep for folder in writable)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _NEVER:
            raise Refused(f"a submission may not {_NEVER[event]} while it is judged")
        if event == "open":
            path, mode, flags = arguments
            if _writes(mode, flags) and not _inside(path, roots):
                raise Refused(f"a submission may not write files while it is judged ({path!s:.80})")
        elif event in _CHANGING:
            for path in arguments[: _CHANGING[event]]:
                if not _inside(path, roots):
                    raise Refused(f"a submission may not change files while it is judged ({path!s:.80})")

    sys.addaudithook(hook)


def _writes(mode: Any, flags: Any) -> bool:
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND))


def _inside(path: Any, roots: tuple[str, ...]) -> bool:
    if isinstance(path, int) or path == os.devnull:  # a file that is open already
        return True
    with contextlib.suppress(TypeError, ValueError):
        return os.path.realpath(os.fsdecode(path)).startswith(roots)
    return False


def limit_memory(size: int) -> None:
    """Let this process hold no more than `size` bytes of its own, where the system can be told so.

    >>> import subprocess, sys
    >>> script = "from gradwalk.diagnose.guard import limit_memory; limit_memory(2**28); [0] * 10**9"
    >>> "MemoryError" in subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stderr
    True
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(kind, (size, size))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
