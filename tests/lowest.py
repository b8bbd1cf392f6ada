"""`make lowest`: the quick tests, in an environment of their own, with the lowest version of everything that we allow.

    python tests/lowest.py [--keep]

A bound in pyproject.toml is a promise: `numba>=0.62` says that 0.62.0 works. Every `>=` there becomes `==`; what our
dependencies need themselves is the newest that fits, as pip chooses it.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "out" / "lowest"
#: Beside what `make quick` runs: compiled code and plots, whose bounds were wrong once, and clusters.
TESTED = (
    "tests/compile/test_kernels.py", "tests/compile/test_compile_api.py", "tests/test_plot.py",
    "tests/test_parallel.py", "tests/test_parallel_clusters.py", "tests/test_optim_reduce.py",
)  # fmt: skip


def pinned(requirement: str) -> str:
    """A requirement at its lower bound.

    >>> pinned("numba>=0.62"), pinned("torch==2.13.0")
    ('numba==0.62', 'torch==2.13.0')
    """
    if not re.fullmatch(r"[\w.-]+(>=|==)[\w.]+", requirement):
        raise SystemExit(f"{requirement} in pyproject.toml has no lower bound that could be tested")
    return requirement.replace(">=", "==")


def requirements() -> list[str]:
    """Everything that the tests need, at its lower bound.

    >>> {"joblib==1.5", "numba==0.62"} <= set(requirements())
    True
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras, found = project["optional-dependencies"], set()
    waiting = [*project["dependencies"], *extras["test"]]
    while waiting:
        requirement = waiting.pop()
        if ours := re.fullmatch(r"gradwalk\[(.+)\]", requirement):
            waiting += (each for extra in ours[1].split(",") for each in extras[extra])
        else:
            found.add(pinned(requirement))
    return sorted(found)


def main() -> int:
    """Install, then run the tests; gives their exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true", help="use the environment of the last run, if there is one")
    options = parser.parse_args()
    python = PLACE / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not (options.keep and python.exists()):
        venv.create(PLACE, clear=True, with_pip=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, *requirements()], check=True)
        subprocess.run(
            [*install, "--no-deps", "-e", str(ROOT)], check=True, env={**os.environ, "GRADWALK_SITE": "skip"}
        )
    quick = (ROOT / "Makefile").read_text(encoding="utf-8")
    wait = re.search(r"^WAIT := ((?:.*\\\n)*.*)$", quick, re.M)
    ignored = [f"--ignore={name}" for name in wait[1].replace("\\\n", " ").split()] if wait else []
    # Old packages beside new ones use what those will drop; that is no concern of ours, nor an error here.
    pytest = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore::DeprecationWarning"]
    marks = "not browser and not notebook and not native and not slow"
    first = subprocess.run([*pytest, "-m", marks, *ignored], cwd=ROOT).returncode
    return subprocess.run([*pytest, *TESTED], cwd=ROOT).returncode or first


if __name__ == "__main__":
    sys.exit(main())
