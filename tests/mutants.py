"""`make mutants`: break the source in many small ways, and see whether a test notices each.

cosmic-ray makes the mutants. Each worker has a copy of the repository, so that the working tree is never touched, and
loads PyTorch and the like once: a mutant then costs a fork instead of a start. A mutant is killed if one of the tests
named beside its module fails or does not end; `out/mutants/survivors.txt` lists those that no test noticed.

Changes that no test could notice are not made: see `mutants_of`. A number that was found by trial, and whose neighbours
would do as well (a step, a slack), is left alone if its line says so: `# tuned: <why this value>`. Mutants that behave
exactly as the code does are listed in `mutants_equivalent.py`, each with the reason; they do not count.

    python tests/mutants.py                    all modules, on all cores
    python tests/mutants.py ops walk           only these
    python tests/mutants.py check/numeric      only this file of a package
    python tests/mutants.py check --sample 200 an estimate, where all would take hours
"""

from __future__ import annotations

import argparse
import ast
import difflib
import importlib
import multiprocessing
import os
import py_compile
import random
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from mutants_equivalent import EQUIVALENT

ROOT = Path(__file__).resolve().parents[1]

#: Each module that is broken on purpose, and the tests that must notice, the quick ones first. Before them come the
#: examples in the file itself and, for a file of a package, the tests that are named after it.
TESTS = {
    "ops": "test_ops test_formulas test_engine test_against_torch",
    "ieee": "test_ops test_engine test_against_torch",
    "eager": "test_engine test_modes test_keepers test_cut_edges test_functions test_package "
    "compile/test_compile_tracer test_against_torch",
    "engine": "test_engine test_modes test_keepers test_derivatives test_walk compile/test_compile_tracer "
    "test_against_torch",
    "node": "test_engine test_keepers test_modes test_walk compile/test_compile_ownership test_against_torch test_nn "
    "test_pickles",
    "modes": "test_modes test_keepers test_engine compile/test_compile_tracer",
    "keepers": "test_keepers compile/test_compile_ownership",
    "reverse": "test_engine test_keepers test_modes test_derivatives test_against_torch test_cut_edges test_depth",
    "walk": "test_walk test_walk_recording test_walk_visits test_walk_sentences test_walk_events test_walk_handmade "
    "test_engine test_modes test_walk_large tensor/test_tensor_drawn tensor/test_tensor_stepped",
    "check": "test_check_differences test_check_estimates test_check_numeric test_check_taylor test_check_agreement "
    "test_check_report test_check_inputs test_check_nodes test_check_gradients test_check_suspects "
    "test_check_graph test_check_against_torch test_check tensor/test_tensor_checks",
    "tensor": "tensor/test_tensor_methods tensor/test_tensor_functions tensor/test_tensor_shortcuts "
    "tensor/test_tensor_defaults tensor/test_tensor_bounds "
    "tensor/test_tensor_details tensor/test_tensor_cut tensor/test_tensor_explained tensor/test_tensor_checks "
    "tensor/test_tensor_semantics tensor/test_tensor_fuzz tensor/test_tensor_rubbish tensor/test_tensor_against_torch",
}

#: What a share is reckoned over: each of these must reach 95% by itself.
GROUPS = {
    "engine": ("ops", "ieee", "eager", "engine", "node", "modes", "keepers", "reverse"),
    "walk": ("walk",),
    "check": ("check",),
    "tensor": ("tensor",),
}
ENOUGH = 0.95

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
#: Until a file of tests counts as one that never ends: seconds of its own, whatever else the machine does; and until a
#: mutant does, by the clock, should it wait for something.
PATIENCE, BY_THE_CLOCK = 60, 3600.0
#: So many tests that killed mutants of a file are tried first on its next.
WITNESSES = 6

Span = tuple[tuple[int, int], tuple[int, int]]  # from where to where in a source, each as row and column


