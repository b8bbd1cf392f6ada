"""What tells one piece of work from another: a digest of a function with all it refers to, or of plain data.

Two runs of a program find the same digest for the same work. A changed line in the function, in a helper it calls, or
in the data it reads by name gives another one. What cannot be looked into is refused by name.
"""

from __future__ import annotations

import hashlib
import struct
import sys
import sysconfig
import types
from pathlib import Path
from typing import Any

from gradwalk.errors import SettingError

__all__ = ["digest", "is_installed"]

_INSTALLED = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def digest(*things: Any) -> str:
    """A digest of functions and data: the same wherever, and in whatever order of a dict or set, they are the same.

    >>> digest({"lr": 0.1, "hidden": 8}) == digest({"hidden": 8, "lr": 0.1}) != digest({"lr": 0.1, "hidden": 8.0})
    True
    >>> digest(abs, [1, 2]) == digest(abs, [1, 2]) != digest(abs, (1, 2))
    True
    """
    return _Walk().of(things).hex()


class _Walk:
    """One walk over objects; what was met before is named by its number, so circles end."""

    def __init__(self) -> None:
        self.met: dict[int, int] = {}
        self.alive: list[Any] = []  # so that no id is used twice

    def of(self, x: Any) -> bytes:
        kind = type(x)
        if kind in (int, float, str, bytes, bool, complex, types.NoneType):
            text = struct.pack("<d", x) if kind is float else x if kind is bytes else repr(x).encode("utf-8", "replace")
            return self._joined(kind.__name__, [text])
        if kind is tuple:  # equal ones are the same, whether or not they are one object
            return self._joined("tuple", [self.of(item) for item in x])
        if id(x) in self.met:
            return self._joined("again", [str(self.met[id(x)]).encode()])
        self.met[id(x)] = len(self.met)
        self.alive.append(x)
        if kind is list:
            return self._joined("list", [self.of(item) for item in x])
        if kind is dict:
            entries = sorted(x.items(), key=lambda entry: _Walk().of(entry[0]))
            return self._joined("dict", sorted(_Walk().of(k) + self.of(v) for k, v in entries))
        if kind in (set, frozenset):
            return self._joined(kind.__name__, sorted(_Walk().of(item) for item in x))
        if isinstance(x, types.FunctionType):
            return self._function(x)
        if isinstance(x, types.CodeType):
            parts = (x.co_code, x.co_names, x.co_varnames, x.co_consts, x.co_flags)
            return self._joined("code", [self.of(part) for part in parts])
        if isinstance(x, types.ModuleType):
            return self._module(x)
        if isinstance(x, type):
            return self._class(x)
        if isinstance(x, types.MethodType):
            return self._joined("method", [self.of(x.__func__), self.of(x.__self__)])
        if kind.__module__.partition(".")[0] == "numpy" and hasattr(x, "tobytes") and x.dtype != object:
            return self._joined("array", [str(x.dtype).encode(), str(x.shape).encode(), x.tobytes()])
        return self._object(x)

    def _joined(self, tag: str, parts: list[bytes]) -> bytes:
        whole = hashlib.sha256(tag.encode())
        for part in parts:
            whole.update(struct.pack("<q", len(part)))
            whole.update(part)
        return whole.digest()

    def _function(self, f: types.FunctionType) -> bytes:
        captured = [cell.cell_contents for cell in f.__closure__ or () if _is_filled(cell)]
        if is_installed(f.__module__):  # what it captured, such as a function that it wraps, may still be the user's
            return self._joined("installed", [f"{f.__module__}.{f.__qualname__}".encode(), *map(self.of, captured)])
        named = {name: f.__globals__[name] for name in sorted(_names(f.__code__)) if name in f.__globals__}
        parts = [f.__code__, f.__defaults__, f.__kwdefaults__, captured, *named, *named.values()]
        return self._joined("function", [self.of(part) for part in parts])

    def _module(self, module: types.ModuleType) -> bytes:
        if is_installed(module.__name__):
            version = str(getattr(module, "__version__", ""))
            return self._joined("installed", [module.__name__.encode(), version.encode()])
        file = getattr(module, "__file__", None)
        if file is None:
            raise SettingError(f"cannot tell whether the module {module.__name__} is the same as in an earlier run")
        parts = [self.of(v) for _, v in sorted(vars(module).items()) if isinstance(v, types.ModuleType)]
        return self._joined("module", [Path(file).read_bytes(), *parts])

    def _class(self, cls: type) -> bytes:
        name = f"{cls.__module__}.{cls.__qualname__}".encode()
        if is_installed(cls.__module__):
            return self._joined("installed", [name])
        own = {
            key: getattr(value, "__func__", getattr(value, "fget", value))
            for key, value in sorted(vars(cls).items())
            if key not in ("__dict__", "__weakref__", "__module__", "__doc__", "__firstlineno__")
            and not isinstance(value, (types.MemberDescriptorType, types.GetSetDescriptorType))
        }
        return self._joined("class", [self.of(cls.__bases__), self.of(own)])

    def _object(self, x: Any) -> bytes:
        try:
            parts = x.__reduce_ex__(4)
        except Exception as error:
            raise SettingError(
                f"cannot tell whether a {type(x).__name__} is the same as in an earlier run ({error}); "
                "hand the job plain data, or leave keep= out"
            ) from error
        if isinstance(parts, str):
            return self._joined("name", [type(x).__qualname__.encode(), parts.encode()])
        lists = [list(part) if hasattr(part, "__next__") else part for part in parts]
        return self._joined("object", [self.of(part) for part in lists])


def _is_filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _names(code: types.CodeType) -> set[str]:
    """The names that a function's code and the code inside it may look up in its module."""
    inner = [const for const in code.co_consts if isinstance(const, types.CodeType)]
    return set(code.co_names).union(*map(_names, inner))


def is_installed(name: str | None) -> bool:
    """Whether a module belongs to Python, to gradwalk or to an installed package, and so changes with its version.

    >>> is_installed("json"), is_installed("gradwalk.nn"), is_installed("__main__")
    (True, True, False)
    """
    if name is None or name == "__main__" or name not in sys.modules:
        return False
    file = getattr(sys.modules[name], "__file__", None)
    return name.partition(".")[0] == "gradwalk" or file is None or str(file).startswith(_INSTALLED)
