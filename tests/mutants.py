"""`make mutants`: break the source in many small ways, and see whether a test notices each.

cosmic-ray makes the mutants. Each worker has a copy of the repository, so that the working tree is never touched, and
loads PyTorch and the like once: a mutant then costs a fork instead of a start. A mutant is killed if one of the tests
named beside its module fails or does not end; `out/mutants/survivors.txt` lists those that no test noticed.

Changes that no test could notice are not made: see `mutants_of`. A number that was found by trial, and whose neighbours
would do as well (a step, a slack), is left alone if its line says so: `# tuned: <why this value>`.

    python tests/mutants.py                    all modules, on all cores
    python tests/mutants.py ops walk           only these
    python tests/mutants.py check --sample 200 an estimate, where all would take hours
"""

from __future__ import annotations

import argparse
import ast
import difflib
import importlib
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

#: Each module that is broken on purpose, and the tests that must notice, the likeliest first.
TESTS = {
    "ops": "test_ops test_symbols test_engine test_against_torch",
    "ieee": "test_ops test_engine test_against_torch",
    "engine": "test_engine test_modes test_derivatives test_walk test_against_torch",
    "node": "test_engine test_modes test_walk test_against_torch",
    "reverse": "test_engine test_modes test_derivatives test_against_torch",
    "walk": "test_walk test_walk_recording test_walk_visits test_walk_words test_walk_closures test_engine test_modes",
    "check": "test_check_numeric test_check_suspects test_check test_check_graph test_check_torch",
}

#: One or two replacements for each operator: the one next to it, and its opposite.
OPERATORS = [
    "NumberReplacer", "AddNot", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceAndWithOr", "ReplaceOrWithAnd",
    "ReplaceBreakWithContinue", "ReplaceContinueWithBreak", "ExceptionReplacer", "ZeroIterationForLoop",
    "ReplaceUnaryOperator_Delete_USub", "ReplaceUnaryOperator_Delete_Not", "RemoveDecorator",
    *(f"ReplaceBinaryOperator_{pair}" for pair in (
        "Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "Pow_Mul", "Mod_Mul", "FloorDiv_Mul", "BitOr_BitAnd",
        "BitAnd_BitOr")),
    *(f"ReplaceComparisonOperator_{pair}" for pair in (
        "Eq_NotEq", "NotEq_Eq", "Lt_LtE", "Lt_GtE", "LtE_Lt", "LtE_Gt", "Gt_GtE", "Gt_LtE", "GtE_Gt", "GtE_Lt",
        "Is_IsNot", "IsNot_Is")),
]  # fmt: skip

#: Arguments that guard code which is right against what it never does: zip's, and those of dataclasses.
GUARDS = ("strict", "frozen", "slots")
#: What a `*`, `/` or `**` stands in where it is no operator: a signature, a lambda's, a dict that takes in another.
STARRED = ("parameters", "lambdef", "dictorsetmaker")
#: The comment beside a number whose neighbours would do as well.
TUNED = "# tuned:"

PRELOADED = ("torch", "numpy", "hypothesis", "pytest", "_pytest.assertion.rewrite", "micrograd.engine", "micrograd.nn")
PATIENCE = 90.0  # seconds until a mutant counts as one that never ends

Span = tuple[tuple[int, int], tuple[int, int]]  # from where to where in a source, each as row and column


@dataclass(frozen=True)
class Mutant:
    """One small change: which file, which operator of cosmic-ray's, and which of its occurrences there."""

    module: str
    path: str
    operator: str
    occurrence: int
    line: int


