"""The numbers of a lesson: each is written `{{ expression -> shown }}`, and each is checked by running the expression.

What an expression may use: every preset by its name (`diamond.a.grad`, `neuron.o.data`), the helpers below, and what
the lesson's own Python blocks have defined up to there. Those blocks are run, and what they print is compared with the
`output` block that follows.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import math
import re
import runpy
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from gradwalk import Tensor, Value, nn, ones, walk, zeros
from gradwalk.diagnose import museum
from gradwalk.learn.page import folding as folded
from gradwalk.learn.page import naming as namer
from gradwalk.learn.page import rolling
from gradwalk.learn.page.exercises import arrays
from gradwalk.presets import PRESETS
from gradwalk.program import program

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results"
CHECKED = re.compile(r"\{\{((?:(?!\{\{|\}\}).)*?)->\s*((?:(?!\{\{|\}\}).)*?)\s*\}\}")
#: A figure that is not part of a name such as x1, nor after a backslash.
FIGURE = re.compile(r"(?<![\w\\])[-−+]?\d[\d.,]*|[²³¹⁰⁴-⁹]")
#: Keys of a widget's block that hold text for the reader; the others are settings, which the build checks.
TEXTS = {"ask", "note", "right", "other", "why", "text", "after", "answer", "value", "says"}
RIGHT_FLAG = {"yes", "no"}


# --- reading -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Block:
    """A part of a lesson: `kind` is text, python, output, widget or another fence's name."""

    kind: str
    name: str
    line: int
    text: str


def blocks(path: Path) -> list[Block]:
    """The fences of a lesson and the text between them, front matter first, each with its line."""
    found: list[Block] = []
    kind, name, start, lines = "text", "", 1, list[str]()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("```"):
            found.append(Block(kind, name, start, "\n".join(lines)))
            words = line[3:].split() if kind == "text" else []
            kind, name = (words[0], " ".join(words[1:])) if words else ("text", "")
            start, lines = number + 1, []
        else:
            lines.append(line)
    assert kind == "text", f"{path.name}: a fence is not closed"
    return [*found, Block(kind, name, start, "\n".join(lines))]


def texts(block: Block) -> Iterator[tuple[int, str, str]]:
    """What a reader sees of a block, line by line: (line, key, text); the key is empty outside widgets."""
    for number, line in enumerate(block.text.splitlines(), start=block.line):
        if block.kind == "text":
            yield number, "", re.sub(r"^(minutes|title): .*", "", line)
        elif block.kind == "widget":
            match = re.match(r"^\s*(?:- )?([a-z-]+): (.*)$", line)
            if match and match[1] in TEXTS and match[2] not in RIGHT_FLAG:
                yield number, match[1], match[2]


# --- checking ------------------------------------------------------------------------------------------------------


def checked(text: str) -> list[tuple[str, str]]:
    """(expression, shown) for each checked number of a line."""
    return [(match[1].strip(), match[2]) for match in CHECKED.finditer(text)]


def agrees(value: Any, shown: str) -> bool:
    """Whether what is shown is the value: to the last decimal shown, or exactly where none is shown."""
    if value is GIVEN:
        return FIGURE.fullmatch(shown) is not None
    plain = shown.replace("−", "-").replace(",", "")
    if re.fullmatch(r"[-+]?\d+/\d+", plain):
        return math.isclose(value, Fraction(plain), rel_tol=0, abs_tol=1e-12)
    if not re.fullmatch(r"[-+]?\d+(\.\d+)?", plain):
        return str(value) == shown
    decimals = len(plain.partition(".")[2])
    return bool(abs(value - float(plain)) <= (0.5 * 10**-decimals if decimals else 0.0) + 1e-9)


