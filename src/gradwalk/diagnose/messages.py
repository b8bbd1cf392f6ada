"""What was found, in words and in the terms of one engine: sentence, line, hint and solution."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from gradwalk.diagnose import museum
from gradwalk.diagnose.adapter import Engine
from gradwalk.diagnose.examination import Failure
from gradwalk.diagnose.formulas import pretty
from gradwalk.diagnose.guilty_lines import guilty_line
from gradwalk.diagnose.museum.faults import EVERY, Fault, right_slopes, right_value
from gradwalk.diagnose.phrases import at, operand, sentence
from gradwalk.diagnose.results import Diagnosis
from gradwalk.diagnose.source_tree import SourceTree
from gradwalk.diagnose.vocabulary import SYMBOL
from gradwalk.matcher import Outcome

__all__: list[str] = []

_BY_HAND = "Work through the program by hand, node by node, and compare each gradient with what your engine has."
_RUN_IT = "Run the program below by itself, and look at the line that the error names."
_ERROR_HINTS = {
    "has no attribute": "Something arrived there that is not what the line expects: a plain number where a Value "
    "should be, or None from a function without `return`. Print its type just before.",
    "not defined": "A name is used that was never given anything. Is it spelt as it was where it was made?",
    "unsupported operand": "Which two things meet in that operator, and is one of them a plain number or None?",
    "argument": "Compare the call with the `def`: how many arguments are there, and in which order?",
}


class Messages:
    """Puts what was found into words.

    >>> from gradwalk.diagnose import teaching
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
        told = sentence(fault, self.engine.called(fault.op), self.engine.backward_name, line)
        op = None if fault.op in ("", EVERY) else fault.op
        return Diagnosis(fault.name, told, line, op, specimen.hint, _solution(fault) or specimen.solution)

    def slopes(self, faults: Sequence[Fault]) -> Diagnosis:
        """Wrong derivatives in both operands of an op, as one diagnosis."""
        first = self.fault(faults[0])
        got = " and ".join(pretty(fault.formula) for fault in faults)
        right = " and ".join(pretty(slope) for slope in right_slopes(faults[0].op))
        name = self._called(faults[0].op)
        told = f"both derivatives of your {name} are wrong{at(first.line)}: they are {got}, and {right} are right"
        solution = f"The derivatives of {name} with respect to its operands are {right}."
        return Diagnosis(first.specimen, told, first.line, first.op, first.hint, solution)

    def overwriting(self, faults: Sequence[Fault]) -> Diagnosis:
        """The same slip in several ops, as one diagnosis."""
        first = self.fault(faults[0])
        names = list(dict.fromkeys(self._called(fault.op) for fault in faults))
        lines = [str(line) for line in dict.fromkeys(map(self.line, faults)) if line]
        where = f"lines {', '.join(lines[:-1])} and {lines[-1]} have" if len(lines) > 1 else "there is"
        told = f"your {', '.join(names[:-1])} and {names[-1]} overwrite: {where} `=` where `+=` is needed"
        return Diagnosis(first.specimen, told, first.line, None, first.hint, first.solution)

    def helper(self, name: str, line: int, ops: Sequence[str]) -> Diagnosis:
        """A function of the engine's own that several wrong ops go through."""
        users = " and ".join(map(self._called, ops))
        told = f"your `{name}`{at(line)} gives wrong numbers: {users} go through it"
        hint = f"Try `{name}` by itself, on numbers that you can work out in your head."
        return Diagnosis("wrong-value", told, line, ops[0], hint)

    # --- what is no fault of the museum's

    def unknown(self, op: str, failure: Failure) -> Diagnosis:
        """An op that is wrong in a way that no specimen and no short formula gives."""
        wrong = failure.wrong()
        name = next((name for name in wrong if name.endswith(".data")), wrong[0])
        value = name.endswith(".data")
        line = self.line(Fault("value" if value else "slope", op))
        told = f"your {self._called(op)} gives a wrong {'value' if value else 'derivative'}{at(line)}: "
        told += f"{failure.program.title} has {name} {failure.got(name)}, and {failure.right(name)} is right"
        specimen = museum.find("wrong-value" if value else "wrong-derivative")
        return Diagnosis(specimen.name, told, line, op, specimen.hint)

    def edge(self, op: str, failure: Failure) -> Diagnosis:
        """An op that differs from large frameworks at a point where it is not smooth."""
        name = failure.wrong()[0]
        line = self.line(Fault("value" if name.endswith(".data") else "slope", op))
        told = f"your {self._called(op)} has {name} {failure.got(name)} for {failure.program.title}"
        told += f"{at(line)}, where {failure.right(name)} is the usual answer"
        hint = "Put the numbers of this very point into your formula, and ask what the slope is on either side."
        return Diagnosis(None, told, line, op, hint, f"PyTorch gives {failure.right(name)} here.")

    def wrong(self, failure: Failure) -> Diagnosis:
        """Wrong numbers that nothing explains, so that the walk is to blame."""
        line = self._walk_line()
        name = next(iter(failure.wrong()), next(iter(failure.expected.numbers)))
        got = failure.got(name) if failure.outcome.numbers else "nothing"
        told = f"your `{self.engine.backward_name}`{at(line)} gives {name} {got} for {failure.program.title}, "
        return Diagnosis(None, f"{told}and {failure.right(name)} is right", line, None, _BY_HAND)

    def repeating(self, failure: Failure) -> Diagnosis:
        """Walks that disturb each other in a way that has no name."""
        name, line = failure.wrong()[0], self._walk_line()
        told = f"your `{self.engine.backward_name}` does not add up from walk to walk{at(line)}: {name} is "
        told += f"{failure.got(name)} where {failure.right(name)} is right"
        hint = "What do leaves and the nodes in between hold when the second walk begins, and what should they hold?"
        solution = "Each walk sets the gradients of nodes made by ops to 0, and adds to those of leaves."
        return Diagnosis(None, told, line, None, hint, solution)

    def no_value(self, op: str, outcome: Outcome) -> Diagnosis:
        """An op that gives something else than a node."""
        line = self.line(Fault("reflected", op))
        told = f"your {self._called(op)} does not give a {self.engine.cls.__name__}{at(line)}: {outcome.message}"
        hint = "What does your op hand back, and what do the other ops expect to be given?"
        return Diagnosis("wrong-value", told, line, op, hint, "Return a node that wraps the result.")

    def hidden(self, op: str) -> Diagnosis:
        """An attribute that hides the method of an op."""
        specimen = museum.find("hidden-method")
        told = f"an attribute hides the method {self._called(op)}: calling it finds no function"
        return Diagnosis(specimen.name, told, None, op, specimen.hint, "Give the attribute another name.")

    def error(self, op: str, outcome: Outcome) -> Diagnosis:
        """An error that has nothing to do with arithmetic."""
        line = outcome.line
        if outcome.error == "RecursionError":
            function = self.tree and self.tree.function(self.engine.called(op))
            line = function.lineno if function else line
            hint = "Follow one call by hand: which op does it use, and which op does that one use?"
            return Diagnosis(None, f"your {self._called(op)} calls itself without end{at(line)}", line, op, hint)
        where = f"line {line}" if line else f"your {self._called(op)}" if op else "your engine"
        hint = next((hint for part, hint in _ERROR_HINTS.items() if part in outcome.message), _RUN_IT)
        return Diagnosis(None, f"{where} stops with {outcome.error}: {outcome.message}", line, op or None, hint)

    def printing(self) -> Diagnosis:
        """An engine that prints."""
        hint = "Printing belongs to the program that uses the engine. What would 1,000 steps of training look like?"
        return Diagnosis(None, "your engine prints while it computes", None, None, hint, "Take the print out.")

    def _called(self, op: str) -> str:
        return f"`{self.engine.called(op)}`"

    def _walk_line(self) -> int | None:
        function = self.tree and self.tree.function(self.engine.backward_name)
        return function.lineno if function else None


def _solution(fault: Fault) -> str:
    """What to write, where it depends on the op; else nothing."""
    if fault.op == EVERY:
        return "In the one place that pushes, write `operand.grad += local * node.grad`."
    if fault.kind == "slope" and not fault.specimen:
        which = f" with respect to its {operand(fault)}operand" if operand(fault) else ""
        return f"The derivative{which} is {pretty(right_slopes(fault.op)[fault.operand or 0])}."
    if fault.kind == "value":
        return f"It should compute {pretty(right_value(fault.op))}."
    if fault.kind == "reflected" and not fault.specimen:
        return f"Give what `other {SYMBOL[fault.op[1:]]} self` gives, with `other` made into a node first."
    if fault.kind in ("without-upstream", "adds-upstream"):
        return "Multiply the local derivative by the gradient of the result: `local * out.grad`."
    return ""
