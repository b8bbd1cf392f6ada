"""What is in wheel and sdist: the course and the widgets, built, beside the code, and the licences of all that."""

from __future__ import annotations

import json
import re
import tomllib
import zipfile
from pathlib import Path

import build_site
import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
EXPRESSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["license"]
BUNDLES = ("page.js", "page.css", "walk.js", "order.js", "train.js")


@pytest.mark.skipif(not build_site.is_fresh(), reason="the site is not built from these sources: make site")
def test_the_wheel_holds_the_course_and_the_widgets(tmp_path: Path) -> None:
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        for name in BUNDLES:
            built = (build_site.BUNDLES / name).read_bytes()
            assert archive.read(f"gradwalk/notebook/built/{name}") == built
            assert len(built) < 130_000
        (metadata,) = (archive.read(name).decode() for name in names if name.endswith(".dist-info/METADATA"))
    assert {"gradwalk/learn/site/index.html", "gradwalk/notebook/walk_view.py", "gradwalk/py.typed"} <= names
    assert not [name for name in names if name.endswith((".ts", ".tsx", ".ipynb")) or ".new-" in name]
    ours = {"LICENSE", *(f"LICENSES/{path.name}" for path in build_site.LICENCES.iterdir())}
    assert {name.split("/licenses/")[1] for name in names if ".dist-info/licenses/" in name} == ours
    assert set(re.findall(r"^License-File: (.+)$", metadata, re.M)) == ours
    assert re.findall(r"^License-Expression: (.+)$", metadata, re.M) == [EXPRESSION]


def test_the_sdist_holds_the_licences_and_what_a_wheel_is_made_of() -> None:
    names = {Path(file.distribution_path).as_posix() for file in SdistBuilder(str(ROOT)).recurse_included_files()}
    wanted = {f"LICENSES/{path.name}" for path in build_site.LICENCES.iterdir()}
    assert wanted | {"hatch_build.py", "web/build_site.py", "web/builder/licences.mjs", "README.md"} <= names


@pytest.mark.skipif(not build_site.is_fresh(), reason="the site is not built from these sources: make site")
def test_every_licence_inside_is_in_the_expression_and_its_text_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    packages = json.loads((build_site.SITE / "licences" / "index.json").read_text(encoding="utf-8"))
    assert {"pyodide", "Python", "preact", "katex", "@codemirror/view", "@fontsource-variable/inter"} <= {
        package["name"] for package in packages
    }
    inside = {licence for package in packages for licence in package["licence"].split(", ")}
    assert inside <= set(EXPRESSION.split(" AND ")) <= inside | {"MIT"}
    for package in packages:
        text = (build_site.LICENCES / package["text"]).read_text(encoding="utf-8")
        assert len(text) > 500
        assert (build_site.SITE / "licences" / package["text"]).read_text(encoding="utf-8") == text
        for page in ("help", "es/help"):
            shown = (build_site.SITE / page / "index.html").read_text(encoding="utf-8")
            assert f'licences/{package["text"]}">{package["licence"]}</a>' in shown
    assert build_site.without_licence() == []
    assert {path.name for path in build_site.LICENCES.iterdir()} == {package["text"] for package in packages}
    monkeypatch.setattr(build_site, "LICENCES", build_site.WEB)
    assert "preact" in build_site.without_licence()
    monkeypatch.setattr(build_site, "SITE", build_site.WEB)
    assert build_site.without_licence() != []


@pytest.mark.skipif(not build_site.is_fresh(), reason="the site is not built from these sources: make site")
def test_scripts_that_leave_the_package_carry_their_licences() -> None:
    for name in ("page.js", "walk.js", "order.js", "train.js"):
        text = (build_site.BUNDLES / name).read_text(encoding="utf-8")
        assert text.startswith("/*!\n")
        mit = text.count("Permission is hereby granted, free of charge")
        isc = text.count("Permission to use, copy, modify, and/or distribute this software")
        assert text.count("THE SOFTWARE IS PROVIDED") == mit + isc
        assert mit >= 1


def test_the_build_is_stale_without_the_widgets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not build_site.is_fresh():
        pytest.skip("the site is not built from these sources: make site")
    monkeypatch.setattr(build_site, "BUNDLES", tmp_path)
    assert not build_site.is_fresh()
