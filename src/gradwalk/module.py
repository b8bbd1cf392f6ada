"""Module: holds Values and other modules in its attributes, finds them again, and keeps them in files."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from itertools import islice
from operator import methodcaller
from types import BuiltinFunctionType, CellType, FunctionType, GetSetDescriptorType, MemberDescriptorType, MethodType
from typing import TYPE_CHECKING, Any
from weakref import ref

from gradwalk import store
from gradwalk.engine import Value
from gradwalk.errors import ModelFileError, SettingError
from gradwalk.functions import real
from gradwalk.instead import MODULE_INSTEAD, LeftOut
from gradwalk.keepers import Keeper, Leaves, clear, keeper_of
from gradwalk.node import Node
from gradwalk.ops import number

__all__ = ["Module"]

Path = tuple[Any, ...]  # where something was found: nowhere yet, or where it lies and under which name there


class Module:
    """Something with parameters: the Values found in its attributes, in modules, lists, tuples and dicts in them too.

    Write your own by giving it attributes. A Value that was computed from others (a result kept for later) is not a
    parameter, and a Value that is met twice counts once. To choose the parameters yourself, override `parameters()`;
    they are then named by their position. Define `__call__`, or `forward` as in PyTorch: either name will do.

    >>> class Line(nn.Module):
    ...     def __init__(self):
    ...         self.slope, self.start = Value(2.0), Value(1.0)
    ...     def __call__(self, x):
    ...         return self.slope * x + self.start
    >>> line = Line()
    >>> line.state_dict()
    {'slope': 2.0, 'start': 1.0}
    >>> nn.mse(line(3.0), 5.0).backward()
    >>> [p.grad for p in line.parameters()]
    [12.0, 4.0]
    """

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        forward = next((vars(base)["forward"] for base in cls.__mro__ if "forward" in vars(base)), None)
        if forward is not None and "__call__" not in vars(cls) and not _calls_by_itself(cls):  # as PyTorch names it
            cls.__call__ = forward  # type: ignore[method-assign]

    if not TYPE_CHECKING:  # a type checker would take it to mean that any attribute may be set

        def __setattr__(self, name: str, x: Any) -> None:
            if name == "forward" and hasattr(type(self), name) and type(self).forward is type(self).__call__:
                raise SettingError(
                    f"calling a {kind_of(self)} would go on to use the forward of its class; write a class below it "
                    "with a forward of its own"
                )
            attributes.changes += 1
            super().__setattr__(name, x)

        def __delattr__(self, name: str) -> None:
            attributes.changes += 1
            super().__delattr__(name)

    def parameters(self) -> list[Value]:
        """The Values that training changes, in the order of the attributes.

        >>> len(nn.MLP(2, [4, 1]).parameters())
        17
        """
        return [v for _, v in _found_in(self)]

    def named_parameters(self) -> list[tuple[str, Value]]:
        """The parameters, each with the path to it.

        >>> [name for name, _ in nn.Layer(2, 1).named_parameters()]
        ['neurons.0.w.0', 'neurons.0.w.1', 'neurons.0.b']
        """
        return list(_named_in(self))

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradient of every parameter back to 0. PyTorch's `set_to_none` makes no difference here.

        >>> neuron = nn.Neuron(1)
        >>> neuron([2.0]).backward()
        >>> neuron.zero_grad()
        >>> [p.grad for p in neuron.parameters()]
        [0.0, 0.0]
        """
        known = _known.get(id(self))
        if known is None or known.module() is not self:
            clear(_found_anew(self))
            return
        try:
            if known.changes == attributes.changes and known.clear():
                return
        except Exception:  # things that cannot be compared, such as arrays: look again
            pass
        if not known.holds():
            clear(_found_anew(self))
        elif not known.cleared():
            clear(known.found)

    training = True

    def train(self, mode: bool = True) -> Module:
        """Behave as in training, with all modules inside; gives the module itself.

        >>> nn.Dropout(0.5).train().training
        True
        """
        for module in _modules_in(self):
            module.training = bool(mode)
        return self

    def eval(self) -> Module:
        """Behave as after training: no dropout, and running means instead of those of a batch.

        >>> nn.Dropout(0.5).eval().training
        False
        """
        return self.train(False)

    def state_dict(self) -> dict[str, Any]:
        """The parameters' numbers by name; tensors as tensors, with those that are kept but not trained.

        >>> nn.Neuron(2, init="zeros").state_dict()
        {'w.0': 0.0, 'w.1': 0.0, 'b': 0.0}
        """
        named = list(_named_in(self, constants=True))
        state: dict[str, Any] = {name: p.detach() if p.many else number(p.data) for name, p in named}
        if len(state) < len(named):
            twice = store.first_repeated(name for name, _ in named)
            raise SettingError(
                f"two parameters of {kind_of(self)} are called {twice!r}; give their keys different texts"
            )
        return state

    def load_state_dict(self, state: Mapping[str, float]) -> None:
        """Take over numbers by name; they must be all there and no others, or nothing is changed.

        >>> neuron = nn.Neuron(1)
        >>> neuron.load_state_dict({"w.0": 0.5, "b": -1.0})
        >>> neuron([4.0]).data
        1.0
        >>> neuron.load_state_dict({"w.0": 0.5})
        Traceback (most recent call last):
        ...
        gradwalk.errors.SettingError: Neuron has 2 parameters and the state holds 1; missing: b
        """
        if not isinstance(state, Mapping):
            raise SettingError(f"a state is a dict of numbers by name, not {type(state).__name__}: {state!r:.60}")
        own = self.state_dict()
        missing = [name for name in own if name not in state]
        unexpected = [str(name) for name in state if name not in own]
        if missing or unexpected:
            raise SettingError(
                f"{kind_of(self)} has {len(own)} parameters and the state holds {len(state)}"
                + _some("missing", missing)
                + _some("unexpected", unexpected)
            )
        parts = list(_named_in(self, constants=True))
        numbers = {name: state[name] if p.many else real(state[name], "parameter", name) for name, p in parts}
        for name, p in parts:
            if p.many and getattr(numbers[name], "shape", None) != p.shape:  # type: ignore[attr-defined]
                found = getattr(numbers[name], "shape", type(numbers[name]).__name__)
                raise SettingError(f"{name} has shape {p.shape}, and the state holds {found} for it")  # type: ignore[attr-defined]
        for name, p in parts:
            p.data = numbers[name]

    def save(self, path: store.AnyPath) -> None:
        """Write the parameters to a file, as readable JSON; the file is replaced whole or not at all.

        Tensors go into a file of NumPy's kind (.npz) instead.

        >>> import tempfile
        >>> trained, other = nn.MLP(2, [4, 1]), nn.MLP(2, [4, 1])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     trained.save(f"{folder}/model.json")
        ...     other.load(f"{folder}/model.json")
        >>> trained([1.0, 2.0]).data == other([1.0, 2.0]).data
        True
        """
        state = self.state_dict()
        if any(hasattr(x, "many") for x in state.values()):
            from gradwalk.tensor.files import save

            save(state, path)
        else:
            store.write(state, path)

    def load(self, path: store.AnyPath) -> None:
        """Take over the parameters in a file that `save` wrote; a file that does not fit changes nothing.

        >>> nn.MLP(2, [1]).load("no-such-file.json")
        Traceback (most recent call last):
        ...
        gradwalk.errors.ModelFileError: could not read the model file no-such-file.json: No such file or directory
        """
        state: Any
        many = {name for name, x in self.state_dict().items() if hasattr(x, "many")}
        if many:
            from gradwalk.tensor.files import load

            found = load(path)
            state = found if isinstance(found, dict) else {"tensor": found}
            state = {name: x if x.shape or name in many else x.item() for name, x in state.items()}
        else:
            state = store.read(path)
        try:
            self.load_state_dict(state)
        except SettingError as error:
            raise ModelFileError(f"{path} holds another model: {error}") from error


