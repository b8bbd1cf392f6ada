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

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "gradwalk"
MODULES = sorted(
    name for _, name, _ in pkgutil.walk_packages(gradwalk.__path__, "gradwalk.") if not name.endswith("__main__")
)

#: A module may import modules that stand to its left only (and the standard library).
LAYERS = (
    "errors", "ieee", "ops", "walk modes symbols methods", "provenance", "reverse", "node", "engine", "derivatives replay",
    "program explain", "presets", "functions", "losses store",
    "module", "nn", "optim check", "datasets", "train plot drawing", "diagnose doctor compile",
    "stepper", "learn", "notebook", "cli",
)  # fmt: skip
PURE = ("ieee", "ops", "walk", "provenance", "functions", "modes", "symbols", "methods",
        "reverse", "node", "engine", "derivatives", "replay", "nn", "losses", "store", "module",
        "optim", "check", "datasets", "train", "errors", "program", "explain", "presets",
        "diagnose", "doctor")  # fmt: skip


def level(module: str) -> int:
    top = module.removeprefix("gradwalk.").split(".")[0]
    return next(i for i, names in enumerate(LAYERS) if top in names.split())


def imports(path: Path) -> list[str]:
    """The modules that a file imports as it is loaded, gradwalk's own spelt in full."""
    found = []
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "gradwalk":
            found += [f"gradwalk.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append(node.module)
    return found


def submodules() -> list[Path]:
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path.parent != PACKAGE or not path.stem.startswith("__")]


@pytest.mark.parametrize("path", submodules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_downwards_only(path: Path) -> None:
    own = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
    for name in imports(path):
        if not name.startswith("gradwalk."):
            continue
        if (
            not (PACKAGE / Path(*name.split(".")[1:])).with_suffix(".py").exists()
            and not (PACKAGE / Path(*name.split(".")[1:])).is_dir()
        ):
            name = "gradwalk.engine"  # a name of the package itself, such as gradwalk.Value
        same_package = name.split(".")[1] == own.split(".")[0]
        assert same_package or level(name) < level(own) or name == "gradwalk.errors", f"{own} imports {name}"


@pytest.mark.parametrize("path", submodules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_core_imports_the_standard_library_only(path: Path) -> None:
    if path.relative_to(PACKAGE).parts[0].removesuffix(".py") in PURE:
        for name in imports(path):
            assert name.split(".")[0] in {*sys.stdlib_module_names, "gradwalk"}, name


BLOCKED = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        if top not in sys.stdlib_module_names and top != "gradwalk":
            raise ImportError(f"{name} is blocked")
sys.meta_path.insert(0, Blocker())
import gradwalk
from gradwalk import nn, optim, check, datasets, train, symbols
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
for name in ("nn", "optim", "check", "datasets", "train", "plot", "presets", "symbols"):
    assert getattr(gradwalk, name).__name__ == f"gradwalk.{name}"
    assert name in dir(gradwalk)
assert gradwalk.gradcheck is gradwalk.check.gradcheck
assert gradwalk.draw is gradwalk.draw_dot and gradwalk.spy.__module__ == "gradwalk.drawing.matrix"
assert gradwalk.check_graph is gradwalk.check.check_graph
assert gradwalk.compare_with_torch is gradwalk.check.compare_with_torch
try:
    gradwalk.grdcheck
except AttributeError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert run.stdout == "module 'gradwalk' has no attribute 'grdcheck'\n", run.stderr


@pytest.mark.parametrize("name", ["gradwalk", *MODULES])
def test_all_is_complete(name: str) -> None:
    module = importlib.import_module(name)
    listed = getattr(module, "__all__", None)
    if listed is None:
        assert name.split(".")[1] in {
            "methods",
            "reverse",
            "cli",
            "check",
            "store",
            "optim",
            "compile",
        }, f"{name} has no __all__"
        return
    assert sorted(listed) == sorted(set(listed))
    for entry in listed:
        assert hasattr(module, entry), f"{name}.__all__ lists {entry}, which is not there"
    assert set(listed) >= public_names(module)


#: Modules that also hold helpers for the layers above them, which users need not know.
SERVING = {"walk", "ops", "symbols", "modes", "module", "node", "losses", "functions"}


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
                    wrapped = (
                        function.fget if isinstance(function, property) else getattr(function, "__func__", function)
                    )
                    if not method.startswith("_") and inspect.isfunction(wrapped):
                        things[f"{thing.__module__}.{thing.__qualname__}.{method}"] = wrapped
    return sorted(things.items())


@pytest.mark.parametrize(("name", "thing"), documented(), ids=lambda x: x if isinstance(x, str) else "")
def test_every_public_name_has_a_docstring_with_a_runnable_example(name: str, thing: object) -> None:
    text = inspect.getdoc(thing) or ""
    assert len(text.split(">>>")[0].strip()) > 5, f"{name} has no docstring"
    if not name.startswith("gradwalk.cli") and not is_inner_works(name):
        assert ">>>" in text, f"the docstring of {name} has no example"


# --- the pages ---------------------------------------------------------------------------------------------------


def code_blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [code for kind, code in re.findall(r"^```(\w*)\n(.*?)^```", text, flags=re.M | re.S) if kind == language]


def test_the_readmes_code_prints_what_the_readme_says(tmp_path: Path) -> None:
    """All blocks in one process, in order; what a block prints stands in a comment, or in a block of its own."""
    blocks = code_blocks("README.md", "python")
    assert len(blocks) >= 4
    source = "\n".join(blocks)
    run = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=120, cwd=tmp_path)
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


def test_the_page_of_ops_is_the_table() -> None:
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        make_ops = importlib.import_module("make_ops")
    finally:
        sys.path.remove(str(ROOT / "docs"))
    assert (ROOT / "docs" / "ops.md").read_text(encoding="utf-8") == make_ops.page(), "run python docs/make_ops.py"


def test_the_readme_maps_every_folder_and_module() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for folder in ("benchmarks/", "docs/", "examples/", "tests/"):
        assert folder in text
    for path in PACKAGE.iterdir():
        if path.suffix == ".py" and not path.stem.startswith("__"):
            assert path.name in text, f"the README's map does not name {path.name}"


def test_the_version_is_one_fact() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", gradwalk.__version__)
    assert f"## {gradwalk.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_type_marker_is_shipped() -> None:
    assert (PACKAGE / "py.typed").exists()
    assert os.path.getsize(PACKAGE / "py.typed") == 0  # noqa: PTH202
