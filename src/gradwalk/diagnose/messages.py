"""What was found, in words and in the terms of one engine: sentence, line, hint and solution."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress

from gradwalk.diagnose import museum
from gradwalk.diagnose.adapter import Engine
from gradwalk.diagnose.examination import Failure
from gradwalk.diagnose.formulas import pretty
from gradwalk.diagnose.guilty_lines import guilty_line, walk_line
from gradwalk.diagnose.museum.faults import EVERY, Fault, right_slopes, right_value
from gradwalk.diagnose.networks import Forgotten
from gradwalk.diagnose.phrases import at, operand, sentence
from gradwalk.diagnose.results import Diagnosis
from gradwalk.diagnose.source_tree import SourceTree, assigned
from gradwalk.diagnose.vocabulary import SYMBOL
from gradwalk.matcher import Outcome
from gradwalk.ops import TABLE

__all__: list[str] = []

_BY_HAND = "Work through the program by hand, node by node, and compare each gradient with what your engine has."
_RUN_IT = "Run the program below by itself, and look at the line that the error names."
_GROWING = "What does a node keep of its operands? A text made of both of theirs is twice as long after every op."
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
        if op and fault.kind == "detached" and self.tree and self.engine.push:
            slip = self.tree.misspelt_attribute(self.engine.called(op), self.engine.push.name)
            if slip:
                told = f"your {self._called(op)} sets `{slip[0]}` in line {slip[1]}, and the walk calls "
                told += f"`{self.engine.push.name}`: no gradient gets through it"
                line = slip[1]
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
        told = f"your {_list(names)} overwrite gradients instead of adding to them"
        if lines:
            where = f"lines {_list(lines)} have" if len(lines) > 1 else f"line {lines[0]} has"
            told = f"your {_list(names)} overwrite: {where} `=` where `+=` is needed"
        return Diagnosis(first.specimen, told, first.line, None, first.hint, first.solution)

    def helper(self, name: str, line: int, ops: Sequence[str]) -> Diagnosis:
        """A function of the engine's own that several wrong ops go through."""
        users = " and ".join(map(self._called, ops))
        told = f"your `{name}`{at(line)} gives wrong numbers: {users} go through it"
        hint = f"Try `{name}` by itself, on numbers that you can work out in your head."
        return Diagnosis("wrong-value", told, line, ops[0], hint)

    def one_gets_both(self, detached: Fault, slope: Fault) -> Diagnosis:
        """An op whose one operand gets nothing and the other too much."""
        first, line = self.fault(detached), self.line(slope)
        told = f"your {self._called(slope.op)} pushes nothing to its {operand(detached)}operand, and to its "
        right = pretty(right_slopes(slope.op)[slope.operand or 0])
        told += f"{operand(slope)}one {pretty(slope.formula)}{at(line)}, where {right} is right"
        hint = first.hint
        if self.tree and self.tree.makes_functions_in_a_loop(self.engine.called(slope.op)):
            hint = "A function made in a loop sees the loop's names as they are when it runs, not when it is made."
        return Diagnosis(first.specimen, told, line, slope.op, hint, first.solution)

    # --- what was seen rather than compared

    def walk(self, name: str) -> Diagnosis:
        """Something that the walk was seen to do."""
        sentence_, hint, solution = WALKS[name]
        line = (self.tree and walk_line(name, self.tree, self.engine.backward_name)) or None
        told = sentence_.format(walk=f"`{self.engine.backward_name}`", at=at(line), grad=self.engine.grad_name)
        return Diagnosis(None, told, line, None, hint, solution.format(grad=self.engine.grad_name), name)

    def endless(self, line: int | None) -> Diagnosis:
        """A walk that never ends."""
        line = (self.tree and line and self.tree.loop_around(line)) or line
        told = (
            f"your `{self.engine.backward_name}` never ends: on a graph of three nodes it still goes round{at(line)} "
        )
        told += "after hundreds of thousands of steps"
        hint = "What must change for the loop to stop, and which line changes it?"
        return Diagnosis(None, told, line, None, hint, "", "never-ends")

    def slow(self, failure: Failure) -> Diagnosis:
        """A walk that takes too many steps for a long chain."""
        told = f"your `{self.engine.backward_name}`{at(self._walk_line())} needs more than "
        told += f"{failure.outcome.steps:,} steps for {failure.program.title}"
        hint = "How many steps does your walk take for each node, and do they become more as the graph grows?"
        return Diagnosis(None, told, self._walk_line(), None, hint, "", "slow")

    def endless_recursion(self, outcome: Outcome) -> Diagnosis:
        """A walk that calls itself without end."""
        told = f"your `{self.engine.backward_name}` calls itself without end{at(outcome.line)}"
        hint = "On what does your walk stop? Follow it from a result of two operands, call by call."
        return Diagnosis(None, told, outcome.line, None, hint, "", "endless-recursion")

    def refuses_numbers(self, refusals: Mapping[tuple[str, int | None, str], list[str]], also: list[str]) -> Diagnosis:
        """Operators that take nodes only."""
        ops = [op for each in refusals.values() for op in each]
        signs = _list([f"`{TABLE[op].symbol}`" for op in ops])
        (error, line, message), *_ = refusals
        message = message or f"line {line} stops with {error} for `a {TABLE[ops[0]].symbol} 2`"
        told = f"{signs} refuse{'s' * (len(ops) == 1)} plain numbers: {message}"
        if also:
            what = _list([_WRITTEN.get(op, self._called(op)) for op in also])
            told += f"; so {what}, which use{'s' * (len(also) == 1)} a number inside, stop{'s' * (len(also) == 1)} too"
        name = self.engine.cls.__name__
        hint = "In `a + 2`, what arrives as the second operand, and what does your line ask it for?"
        solution = f"Make a node of a number first: `other = other if isinstance(other, {name}) else {name}(other)`."
        return Diagnosis(None, told, line, ops[0] if len(ops) == 1 else None, hint, solution, "refuses-numbers")

    def dividing(self, op: str, outcome: Outcome) -> Diagnosis:
        """A derivative that is found by dividing the result by an operand."""
        told = f"your {self._called(op)} divides by an operand to find its derivative{at(outcome.line)}: "
        told += "a factor 0 stops it with ZeroDivisionError"
        hint = "What is the derivative of a * b with respect to a, and does it need the result at all?"
        solution = "The derivative with respect to each operand is the other operand's data."
        return Diagnosis(None, told, outcome.line, op, hint, solution, "slope-by-dividing")

    def in_place(self, method: str) -> Diagnosis:
        """An operator such as `+=` that changes its operand."""
        function = self.tree and self.tree.function(method)
        lines = self.tree.data_lines(function) if self.tree and function else []
        line = lines[0] if lines else function.lineno if function else None
        told = f"your `{method}` changes its left operand in place{at(line)} and makes no node: "
        told += "no gradient reaches the other operand"
        hint = "After `y += b`, which node remembers that b was used?"
        solution = f"Leave `{method}` out: Python then uses `{method.replace('__i', '__', 1)}`, which makes a new node."
        return Diagnosis(None, told, line, None, hint, solution, "in-place-operator")

    def loses_digits(self, failure: Failure) -> Diagnosis:
        """Data that is rounded or cut."""
        name, data = self.engine.cls.__name__, self.engine.data_name
        constructor = self.tree and self.tree.function("__init__")
        lines = [target.lineno for target, _ in assigned(constructor) if target.attr == data] if constructor else []
        line = lines[0] if lines else None
        cut = failure.outcome.numbers["a.data"] == int(failure.expected.numbers["a.data"])
        told = f"your {name} {'cuts its data to a whole number' if cut else 'rounds its data'}{at(line)}: "
        told += f"{failure.program.title.replace('Value', name)} holds {failure.got('a.data')}"
        hint = "What does a step of training do with a weight that cannot change by a millionth?"
        return Diagnosis(None, told, line, None, hint, "Keep the number as it is given.", "loses-digits")

    def misspelt(self, written: str, meant: str) -> Diagnosis:
        """A method with the name of no operator."""
        function = self.tree and self.tree.function(written)
        line = function.lineno if function else None
        told = f"Python never calls `{written}`{at(line)}: what it looks for is `{meant}`"
        hint = "Look the operator up in the list of special method names in Python's documentation."
        return Diagnosis(None, told, line, None, hint, f"Call it `{meant}`.", "misspelt-operator")

    def forgotten(self, found: Forgotten) -> Diagnosis:
        """A method of a network that does not reach every weight."""
        line = self.tree.method_line(found.owner, found.method) if self.tree else None
        does = (
            f"leaves `{found.attribute}` out"
            if found.method == "parameters"
            else f"leaves the {self.engine.grad_name} of `{found.attribute}` as it is"
        )
        told = f"`{found.owner}.{found.method}` {does}{at(line)}"
        hint = f"Which attributes of a {found.owner} hold weights, and which of them does `{found.method}` go through?"
        return Diagnosis(
            None, told, line, None, hint, f"Let it go through `{found.attribute}` as well.", "forgets-weights"
        )

    def answering(self, op: str, answer: str, failure: Failure) -> Diagnosis:
        """An op whose push is not in proportion to the upstream gradient."""
        line = self.line(Fault("slope", op))
        told = f"your {self._called(op)}{at(line)} {_ANSWERS[answer]}"
        if op == "relu" and answer == "gated":
            told += ": it should ask whether its value is positive, not the gradient"
        elif failure.wrong():
            name = failure.wrong()[0]
            told += f": {failure.program.title} has {name} {failure.got(name)}, and {failure.right(name)} is right"
        hint = "Each operand gets its local derivative times the upstream gradient, whatever that is."
        return Diagnosis("wrong-derivative", told, line, op, hint, "", f"{answer}-push")

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
        unknown = re.fullmatch(r"name '(\w+)' is not defined.*", outcome.message)
        if unknown and unknown[1] in sys.stdlib_module_names | {"np", "numpy"}:
            module = {"np": "numpy as np"}.get(unknown[1], unknown[1])
            told = f"line {line} uses `{unknown[1]}`, and your file does not import it" if line else outcome.message
            hint = "A module has to be imported in the file that uses it."
            return Diagnosis(
                None, told, line, op or None, hint, f"Write `import {module}` at the top.", "missing-import"
            )
        if (outcome.error == "EOFError" and "read" in outcome.message) or "nobody to ask" in outcome.message:
            what = f"`{self.engine.called(op)}`" if op else f"`{self.engine.backward_name}`"
            hint = "Who answers when it is called a thousand times while a network trains?"
            return Diagnosis(
                None, f"your {what} waits for input{at(line)}", line, op or None, hint, "", "asks-for-input"
            )
        if "unhashable type" in outcome.message and "__eq__" in vars(self.engine.cls):
            function = self.tree and self.tree.function("__eq__")
            at_eq = at(function.lineno) if function else ""
            told = f"line {line} stops with {outcome.error}: {outcome.message}; `__eq__`{at_eq} takes away the hash"
            hint = "A class that defines `__eq__` and no `__hash__` cannot be put into a set. Do you need `__eq__`?"
            return Diagnosis(None, told, line, op or None, hint, "", "unhashable")
        if outcome.error == "RecursionError":
            function = self.tree and self.tree.function(self.engine.called(op))
            line = function.lineno if function else line
            hint = "Follow one call by hand: which op does it use, and which op does that one use?"
            told = f"your {self._called(op)} calls itself without end{at(line)}"
            return Diagnosis(None, told, line, op, hint, "", "endless-recursion")
        where = f"line {line}" if line else f"your {self._called(op)}" if op else "your engine"
        hint = next((hint for part, hint in _ERROR_HINTS.items() if part in outcome.message), _RUN_IT)
        if outcome.error == "MemoryError":
            told, hint = f"{where} needs more memory than there is", _GROWING
        else:
            told = f"{where} stops with {outcome.error}: {outcome.message}".removesuffix(": ")
        return Diagnosis(None, told, line, op or None, hint, "", "error")

    def nothing_works(self, op: str, outcome: Outcome) -> Diagnosis:
        """An engine none of whose ops gives a value."""
        where = f"line {outcome.line}" if outcome.line else f"your {self._called(op)}"
        told = f"no op of your engine gives a value here: {where} stops with {outcome.error}: {outcome.message}"
        return Diagnosis(None, told, outcome.line, None, _RUN_IT, "", "nothing-works")

    def printing(self) -> Diagnosis:
        """An engine that prints."""
        hint = "Printing belongs to the program that uses the engine. What would 1,000 steps of training look like?"
        lines = [call.lineno for call in self.tree.prints()] if self.tree else []
        line = lines[0] if len(lines) == 1 else None
        told = f"your engine prints while it computes{at(line)}"
        return Diagnosis(None, told, line, None, hint, "Take the print out.", "prints")

    def _called(self, op: str) -> str:
        return f"`{self.engine.called(op)}`"

    def _walk_line(self) -> int | None:
        function = self.tree and self.tree.function(self.engine.backward_name)
        return function.lineno if function else None


