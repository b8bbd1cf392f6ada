"""Coroutines in a thread of their own: Playwright keeps the main thread's event loop busy while a browser is open."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

T = TypeVar("T")


def run_apart(coroutine: Coroutine[Any, Any, T]) -> T:
    """What the coroutine gives, or what it raises; it sees the context variables of whoever calls."""
    context = copy_context()
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: context.run(asyncio.run, coroutine)).result()
