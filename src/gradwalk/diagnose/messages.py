"""What was found, in words and in the terms of one engine: sentence, line, hint and solution."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from gradwalk.diagnose import museum
from gradwalk.diagnose.adapter import Engine
from gradwalk.diagnose.discovery import attributes
from gradwalk.diagnose.examination import Failure
from gradwalk.diagnose.formulas import pretty
from gradwalk.diagnose.guilty_lines import guilty_line, walk_line
from gradwalk.diagnose.museum.faults import EVERY, Fault, right_slopes, right_value
from gradwalk.diagnose.networks import Forgotten
from gradwalk.diagnose.op_probes import at_points, with_itself
from gradwalk.diagnose.phrases import ANSWERS, IN_OP, SEEN, at, filled, operand, sentence
from gradwalk.diagnose.results import Diagnosis
from gradwalk.diagnose.source_tree import SourceTree, assigned, holds_line
from gradwalk.diagnose.vocabulary import SYMBOL
from gradwalk.matcher import Outcome
from gradwalk.messages import Message, joined, say, verbatim
from gradwalk.messages import sentence as whole
from gradwalk.ops import TABLE

__all__: list[str] = []

_NOTHING = say("")
_NOT_CALLABLE = "'NoneType' object is not callable"
_RUN_IT = say("Run the program below by itself, and look at the line that the error names.")
_GROWING = say("What does a node keep of its operands? A text made of both of theirs is twice as long after every op.")
_ERROR_HINTS = {
    "has no attribute": say(
        "Something arrived there that is not what the line expects: a plain number where a Value should be, or None "
        "from a function without `return`. Print its type just before."
    ),
    "not defined": say("A name is used that was never given anything. Is it spelt as it was where it was made?"),
    "unsupported operand": say("Which two things meet in that operator, and is one of them a plain number or None?"),
    "argument": say("Compare the call with the `def`: how many arguments are there, and in which order?"),
}


class Messages:
    """Puts what was found into words.

    >>> from gradwalk.diagnose.museum.faults import source_with
    >>> text = source_with([Fault("overwriting", "mul")])
    >>> Messages(Engine(teaching.load(text)), text).fault(Fault("overwriting", "mul")).sentence
    'your `__mul__` overwrites: line 51 has `=` where `+=` is needed'
    """

    def __init__(self, engine: Engine, source: str | None) -> None:
        self.engine = engine
        self.tree: SourceTree | None = None
        with suppress(SyntaxError, ValueError):  # then there are no lines to name
            if source:
                self.tree = SourceTree(source, engine.cls.__name__, engine.data_name, engine.grad_name)

    def line(self, fault: Fault) -> int | None:
        """The line of a fault in the engine's source."""
        if self.tree is None:
            return None
        return guilty_line(fault, self.tree, self.engine.called(fault.op), self.engine.backward_name)

    # --- faults of the museum's kinds

    def fault(self, fault: Fault, line: int | None = None) -> Diagnosis:
        """One fault."""
        specimen = museum.find(fault.name)
        line = line or self.line(fault)
        name = self.engine.called(fault.op)
        told = sentence(fault, name, self.engine.backward_name, line)
        op = None if fault.op in ("", EVERY) else fault.op
        solution = _solution(fault) or whole(specimen.solution)
        if op and fault.kind == "detached":
            push = self.engine.push.name if self.engine.push else ""
            slip = self.tree.misspelt_attribute(name, push) if self.tree and push else None
            if slip:
                line = slip[1]
                told = filled(IN_OP["detached: slip"], {"op": name, "name": slip[0], "line": str(line), "push": push})
            elif fault.operand is None and self._keeps_operands(op):
                told = filled(IN_OP["detached: kept"], {"op": name, "at": at(line)})
                solution = say("Add to the gradient of every operand: `self.{grad} += …`.", grad=self.engine.grad_name)
        return Diagnosis(fault.name, told, line, op, whole(specimen.hint), solution)

    def every_path(self, doubling: int | None) -> Diagnosis:
        """A walk that takes every path; `doubling` is the first line of the function that does, if it is one."""
        found = self.fault(Fault("specimen", specimen="every-path"))
        inside = [f for f in (self.tree.functions() if self.tree else ()) if doubling and holds_line(f, doubling)]
        function = max(inside, key=lambda f: f.lineno, default=None)
        if function and not holds_line(function, found.line or 0):
            told = self.fault(Fault("specimen", specimen="every-path"), function.lineno).sentence
            solution = say("Let `{name}` go through each node once, and keep what it finds there.", name=function.name)
            return replace(found, sentence=told, line=function.lineno, solution=solution)
        if self.tree and not self.tree.goes_back_over_a_list(self.engine.backward_name):
            # it pushes on its way, so that a mark would lose something
            return replace(found, solution=whole(museum.find("no-order").solution))
        return found

    def _keeps_operands(self, op: str) -> bool:
        """Whether the result of an op remembers what it was made from: then it has not left the graph."""
        try:
            operands = [self.engine.leaf(0.7), self.engine.leaf(0.4)][: 2 if op in SYMBOL else 1]
            made = self.engine.op(op, *operands, *([2] if op == "pow" else []))
            kept = [getattr(made, name) for name in attributes(made)]
        except Exception:
            return False
        holders = [x for x in kept if isinstance(x, (list, tuple, set))]
        return all(any(operand is x for holder in holders for x in holder) for operand in operands)

    def slopes(self, faults: Sequence[Fault]) -> Diagnosis:
        """Wrong derivatives in both operands of an op, as one diagnosis."""
        first = self.fault(faults[0])
        got = _list([pretty(fault.formula) for fault in faults])
        right = _list([pretty(slope) for slope in right_slopes(faults[0].op)])
        name = self.engine.called(faults[0].op)
        told = say(
            "both derivatives of your `{op}` are wrong{at}: they are {got}, and {right} are right",
            op=name,
            at=at(first.line),
            got=got,
            right=right,
        )
        solution = say("The derivatives of `{op}` with respect to its operands are {right}.", op=name, right=right)
        return Diagnosis(first.specimen, told, first.line, first.op, first.hint, solution)

    def overwriting(self, faults: Sequence[Fault]) -> Diagnosis:
        """The same slip in several ops, as one diagnosis."""
        first = self.fault(faults[0])
        names = list(dict.fromkeys(self._called(fault.op) for fault in faults))
        lines = [str(line) for line in dict.fromkeys(map(self.line, faults)) if line]
        ops = _list(names)
        if len(lines) > 1:
            told = say("your {ops} overwrite: lines {lines} have `=` where `+=` is needed", ops=ops, lines=_list(lines))
        elif lines:
            told = say("your {ops} overwrite: line {line} has `=` where `+=` is needed", ops=ops, line=lines[0])
        else:
            told = say("your {ops} overwrite gradients instead of adding to them", ops=ops)
        return Diagnosis(first.specimen, told, first.line, None, first.hint, first.solution)

    def helper(self, name: str, line: int, ops: Sequence[str]) -> Diagnosis:
        """A function of the engine's own that several wrong ops go through."""
        users = _list([*map(self._called, ops)])
        told = say("your `{name}`{at} gives wrong numbers: {ops} go through it", name=name, at=at(line), ops=users)
        hint = say("Try `{name}` by itself, on numbers that you can work out in your head.", name=name)
        return Diagnosis("wrong-value", told, line, ops[0], hint)

    def one_gets_both(self, detached: Fault, slope: Fault) -> Diagnosis:
        """An op whose one operand gets nothing and the other too much."""
        first, line = self.fault(detached), self.line(slope)
        told = say(
            "your `{op}` pushes nothing to its {first}, and to its {second} {formula}{at}, where {right} is right",
            op=self.engine.called(slope.op),
            first=operand(detached) or say("operand"),
            second=operand(slope) or say("operand"),
            formula=pretty(slope.formula),
            at=at(line),
            right=pretty(right_slopes(slope.op)[slope.operand or 0]),
        )
        hint = first.hint
        if self.tree and self.tree.makes_functions_in_a_loop(self.engine.called(slope.op)):
            hint = say("A function made in a loop sees the loop's names as they are when it runs, not when it is made.")
        return Diagnosis(first.specimen, told, line, slope.op, hint, first.solution)

    # --- what was seen rather than compared

    def told(self, fault: str, line: int | None = None, op: str = "", /, **parts: str) -> Diagnosis:
        """What the table has under a name, with what its words have holes for."""
        parts = {
            "at": at(line), "line": str(line), "walk": self.engine.backward_name, "grad": self.engine.grad_name,
            "name": self.engine.cls.__name__, "op": op and self.engine.called(op), **parts,
        }  # fmt: skip
        told, hint, solution = (filled(words, parts) for words in SEEN[fault])
        return Diagnosis(None, told, line, op or None, hint, solution, fault.partition(":")[0])

    def walk(self, name: str) -> Diagnosis:
        """Something that the walk was seen to do."""
        name, _, op = name.partition(": ")
        line = (self.tree and walk_line(name, self.tree, self.engine.backward_name)) or None
        return self.told(name, self._line_of(self.engine.called(op)) if op and self.tree else line, op)

    def endless(self, line: int | None) -> Diagnosis:
        """A walk that never ends."""
        return self.told("never-ends", (self.tree and line and self.tree.loop_around(line)) or line)

    def slow(self, failure: Failure) -> Diagnosis:
        """A chain that takes too many steps, to be made or to be walked back."""
        steps = f"{failure.outcome.steps // 1000 * 1000:,}"
        return self.told("slow", steps=steps, program=failure.program.title)

    def refuses_numbers(
        self, refusals: Mapping[tuple[str, int | None, str], list[str]], also: list[str], fractions: bool
    ) -> Diagnosis:
        """Operators that take nodes only, or, with `fractions`, nodes and floats."""
        ops = [op for each in refusals.values() for op in each]
        signs = _list([f"`{TABLE[op].symbol}`" for op in ops])
        (error, line, message), *_ = refusals
        why = verbatim(message)
        if not message:
            example = f"a {TABLE[ops[0]].symbol} 2"
            why = say("line {line} stops with {error} for `{code}`", line=line, error=error, code=example)
        told = say("{ops} refuse plain numbers: {why}", ops=signs, why=why)
        if len(ops) == 1:
            told = say("{op} refuses plain numbers: {why}", op=signs, why=why)
        if fractions:
            told = say("{ops} refuse whole numbers: {why}", ops=signs, why=why)
        if fractions and len(ops) == 1:
            told = say("{op} refuses whole numbers: {why}", op=signs, why=why)
        if also:
            what = _list([_WRITTEN.get(op, self._called(op)) for op in also])
            more = say("so {ops}, which use a number inside, stop too", ops=what)
            if len(also) == 1:
                more = say("so {op}, which uses a number inside, stops too", op=what)
            told = joined(told, more, by="; ")
        hint = say("In `a + 2`, what arrives as the second operand, and what does your line ask it for?")
        solution = say(
            "Make a node of a number first: `other = other if isinstance(other, {name}) else {name}(other)`.",
            name=self.engine.cls.__name__,
        )
        return Diagnosis(None, told, line, ops[0] if len(ops) == 1 else None, hint, solution, "refuses-numbers")

    def in_place(self, method: str) -> Diagnosis:
        """An operator such as `+=` that changes its operand."""
        function = self.tree and self.tree.function(method)
        lines = self.tree.data_lines(function) if self.tree and function else []
        line = lines[0] if lines else self._line_of(method)
        return self.told("in-place-operator", line, method=method, other=method.replace("__i", "__", 1))

    def loses_digits(self, failure: Failure) -> Diagnosis:
        """Data that is rounded or cut."""
        kept, given = failure.outcome.numbers["a.data"], failure.expected.numbers["a.data"]
        how = "changed" if abs(kept - given) >= 1 else "cut" if kept == int(given) else "rounded"
        code = failure.program.title.replace("Value", self.engine.cls.__name__)
        line = self._where_set(self.engine.data_name)
        return self.told(f"loses-digits: {how}", line, code=code, got=failure.got("a.data"))

    def starts_with_gradient(self, failure: Failure) -> Diagnosis:
        """A new node whose gradient is not 0."""
        return self.told("starts-with-gradient", self._where_set(self.engine.grad_name), got=failure.got("a.grad"))

    def misspelt(self, written: str, meant: str) -> Diagnosis:
        """A method with the name of no operator."""
        return self.told("misspelt-operator", self._line_of(written), written=written, meant=meant)

    def forgotten(self, found: Forgotten) -> Diagnosis:
        """A method of a network that does not reach every weight."""
        line = self.tree.method_line(found.owner, found.method) if self.tree else None
        what = "forgets-weights" if found.method == "parameters" else "forgets-weights: gradients"
        method = f"{found.owner}.{found.method}"
        return self.told(what, line, method=method, owner=found.owner, called=found.method, attribute=found.attribute)

    def answering(self, op: str, answer: str, failure: Failure) -> Diagnosis:
        """An op whose push is not in proportion to the upstream gradient."""
        line = self.line(Fault("slope", op))
        told = Message(ANSWERS[answer], {"op": self.engine.called(op), "at": at(line)})
        if op == "relu" and answer == "gated":
            told = joined(told, say("it should ask whether its value is positive, not the gradient"), by=": ")
        elif failure.wrong():
            told = joined(told, _numbers(failure, failure.wrong()[0]), by=": ")
        hint = say("Each operand gets its local derivative times the upstream gradient, whatever that is.")
        return Diagnosis("wrong-derivative", told, line, op, hint, _NOTHING, f"{answer}-push")

    # --- what is no fault of the museum's

    def unknown(self, op: str, failure: Failure) -> Diagnosis:
        """An op that is wrong in a way that no specimen and no short formula gives."""
        wrong = failure.wrong()
        name = next((name for name in wrong if name.endswith(".data")), wrong[0])
        value = name.endswith(".data")
        called = self.engine.called(op)
        if value or op not in SYMBOL:
            line = self.line(Fault("value" if value else "slope", op))
        elif failure.program in at_points(op):
            line = self.line(Fault("slope", op, "ab".index(name[0])))
        else:  # which of its pushes is wrong does not show
            line = self._line_of(called)
        told = (
            say("your `{op}` gives a wrong value{at}", op=called, at=at(line))
            if value
            else say("your `{op}` gives a wrong derivative{at}", op=called, at=at(line))
        )
        if not value and op in SYMBOL and failure.program in with_itself(op):  # at all other points it is right
            line = None
            told = say("your `{op}` gives a wrong derivative when both of its operands are the same Value", op=called)
        specimen = museum.find("wrong-value" if value else "wrong-derivative")
        return Diagnosis(specimen.name, joined(told, _numbers(failure, name), by=": "), line, op, whole(specimen.hint))

    def edge(self, op: str, failure: Failure) -> Diagnosis:
        """An op that differs from large frameworks at a point where it is not smooth."""
        name = failure.wrong()[0]
        line = self.line(Fault("value" if name.endswith(".data") else "slope", op))
        return self.told(": edge", line, op, **_parts(failure, name))

    def wrong(self, failure: Failure) -> Diagnosis:
        """Wrong numbers that nothing explains, so that the walk is to blame."""
        name = next(iter(failure.wrong()), next(iter(failure.expected.numbers)))
        return self.told(": wrong", self._line_of(self.engine.backward_name), **_parts(failure, name))

    def repeating(self, failure: Failure) -> Diagnosis:
        """Walks that disturb each other in a way that has no name."""
        line = self._line_of(self.engine.backward_name)
        return self.told(": repeating", line, **_parts(failure, failure.wrong()[0]))

    def no_value(self, op: str, outcome: Outcome) -> Diagnosis:
        """An op that gives something else than a node."""
        found = self.told("no-value", self.line(Fault("reflected", op)), op, said=outcome.message)
        return replace(found, specimen="wrong-value", fault="wrong-value")

    def hidden(self, op: str) -> Diagnosis:
        """An attribute that hides the method of an op."""
        specimen = museum.find("hidden-method")
        told = say("an attribute hides the method `{op}`: calling it finds no function", op=self.engine.called(op))
        return Diagnosis(specimen.name, told, None, op, whole(specimen.hint), say("Give the attribute another name."))

    def error(self, op: str, outcome: Outcome) -> Diagnosis:
        """An error that has nothing to do with arithmetic."""
        line = outcome.line
        unknown = re.fullmatch(r"name '(\w+)' is not defined.*", outcome.message)
        if unknown and unknown[1] in sys.stdlib_module_names | {"np", "numpy"}:
            module = {"np": "numpy as np"}.get(unknown[1], unknown[1])
            return self.told("missing-import" if line else "missing-import: somewhere", line, op,
                             name=unknown[1], module=module, said=outcome.message)  # fmt: skip
        at_once = self.tree.called_at_once() if self.tree and _NOT_CALLABLE in outcome.message else None
        if at_once:
            attribute, name, line = at_once
            return self.told("closure-called", line, op, name=name, attribute=attribute)
        if (outcome.error == "EOFError" and "read" in outcome.message) or "nobody to ask" in outcome.message:
            what = self.engine.called(op) if op else self.engine.backward_name
            return self.told("asks-for-input", line, op, name=what)
        if "unhashable type" in outcome.message and "__eq__" in vars(self.engine.cls):
            compares = at(self._line_of("__eq__"))
            return self.told("unhashable", line, op, error=outcome.error, said=outcome.message, at=compares)
        if outcome.error == "RecursionError":
            return self.told("endless-recursion", self._line_of(self.engine.called(op)) or line, op)
        where = self._where(op, line)
        hint = next((hint for part, hint in _ERROR_HINTS.items() if part in outcome.message), _RUN_IT)
        if outcome.error == "MemoryError":
            told, hint = say("{where} needs more memory than there is", where=where), _GROWING
        else:
            told = _stops(where, outcome)
        return Diagnosis(None, told, line, op or None, hint, _NOTHING, "error")

    def nothing_works(self, op: str, outcome: Outcome) -> Diagnosis:
        """An engine none of whose ops gives a value."""
        return self.told("nothing-works", outcome.line, why=_stops(self._where(op, outcome.line), outcome))

    def printing(self) -> Diagnosis:
        """An engine that prints."""
        lines = [call.lineno for call in self.tree.prints()] if self.tree else []
        return self.told("prints", lines[0] if len(lines) == 1 else None)

    def _where_set(self, attribute: str) -> int | None:
        """The line of the constructor that sets an attribute first."""
        constructor = self.tree and self.tree.function("__init__")
        targets = [target for target, _ in assigned(constructor)] if constructor else []
        return next((target.lineno for target in targets if target.attr == attribute), None)

    def _where(self, op: str, line: int | None) -> Message:
        if line:
            return say("line {line}", line=line)
        return say("your `{op}`", op=self.engine.called(op)) if op else say("your engine")

    def _called(self, op: str) -> str:
        return f"`{self.engine.called(op)}`"

    def _line_of(self, name: str) -> int | None:
        """The line on which a function begins."""
        function = self.tree and self.tree.function(name)
        return function.lineno if function else None


