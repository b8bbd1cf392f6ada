"""Random programs in Python that decide: plain and compiled must agree, call by call.

    python tests/compile/contract/programs.py --seconds 300     # `make fuzz` runs it
    python tests/compile/contract/programs.py --seed 17         # one program: its text, and what became of it

A program computes with floats, ints and Values, branches and loops on any of them, asks for numbers in every way that
Python has, and draws its constants from few, so that ties are frequent.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections.abc import Callable
from typing import Any

from harness import Case, run

import gradwalk
from gradwalk import Value
from gradwalk.compile.trace.limits import ManyPathsWarning

FLOATS = ("0.0", "0.5", "1.0", "-1.0", "2.0", "0.1", "0.3", "3.0", "-0.5")
INTS = ("0", "1", "2", "3", "-1")
LARGE = (2**53 + 1, 2**53, -(2**60) - 3, 2**31, 10**6 + 1)  # some of which a float cannot hold
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class Writer:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = {"f": ["x", "y"], "i": ["n"], "v": ["o.w", "o.v"]}
        self.lines: list[str] = []
        self.made = 0

    def any(self, *ways: Any) -> Any:
        return self.random.choice(ways)

    def name(self, kind: str) -> str:
        return self.random.choice(self.names[kind])

    # --- expressions: of a float, an int, a Value, a truth ------------------------------------------------------------

    def a_number(self, kind: str, depth: int) -> str:
        return {"f": self.a_float, "i": self.an_int, "v": self.a_value}[kind](depth)

    def a_float(self, depth: int) -> str:
        if depth <= 0:
            return self.name("f") if self.random.random() < 0.7 else self.random.choice(FLOATS)
        a, b, d = self.a_float(depth - 1), self.a_float(depth - 1), depth - 1
        return self.any(  # type: ignore[no-any-return]
            f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} * {b})", f"-{a}", f"abs({a})", f"(({a}) ** 2)",
            f"({a} if {self.a_truth(d)} else {b})", f"float({a})", f"min({a}, {b})", f"max({a}, {b}, 0.5)",
            f"sorted([{a}, {b}, {self.a_float(d)}])[1]", f"({self.a_value(d)}).data", f"round({a}, 1)",
            f"({a} + {self.an_int(d)})",
            f"({a} / ({b} * {b} + 1.0))", f"math.floor({a})", f"gradwalk.maximum({a}, {b})", f"sum([{a}, {b}, 1.0])",
            f"(1 / {b} if {b} != 0 else {a})", f"({self.a_truth(d)}) * {a}", f"math.tanh({a})", f"({a}) % 2.0",
            f"getattr({a}, DATA, {b})", f"({a} if not hasattr({a}, TANH) else {b})", f"math.copysign({a}, {b})",
            f"(lambda p, q={b}: p + q)({a})", f"([p * 2.0 for p in ({a}, {b}) if p > 0.25][:1] and {a} or {b})",
        )  # fmt: skip

    def an_int(self, depth: int) -> str:
        if depth <= 0:
            return self.name("i") if self.random.random() < 0.7 else self.random.choice(INTS)
        a, b, d = self.an_int(depth - 1), self.an_int(depth - 1), depth - 1
        return self.any(  # type: ignore[no-any-return]
            f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a}) % 3", f"({a}) // 2", f"int({self.a_float(d)})",
            f"round({self.a_float(d)})", f"({self.a_truth(d)}) + ({self.a_truth(d)})", f"len([{a}] * min(3, abs({b})))",
            f"[{a}, {b}, 2][({a}) % 3]", f"sum(x > 0 for x in [{self.a_float(d)}, {self.a_float(d)}])",
            f"{{0: {a}, 1: {b}}}.get({a}, 2)", f"len(f'{{{self.a_float(d)}:.1f}}')",
            f"({a} if {self.a_truth(d)} else {b})",
            f"max([0, 1, 2], key=lambda k: [{self.a_float(d)}, {self.a_float(d)}, 0.5][k])", f"abs({a})",
            f"({a} * 10 ** 9) % 7", f"({a} + 2 ** 53) % 5", f"len(str({a} * 10 ** 16))", f"({a}) ** 3 % 1000",
            f"(({a} << 3) - ({b} >> 1))", f"divmod({a}, 3)[1]", f"(({a} + 2 ** 53) - 2 ** 53)", f"len(str({a}))",
        )  # fmt: skip

    def a_value(self, depth: int) -> str:
        if depth <= 0:
            return self.name("v")
        a, b, d = self.a_value(depth - 1), self.a_value(depth - 1), depth - 1
        plain = self.a_float(d)
        return self.any(  # type: ignore[no-any-return]
            f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} * {plain})", f"({plain} - {a})", f"({a}).tanh()",
            f"({a} if {self.a_truth(d)} else {b})", f"({a}).relu()", f"max({a}, {b})", f"min([{a}, {b}])",
            f"gradwalk.where({self.a_truth(d)}, {a}, {b})", f"sorted([{a}, {b}])[0]", f"({a} / ({b} * {b} + 1.0))",
            f"gradwalk.max([{a}, {b}])", f"[{a}, {b}][{self.a_truth(d)}]", f"({a}).detach()",
            f"({a} * {self.an_int(d)})",
            f"sum([{a}, {b}], Value(0.0))", f"(Value({plain}) * {a})",
        )  # fmt: skip

    def a_truth(self, depth: int) -> str:
        kind = self.any("f", "f", "i", "v")
        a, b = self.a_number(kind, depth), self.a_number(self.any(kind, "f") if kind != "v" else "v", depth)
        compare = self.random.choice(COMPARISONS)
        ways = [f"({a} {compare} {b})"] * 4
        if depth > 0:
            left, right = self.a_truth(depth - 1), self.a_truth(depth - 1)
            ways += [f"({left} and {right})", f"({left} or {right})", f"(not {left})", f"({left} == {right})"]
            ways += [
                f"bool({self.a_float(depth - 1)})",
                f"isinstance({self.an_int(depth - 1)}, int)",
                f"({left} & {right})",
            ]
            ways += [f"({self.an_int(depth - 1)} in (0, 1, 2))", f"isinstance({self.a_float(depth - 1)}, float)"]
        return self.random.choice(ways)

    # --- statements ---------------------------------------------------------------------------------------------------

    def statements(self, indent: str, count: int, depth: int) -> None:
        for _ in range(count):
            self.statement(indent, depth)

    def statement(self, indent: str, depth: int) -> None:
        way = self.any("set", "set", "set", "if", "if", "while", "for", "try", "return") if depth > 0 else "set"
        before = {kind: list(names) for kind, names in self.names.items()}
        if way == "set":
            kind = self.any("f", "i", "v", "v")
            made = self.a_number(kind, 2)
            self.lines.append(f"{indent}{self.target(kind)} = {made}")
            return
        if way == "if":
            self.lines.append(f"{indent}if {self.a_truth(1)}:")
            self.statements(indent + "    ", self.any(1, 2), depth - 1)
            self.names = {kind: list(names) for kind, names in before.items()}
            if self.any(True, False):
                self.lines.append(f"{indent}else:")
                self.statements(indent + "    ", 1, depth - 1)
        elif way == "while":
            self.made += 1
            turn, kind = f"t{self.made}", self.any("f", "v", "i")
            self.lines += [f"{indent}{turn} = 0", f"{indent}while {turn} < 4 and {self.a_truth(1)}:"]
            self.lines.append(f"{indent}    {turn} += 1")
            self.lines.append(f"{indent}    {self.known(kind)} = {self.a_number(kind, 1)}")
            if self.any(True, False):
                self.lines += [f"{indent}    if {self.a_truth(0)}:", f"{indent}        {self.any('break', 'continue')}"]
        elif way == "for":
            self.made += 1
            self.lines.append(f"{indent}for k{self.made} in range({self.an_int(1)} % 4):")
            self.names["i"].append(f"k{self.made}")
            self.statements(indent + "    ", self.any(1, 2), depth - 1)
        elif way == "try":
            self.lines.append(f"{indent}try:")
            a, b = self.a_float(1), self.an_int(1)
            risky = self.any(f"1 / {a}", f"math.log({a})", f"3 % ({b})", f"({a}) ** -1")
            self.lines.append(f"{indent}    {self.known('f')} = {risky}")
            self.lines += [
                f"{indent}except (ArithmeticError, ValueError):",
                f"{indent}    {self.known('f')} = {self.a_float(1)}",
            ]
        else:
            self.lines += [f"{indent}if {self.a_truth(1)}:", f"{indent}    return {self.result()}"]
        self.names = before

    def target(self, kind: str) -> str:
        if self.any(True, False):
            return self.known(kind)
        self.made += 1
        self.names[kind].append(f"{kind}{self.made}")
        return self.names[kind][-1]

    def known(self, kind: str) -> str:
        """A name that can be set again."""
        own = [name for name in self.names[kind] if "." not in name and not name.startswith("k")]
        return self.random.choice(own) if own else "total"

    def result(self) -> str:
        return self.any(  # type: ignore[no-any-return]
            self.a_value(1), f"[{self.a_value(1)}, {self.a_truth(1)}]",
            f"({self.a_value(0)}, {self.a_float(1)}, {self.an_int(1)})",
            f"{{'a': {self.a_value(1)}, 'b': {self.an_int(0)}}}", f"[{self.a_value(1)}, f'{{{self.a_float(1)}:.2f}}']",
        )  # fmt: skip

    def program(self) -> str:
        self.lines = ["def f(x, y, n):", "    total = o.w * x"]
        self.names["v"].append("total")
        self.statements("    ", self.random.randint(2, 5), 2)
        self.lines.append(f"    return {self.result()}")
        return "\n".join(self.lines)


def case_of(seed: int) -> tuple[str, Case]:
    """A program and its calls."""
    text = Writer(seed).program()
    chance = random.Random(seed)

    def make(world: Any) -> Callable[..., Any]:
        names = {"o": world, "math": math, "gradwalk": gradwalk, "Value": Value, "DATA": "data", "TANH": "tanh"}
        exec(text, names)
        f: Callable[..., Any] = names["f"]
        return f

    def number() -> Any:
        return float(chance.choice(FLOATS)) if chance.random() < 0.8 else chance.gauss(0, 1)

    large = chance.choice(LARGE)  # one alone: others are passed as they are, and traced anew

    def whole() -> int:
        return int(chance.choice(INTS)) if chance.random() < 0.85 else large

    calls = [(number(), number(), whole()) for _ in range(6)]
    return text, Case(make, calls, said=ManyPathsWarning, replays=False)


def check(seed: int) -> str:
    """What is wrong with a program: "" if nothing is."""
    text, case = case_of(seed)
    try:
        run(case)
    except AssertionError as error:
        return f"seed {seed}\n{text}\n{error}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    if options.seed is not None:
        print(case_of(options.seed)[0])
        wrong = check(options.seed)
        print(wrong or "the same")
        return int(bool(wrong))
    began, seed, failures = time.perf_counter(), options.first, 0
    while time.perf_counter() - began < options.seconds:
        wrong = check(seed)
        if wrong:
            failures += 1
            print(wrong, end="\n\n")
        seed += 1
    print(f"{seed - options.first} programs, {failures} failures")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
