"""The shape of what web/recorded/against_torch.py writes down: a program in gradwalk and in PyTorch, row by row."""

from __future__ import annotations

from typing import TypedDict

__all__ = ["ComparedRow", "RecordedComparisons"]


class ComparedRow(TypedDict):
    """Some lines of both programs, and what each printed.

    >>> ComparedRow(name="import", ours="", theirs="import torch", oursPrinted="", theirsPrinted="")["theirs"]
    'import torch'
    """

    name: str
    ours: str
    theirs: str
    oursPrinted: str
    theirsPrinted: str


class RecordedComparisons(TypedDict):
    """Every comparison by its name, and the PyTorch that ran.

    >>> RecordedComparisons(torch="2.13.0", comparisons={})["torch"]
    '2.13.0'
    """

    torch: str
    comparisons: dict[str, list[ComparedRow]]
