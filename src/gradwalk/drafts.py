"""Files that are written whole or not at all: first under a name of their own, then renamed.

A process that is killed between the two leaves its draft behind. Whoever writes into that folder later clears it away.
"""

from __future__ import annotations

import os
import re
import secrets
import time
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

__all__ = ["draft_of"]

NAME = re.compile(r"\.gradwalk-[0-9a-f]{16}\.tmp")
OLD = 3600.0  # seconds since a draft was last written to: whoever did has gone


def draft_of(target: Path) -> Path:
    """A name beside `target` that nobody has; it does not build on the target's, which may be as long as a name can be.

    >>> draft_of(Path("model.json")).name.startswith(".gradwalk-")
    True
    """
    _clear(os.fspath(target.parent))
    return target.with_name(f".gradwalk-{secrets.token_hex(8)}.tmp")


@lru_cache(maxsize=64)
def _clear(folder: str) -> None:
    """Delete old drafts; once in a process for each folder, which may be large."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                ours = NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)
                if ours and time.time() - entry.stat(follow_symlinks=False).st_mtime > OLD:
                    os.unlink(entry.path)  # noqa: PTH108
