"""The package as a whole: what it imports, what it exports, how its layers point, and that its pages are true."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import gradwalk
from gradwalk import keepers, modes
from gradwalk.tensor import arrays, entries

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "gradwalk"
MODULES = sorted(
    name for _, name, _ in pkgutil.walk_packages(gradwalk.__path__, "gradwalk.") if not name.endswith("__main__")
)

#: A module may import modules that stand to its left only (and the standard library).
LAYERS = (
    "turns collecting", "errors callables chance messages instead", "matcher drafts",
    "files bundles", "ieee", "ops tree", "formulas", "walk methods flat",
    "layout", "explain", "provenance symbols", "modes", "keepers", "reverse", "node", "eager", "engine",
    "functions store", "tensor", "derivatives replay", "program", "presets", "losses",
    "module", "layers", "nn", "optim check parallel", "datasets", "train plot drawing", "diagnose doctor compile",
    "stepper", "learn", "notebook", "cli",
)  # fmt: skip
PURE = ("turns", "collecting", "callables", "chance", "messages", "instead",
        "matcher", "drafts", "ieee", "ops", "tree", "walk", "provenance", "functions", "modes", "keepers", "formulas",
        "replay", "symbols", "methods", "flat",
        "reverse", "node", "eager", "engine", "derivatives", "nn", "losses", "store", "module",
        "optim", "check", "datasets", "train", "errors", "program", "explain", "presets",
        "diagnose", "doctor", "files", "bundles", "layout")  # fmt: skip


#: What a reader of the core never needs to know.
CORE = ("engine", "eager", "node", "modes", "reverse", "ops", "ieee", "methods", "functions", "losses", "module",
        "provenance", "derivatives", "optim")  # fmt: skip


def level(module: str) -> int:
    top = module.removeprefix("gradwalk.").split(".")[0]
    found = [i for i, names in enumerate(LAYERS) if top in names.split()]
    assert found, f"{module} stands in no layer: add it to LAYERS"
    return found[0]


def imports(path: Path, *, later: bool) -> list[str]:
    """The modules that a file imports as it is loaded, gradwalk's own spelt in full; `later`, inside functions too."""
    found = []
    waiting: list[ast.AST] = [*ast.parse(path.read_text(encoding="utf-8")).body]
    while waiting:
        match waiting.pop():
            case ast.Import(names=names):
                found += [alias.name for alias in names]
            case ast.ImportFrom(module="gradwalk", names=names):
                found += [home_of(alias.name) for alias in names]
            case ast.ImportFrom(module=module):
                assert module, f"{path} has a relative import: the layers cannot be seen in it"
                found.append(module)
            case ast.Call(func=function, args=[ast.Constant(name)]) if ast.unparse(function).endswith("import_module"):
                found.append(str(name))
            case ast.If(test=ast.Name("TYPE_CHECKING"), orelse=otherwise):
                waiting += otherwise
            case node if later:
                waiting += ast.iter_child_nodes(node)
    return found


def home_of(name: str) -> str:
    """The module that a name of the package stands for or comes from: `gradwalk.nn`, and `gradwalk.engine` of Value."""
    if f"gradwalk.{name}" in MODULES:
        return f"gradwalk.{name}"
    return str(getattr(getattr(gradwalk, name), "__module__", "gradwalk.engine"))


def submodules() -> list[Path]:
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path.parent != PACKAGE or not path.stem.startswith("__")]


def test_imports_point_downwards_only() -> None:
    upwards = set()
    for path in submodules():
        own = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        for name in imports(path, later=True):
            elsewhere = name.startswith("gradwalk.") and name.split(".")[1] not in (own.split(".")[0], "errors")
            if elsewhere and level(name) >= level(own):
                upwards.add(f"{own} → {name}")
    assert upwards == set()


def test_the_core_imports_the_standard_library_only() -> None:
    allowed = {*sys.stdlib_module_names, "gradwalk"}
    foreign = [
        f"{path.relative_to(PACKAGE)} imports {name}"
        for path in submodules()
        if path.relative_to(PACKAGE).parts[0].removesuffix(".py") in PURE
        for name in imports(path, later=False)
        if name.split(".")[0] not in allowed
    ]
    assert not foreign, "\n".join(foreign)


def test_the_core_has_no_word_of_the_compiler_in_it() -> None:
    words = re.compile(r"compil|trace(?!back)|native", re.IGNORECASE)
    found = [
        f"{path.relative_to(PACKAGE)}:{number}: {line.strip()}"
        for path in submodules()
        if path.relative_to(PACKAGE).parts[0].removesuffix(".py") in CORE
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if words.search(line)
    ]
    assert not found, "\n".join(found)


