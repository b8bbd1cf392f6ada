"""Statements to Values: a program is run by a small stack machine, and its result holds every named node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from unicodedata import normalize

from gradwalk.engine import Value
from gradwalk.errors import GradwalkError, ProgramError
from gradwalk.messages import say
from gradwalk.program.language import FUNCTIONS
from gradwalk.program.reader import Apply, ParsedProgram, Step, read
from gradwalk.program.source import near

__all__ = ["Program", "inputs_of", "program"]


def program(text: str, /, **inputs: Any) -> Program:
    """Build the graph that the text describes; every name becomes a Value that has it as its label.

    Lines (or parts between `;`) are `name = expression`; the last may be an expression alone. An expression has
    numbers, names, `+ - * / **`, and the functions of the op table, as `tanh(x)` or `x.tanh()`; a choice is written
    `where(a > b, x, y)`. Inputs are numbers or Values. The graph is the one that Python would build from the same
    text with Values, but the text is only read, never run: nothing else has a meaning in it.

    >>> values = program("e = a*b; d = e + c; L = d*f", a=2, b=-3, c=10, f=-2)
    >>> values.root.backward()
    >>> values["L"].data, values["a"].grad, values["d"].label
    (-8.0, 6.0, 'd')
    >>> program("e = a*b; L = e + cc", a=2, b=-3, c=10)
    Traceback (most recent call last):
    ...
    gradwalk.errors.ProgramError: there is no cc; did you mean c? If it is an input, give it a value:
    program(..., cc=1.0)
      line 1: e = a*b; L = e + cc
                               ^^
    """
    reading = read(text)
    given = {normalize("NFKC", name): x for name, x in inputs.items()}  # as Python reads names in a text
    _check_inputs(reading, given)
    return Program(reading, given)


def inputs_of(text: str) -> tuple[str, ...]:
    """The names that a program expects as inputs, in the order in which it uses them.

    >>> inputs_of("b = 2; d = a*b; L = d + c")
    ('a', 'c')
    """
    return tuple(read(text).free)


class Program(Mapping[str, Value]):
    """What `program()` gives: the Values by name, `root` (the last line), `text` and `inputs`.

    >>> result = program("(a + b) * c", a=2, b=-3, c=10)
    >>> result
    <program '(a + b) * c': a=2, b=-3, c=10, root=-10>
    >>> list(result), result.root.data
    (['a', 'b', 'c'], -10.0)
    """

    root: Value
    text: str

    def __init__(self, reading: ParsedProgram, given: Mapping[str, Any]) -> None:
        self.text = reading.source.text
        self._reading, self._given = reading, dict(given)
        leaves = {name: _leaf(name, x) for name, x in given.items()}
        self._named: dict[str, Value] = {name: leaves[name] for name in given if name in reading.free}
        changeable = reading.leaves
        for statement in reading.statements:
            name = statement.name
            result = leaves[name] if name in leaves and name in changeable else _run(statement.steps, self._named)
            self.root = result if isinstance(result, Value) else Value(result)
            if name is not None:
                self._named[name] = self.root
                if not self.root.label:  # b = a is a second name for a, not a second label
                    self.root.label = name
        self._leaves = {**{n: leaves[n] for n in reading.free}, **{n: self._named[n] for n in changeable}}

    @property
    def inputs(self) -> dict[str, float]:
        """The numbers it starts from: those given, and those that the text gives names; `rerun` can change them.

        >>> program("b = -3.0; L = a*b", a=2).inputs
        {'a': 2.0, 'b': -3.0}
        """
        return {name: leaf.data for name, leaf in self._leaves.items()}

    def rerun(self, **changed: Any) -> Program:
        """The same program built anew, with some of its inputs changed; the others are as they are now.

        >>> result = program("b = -3; L = a*b", a=2)
        >>> result.rerun(a=5, b=4).root.data, result.root.data
        (20.0, -6.0)
        """
        changed = {normalize("NFKC", name): x for name, x in changed.items()}
        for name in changed:
            if name not in self._leaves:
                if name in self._named:
                    because = say("{name} is computed from others", name=name)
                else:
                    because = say("there is no {name}", name=name)
                raise ProgramError(
                    say(
                        "{because}; what can be changed is {names}",
                        because=because,
                        names=_listed(self._leaves) or say("nothing"),
                    )
                )
        now: dict[str, Any] = {}
        for name, leaf in self._leaves.items():
            given = self._given.get(name)
            now[name] = changed.get(name, given if isinstance(given, Value) else leaf.data)
        return Program(self._reading, now)

    def __getitem__(self, name: str) -> Value:
        try:
            return self._named[name]
        except KeyError:
            raise KeyError(f"the program names no {name!r}; it names {_listed(self._named) or 'nothing'}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._named)

    def __len__(self) -> int:
        return len(self._named)

    def __repr__(self) -> str:
        shown = [f"{name}={v.data:g}" for name, v in self._named.items()]
        if len(shown) > 12:
            shown[6:-5] = ["…"]
        if not any(v is self.root for v in self._named.values()):
            shown.append(f"root={self.root.data:g}")
        text = self.text.strip()
        return f"<program {text if len(text) <= 60 else text[:59] + '…'!r}: {', '.join(shown)}>"


def _leaf(name: str, x: Any) -> Value:
    try:
        leaf = x if isinstance(x, Value) else Value(x)
    except GradwalkError as error:
        raise type(error)(f"the input {name}: {error}") from None
    if not leaf.label:
        leaf.label = name
    return leaf


def _run(steps: Iterable[Step], named: Mapping[str, Value]) -> Any:
    """The result of one statement: a Value, or a number if no Value takes part."""
    stack: list[Any] = []
    for step in steps:
        if isinstance(step, Apply):
            operands = stack[len(stack) - step.count :]
            del stack[len(stack) - step.count :]
            stack.append(step.function(*operands))
        else:
            stack.append(named[step] if isinstance(step, str) else step)
    return stack.pop()


# --- inputs that do not fit ------------------------------------------------------------------------------------------


def _check_inputs(reading: ParsedProgram, given: Mapping[str, Any]) -> None:
    missing = [name for name in reading.free if name not in given]
    if missing:
        raise _missing(reading, missing, given)
    unused = [name for name in given if name not in reading.free]
    if unused:
        name = unused[0]
        if name in reading.made:
            uses = say(
                "its line {line} makes {name} anew: leave one of the two out", line=reading.made[name], name=name
            )
        elif reading.free:
            uses = say("it uses {names}", names=_listed(reading.free))
        else:
            uses = say("it needs none")
        if len(unused) > 1:
            raise ProgramError(
                say("the program does not use the inputs {names}; {uses}", names=_listed(unused), uses=uses)
            )
        raise ProgramError(say("the program does not use the input {name}; {uses}", name=name, uses=uses))


def _missing(reading: ParsedProgram, missing: list[str], given: Mapping[str, Any]) -> ProgramError:
    name = missing[0]
    remedy = f"program(..., {', '.join(f'{each}=1.0' for each in missing)})"
    if name in reading.made:
        reason = say(
            "{name} is used before line {line} makes it; move that line up, or give it a value: {remedy}",
            name=name,
            line=reading.made[name],
            remedy=remedy,
        )
    elif name in FUNCTIONS:
        reason = say("{name} is a function; write {name}(…)", name=name)
    elif len(missing) > 1:
        reason = say("{names} have no value; give them one: {remedy}", names=_listed(missing), remedy=remedy)
    else:
        meant = near(name, [*given, *reading.made])
        reason = say("there is no {name}; give it a value: {remedy}", name=name, remedy=remedy)
        if meant:
            reason = say(
                "there is no {name}; did you mean {other}? If it is an input, give it a value: {remedy}",
                name=name,
                other=meant,
                remedy=remedy,
            )
    return reading.source.error(reason, reading.free[name])


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    if len(names) <= 8:
        return ", ".join(names)
    return say("{names} and {count} more", names=", ".join(names[:8]), count=len(names) - 8)
