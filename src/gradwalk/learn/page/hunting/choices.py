"""Which bug is it? Four choices for each case, and for each wrong one the reason why it is not that.

The reasons are not made up: the engine with the *other* bug is run on the same program, and what it gives is held
against what this engine gives. A choice that the numbers do not rule out is not offered.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache

from gradwalk.diagnose import museum, teaching
from gradwalk.diagnose.adapter import Engine
from gradwalk.diagnose.checks import CHECKS
from gradwalk.diagnose.probes import Probe, run
from gradwalk.diagnose.vocabulary import METHODS, UNARY
from gradwalk.learn.page.hunting.cases import SETS, Case, case_of
from gradwalk.learn.page.hunting.recorder import engine_of
from gradwalk.learn.page.hunting.shapes import Choice
from gradwalk.learn.page.hunting.trimming import ops_of
from gradwalk.matcher import Outcome, by_type, reproduces, same
from gradwalk.messages import Message, joined, say, sentence
from gradwalk.walk.formatting import readable

__all__ = ["FAMILIES", "choices_for", "family_of", "label_of", "looked_at", "sign_of"]

#: Bugs that are the same mistake in another place share a name.
FAMILIES: dict[str, str] = {
    **dict.fromkeys(
        ("tanh-of-its-input", "sigmoid-with-slope-one", "exp-as-a-power", "minus-without-its-sign", "log-slope-is-log",
         "power-without-its-factor"),
        "wrong-derivative",
    ),
    **dict.fromkeys(("preorder", "breadth-first"), "no-order"),
    "reversed-subtraction": "reversed-division",
    **dict.fromkeys(("tanh-through-exp", "sigmoid-through-exp"), "python-raises"),
}  # fmt: skip
#: What a family is called in the choices, where the exhibit's title says too much.
_LABELS = {
    "reversed-division": "A number on the left, and the operands the wrong way round",
    "python-raises": "Arithmetic that gives up at the edges of what a float can hold",
    "detached-op": "An op whose result does not know what it was made from",
    "counting-itself": "A gradient that counts itself twice",
    "without-upstream": "An op that forgets the upstream gradient",
}
#: By what a bug is known, in a sentence.
_SIGNS = {
    "overwriting": "A gradient that is overwritten keeps what was pushed last, and only where a Value is used twice.",
    "not-zeroed": "Gradients that are not zeroed grow from one walk to the next.",
    "no-order": "A node that is visited too early passes on only a part of what it should, or passes it on twice.",
    "wrong-derivative": "A wrong local derivative is wrong every time its op is used, even when nothing is used twice.",
    "not-seeded": "Without a seed at the root every gradient is 0.",
    "root-twice": "A root that pushes twice makes every gradient twice as large.",
    "without-upstream": "An op that forgets the upstream gradient is right at the end of a program, and only there.",
    "reversed-division": "Operands the wrong way round already give the wrong value.",
    "wrong-end": "A walk from the wrong end reaches the operands of the root, and no further.",
    "counting-itself": "A gradient that counts itself doubles with each further use.",
    "detached-op": "No gradient gets past an op that has left the graph: everything it was made from stays at 0.",
    "changes-its-input": "An op that changes its input changes a number that was there before.",
    "left-over-gradients": "What is left over in the middle of the graph shows in the second walk.",
    "listed-twice": "A node that is in the order twice pushes everything it holds twice.",
    "closure-on-operand": "A closure that is given to an operand is lost as soon as the operand is used again.",
    "wrong-value": "An op that computes something else already gives the wrong value.",
    "only-once": "A walk that throws its closures away brings nothing the second time.",
    "leaves-reset": "A walk that wipes the leaves forgets the walk before.",
    "data-read-late": "Reading data late matters only if the data was changed in between.",
    "keyed-by-operand": "A dict with one entry for each operand loses one where both operands are the same.",
    "python-raises": "Arithmetic that gives up stops with an error.",
}
COUNT = 4


def family_of(name: str) -> str:
    """The name under which a bug is to be called.

    >>> family_of("preorder"), family_of("overwriting")
    ('no-order', 'overwriting')
    """
    return FAMILIES.get(name, name)


def label_of(family: str) -> Message:
    """What a bug is called in the choices.

    >>> label_of("overwriting")
    '`=` where `+=` is needed'
    """
    return sentence(_LABELS.get(family) or museum.find(family).title)


def sign_of(family: str) -> Message:
    """By what a bug is known: in a sentence of its own, or the first of its explanation.

    >>> sign_of("not-zeroed")
    'Gradients that are not zeroed grow from one walk to the next.'
    """
    return sentence(_SIGNS.get(family) or museum.find(family).explanation.partition(". ")[0].rstrip(".") + ".")


def looked_at(program: str) -> tuple[str, ...]:
    """What is looked at after a program: the gradient of each leaf that has a name, and each result's value.

    >>> looked_at("a = Value(3.0); b = a + a; b.backward()")
    ('a.grad', 'b.data')
    """
    leaves, results = [], []
    for line in ast.parse(program).body:
        match line:
            case ast.Assign([ast.Name(name), *_], ast.Call(ast.Name("Value"))):
                leaves.append(f"{name}.grad")
            case ast.Assign([ast.Name(name), *_], ast.BinOp() | ast.UnaryOp() | ast.Call()):
                results.append(f"{name}.data")
    return (*dict.fromkeys(leaves), *dict.fromkeys(results))


def choices_for(case: Case, family: str) -> list[Choice]:
    """Four choices, the right one among them, in an order that is the same each time; each with what is said to it.

    >>> choices = choices_for(case_of("no-order"), "no-order")
    >>> [choice["right"] for choice in choices].count(True), len(choices)
    (1, 4)
    """
    this = _outcome(case.engine, case)
    found = [Choice(family=family, label=label_of(family), right=True, why=sign_of(family))]
    for other in _others(case, family):
        why = _why_not(case, other, this)
        if why:
            found.append(Choice(family=other, label=label_of(other), right=False, why=why))
        if len(found) == COUNT:
            break
    return sorted(found, key=lambda choice: _scattered(f"{case.name}/{case.program}/{choice['family']}"))


def _others(case: Case, family: str) -> list[str]:
    """The other families in an order that is the same each time; for the classics the other classics first."""
    names = [name for names in SETS.values() for name in names]
    families = [one for one in dict.fromkeys(map(family_of, names)) if one in _SIGNS and one != family]
    classics = set(SETS["classic"])
    return sorted(
        families,
        key=lambda one: (case.name in classics and one not in classics, _scattered(f"{case.name}{case.program}{one}")),
    )


def _scattered(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


# --- why it is not that --------------------------------------------------------------------------------------------


def _outcome(source: str, case: Case) -> Outcome:
    return _run(
        source, case.program, looked_at(case.program) if case.where != "checker" else tuple(case.specimen.right)
    )


@cache
def _run(source: str, program: str, see: tuple[str, ...]) -> Outcome:
    cls, namespace = engine_of(source)
    return run(Probe("", program, see), Engine(cls, namespace))


def _why_not(case: Case, other: str, this: Outcome) -> Message | None:
    """The sign of the other bug, and the numbers that speak against it; None where they do not."""
    sign = sign_of(other)
    if other == "wrong-derivative":
        right = say("Here each op by itself, on two fresh Values, is right.")
        return joined(sign, right) if _ops_are_right(case) else None
    if other == "not-zeroed":
        walks = case.program.count(".backward()")
        once = walks < 2 and "for step" not in case.program
        return joined(sign, say("Here there is one walk at most, and nothing before it.")) if once else None
    if other == "python-raises":
        return joined(sign, say("This engine finishes.")) if this.kind == "numbers" else None
    if this.kind != "numbers":
        return joined(sign, say("It would finish, with a wrong number at worst. This one does not finish."))
    family = [other, *(name for name, home in FAMILIES.items() if home == other)]
    members = [name for name in family if case_of(name).where == "engine"]
    outcomes = [_outcome(museum.find(name).source(), case) for name in members]
    if not members or reproduces(lambda _: outcomes, [case.program], lambda _: this):
        return None
    return joined(sign, _difference(case, outcomes[0], this))


def _difference(case: Case, other: Outcome, this: Outcome) -> Message:
    """What the other bug would give here, beside what there is."""
    if other.kind != "numbers":
        return say("On this program it would not even finish.")
    right = _outcome(teaching.SOURCE, case)
    names = [name for name, x in this.numbers.items() if not same(x, other.numbers[name])]
    name = next((name for name in names if not same(this.numbers[name], right.numbers[name])), names[0])
    would, there_is = readable(other.numbers[name]), readable(this.numbers[name])
    if by_type(other, right):
        return say(
            "On this program it would not show at all: `{name}` would be {would}, and it is {got}.",
            name=name,
            would=would,
            got=there_is,
        )
    return say("It would make `{name}` {would} here, and it is {got}.", name=name, would=would, got=there_is)


def _ops_are_right(case: Case) -> bool:
    """Against a wrong derivative speaks that each op by itself is right."""
    methods = {method: op for op, method in METHODS.items()} | {name: name for name in UNARY}
    used = [methods[name] for name in sorted(ops_of(case.program)) if name in methods]
    cls, namespace = engine_of(case.engine)
    engine = Engine(cls, namespace)
    for op in used:
        if any(not by_type(run(program, engine), program.expected()) for program in CHECKS[op].programs):
            return False
    return bool(used)
