"""A trace of one path through a function: before its results are given, a replay asks whether the path is this one."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any

import numpy as np

from gradwalk.compile.call.bound_trace import BoundTrace
from gradwalk.compile.native.pythons import NumberReader
from gradwalk.compile.own.store import Store
from gradwalk.compile.trace.guards import HAIR, Finished, Guard, numbers_at
from gradwalk.compile.trace.recorded import Recorded
from gradwalk.errors import SettingError

__all__ = ["Elsewhere", "GuardedTrace"]

FEW = 64  # outputs that are compared faster one by one


class Elsewhere(Exception):  # noqa: N818 (nobody outside sees it)
    """The path that these numbers take is another one: it leaves this one at a guard, with another answer."""

    def __init__(self, at: int, answer: Any) -> None:
        super().__init__(at, answer)
        self.at, self.answer = at, answer  # -1 if an argument is of another type


class GuardedTrace(BoundTrace):
    """A trace that holds as long as its guards do.

    >>> f = gradwalk.compile(lambda x: x * x if x > 0 else -x)
    >>> f(3.0).data, f(-2.0).data, f(5.0).data
    (9.0, 2.0, 25.0)
    >>> [(len(trace.guards), trace.calls) for trace in f.traces()]
    [(1, 2), (1, 1)]
    """

    def __init__(self, recorded: Recorded, numbers: Any, wrt: dict[str, Any]) -> None:
        super().__init__(recorded, numbers, wrt)
        self.guards: list[Guard] = recorded.guards
        self.answers = [guard.answer for guard in self.guards]
        self.expected = np.array(recorded.expected)
        self.quick = self.expected.tobytes()
        self.hairs = self.guards[-1].outputs.stop if self.guards else 0  # where their outputs begin
        self.starts = [guard.outputs.start for guard in self.guards]
        self.traced_with = numbers  # of these nobody need ask
        plain = len(numbers.plain)
        self.typed = [(i, recorded.types[i]) for i in sorted(recorded.types) if i < plain]  # of arrays the key tells
        self.whole = [(i, recorded.ints[i]) for i in sorted(recorded.ints) if i < plain]
        self.whole_arrays: dict[int, int] = {}  # and the same of arrays of ints
        for i, limit in recorded.ints.items():
            if i >= plain and recorded.arrays is None:  # else arrays are not taken apart
                k = bisect_right(self.ends, i) - 1
                self.whole_arrays[k] = min(limit, self.whole_arrays.get(k, limit))
        self.holds_for_types = bool(self.typed or self.whole or self.whole_arrays)
        self.wrong_index: SettingError | None = None

    def _forward(self, store: Store, numbers: Any, again: Any = None) -> None:
        if again is not None:
            super()._forward(store, numbers, again)
            return
        sure, self.traced_with, self.wrong_index = numbers is self.traced_with, None, None
        if not sure and self.holds_for_types:
            if not numbers.pieces or not self.plain:  # else they are looked at as they are read
                self._check_types(numbers.in_order(), 0)
            for k, limit in self.whole_arrays.items():
                if numbers.arrays[k].max() > limit or numbers.arrays[k].min() < -limit:
                    raise Elsewhere(-1, None)
        BoundTrace._forward(self, store, numbers)  # quicker than by `super`
        if not sure and (found := self.asked.tobytes()) != self.quick:
            self._look_closer(found)
        if self.wrong_index is not None:
            raise self.wrong_index

    def _bind(self, store: Store) -> None:
        super()._bind(store)
        self.asked = self.runner.outputs[self.recorded.given :]

    def _reader(self) -> NumberReader:
        if not self.typed and not self.whole:
            return super()._reader()
        classes, limits = np.zeros(self.ends[0], np.int64), np.full(self.ends[0], -1.0)
        for i, kind in self.typed:
            classes[i] = id(kind)
        for i, limit in self.whole:
            limits[i] = limit
        return NumberReader(self.runner.inputs, classes, limits)

    def _check_types(self, plain: list[Any], start: int) -> None:
        ends = start + len(plain)
        for i, kind in self.typed[bisect_left(self.typed, (start,)) : bisect_left(self.typed, (ends,))]:
            if plain[i - start].__class__ is not kind:
                raise Elsewhere(-1, None)
        for i, limit in self.whole[bisect_left(self.whole, (start,)) : bisect_left(self.whole, (ends,))]:
            if not -limit <= plain[i - start] <= limit:
                raise Elsewhere(-1, None)

    def _write_indices(self, numbers: Any) -> None:
        try:
            super()._write_indices(numbers)
        except SettingError as error:  # the path may be one on which nothing is taken by this index
            self.wrong_index = error
            self.runner.indices[:] = 0

    # --- which guards hold -------------------------------------------------------------------------------------------

    def _look_closer(self, found: bytes) -> None:
        """Some guard's numbers are not those of the trace. That need not mean another answer; if it does, say so."""
        asked = self.asked
        if found[8 * self.hairs :] != self.quick[8 * self.hairs :]:
            self._look_exactly(range(len(self.guards)))
            return
        if self.hairs < FEW:
            other = [i for i in range(self.hairs) if found[8 * i : 8 * i + 8] != self.quick[8 * i : 8 * i + 8]]
        else:
            other = np.flatnonzero(asked.view(np.int64) != self.expected.view(np.int64)).tolist()
        for at in sorted({bisect_right(self.starts, output) - 1 for output in other}):
            guard = self.guards[at]
            if guard.is_comparison:
                answer: Any = bool(asked[guard.outputs.start])
            else:
                given = iter(asked[guard.outputs.start : guard.outputs.stop].tolist())
                numbers = [next(given) if x >= 0 else float(self.recorded.tape.constants[~x]) for x in guard.operands]
                answer = guard.asked(numbers)
                if not self._is_sure(guard, numbers, answer):
                    self._look_exactly([at])
                    continue
            if answer != guard.answer:
                raise Elsewhere(at, answer)

    def _is_sure(self, guard: Guard, numbers: list[float], answer: Any) -> bool:
        """Whether an answer is the same for all numbers that differ from these by rounding."""
        first = self.recorded.tape.first_row
        if all(x < first for x in guard.operands):  # nothing was computed
            return True
        near = [
            HAIR * max(1.0, abs(x)) if node >= first else 0.0 for node, x in zip(guard.operands, numbers, strict=True)
        ]
        for way in (-1.0, 1.0):
            if guard.asked([x + way * distance for x, distance in zip(numbers, near, strict=True)]) != answer:
                return False
        return True

    def _look_exactly(self, which: Any) -> None:
        """Put questions to plain arithmetic, as the function itself would."""
        tape = self.recorded.tape
        tape_now = Finished(tape, self.stretch.arrays()[0][self.where], self.runner.inputs, self.runner.indices)
        known: dict[int, float] = {}
        for at in which:
            guard = self.guards[at]
            answer = guard.asked(numbers_at(guard.operands, known, tape_now))
            if answer != guard.answer:
                raise Elsewhere(at, answer)