BLOCKED = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        if top not in sys.stdlib_module_names and top != "gradwalk":
            raise ImportError(f"{name} is blocked")
sys.meta_path.insert(0, Blocker())
import gradwalk
from gradwalk import nn, optim, check, datasets, train, formulas
model = nn.MLP(2, [4, 1], activation="tanh")
X, y = datasets.moons(10)
optimiser = optim.Adam(model.parameters())
loss = nn.hinge([model(x) for x in X], y)
loss.backward()
optimiser.step()
assert check.gradcheck(lambda a: (a * a).tanh(), [0.5])
print("alone")
"""


def test_the_core_works_with_every_other_import_blocked() -> None:
    run = subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, text=True, timeout=60)
    assert run.stdout == "alone\n", run.stderr


def test_importing_gradwalk_loads_nothing_heavy() -> None:
    script = "import sys; before = set(sys.modules); import gradwalk; print(*sorted(set(sys.modules) - before))"
    run = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, timeout=60, check=True)
    loaded = {name.split(".")[0] for name in run.stdout.split()}
    assert loaded <= {*sys.stdlib_module_names, "gradwalk"}
    for heavy in ("numpy", "rich", "matplotlib", "torch", "asyncio", "unittest", "argparse", "json"):
        assert heavy not in loaded


def test_modules_and_checks_are_there_on_demand() -> None:
    script = """
import gradwalk
for name in ("nn", "optim", "check", "datasets", "train", "plot", "presets", "formulas", "symbols"):
    assert getattr(gradwalk, name).__name__ == f"gradwalk.{name}"
    assert name in dir(gradwalk)
assert gradwalk.gradcheck is gradwalk.check.gradcheck
assert gradwalk.draw is gradwalk.draw_dot and gradwalk.spy.__module__ == "gradwalk.drawing.spy_plot"
assert gradwalk.check_graph is gradwalk.check.check_graph
assert gradwalk.compare_with_torch is gradwalk.check.compare_with_torch
try:
    gradwalk.grdcheck
except AttributeError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert run.stdout == "module 'gradwalk' has no attribute 'grdcheck'\n", run.stderr


#: Packages of which some modules are for the package alone, and list nothing.
UNLISTED = {"methods", "reverse", "eager", "cli", "check", "doctor", "store", "optim", "compile"}


def test_all_is_complete() -> None:
    wrong = []
    for name in ["gradwalk", *MODULES]:
        module = importlib.import_module(name)
        listed = getattr(module, "__all__", None)
        if listed is None:
            if name.split(".")[1] not in UNLISTED:
                wrong.append(f"{name} has no __all__")
            continue
        wrong += [f"{name}.__all__ lists {entry} twice" for entry in set(listed) if listed.count(entry) > 1]
        wrong += [f"{name}.__all__ lists {entry}, which is not there" for entry in listed if not hasattr(module, entry)]
        wrong += [f"{name}.__all__ lacks {entry}" for entry in public_names(module) - set(listed)]
    assert not wrong, "\n".join(wrong)


#: Modules that also hold helpers for the layers above them, which users need not know.
SERVING = {"walk", "ops", "modes", "module", "node", "losses", "functions"}


def public_names(module: ModuleType) -> set[str]:
    """Functions and classes that a module defines itself and does not mark as private."""
    return {
        name
        for name, thing in vars(module).items()
        if not name.startswith("_")
        and (inspect.isfunction(thing) or inspect.isclass(thing))
        and thing.__module__ == module.__name__
        and module.__name__.count(".") == 1
        and module.__name__.split(".")[1] not in SERVING
    }


def is_inner_works(name: str) -> bool:
    """Kernels and the analysis take addresses and flat arrays: the tests of the compiled path are their examples."""
    return name.startswith("gradwalk.compile.") and name != "gradwalk.compile.compile"


#: Classes that are there to be overridden: their own example shows how, and says more than one for each method would.
TO_OVERRIDE = (modes.Interpreter, modes.Observer, keepers.Keeper, arrays.Provider, entries.Entry)


