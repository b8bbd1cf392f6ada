"""Programs on a terminal of their own, with somebody at the keyboard."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence

import pytest


def run_on_a_terminal(
    command: Sequence[str], environment: Mapping[str, str], *, rows: int, keys: bytes = b"", keys_after: str = ""
) -> tuple[int, str]:
    """Exit code, and all that was written to a terminal of 80 columns; the keys are pressed when that text is there."""
    pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")
    keyboard, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (rows, 80))
    process = subprocess.Popen(
        command, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True, env=environment
    )
    os.close(terminal)
    written = b""
    try:
        while True:
            try:
                chunk = os.read(keyboard, 65536)
            except OSError:  # the other side is closed
                break
            if not chunk:
                break
            written += chunk
            if keys and re.search(keys_after, written.decode(errors="replace")):
                os.write(keyboard, keys)
                keys = b""
        return process.wait(timeout=30), written.decode(errors="replace")
    finally:
        process.kill()
        process.wait()
        os.close(keyboard)
