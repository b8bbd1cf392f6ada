"""A learner's own program, run by the engine and given back as a recording to step through.

Two languages, told apart by what is written. A few lines such as `L = a*b + c` are a program of `gradwalk.program`:
read, never run. Anything else is Python with Values or Tensors, and runs in the sandbox. Numbers that the text gives
names can be given others through `inputs`, so that fields and sliders re-run it.
"""

from __future__ import annotations

import ast
import json
import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

import gradwalk
from gradwalk import nn, ops, walk
from gradwalk.engine import Value
from gradwalk.errors import GradwalkError, ProgramError
from gradwalk.explain.views import HeatMap, tensor_view
from gradwalk.layout import Layout, layout_of
from gradwalk.learn.page.sandbox import LearnerError, execute
from gradwalk.messages import Message, reason_of, say, verbatim
from gradwalk.presets import preset as preset_of
from gradwalk.program import inputs_of, program
from gradwalk.program.reader import read

__all__ = ["Drawn", "Failed", "built", "cell", "failed", "preset", "run"]

#: What a walk says of itself, in English: the page does not take it.
WORDS = ("sentence", "formula", "latex")
MOST_NODES = 100  # cards that can still be found on a screen, and laid out while nobody waits
LONGEST = 20_000  # characters
NAME = "your program"
SEED = 1337


class Failed(TypedDict):
    """Why nothing can be drawn: in words, and where, counted from 1; None where there is no place to point at.

    >>> run("d = a % b")["error"]["column"]
    7
    """

    kind: str
    message: Message
    line: int | None
    column: int | None
    end_column: int | None


class Drawn(TypedDict):
    """What `run` gives: a recording and its layout, or an error; numbers to change, names that began at 1.

    Of tensors, the recording points at `maps`; see `gradwalk.explain.views.TensorView`.

    >>> answer = run("L = a*b", {"a": 2.0})
    >>> answer["inputs"], answer["assumed"], answer["language"]
    ({'a': 2.0, 'b': 1.0}, ['b'], 'program')
    """

    recording: dict[str, Any] | None
    layout: Layout | None
    maps: list[HeatMap]
    spreads: dict[str, str]
    error: Failed | None
    inputs: dict[str, float]
    assumed: list[str]
    language: str


def run(text: str, inputs: Mapping[str, float] | None = None) -> Drawn:
    """Run a text and record the walk over what it computes; `inputs` changes numbers that the text gives names.

    >>> answer = run("a = Value(2.0)\\nb = a * a\\nb.backward()", {"a": 3.0})
    >>> [node["name"] for node in answer["recording"]["graph"]["nodes"]], answer["inputs"], answer["language"]
    (['a', 'b'], {'a': 3.0}, 'python')
    >>> run("L = sigmod(a)")["error"]["message"]
    'no function is called sigmod; did you mean sigmoid?'
    """
    try:
        given = {name: _finite(name, x) for name, x in (inputs or {}).items()}
        return _drawn(_made(text, given))
    except (GradwalkError, SyntaxError) as error:
        return _refused(error)


def cell(text: str, node: int, place: list[int]) -> Drawn:
    """Run a text that ends in a tensor, and record the walk over the graph of one number: all that depends on it.

    `node` counts the nodes of the recording that `run` gives.

    >>> text = "x = Tensor([1.0, 2.0])\\n(x * x).sum()"
    >>> answer = cell(text, 0, [1])
    >>> [found["name"] for found in answer["recording"]["graph"]["nodes"]]
    ['x[1]', '*[1]', '1', 'sum']
    """
    from gradwalk.tensor.explained import graph_at  # only graphs of tensors need it

    try:
        made = _made(text, {})
        return _drawn(_Made(graph_at(made.root, node, place), {}, [], made.language))
    except (GradwalkError, SyntaxError) as error:
        return _refused(error)


def preset(name: str, inputs: Mapping[str, float] | None = None) -> Drawn:
    """Run a preset, with some of its numbers changed.

    >>> preset("a-times-a", {"a": 4.0})["recording"]["graph"]["nodes"][-1]["data"]
    16.0
    """
    known = preset_of(name)
    return run(known.text, {**known.inputs, **(inputs or {})})


