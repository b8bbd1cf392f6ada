"""From failed checks to diagnoses: who is to blame for each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from dataclasses import replace
from functools import cached_property, partial

from gradwalk.diagnose.candidates import IN_EVERY_OP, REPEATED, Findings, faults_of, whole
from gradwalk.diagnose.checks import CHECKS, Check, is_essential
from gradwalk.diagnose.comparison import AS_WRITTEN, Comparison
from gradwalk.diagnose.composition import composed_of, helpers_of
from gradwalk.diagnose.discovery import attributes
from gradwalk.diagnose.examination import Examination, Failure, foremost
from gradwalk.diagnose.experiments import (
    changes_in_place,
    compares_data,
    doubling_function,
    hashes_all_paths,
    is_exponential,
    keeps_nodes,
    leaf_is_changed,
)
from gradwalk.diagnose.formulas import Measured
from gradwalk.diagnose.messages import Messages
from gradwalk.diagnose.museum.faults import ARRANGEMENTS, EVERY, Fault
from gradwalk.diagnose.op_probes import BASIC, REVERSED, at_points, evidence, first_op, ops_in, with_number
from gradwalk.diagnose.probes import Probe
from gradwalk.diagnose.results import CheckResult, Diagnosis
from gradwalk.diagnose.source_tree import holds_line
from gradwalk.diagnose.vocabulary import SYMBOL
from gradwalk.diagnose.watching import (
    CHAIN,
    LEFT_OUT_BY,
    faults_of_walk,
    left_out_by,
    seed_is_added,
    starts_with_one,
    watch,
    wrong_seed,
)
from gradwalk.matcher import Outcome, by_type

__all__ = ["diagnose"]

ORDINARY = ("ops", "chain", "reuse", "order", "numbers", "random")
ARITHMETIC = ("ZeroDivisionError", "OverflowError", "ValueError", "AssertionError")
UNSTABLE = {"tanh": "tanh-through-exp", "sigmoid": "sigmoid-through-exp"}


def diagnose(
    examination: Examination, source: str | None, results: list[CheckResult]
) -> tuple[dict[str, Diagnosis], tuple[Diagnosis, ...]]:
    """A diagnosis for each failed check that one was found for, by the check's name; and all that were found.

    >>> report = grade(museum.find("reversed-subtraction").source())
    >>> report.diagnoses[0].sentence
    'your `__rsub__` is the wrong way round on line 98: the number on the left arrives as the argument'
    """
    failed = [CHECKS[result.name] for result in results if result.status in ("failed", "error")]
    if not failed:
        return {}, ()
    tell = Messages(examination.engine, source)
    if examination.loses_digits():
        failure = next(f for name in ("float", "int") for f in examination.failures(CHECKS[name]))
        lost = tell.loses_digits(failure)
        return {check.name: lost for check in failed}, (lost,)
    early = _early_gradient(examination, tell, failed)
    if early:
        return early, tuple(dict.fromkeys(early.values()))
    if examination.shares_state():
        shared = tell.fault(whole("shared-default"))
        return {check.name: shared for check in failed}, (shared,)
    inquiry = _Inquiry(examination, tell, failed)
    told = {check.name: found for check in failed if (found := inquiry.blamed_for(check)) is not None}
    named = [diagnosis for name, diagnosis in told.items() if is_essential(name, CHECKS[name].group)]
    wrong = dict.fromkeys([*named, *inquiry.unsaid(named)])
    told = {name: found if found in wrong else replace(found, beyond=True) for name, found in told.items()}
    return told, tuple(dict.fromkeys([*wrong, *told.values()]))


def _early_gradient(examination: Examination, tell: Messages, failed: Collection[Check]) -> dict[str, Diagnosis]:
    """For an engine whose new nodes hold a gradient already, what follows from that; of the rest nothing is known."""
    begun = [f for name in ("float", "int") for f in examination.failures(CHECKS[name]) if "a.grad" in f.wrong()]
    if not begun or not any(check.group == "ops" for check in failed):  # the walk sets it to 0 in time
        return {}
    early = tell.starts_with_gradient(begun[0])
    first = {check.name: foremost(found) for check in failed if (found := examination.failures(check))}
    return {
        name: early
        for name, failure in first.items()
        if failure.wrong() and not any(each.endswith(".data") for each in failure.wrong())
    }


class _Inquiry:
    """The faults of one engine, and which of them each failed check is due to."""

    def __init__(self, examination: Examination, tell: Messages, failed: Collection[Check]) -> None:
        self.examination, self.engine = examination, examination.engine
        self.tell = tell
        self.hand = examination.hand  # ops are judged away from the walk, if that can be done
        self.comparison = Comparison(self.hand or examination)
        self.essential = any(is_essential(check.name, check.group) for check in failed)
        self.misplaced = self._misplaced() if self.essential else {}
        self.found = Findings()
        if self.essential and self.hand is None and self.seed:  # then all numbers are wrong, whatever the ops are worth
            self.found = Findings(in_walk=True)
        elif self.essential:
            self.found = self._as_written(faults_of(self.comparison, self.misplaced))
        if self.hand is not None and self.hand is not examination and self._is_unexplained():
            self._walk_alone(examination)
        self.refusals = self._refusals()
        self.helper = self._common_helper()
        self._told: dict[Hashable, Diagnosis] = {}

    # --- what is found before any check is looked at

    def _is_unexplained(self) -> bool:
        """Whether programs come out wrong by hand that use no op which is known to be wrong."""
        wrong = self.comparison.wrong(self.comparison.programs)
        return not self.misplaced and any(not self._wrong_ops(program) for program in wrong)

    def _walk_alone(self, examination: Examination) -> None:
        """Nodes that cannot be asked one by one after all: a fault of the whole that explains every number, if any."""
        comparison = Comparison(examination)
        found = faults_of(comparison)
        if found.faults and comparison.explains(found.faults, comparison.wrong(comparison.programs), found.arrangement):
            self.hand, self.comparison, self.found = None, comparison, self._as_written(found)

    def _misplaced(self) -> dict[str, int]:
        """Ops that set their push on an operand, and on which."""
        ops = [op for op in BASIC if self.comparison.has(op)]
        return {op: operand for op in ops if (operand := leaf_is_changed(self.engine, op)) is not None}

    @cached_property
    def seed(self) -> str | None:
        """What is wrong with the root's gradient, where nobody can watch the walk."""
        return wrong_seed(self.engine) if watch(self.engine, CHAIN) is None else None

    @cached_property
    def walk(self) -> list[str | Fault]:
        """What the walk does wrong, where it gives other numbers than a walk by hand."""
        if self.seed:
            return [self.seed]
        if not self._walk_differs():
            return []
        if self.engine.hides_backward():
            return [whole("hidden-method")]
        tree = self.tell.tree
        listed = tree is None or tree.goes_back_over_a_list(self.engine.backward_name)
        seen = faults_of_walk(self.engine, listed)
        if seen or not self._walk_differs(with_right_ops=True):
            return [*seen]
        comparison = Comparison(self.examination)
        known = [p for p in comparison.programs if not ops_in(p.text) & self.found.unknown.keys()]
        candidates = [
            ((*self.found.faults, fault), arrangement)
            for fault in (*map(whole, _WALKS), *IN_EVERY_OP)
            if fault.name != "not-seeded" or not starts_with_one(self.engine)
            for arrangement in ARRANGEMENTS
        ]
        found = comparison.first(candidates, known)
        if found is None:
            return []
        return [found[0][-1]]

    def _walk_differs(self, with_right_ops: bool = False) -> bool:
        """Whether some program comes out wrong, and otherwise by hand.

        That is not always the walk's doing: what an op that overwrites leaves behind depends on who comes last.
        """
        if self.hand is None or self.hand is self.examination:
            return False
        for program in self.comparison.programs:
            walked, by_hand = self.examination.outcome(program), self.hand.outcome(program)
            if walked.kind != "numbers" or by_type(walked, self.examination.expected(program)):
                continue
            if not by_type(walked, by_hand) and not (with_right_ops and self._wrong_ops(program)):
                return True
        return False

    def _wrong_ops(self, program: Probe) -> set[str]:
        """The ops of a program, and their parts, that are known to be wrong."""
        wrong = {*(fault.op for fault in self.found.faults), *self.found.unknown}
        involved = self._with_parts(ops_in(program.text))
        return involved if wrong & {"", EVERY} else wrong & involved

    def _refusals(self) -> dict[tuple[str, int | None, str], list[str]]:
        """The errors with which ops refuse plain numbers that they take as nodes, and these ops."""
        found: dict[tuple[str, int | None, str], list[str]] = {}
        for op in (*SYMBOL, "pow"):
            if not self.comparison.has(op):
                continue
            between = self.examination.outcome(at_points(op)[0])  # an exponent becomes a node where that is wanted
            refused = self.examination.outcome(_POWER if op == "pow" else with_number(op)[0])
            if refused.kind == "raised" and between.kind != "raised":
                found.setdefault(_error(refused), []).append(op)
        return {error: ops for error, ops in found.items() if error[0] not in _NO_REFUSAL}

    def _as_written(self, found: Findings) -> Findings:
        """Of two faults that give the same numbers, the one that the source shows.

        To follow every path at once, and to list every path and go back over the list: the same nodes are visited,
        in the same order if operands are taken the other way round.
        """
        if self.tell.tree is None:
            return found
        listed = self.tell.tree.goes_back_over_a_list(self.engine.backward_name)
        shown, twin = map(whole, ("listed-twice", "no-order") if listed else ("no-order", "listed-twice"))
        if twin not in found.faults:
            return found
        faults = tuple(shown if fault == twin else fault for fault in found.faults)
        known = [program for program in self.comparison.programs if not ops_in(program.text) & found.unknown.keys()]
        as_shown = self.comparison.first([(faults, arrangement) for arrangement in ARRANGEMENTS], known)
        if as_shown is None:
            return found
        return Findings(faults, found.unknown, None if self.comparison.by_set else as_shown[1])

    # --- one check

    def blamed_for(self, check: Check) -> Diagnosis | None:
        special = self._special(check)
        if special is not None:
            return special
        failures = self.examination.failures(check)
        if not failures:
            return None
        failure = foremost(failures)
        if check.extra.startswith("__i") and failure.outcome.message.startswith("the result is"):
            return self._once(check.name, lambda: self.tell.no_value(check.extra, failure.outcome))
        if failure.outcome.kind == "raised":
            return self._raised(failure, check)
        if check.group == "construction" and failure.wrong() == ["a.grad"]:
            return self._once("early", lambda: self.tell.starts_with_gradient(failure))
        own = first_op(failure.program.text)
        if failure.outcome.kind == "stopped":
            return self._stopped_walk(failure, check)
        if check.name == "inputs-kept":
            return self._fault(Fault("specimen", own, specimen="changes-its-input"))
        if check.extra.startswith("__i") and changes_in_place(self.engine, check.name[1:]):
            return self._once(check.name, lambda: self.tell.in_place(check.extra))
        if check.extra and not check.extra.startswith("__i") and check.group in ORDINARY:
            return self._extra(check.extra, failure)
        spoilt = self._changed_input(failure.program) or self._crashed(failure.program)
        if spoilt or check.group in ORDINARY:
            return spoilt or self._blame(failure)
        match check.group:
            case "repeat":
                return self._repeated(failure)
            case "edges":
                return self._at_edge(own, failure)
            case "manners":
                plain = at_points(own)[0]
                is_right = by_type(self.examination.outcome(plain), plain.expected())
                late = Fault("data-read-late", own)
                return self._blame(failure, own) or (self._fault(late) if is_right else None)
        return self._blame(failure) or self.tell.wrong(failure)

    def _at_edge(self, op: str, failure: Failure) -> Diagnosis | None:
        """Wrong numbers at the edge of what an op is defined for: by a fault that is known, or by the op's own way."""
        program, faults = failure.program, self.found.faults
        if self.found.in_walk:  # what is wrong at ordinary points may well show here too
            return self._blame(failure) if self.seed else None
        explained = self.comparison.reproduces(faults, program, self.found.arrangement)
        explained = explained or bool(set(self.misplaced) & self._with_parts(ops_in(program.text)))
        harmless = not explained and by_type(
            self.comparison.simulate(faults, program, self.found.arrangement or AS_WRITTEN), failure.expected
        )
        known = None if harmless and op not in self.found.unknown else self._blame(failure, "" if explained else op)
        if known is None and self._through_exp(op):
            return self._fault(Fault("specimen", op, specimen=UNSTABLE[op]))
        return known or self._once(("edge", program.title), lambda: self.tell.edge(op, failure))

    def _special(self, check: Check) -> Diagnosis | None:
        """Checks that are no programs: what is printed, what is misspelt, what a network forgets."""
        if check.name == "quiet":
            return self.tell.printing()
        if check.name == "networks" and self.examination.forgotten:
            return self.tell.forgotten(self.examination.forgotten)
        if self.examination.misspelt:
            result = self.examination.judge(check)
            for meant, written in self.examination.misspelt.items():
                if result.message == f"Python never calls `{written}`":
                    return self._once(("misspelt", written), partial(self.tell.misspelt, written, meant))
        return None

    def unsaid(self, named: Collection[Diagnosis]) -> list[Diagnosis]:
        """What was found and is behind no failed check: another fault hides it."""
        ops = {diagnosis.op for diagnosis in named}
        everywhere = any(diagnosis.fault == "overwriting" and diagnosis.op is None for diagnosis in named)
        found = [
            self._fault(fault)
            for fault in self.found.faults
            if fault.op not in ops and not (everywhere and fault.kind == "overwriting") and not self._stops(fault.op)
        ]
        crashing = set(self.crashing) if self.found.unknown else set()
        found += [
            self._unknown(op, measured)
            for op, measured in self.found.unknown.items()
            if op not in ops and not self._with_parts({op}) & crashing
        ]
        if named:
            found += [self._walk_named(name) for name in self.walk]
        return found

    def _stops(self, op: str) -> bool:
        """Whether a program that needs only this op stops with an error: then that is what there is to say of it."""
        return op in self.comparison.parts and self.examination.outcome(evidence(op)[0]).kind == "raised"

    # --- wrong numbers at ordinary points

    def _is_walks(self, program: Probe) -> bool:
        """Whether a program comes out right when it is walked back by hand, so that the walk is to blame."""
        if self.hand is None or self.hand is self.examination:
            return False
        if not by_type(self.hand.outcome(program), self.examination.expected(program)):
            return False
        return bool(self.walk) or not self._wrong_ops(program)

    def _walk_fault(self, failure: Failure) -> Diagnosis:
        if self.walk:
            return self._walk_named(self.walk[0])
        if self.misplaced:
            return self._closures()
        by = left_out_by(self.engine)
        return (
            self._walk_named(f"{LEFT_OUT_BY}: {by[0]}") if by else self._once("walk", lambda: self.tell.wrong(failure))
        )

    def _walk_named(self, name: str | Fault) -> Diagnosis:
        if isinstance(name, Fault):
            return self._fault(name)
        if name in _IN_THE_MUSEUM:
            return self._fault(whole(name))
        return self._once(("walk", name), lambda: self.tell.walk(name))

    def _closures(self) -> Diagnosis:
        """Pushes that are set on an operand, in all ops or in some."""
        ops = list(self.misplaced)
        pushing = [op for op in self.comparison.parts if op in BASIC and not self.comparison.parts[op]]
        if set(pushing) <= set(ops) or len(ops) > 2:
            return self._fault(whole("closure-on-operand"))
        return self._fault(Fault("closure-on-operand", ops[0], self.misplaced[ops[0]]))

    def _blame(self, failure: Failure, only: str = "") -> Diagnosis | None:
        """The fault that best explains what came of a program; with `only`, one in that op or in all of them."""
        program = failure.program
        if self._is_walks(program):
            return self._walk_fault(failure) if not only or self.walk or self.misplaced else None
        involved = self._with_parts({only} if only else ops_in(program.text))
        right, got = self.examination.expected(program), self.comparison.examination.outcome(program)
        concerned = [fault for fault in self.found.faults if fault.op in ("", EVERY) or fault.op in involved]
        arrangement = self.found.arrangement or "as written"
        alone = [(fault, self.comparison.simulate((fault,), program, arrangement)) for fault in concerned]
        for fault, outcome in alone:
            if by_type(outcome, got) and outcome.kind == "numbers":
                return self._fault(fault)
        for fault, outcome in alone:
            if not by_type(outcome, right) and outcome.kind == "numbers":
                return self._fault(fault)
        for op, measured in self.found.unknown.items():
            if op in involved:
                return self._unknown(op, measured)
        if self.misplaced and set(self.misplaced) & involved:
            return self._closures()
        if self.found.in_walk and self.walk:
            return self._walk_fault(failure)
        if self.found.in_walk:  # ops that are right by themselves and wrong on top of each other
            wrong = self.comparison.wrong(self.comparison.programs)
            unexplained = [each for each in wrong if not self._wrong_ops(each)]
            walked = self.examination.failure((unexplained or wrong)[0])
            return self._once("walk", lambda: self.tell.wrong(walked))
        if concerned:  # an op that is wrong at ordinary points is not judged anew at the edges
            everywhere = [fault for fault in concerned if fault.op in ("", EVERY)]
            return self._fault((everywhere or concerned)[0])
        if compares_data(self.engine) and self.examination.failures(CHECKS["equal-numbers"]):
            return self._walk_named("equal-by-data")
        return None

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
        suspects = set.intersection(*(helpers_of(self.engine, op) for op in wrong))
        for op in BASIC:
            if op not in wrong and op in self.comparison.parts and not self._with_parts({op}) & set(wrong):
                suspects -= helpers_of(self.engine, op)
        return (*suspects.pop(), wrong) if len(suspects) == 1 else None

    def _extra(self, op: str, failure: Failure) -> Diagnosis | None:
        """An op that the teaching engine does not have: one of its parts is to blame, or what it does itself."""
        op = "rpow" if op == "__rpow__" else op
        if self._is_walks(failure.program):
            return self._walk_fault(failure)
        if self.found.in_walk or self.seed:
            return self._blame(failure)
        parts = composed_of(self.engine, op)
        for fault in self.found.faults:
            if fault.op in ("", EVERY) or fault.op in parts:
                return self._fault(fault)
        for part, measured in self.found.unknown.items():
            if part in parts:
                return self._unknown(part, measured)
        changed = self._changed_input(failure.program)
        if changed:
            return changed
        own = self.examination.failures(CHECKS[op]) if op in CHECKS else []
        own = [each for each in own if each.outcome.kind == "numbers" and not self._is_walks(each.program)]
        if not own and self._wrong_ops(failure.program):  # right by itself: what is used beside it is not
            return self._blame(failure)
        return self._once(("unknown", op), lambda: self.tell.unknown(op, foremost(own or [failure])))

    def _unknown(self, op: str, measured: Measured) -> Diagnosis:
        failure = measured.failure
        assert failure is not None
        if self.helper:
            return self._through_helper()
        if failure.outcome.kind == "raised":
            return self._stopped(op, failure)
        if measured.answer:
            return self._once(("unknown", op), lambda: self.tell.answering(op, measured.answer, failure))
        return self._once(("unknown", op), lambda: self.tell.unknown(op, failure))

    # --- what only shows elsewhere

    def _repeated(self, failure: Failure) -> Diagnosis | None:
        """A walk that comes after another one."""
        if keeps_nodes(self.engine):
            return self._walk_named("kept-in-default")
        at_once = self._goes_wrong_in_one_walk(failure.program)
        if at_once and (self.walk or self.misplaced):
            return self._closures() if self.misplaced else self._walk_fault(failure)
        in_walk = bool(self.walk) or any(not fault.op for fault in self.found.faults)
        if at_once or (not in_walk and self._wrong_ops(failure.program)):
            return self._blame(failure)
        if seed_is_added(self.engine):
            return self._once("seed", lambda: self.tell.walk("seed-added"))
        comparison = self.comparison if self.hand is None else Comparison(self.examination)
        programs = [program for check in CHECKS.values() if check.group == "repeat" for program in check.programs]
        programs = [program for program in programs if self.examination.outcome(program).kind == "numbers"]
        candidates = [((*self.found.faults, whole(name)), self.found.arrangement) for name in REPEATED]
        found = comparison.first(candidates, programs)
        known = found and self._fault(found[0][-1])
        known = known or (None if in_walk else self._blame(failure, "mul"))
        return known or self._once("repeating", lambda: self.tell.repeating(failure))

    def _goes_wrong_in_one_walk(self, program: Probe) -> bool:
        """Whether one of a program's walks leaves wrong gradients also when it is the only one."""
        lines = program.text.splitlines()
        forward = [line for line in lines if ".backward()" not in line and ".grad" not in line]
        walks = dict.fromkeys(line for line in lines if ".backward()" in line)
        alone = [replace(program, text="\n".join([*forward, walk]), see=("x.grad",)) for walk in walks]
        return any(not by_type(self.examination.outcome(each), each.expected()) for each in alone)

    def _changed_input(self, program: Probe) -> Diagnosis | None:
        """An op of this program that changes its input, if there is one."""
        for failure in self.examination.failures(CHECKS["inputs-kept"]):
            op = first_op(failure.program.text)
            if failure.outcome.kind == "numbers" and op in self._with_parts(ops_in(program.text)):
                return self._fault(Fault("specimen", op, specimen="changes-its-input"))
        return None

    # --- programs without numbers

    def _stopped_walk(self, failure: Failure, check: Check) -> Diagnosis | None:
        """A program that used up its steps."""
        if self.examination.endless is not None:
            return self._once("endless", lambda: self.tell.endless(self.examination.endless))
        repeats = {"no-order", "listed-twice"} & {getattr(each, "name", each) for each in self.walk}
        exponential = check.group == "depth" and not repeats and is_exponential(self.engine)
        if self.walk and not exponential:
            return self._walk_fault(failure)
        if exponential:
            if hashes_all_paths(self.engine):
                return self._walk_named("hashes-all-paths")
            return self._once(whole("every-path"), lambda: self.tell.every_path(doubling_function(self.engine)))
        if check.group == "depth":
            return self._once("slow", lambda: self.tell.slow(failure))
        return self._blame(failure)

    def _raised(self, failure: Failure, check: Check) -> Diagnosis | None:
        program, outcome = failure.program, failure.outcome
        if _error(outcome) in self.refusals:
            return self._once(
                "numbers",
                lambda: self.tell.refuses_numbers(self.refusals, self._stopped_by_numbers(), self._takes_fractions()),
            )
        if outcome.error == "RecursionError" and check.group == "depth":
            by_hash = hashes_all_paths(self.engine)
            return self._walk_named("hashes-all-paths") if by_hash else self._fault(whole("recursion-limit"))
        op, op_at_line = first_op(program.text), self._op_at(outcome.line)
        if op_at_line and op_at_line not in self._with_parts(ops_in(program.text)) and keeps_nodes(self.engine):
            return self._walk_named("kept-in-default")  # a node of another program has pushed
        at_edge = check.group == "edges"
        crashes = [_error(crash.outcome) for crash in self.crashing.values()]
        elsewhere = at_edge and outcome.error in ARITHMETIC and _error(outcome) not in crashes
        if not elsewhere and (crashed := self._crashed(program)):
            return crashed
        if check.group in ORDINARY and outcome.error == "ZeroDivisionError" and self._op_at(outcome.line) == "mul":
            return self._once("dividing", lambda: self.tell.told("slope-by-dividing", outcome.line, "mul"))
        if outcome.error in ARITHMETIC and check.group in ORDINARY:  # a wrong number may have led there
            known = self._blame(failure)
            if known is not None and not (self._is_walks(program) and not self.walk):
                return known
        whole_walk = next((fault for fault in self.found.faults if not fault.op), None)
        if whole_walk and check.group in ORDINARY and not self._stops(op):  # what the walk left out was missed there
            return self._fault(whole_walk)
        return self._stopped(op, failure, at_edge=at_edge)

    @cached_property
    def crashing(self) -> dict[str, Failure]:
        """Ops that stop by themselves, at an ordinary point, when they are done or when they push."""
        basis = self.hand or self.examination
        ops = sorted(self.comparison.parts, key=lambda op: len(self.comparison.parts[op]))
        failures = {op: basis.failure(evidence(op)[0]) for op in ops}
        return {
            op: failure
            for op, failure in failures.items()
            if failure.outcome.kind == "raised" and _error(failure.outcome) not in self.refusals
        }

    def _crashed(self, program: Probe) -> Diagnosis | None:
        """The first op of a program, or a part of one, that stops by itself: what follows from that is its doing."""
        involved = self._with_parts(ops_in(program.text))
        op = next((op for op in self.crashing if op in involved), None)
        return None if op is None else self._stopped(op, self.crashing[op])

    def _takes_fractions(self) -> bool:
        """Whether all ops that refuse a whole number take 0.5."""
        ops = [op for refusing in self.refusals.values() for op in refusing]
        return all(op in SYMBOL and self.examination.outcome(with_number(op)[1]).kind == "numbers" for op in ops)

    def _stopped_by_numbers(self) -> list[str]:
        """Ops between nodes that stop because they use a plain number inside."""
        ops = [op for op in BASIC if self.comparison.has(op)]
        return [
            op
            for op in ops
            if _error(self.examination.outcome(at_points(op)[0])) in self.refusals
            and not any(op in refusing for refusing in self.refusals.values())
        ]

    def _stopped(self, op: str, failure: Failure, at_edge: bool = False) -> Diagnosis:
        outcome = failure.outcome
        if outcome.message.startswith("the result is"):
            return self._once(("no value", op), lambda: self.tell.no_value(op, outcome))
        if at_edge and self._through_exp(op) and outcome.error in ARITHMETIC:
            return self._fault(Fault("specimen", op, specimen=UNSTABLE[op]), outcome.line)
        if at_edge and (outcome.error in ARITHMETIC or "complex" in outcome.message):
            if self._stands_in("__init__", outcome.line):  # no op's doing
                return self._once((outcome.error, outcome.message), lambda: self.tell.error("", outcome))
            error = "a complex number" if "complex" in outcome.message else outcome.error
            guilty = self._op_at(outcome.line) or op
            fault = Fault("specimen", guilty, formula=error, specimen="python-raises")
            return self._once(("raises", guilty), lambda: self.tell.fault(fault, outcome.line))
        own = attributes(self.engine.leaf(1.0))
        hidden = [each for each in sorted(ops_in(failure.program.text)) if self.engine.called(each) in own]
        if "not callable" in outcome.message and hidden:
            return self._once(("hidden", hidden[0]), lambda: self.tell.hidden(hidden[0]))
        if outcome.error == "RecursionError" and self._in_walk(failure):
            return self._once("walk recurs", lambda: self.tell.told("endless-recursion: walk", outcome.line))
        if self.nothing_works and outcome.kind == "raised":
            first = self.nothing_works
            return self._once("nothing", lambda: self.tell.nothing_works(first_op(first.program.text), first.outcome))
        if outcome.error == "RecursionError":
            return self._once((outcome.error, op), lambda: self.tell.error(op, outcome))
        if self.tell.tree and outcome.line:
            op = self._op_at(outcome.line) or ""  # an error in the walk is no op's
        # The same error on other lines, or other words on the same line, need not be told again.
        alike: list[Hashable] = [
            (outcome.error, outcome.message),
            *([(outcome.error, outcome.line)] if outcome.line else []),
        ]
        told = next((self._told[key] for key in alike if key in self._told), None) or self.tell.error(op, outcome)
        self._told.update(dict.fromkeys(alike, told))
        return told

    def _through_exp(self, op: str) -> bool:
        """Whether an op is written with the exponential function, which can overflow where the op itself does not."""
        return op in UNSTABLE and (self.tell.tree is None or self.tell.tree.takes_powers(self.engine.called(op)))

    @cached_property
    def nothing_works(self) -> Failure | None:
        """The first failure, if not one op of several gives a value: then it is not each op's own fault."""
        ops = [op for op in BASIC if self.comparison.has(op)]
        programs = [replace(at_points(op)[0], text=at_points(op)[0].text.rsplit("\n", 1)[0], see=()) for op in ops]
        if len(ops) > 2 and all(self.examination.outcome(program).kind == "raised" for program in programs):
            return self.examination.failure(programs[0])
        return None

    def _in_walk(self, failure: Failure) -> bool:
        """Whether an error comes from the walk: walked by hand, the program gives numbers."""
        if self.hand is None or self.hand is self.examination:
            return False
        return self.hand.outcome(failure.program).kind == "numbers"

    def _op_at(self, line: int | None) -> str | None:
        """The op whose lines hold this one."""
        for op in self.comparison.parts:
            if self._stands_in(self.engine.called(op), line):
                return op
        return None

    def _stands_in(self, name: str, line: int | None) -> bool:
        function = self.tell.tree and self.tell.tree.function(name)
        return bool(function and line and holds_line(function, line))

    # --- each diagnosis once

    def _fault(self, fault: Fault, line: int | None = None) -> Diagnosis:
        if self.helper and fault.op in self.helper[2]:
            return self._through_helper()
        if fault.op and fault in self.found.faults:
            overwriting = [other for other in self.found.faults if other.op and other.kind == "overwriting"]
            ops = {other.op for other in overwriting}
            binary = {op for op in SYMBOL if op in self.comparison.parts and not self.comparison.parts[op]}
            if fault in overwriting and self.hand is None and len(ops) > 1 and ops >= binary:  # or the walk does it
                return self._fault(whole("overwriting"))
            if fault in overwriting and len(ops) > 2:
                return self._once("overwriting", lambda: self.tell.overwriting(overwriting))
            same_op = [other for other in self.found.faults if other.op == fault.op]
            values = [other for other in same_op if other.kind == "value"]
            slopes = [other for other in same_op if other.kind == "slope"]
            detached = [other for other in same_op if other.kind == "detached"]
            if values:  # a wrong value brings wrong slopes with it
                fault = values[0]
            elif len(slopes) > 1 and fault in slopes:
                return self._once(("slopes", fault.op), lambda: self.tell.slopes(slopes))
            elif slopes and detached:
                return self._once(("slopes", fault.op), lambda: self.tell.one_gets_both(detached[0], slopes[0]))
        if fault.name in _UNSEEN and watch(self.engine, CHAIN) is None:  # who pushed when was not seen
            return self._once(
                fault, lambda: replace(self.tell.walk(_UNSEEN[fault.name]), specimen=fault.name, fault=fault.name)
            )
        return self._once(fault, lambda: self.tell.fault(fault, line))

    def _through_helper(self) -> Diagnosis:
        assert self.helper is not None
        name, line, ops = self.helper
        return self._once("helper", lambda: self.tell.helper(name, line, ops))

    def _once(self, key: Hashable, make: Callable[[], Diagnosis]) -> Diagnosis:
        if key not in self._told:
            self._told[key] = make()
        return self._told[key]


#: Errors that say nothing of what kind of operand is taken: what else an engine holds on to may have led there.
_NO_REFUSAL = ("RecursionError", "ZeroDivisionError", "OverflowError")
_POWER = Probe("b = a ** 2 at a = 3", "a = Value(3.0)\nb = a ** 2\nb.backward()", ("b.data", "a.grad"), strict=True)
#: Walks that are looked for by their numbers, where nobody could watch.
_WALKS = ("overwriting", "not-seeded", "root-twice", "one-user", "keyed-by-operand", "wrong-end", "no-order",
          "listed-twice", "preorder", "breadth-first")  # fmt: skip


#: What is said of some of them where nobody could watch: no more than the numbers show.
_UNSEEN = {"wrong-end": "no-further", "not-seeded": "zero-at-root"}

_IN_THE_MUSEUM = {"not-seeded", "root-twice", "wrong-end", "no-order", "listed-twice", "preorder", "breadth-first"}


def _error(outcome: Outcome) -> tuple[str, int | None, str]:
    """What tells errors apart: type and line, or what it says if no line of the engine is known."""
    return outcome.error, outcome.line, "" if outcome.line else outcome.message
