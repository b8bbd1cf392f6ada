"""What is in the wheel: the course and the widgets, built, beside the code."""

from __future__ import annotations

import zipfile
from pathlib import Path

import build_site
import pytest
from hatchling.builders.wheel import WheelBuilder

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
BUNDLES = ("page.js", "page.css", "walk.js", "order.js", "train.js")


@pytest.mark.skipif(not build_site.is_fresh(), reason="the site is not built from these sources: make site")
def test_the_wheel_holds_the_course_and_the_widgets(tmp_path: Path) -> None:
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        for name in BUNDLES:
            built = (build_site.BUNDLES / name).read_bytes()
            assert archive.read(f"gradwalk/notebook/built/{name}") == built
            assert len(built) < 120_000
    assert {"gradwalk/learn/site/index.html", "gradwalk/notebook/walk_view.py", "gradwalk/py.typed"} <= names
    assert not [name for name in names if name.endswith((".ts", ".tsx", ".ipynb")) or ".new-" in name]


def test_the_build_is_stale_without_the_widgets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not build_site.is_fresh():
        pytest.skip("the site is not built from these sources: make site")
    monkeypatch.setattr(build_site, "BUNDLES", tmp_path)
    assert not build_site.is_fresh()
