"""Loops of the flat interpreter as machine code of their own: the body of a rollout, written out once.

What a turn hands on to the next stays in registers; so do the gradients of what all turns share. Everything is added up
in the order of the interpreter, so the numbers are the same to the last bit. The text is LLVM's own language, which
takes a hundredth of the time that Numba takes for its Python; lengths and positions are read from a table, so that
one text serves a loop of any length.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from gradwalk import formulas
from gradwalk.compile.array_types import Bools, Longs
from gradwalk.compile.native import objects
from gradwalk.formulas import Sheet
from gradwalk.ops import Op

__all__ = ["Loop", "Row"]

#: Results of so many turns ago are read at a known distance; older ones like anything else that moves.
LATE = 4
#: Words of the interpreter's table: numbers, gradients, a box for operands, addresses of functions.
NUMBERS, GRADIENTS, BOX, FUNCTIONS = 4, 5, 6, 7

ARITHMETIC = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
COMPARISONS = {"<": "olt", "<=": "ole", ">": "ogt", ">=": "oge", "==": "oeq", "!=": "une"}
BOTH = {"&": "and", "|": "or"}
INTRINSICS = {"fabs": "llvm.fabs.f64", "sqrt": "llvm.sqrt.f64"}


class Row(NamedTuple):
    """One row of a body: its op, the number of the op's functions, and whether it pushes gradients."""

    op: Op
    function: int
    pushes: bool


