"""Results that outlive their run: one file a job, named by a digest of the work, written whole or not at all."""

from __future__ import annotations

import hashlib
import warnings
from pathlib import Path

from gradwalk import files
from gradwalk.errors import SettingError

__all__ = ["Kept"]

_HEAD = b"gradwalk job 1\n"


class Kept:
    """A folder of finished jobs. Several runs may share it: a job's name says what it is, and files come whole.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kept = Kept(folder)
    ...     kept.put("1a2b", b"result")
    ...     kept.get("1a2b"), kept.get("3c4d")
    (b'result', None)
    """

    def __init__(self, folder: files.AnyPath) -> None:
        self.folder = Path(folder)
        self.full = False  # whether it was said that nothing more can be kept
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            files.write(self.folder / "probe", b"")
            (self.folder / "probe").unlink(missing_ok=True)
        except OSError as error:
            raise SettingError(f"cannot keep results in {str(folder)!r}: {error.strerror or error}") from error

    def get(self, key: str) -> bytes | None:
        """A finished job's result as it was put there, or None. A damaged file counts as none, and is said.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Kept(folder).get("1a2b") is None
        True
        """
        path = self.folder / f"{key}.job"
        try:
            whole = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            warnings.warn(f"cannot read {path}, so its job runs again: {error.strerror}", stacklevel=2)
            return None
        result = whole[len(_HEAD) + 32 :]
        if whole[: len(_HEAD)] != _HEAD or hashlib.sha256(result).digest() != whole[len(_HEAD) :][:32]:
            warnings.warn(f"{path} is damaged, so its job runs again", stacklevel=2)
            return None
        return result

    def put(self, key: str, result: bytes) -> None:
        """Keep a result. Where that cannot be done, because the disk is full, it is said once, and the run goes on.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Kept(folder).put("1a2b", b"result")
        """
        try:
            files.write(self.folder / f"{key}.job", _HEAD + hashlib.sha256(result).digest() + result)
        except SettingError as error:
            if not self.full:
                self.full = True
                warnings.warn(f"results can no longer be kept for a later run: {error}", stacklevel=2)
