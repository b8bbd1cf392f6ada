"""From failed checks to diagnoses: who is to blame for each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable

from gradwalk.diagnose.candidates import REPEATED, Findings, faults_of, whole
from gradwalk.diagnose.checks import CHECKS, Check
from gradwalk.diagnose.comparison import Comparison
from gradwalk.diagnose.composition import composed_of, helpers_of
from gradwalk.diagnose.examination import Examination, Failure
from gradwalk.diagnose.formulas import Measured
from gradwalk.diagnose.messages import Messages
from gradwalk.diagnose.museum.faults import ARRANGEMENTS, EVERY, Fault
from gradwalk.diagnose.op_probes import BASIC, REVERSED, first_op, ops_in
from gradwalk.diagnose.probes import Probe
from gradwalk.diagnose.results import CheckResult, Diagnosis
from gradwalk.matcher import by_type

__all__ = ["diagnose"]

ORDINARY = ("ops", "chain", "reuse", "order", "numbers", "random")
ARITHMETIC = ("ZeroDivisionError", "OverflowError", "ValueError", "AssertionError")
UNSTABLE = {"tanh": "tanh-through-exp", "sigmoid": "sigmoid-through-exp"}


def diagnose(examination: Examination, source: str | None, results: list[CheckResult]) -> dict[str, Diagnosis]:
    """A diagnosis for each failed check that one was found for, by the check's name.

    >>> from gradwalk.diagnose import grade, museum
    >>> report = grade(museum.find("reversed-subtraction").source())
    >>> report.diagnoses[0].sentence
    'your `__rsub__` is the wrong way round in line 98: the number on the left arrives as the argument'
    """
    failed = [CHECKS[result.name] for result in results if result.status in ("failed", "error")]
    if not failed:
        return {}
    if examination.shares_state():
        diagnosis = Messages(examination.engine, source).fault(whole("shared-default"))
        return {check.name: diagnosis for check in failed}
    inquiry = _Inquiry(examination, source)
    told = [(check.name, inquiry.blamed_for(check)) for check in failed]
    return {name: diagnosis for name, diagnosis in told if diagnosis is not None}


class _Inquiry:
    """The faults of one engine, and which of them each failed check is due to."""

    def __init__(self, examination: Examination, source: str | None) -> None:
        self.examination = examination
        self.comparison = Comparison(examination)
        self.tell = Messages(examination.engine, source)
        self.found: Findings = self._as_written(faults_of(self.comparison))
        self.helper = self._common_helper()
        self._told: dict[Hashable, Diagnosis] = {}

    def _as_written(self, found: Findings) -> Findings:
        """Of two faults that give the same numbers, the one that the source shows.

        To follow every path at once, and to list every path and go back over the list: the same nodes are visited,
        in the same order if operands are taken the other way round.
        """
        if self.tell.tree is None:
            return found
        listed = self.tell.tree.goes_back_over_a_list(self.examination.engine.backward_name)
        shown, twin = map(whole, ("listed-twice", "no-order") if listed else ("no-order", "listed-twice"))
        if twin not in found.faults:
            return found
        faults = tuple(shown if fault == twin else fault for fault in found.faults)
        known = [program for program in self.comparison.programs if not ops_in(program.text) & found.unknown.keys()]
        as_shown = self.comparison.first([(faults, arrangement) for arrangement in ARRANGEMENTS], known)
        if as_shown is None:
            return found
        return Findings(faults, found.unknown, None if self.comparison.by_set else as_shown[1])

    def blamed_for(self, check: Check) -> Diagnosis | None:
        if check.name == "quiet":
            return self.tell.printing()
        failures = self.examination.failures(check)
        for failure in failures:
            if failure.outcome.kind == "raised":
                return self._raised(failure, check)
        failure = failures[0]
        own = first_op(failure.program.text)
        if check.name == "inputs-kept":
            return self._fault(Fault("specimen", own, specimen="changes-its-input"))
        reproduced = self.comparison.reproduces(self.found.faults, failure.program, self.found.arrangement)
        if check.extra and check.group in ORDINARY:
            return self._extra(check.extra, failure)
        if check.group in ORDINARY or reproduced:
            return self._blame(failure.program) or self._changed_input(failure.program)
        match check.group:
            case "repeat":
                known = self._repeat() or self._blame(failure.program)
                return known or self._once("repeating", lambda: self.tell.repeating(failure))
            case "depth":
                if failure.outcome.kind == "stopped":
                    return self._fault(whole("every-path"))
            case "edges":
                known = self._blame(failure.program, own)
                if known is None and own in UNSTABLE:
                    return self._fault(Fault("specimen", own, specimen=UNSTABLE[own]))
                return known or self._once(("edge", failure.program.title), lambda: self.tell.edge(own, failure))
            case "manners":
                return self._blame(failure.program, own) or self._fault(Fault("data-read-late", own))
        return self._blame(failure.program) or self.tell.wrong(failure)

    # --- what was found at ordinary points

    def _blame(self, program: Probe, only: str = "") -> Diagnosis | None:
        """The fault that best explains what came of a program; with `only`, one in that op or in all of them."""
        involved = self._with_parts({only} if only else ops_in(program.text))
        right, got = program.expected(), self.examination.outcome(program)
        concerned = [fault for fault in self.found.faults if fault.op in ("", EVERY) or fault.op in involved]
        arrangement = self.found.arrangement or "as written"
        alone = [(fault, self.comparison.simulate((fault,), program, arrangement)) for fault in concerned]
        for fault, outcome in alone:
            if by_type(outcome, got):
                return self._fault(fault)
        for fault, outcome in alone:
            if not by_type(outcome, right):
                return self._fault(fault)
        for op, measured in self.found.unknown.items():
            if op in involved:
                return self._unknown(op, measured)
        if self.found.in_walk:  # ops that are right by themselves and wrong on top of each other
            walked = self.examination.failure(self.comparison.wrong(self.comparison.programs)[0])
            return self._once("walk", lambda: self.tell.wrong(walked))
        everywhere = [fault for fault in concerned if fault.op in ("", EVERY)]
        return self._fault((everywhere or concerned)[0]) if concerned and not only else None

    def _with_parts(self, ops: Collection[str]) -> set[str]:
        """These ops, and those that they are made of."""
        found = set(ops)
        for op in ops:
            found |= self.comparison.parts.get(op, frozenset())
            if op in REVERSED:
                found.add(op[1:])
        return found

    def _common_helper(self) -> tuple[str, int, list[str]] | None:
        """A function of the engine's own that all wrong ops go through and no right one does: name, line, ops."""
        wrong = [*dict.fromkeys(fault.op for fault in self.found.faults if fault.op), *self.found.unknown]
        if len(wrong) < 2 or EVERY in wrong:
            return None
        suspects = set.intersection(*(helpers_of(self.examination.engine, op) for op in wrong))
        for op in BASIC:
            if op not in wrong and op in self.comparison.parts and not self._with_parts({op}) & set(wrong):
                suspects -= helpers_of(self.examination.engine, op)
        return (*suspects.pop(), wrong) if len(suspects) == 1 else None

    def _extra(self, op: str, failure: Failure) -> Diagnosis:
        """An op that the teaching engine does not have: one of its parts is to blame, or what it does itself."""
        op = "rpow" if op == "__rpow__" else op
        parts = composed_of(self.examination.engine, op)
        for fault in self.found.faults:
            if fault.op in ("", EVERY) or fault.op in parts:
                return self._fault(fault)
        return self._once(("unknown", op), lambda: self.tell.unknown(op, failure))

    def _unknown(self, op: str, measured: Measured) -> Diagnosis:
        failure = measured.failure
        assert failure is not None
        if self.helper:
            return self._through_helper()
        if failure.outcome.kind == "raised":
            return self._stopped(op, failure)
        return self._once(("unknown", op), lambda: self.tell.unknown(op, failure))

    # --- what only shows elsewhere

    def _repeat(self) -> Diagnosis | None:
        programs = [program for check in CHECKS.values() if check.group == "repeat" for program in check.programs]
        programs = [program for program in programs if self.examination.outcome(program).kind == "numbers"]
        candidates = [((*self.found.faults, whole(name)), self.found.arrangement) for name in REPEATED]
        found = self.comparison.first(candidates, programs)
        return found and self._fault(found[0][-1])

    def _changed_input(self, program: Probe) -> Diagnosis | None:
        """An op of this program that changes its input, if there is one."""
        for failure in self.examination.failures(CHECKS["inputs-kept"]):
            op = first_op(failure.program.text)
            if op in self._with_parts(ops_in(program.text)):
                return self._fault(Fault("specimen", op, specimen="changes-its-input"))
        return None

    # --- errors

    def _raised(self, failure: Failure, check: Check) -> Diagnosis | None:
        program, outcome = failure.program, failure.outcome
        if self.found.faults and self.comparison.reproduces(self.found.faults, program, self.found.arrangement):
            return self._blame(program)
        if outcome.error == "RecursionError" and check.group == "depth":
            return self._fault(whole("recursion-limit"))
        op = first_op(program.text)
        known = self._blame(program, "" if check.group in ORDINARY else op)
        return known or self._stopped(op, failure, at_edge=check.group == "edges")

    def _stopped(self, op: str, failure: Failure, at_edge: bool = False) -> Diagnosis:
        outcome = failure.outcome
        if outcome.message.startswith("the result is"):
            return self._once(("no value", op), lambda: self.tell.no_value(op, outcome))
        if at_edge and op in UNSTABLE and outcome.error in ARITHMETIC:
            return self._fault(Fault("specimen", op, specimen=UNSTABLE[op]), outcome.line)
        if at_edge and (outcome.error in ARITHMETIC or "complex" in outcome.message):
            error = "a complex number" if "complex" in outcome.message else outcome.error
            guilty = self._op_at(outcome.line) or op
            fault = Fault("specimen", guilty, formula=error, specimen="python-raises")
            return self._once(("raises", guilty), lambda: self.tell.fault(fault, outcome.line))
        held = getattr(self.examination.engine.leaf(1.0), "__dict__", {})
        if "not callable" in outcome.message and self.examination.engine.called(op) in held:
            return self._once(("hidden", op), lambda: self.tell.hidden(op))
        key = outcome.error, outcome.line if outcome.error != "RecursionError" else op
        if self.tell.tree and outcome.line and outcome.error != "RecursionError":
            op = self._op_at(outcome.line) or ""  # an error in the walk is no op's
        return self._once(key, lambda: self.tell.error(op, outcome))

    def _op_at(self, line: int | None) -> str | None:
        """The op whose lines hold this one."""
        for op in self.comparison.parts:
            function = self.tell.tree and self.tell.tree.function(self.examination.engine.called(op))
            if function and line and function.lineno <= line <= (function.end_lineno or 0):
                return op
        return None

    # --- each diagnosis once

    def _fault(self, fault: Fault, line: int | None = None) -> Diagnosis:
        if self.helper and fault.op in self.helper[2]:
            return self._through_helper()
        if fault.op and fault in self.found.faults:
            overwriting = [other for other in self.found.faults if other.op and other.kind == "overwriting"]
            if fault in overwriting and len({other.op for other in overwriting}) > 2:
                return self._once("overwriting", lambda: self.tell.overwriting(overwriting))
            same_op = [other for other in self.found.faults if other.op == fault.op]
            values = [other for other in same_op if other.kind == "value"]
            slopes = [other for other in same_op if other.kind == "slope"]
            if values:  # a wrong value brings wrong slopes with it
                fault = values[0]
            elif len(slopes) > 1 and fault in slopes:
                return self._once(("slopes", fault.op), lambda: self.tell.slopes(slopes))
        return self._once(fault, lambda: self.tell.fault(fault, line))

    def _through_helper(self) -> Diagnosis:
        assert self.helper is not None
        name, line, ops = self.helper
        return self._once("helper", lambda: self.tell.helper(name, line, ops))

    def _once(self, key: Hashable, make: Callable[[], Diagnosis]) -> Diagnosis:
        if key not in self._told:
            self._told[key] = make()
        return self._told[key]