def run_lesson(path: Path) -> Iterator[tuple[int, str, str, Any]]:
    """Run a lesson from top to bottom; gives (line, expression, shown, value) for each checked number.

    Python blocks run on the way, and must print what the `output` block after them says. A number before the block that
    defines its names waits for the end.
    """
    names = {**NAMES, "__name__": "lesson"}
    waiting: list[tuple[int, str, str]] = []
    parts = blocks(path)
    for at, block in enumerate(parts):
        if block.kind == "widget" and block.name == "script":  # the page runs it by itself, with nothing given
            run_block(Block("python", "", block.line, indented(block, "code")), {"__name__": "lesson"})
        if block.kind == "python":
            printed = run_block(block, names)
            follows = next((b for b in parts[at + 1 : at + 3] if b.kind == "output" or b.text.strip()), None)
            wanted = follows.text if follows and follows.kind == "output" else ""
            assert printed.strip() == wanted.strip(), (
                f"{path.name}:{block.line} prints\n{printed}where the lesson says\n{wanted}"
            )
        for line, _, text in texts(block):
            for expression, shown in checked(text):
                try:
                    yield line, expression, shown, eval(expression, names)
                except NameError:
                    waiting.append((line, expression, shown))
    for line, expression, shown in waiting:
        yield line, expression, shown, eval(expression, names)


def indented(block: Block, key: str) -> str:
    """The lines of a widget's `key: |`."""
    _, _, after = block.text.partition(f"{key}: |\n")
    return textwrap.dedent("\n".join(itertools.takewhile(lambda line: not line or line[0] == " ", after.splitlines())))


def run_block(block: Block, names: dict[str, Any]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block.text, f"<line {block.line}>", "exec"), names)
    return printed.getvalue()


# --- what expressions may use --------------------------------------------------------------------------------------


class Walked:
    """A preset after its walk: `diamond.a.grad`. Made when it is asked for."""

    def __init__(self, name: str) -> None:
        self.preset = PRESETS[name]

    def __getattr__(self, node: str) -> Value:
        values = self.preset.build()
        values.root.backward()
        found: Value = values[node]
        return found


class Grads(dict[str, float]):
    """Gradients by name, read as attributes."""

    __getattr__ = dict.__getitem__


def visited(walked: Walked, order: str) -> Grads:
    """The gradients after visiting the nodes in this order."""
    recording = walk.record(walked.preset.build().root, order=order.split())
    return Grads({info.name: recording.grads[info.id] or 0.0 for info in recording.graph.nodes if info.label})


def _orders(walked: Walked) -> list[tuple[str, ...]]:
    names = [*walked.preset.inputs, *walked.preset.values]
    return list(itertools.permutations(names))


def orders(walked: Walked) -> int:
    """In how many orders the named nodes can be put."""
    return len(_orders(walked))


def good_orders(walked: Walked) -> int:
    """How many of them give the right gradients at the leaves."""
    right = walked.preset.gradients
    return sum(
        all(visited(walked, " ".join(order))[leaf] == right[leaf] for leaf in walked.preset.inputs)
        for order in _orders(walked)
    )


def topological_orders(walked: Walked) -> int:
    """In how many of them every node comes after all that use it."""
    values = walked.preset.build()
    names = [*walked.preset.inputs, *walked.preset.values]
    uses = [(user, used) for user in names for used in names if values[used] in values[user].operands]
    return sum(all(order.index(user) < order.index(used) for user, used in uses) for order in _orders(walked))


def nodes(walked: Walked) -> int:
    """How many nodes the graph has."""
    return len(list(walk.topological(walked.preset.build().root)))


def gradient(text: str, name: str, **inputs: float) -> float:
    """One gradient of a program."""
    values = program(text, **inputs)
    values.root.backward()
    found: float = values[name].grad
    return found


def slope_at(walked: Walked, x: float) -> float:
    """The slope of a preset with one input, elsewhere."""
    (name,) = walked.preset.inputs
    return gradient(walked.preset.text, name, **{name: float(x)})


def flat(walked: Walked) -> float:
    """Where a parabola is flat: its slope is a straight line, so two points of it will do."""
    low, high = slope_at(walked, 0.0), slope_at(walked, 1.0)
    return -low / (high - low)


def ratio(f: Callable[[float], float], x: float, h: float) -> float:
    """A slope by nudging."""
    return (f(x + h) - f(x)) / h


