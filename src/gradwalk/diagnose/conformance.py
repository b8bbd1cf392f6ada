"""The checklist as tests for pytest: one test for each check, for anyone's own engine, in a line.

```python
from my_engine import Value
from gradwalk.diagnose import conformance

test_my_engine = conformance.suite(Value)
```

A check that fails says which bug it is; an op that is not there yet is skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import ModuleType
from typing import Any

from gradwalk.diagnose.as_text import numbers_text
from gradwalk.diagnose.checks import select
from gradwalk.diagnose.grading import grade
from gradwalk.diagnose.results import CheckResult, Grade

__all__ = ["message", "suite"]

Engine = type[Any] | ModuleType | Mapping[str, Any] | str


def suite(
    engine: Engine, *, checks: Iterable[str] | None = None, class_name: str = "Value", source: str | None = None
) -> Callable[[str], None]:
    """A test function with one case for each check: a class, a module, a namespace or source text may be given.

    >>> from gradwalk.diagnose import conformance
    >>> test_engine = conformance.suite(Value, checks=["reuse"])
    >>> test_engine("a-plus-a")
    >>> [mark.name for mark in test_engine.pytestmark]
    ['parametrize']
    """
    import pytest

    chosen = select(None if checks is None else list(checks))
    target = vars(engine) if isinstance(engine, ModuleType) else engine

    @cache
    def report() -> Grade:  # one grading for all tests
        return grade(target, source=source, checks=[check.name for check in chosen], class_name=class_name)

    @pytest.mark.parametrize("check", [check.name for check in chosen])
    def test(check: str) -> None:
        results = {result.name: result for result in report().checks}
        result = results.get(check) or next((r for r in results.values() if r.status == "error"), None)
        if result is None or result.status in ("missing", "skipped"):
            pytest.skip(result.message if result else "not for this engine")
        if result.status != "passed":
            pytest.fail(message(result), pytrace=False)

    made: Callable[[str], None] = test
    return made


def message(result: CheckResult) -> str:
    """What a failed check says: the bug, the numbers, the program and a hint.

    >>> from gradwalk.diagnose import conformance
    >>> report = grade(museum.find("overwriting").source(), checks=["a-plus-a"])
    >>> print(conformance.message(report.checks[0]))
    a + a: a.grad is 1, 2 is right
    your engine overwrites gradients: line 25 has `=` where `+=` is needed
    <BLANKLINE>
        a = Value(3.0)
        b = a + a
        b.backward()
    <BLANKLINE>
    Hint: A Value that is used twice receives two contributions. What does your line do with the one that is already
    there?
    """
    lines = [f"{result.title}: {numbers_text(result) or result.message}"]
    if result.diagnosis:
        lines.append(result.diagnosis.sentence)
    if result.program:
        lines += ["", *(f"    {line}" for line in result.program.split("\n"))]
    if result.diagnosis and result.diagnosis.hint:
        lines += ["", f"Hint: {result.diagnosis.hint}"]
    return "\n".join(lines)