@dataclass(frozen=True)
class Mutant:
    """One small change: which file, which operator of cosmic-ray's, and which of its occurrences there."""

    module: str
    path: str
    operator: str
    occurrence: int
    line: int


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant, and what it changes."""

    mutant: Mutant
    killed: bool
    removed: tuple[str, ...]
    added: tuple[str, ...]

    @property
    def equivalent(self) -> str:
        """Why no test can kill it; nothing if one should."""
        return EQUIVALENT.get((self.mutant.path, " ".join(self.removed), " ".join(self.added)), "")

    def __str__(self) -> str:
        lines = [f"{self.mutant.path}:{self.mutant.line} {self.mutant.operator}"]
        lines += [f"- {line}" for line in self.removed] + [f"+ {line}" for line in self.added]
        return "\n".join([*lines, *([f"equivalent: {self.equivalent}"] if self.equivalent else [])])


def main(argv: list[str] | None = None) -> int:
    """Run all mutants and report the share that was killed in each group; 1 if one of them is below 95%."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    named = f"any of {', '.join(TESTS)}, or a file of one, as check/numeric (default: all)"
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=named)
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "mutants", help="where the survivors are listed")
    parser.add_argument("--sample", type=int, metavar="N", help="run only N mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (default: 1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="workers side by side")
    options = parser.parse_args(argv)
    for name in options.modules:
        if module_of(name) not in TESTS or not all((ROOT / path).is_file() for path in sources(name)):
            parser.error(f"no module is called {name!r}; there are {', '.join(TESTS)}")

    mutants = [
        mutant
        for name in options.modules or TESTS
        for path in sources(name)
        for mutant in mutants_of(module_of(name), path)
    ]
    if options.sample is not None and options.sample < len(mutants):
        print(f"{options.sample} of {len(mutants)} mutants are drawn")
        mutants = random.Random(options.seed).sample(mutants, options.sample)
    mutants.sort(key=lambda mutant: (mutant.path, mutant.line))  # neighbours are often killed by the same test
    print(f"{len(mutants)} mutants on {options.jobs} workers", flush=True)
    outcomes = run(mutants, options.jobs)
    if outcomes is None:
        return 2
    options.out.mkdir(parents=True, exist_ok=True)
    return report(outcomes, options.out / "survivors.txt")


def run(mutants: list[Mutant], jobs: int) -> list[Outcome] | None:
    """All mutants, each with what became of it; None if the tests fail with nothing broken."""
    outcomes: list[Outcome] = []
    began = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="mutants-") as folder,
        # Workers that may start processes of their own, as some tests do: those of multiprocessing.Pool may not.
        ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), prepare_worker, (folder,)) as pool,
    ):
        files = sorted({file for mutant in mutants for file in tests_of(mutant)})
        for file, passes in zip(files, pool.map(healthy, files), strict=True):
            if not passes:
                print(f"the tests in {file} fail with nothing broken: mend them first", file=sys.stderr)
                return None
        print(f"{len(files)} files of tests pass with nothing broken", flush=True)
        for done in as_completed([pool.submit(tried, mutant) for mutant in mutants]):
            outcomes.append(outcome := done.result())
            if not outcome.killed and not outcome.equivalent:
                print(f"survived: {outcome}", flush=True)
            if len(outcomes) % 20 == 0:
                left = (time.monotonic() - began) / len(outcomes) * (len(mutants) - len(outcomes))
                print(f"{len(outcomes)} of {len(mutants)}, about {left / 60:.0f} minutes left", flush=True)
    return outcomes


def report(outcomes: list[Outcome], survivors: Path) -> int:
    """Print the shares and write the survivors to a file; 1 if a group is below 95%."""
    alive = sorted(
        (outcome for outcome in outcomes if not outcome.killed), key=lambda x: (x.mutant.path, x.mutant.line)
    )
    survivors.write_text("\n\n".join(map(str, alive)) + "\n", encoding="utf-8")
    for outcome in outcomes:
        if outcome.equivalent and outcome.killed:
            print(f"listed as equivalent, but a test kills it; strike it off: {outcome}")
    counted = [outcome for outcome in outcomes if outcome.killed or not outcome.equivalent]
    for path in sorted({outcome.mutant.path for outcome in counted}):
        share(path, [outcome for outcome in counted if outcome.mutant.path == path])
    shares = [
        share(f"in all of {group}", [outcome for outcome in counted if outcome.mutant.module in modules])
        for group, modules in GROUPS.items()
        if any(outcome.mutant.module in modules for outcome in counted)
    ]
    print(f"{len(outcomes) - len(counted)} more are equivalent; see {survivors}")
    return 0 if min(shares, default=1.0) >= ENOUGH else 1


def share(name: str, outcomes: list[Outcome]) -> float:
    """Print and give the share that was killed."""
    killed = sum(outcome.killed for outcome in outcomes)
    print(f"{name}: {killed} of {len(outcomes)} killed ({killed / len(outcomes):.1%})")
    return killed / len(outcomes)


# --- which mutants there are ---------------------------------------------------------------------------------------


def module_of(name: str) -> str:
    """The module that a name stands for, or the package that a file is in."""
    return name.partition("/")[0]


def sources(name: str) -> list[Path]:
    """The files of a module or package, relative to the repository."""
    module = ROOT / "src" / "gradwalk" / name
    paths = sorted(module.glob("*.py")) if module.is_dir() else [module.with_suffix(".py")]
    return [path.relative_to(ROOT) for path in paths if path.name != "__init__.py"]


def mutants_of(module: str, path: Path) -> Iterator[Mutant]:
    """Every mutant of a file that a test could notice.

    That leaves out type annotations and what is for type checkers alone, which are never evaluated; guards that never
    fire in code that is right (`zip(strict=True)`, frozen dataclasses); stars and slashes that are no operators; and
    numbers marked as tuned.
    """
    from cosmic_ray.ast import ast_nodes, get_ast

    source = (ROOT / path).read_text(encoding="utf-8")
    tuned = {row for row, line in enumerate(source.splitlines(), start=1) if TUNED in line}
    idle = [*annotated(source), *guarded(source), *for_type_checkers(source)]
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


def for_type_checkers(source: str) -> list[Span]:
    """From where to where the blocks stand that are for type checkers alone, with their conditions."""
    nodes = ast.walk(ast.parse(source))
    blocks = (node for node in nodes if isinstance(node, ast.If))
    return [
        (span(block.test)[0], span(block.body[-1])[1])
        for block in blocks
        if isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING"
    ]


