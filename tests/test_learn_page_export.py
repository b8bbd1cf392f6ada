"""What the page gets from Python: pure modules, the same bytes every time, importable with nothing else beside."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from gradwalk.learn.page.export import MATERIAL, WHEEL, export, page_modules, write_wheel

ALONE = """
import sys
sys.path[:] = [path for path in sys.path if "site-packages" not in path and not path.endswith("src")]
sys.path.insert(0, sys.argv[1])
class Blocker:
    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        if top not in sys.stdlib_module_names and top != "gradwalk" or top in ("multiprocessing", "resource"):
            raise ImportError(f"{name} is blocked")
sys.meta_path.insert(0, Blocker())
import importlib, pkgutil
import gradwalk
assert sys.argv[1] in gradwalk.__file__
import gradwalk.learn.page
for _, name, _ in pkgutil.walk_packages(gradwalk.learn.page.__path__, "gradwalk.learn.page."):
    importlib.import_module(name)
print("alone")
"""


def test_the_wheel_is_the_same_bytes_every_time(tmp_path: Path) -> None:
    write_wheel(tmp_path / "one.whl")
    write_wheel(tmp_path / "two.whl")
    assert (tmp_path / "one.whl").read_bytes() == (tmp_path / "two.whl").read_bytes()


def test_the_wheel_holds_the_engine_and_no_site(tmp_path: Path) -> None:
    write_wheel(tmp_path / WHEEL)
    names = zipfile.ZipFile(tmp_path / WHEEL).namelist()
    assert {"gradwalk/engine.py", "gradwalk/nn.py", "gradwalk/learn/page/bridge.py"} <= set(names)
    assert not [name for name in names if "/site/" in name or "/cli/" in name or name.endswith("server.py")]


def test_what_the_page_calls_loads_with_nothing_but_python(tmp_path: Path) -> None:
    write_wheel(tmp_path / WHEEL)
    run = subprocess.run(
        [sys.executable, "-I", "-c", ALONE, str(tmp_path / WHEEL)], capture_output=True, text=True, timeout=120
    )
    assert run.stdout == "alone\n", run.stderr


@pytest.mark.slow
def test_the_export_writes_one_file_for_each_material(tmp_path: Path) -> None:
    export(tmp_path / "made")
    names = {path.name for path in (tmp_path / "made").iterdir()}
    assert names == {*(f"{name}.json" for name in MATERIAL), WHEEL}
    for name in MATERIAL:
        assert json.loads((tmp_path / "made" / f"{name}.json").read_text(encoding="utf-8"))


def test_modules_are_named_relative_to_the_package() -> None:
    assert all(not path.is_absolute() for path in page_modules())