def built(text: str) -> Any:
    """The node that a text computes last; raises a GradwalkError or a SyntaxError that says what is wrong.

    >>> built("a = Value(3.0)\\nL = a * a").data
    9.0
    """
    return _made(text, {}).root


@dataclass(frozen=True)
class _Made:
    root: Any
    inputs: dict[str, float]
    assumed: list[str]
    language: str


def _made(text: str, given: Mapping[str, float]) -> _Made:
    if len(text) > LONGEST:
        raise ProgramError(
            say(
                "a program here has at most {most} characters, and this one has {count}",
                most=f"{LONGEST:,}",
                count=f"{len(text):,}",
            )
        )
    return (_as_python if _is_python(text) else _as_program)(text, given)


def _finite_ones(numbers: Mapping[str, float]) -> dict[str, float]:
    """Those that a field of the page can hold, and JSON."""
    return {name: x for name, x in numbers.items() if math.isfinite(x)}


def _finite(name: str, x: Any) -> float:
    try:
        number = math.nan if isinstance(x, (bool, str)) or x is None else float(x)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise ProgramError(
            say("{name} is given {number}; a number is needed, as 2, -0.5 or 1e-3", name=name, number=f"{x!r:.60}")
        )
    return number


# --- a program -------------------------------------------------------------------------------------------------------


def _as_program(text: str, given: Mapping[str, float]) -> _Made:
    """Names without a number begin at 1: the page has a field for each."""
    free = inputs_of(text)
    result = program(text, **{name: given.get(name, 1.0) for name in free})
    named = {name: x for name, x in given.items() if name in result.inputs and name not in free}
    result = result.rerun(**named) if named else result
    return _Made(result.root, _finite_ones(result.inputs), [name for name in free if name not in given], "program")


def _is_python(text: str) -> bool:
    """Whether a text that is no program is meant as Python: it says something that only Python has."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return any(word in text for word in ("Value", "Tensor", "import ", "def "))
    try:
        read(text)
    except ProgramError:
        return any(map(_only_python, ast.walk(tree)))
    return False


def _only_python(node: ast.AST) -> bool:
    match node:
        case ast.Name(name):
            return name in _PYTHON_NAMES
        case ast.Assign(targets):
            return any(isinstance(target, (ast.Attribute, ast.Subscript)) for target in targets)
    return isinstance(node, _PYTHON_ONLY)


_PYTHON_NAMES = {
    "Value", "Tensor", "MLP", "Layer", "Neuron", "nn", "math", "random", "print", "range", "sum", "len", "zip", "input",
}  # fmt: skip
_PYTHON_ONLY = (
    ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.For, ast.While, ast.If, ast.With, ast.Try,
    ast.ListComp, ast.GeneratorExp, ast.Lambda,
)  # fmt: skip


# --- Python ----------------------------------------------------------------------------------------------------------


def _as_python(text: str, given: Mapping[str, float]) -> _Made:
    tree = ast.parse(text)
    leaves = _leaves(tree)
    for name in given.keys() & leaves.keys():
        leaf = leaves[name]
        leaf.args[0] = ast.copy_location(ast.Constant(given[name]), leaf.args[0])
    match tree.body:
        case [*_, ast.Expr(result) as last]:
            kept = ast.Assign([ast.Name(LAST, ast.Store())], result)
            tree.body[-1] = ast.fix_missing_locations(ast.copy_location(kept, last))
    random.seed(SEED)  # a network has the same weights each time that a slider moves
    tensors = {"Tensor": gradwalk.Tensor} if "Tensor" in text else {}  # which takes a while to load
    functions = {name: op for name, op in ops.TABLE.items() if name.isidentifier() and name not in ("abs", "pow")}
    at_hand = {**functions, **tensors, "Value": Value, "nn": nn, "MLP": nn.MLP, "Neuron": nn.Neuron, "Layer": nn.Layer,
               "math": math, "random": random}  # fmt: skip
    names = execute(text, at_hand, name=NAME, tree=tree)
    for name in _assigned(tree):  # a node without a label gets the name it has in the program
        value: Any = names.get(name)
        if _is_node(value) and not value.label:
            value.label = name
    found = {name: names[name].data for name in leaves if isinstance(names.get(name), Value)}
    return _Made(_root(names, tree), _finite_ones(found), [], "python")


def _is_node(thing: Any) -> bool:
    return isinstance(thing, Value) or getattr(thing, "many", False) is True


def _leaves(tree: ast.Module) -> dict[str, ast.Call]:
    """The calls in lines such as `a = Value(2.0, label='a')`, by name, where the name is given nothing else."""
    stored = (x.id for x in ast.walk(tree) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store))
    times = Counter(stored)
    found: dict[str, ast.Call] = {}
    for line in tree.body:
        match line:
            case ast.Assign([ast.Name(name)], ast.Call(ast.Name("Value"), [number, *_]) as call) if times[name] == 1:
                if _is_number(number):
                    found[name] = call
    return found


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


LAST = "_last_"


def _assigned(tree: ast.Module) -> list[str]:
    """The names that the program's own lines give, in order."""
    targets = (t for line in tree.body if isinstance(line, ast.Assign) for t in line.targets)
    names: Iterable[ast.expr] = (x for t in targets for x in (t.elts if isinstance(t, ast.Tuple) else [t]))
    return [x.id for x in names if isinstance(x, ast.Name) and x.id != LAST]


