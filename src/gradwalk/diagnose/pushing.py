"""What one node pushes, away from the engine's own walk.

In most engines a node carries a function that adds to the gradients of its operands. Called by hand, it shows what the
op is worth, whatever the walk does with it. And since a node is always made after its operands, calling the nodes in
the order in which they were made, newest first, is a right walk over anybody's graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gradwalk.diagnose.budget import trying
from gradwalk.diagnose.discovery import attributes, held, needed_arguments
from gradwalk.diagnose.vocabulary import BACK

if TYPE_CHECKING:
    from gradwalk.diagnose.adapter import Engine

__all__ = ["Push", "find_push", "recorded", "walk_by_hand"]


@dataclass(frozen=True)
class Push:
    """How a node pushes: the attribute that holds its function, and what the function is given.

    `takes`: nothing, the node's gradient, or the node; `locals` if there is no function, and the attribute holds the
    local derivatives, beside the operands. `on_node`: each node has a function of its own.

    >>> Push("_backward").takes
    'nothing'
    """

    name: str
    takes: str = "nothing"
    on_node: bool = True

    def __call__(self, engine: Engine, node: Any) -> None:
        """Let a node push.

        >>> engine = Engine(teaching.load())
        >>> a = engine.leaf(3.0)
        >>> b = a * 2
        >>> engine.set_grad(b, 1.0)
        >>> engine.push(engine, b)
        >>> engine.grad(a)
        2.0
        """
        kept = held(node, self.name)
        if self.takes == "locals":
            for operand, slope in _slopes(engine, node, kept):
                engine.set_grad(operand, engine.grad(operand) + slope * engine.grad(node))
        elif callable(kept):  # a leaf may have none
            kept(*{"gradient": [engine.grad(node)], "node": [node]}.get(self.takes, []))


@contextmanager
def recorded(cls: type[Any]) -> Iterator[list[Any]]:
    """While this lasts, every node of the class is written down as it is made.

    >>> cls = teaching.load()
    >>> with recorded(cls) as nodes:
    ...     y = cls(2.0) * cls(3.0)
    >>> len(nodes), nodes[-1] is y
    (3, True)
    """
    nodes: list[Any] = []
    known: set[int] = set()
    original = cls.__init__
    own = "__init__" in vars(cls)

    def __init__(self: Any, *arguments: Any, **options: Any) -> None:  # noqa: N807 - it stands in for one
        if id(self) not in known:  # `Value(v)` may give v itself, and then it is made twice
            known.add(id(self))
            nodes.append(self)
        original(self, *arguments, **options)

    cls.__init__ = __init__
    try:
        yield nodes
    finally:
        if own:
            cls.__init__ = original
        else:
            del cls.__init__


def walk_by_hand(engine: Engine, root: Any) -> None:
    """Set the root's gradient to 1 and let every node push, newest first.

    >>> engine = Engine(teaching.load()).by_hand()
    >>> with engine.running():
    ...     a = engine.leaf(3.0)
    ...     walk_by_hand(engine, a * a)
    >>> engine.grad(a)
    6.0
    """
    assert engine.push is not None
    nodes = engine.nodes if engine.nodes is not None else [root]
    fill(engine, nodes)
    engine.set_grad(root, 1.0)
    for node in reversed(nodes):
        engine.push(engine, node)


def fill(engine: Engine, nodes: Iterable[Any]) -> None:
    """Give each node without a gradient the gradient 0: many pushes add to what is there."""
    for node in nodes:
        if held(node, engine.grad_name) is None:
            engine.set_grad(node, 0.0)


def find_push(engine: Engine) -> Push | None:
    """How a node of this engine pushes, found by trying; None if it does not push by itself.

    >>> find_push(Engine(teaching.load(teaching.STYLES["local derivatives in tuples"])))
    Push(name='_locals', takes='locals', on_node=True)
    """
    node = _made(engine)
    if node is None:
        return None
    kept = attributes(node)
    own = [name for name in kept if callable(getattr(node, name)) and not isinstance(getattr(node, name), engine.kind)]
    methods = [name for name in dir(type(node)) if not name.startswith("__") and name != engine.backward_name]
    named = [name for name in dict.fromkeys([*own, *methods]) if any(part in name.lower() for part in BACK)]
    named += [name for name in own if name not in named]  # a slip of the pen: what is kept and pushes is the push
    ways = [Push(name, takes, name in own) for name in named for takes in ("nothing", "gradient", "node")]
    ways += [
        Push(name, "locals") for name in kept if name not in own and name not in (engine.data_name, engine.grad_name)
    ]
    return next((push for push in ways if _works(engine, push)), None)


def _made(engine: Engine) -> Any:
    """The result of the first op that the engine has; None if it has none that gives a node."""
    for op in ("mul", "add", "sub", "exp", "tanh", "relu"):
        with trying(engine.files):
            node = engine.op(op, *map(engine.leaf, (0.75, 2.0) if op in ("mul", "add", "sub") else (0.75,)))
            if isinstance(node, engine.kind):
                return node
    return None


def _works(engine: Engine, push: Push) -> bool:
    """Whether a push does something; where it is a guess what it is given, whether it does the right thing."""
    found = [_pushed(engine, push, op) for op in ("mul", "add", "sub", "exp", "tanh", "relu")]
    if push.takes == "nothing":
        return any(found)
    return found[:2] == [[2.0, 0.75], [1.0, 1.0]] or (push.takes == "locals" and found[0] == [2.0, 0.75])


def _pushed(engine: Engine, push: Push, op: str) -> list[float]:
    """What the operands of an op get from a push; nothing if that is 0, or an error."""
    grads: list[float] = []
    with trying(engine.files):
        operands = [engine.leaf(x) for x in ((0.75, 2.0) if op in ("mul", "add", "sub") else (0.75,))]
        with recorded(engine.kind) as made:
            node = engine.op(op, *operands)
            kept = held(node, push.name)
            if push.takes != "locals" and len(needed_arguments(kept)) != (push.takes != "nothing"):
                return []
            if any(map(engine.grad, operands)):
                return []  # it is there before anybody has pushed
            fill(engine, [*made, *operands])
            engine.set_grad(node, 1.0)
            for each in [*reversed(made), *operands]:  # an operand that pushes is a fault, and seen as such elsewhere
                push(engine, each)
            grads = [engine.grad(operand) for operand in operands]
    return grads if any(grads) else []


def _slopes(engine: Engine, node: Any, kept: Any) -> list[tuple[Any, float]]:
    """Operands and local derivatives: pairs in one container, or two containers side by side."""
    if not isinstance(kept, (list, tuple)) or not kept:
        return []
    if all(isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], engine.kind) for pair in kept):
        return [(operand, engine._number(slope)) for operand, slope in kept]
    if any(isinstance(x, engine.kind) for x in kept):
        return []
    for name in attributes(node):
        operands = getattr(node, name)
        same = isinstance(operands, (list, tuple)) and len(operands) == len(kept)
        if same and all(isinstance(operand, engine.kind) for operand in operands):
            return [(operand, engine._number(slope)) for operand, slope in zip(operands, kept, strict=True)]
    return []
