"""Small changes to a learner's text, each with what was wrong if it repairs the text: those that people need first."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from gradwalk.learn.page.exercises.editing import Editor, Place, line_of, lines_of, target_of
from gradwalk.learn.page.exercises.model import Kind
from gradwalk.messages import Message, joined, say

__all__ = ["Change", "changes", "places_to_look"]

_FEW = 3  # lines of the solution that are not there: with more, the text is another one
_LONGEST = 6  # operands of a formula that is bracketed anew: 42 ways
_SIGNS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.FloorDiv: "//", ast.Mod: "%",
    ast.BitXor: "^", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
_WHICH = (ast.Is, ast.IsNot, ast.In, ast.NotIn)
_COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.In, ast.NotIn)


@dataclass(frozen=True)
class Change:
    """What was wrong, in words, and the guilty lines; `text` is the learner's text with the change.

    >>> Change("overwritten", say("It is set."), say("Is there an `=` too many?"), (6,), "").lines
    (6,)
    """

    kind: Kind
    why: Message
    ask: Message
    lines: tuple[int, ...]
    text: str
    #: Whether it knows in which line the mistake is, and no more.
    vague: bool = False


def _kind(statement: ast.stmt | None) -> Kind:
    """What a slip in a statement is called: in a push it is a slope, in another result a value."""
    if target_of(statement).endswith(".grad"):
        return "wrong local derivative"
    return "wrong value" if isinstance(statement, (ast.Assign, ast.AugAssign, ast.Return)) else "slip"


def _is_read(node: ast.AST) -> bool:
    """Whether it is an expression whose value is taken."""
    return isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def places_to_look(editor: Editor, solution: ast.Module) -> Iterator[Change]:
    """Where to look, where a text is the solution but for one place: a line too many, a wrong one, one that is missing.

    >>> text, solution = ast.parse("a = 1; b = 3"), ast.parse("a = 1; b = 2")
    >>> "a = 1\\nb = 2" in [change.text for change in places_to_look(Editor(text), solution)]
    True
    """
    for change in (_extras, _line_by_line, _missing):
        yield from change(editor, solution)


def changes(editor: Editor, solution: ast.Module) -> Iterator[Change]:
    """Every small change to a text, likely ones first; some are made of what the solution has.

    >>> text = ast.parse("self.grad = out.grad")
    >>> [change.text for change in changes(Editor(text), text)][:2]
    ['self.grad += out.grad', 'self.grad -= out.grad']
    """
    for change in (_assignments, _upstream, _signs, _brackets, _operands, _numbers, _statements, _calls):
        yield from change(editor, solution)


def _assignments(editor: Editor, solution: ast.Module) -> Iterator[Change]:
    """`=`, `+=`, `-=`: one that should be another. All of a kind at once, then each alone."""
    plain = [p for p in editor.writes if isinstance(p.node, ast.Assign) and len(p.node.targets) == 1]
    grads = [p for p in plain if target_of(p.statement).endswith(".grad")]
    signs = ((ast.Add(), "+="), (ast.Sub(), "-="))
    for chosen in [grads, *([p] for p in plain)]:
        if not chosen:
            continue
        for op, sign in signs:
            changes: list[tuple[Place, ast.stmt]] = [
                (p, ast.AugAssign(p.node.targets[0], op, _positive(p.node.value, op))) for p in chosen
            ]
            why = say(
                "Line {line} sets `{target}`. It should change what is there.",
                line=line_of(chosen[0]),
                target=target_of(chosen[0].statement),
            )
            if sign == "+=" and chosen is grads:
                why = say("The second contribution replaced the first.")
            ask = say("Is there an `=` that should be `{sign}`?", sign=sign)
            yield Change("overwritten", why, ask, lines_of(*chosen), editor.text(*changes))
    added = [p for p in editor.writes if isinstance(p.node, ast.AugAssign)]
    for group in [added, *([p] for p in added)]:
        for other, sign in (*signs, (None, "=")):
            chosen = [p for p in group if _SIGNS.get(type(p.node.op), "?") + "=" != sign]
            if not chosen:
                continue
            changes = [(p, _assigned(p.node, other)) for p in chosen]
            was = _SIGNS.get(type(chosen[0].node.op), "?")
            lines, target = lines_of(*chosen), target_of(chosen[0].statement)
            where = say("On line {line}", line=lines[0])
            if len(lines) > 1:
                *most, last = map(str, lines)
                where = say("On lines {lines} and {last}", lines=", ".join(most), last=last)
            why = say(
                "{where}, `{was}` is the wrong way to write to `{target}`.", where=where, was=f"{was}=", target=target
            )
            if (was, sign) in (("-", "+="), ("+", "-=")):
                why = say("{where}, the size is right and the sign is wrong.", where=where)
            kind: Kind = "wrong direction" if target.endswith(".data") else _kind(chosen[0].statement)
            if sign == "=" and target in ast.unparse(chosen[0].node.value):
                kind = "counted twice"
                why = say(
                    "{where}, what was in `{target}` is counted twice: `+=` adds it again.", where=where, target=target
                )
            ask = say("Is there a `{was}` that should be `{sign}`?", was=f"{was}=", sign=sign)
            yield Change(kind, why, ask, lines, editor.text(*changes))


def _assigned(node: ast.AugAssign, op: ast.operator | None) -> ast.stmt:
    return ast.AugAssign(node.target, op, node.value) if op else ast.Assign([node.target], node.value, lineno=0)


def _positive(value: ast.expr, op: ast.operator) -> ast.expr:
    """`= +x` and `= -x` were meant to be `+= x` and `-= x`."""
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, (ast.UAdd, ast.USub)):
        return value.operand
    inner: Any = value
    if isinstance(op, ast.Sub) and isinstance(value, ast.BinOp) and isinstance(value.left, ast.UnaryOp):
        inner = ast.BinOp(value.left.operand, value.op, value.right)
    return inner  # type: ignore[no-any-return]


def _upstream(editor: Editor, solution: ast.Module) -> Iterator[Change]:
    """A push without the upstream gradient: everywhere, then in one line."""
    pushes = [p for p in editor.writes if target_of(p.statement).endswith(".grad")]
    lacking = [p for p in pushes if f"{editor.out}.grad" not in ast.unparse(p.node.value)]
    for chosen in [lacking, *([p] for p in lacking)]:
        if not chosen:
            continue
        changes = []
        for p in chosen:
            new = copy.copy(p.node)
            upstream = ast.Attribute(ast.Name(editor.out, ast.Load()), "grad", ast.Load())
            new.value = ast.BinOp(p.node.value, ast.Mult(), upstream)
            changes.append((p, new))
        why = say("This is right only where `out` is the root. Further in, the upstream gradient is lost.")
        ask = say("Where does `out.grad` come in?")
        yield Change("forgets the upstream gradient", why, ask, lines_of(*chosen), editor.text(*changes))


def _statements(editor: Editor, solution: ast.Module) -> Iterator[Change]:
    """Lines in the wrong order, lines too many, lines that stand too deep or not deep enough."""
    for holder, field, body in editor.blocks:
        for i in range(len(body)):
            for j in range(len(body)):
                if i == j or abs(i - j) > 3 or isinstance(body[i], (ast.FunctionDef, ast.Return)):
                    continue
                moved = [s for k, s in enumerate(body) if k != i]
                moved.insert(j, body[i])
                first, second = sorted((body[i].lineno, body[j].lineno))
                line = body[i].lineno
                why = (
                    say("Line {line} comes too late.", line=line)
                    if j < i
                    else say("Line {line} comes too early.", line=line)
                )
                ask = say("What must have happened before line {line}?", line=second if j < i else first)
                ask = say("Which of these lines must come first?") if abs(i - j) == 1 else ask
                yield Change("wrong order", why, ask, (body[i].lineno,), editor.body(holder, field, moved))
        for i, statement in enumerate(body):
            if not isinstance(statement, (ast.For, ast.If, ast.While)):
                continue
            first, last = statement.body[0], statement.body[-1]
            after = body[i + 1 : i + 2]
            found: list[tuple[Message, ast.stmt, list[ast.stmt]]] = []  # what is wrong with a line, and what is right
            if len(statement.body) > 1:
                why = say("Line {line} is indented too far.", line=last.lineno)
                found.append((why, last, [_holding(statement, statement.body[:-1]), last, *after]))
            if len(statement.body) > 1 and not isinstance(statement, ast.If):
                why = say("Line {line} runs in every turn of the loop.", line=first.lineno)
                found.append((why, first, [first, _holding(statement, statement.body[1:]), *after]))
            if after and not isinstance(after[0], ast.FunctionDef):
                why = say("Line {line} is not indented far enough.", line=after[0].lineno)
                found.append((why, after[0], [_holding(statement, [*statement.body, *after])]))
            for why, line_of_it, instead in found:
                text = editor.body(holder, field, [*body[:i], *instead, *body[i + 2 :]])
                yield Change("slip", why, say("How often should it run?"), (line_of_it.lineno,), text)


def _holding(block: ast.For | ast.If | ast.While, statements: list[ast.stmt]) -> ast.stmt:
    held = copy.copy(block)
    held.body = statements
    return held


def _extras(editor: Editor, solution: ast.Module) -> Iterator[Change]:
    """A line that should not be there."""
    for holder, field, body in editor.blocks:
        for i, statement in enumerate(body):
            if isinstance(statement, ast.FunctionDef):
                continue
            if isinstance(statement, ast.If) and not statement.orelse:
                always = [*body[:i], *statement.body, *body[i + 1 :]]
                line = statement.lineno
                why = say("Without the condition on line {line}, every number is right.", line=line)
                yield Change("slip", why, say("When is it false?"), (line,), editor.body(holder, field, always))
            same = [ast.dump(statement) == ast.dump(other) for other in body]
            if any(same[i + 1 :]) or len(body) == 1:  # of two that are alike, the later one is too many
                continue
            twice = any(same[:i])
            line = statement.lineno
            why = (
                say("Line {line} says the same once more.", line=line)
                if twice
                else say("Line {line} does harm: without it, every number is right.", line=line)
            )
            ask = say("What is line {line} for?", line=line)
            left = [s for s in body if s is not statement]
            kind: Kind = "counted twice" if twice else "slip"
            yield Change(kind, why, ask, (line,), editor.body(holder, field, left))


def _operands(editor: Editor, solution: ast.Module) -> Iterator[Change]:
    """A name or a field where another belongs: of those that the text itself and the solution use."""
    used = {ast.unparse(n) for tree in (editor.tree, solution) for n in ast.walk(tree)
            if isinstance(n, (ast.Name, ast.Attribute)) and not ast.unparse(n).startswith("math")}  # fmt: skip
    fields = sorted(name for name in used if name.endswith((".data", ".grad", "._prev", "._backward")))
    names = sorted(name for name in used if "." not in name)
    for place in editor.places:
        node = place.node
        if not isinstance(node, (ast.Name, ast.Attribute)) or (
            place.field in ("func", "value") and isinstance(place.parent, ast.Attribute)
        ):
            continue
        if isinstance(node.ctx, ast.Store) and _again(editor, place):
            continue
        was = ast.unparse(node)
        if isinstance(place.parent, ast.Tuple) and isinstance(node.ctx, ast.Load) and len(place.parent.elts) > 1:
            line = line_of(place)
            others = ast.Tuple([each for each in place.parent.elts if each is not node], ast.Load())
            why = say("On line {line}, `{code}` does not belong there.", line=line, code=was)
            ask = say("What is it for?")
            yield Change(_kind(place.statement), why, ask, (line,), _at(editor, place.parent, others))
        pool = fields if isinstance(node, ast.Attribute) else [*names, *fields]
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            pool = [*fields, *(name for name in names if was.startswith(name + "."))]
        for other in pool:
            if other == was:
                continue
            new: Any = ast.parse(other, mode="eval").body
            new.ctx = node.ctx
            line = line_of(place)
            written = isinstance(node.ctx, ast.Store)
            kind: Kind = "changed the wrong thing" if written else _kind(place.statement)
            if not written and was == f"{editor.out}.data" and other == f"{editor.out}.grad":
                kind = "forgets the upstream gradient"
            if written:
                why = say("Line {line} writes to `{was}`.", line=line, was=was)
                ask = say("Where should it write to?")
            else:
                why = say("On line {line}, `{was}` is the wrong thing to take.", line=line, was=was)
                if sum(ast.unparse(each.node) == was for each in editor.places if line_of(each) == line) > 1:
                    why = say("On line {line}, one `{was}` is the wrong thing to take.", line=line, was=was)
                ask = say("What belongs in its place?")
            if written and was.endswith(".data") and other.endswith(".grad"):
                why = joined(why, say("Data belongs to the forward pass; the walk back writes `grad`."))
            yield Change(kind, why, ask, (line,), editor.text((place, new)))


def _again(editor: Editor, place: Place) -> bool:
    """Whether another line says the same, and is the one to blame: the later for `self`, the first for others."""
    alike = [p.node for p in editor.places if isinstance(p.node, ast.stmt) and place.statement is not None
             and ast.dump(p.node) == ast.dump(place.statement)]  # fmt: skip
    guilty = alike[-1] if target_of(place.statement).startswith("self.") else alike[0]
    return guilty is not place.statement


def _signs(editor: Editor, solution: ast.Module) -> Iterator[Change]:
    """An operator where another belongs, a minus too many or too few."""
    own = {node.name for node in ast.walk(editor.tree) if isinstance(node, ast.FunctionDef)}
    for place in editor.places:
        node = place.node
        line = line_of(place)
        kind = _kind(place.statement)
        if isinstance(node, (*_ARITHMETIC, ast.BitXor, ast.FloorDiv, ast.Mod)) and isinstance(place.parent, ast.BinOp):
            parent = place.parent
            if isinstance(parent.left, ast.Constant) and isinstance(parent.right, ast.Constant):
                continue  # a number written as a fraction: `_numbers` looks at it
            line = parent.lineno
            was = _SIGNS[type(node)]
            for other in _ARITHMETIC:
                if type(node) is not other and not _does_nothing(parent, other):
                    why = say("On line {line}, the `{was}` is the wrong operation.", line=line, was=was)
                    ask = say("What should happen to the two numbers?")
                    if was == "^":
                        ask = say("In Python a power is written `**`.")
                    yield Change(kind, why, ask, (line,), editor.text((place, other())))
            if not isinstance(parent.op, (ast.Add, ast.Mult)):
                why = say("On line {line}, the two sides of `{sign}` have changed places.", line=line, sign=was)
                ask = say("Which of the two comes first?")
                turned = ast.BinOp(parent.right, parent.op, parent.left)
                yield Change("turned round", why, ask, (line,), _at(editor, parent, turned))
            for kept in (parent.left, parent.right):
                dropped = parent.right if kept is parent.left else parent.left
                why = say("On line {line}, `{code}` does not belong there.", line=line, code=ast.unparse(dropped))
                yield Change(kind, why, say("What is it for?"), (line,), _at(editor, parent, kept))
        elif isinstance(node, _COMPARISONS) and isinstance(place.parent, ast.Compare):
            for comparison in _COMPARISONS:
                if type(node) is not comparison:
                    line, was = place.parent.lineno, _SIGNS[type(node)]
                    why = say("On line {line}, the `{was}` is the wrong comparison.", line=line, was=was)
                    ask = say("When should it be true?")
                    yield Change(kind, why, ask, (line,), editor.text((place, comparison())))
        elif isinstance(node, ast.UnaryOp):
            was = "not" if isinstance(node.op, ast.Not) else "-"
            why = say("On line {line}, there is a `{was}` too many.", line=line, was=was)
            yield Change(kind, why, say("Why is it there?"), (line,), editor.text((place, node.operand)))
        elif isinstance(place.parent, ast.Compare) and isinstance(place.parent.ops[0], _WHICH):
            continue  # which object it is has no sign
        elif (
            isinstance(node, ast.Name) and isinstance(place.parent, ast.Call) and ast.unparse(place.parent.func) in own
        ):
            continue  # nor has a node that a function of the learner's is given
        elif isinstance(place.parent, ast.Attribute):
            continue
        elif _is_read(node) and place.field in ("left", "right", "value", "args", "operand"):
            negated = ast.UnaryOp(ast.USub(), node)
            why = say("On line {line}, a sign is wrong.", line=line)
            yield Change(kind, why, say("Does it rise or fall there?"), (line,), editor.text((place, negated)))


def _does_nothing(node: ast.BinOp, op: type[ast.operator]) -> bool:
    """Whether an operation with 1 would give back the other operand: then the 1 does not belong there."""
    left, right = (isinstance(x, ast.Constant) and x.value == 1 for x in (node.left, node.right))
    return (right and op in (ast.Mult, ast.Div, ast.Pow)) or (left and op is ast.Mult)


def _at(editor: Editor, node: ast.AST, new: Any) -> str:
    """The text with a node replaced that is found by identity."""
    place = next(p for p in editor.places if p.node is node)
    return editor.text((place, new))


def _brackets(editor: Editor, solution: ast.Module) -> Iterator[Change]:
    """(a - b) * c for a - b * c: the same operands and operators in the same order, with other brackets."""
    for place in editor.places:
        node = place.node
        if isinstance(node, ast.BinOp) and not isinstance(place.parent, ast.BinOp):
            operands, signs = _flat(node)
            if len(operands) > _LONGEST:
                continue
            for new in _bracketed(operands, signs):
                why = say(
                    "On line {line}, Python reads `{code}` in another order than it should.",
                    line=node.lineno,
                    code=ast.unparse(node),
                )
                ask = say("Where do the brackets belong?")
                yield Change(_kind(place.statement), why, ask, (node.lineno,), editor.text((place, new)))


def _flat(node: ast.expr) -> tuple[list[ast.expr], list[ast.operator]]:
    if not isinstance(node, ast.BinOp):
        return [node], []
    (left, before), (right, after) = _flat(node.left), _flat(node.right)
    return [*left, *right], [*before, node.op, *after]


def _bracketed(operands: list[ast.expr], signs: list[ast.operator]) -> Iterator[ast.expr]:
    if not signs:
        yield operands[0]
    for at, sign in enumerate(signs):
        for left in _bracketed(operands[: at + 1], signs[:at]):
            for right in _bracketed(operands[at + 1 :], signs[at + 1 :]):
                yield ast.BinOp(left, sign, right)


def _numbers(editor: Editor, solution: ast.Module) -> Iterator[Change]:
    """A number where another belongs."""
    known = [n.value for tree in (solution, editor.tree) for n in ast.walk(tree) if isinstance(n, ast.Constant)]
    pool = dict.fromkeys([*(x for x in known if isinstance(x, (int, float))), 0.0, 1.0, -1, 2, 3, 0, 1])
    for place in editor.places:
        node = place.node
        if not isinstance(node, ast.Constant) or not isinstance(node.value, (int, float)):
            continue
        was = node.value
        kind = _kind(place.statement)
        if target_of(place.statement) == "self.grad" and isinstance(place.parent, ast.Assign):
            kind = "no seed"
        for other in [True, False] if isinstance(was, bool) else pool:
            if other != was:
                why = say("On line {line}, the number `{was}` is wrong.", line=node.lineno, was=was)
                new = ast.UnaryOp(ast.USub(), ast.Constant(-other)) if other < 0 else ast.Constant(other)
                yield Change(kind, why, say("Which number belongs there?"), (node.lineno,), editor.text((place, new)))


def _calls(editor: Editor, solution: ast.Module) -> Iterator[Change]:
    """A call that is missing, or one too many; `.data` that leaves the graph; something returned that should not be."""
    wraps: dict[str, Callable[[ast.expr], ast.expr]] = {}
    for node in ast.walk(solution):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
            name = node.func.attr
            wraps[f".{name}()"] = lambda e, name=name: ast.Call(ast.Attribute(e, name, ast.Load()), [], [])  # type: ignore[misc]
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1 and not node.keywords
        ):
            name = node.func.id
            wraps[f"{name}(…)"] = lambda e, name=name: ast.Call(ast.Name(name, ast.Load()), [e], [])  # type: ignore[misc]
    for place in editor.places:
        node = place.node
        line = line_of(place)
        kind = _kind(place.statement)
        if isinstance(node, ast.Call):
            called = node.func.value if isinstance(node.func, ast.Attribute) else None
            inner = node.args[0] if len(node.args) == 1 else called
            for new in filter(None, (inner, node.func if not node.args else None)):
                why = say(
                    "On line {line}, `{code}` calls what should not be called.", line=line, code=ast.unparse(node)
                )
                yield Change(kind, why, say("What does the call do there?"), (line,), editor.text((place, new)))
            if node.keywords:
                continue
        if isinstance(node, ast.Attribute) and node.attr == "data" and isinstance(node.ctx, ast.Load):
            why = say(
                "On line {line}, `{code}` takes the number out and leaves its history behind.",
                line=line,
                code=ast.unparse(node),
            )
            yield Change("cut off", why, say("Is there a `.data` too many?"), (line,), editor.text((place, node.value)))
        places = ("value", "iter", "args", "right", "left", "test", "elt", "body", "orelse")
        if _is_read(node) and place.field in places:
            for name, wrap in wraps.items():
                why = say(
                    "On line {line}, something is missing around `{code}`: `{call}`.",
                    line=line,
                    code=ast.unparse(node),
                    call=name,
                )
                ask = say("What should be done with it first?")
                yield Change("a part is missing", why, ask, (line,), editor.text((place, wrap(node))))


def _line_by_line(editor: Editor, solution: ast.Module) -> Iterator[Change]:
    """The one line that is not as in the solution: with a line of the solution in its place, all is right."""
    simple = (ast.Assign, ast.AugAssign, ast.Return, ast.Expr)
    lines = {ast.dump(n): n for n in ast.walk(solution) if isinstance(n, simple)}
    ours = {ast.dump(p.node) for p in editor.places if isinstance(p.node, simple)}
    strange = [p for p in editor.places if isinstance(p.node, simple) and ast.dump(p.node) not in lines]
    for place in strange if len(strange) == 1 else []:
        for dump, other in lines.items():
            if dump not in ours:
                target, line = target_of(other), place.node.lineno
                ask = (
                    say("What should `{target}` be?", target=target)
                    if target
                    else say("What should line {line} do?", line=line)
                )
                why = say("The mistake is on line {line}. The other lines are right.", line=line)
                yield Change(_kind(place.node), why, ask, (line,), editor.text((place, other)), vague=True)


def _missing(editor: Editor, solution: ast.Module) -> Iterator[Change]:
    """A line of the solution that is not there at all."""
    there = {ast.dump(p.node) for p in editor.places if isinstance(p.node, ast.stmt)}
    blocks = (ast.For, ast.While, ast.If)  # one that is not as in the solution is there all the same
    count = {kind: sum(isinstance(p.node, kind) for p in editor.places) for kind in blocks}
    kept = {kind for kind in blocks if count[kind] >= sum(isinstance(n, kind) for n in ast.walk(solution))}
    lacking = [n for n in ast.walk(solution) if isinstance(n, ast.stmt) and ast.dump(n) not in there
               and not isinstance(n, (ast.FunctionDef, ast.ClassDef))]  # fmt: skip
    returns = any(isinstance(p.node, ast.Return) and p.node.value is not None for p in editor.places)
    written = {target_of(p.statement) for p in editor.writes} - {""}
    for statement in lacking if len(lacking) <= _FEW else []:
        if type(statement) in kept or (isinstance(statement, ast.Return) and returns):  # nothing counts after it
            continue
        if target_of(statement) in written:  # it is set, if not rightly
            continue
        for holder, field, body in editor.blocks:
            for i in range(len(body) + 1):
                replaced = [s for s in body if not isinstance(s, ast.Pass)]
                i = min(i, len(replaced))
                new = [*replaced[:i], statement, *replaced[i:]]
                why, ask = _absent(statement)
                yield Change("a part is missing", why, ask, (), editor.body(holder, field, new))


def _absent(statement: ast.stmt) -> tuple[Message, Message]:
    target = target_of(statement)
    if isinstance(statement, ast.Return):
        return say("One line is missing: nothing is given back."), say("Is a `return` missing?")
    if target.endswith("._backward"):
        why = say("Nothing arrives: `out` still has the `_backward` that does nothing.")
        return why, say("Which line gives it yours?")
    if target.endswith(".grad"):
        why = say("One line is missing: nothing writes to `{target}`.", target=target)
        return why, say("What should `{target}` receive?", target=target)
    left_out = say("Which step did you leave out?")
    if target:
        return say("One line is missing: `{target}` is not set where it is needed.", target=target), left_out
    if isinstance(statement, ast.For):
        each = ast.unparse(statement.target)
        return say("A loop is missing."), say("What should be done for each `{name}`?", name=each)
    return say("One line is missing."), left_out
