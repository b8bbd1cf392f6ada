"""Small changes to a learner's text, each with what was wrong if it repairs the text: those that people need first."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from gradwalk.learn.page.exercises.editing import Editor, Place, line_of, lines_of, target_of
from gradwalk.learn.page.exercises.model import Kind

__all__ = ["Change", "changes", "places_to_look"]

_FEW = 3  # lines of the solution that are not there: with more, the text is another one
_LONGEST = 6  # operands of a formula that is bracketed anew: 42 ways
_SIGNS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.FloorDiv: "//", ast.Mod: "%",
    ast.BitXor: "^", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
_COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.In, ast.NotIn)


@dataclass(frozen=True)
class Change:
    """What was wrong, in words, and the guilty lines; `text` is the learner's text with the change.

    >>> Change("overwritten", "", "", (6,), "").lines
    (6,)
    """

    kind: Kind
    why: str
    ask: str
    lines: tuple[int, ...]
    text: str
    #: Whether it knows in which line the mistake is, and no more.
    vague: bool = False


def _kind(statement: ast.stmt | None) -> Kind:
    """What a slip in a statement is called: in a push it is a slope, in another result a value."""
    if target_of(statement).endswith(".grad"):
        return "wrong local derivative"
    return "wrong value" if isinstance(statement, (ast.Assign, ast.AugAssign, ast.Return)) else "slip"


def _is_read(place: Place) -> bool:
    """Whether it is an expression whose value is taken, as a whole."""
    loaded = isinstance(getattr(place.node, "ctx", ast.Load()), ast.Load)
    return isinstance(place.node, ast.expr) and loaded and not isinstance(place.parent, ast.Attribute)


def _spelt(node: ast.AST) -> str:
    return ast.unparse(node)


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
    for change in (_assignments, _upstream, _brackets, _signs, _operands, _numbers, _statements, _calls):
        yield from change(editor, solution)


def _assignments(editor: Editor, solution: ast.Module) -> Iterator[Change]:
    """`=`, `+=`, `-=`: one that should be another. All of a kind at once, then each alone."""
    plain = [p for p in editor.writes if isinstance(p.node, ast.Assign) and len(p.node.targets) == 1]
    grads = [p for p in plain if target_of(p.statement).endswith(".grad")]
    signs: tuple[tuple[ast.operator | None, str], ...] = ((ast.Add(), "+="), (ast.Sub(), "-="), (None, "="))
    for chosen in [grads, *([p] for p in plain)]:
        if not chosen:
            continue
        for op, sign in signs[:2]:
            changes: list[tuple[Place, ast.stmt]] = [(p, _augmented(p.node, op)) for p in chosen]
            two = f"Line {line_of(chosen[0])} sets `{target_of(chosen[0].statement)}`. It should change what is there."
            if sign == "+=" and chosen is grads:
                two = "The second contribution replaced the first."
            ask = f"Is there an `=` that should be `{sign}`?"
            yield Change("overwritten", two, ask, lines_of(*chosen), editor.text(*changes))
    added = [p for p in editor.writes if isinstance(p.node, ast.AugAssign)]
    for group in [added, *([p] for p in added)]:
        for op, sign in signs:
            chosen = [p for p in group if _SIGNS.get(type(p.node.op), "?") + "=" != sign]
            if not chosen:
                continue
            changes = [(p, _assigned(p.node, op)) for p in chosen]
            was = _SIGNS.get(type(chosen[0].node.op), "?")
            lines, target = lines_of(*chosen), target_of(chosen[0].statement)
            where = f"line {lines[0]}" if len(lines) == 1 else "lines " + " and ".join(map(str, lines))
            why = f"In {where}, `{was}=` is the wrong way to write to `{target}`."
            if (was, sign) in (("-", "+="), ("+", "-=")):
                why = f"In {where}, the size is right and the sign is wrong."
            kind: Kind = "wrong direction" if target.endswith(".data") else _kind(chosen[0].statement)
            if sign == "=" and target in _spelt(chosen[0].node.value):
                kind, why = "counted twice", f"In {where}, what was in `{target}` is counted twice: `+=` adds it again."
            yield Change(kind, why, f"Is there a `{was}=` that should be `{sign}`?", lines, editor.text(*changes))


def _assigned(node: ast.AugAssign, op: ast.operator | None) -> ast.stmt:
    return ast.AugAssign(node.target, op, node.value) if op else ast.Assign([node.target], node.value, lineno=0)


def _augmented(node: ast.Assign, op: ast.operator | None) -> ast.stmt:
    target: Any = node.targets[0]
    return ast.AugAssign(target, op, _positive(node.value, op)) if op else node


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
    lacking = [p for p in pushes if f"{editor.out}.grad" not in _spelt(p.node.value)]
    for chosen in [lacking, *([p] for p in lacking)]:
        if not chosen:
            continue
        changes = []
        for p in chosen:
            new = copy.copy(p.node)
            upstream = ast.Attribute(ast.Name(editor.out, ast.Load()), "grad", ast.Load())
            new.value = ast.BinOp(p.node.value, ast.Mult(), upstream)
            changes.append((p, new))
        why = "This is right only where `out` is the root. Further in, the upstream gradient is lost."
        ask = "Where does `out.grad` come in?"
        yield Change("forgets the upstream gradient", why, ask, lines_of(*chosen), editor.text(*changes))


def _statements(editor: Editor, solution: ast.Module) -> Iterator[Change]:
    """Lines in the wrong order, lines too many, lines that stand too deep or not deep enough."""
    bodies = [(p.parent, p.field) for p in editor.places if p.at == 0 and isinstance(p.node, ast.stmt)]
    for holder, field in bodies:
        body: list[ast.stmt] = getattr(holder, field)
        for i in range(len(body)):
            for j in range(len(body)):
                if i == j or abs(i - j) > 3 or isinstance(body[i], (ast.FunctionDef, ast.Return)):
                    continue
                moved = [s for k, s in enumerate(body) if k != i]
                moved.insert(j, body[i])
                first, second = sorted((body[i].lineno, body[j].lineno))
                why = f"Line {body[i].lineno} comes too {'late' if j < i else 'early'}."
                ask = f"What must have happened before line {second if j < i else first}?"
                ask = "Which of these lines must come first?" if abs(i - j) == 1 else ask
                yield Change("wrong order", why, ask, (body[i].lineno,), editor.body(holder, field, moved))
        for i, statement in enumerate(body):
            if isinstance(statement, (ast.For, ast.If, ast.While)) and len(statement.body) > 1:  # out of the block
                inner = statement.body[-1]
                outer = copy.copy(statement)
                outer.body = statement.body[:-1]
                out = [*body[:i], outer, inner, *body[i + 1 :]]
                yield Change("slip", f"Line {inner.lineno} is indented too far.", "How often should it run?",
                             (inner.lineno,), editor.body(holder, field, out))  # fmt: skip
            after = body[i + 1] if i + 1 < len(body) else None
            if isinstance(statement, (ast.For, ast.If, ast.While)) and after and not isinstance(after, ast.FunctionDef):
                deeper = copy.copy(statement)
                deeper.body = [*statement.body, after]
                into = [*body[:i], deeper, *body[i + 2 :]]
                yield Change("slip", f"Line {after.lineno} is not indented far enough.", "How often should it run?",
                             (after.lineno,), editor.body(holder, field, into))  # fmt: skip


def _extras(editor: Editor, solution: ast.Module) -> Iterator[Change]:
    """A line that should not be there."""
    bodies = [(p.parent, p.field) for p in editor.places if p.at == 0 and isinstance(p.node, ast.stmt)]
    for holder, field in bodies:
        body: list[ast.stmt] = getattr(holder, field)
        for i, statement in enumerate(body):
            if isinstance(statement, ast.FunctionDef) or len(body) == 1:
                continue
            same = [ast.dump(statement) == ast.dump(other) for other in body]
            if any(same[i + 1 :]):  # of two that are alike, the later one is too many
                continue
            twice = any(same[:i])
            why = f"Line {statement.lineno} says the same once more." if twice else (
                f"Line {statement.lineno} does harm: without it, every number is right.")  # fmt: skip
            left = [s for s in body if s is not statement]
            kind: Kind = "counted twice" if twice else "slip"
            yield Change(
                kind,
                why,
                f"What is line {statement.lineno} for?",
                (statement.lineno,),
                editor.body(holder, field, left),
            )


def _operands(editor: Editor, solution: ast.Module) -> Iterator[Change]:
    """A name or a field where another belongs: of those that the text itself and the solution use."""
    used = {_spelt(n) for tree in (editor.tree, solution) for n in ast.walk(tree)
            if isinstance(n, (ast.Name, ast.Attribute)) and not _spelt(n).startswith("math")}  # fmt: skip
    fields = sorted(name for name in used if name.endswith((".data", ".grad", "._prev", "._backward")))
    names = sorted(name for name in used if "." not in name)
    for place in editor.places:
        node = place.node
        if not isinstance(node, (ast.Name, ast.Attribute)) or (
            place.field in ("func", "value") and isinstance(place.parent, ast.Attribute)
        ):
            continue
        was = _spelt(node)
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
            why = (
                f"Line {line} writes to `{was}`." if written else f"In line {line}, `{was}` is the wrong thing to take."
            )
            ask = "Where should it write to?" if written else "What belongs in its place?"
            if written and was.endswith(".data") and other.endswith(".grad"):
                why += " Data belongs to the forward pass; the walk back writes `grad`."
            yield Change(kind, why, ask, (line,), editor.text((place, new)))


def _signs(editor: Editor, solution: ast.Module) -> Iterator[Change]:
    """An operator where another belongs, a minus too many or too few."""
    for place in editor.places:
        node = place.node
        line = line_of(place)
        kind = _kind(place.statement)
        if isinstance(node, (*_ARITHMETIC, ast.BitXor, ast.FloorDiv, ast.Mod)) and isinstance(place.parent, ast.BinOp):
            parent = place.parent
            line = parent.lineno
            was = _SIGNS[type(node)]
            for other in _ARITHMETIC:
                if type(node) is not other:
                    what = f"In line {line}, the `{was}` is the wrong operation."
                    ask = (
                        "In Python a power is written `**`." if was == "^" else "What should happen to the two numbers?"
                    )
                    yield Change(kind, what, ask, (line,), editor.text((place, other())))
            turned = ast.BinOp(parent.right, parent.op, parent.left)
            yield from _swapped(editor, parent, turned, kind)
            for kept in (parent.left, parent.right):
                dropped = parent.right if kept is parent.left else parent.left
                why = f"In line {line}, `{_spelt(dropped)}` does not belong there."
                yield Change(kind, why, "What is it for?", (line,), _at(editor, parent, kept))
        elif isinstance(node, _COMPARISONS) and isinstance(place.parent, ast.Compare):
            for comparison in _COMPARISONS:
                if type(node) is not comparison:
                    why = f"In line {place.parent.lineno}, the `{_SIGNS[type(node)]}` is the wrong comparison."
                    yield Change(
                        kind, why, "When should it be true?", (place.parent.lineno,), editor.text((place, comparison()))
                    )
        elif isinstance(node, ast.UnaryOp):
            why = f"In line {line}, there is a `{'not' if isinstance(node.op, ast.Not) else '-'}` too many."
            yield Change(kind, why, "Why is it there?", (line,), editor.text((place, node.operand)))
        elif _is_read(place) and place.field in ("left", "right", "value", "args", "operand"):
            negated = ast.UnaryOp(ast.USub(), node)
            why = f"In line {line}, a sign is wrong."
            yield Change(kind, why, "Does it rise or fall there?", (line,), editor.text((place, negated)))


def _swapped(editor: Editor, parent: ast.BinOp, turned: ast.BinOp, kind: Kind) -> Iterator[Change]:
    if not isinstance(parent.op, (ast.Add, ast.Mult)):
        why = f"In line {parent.lineno}, the two sides of `{_SIGNS[type(parent.op)]}` have changed places."
        yield Change(
            "turned round", why, "Which of the two comes first?", (parent.lineno,), _at(editor, parent, turned)
        )


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
                why = f"In line {node.lineno}, Python reads `{_spelt(node)}` in another order than it should."
                ask = "Where do the brackets belong?"
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
                why = f"In line {node.lineno}, the number `{was}` is wrong."
                new = ast.UnaryOp(ast.USub(), ast.Constant(-other)) if other < 0 else ast.Constant(other)
                yield Change(kind, why, "Which number belongs there?", (node.lineno,), editor.text((place, new)))


def _calls(editor: Editor, solution: ast.Module) -> Iterator[Change]:
    """A call that is missing, or one too many; `.data` that leaves the graph; something returned that should not be."""
    wraps: list[tuple[str, Callable[[ast.expr], ast.expr]]] = []
    for node in ast.walk(solution):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
            name = node.func.attr
            wraps.append((f".{name}()", lambda e, name=name: ast.Call(ast.Attribute(e, name, ast.Load()), [], [])))  # type: ignore[misc]
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1 and not node.keywords
        ):
            name = node.func.id
            wraps.append((f"{name}(…)", lambda e, name=name: ast.Call(ast.Name(name, ast.Load()), [e], [])))  # type: ignore[misc]
    for place in editor.places:
        node = place.node
        line = line_of(place)
        kind = _kind(place.statement)
        if isinstance(node, ast.Call):
            inner = (
                node.args[0]
                if len(node.args) == 1
                else node.func.value
                if isinstance(node.func, ast.Attribute)
                else None
            )
            for new in filter(None, (inner, node.func if not node.args else None)):
                why = f"In line {line}, `{_spelt(node)}` calls what should not be called."
                yield Change(kind, why, "What does the call do there?", (line,), editor.text((place, new)))
            if node.keywords:
                continue
        if isinstance(node, ast.Attribute) and node.attr == "data" and isinstance(node.ctx, ast.Load):
            why = f"In line {line}, `{_spelt(node)}` takes the number out and leaves its history behind."
            yield Change("cut off", why, "Is there a `.data` too many?", (line,), editor.text((place, node.value)))
        if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load) and place.field in (
            "value", "iter", "args", "right", "left", "test", "elt", "body", "orelse"
        ):  # fmt: skip
            for name, wrap in dict(wraps).items():
                why = f"In line {line}, something is missing around `{_spelt(node)}`: `{name}`."
                yield Change(
                    "a part is missing",
                    why,
                    "What should be done with it first?",
                    (line,),
                    editor.text((place, wrap(node))),
                )
        if isinstance(node, ast.Return) and node.value is None:
            continue


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
                ask = f"What should `{target}` be?" if target else f"What should line {line} do?"
                why = f"The mistake is in line {line}. The other lines are right."
                yield Change(_kind(place.node), why, ask, (line,), editor.text((place, other)), vague=True)


def _missing(editor: Editor, solution: ast.Module) -> Iterator[Change]:
    """A line of the solution that is not there at all."""
    there = {ast.dump(p.node) for p in editor.places if isinstance(p.node, ast.stmt)}
    lacking = [n for n in ast.walk(solution) if isinstance(n, ast.stmt) and ast.dump(n) not in there
               and not isinstance(n, (ast.FunctionDef, ast.ClassDef))]  # fmt: skip
    bodies = [(p.parent, p.field) for p in editor.places if p.at == 0 and isinstance(p.node, ast.stmt)]
    returns = any(isinstance(p.node, ast.Return) and p.node.value is not None for p in editor.places)
    for statement in lacking if len(lacking) <= _FEW else []:
        if isinstance(statement, ast.Return) and returns:  # what stands after it would not count
            continue
        for holder, field in bodies:
            body: list[ast.stmt] = getattr(holder, field)
            for i in range(len(body) + 1):
                replaced = [s for s in body if not isinstance(s, ast.Pass)]
                i = min(i, len(replaced))
                new = [*replaced[:i], statement, *replaced[i:]]
                why, ask = _absent(statement)
                yield Change("a part is missing", why, ask, (), editor.body(holder, field, new))


def _absent(statement: ast.stmt) -> tuple[str, str]:
    target = target_of(statement)
    if isinstance(statement, ast.Return):
        return "One line is missing: nothing is given back.", "Is a `return` missing?"
    if target.endswith("._backward"):
        return "Nothing arrives: `out` still has the `_backward` that does nothing.", "Which line gives it yours?"
    if target.endswith(".grad"):
        return f"One line is missing: nothing writes to `{target}`.", f"What should `{target}` receive?"
    if target:
        return f"One line is missing: `{target}` is not set where it is needed.", "Which step did you leave out?"
    if isinstance(statement, ast.For):
        return "A loop is missing.", f"What should be done for each `{ast.unparse(statement.target)}`?"
    return "One line is missing.", "Which step did you leave out?"
