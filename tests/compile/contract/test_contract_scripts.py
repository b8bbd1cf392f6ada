"""Ordinary Python around compiled functions: what is equal, and what NumPy makes of arrays among the arguments."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from scripts import play, read

from gradwalk.compile.prepared import running_on
from gradwalk.compile.reference import REFERENCE

SCRIPTS = read()


@pytest.fixture(autouse=True)
def _in_plain_numpy() -> Iterator[None]:
    """What is tested lies in front of the backend: no kernels are needed."""
    with running_on(REFERENCE):
        yield


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_comes_to_the_same_plain_and_compiled(name: str) -> None:
    play(SCRIPTS[name])