def main(argv: list[str] | None = None) -> int:
    """Run all mutants and report the share that was killed; 1 if that is below 95%."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=f"any of {', '.join(TESTS)} (default: all)")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "mutants", help="where the survivors are listed")
    parser.add_argument("--sample", type=int, metavar="N", help="run only N mutants, drawn at random (seed 1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="workers side by side")
    options = parser.parse_args(argv)
    unknown = [name for name in options.modules if name not in TESTS]
    if unknown:
        parser.error(f"no module is called {unknown[0]!r}; there are {', '.join(TESTS)}")

    mutants = [
        mutant for name in options.modules or TESTS for path in sources(name) for mutant in mutants_of(name, path)
    ]
    if options.sample is not None and options.sample < len(mutants):
        print(f"{options.sample} of {len(mutants)} mutants are drawn")
        mutants = random.Random(1).sample(mutants, options.sample)
    print(f"{len(mutants)} mutants on {options.jobs} workers", flush=True)
    killed: Counter[str] = Counter()
    total = Counter(mutant.path for mutant in mutants)
    survivors = []
    began = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="mutants-") as folder,
        multiprocessing.get_context("spawn").Pool(options.jobs, prepare_worker, (folder,)) as pool,
    ):
        modules = sorted({mutant.module for mutant in mutants})
        for module, passes in zip(modules, pool.map(healthy, modules), strict=True):
            if not passes:
                print(f"the tests of {module} fail with nothing broken: mend them first", file=sys.stderr)
                return 2
        for done, (mutant, difference) in enumerate(pool.imap_unordered(survives, mutants), start=1):
            if difference is None:
                killed[mutant.path] += 1
            else:
                survivors.append((mutant, difference))
                print(f"survived: {mutant.path}:{mutant.line} {mutant.operator}", flush=True)
            if done % 50 == 0:
                left = (time.monotonic() - began) / done * (len(mutants) - done)
                print(f"{done} of {len(mutants)}, about {left / 60:.0f} minutes left", flush=True)

    options.out.mkdir(parents=True, exist_ok=True)
    survivors.sort(key=lambda pair: (pair[0].path, pair[0].line))
    report = "\n\n".join(f"{mutant.path}:{mutant.line} {mutant.operator}\n{diff}" for mutant, diff in survivors)
    (options.out / "survivors.txt").write_text(report + "\n", encoding="utf-8")
    for path, count in total.items():
        print(f"{path}: {killed[path]} of {count} killed ({killed[path] / count:.1%})")
    share = sum(killed.values()) / max(1, len(mutants))
    print(f"in all {sum(killed.values())} of {len(mutants)} killed ({share:.1%}); see {options.out / 'survivors.txt'}")
    return 0 if share >= 0.95 else 1


# --- which mutants there are ---------------------------------------------------------------------------------------


def sources(name: str) -> list[Path]:
    """The files of a module or package, relative to the repository."""
    module = ROOT / "src" / "gradwalk" / name
    paths = sorted(module.glob("*.py")) if module.is_dir() else [module.with_suffix(".py")]
    return [path.relative_to(ROOT) for path in paths if path.name != "__init__.py"]


def mutants_of(module: str, path: Path) -> Iterator[Mutant]:
    """Every mutant of a file that a test could notice.

    That leaves out type annotations, which are never evaluated; guards that never fire in code that is right
    (`zip(strict=True)`, frozen dataclasses); stars and slashes that are no operators; and numbers marked as tuned.
    """
    from cosmic_ray.ast import ast_nodes, get_ast

    source = (ROOT / path).read_text(encoding="utf-8")
    tuned = {row for row, line in enumerate(source.splitlines(), start=1) if TUNED in line}
    idle = [*annotated(source), *guarded(source)]
    tree = get_ast(source)
    for name in OPERATORS:
        occurrence = 0
        operator = operator_called(name)
        for node in ast_nodes(tree):
            starred = node.type == "operator" and node.parent.type in STARRED
            for (row, column), _ in operator.mutation_positions(node):  # type: ignore[attr-defined]
                skipped = starred or any(start <= (row, column) < end for start, end in idle)
                if not skipped and not (name == "NumberReplacer" and row in tuned):
                    yield Mutant(module, str(path), name, occurrence, row)
                occurrence += 1


def operator_called(name: str) -> object:
    """One of cosmic-ray's operators."""
    from cosmic_ray.plugins import get_operator

    return get_operator(f"core/{name}")()


def annotated(source: str) -> list[Span]:
    """From where to where the type annotations of a source stand."""
    nodes = ast.walk(ast.parse(source))
    found = (getattr(node, field, None) for node in nodes for field in ("annotation", "returns"))
    return [span(annotation) for annotation in found if isinstance(annotation, ast.expr)]


def guarded(source: str) -> list[Span]:
    """From where to where the guards of a source stand."""
    nodes = ast.walk(ast.parse(source))
    keywords = (node for node in nodes if isinstance(node, ast.keyword) and node.arg in GUARDS)
    return [span(node) for node in keywords if isinstance(node.value, ast.Constant) and node.value.value is True]


def span(node: ast.expr | ast.keyword) -> Span:
    """Where a piece of source begins and ends."""
    return (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)


# --- running one -----------------------------------------------------------------------------------------------------

copy = Path()


def prepare_worker(folder: str) -> None:
    """Give this worker its own copy of the repository, and load what every mutant's tests load."""
    global copy
    copy = Path(tempfile.mkdtemp(dir=folder)) / "copy"
    ignored = shutil.ignore_patterns(".git", ".venv", "out", ".hypothesis", "*_cache", "__pycache__")
    shutil.copytree(ROOT, copy, ignore=ignored)
    sys.path[:] = [str(copy / "src"), *(path for path in sys.path if Path(path) != ROOT / "src")]
    sys.dont_write_bytecode = True
    os.environ["PYTHONPATH"] = str(copy / "src")
    for name in PRELOADED:
        importlib.import_module(name)

    from hypothesis import Phase, settings

    # Shrinking a failure to a small one would take longer than finding it.
    settings.register_profile(
        "mutants", phases=(Phase.explicit, Phase.generate), database=None, derandomize=True, deadline=None
    )
    settings.load_profile("mutants")


def healthy(module: str) -> bool:
    """Whether a module's tests pass with nothing broken: without that, a killed mutant would mean nothing."""
    return not tests_fail(module)


def survives(mutant: Mutant) -> tuple[Mutant, str | None]:
    """The mutant, and what it changes if no test noticed."""
    from cosmic_ray.mutating import mutate_code

    file = copy / mutant.path
    source = file.read_text(encoding="utf-8")
    changed = mutate_code(source, operator_called(mutant.operator), mutant.occurrence)
    if changed is None:
        raise LookupError(f"{mutant} is not there any more")
    file.write_text(changed, encoding="utf-8")
    try:
        noticed = tests_fail(mutant.module)
    finally:
        file.write_text(source, encoding="utf-8")
    lines = difflib.unified_diff(source.splitlines(), changed.splitlines(), lineterm="", n=1)
    return mutant, None if noticed else "\n".join(list(lines)[2:])


def tests_fail(module: str) -> bool:
    """Run a module's tests in a fork of this process; a run that never ends has failed."""
    tests = [f"tests/{name}.py" for name in TESTS[module].split()]
    child = os.fork()
    if child == 0:
        code = 1
        try:
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            os.chdir(copy)
            import pytest

            plain = ["-o", "addopts=", "-p", "no:cacheprovider", "-W", "ignore:Module already imported"]
            code = int(pytest.main(["-x", "-q", *plain, *tests]))
        finally:
            os._exit(code)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status != 0
        time.sleep(0.02)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return True


if __name__ == "__main__":
    raise SystemExit(main())
