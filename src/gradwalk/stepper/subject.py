"""What to step through: the name of a preset, an expression with its inputs, or a Value of a script."""

from __future__ import annotations

import contextlib
import re
import runpy
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradwalk.errors import GradwalkError, ProgramError, SettingError
from gradwalk.presets import Preset, preset
from gradwalk.program import inputs_of, program

__all__ = ["Subject", "numbers", "subject"]


@dataclass(frozen=True)
class Subject:
    """A graph to step through, and what to say of it.

    >>> subject("a+a").note
    'One node used twice: both contributions count, so they add.'
    """

    root: Any  # a Value, or a node of any engine that walks can read
    title: str
    text: str = ""  # the program, where there is one
    note: str = ""


def subject(what: str, inputs: Mapping[str, float] | None = None) -> Subject:
    """Find out what is meant. A script is run, in a namespace of its own.

    >>> subject("neuron").title, subject("(a+b)*c", {"a": 2, "b": -3, "c": 10}).root.data
    ('A neuron', -10.0)
    >>> subject("neurn")
    Traceback (most recent call last):
    ...
    gradwalk.errors.SettingError: no preset is called 'neurn'; did you mean neuron?
    """
    inputs = dict(inputs or {})
    script = re.fullmatch(r"(.+\.py)(?::(.*))?", what.strip(), flags=re.DOTALL)
    if script:
        if inputs:
            raise SettingError(f"a script has its own numbers: leave {_equations(inputs)} out")
        return _of_script(Path(script[1]), script[2])
    word = re.fullmatch(r"[\w-]+", what.strip()) is not None
    try:
        found = preset(what)
    except SettingError:
        if word and not {*re.findall(r"\w+", what)} & {*inputs}:  # whoever wrote it meant a preset
            raise
    else:  # some presets also go by their formula; with inputs, a formula is an expression
        if not inputs or (word and what.strip() not in inputs):
            return _of_preset(found, inputs)
    return _of_expression(what, inputs)


def numbers(texts: list[str]) -> dict[str, float]:
    """Inputs as they stand on a command line.

    >>> numbers(["a=2", "b=-3e-1"])
    {'a': 2.0, 'b': -0.3}
    >>> numbers(["a=x"])
    Traceback (most recent call last):
    ...
    gradwalk.errors.SettingError: a=x: 'x' is not a number; write an input as NAME=NUMBER, such as a=2
    """
    found: dict[str, float] = {}
    for text in texts:
        name, equals, number = (part.strip() for part in text.partition("="))
        if not equals or not name.isidentifier():
            raise SettingError(f"{text!r} is no input; write it as NAME=NUMBER, such as a=2")
        if name in found:
            raise SettingError(f"{name} is given twice: {found[name]:g} and {number}")
        try:
            found[name] = float(number.replace("−", "-"))
        except ValueError:
            raise SettingError(
                f"{text}: {number!r} is not a number; write an input as NAME=NUMBER, such as {name}=2"
            ) from None
    return found


def _equations(inputs: Mapping[str, float]) -> str:
    return " ".join(f"{name}={x:g}" for name, x in inputs.items())


# --- presets and expressions -----------------------------------------------------------------------------------------


def _of_preset(found: Preset, inputs: Mapping[str, float]) -> Subject:
    unknown = [name for name in inputs if name not in found.inputs]
    if unknown:
        raise SettingError(f"{found.name} has no input {unknown[0]}; its inputs are {_listed(list(found.inputs))}")
    root = program(found.text, **{**found.inputs, **inputs}).root
    changed = f" with {_equations(inputs)}" if inputs else ""
    return Subject(root, found.title + changed, found.text, "" if inputs else found.note)


def _of_expression(text: str, inputs: Mapping[str, float]) -> Subject:
    missing = [name for name in inputs_of(text) if name not in inputs]
    if missing:
        given = f", and was given {_equations(inputs)}" if inputs else ""
        raise ProgramError(
            f"{text} needs a number for {_listed(missing)}{given}; add "
            + " ".join(f"{name}=1" for name in missing)
            + " behind it"
        )
    root = program(text, **inputs).root
    if not root.label and not root.operands:
        root.label = text.strip()
    return Subject(root, " ".join(text.split()), text)


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# --- scripts ---------------------------------------------------------------------------------------------------------


def _of_script(path: Path, name: str | None) -> Subject:
    if not path.is_file():
        raise SettingError(f"there is no file {path}" if not path.exists() else f"{path} is not a file")
    if not name:
        raise SettingError(f"say which Value of {path} to step through, as in {path}:loss")
    names = _run(path)
    values = {key: thing for key, thing in names.items() if _is_node(thing) and not key.startswith("__")}
    if name not in names:
        there = f"its Values are {_listed(list(values)[:12])}" if values else "it has no Values"
        raise SettingError(f"{path} makes nothing called {name!r}; {there}")
    root = names[name]
    if not _is_node(root):
        remedy = "name one that holds a gradwalk Value"
        if isinstance(root, (int, float)):
            remedy = "a graph ends in a Value, before its .data is taken"
        elif isinstance(root, (list, tuple)) and any(map(_is_node, root)):
            remedy = "give one of the Values in it a name of its own"
        kind = type(root).__name__
        article = "an" if kind[0] in "aeiouAEIOU" else "a"
        raise SettingError(f"{name} in {path} is not a Value but {article} {kind}; {remedy}")
    for key, node in values.items():
        if getattr(node, "label", None) == "":
            node.label = key  # the script is done, and its Values are ours: they go by their variables' names
    return Subject(root, f"{path.name}:{name}")


def _is_node(thing: Any) -> bool:
    return not isinstance(thing, type) and hasattr(thing, "data") and (
        hasattr(thing, "operands") or hasattr(thing, "_prev")
    )  # fmt: skip


def _run(path: Path) -> dict[str, Any]:
    """The names that a script leaves behind; what it prints goes to stderr, so that our output stays ours."""
    argv, places = sys.argv, list(sys.path)
    sys.argv, sys.path[:0] = [str(path)], [str(path.resolve().parent)]  # as the script would find them
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return runpy.run_path(str(path), run_name="__main__")
    except SystemExit as leaving:
        raise SettingError(f"{path} ended itself with exit code {leaving.code}, before it could be looked at") from None
    except Exception as error:
        name, text = type(error).__name__, str(error)
        own = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        if isinstance(error, SyntaxError):
            own, text = [error.lineno], str(error.msg)
        where = f" on line {own[-1]}" if own and own[-1] else ""
        told = f"{name}: {text}" if text and not isinstance(error, GradwalkError) else text or name
        raise SettingError(f"{path} failed{where}: {told}") from error
    finally:
        sys.argv, sys.path[:] = argv, places