def documented() -> list[tuple[str, object]]:
    """Everything that is listed in an `__all__`, with the public methods of classes."""
    things: dict[str, object] = {}
    for name in ["gradwalk", *MODULES]:
        module = importlib.import_module(name)
        for entry in getattr(module, "__all__", ()):
            thing = getattr(module, entry)
            if not (inspect.isfunction(thing) or inspect.isclass(thing)) or not thing.__module__.startswith("gradwalk"):
                continue
            things[f"{thing.__module__}.{thing.__qualname__}"] = thing
            if inspect.isclass(thing):
                for method, function in vars(thing).items():
                    if any(base in thing.__mro__ and hasattr(base, method) for base in TO_OVERRIDE):
                        continue
                    wrapped = (
                        function.fget if isinstance(function, property) else getattr(function, "__func__", function)
                    )
                    if not method.startswith("_") and inspect.isfunction(wrapped) and wrapped.__name__ != "<lambda>":
                        things[f"{thing.__module__}.{thing.__qualname__}.{method}"] = wrapped
    return sorted(things.items())


def test_every_public_name_has_a_docstring_with_a_runnable_example() -> None:
    wrong = []
    for name, thing in documented():
        text = inspect.getdoc(thing) or ""
        if len(text.split(">>>")[0].strip()) <= 5:
            wrong.append(f"{name} has no docstring")
        elif ">>>" not in text and not name.startswith("gradwalk.cli") and not is_inner_works(name):
            wrong.append(f"the docstring of {name} has no example")
    assert not wrong, "\n".join(wrong)


# --- the pages ---------------------------------------------------------------------------------------------------


def code_blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [code for kind, code in re.findall(r"^```(\w*)\n(.*?)^```", text, flags=re.M | re.S) if kind == language]


@pytest.mark.native
def test_the_readmes_code_prints_what_the_readme_says(tmp_path: Path) -> None:
    """All blocks in one process, in order; what a block prints stands in a comment, or in a block of its own."""
    blocks = code_blocks("README.md", "python")
    assert len(blocks) >= 4
    source = "\n".join(blocks)
    run = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=600, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    printed = run.stdout.splitlines()
    remarks = [line.split("#", 1)[1].strip() for line in source.splitlines() if re.match(r"\s*print\(.*#", line)]
    assert len(remarks) >= 5
    shown = [line for block in code_blocks("README.md", "") for line in block.splitlines()]
    for line in printed:
        assert line in remarks or line in shown, f"the README does not show {line!r}"
    for line in remarks:
        assert line in printed, f"the README says {line!r}"


def test_the_readme_shows_the_demos_ten_lines() -> None:
    demo = importlib.import_module("demo")
    assert demo.TEN_LINES == code_blocks("README.md", "python")[0]


def test_every_make_target_that_a_page_names_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for page in ("README.md", "CONTRIBUTING.md"):
        for target in set(re.findall(r"(?:^|`)make ([a-z]+)", (ROOT / page).read_text(encoding="utf-8"), flags=re.M)):
            assert re.search(rf"^{target}:", makefile, flags=re.M), f"{page} names make {target}"


def test_links_between_pages_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "examples").glob("*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)|src=\"([^\":]+)\"", page.read_text(encoding="utf-8")):
            target = link[0] or link[1]
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_whatever_follows_from_the_op_table_is_up_to_date() -> None:
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        make_ops = importlib.import_module("make_ops")
    finally:
        sys.path.remove(str(ROOT / "docs"))
    stale = [str(path) for path, text in make_ops.files().items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run make ops"


def test_the_readme_maps_every_folder_and_module() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for folder in ("benchmarks/", "docs/", "examples/", "tests/"):
        assert folder in text
    for path in PACKAGE.iterdir():
        if path.suffix == ".py" and not path.stem.startswith("__"):
            assert path.name in text, f"the README's map does not name {path.name}"


def test_every_package_says_what_each_of_its_modules_is_for() -> None:
    missing = []
    for init in sorted(PACKAGE.rglob("__init__.py")):
        parts = init.parent.relative_to(PACKAGE).parts
        if not parts or parts[0] in ("cli", "compile"):  # a module for each command; rooms with tables of their own
            continue
        text = ast.get_docstring(ast.parse(init.read_text(encoding="utf-8"))) or ""
        named = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", text))))
        modules = {path.stem for path in init.parent.glob("*.py")}
        modules |= {path.parent.name for path in init.parent.glob("*/__init__.py")}
        missing += [f"{init.parent.name}/{name}" for name in sorted(modules - {"__init__", "__main__"} - named)]
    assert not missing, missing


def test_the_version_is_one_fact() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", gradwalk.__version__)
    assert f"## {gradwalk.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_type_marker_is_shipped() -> None:
    assert (PACKAGE / "py.typed").exists()
    assert os.path.getsize(PACKAGE / "py.typed") == 0  # noqa: PTH202
