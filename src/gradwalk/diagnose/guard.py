"""What a learner's code may not do while it is judged: start processes, reach the network, touch files.

Python itself announces such things before it does them, so they can be refused in words that a learner understands. It
is no wall: `ctypes` goes past it. The wall, where there is one, is the operating system's (`confinement`).
"""

from __future__ import annotations

import ast
import contextlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gradwalk.diagnose.confinement import confine, libraries

__all__ = ["Refused", "enter", "forbid"]

#: Events that Python announces before it does them (see `sys.addaudithook`), and what to call them.
_NEVER = {
    **dict.fromkeys(
        ("os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.exec", "os.system", "os.startfile",
         "subprocess.Popen", "pty.spawn", "_winapi.CreateProcess"),
        "start another process",
    ),
    **dict.fromkeys(("os.kill", "os.killpg", "signal.pthread_kill"), "send signals"),
    **dict.fromkeys(
        ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo",
         "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"),
        "use the network",
    ),
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


def enter(job: dict[str, Any], hidden: Iterable[Path] = ()) -> list[str]:
    """Give up what an engine does not need, all but this folder, which is thrown away; gives what took hold.

    >>> import subprocess, sys
    >>> script = '''
    ... from gradwalk.diagnose.guard import enter
    ... enter({"memory": 2**30, "seconds": 9.0})
    ... try:
    ...     open("/etc/passwd")
    ... except PermissionError as error:
    ...     print(error)
    ... '''
    >>> subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout
    'a submission may not read files while it is judged (/etc/passwd)\\n'
    """
    ast.unparse(ast.Constant(0))  # reads a file at its first use, which an engine may make impossible
    folder = Path.cwd()
    readable = [*libraries(hidden), folder]
    used = confine(readable, [folder], job["memory"], job["seconds"], job.get("parent"))
    forbid([folder], readable)
    return used


def forbid(writable: Iterable[Path], readable: Iterable[Path] | None = None) -> None:
    """From now on, for the rest of this process: no processes, no network, no changes outside the `writable` folders.

    With `readable`, no files are read but these and those in these folders.

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
    read = None if readable is None else tuple(os.path.realpath(path) for path in readable)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _NEVER:
            raise Refused(f"a submission may not {_NEVER[event]} while it is judged")
        if event == "open":
            path, mode, flags = arguments
            if _writes(mode, flags) and not _inside(path, roots):
                raise Refused(f"a submission may not write files while it is judged ({path!s:.80})")
            if read is not None and not _inside(path, read):
                raise Refused(f"a submission may not read files while it is judged ({path!s:.80})")
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