def _pushed(walked: Walked, clearing: bool) -> Grads:
    """The gradients after two walks by hand; the nodes in the middle are cleared between them, or not."""
    values = walked.preset.build()
    order = list(walk.topological(values.root))
    for _ in range(2):
        for node in order:
            if clearing and node.operands:
                node.grad = 0.0
        values.root.grad = 1.0
        for node in reversed(order):
            node._backward()
    return Grads({name: values[name].grad for name in walked.preset.inputs})


def second_walk(walked: Walked) -> Grads:
    """The gradients of the leaves after two walks of an engine that clears the nodes in the middle."""
    return _pushed(walked, clearing=True)


def second_walk_without_clearing(walked: Walked) -> Grads:
    """… and of one that does not."""
    return _pushed(walked, clearing=False)


def piled_up(steps: int) -> float:
    """How many times too large a gradient is that nobody zeroed for so many steps."""
    w = Value(1.0)
    for _ in range(steps):
        (w * 4.0).backward()
    found: float = w.grad / 4.0
    return found


def sigmoid(x: float) -> float:
    """The sigmoid's value."""
    found: float = program("y = sigmoid(x)", x=x).root.data
    return found


def said_by(specimen: str, program: str, see: str) -> float:
    """What an engine of the museum says after a program."""
    names: dict[str, Any] = {"Value": museum.find(specimen).engine()}
    exec(program, names)
    return float(eval(see, names))


def parameters(inputs: int, outputs: list[int]) -> int:
    """How many knobs a network has."""
    return len(nn.MLP(inputs, outputs).parameters())


# --- the engine in versions


def version(number: int) -> Any:
    """The class of a version of the engine, from its file."""
    (path,) = (ROOT / "examples" / "versions").glob(f"v{number:02}_*.py")
    return runpy.run_path(str(path))["Value"]


def in_version(number: int, text: str, **inputs: float) -> Grads:
    """The gradients that a version of the engine gives for an expression."""
    make = version(number)
    leaves = {name: make(float(x)) for name, x in inputs.items()}
    eval(text, {}, leaves).backward()
    return Grads({name: leaf.grad for name, leaf in leaves.items()})


def in_order(number: int, order: str) -> Grads:
    """The gradients of (a + b)·c when one pushes by hand, in this order."""
    make = version(number)
    a, b, c = make(2.0), make(-3.0), make(10.0)
    nodes = {"e": a + b}
    nodes["d"] = nodes["e"] * c
    nodes["d"].grad = 1.0
    for name in order.split():
        nodes[name]._backward()
    return Grads(a=a.grad, b=b.grad, c=c.grad)


def walks(number: int, times: int) -> float:
    """The gradient of x·x·x at 3 after so many walks over the same graph."""
    x = version(number)(3.0)
    y = x * x * x
    for _ in range(times):
        y.backward()
    found: float = x.grad
    return found


# --- against PyTorch


def recorded(comparison: str, row: str, side: str = "theirs") -> Any:
    """The number that a row of a recorded comparison printed (the last one, if there are several)."""
    rows = json.loads((ROOT / "web/recorded/against_torch.json").read_text(encoding="utf-8"))["comparisons"][comparison]
    (found,) = (each for each in rows if each["name"] == row)
    return float(found[f"{side}Printed"].split()[-1])


# --- tensors


def folding(what: str) -> int:
    """How many `cells` or `blocks` the graph has that the page folds."""
    return len(folded.material()[what])  # type: ignore[literal-required]


def contributions(name: str) -> int:
    """How many numbers of that graph were made from this one."""
    (cell,) = (cell for cell in folded.material()["cells"] if cell["name"] == name)
    return len(cell["to"])


def broadcast_sum(shape: tuple[int, ...], small: tuple[int, ...]) -> float:
    """Each number of the gradient of `b` in `(X + b).sum()`."""
    b = zeros(small)
    (ones(shape) + b).sum().backward()
    (found,) = set(b.grad.reshape(-1).tolist())
    return float(found)