for _name, _instead in MODULE_INSTEAD.items():
    setattr(Module, _name, LeftOut(_name, _instead))


class Attributes:
    """Counts how often an attribute of any module was set or deleted."""

    changes = 0


class _Known:
    """A module whose parameters have a keeper: the parameters, and what they were found in, now and then."""

    __slots__ = (
        "as_they_were", "attributes", "attributes_then", "changes", "clear", "containers", "found", "keeper", "module"
    )  # fmt: skip

    def __init__(self, module: Module, keeper: Keeper) -> None:
        self.module = ref(module)
        self.keeper = keeper
        self.containers: list[Any] = []  # lists, tuples and dicts
        self.attributes: list[dict[str, Any]] = []
        self.found = Leaves(v for _, v in _found_in(module, self.containers, self.attributes))  # which nobody changes
        self.as_they_were = keeper.watch(self.containers)
        self.attributes_then = [copy(holder) for holder in self.attributes]
        self.changes = attributes.changes
        self.clear = keeper.clearing(self.found, self.containers)

    def cleared(self) -> bool:
        """Let the keeper clear gradients, where it has more leaves now than it had; says whether it did."""
        if not self.keeper.zero_grad(self.found):
            return False
        self.clear = self.keeper.clearing(self.found, self.containers)
        return True

    def holds(self) -> bool:
        """Whether everything is as it was. Attributes need a look only if those of some module were set."""
        try:
            if not self.as_they_were():
                return False
            if self.changes != attributes.changes:
                if self.attributes != self.attributes_then:
                    return False
                self.changes = attributes.changes
        except Exception:  # things that cannot be compared, such as arrays: look again
            return False
        return True