def _root(names: Mapping[str, Any], tree: ast.Module) -> Any:
    """What the last line gives; where that is nothing, as with `d.backward()`, the last Value that got a name."""
    line = tree.body[-1].lineno if tree.body else None
    last = names.get(LAST)
    if _is_node(last):
        return last
    if last is not None:
        told = say(
            "the last line gives {kind}, not a Value; end with the name of the node to draw", kind=type(last).__name__
        )
        raise LearnerError("NoRoot", told, line)
    for name in reversed(_assigned(tree)):
        if _is_node(names.get(name)):
            return names[name]
    told = say("no Value was computed; write lines such as a = Value(2.0) and d = a * a")
    raise LearnerError("NoRoot", told, line)


# --- what goes back --------------------------------------------------------------------------------------------------


def _drawn(made: _Made) -> Drawn:
    graph = walk.graph_of(made.root)
    count = sum(1 for node in graph.nodes if not node.constant)
    if count > MOST_NODES:
        raise ProgramError(
            say(
                "the graph has {count} nodes, and this page draws up to {most}; take a smaller one, or draw it in "
                "Python: gradwalk.draw_dot(root)",
                count=f"{count:,}",
                most=MOST_NODES,
            )
        )
    recording = walk.record(made.root)
    drawn = Drawn(recording=None, layout=layout_of(graph), maps=[], spreads={}, error=None,
                  inputs=made.inputs, assumed=made.assumed, language=made.language)  # fmt: skip
    if getattr(made.root, "many", False) is True:
        drawn.update(without_words(tensor_view(recording)))
    else:
        drawn["recording"] = without_words(json.loads(recording.to_json()))
    return drawn


def without_words(walked: Any) -> Any:
    """A walk as plain data, without its sentences and formulas: the page has words of its own, in each language.

    >>> without_words({"events": [{"kind": "seed", "node": 2, "sentence": "Begin at `d`.", "formula": "d.grad = 1"}]})
    {'events': [{'kind': 'seed', 'node': 2}]}
    """
    if isinstance(walked, dict):
        return {name: without_words(part) for name, part in walked.items() if name not in WORDS}
    return [without_words(part) for part in walked] if isinstance(walked, (list, tuple)) else walked


def _refused(error: GradwalkError | SyntaxError) -> Drawn:
    return Drawn(recording=None, layout=None, maps=[], spreads={}, error=failed(error), inputs={}, assumed=[],
                 language="")  # fmt: skip


def failed(error: GradwalkError | SyntaxError) -> Failed:
    """Why nothing can be drawn.

    >>> failed(ProgramError("the end is missing", line=2))["line"]
    2
    """
    if isinstance(error, SyntaxError):
        end = error.end_offset if error.end_lineno == error.lineno else None
        return Failed(kind=type(error).__name__, message=verbatim(error.msg), line=error.lineno,
                      column=error.offset or None, end_column=end or None)  # fmt: skip
    kind = getattr(error, "kind", type(error).__name__)
    message = reason_of(error)
    if kind == "ModuleNotFoundError":
        message = say("{said}; Value and the functions are at hand without an import", said=message)
    return Failed(kind=kind, message=message, line=getattr(error, "line", None),
                  column=getattr(error, "column", None), end_column=getattr(error, "end_column", None))  # fmt: skip