#: What a walk was seen to do: sentence, hint, solution.
WALKS = {
    "seeded-with-data": (
        "your {walk} starts with the root's data as its gradient{at}, where 1 is right",
        "By how much does the result change when it itself changes by a little?",
        "Set the root's `{grad}` to 1 before the walk.",
    ),
    "seeded-wrong": (
        "your {walk} starts{at} with another number than 1 as the root's gradient",
        "By how much does the result change when it itself changes by a little?",
        "Set the root's `{grad}` to 1 before the walk.",
    ),
    "wiped-after-seed": (
        "your {walk} sets the root's gradient to 1 and then wipes it{at}: every gradient stays 0",
        "What does the root hold when it is its turn to push?",
        "Wipe first, and set the root's `{grad}` to 1 after that.",
    ),
    "missing-visits": (
        "your {walk} leaves nodes out{at}: they never push what they have received",
        "Draw a small graph, and tick each node when your walk comes by. Which one stays?",
        "Let every node that the root was made from push once.",
    ),
    "equal-by-data": (
        "`__eq__` compares data{at}: for your {walk}, two nodes that hold the same number are one",
        "When does your walk take a node for one that it has seen? Think of b = a * 1.",
        "Leave `__eq__` and `__hash__` out, or keep the visited nodes by `id(node)`.",
    ),
    "seed-added": (
        "your {walk} adds 1 to the root's gradient{at}, where it should set it to 1: a second walk starts with 2",
        "What does the root hold when the second walk begins?",
        "Set it: `self.{grad} = 1.0`.",
    ),
}
_ANSWERS = {
    "gated": "passes a gradient on only if that gradient is positive",
    "clipped": "cuts off what it pushes",
    "odd": "does not multiply its local derivative by the upstream gradient",
}
_WRITTEN = {"neg": "`-a`", "sub": "`a - b`", "div": "`a / b`", "add": "`a + b`", "mul": "`a * b`"}


def _list(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]


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
