"""Writes what follows from the op table: the page of ops, the methods of `Value`, and the lists of what is exported.

`make ops` runs it after an op was added. A test holds every file to what this gives.
"""

from __future__ import annotations

import inspect
import math
import re
from pathlib import Path

from gradwalk.formulas import derivatives_as_text, rule_as_text
from gradwalk.ops import TABLE, Interval, Op

INTRODUCTION = """\
# The ops

Made from the op table (`src/gradwalk/ops.py`) by `python docs/make_ops.py`. A derivative is written in the operands'
names and `out`, the result. Where an op is not smooth, gradwalk gives what PyTorch gives, in float64; the last column
says what that is.

| op | symbol | derivatives | smooth for | elsewhere |
|---|---|---|---|---|
"""


def page() -> str:
    """The whole page."""
    return INTRODUCTION + "".join(row(op) for op in TABLE.values())


def row(op: Op) -> str:
    """One op as a row of the table."""
    names = list(inspect.signature(op.partials[0]).parameters)[: op.arity]
    derivatives = "<br>".join(
        f"∂/∂{name} = `{text}`" for name, text in zip(names, derivatives_as_text(op), strict=True)
    )
    regions = [
        f"{name} in {region(interval)}"
        for name, interval in zip(names, op.domain, strict=True)
        if interval != (-math.inf, math.inf)
    ]
    if op.rough is not None:
        regions.append(f"`{rule_as_text(op.rough)}` ≠ 0")
    cells = (f"`{op.name}({', '.join(names)})`", f"`{op.symbol}`", derivatives, ", ".join(regions) or "all", op.there)
    return f"| {' | '.join(cells)} |\n"


def region(interval: Interval) -> str:
    """An open interval as mathematicians write it."""
    low, high = ("−∞" if x == -math.inf else "∞" if x == math.inf else f"{x:g}".replace("-", "−") for x in interval)
    return f"({low}, {high})"


# --- methods of Value ------------------------------------------------------------------------------------------------

METHODS = '''\
"""The table's functions as methods, all of one form: `v.tanh()` is `tanh(v)`. Made by `make ops`; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwalk import ops

if TYPE_CHECKING:
    from gradwalk.engine import Value


class Methods:
    """What `Value` inherits: a method for every function of the op table.

    >>> Value(0.0).cos().data
    1.0
    """

    __slots__ = ()

    def __gradwalk_op__(self, op: ops.Op, operands: tuple[Any, ...]) -> Value:
        raise NotImplementedError
'''

METHOD = '''
    def {name}(self{parameters}) -> Value:
        """{doc}

        >>> round({example}.data, 6)
        {result}
        """
        return self.__gradwalk_op__(ops.{name}, (self,{arguments}))
'''

#: Ops that are written with an operator of Python's, that the engine spells out, or whose first operand is a condition.
NO_METHOD = ("add", "sub", "mul", "div", "pow", "neg", "relu", "where")


def methods() -> str:
    """The whole of `methods.py`."""
    return METHODS + "".join(method(op) for op in TABLE.values() if op.name not in NO_METHOD)


def method(op: Op) -> str:
    """One op as a method."""
    others = ["other" if name == "y" else name for name in list(inspect.signature(op.partials[0]).parameters)[1:-1]]
    required = len(others) - len(op.defaults)
    defaults = ["", *("" for _ in others)][1 : required + 1] + [f" = {x!r}" for x in op.defaults]
    point = [0.5, *(0.25 * (i + 1) for i in range(len(others)))]
    example = f"Value({point[0]}).{op.name}({', '.join(map(repr, point[1:]))})"
    return METHOD.format(
        name=op.name,
        doc=op.doc,
        parameters="".join(f", {name}: Any{default}" for name, default in zip(others, defaults, strict=True)),
        arguments="".join(f" {name}," for name in others).rstrip(",") if others else "",
        example=example,
        result=round(op.forward(*point), 6),
    )


# --- exports ---------------------------------------------------------------------------------------------------------


def exporting(path: Path, names: list[str]) -> str:
    """A module's source, with these ops in its `__all__`, and in what it imports from the table."""
    text = path.read_text(encoding="utf-8")
    for opening, closing, quote in (("__all__ = [", "]", '"'), ("from gradwalk.ops import (", ")", "")):
        found = re.search(rf"^{re.escape(opening)}\n(.*?)^{re.escape(closing)}$", text, flags=re.M | re.S)
        if found:
            listed = re.findall(r"\w+", found[1])
            wanted = sorted({*(name for name in listed if name not in TABLE), *names}, key=sort_key)
            lines = "".join(f"    {quote}{name}{quote},\n" for name in wanted)
            text = f"{text[: found.start()]}{opening}\n{lines}{closing}{text[found.end() :]}"
    return text


def sort_key(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions, as the linter has it."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def files() -> dict[Path, str]:
    """Each file that follows from the table, and what it must hold."""
    root = Path(__file__).resolve().parents[1]
    package = root / "src" / "gradwalk"
    functions = [name for name in TABLE if name not in NO_METHOD[:6]]
    return {
        root / "docs" / "ops.md": page(),
        package / "methods.py": methods(),
        package / "ops.py": exporting(package / "ops.py", list(TABLE)),
        package / "__init__.py": exporting(package / "__init__.py", functions),
    }


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
