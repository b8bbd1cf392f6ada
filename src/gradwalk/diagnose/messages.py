"""Diagnoses put into words in the terms of one engine: sentence, line, hint and solution."""

from __future__ import annotations

from collections.abc import Sequence

from gradwalk.diagnose import museum
from gradwalk.diagnose.adapter import Engine
from gradwalk.diagnose.examination import Failure
from gradwalk.diagnose.formulas import pretty
from gradwalk.diagnose.guilty_lines import guilty_line
from gradwalk.diagnose.museum.faults import EVERY, Fault, Kind, right_slopes, right_value
from gradwalk.diagnose.phrases import SYMBOLS, at, operand, sentence
from gradwalk.diagnose.results import Diagnosis
from gradwalk.diagnose.source_tree import SourceTree
from gradwalk.matcher import Outcome

__all__ = ["Messages"]

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
    >>> from gradwalk.diagnose.adapter import Engine
    >>> from gradwalk.diagnose.museum.faults import Fault, source_with
    >>> from gradwalk.diagnose.messages import Messages
    >>> text = source_with([Fault("overwriting", "mul")])
    >>> Messages(Engine(teaching.load(text)), text).fault(Fault("overwriting", "mul")).sentence
    'your `__mul__` overwrites: line 51 has `=` where `+=` is needed'
    """

    def __init__(self, engine: Engine, source: str | None) -> None:
        self.engine = engine
        self.tree: SourceTree | None = None
        try:
            if source:
                self.tree = SourceTree(source, engine.cls.__name__, engine.data_name, engine.grad_name)
        except (SyntaxError, ValueError):
            pass  # then there are no lines to name

    def line(self, fault: Fault) -> int | None:
        """The line of a fault in the engine's source.

        >>> from gradwalk import Value
        >>> from gradwalk.diagnose.adapter import Engine
        >>> from gradwalk.diagnose.museum.faults import Fault
        >>> from gradwalk.diagnose.messages import Messages
        >>> Messages(Engine(Value), None).line(Fault("overwriting", "mul")) is None
        True
        """
        if self.tree is None:
            return None
        return guilty_line(fault, self.tree, self.engine.called(fault.op), self.engine.backward_name)

    def fault(self, fault: Fault, line: int | None = None) -> Diagnosis:
        """A fault of the museum's kinds.

        >>> from gradwalk import Value
        >>> from gradwalk.diagnose.adapter import Engine
        >>> from gradwalk.diagnose.candidates import whole
        >>> from gradwalk.diagnose.messages import Messages
        >>> Messages(Engine(Value), None).fault(whole("not-seeded")).sentence
        "your `backward` does not set the root's gradient to 1"
        """
        specimen = museum.find(fault.name)
        line = line or self.line(fault)
        told = sentence(fault, self.engine.called(fault.op), self.engine.backward_name, line)
        op = None if fault.op in ("", EVERY) else fault.op
        return Diagnosis(fault.name, told, line, op, specimen.hint, _solution(fault) or specimen.solution)

    def slopes(self, faults: Sequence[Fault]) -> Diagnosis:
        """Wrong derivatives in both operands of an op, as one diagnosis.

        >>> from gradwalk import Value
        >>> from gradwalk.diagnose.adapter import Engine
        >>> from gradwalk.diagnose.museum.faults import Fault
        >>> from gradwalk.diagnose.messages import Messages
        >>> both = [Fault("slope", "mul", 0, "x"), Fault("slope", "mul", 1, "y")]
        >>> Messages(Engine(Value), None).slopes(both).sentence
        'both derivatives of your `__mul__` are wrong: they are x and y, and y and x are right'
        """
        first = self.fault(faults[0])
        got = " and ".join(pretty(fault.formula) for fault in faults)
        right = " and ".join(pretty(slope) for slope in right_slopes(faults[0].op))
        name = self._called(faults[0].op)
        told = f"both derivatives of your {name} are wrong{at(first.line)}: they are {got}, and {right} are right"
        solution = f"The derivatives of {name} with respect to its operands are {right}."
        return Diagnosis(first.specimen, told, first.line, first.op, first.hint, solution)

    def overwriting(self, faults: Sequence[Fault]) -> Diagnosis:
        """The same slip in several ops, as one diagnosis.

        >>> from gradwalk import Value
        >>> from gradwalk.diagnose.adapter import Engine
        >>> from gradwalk.diagnose.museum.faults import Fault
        >>> from gradwalk.diagnose.messages import Messages
        >>> faults = [Fault("overwriting", op) for op in ("add", "mul", "exp")]
        >>> Messages(Engine(Value), None).overwriting(faults).sentence
        'your `__add__`, `__mul__` and `exp` overwrite: there is `=` where `+=` is needed'
        """
        first = self.fault(faults[0])
        names = list(dict.fromkeys(self._called(fault.op) for fault in faults))
        lines = [str(line) for line in dict.fromkeys(map(self.line, faults)) if line]
        where = f"lines {', '.join(lines[:-1])} and {lines[-1]} have" if len(lines) > 1 else "there is"
        told = f"your {', '.join(names[:-1])} and {names[-1]} overwrite: {where} `=` where `+=` is needed"
        return Diagnosis(first.specimen, told, first.line, None, first.hint, first.solution)

    def helper(self, name: str, line: int, ops: Sequence[str]) -> Diagnosis:
        """A function of the engine's own that several wrong ops go through.

        >>> from gradwalk import Value
        >>> from gradwalk.diagnose.adapter import Engine
        >>> from gradwalk.diagnose.messages import Messages
        >>> Messages(Engine(Value), None).helper("divide", 12, ["div", "log"]).sentence
        'your `divide` in line 12 gives wrong numbers: `__truediv__` and `log` go through it'
        """
        users = " and ".join(self._called(op) for op in ops)
        told = f"your `{name}`{at(line)} gives wrong numbers: {users} go through it"
        hint = f"Try `{name}` by itself, on numbers that you can work out in your head."
        return Diagnosis("wrong-value", told, line, ops[0], hint, "")

    # --- what is no fault of the museum's

    def unknown(self, op: str, failure: Failure) -> Diagnosis:
        """An op that is wrong in a way that no specimen and no short formula gives.

        >>> from gradwalk import Value
        >>> from gradwalk.diagnose.adapter import Engine
        >>> from gradwalk.diagnose.checks import CHECKS
        >>> from gradwalk.matcher import Outcome
        >>> from gradwalk.diagnose.messages import Messages
        >>> from gradwalk.diagnose.examination import Failure
        >>> program = CHECKS["a-times-a"].programs[0]
        >>> failure = Failure(program, Outcome("numbers", {"b.data": 9.0, "a.grad": 5.0}), program.expected())
        >>> Messages(Engine(Value), None).unknown("mul", failure).sentence
        'your `__mul__` gives a wrong derivative: b = a * a at a = 3 has a.grad 5, and 6 is right'
        """
        wrong = failure.wrong()
        kind: Kind = "value" if any(name.endswith(".data") for name in wrong) else "slope"
        name = next((name for name in wrong if name.endswith(".data")), wrong[0])
        line = self.line(Fault(kind, op))
        what = "value" if kind == "value" else "derivative"
        told = f"your {self._called(op)} gives a wrong {what}{at(line)}: {failure.program.title} has "
        told += f"{name} {failure.outcome.numbers[name]:.7g}, and {failure.expected.numbers[name]:.7g} is right"
        specimen = museum.find("wrong-value" if kind == "value" else "wrong-derivative")
        return Diagnosis(specimen.name, told, line, op, specimen.hint, "")

    def edge(self, op: str, failure: Failure) -> Diagnosis:
        """An op that differs from large frameworks at a point where it is not smooth.

        >>> from gradwalk import Value
        >>> from gradwalk.diagnose.adapter import Engine
        >>> from gradwalk.diagnose.checks import CHECKS
        >>> from gradwalk.matcher import Outcome
        >>> from gradwalk.diagnose.messages import Messages
        >>> from gradwalk.diagnose.examination import Failure
        >>> program = CHECKS["relu-at-zero"].programs[0]
        >>> failure = Failure(program, Outcome("numbers", {"b.data": 0.0, "a.grad": 1.0}), program.expected())
        >>> Messages(Engine(Value), None).edge("relu", failure).sentence
        'your `relu` has a.grad 1 for b = a.relu() at a = 0, where 0 is the usual answer'
        """
        name = failure.wrong()[0]
        line = self.line(Fault("value" if name.endswith(".data") else "slope", op))
        right = f"{failure.expected.numbers[name]:.7g}"
        told = f"your {self._called(op)} has {name} {failure.outcome.numbers[name]:.7g} for {failure.program.title}"
        told += f"{at(line)}, where {right} is the usual answer"
        hint = "Put the numbers of this very point into your formula, and ask what the slope is on either side."
        return Diagnosis(None, told, line, op, hint, f"PyTorch gives {right} here.")

    def wrong(self, failure: Failure) -> Diagnosis:
        """Wrong numbers that nothing explains, so that the walk is to blame.

        >>> from gradwalk import Value
        >>> from gradwalk.diagnose.adapter import Engine
        >>> from gradwalk.diagnose.checks import CHECKS
        >>> from gradwalk.matcher import Outcome
        >>> from gradwalk.diagnose.messages import Messages
        >>> from gradwalk.diagnose.examination import Failure
        >>> program = CHECKS["deep"].programs[0]
        >>> failure = Failure(program, Outcome("numbers", {"x.data": 5002.0, "a.grad": 3.0}), program.expected())
        >>> Messages(Engine(Value), None).wrong(failure).sentence
        'your `backward` gives a.grad 3 for x = x + 1, 5,000 times, and 1 is right'
        """
        line = self._walk_line()
        name = next(iter(failure.wrong()), next(iter(failure.expected.numbers)))
        got = f"{failure.outcome.numbers[name]:.7g}" if failure.outcome.numbers else "nothing"
        told = f"your `{self.engine.backward_name}`{at(line)} gives {name} {got} for {failure.program.title}, "
        told += f"and {failure.expected.numbers[name]:.7g} is right"
        return Diagnosis(None, told, line, None, _BY_HAND, "")

    def repeating(self, failure: Failure) -> Diagnosis:
        """Walks that disturb each other in a way that has no name.

        >>> from gradwalk import Value
        >>> from gradwalk.diagnose.adapter import Engine
        >>> from gradwalk.diagnose.checks import CHECKS
        >>> from gradwalk.matcher import Outcome
        >>> from gradwalk.diagnose.messages import Messages
        >>> from gradwalk.diagnose.examination import Failure
        >>> program = CHECKS["second-backward"].programs[0]
        >>> failure = Failure(program, Outcome("numbers", {"first": 27.0, "x.grad": 30.0}), program.expected())
        >>> Messages(Engine(Value), None).repeating(failure).sentence
        'your `backward` does not add up from walk to walk: x.grad is 30 where 54 is right'
        """
        name, line = failure.wrong()[0], self._walk_line()
        told = f"your `{self.engine.backward_name}` does not add up from walk to walk{at(line)}: {name} is "
        told += f"{failure.outcome.numbers[name]:.7g} where {failure.expected.numbers[name]:.7g} is right"
        hint = "What do leaves and the nodes in between hold when the second walk begins, and what should they hold?"
        solution = "Each walk sets the gradients of nodes made by ops to 0, and adds to those of leaves."
        return Diagnosis(None, told, line, None, hint, solution)

    def no_value(self, op: str, outcome: Outcome) -> Diagnosis:
        """An op that gives something else than a node.

        >>> from gradwalk import Value
        >>> from gradwalk.diagnose.adapter import Engine
        >>> from gradwalk.matcher import Outcome
        >>> from gradwalk.diagnose.messages import Messages
        >>> outcome = Outcome("raised", message="the result is int 8, not a Value")
        >>> Messages(Engine(Value), None).no_value("radd", outcome).sentence
        'your `__radd__` does not give a Value: the result is int 8, not a Value'
        """
        line = self.line(Fault("reflected", op))
        told = f"your {self._called(op)} does not give a {self.engine.cls.__name__}{at(line)}: {outcome.message}"
        hint = "What does your op hand back, and what do the other ops expect to be given?"
        return Diagnosis("wrong-value", told, line, op, hint, "Return a node that wraps the result.")

    def hidden(self, op: str) -> Diagnosis:
        """An attribute that hides the method of an op.

        >>> from gradwalk import Value
        >>> from gradwalk.diagnose.adapter import Engine
        >>> from gradwalk.diagnose.messages import Messages
        >>> Messages(Engine(Value), None).hidden("exp").sentence
        'an attribute hides the method `exp`: calling it finds no function'
        """
        specimen = museum.find("hidden-method")
        told = f"an attribute hides the method {self._called(op)}: calling it finds no function"
        return Diagnosis(specimen.name, told, None, op, specimen.hint, "Give the attribute another name.")

    def error(self, op: str, outcome: Outcome) -> Diagnosis:
        """An error that has nothing to do with arithmetic.

        >>> from gradwalk import Value
        >>> from gradwalk.diagnose.adapter import Engine
        >>> from gradwalk.matcher import Outcome
        >>> from gradwalk.diagnose.messages import Messages
        >>> outcome = Outcome("raised", message="name 'othr' is not defined", error="NameError", line=12)
        >>> Messages(Engine(Value), None).error("mul", outcome).sentence
        "line 12 stops with NameError: name 'othr' is not defined"
        """
        line = outcome.line
        if outcome.error == "RecursionError":
            function = self.tree and self.tree.function(self.engine.called(op))
            line = function.lineno if function else line
            hint = "Follow one call by hand: which op does it use, and which op does that one use?"
            return Diagnosis(None, f"your {self._called(op)} calls itself without end{at(line)}", line, op, hint, "")
        where = f"line {line}" if line else f"your {self._called(op)}" if op else "your engine"
        hint = next((hint for part, hint in _ERROR_HINTS.items() if part in outcome.message), _RUN_IT)
        return Diagnosis(None, f"{where} stops with {outcome.error}: {outcome.message}", line, op or None, hint, "")

    def printing(self) -> Diagnosis:
        """An engine that prints.

        >>> from gradwalk import Value
        >>> from gradwalk.diagnose.adapter import Engine
        >>> from gradwalk.diagnose.messages import Messages
        >>> Messages(Engine(Value), None).printing().sentence
        'your engine prints while it computes'
        """
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
        return f"Give what `other {SYMBOLS[fault.op]} self` gives, with `other` made into a node first."
    if fault.kind in ("without-upstream", "adds-upstream"):
        return "Multiply the local derivative by the gradient of the result: `local * out.grad`."
    return ""
