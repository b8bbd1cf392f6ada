"""Native functions: compiled once by Numba, kept on disk as object code, loaded in a millisecond.

A native function takes one or two addresses and gives nothing. Numba compiles it; what is kept is the machine code
itself, under a name that is a hash of everything it was made from: the sources of all kernels, the text of the op, the
versions of the compiler, the processor. A change to any of them is another name, so stale code is never served. Where
all functions are found, Numba is not even imported: a process reaches its first native step in a fraction of the time.

Files are written whole under another name and then renamed, so that two processes may compile at once; `kept.py` says
where, and which of them may be run.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import importlib.metadata
import json
import linecache
import os
import platform
import re
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from gradwalk.compile.native import kept
from gradwalk.compile.native.kept import MachineCode
from gradwalk.compile.native.processor import vector_bits
from gradwalk.turns import Turn

__all__ = ["Native", "address_and_arguments", "bound", "call", "fixed", "generated", "load", "vector_bits"]

#: Functions of C's library that compiled code may call; they are found in the process itself.
MATHS = ("exp", "expm1", "log", "log1p", "pow", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh",
         "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "tgamma", "lgamma", "hypot", "floor", "ceil", "log2",
         "log10", "fmod", "sqrt")  # fmt: skip
LIBRARY = {*MATHS, *(f"{name}f" for name in MATHS), "memcpy", "memset", "memmove"}
#: To be raised when this module makes machine code in another way: then none of the old is served.
RECIPE = 3
#: What Numba is told by the environment and does not change its code.
NO_MATTER = ("NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS", "NUMBA_THREADING_LAYER", "NUMBA_WARNINGS")

_ROOMS = Path(__file__).parents[1]  # the folder of gradwalk.compile
_lock = Turn()
_addresses: dict[Native, int] = {}
#: What happened: functions compiled and loaded in this process, and the seconds it took.
record: dict[str, float] = {"compiled": 0, "loaded": 0, "compile_seconds": 0.0, "load_seconds": 0.0}


class Native:
    """A native function that may not exist yet: where its Python source is, and how many addresses it takes.

    >>> from gradwalk.compile.native import objects
    >>> objects.fixed("native.drive", "drive").name
    'drive'
    """

    def __init__(
        self, name: str, arity: int, text: str, modules: tuple[str, ...], make: Callable[[], Any] | None
    ) -> None:
        self.name = name
        self.arity = arity
        self.text = text  # what tells it apart from others of the same modules
        self.modules = modules  # whose functions it is made of
        self.make = make  # None if the text is in LLVM's own language


@cache
def fixed(module: str, name: str) -> Native:
    """A function that stands in a module of `gradwalk.compile`, or in a dictionary there (`KERNELS.float32.take`).

    >>> from gradwalk.compile.native import objects
    >>> objects.fixed("native.drive", "drive") is objects.fixed("native.drive", "drive")
    True
    """

    def make() -> Any:
        found: Any = importlib.import_module(f"gradwalk.compile.{module}")
        for part in name.split("."):
            found = found[part] if isinstance(found, dict) else getattr(found, part)
        return found

    return Native(name, 2, f"{module}.{name}", (module,), make)


@cache
def generated(name: str, text: str, functions: str = "vmath") -> Native:
    """A function `kernel` that is written out as text, over the names of `microkernels` and `vmath` (or `vmath32`).

    >>> from gradwalk.compile.native import objects
    >>> objects.generated("nothing", "def kernel(d, c): pass").name
    'nothing'
    """

    def make() -> Any:
        scope = dict(vars(importlib.import_module("gradwalk.compile.native.microkernels")))
        scope.update(vars(importlib.import_module(f"gradwalk.compile.native.{functions}")))
        file = f"<gradwalk {name}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)  # for error messages
        exec(compile(text, file, "exec"), scope)
        return scope["kernel"]

    return Native(name, 2, text, ("native.microkernels", f"native.{functions}"), make)


@cache
def assembled(name: str, text: str) -> Native:
    """A function `kernel` of two addresses that is written out in LLVM's own language; no Numba is needed for it.

    >>> from gradwalk.compile.native import objects
    >>> objects.assembled("nothing", "define void @kernel(i64 %d, i64 %c) { ret void }").name
    'nothing'
    """
    return Native(name, 2, text, (), None)


def load(native: Native) -> int:
    """The address of a native function, compiled now if it was never compiled before.

    >>> from gradwalk.compile.native import objects
    >>> objects.load(objects.generated("nothing", "def kernel(d, c): pass")) != 0
    True
    """
    address = _addresses.get(native)
    if address is None:
        with _lock:
            address = _addresses.get(native) or _find(native)
            _addresses[native] = address
    return address


def call(native: Native) -> Callable[..., None]:
    """A native function as a Python function of ints; it runs without the interpreter's lock.

    >>> from gradwalk.compile.native import objects
    >>> objects.call(objects.generated("nothing", "def kernel(d, c): pass"))(0, 0)
    """
    return ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * native.arity)(load(native))


def bound(native: Native, *addresses: int, locked: bool = False) -> partial[None]:
    """A native function with what it is given at every call; quicker than `call`, which looks at its arguments.

    Addresses are handed over as references that were made once: ctypes makes a new object for any other argument. One
    that the function does not look at can be left out at the end. Only if `locked` the interpreter's lock is held.

    >>> from gradwalk.compile.native import objects
    >>> nothing = objects.bound(objects.generated("nothing", "def kernel(d, c): pass"), 16, 32)
    >>> nothing(), objects.address_and_arguments(nothing)[1:]
    (None, (16, 32))
    """
    references = [ctypes.byref(ctypes.c_char.from_address(address)) for address in addresses]
    kind = ctypes.PYFUNCTYPE if locked else ctypes.CFUNCTYPE
    return partial(kind(None)(load(native)), *references)


def address_and_arguments(function: Any) -> tuple[int, ...]:
    """Where the function lies that `bound` made callable, and what it is given: for other native code.

    >>> from gradwalk.compile.native import objects
    >>> nothing = objects.generated("nothing", "def kernel(d, c): pass")
    >>> objects.address_and_arguments(objects.bound(nothing, 16)) == (objects.load(nothing), 16)
    True
    """
    address = ctypes.cast(function.func, ctypes.c_void_p).value or 0
    return address, *[ctypes.addressof(reference._obj) for reference in function.args]


def _find(native: Native) -> int:
    made_from = [_surroundings(), *map(_source_hash, native.modules), str(native.arity), native.text]
    symbol = "gradwalk_" + hashlib.sha256("\n".join(made_from).encode()).hexdigest()[:40]
    began = time.perf_counter()
    there = kept.read(symbol)
    address = _link(symbol, there) if there is not None else 0
    if address:
        record["loaded"] += 1
        record["load_seconds"] += time.perf_counter() - began
        return address
    code, address = _compile(native, symbol)
    record["compiled"] += 1
    record["compile_seconds"] += time.perf_counter() - began
    if code is None:
        return address
    kept.write(symbol, code)
    return _link(symbol, code)


# --- the name: a hash of everything that matters ---------------------------------------------------------------------


@cache
def _surroundings() -> str:
    """What machine code depends on besides its source."""
    features = llvm.get_host_cpu_features()
    facts = {
        "llvmlite": importlib.metadata.version("llvmlite"),
        "numba": importlib.metadata.version("numba"),
        "python": platform.python_version(),
        "cpu": llvm.get_host_cpu_name(),
        "features": features.flatten(),
        "triple": llvm.get_process_triple(),
        "vectors": vector_bits(),
        "numba's settings": {
            name: x for name, x in os.environ.items() if name.startswith("NUMBA_") and name not in NO_MATTER
        },
        "numba's file": _numba_file(),
        "recipe": RECIPE,
    }
    return json.dumps(facts, sort_keys=True)


def _numba_file() -> str:
    """The settings that Numba reads from the folder a program is started in, if there are any."""
    try:
        return hashlib.sha256(Path(".numba_config.yaml").read_bytes()).hexdigest()
    except OSError:
        return ""


@cache
def _source_hash(module: str) -> str:
    """A hash of the source of a module of this package, and of all it imports from the package, directly or not."""
    seen: dict[str, bytes] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen[name] = (_ROOMS / f"{name.replace('.', '/')}.py").read_bytes()
            waiting += re.findall(r"^from gradwalk\.compile\.([\w.]+) import", seen[name].decode(), flags=re.M)
    return hashlib.sha256(b"\n".join(seen[name] for name in sorted(seen))).hexdigest()


# --- compiling -------------------------------------------------------------------------------------------------------


def _compile(native: Native, symbol: str) -> tuple[MachineCode | None, int]:
    """Machine code that defines `symbol`; or None, and an address Numba holds.

    The function is renamed and everything else in it is made private, so that no two files can disturb each other.
    """
    if native.make is None:
        return _assemble(native.text, symbol), 0
    numba = importlib.import_module("numba")
    types = numba.types
    function = native.make()
    compiled = numba.cfunc(types.void(*[types.int64] * native.arity), error_model="numpy")(function)
    library = compiled._library
    module = llvm.parse_bitcode(library._final_module.as_bitcode())
    for part in [*module.functions, *module.global_variables]:
        if part.name == compiled.native_name:
            part.name = symbol
        elif not part.is_declaration:
            part.linkage = "internal"
    _without_exceptions(module, library._codegen._tm)
    declared = [part.name for part in [*module.functions, *module.global_variables] if part.is_declaration]
    outside = [name for name in declared if not name.startswith("llvm.")]
    if not set(outside) <= LIBRARY:  # it needs Python or Numba itself: it can serve this process only
        _held.append(compiled)
        return None, compiled.address
    return MachineCode(outside, library._codegen._tm.emit_object(module)), 0


def _assemble(text: str, symbol: str) -> MachineCode:
    """Machine code of a function in LLVM's language, under another name.

    Optimising it first takes twice the time, and gives nothing: what is written there was written with care.
    """
    _engine()  # which makes this processor known
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=1, jit=True
    )
    module = llvm.parse_assembly(text.replace("@kernel(", f"@{symbol}("))
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    module.verify()
    return MachineCode([], machine.emit_object(module))


def _without_exceptions(module: Any, machine: Any) -> None:
    """Drop what would report an exception: kernels raise none, as is plain once their parts are private."""
    manager = llvm.create_new_module_pass_manager()
    manager.add_ipsccp_pass()
    manager.add_simplify_cfg_pass()
    manager.add_global_dead_code_eliminate_pass()
    manager.add_strip_dead_prototype_pass()
    manager.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))


_held: list[Any] = []  # what Numba compiled must live as long as its address is used


# --- linking ---------------------------------------------------------------------------------------------------------


@cache
def _engine() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)


def _link(symbol: str, code: MachineCode) -> int:
    """The address of a symbol; 0 if this is not the code that defines it, or not all it needs is here."""
    engine = _engine()
    if not all(map(llvm.address_of_symbol, code.outside)):
        return 0
    engine.add_object_file(llvm.ObjectFileRef.from_data(code.content))
    engine.finalize_object()
    return int(engine.get_function_address(symbol))