attributes = Attributes()
_known: dict[int, _Known] = {}  # by id() of the module


def _found_anew(module: Module) -> list[Value]:
    """The module's parameters.

    Looking for them can take longer than a keeper's step. So where they have a keeper, it is enough next time that
    every list and every set of attributes they were found in is what it was.
    """
    parameters = module.parameters()
    keeper = keeper_of(parameters)
    if keeper is not None and not _chooses(module):
        if len(_known) >= 16:
            _known.clear()
        _known[id(module)] = now = _Known(module, keeper)
        parameters = now.found
    return parameters


def _named_in(module: Module, *, constants: bool = False) -> Iterator[tuple[str, Value]]:
    """The parameters of a module, each with its path as text."""
    if _chooses(module):
        return _listed_by(module)
    return ((_joined(path), v) for path, v in _found_in(module, constants=constants))


def _found_in(
    root: Any,
    containers: list[Any] | None = None,
    attributes: list[dict[str, Any]] | None = None,
    *,
    constants: bool = False,
) -> Iterator[tuple[Path, Value]]:
    """Every leaf in a module's attributes, or in a list or the like, however deep, with its path; each once.

    Tensors that no gradient flows to are no parameters, and come with `constants` only.

    What was looked into on the way is added to `containers`, or to `attributes` if it was those of a module.
    """
    seen: dict[int, Any] = {}  # holds what it has seen, so that no id is used again
    elsewhere: list[tuple[Path, Any, Any]] = []  # parameters where they are not looked for: each must be found as well
    within: list[tuple[Path, Iterator[tuple[Any, Any]]]] = [((), iter([("", root)]))]  # the innermost last
    while within:
        where, parts = within[-1]
        for key, thing in parts:
            if type(thing) in PLAIN or id(thing) in seen:
                continue
            inside: Iterable[tuple[Any, Any]]
            if isinstance(thing, Node):
                seen[id(thing)] = thing
                if thing.is_leaf and (constants or not thing.many or thing.requires_grad):  # type: ignore[attr-defined]
                    yield (where, key), thing  # type: ignore[misc]
                continue
            holders, held = containers, thing
            if isinstance(thing, (list, tuple)):
                inside = enumerate([*thing])
            elif isinstance(thing, Module) and (thing is root or not _chooses(thing)):
                held = vars(thing)
                inside, holders = [*held.items()], attributes
                _refuse_if_class_hides(thing)
            elif isinstance(thing, Module):
                inside = _listed_by(thing)
                held = object()  # which is not equal to its copy
            elif isinstance(thing, dict):
                inside = [*thing.items()]
            else:
                elsewhere += [((where, key), thing, part) for part in _parts(thing) if _is_trained(part)]
                continue
            if holders is not None:
                holders.append(held)
            seen[id(thing)] = thing
            within.append(((where, key), iter(inside)))
            break
        else:
            within.pop()
    for path, thing, part in elsewhere:
        if id(part) not in seen:  # it would never be trained, and nobody would say so
            raise SettingError(
                f"{_joined(path)} is a {type(thing).__name__} with parameters in it, and a module finds them in lists, "
                "tuples and dicts, and in modules; make it one of these"
            )


def _joined(path: Path) -> str:
    """A path as text, from the root on, which has no name of its own."""
    keys = []
    while path:
        path, key = path
        keys.append(str(key))
    return ".".join(keys[-2::-1])