_WRITTEN = {"neg": "`-a`", "sub": "`a - b`", "div": "`a / b`", "add": "`a + b`", "mul": "`a * b`"}


def _list(words: Sequence[str]) -> Message:
    if len(words) == 1:
        return verbatim(words[0])
    return say("{most} and {last}", most=", ".join(words[:-1]), last=words[-1])


def _parts(failure: Failure, name: str) -> dict[str, str]:
    """What a program has under a name, and what is right."""
    got = failure.got(name) if failure.outcome.numbers else say("nothing")
    return {"program": failure.program.title, "number": name, "got": got, "right": failure.right(name)}


def _numbers(failure: Failure, name: str) -> Message:
    got, right = failure.got(name), failure.right(name)
    program = failure.program.title
    return say("{program} has {name} {got}, and {right} is right", program=program, name=name, got=got, right=right)


def _stops(where: Message, outcome: Outcome) -> Message:
    if not outcome.message:
        return say("{where} stops with {error}", where=where, error=outcome.error)
    return say("{where} stops with {error}: {said}", where=where, error=outcome.error, said=outcome.message)


def _solution(fault: Fault) -> Message:
    """What to write, where it depends on the op; else nothing."""
    if fault.op == EVERY:
        return say("In the one place that pushes, write `operand.grad += local * node.grad`.")
    if fault.kind == "slope" and not fault.specimen:
        right = pretty(right_slopes(fault.op)[fault.operand or 0])
        if operand(fault):
            return say("The derivative with respect to its {which} is {right}.", which=operand(fault), right=right)
        return say("The derivative is {right}.", right=right)
    if fault.kind == "value":
        return say("It should compute {right}.", right=pretty(right_value(fault.op)))
    if fault.kind == "reflected":
        sign = SYMBOL[fault.op[1:]]
        return say("Give what `other {sign} self` gives, with `other` made into a node first.", sign=sign)
    if fault.name == "python-raises" and "complex" in fault.formula:
        return say("Give nan where a negative number has an exponent that is not whole.")
    if fault.name == "python-raises" and fault.formula:
        return say("Catch the error and give inf or nan, as the case may be: `except {error}: …`", error=fault.formula)
    if fault.kind in ("without-upstream", "adds-upstream"):
        return say("Multiply the local derivative by the gradient of the result: `local * out.grad`.")
    return _NOTHING