class Loop:
    """A loop of rows: the two native functions, and the words that they read."""

    def __init__(self, body: Sequence[Row], operands: Longs, start: int, constant: Bools) -> None:
        """Write a loop for operands of turns × rows × at most so many; its results stand from `start` on.

        `constant` says of each position whether it is one.
        """
        self.body, self.start = body, start
        self.words = [len(operands), start]
        self.called: set[tuple[int, str]] = set()  # ops whose functions are needed, and for which way
        self._known: dict[tuple[str, int], int] = {}
        self._where = [self._places(row.op.arity, operands[:, j], constant) for j, row in enumerate(body)]
        fixed = {int(at[0]) for at, place in self._moving(operands) if place[0] == "fixed"}
        by_memory = ((at, place) for at, place in self._moving(operands) if place[0] != "fixed")
        moving = [at for at, place in by_memory if place[0] == "moving" or place[1] > 1]
        self._shared = fixed - {x for at in moving for x in at.tolist()}  # gradients that can wait in registers
        self.forward = objects.assembled("loop", self._forward())
        self.backward = objects.assembled("loop back", self._backward())

    def _moving(self, operands: Any) -> Any:
        for j, places in enumerate(self._where):
            for i, place in enumerate(places):
                yield operands[:, j, i], place

    def _word(self, kind: str, number: int) -> int:
        """Where a number stands among the words."""
        if (kind, number) not in self._known:
            self._known[kind, number] = len(self.words)
            self.words.append(number)
        return self._known[kind, number]

    def _places(self, arity: int, operands: Any, constant: Any) -> list[tuple[Any, ...]]:
        """How each operand is found, and whether it gets a gradient.

        It is ("own", turns ago, row), ("fixed", word, position) or ("moving", word, distance).
        """
        size = len(self.body)
        found: list[tuple[Any, ...]] = []
        for i in range(arity):
            at = operands[:, i]
            first, moved = int(at[0]), int(at[1] - at[0])
            wanted = not constant[at].all()
            ago, which = -((first - self.start) // size), (first - self.start) % size
            if moved == size and ago <= LATE:
                found.append(("own", ago, which, wanted))
            elif moved == 0:
                found.append(("fixed", self._word("fixed", first), first, wanted))
            else:
                found.append(("moving", self._word("moving", first), moved, wanted))
        return found

    # --- forward -----------------------------------------------------------------------------------------------------

    def _forward(self) -> str:
        text = _Text(self, back=False)
        size = len(self.body)
        carried = sorted({p[2] for places in self._where for p in places if p[0] == "own" and p[1] == 1})
        for j in carried:
            text.before(f"%first{j} = load double, ptr {text.at('%v', '%start', j - size, text.before)}")
            text.phis.append(f"%before{j} = phi double [ %first{j}, %entry ], [ %out{j}, %turn ]")
        for j, (op, function, _) in enumerate(self.body):
            xs = [text.number(place) for place in self._where[j]]
            names = {f"x{i}": x for i, x in enumerate(xs)}
            to = text.at("%here", None, j)
            try:
                (result,) = text.computed(*_value(op), names)
                text.say(f"%out{j} = fadd double {result}, {_literal(-0.0)}")  # a name for it
                text.say(f"store double %out{j}, ptr {to}")
            except KeyError:
                self.called.add((function, "value"))
                text.call(function, xs, to)
                text.say(f"%out{j} = load double, ptr {to}")
            text.own[0, j] = f"%out{j}"
        return text.whole([])

    # --- backward ----------------------------------------------------------------------------------------------------

    def _backward(self) -> str:
        text = _Text(self, back=True)
        size = len(self.body)
        gradients: dict[int, str] = {}  # of this turn's results
        earlier: dict[int, str] = {}  # of those of the turn before
        totals: dict[int, str] = {}  # of what all turns share, by word
        carried = sorted({
            p[2] for row, places in zip(self.body, self._where, strict=True) for p in places
            if row.pushes and p[0] == "own" and p[1] == 1
        })  # fmt: skip
        shared = sorted({
            (p[1], p[2]) for row, places in zip(self.body, self._where, strict=True) for p in places
            if row.pushes and p[0] == "fixed" and p[3] and p[2] in self._shared
        })  # fmt: skip
        text.before(f"%past = mul i64 %last, {size}")
        text.before("%end = add i64 %start, %past")
        for j in carried:
            text.before(f"%first{j} = load double, ptr {text.at('%g', '%end', j, text.before)}")
            gradients[j] = f"%after{j}"
            earlier[j] = text.said(f"load double, ptr {text.at('%ghere', None, j - size)}")
        for word, _ in shared:
            text.fixed(word)
            text.before(f"%firsttotal{word} = load double, ptr {text.at('%g', f'%fixed{word}', 0, text.before)}")
            totals[word] = f"%total{word}"
        for j in reversed(range(size)):
            op, function, pushes = self.body[j]
            wanted = [i for i, place in enumerate(self._where[j]) if place[3]] if pushes else []
            if not wanted:
                continue
            push = gradients.get(j) or text.said(f"load double, ptr {text.at('%ghere', None, j)}")
            for i, slope in zip(wanted, self._slopes(text, j, op, function, wanted), strict=True):
                kind, *where, _ = self._where[j][i]
                share = text.said(f"fmul double {slope}, {push}")
                if kind == "own" and where[0] <= 1:
                    place, which = (gradients if where[0] == 0 else earlier), where[1]
                    if which not in place:
                        place[which] = text.said(f"load double, ptr {text.at('%ghere', None, which)}")
                    place[which] = text.said(f"fadd double {place[which]}, {share}")
                elif kind == "fixed" and where[0] in totals:
                    totals[where[0]] = text.said(f"fadd double {totals[where[0]]}, {share}")
                else:
                    address = text.address("%g", "%ghere", self._where[j][i])
                    held = text.said(f"load double, ptr {address}")
                    total = text.said(f"fadd double {held}, {share}")
                    text.say(f"store double {total}, ptr {address}")
        after: list[str] = []
        for j in carried:
            text.phis.append(f"%after{j} = phi double [ %first{j}, %entry ], [ {earlier[j]}, %turn ]")
            after.append(f"store double {earlier[j]}, ptr {text.at('%g', '%start', j - size, after.append)}")
        for word, _ in shared:
            text.phis.append(f"%total{word} = phi double [ %firsttotal{word}, %entry ], [ {totals[word]}, %turn ]")
            after.append(f"store double {totals[word]}, ptr {text.at('%g', f'%fixed{word}', 0, after.append)}")
        return text.whole(after)

    def _slopes(self, text: _Text, j: int, op: Op, function: int, wanted: list[int]) -> list[str]:
        names = _Numbers(text, {f"x{i}": place for i, place in enumerate(self._where[j])} | {"out": ("own", 0, j)})
        try:
            return text.computed(*_slopes(op, tuple(wanted)), names)
        except KeyError:
            self.called.add((function, "slopes"))
            numbers = [names[name] for name in (*(f"x{i}" for i in range(op.arity)), "out")]
            to = text.said(f"getelementptr double, ptr %box, i64 {op.arity + 1}")
            text.call(function, numbers, to)
            return [
                text.said(f"load double, ptr {text.said(f'getelementptr double, ptr {to}, i64 {i}')}") for i in wanted
            ]


@cache
def _value(op: Op) -> tuple[Sheet, list[Any]]:
    sheet = Sheet()
    return sheet, [formulas.value(op, sheet.inputs(*(f"x{i}" for i in range(op.arity))))]


@cache
def _slopes(op: Op, wanted: tuple[int, ...]) -> tuple[Sheet, list[Any]]:
    sheet = Sheet()
    *xs, out = sheet.inputs(*(f"x{i}" for i in range(op.arity)), "out")
    return sheet, formulas.slopes(op, xs, out, wanted)


class _Numbers(dict[str, str]):
    """Numbers of operands, read when they are first asked for."""

    def __init__(self, text: _Text, places: dict[str, tuple[Any, ...]]) -> None:
        super().__init__()
        self.text, self.places = text, places

    def __missing__(self, name: str) -> str:
        self[name] = self.text.number(self.places[name])
        return self[name]


class _Text:
    """A function that is being written: what is done before the loop, in a turn, and after."""

    def __init__(self, loop: Loop, *, back: bool) -> None:
        self.loop, self.back = loop, back
        self.head: list[str] = []
        self.phis: list[str] = []
        self.lines: list[str] = []
        self.own: dict[tuple[int, int], str] = {}  # numbers of rows that are at hand: turns ago, row
        self.held: dict[Any, str] = {}  # … and of all else
        self.count = 0

    def say(self, line: str) -> None:
        self.lines.append(line)

    def before(self, line: str) -> None:
        self.head.append(line)

    def _name(self) -> str:
        self.count += 1
        return f"%t{self.count}"

    def said(self, expression: str) -> str:
        """The name of what an expression gives, in every turn."""
        name = self._name()
        self.say(f"{name} = {expression}")
        return name

    def at(self, base: str, index: str | None, more: int, say: Any = None) -> str:
        """An address: so many numbers after a base."""
        say, name = say or self.say, self._name()
        if index is None:
            say(f"{name} = getelementptr double, ptr {base}, i64 {more}")
            return name
        say(f"{name}i = add i64 {index}, {more}")
        say(f"{name} = getelementptr double, ptr {base}, i64 {name}i")
        return name

    def word(self, word: int, name: str) -> None:
        """Read a word of the loop's, once."""
        if name not in self.held:
            self.held[name] = name
            self.before(f"{name}w = getelementptr i64, ptr %words, i64 {word}")
            self.before(f"{name} = load i64, ptr {name}w")

    def fixed(self, word: int) -> None:
        self.word(word, f"%fixed{word}")

    def address(self, base: str, here: str, place: tuple[Any, ...]) -> str:
        """Where an operand's number is, or its gradient, in this turn."""
        kind, word, more = place[:3]
        if kind == "own":
            return self.at(here, None, more - word * len(self.loop.body))
        if kind == "fixed":
            self.fixed(word)
            return self.said(f"getelementptr double, ptr {base}, i64 %fixed{word}")
        self.word(word, f"%moving{word}")
        far = self.said(f"mul i64 %k, {more}")
        return self.said(f"getelementptr double, ptr {base}, i64 {self.said(f'add i64 %moving{word}, {far}')}")

    def number(self, place: tuple[Any, ...]) -> str:
        """An operand's number in this turn."""
        kind, word, more = place[:3]
        if kind == "own":
            if (word, more) in self.own:
                return self.own[word, more]
            if word == 1 and not self.back:
                return f"%before{more}"
            self.own[word, more] = self.said(f"load double, ptr {self.address('%v', '%here', place)}")
            return self.own[word, more]
        if (kind, word, more) not in self.held:
            if kind == "fixed":  # nothing in the loop changes it
                self.fixed(word)
                self.before(f"%number{word}at = getelementptr double, ptr %v, i64 %fixed{word}")
                self.before(f"%number{word} = load double, ptr %number{word}at")
                self.held[kind, word, more] = f"%number{word}"
            else:
                self.held[kind, word, more] = self.said(f"load double, ptr {self.address('%v', '%here', place)}")
        return self.held[kind, word, more]

    def computed(self, sheet: Sheet, results: Sequence[Any], names: dict[str, str]) -> list[str]:
        """The results of a sheet; a KeyError, and nothing written, if something on it is more than arithmetic."""
        needed = sheet.needed(results)
        steps = [sheet.steps[i] for i in needed]
        for op, *_ in steps:
            if op not in KNOWN:
                raise KeyError(op)
        found: dict[int, str] = {}
        for position, (op, *operands) in zip(needed, steps, strict=True):
            if op == "input":
                found[position] = names[operands[0]]
                continue
            xs = [found[x] if isinstance(x, int) else _literal(x) for x in operands]
            if op in ARITHMETIC:
                line = f"{ARITHMETIC[op]} double {xs[0]}, {xs[1]}"
            elif op in COMPARISONS:
                line = f"fcmp {COMPARISONS[op]} double {xs[0]}, {xs[1]}"
            elif op in BOTH:
                line = f"{BOTH[op]} i1 {xs[0]}, {xs[1]}"
            elif op == "choose":
                line = f"select i1 {xs[0]}, double {xs[1]}, double {xs[2]}"
            elif op == "neg":
                line = f"fneg double {xs[0]}"
            else:
                line = f"call double @{INTRINSICS[op]}(double {xs[0]})"
            found[position] = self.said(line)
        chosen = [sheet.chosen(x, {}) for x in results]
        return [found[x] if isinstance(x, int) else _literal(float(x)) for x in chosen]

    def call(self, function: int, numbers: Sequence[str], to: str) -> None:
        """Let a function of single numbers read these and write to an address."""
        word = self.loop._word("function", function)
        self.word(word, f"%function{word}")
        if f"callee{word}" not in self.held:
            self.held[f"callee{word}"] = ""
            self.before(f"%callee{word}at = getelementptr ptr, ptr %functions, i64 %function{word}")
            self.before(f"%callee{word} = load ptr, ptr %callee{word}at")
        for i, x in enumerate(numbers):
            self.say(f"store double {x}, ptr {self.said(f'getelementptr double, ptr %box, i64 {i}')}")
        box, address = self.said("ptrtoint ptr %box to i64"), self.said(f"ptrtoint ptr {to} to i64")
        self.say(f"call void %callee{word}(i64 {box}, i64 {address})")

    def whole(self, after: list[str]) -> str:
        begin, step, stop = ("%last", "sub i64 %k, 1", "eq i64 %k, 0") if self.back else (
            "0", "add i64 %k, 1", "eq i64 %next, %turns")  # fmt: skip
        words = {"v": NUMBERS, "g": GRADIENTS, "box": BOX, "functions": FUNCTIONS}
        lines = [
            "declare double @llvm.fabs.f64(double)", "declare double @llvm.sqrt.f64(double)",
            "define void @kernel(i64 %table, i64 %at) {", "entry:", "%c = inttoptr i64 %table to ptr",
            "%words = getelementptr i64, ptr %c, i64 %at", "%turns = load i64, ptr %words",
            "%startat = getelementptr i64, ptr %words, i64 1", "%start = load i64, ptr %startat",
            "%last = sub i64 %turns, 1",
        ]  # fmt: skip
        for name, word in words.items():
            lines += [f"%{name}at = getelementptr ptr, ptr %c, i64 {word}", f"%{name} = load ptr, ptr %{name}at"]
        lines += [*self.head, "br label %turn", "turn:", f"%k = phi i64 [ {begin}, %entry ], [ %next, %turn ]"]
        lines += [
            *self.phis, f"%far = mul i64 %k, {len(self.loop.body)}", "%row = add i64 %start, %far",
            "%here = getelementptr double, ptr %v, i64 %row", "%ghere = getelementptr double, ptr %g, i64 %row",
            *self.lines, f"%next = {step}", f"%over = icmp {stop}", "br i1 %over, label %exit, label %turn", "exit:",
        ]  # fmt: skip
        return "\n".join([*lines, *after, "ret void", "}"]) + "\n"


KNOWN = {"input", "choose", "neg", *ARITHMETIC, *COMPARISONS, *BOTH, *INTRINSICS}


def _literal(x: float) -> str:
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"
