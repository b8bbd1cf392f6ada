"""From nodes to matrix products, in plain Python: what `gradwalk.compile` finds in a graph, to look at in the page.

1. `tape_of`: the graph as a list of rows, each an operation and the places of its operands.
2. `levels`: the earliest round in which each row can be computed; rows of one round do not wait for each other.
3. `gathered`: sums, with the products that occur nowhere else, become one macro-row each.
4. `steps`: macro-rows of one level and one shape are done together. Sums whose factors pair up, each of some lists on
   the left with each of some lists on the right, are a product of matrices.

The compiler does the same with arrays and machine code, and leaves smaller blocks alone than the page does: given the
compiler's limit, `steps` finds exactly what the compiler finds. Tests hold the compiler to it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from gradwalk import walk
from gradwalk.errors import GradwalkError, ProgramError
from gradwalk.learn.page.matrix_picture import MatrixPicture, matrix_picture
from gradwalk.learn.page.programs import Failed, built, failed
from gradwalk.messages import say

__all__ = [
    "Macro",
    "Pictures",
    "Roll",
    "RollMaterial",
    "Rolled",
    "RolledStep",
    "Tape",
    "gathered",
    "levels",
    "material",
    "roll",
    "steps",
    "tape_of",
]

MOST_NODES = 20_000
LINES_SHOWN = 60  # of a tape
SMALLEST_BLOCK = 4  # results; the compiler itself leaves blocks of fewer than sixteen alone
THIN = 4  # fewer columns than this are rows, if it makes no difference

#: What the page begins with: a network, a few points, a loss.
EXAMPLE = """\
model = MLP(2, [8, 8, 1])
points = [[0.1 * i, 0.3 * i - 1] for i in range(12)]
loss = sum((model(p) - 1) ** 2 for p in points)"""


@dataclass(frozen=True)
class Tape:
    """A graph as rows. Ids: leaves first, then rows; an operand `~k`, which is negative, is `constants[k]`.

    >>> a = Value(2.0, label="a")
    >>> tape = tape_of(a * a + 1)
    >>> tape.names, tape.ops, tape.operands, tape.constants
    (['a'], ['mul', 'add'], [(0, 0), (1, -1)], [1.0])
    """

    names: list[str]  # of the leaves
    ops: list[str]
    operands: list[tuple[int, ...]]
    constants: list[float]

    @property
    def leaves(self) -> int:
        """How many leaves there are.

        >>> tape_of(Value(2.0) * Value(3.0)).leaves
        2
        """
        return len(self.names)

    def line(self, row: int) -> str:
        """One row as text.

        >>> tape_of(Value(2.0, label="a") * 3.0).line(0)
        'n0 = mul(a, 3)'
        """
        return f"n{row} = {self.ops[row]}({', '.join(map(self._name, self.operands[row]))})"

    def _name(self, x: int) -> str:
        if x < 0:
            return f"{self.constants[~x]:.4g}"
        return self.names[x] if x < self.leaves else f"n{x - self.leaves}"


def tape_of(root: Any) -> Tape:
    """The graph below a node as a tape: operands always stand before what is made of them.

    >>> tape_of(Value(1.0).tanh()).ops
    ['tanh']
    """
    order = list(walk.topological(root))
    rows = [node for node in order if node.operands]
    reads = [list(zip(node.inputs, node.slopes, strict=True)) for node in rows]
    # a leaf that no gradient flows to is a constant, and one constant is as good as another of its value
    leaves = {id(x): x for read in reads for x, slope in read if slope is not None and not x.operands}
    ids = {key: i for i, key in enumerate([*leaves, *map(id, rows)])}
    constants: dict[float, int] = {}

    def place(x: Any) -> int:
        return ids[id(x)] if id(x) in ids else ~constants.setdefault(float(getattr(x, "data", x)), len(constants))

    operands = [tuple(place(x) for x, _ in read) for read in reads]
    names = [leaf.label or f"p{i}" for i, leaf in enumerate(leaves.values())]
    return Tape(
        names, [node.primitive.name if node.primitive else node._op for node in rows], operands, list(constants)
    )


def levels(tape: Tape) -> list[int]:
    """The round of each row, counted from 1: one more than the latest of its operands; leaves are there from the start.

    >>> a, b = Value(2.0), Value(3.0)
    >>> levels(tape_of(a * b + a.tanh()))
    [1, 1, 2]
    """
    found = [0] * tape.leaves
    for operands in tape.operands:
        found.append(1 + max((found[x] for x in operands if x >= 0), default=0))
    return found[tape.leaves :]


@dataclass(frozen=True)
class Macro:
    """One thing to compute: an operation, or a sum of products (`pairs`), single terms (`tails`) and a constant.

    `rows` are the rows of the tape that it does, the result last.

    >>> a, b = Value(2.0), Value(3.0)
    >>> (macro,) = gathered(tape_of(a * b + b * b + a + 1))
    >>> macro.op, macro.pairs, macro.tails, macro.constant, macro.rows
    ('sum', ((0, 1), (1, 1)), (0,), True, (0, 1, 2, 3, 4))
    """

    op: str
    rows: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...] = ()
    tails: tuple[int, ...] = ()
    constant: bool = False
    shape: tuple[Any, ...] = ()  # macro-rows of one level and one shape may be done together

    @property
    def operands(self) -> Iterable[int]:
        """Everything that is read.

        >>> list(Macro("sum", (2,), pairs=((0, 1),), tails=(3,)).operands)
        [0, 1, 3]
        """
        return [*(x for pair in self.pairs for x in pair), *self.tails]


def gathered(tape: Tape) -> list[Macro]:
    """The rows with each sum, and the products that only it uses, made into one.

    >>> ws = [Value(0.1 * i) for i in range(5)]
    >>> [macro.op for macro in gathered(tape_of(sum(w * 2 for w in ws).tanh()))]
    ['sum', 'tanh']
    """
    uses = Counter(x for operands in tape.operands for x in operands)
    absorbed: set[int] = set()
    found: list[Macro] = []
    for row in range(len(tape.ops) - 1, -1, -1):
        if row in absorbed:
            continue
        macro = _sum(tape, row, uses) if tape.ops[row] == "add" else _single(tape, row)
        absorbed.update(macro.rows)
        found.append(macro)
    return found[::-1]


def _kind(tape: Tape, x: int) -> int:
    """0 for a leaf, 1 for what is computed, 2 for a constant."""
    return 2 if x < 0 else int(x >= tape.leaves)


def _single(tape: Tape, row: int) -> Macro:
    op, operands = tape.ops[row], tape.operands[row]
    if op == "add":
        operands = tuple(sorted(operands, key=lambda x: x < 0))  # a constant comes last
    power = operands[1] if op == "pow" and operands[1] < 0 else None
    return Macro(op, (row,), tails=operands, shape=(op, power, *(_kind(tape, x) for x in operands)))


def _sum(tape: Tape, top: int, uses: Counter[int]) -> Macro:
    rows, pairs, tails, constant, open_ = [top], [], [], False, list(reversed(tape.operands[top]))
    while open_:
        x = open_.pop()
        row = x - tape.leaves
        once = row >= 0 and uses[x] == 1
        if x < 0:
            constant = True
        elif once and tape.ops[row] == "add":
            rows.append(row)
            open_.extend(reversed(tape.operands[row]))
        elif once and tape.ops[row] == "mul":
            rows.append(row)
            first, second = tape.operands[row]  # leaves on the left and constants on the right, however it was written
            pairs.append((second, first) if _kind(tape, first) > _kind(tape, second) else (first, second))
        else:
            tails.append(x)
    if len(rows) == 1 and len(tails) + constant == 2:
        return _single(tape, top)
    parts = [sum(_kind(tape, x) > 0 for x in pair) for pair in pairs]  # how many factors are no leaves
    pairs = [pair for _, pair in sorted(zip(parts, pairs, strict=True), key=lambda entry: entry[0])]
    fixed = {second < 0 for _, second in pairs}
    weights = sum(x >= 0 and x < tape.leaves for x in tails)
    shape = "sum", len(fixed), True in fixed, *map(parts.count, range(3)), weights, len(tails) - weights, constant
    return Macro("sum", tuple(sorted(rows)), tuple(pairs), tuple(tails), constant, shape)


class RolledStep(TypedDict):
    """Many macro-rows done at once: what they are, the sizes, how many nodes of the graph, how many leaves are read.

    >>> step = steps(tape_of(Value(2.0) * Value(3.0)))[0][0]
    >>> step["what"], step["shape"], step["nodes"], step["parameters"]
    ('mul', [1, 1], 1, 2)
    """

    what: str
    shape: list[int]
    nodes: int
    parameters: int


def steps(tape: Tape, smallest: int = SMALLEST_BLOCK) -> tuple[list[RolledStep], list[int], list[list[int]]]:
    """The steps; the step of each row; and what flows: [from, to, how many numbers].

    Blocks of fewer results than `smallest` are no products.

    >>> model = nn.MLP(2, [4, 1])
    >>> found, _, flows = steps(tape_of(sum(model([0.1 * i, 1.0]) for i in range(8))))
    >>> [(step["what"], step["shape"]) for step in found][:2], flows[0]
    ([('matrix product', [4, 2, 8]), ('relu', [1, 32])], [0, 1, 32])
    """
    macros = gathered(tape)
    groups: dict[tuple[Any, ...], list[Macro]] = defaultdict(list)
    for macro, level in zip(macros, _settled(tape, macros), strict=True):
        groups[level, macro.shape].append(macro)
    ordered = sorted(groups.items(), key=lambda entry: entry[0][0])
    parts = [part for _, group in ordered for part in _parts(tape, group, smallest)]
    step_of = [-1] * len(tape.ops)
    for i, (_, part) in enumerate(parts):
        for macro in part:
            for row in macro.rows:
                step_of[row] = i
    return [_step(what, part, tape) for what, part in parts], step_of, _flows(tape, step_of)


def _settled(tape: Tape, macros: list[Macro]) -> list[int]:
    """The level of each macro-row: as early as can be, but sums with the same weights together, where nothing waits."""

    def found(wanted: Sequence[int], last: dict[int, int]) -> list[int]:
        level: dict[int, int] = defaultdict(int)
        at: list[int] = []
        for macro, target in zip(macros, wanted, strict=True):
            here = 1 + max((level[x] for x in macro.operands if x >= 0), default=0)
            node = tape.leaves + macro.rows[-1]
            at.append(target if here < target <= last.get(node, 0) else here)
            level[node] = at[-1]
        return at

    early = found([0] * len(macros), {})
    last: dict[int, int] = defaultdict(lambda: max(early, default=0))
    for macro in reversed(macros):
        for x in macro.operands:
            last[x] = min(last[x], last[tape.leaves + macro.rows[-1]] - 1)
    lists = [
        tuple(first for first, _ in macro.pairs) if any(_kind(tape, a) == 0 < _kind(tape, b) for a, b in macro.pairs)
        else None for macro in macros
    ]  # fmt: skip
    highest = dict.fromkeys(lists, 0)
    for weights, level in zip(lists, early, strict=True):
        highest[weights] = max(highest[weights], level)
    return found([highest[weights] if weights else 0 for weights in lists], last)


def _parts(tape: Tape, group: list[Macro], smallest: int) -> list[tuple[list[int] | None, list[Macro]]]:
    """A group cut into products of matrices, each with its shape, and the rest."""
    kinds = {sum(_kind(tape, x) > 0 for x in pair) for pair in group[0].pairs}
    if group[0].op != "sum" or len(kinds) != 1 or len(group) < smallest:
        return [(None, group)]
    sides = [tuple(zip(*macro.pairs, strict=True)) for macro in group]
    lefts: dict[Any, Counter[Any]] = defaultdict(Counter)
    for left, right in sides:
        lefts[right][left] += 1
    blocks: dict[Any, list[int]] = defaultdict(list)
    for i, (_, right) in enumerate(sides):
        blocks[frozenset(lefts[right].items())].append(i)
    found: list[tuple[list[int] | None, list[Macro]]] = []
    rest: list[Macro] = []
    for members in blocks.values():
        rows, columns = (len({sides[i][side] for i in members}) for side in (0, 1))
        block = [group[i] for i in members]
        if len(block) >= smallest and rows * columns == len(block):
            if columns < min(THIN, rows) and kinds == {2}:  # vectors go along the columns
                rows, columns = columns, rows
            found.append(([rows, len(block[0].pairs), columns], block))
        else:
            rest += block
    return [*found, *([(None, rest)] if rest else [])]


def _step(shape: list[int] | None, part: list[Macro], tape: Tape) -> RolledStep:
    first = part[0]
    if shape is not None:
        what = "matrix product"
    elif first.op == "sum":
        what = "dot products" if first.pairs else "sums"
        shape = [len(part), len(first.pairs) + len(first.tails) + first.constant]
    else:
        what, shape = first.op, [1, len(part)]
    read = {x for macro in part for x in macro.operands if 0 <= x < tape.leaves}
    return RolledStep(what=what, shape=shape, nodes=sum(len(macro.rows) for macro in part), parameters=len(read))


def _flows(tape: Tape, step_of: Sequence[int]) -> list[list[int]]:
    moved: dict[tuple[int, int], set[int]] = defaultdict(set)
    for row, operands in enumerate(tape.operands):
        for x in operands:
            source = step_of[x - tape.leaves] if x >= tape.leaves else step_of[row]
            if source != step_of[row]:
                moved[source, step_of[row]].add(x)
    return [[source, target, len(numbers)] for (source, target), numbers in sorted(moved.items())]


# --- for the page ----------------------------------------------------------------------------------------------------


class Pictures(TypedDict):
    """Which node reads which: in the order of the tape, of levels, of steps.

    >>> sorted(roll("L = a*b + c")["rolled"]["pictures"])
    ['levels', 'steps', 'tape']
    """

    tape: MatrixPicture
    levels: MatrixPicture
    steps: MatrixPicture


class Rolled(TypedDict):
    """A graph at each stage; `flows` are from a step, to a step, how many numbers.

    >>> roll("L = a*b + c")["rolled"]["nodes"]
    2
    """

    nodes: int
    leaves: int
    tape: list[str]
    levels: list[int]  # how many rows each has
    steps: list[RolledStep]
    flows: list[list[int]]
    pictures: Pictures


class Roll(TypedDict):
    """What came of a text: the graph at each stage, or why there is none.

    >>> roll("L = a*b")["error"] is None
    True
    """

    rolled: Rolled | None
    error: Failed | None


class RollMaterial(TypedDict):
    """What the page shows before anybody has written anything.

    >>> material()["rolled"]["nodes"] > 0
    True
    """

    text: str
    rolled: Rolled


def roll(text: str) -> Roll:
    """Run a text and roll its graph up.

    >>> roll("L = sigmod(a)")["error"]["message"]
    'no function is called sigmod; did you mean sigmoid?'
    """
    try:
        root = built(text)
        count = sum(1 for _ in walk.topological(root))
        if count > MOST_NODES:
            raise ProgramError(
                say(
                    "the graph has {count} nodes, and this page rolls up to {most}; take fewer",
                    count=f"{count:,}",
                    most=f"{MOST_NODES:,}",
                )
            )
        tape = tape_of(root)
        if not tape.ops:
            raise ProgramError(say("there is nothing to roll up: the program computes nothing from its numbers"))
        return Roll(rolled=rolled(tape), error=None)
    except (GradwalkError, SyntaxError) as error:
        return Roll(rolled=None, error=failed(error))


def rolled(tape: Tape) -> Rolled:
    """Everything there is to show of a tape."""
    rounds = levels(tape)
    found, step_of, flows = steps(tape)
    widths = Counter(rounds)
    reads = [[x for x in operands if x >= 0] for operands in tape.operands]
    return Rolled(
        nodes=len(tape.ops),
        leaves=tape.leaves,
        tape=[tape.line(row) for row in range(min(len(tape.ops), LINES_SHOWN))],
        levels=[widths[level] for level in range(1, max(rounds) + 1)],
        steps=found,
        flows=flows,
        pictures=Pictures(
            tape=matrix_picture(tape.leaves, reads, [0] * len(reads)),
            levels=matrix_picture(tape.leaves, reads, rounds),
            steps=matrix_picture(tape.leaves, reads, step_of),
        ),
    )


def material() -> RollMaterial:
    """The example, rolled up.

    >>> sorted(material())
    ['rolled', 'text']
    """
    return RollMaterial(text=EXAMPLE, rolled=rolled(tape_of(built(EXAMPLE))))