def _calls_by_itself(kind: type[Module]) -> bool:
    """Whether a class has from a base of the user's a `__call__` that is more than another name for `forward`."""
    for base in kind.__mro__[1:]:
        if "__call__" in vars(base):
            ours = getattr(base, "__module__", "").partition(".")[0] == __name__.partition(".")[0]
            return not ours and vars(base)["__call__"] is not vars(base).get("forward")
    return False


#: Attributes that hold no parameters, as most do.
PLAIN = {int, float, bool, str, type(None), FunctionType, MethodType, BuiltinFunctionType, methodcaller}
#: What most attributes of a class are.
HARMLESS = {*PLAIN, tuple, dict, property, classmethod, staticmethod, GetSetDescriptorType, CellType}
LOOKED_AT = 100  # so many things in a deque or the like: a memory of many numbers must not slow training down


def _parts(thing: Any) -> Iterable[Any]:
    """What is in a thing that parameters are not looked for in."""
    if isinstance(thing, (deque, set, frozenset)):
        return islice(thing, LOOKED_AT)
    if hasattr(type(thing), "__dataclass_fields__"):
        return [_held(thing, name) for name in type(thing).__dataclass_fields__]
    if getattr(getattr(thing, "dtype", None), "kind", "") == "O" and hasattr(thing, "flat"):  # an array of objects
        return islice(thing.flat, LOOKED_AT)
    return ()


def _refuse_if_class_hides(module: Module) -> None:
    """Refuse parameters in attributes of a class, which all its modules share, and in slots."""
    for base in type(module).__mro__:
        if base is Module or base is object or HARMLESS.issuperset(map(type, vars(base).values())):
            continue
        for name, x in vars(base).items():
            if not isinstance(x, (Node, Module, MemberDescriptorType)):
                continue
            shared = _is_trained(x) and name not in vars(module)
            if shared or (isinstance(x, MemberDescriptorType) and _is_trained(_held(module, name))):
                what = "a parameter of the class, which all its modules would share" if shared else "a slot"
                raise SettingError(
                    f"{base.__name__}.{name} is {what}, and a module finds parameters in its own attributes; "
                    + ("set it in __init__" if shared else "leave __slots__ out")
                )


def _is_trained(x: Any) -> bool:
    """Whether something is a parameter, or has some: a tensor that was made a constant is none."""
    return isinstance(x, Module) or (isinstance(x, Node) and not x.inputs and (not x.many or x.requires_grad))  # type: ignore[attr-defined]


def _held(thing: Any, name: str) -> Any:
    """What is in an attribute; None if it is not set."""
    try:
        return getattr(thing, name, None)
    except Exception:  # a property of the user's, which is no place for parameters
        return None


def _modules_in(root: Module) -> Iterator[Module]:
    """A module, and those in its attributes, lists and dicts, however deep; each once."""
    seen: dict[int, Any] = {}
    ahead: list[Any] = [root]
    while ahead:
        thing = ahead.pop()
        if id(thing) in seen:
            continue
        seen[id(thing)] = thing
        if isinstance(thing, Module):
            yield thing
            ahead += vars(thing).values()
        elif isinstance(thing, (list, tuple)):
            ahead += thing
        elif isinstance(thing, dict):
            ahead += thing.values()


def _chooses(module: Module) -> bool:
    """Whether the module has a `parameters()` of its own."""
    return type(module).parameters is not Module.parameters


def _listed_by(module: Module) -> Iterator[tuple[str, Value]]:
    """What the module's own `parameters()` gives, named by position; each Value once."""
    chosen: Any = module.parameters()
    values = list(chosen) if isinstance(chosen, Iterable) else [chosen]
    seen = set()
    for i, p in enumerate(values):
        if not isinstance(p, Node):
            raise SettingError(f"parameters() of {kind_of(module)} must give a list of Values; it gave {p!r:.60}")
        if id(p) not in seen:
            seen.add(id(p))
            yield str(i), p  # type: ignore[misc]


def kind_of(module: Module) -> str:
    return type(module).__name__


def _some(what: str, names: list[str]) -> str:
    if not names:
        return ""
    shown = ", ".join(names[:3])
    return f"; {what}: {shown}" + (f" and {len(names) - 3} more" if len(names) > 3 else "")