def span(node: ast.expr | ast.keyword | ast.stmt) -> Span:
    """Where a piece of source begins and ends."""
    return (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)


# --- running one -----------------------------------------------------------------------------------------------------

copy = Path()
#: For each file of the source the tests that killed its latest mutants: they may well kill the next.
witnesses: dict[str, list[str]] = {}


def prepare_worker(folder: str) -> None:
    """Give this worker its own copy of the repository, and load what every mutant's tests load."""
    global copy
    copy = Path(tempfile.mkdtemp(dir=folder)) / "copy"
    ignored = shutil.ignore_patterns(".git", ".venv", "out", ".hypothesis", "*_cache", "__pycache__", "node_modules")
    shutil.copytree(ROOT, copy, ignore=ignored)
    # What is broken has bytecode that is checked by its text: by time and size some mutants look like the code itself.
    for path in (path for module in TESTS for path in sources(module)):
        py_compile.compile(str(copy / path), invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)
    sys.path[:] = [str(copy / "src"), *(path for path in sys.path if Path(path) != ROOT / "src")]
    sys.dont_write_bytecode = False
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # none is needed, and each takes its time to load
    os.environ["PYTHONPATH"] = str(copy / "src")
    for name in PRELOADED:
        importlib.import_module(name)

    from hypothesis import Phase, settings

    # Shrinking a failure to a small one would take longer than finding it.
    settings.register_profile(
        "mutants", phases=(Phase.explicit, Phase.generate), database=None, derandomize=True, deadline=None
    )
    settings.load_profile("mutants")


def healthy(file: str) -> bool:
    """Whether the tests in a file pass with nothing broken: without that, a killed mutant would mean nothing."""
    return first_to_fail([file], []) is None


def tried(mutant: Mutant) -> Outcome:
    """A mutant with what became of it."""
    from cosmic_ray.mutating import mutate_code

    file = copy / mutant.path
    source = file.read_text(encoding="utf-8")
    changed = mutate_code(source, operator_called(mutant.operator), mutant.occurrence)
    if changed is None:
        raise LookupError(f"{mutant} is not there any more")
    latest = witnesses.setdefault(mutant.path, [])
    file.write_text(changed, encoding="utf-8")
    try:
        noticed = first_to_fail(tests_of(mutant), latest)
    finally:
        file.write_text(source, encoding="utf-8")
    if noticed:
        latest[:] = [noticed, *(test for test in latest if test != noticed)][:WITNESSES]
    lines = list(difflib.unified_diff(source.splitlines(), changed.splitlines(), lineterm="", n=0))[2:]
    removed, added = (tuple(line[1:].strip() for line in lines if line[0] == sign) for sign in "-+")
    return Outcome(mutant, noticed is not None, removed, added)


def tests_of(mutant: Mutant) -> list[str]:
    """The mutant's file, for its examples, and those with the tests of its module; first the one named after it."""
    namesake = f"test_{mutant.module}_{Path(mutant.path).stem}"
    return [mutant.path, *sorted(test_files(mutant.module), key=lambda path: Path(path).stem != namesake)]


def test_files(module: str) -> list[str]:
    """Where the tests of a module are."""
    return [f"tests/{name}.py" for name in TESTS[module].split()]


def first_to_fail(files: list[str], before: list[str]) -> str | None:
    """Run some tests, then all in some files, in a fork of this process; the first that fails, None if none does.

    A run that never ends has failed, and so has one that takes the whole process with it: their name is empty.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        failed = True
        try:
            failed = run_tests(files, before, writing)
        finally:
            os._exit(failed)
    os.close(writing)
    deadline, ended, status = time.monotonic() + BY_THE_CLOCK, 0, 0
    while not ended and time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.01)
    if not ended:
        os.kill(child, 9)
        _, status = os.waitpid(child, 0)
    with os.fdopen(reading, encoding="utf-8") as names:
        name = names.readline().strip()
    return name if status else None


def run_tests(files: list[str], before: list[str], writing: int) -> bool:
    """Whether a test failed; its name is then written to the pipe."""
    import pytest

    class Witness:
        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.failed:
                os.write(writing, f"{report.nodeid}\n".encode())

    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    os.chdir(copy)
    plain = ["-x", "-q", "--doctest-modules", "-o", "addopts=", "-p", "no:cacheprovider"]
    plain += ["-W", "ignore:Module already imported"]

    def outcome(*tests: str) -> int:
        within = int(time.process_time()) + PATIENCE
        resource.setrlimit(resource.RLIMIT_CPU, (within, resource.RLIM_INFINITY))
        return pytest.main([*plain, *tests], [Witness()])

    # A test that is not there any more, for the mutant changed what there is to test, is no failure: ask the others.
    if before and outcome(*before) == pytest.ExitCode.TESTS_FAILED:
        return True
    fine = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)  # a source may have no examples
    return any(outcome(file) not in fine for file in files)


if __name__ == "__main__":
    raise SystemExit(main())