def naming(what: str) -> int:
    """A constant of the model that makes up names."""
    return int(getattr(namer, what))


def _names() -> str:
    return " ".join((ROOT / "examples" / "names.txt").read_text(encoding="utf-8").split())


def names_facts(what: str) -> float:
    """How large the model that makes up names is, and what it learns from."""
    return namer.facts(_names())[what]  # type: ignore[literal-required, no-any-return]


@cache
def names_loss(steps: int) -> float:
    """The mean loss of the last fifty of so many steps, to one decimal."""
    losses = namer.advance(namer.start(_names()), _names(), steps=steps)["losses"]
    return round(sum(losses[-50:]) / 50, 1)


def letters_alone() -> float:
    """The loss of a model that knows how common each letter is, and nothing else."""
    counts = Counter(letter for name in _names().split() for letter in f"{name}.")
    total = sum(counts.values())
    return -sum(n / total * math.log(n / total) for n in counts.values())


# --- speed


def _counted(graph: Any) -> Grads:
    return Grads(nodes=graph["nodes"], leaves=graph["leaves"], steps=len(graph["steps"]), levels=len(graph["levels"]))


def rolled(name: str) -> Grads:
    """How many nodes, levels and steps a recorded graph has."""
    return _counted(json.loads((ROOT / "web/recorded/rolled.graphs.json").read_text(encoding="utf-8"))[name])


def own() -> Grads:
    """The same for the program that the page begins with."""
    return _counted(rolling.material()["rolled"])


def chain_of(terms: int) -> int:
    """The rounds that a sum takes."""
    return max(rolling.levels(rolling.tape_of(sum(Value(1.0 * i) for i in range(terms)))))


def chain_of_diamonds(times: int) -> int:
    """How many nodes the engine makes for so many diamonds in a row."""
    y = Value(2.0)
    for _ in range(times):
        y = y * 0.5 + y * 0.5
    return len(list(walk.topological(y)))


def eager(peer: str, what: str, *, on: bool, workload: str = "W1 moons step") -> float:
    """A figure of benchmarks/results/eager.json; `on`: with the garbage collector."""
    rows = json.loads((RESULTS / "eager.json").read_text(encoding="utf-8"))["times"]
    (row,) = (r for r in rows if (r["workload"], r["peer"], r["collector"]) == (workload, peer, on))
    return float(row[what])


def compiled(what: str, peer: str) -> Any:
    """How many times faster than a peer, by benchmarks/results/compiled.json; without that file, no claim."""
    path = RESULTS / "compiled.json"
    if not path.is_file():
        return GIVEN
    rows = json.loads(path.read_text(encoding="utf-8"))["figures"]
    (row,) = (r for r in rows if (r["what"], r["peer"]) == (what, peer))
    return row["peer_seconds"] / row["seconds"]


def at_least(x: Any, n: float) -> Any:
    """For "more than n times": n while that holds, else what it is. A new measurement need not change the text."""
    return n if x is not GIVEN and x >= n else x


#: `{{ given -> 2 }}`: a premise of a question, or a wrong answer that is just a number. It claims nothing.
GIVEN = object()

NAMES: dict[str, Any] = {
    **{name.replace("-", "_"): Walked(name) for name in PRESETS},
    **{
        helper.__name__: helper
        for helper in (
            visited,
            orders,
            good_orders,
            topological_orders,
            nodes,
            gradient,
            slope_at,
            flat,
            ratio,
            parameters,
            second_walk,
            second_walk_without_clearing,
            piled_up,
            sigmoid,
            in_version,
            in_order,
            walks,
            recorded,
            rolled,
            own,
            chain_of,
            chain_of_diamonds,
            eager,
            compiled,
            at_least,
            said_by,
            folding,
            contributions,
            broadcast_sum,
            naming,
            names_facts,
            names_loss,
            letters_alone,
        )
    },
    "math": math,
    "Tensor": Tensor,
    "B": folded.B,
    "Array": arrays.Array,
    "zeros": arrays.zeros,
    "given": GIVEN,
}
