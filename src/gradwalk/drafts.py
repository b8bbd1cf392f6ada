"""Files that are written whole or not at all: first under a name of their own, then renamed.

A process that is killed between the two leaves its draft behind. Whoever writes into that folder later clears it away.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
import time
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

__all__ = ["replace"]

NAME = re.compile(r"\.gradwalk-[0-9a-f]{16}\.tmp")
OLD = 3600.0  # seconds since a draft was last written to: whoever did has gone


def replace(path: str | os.PathLike[str], content: bytes, *, lasting: bool = False) -> None:
    """Put `content` into a file, in one step as seen from outside; if `lasting`, no power cut takes it back.

    A link goes on pointing at its file, and a file that was there keeps its permissions.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     replace(f"{folder}/model.json", b"{}")
    ...     Path(folder, "model.json").read_bytes()
    b'{}'
    """
    target = Path(os.path.realpath(path))
    mode = None
    with suppress(FileNotFoundError):
        mode = target.stat().st_mode
    if mode is not None and stat.S_ISDIR(mode):
        raise IsADirectoryError(0, "it is a folder")
    if mode is not None and not stat.S_ISREG(mode):
        raise OSError(0, "it is not an ordinary file")
    if mode is not None and not os.access(target, os.W_OK):  # replacing would get round this, and should not
        raise PermissionError(0, "the file is read-only")
    _clear(os.fspath(target.parent))
    draft = target.with_name(f".gradwalk-{secrets.token_hex(8)}.tmp")  # the target's name may be as long as one can be
    try:
        with draft.open("xb"):
            if mode is not None:
                draft.chmod(stat.S_IMODE(mode))
        draft.write_bytes(content)
        if lasting:
            with draft.open("r+b") as file:
                os.fsync(file.fileno())
        draft.replace(target)
    except BaseException:  # Ctrl-C too must not leave a draft behind
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise
    if lasting:
        with suppress(OSError):  # the new name itself, where the system has a way to ask for that
            handle = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


@lru_cache(maxsize=64)
def _clear(folder: str) -> None:
    """Delete old drafts; once in a process for each folder, which may be large."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                ours = NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)
                if ours and time.time() - entry.stat(follow_symlinks=False).st_mtime > OLD:
                    os.unlink(entry.path)  # noqa: PTH108
