"""The built site: found or asked for; exported to new, empty and own folders, and nowhere else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gradwalk.learn.built_site import MARKER, SiteError, export_site, find_site, site_files


@pytest.fixture
def built(tmp_path: Path) -> Path:
    folder = tmp_path / "built"
    for name in ("index.html", "lessons/one/index.html", "assets/main-1.js", ".built-from"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


def content(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_a_site_that_is_not_built_says_how_to_build_it(tmp_path: Path) -> None:
    with pytest.raises(SiteError, match="make site"):
        find_site(tmp_path)


def test_hidden_files_are_no_part_of_the_site(built: Path) -> None:
    assert [path.as_posix() for path in site_files(built)] == [
        "assets/main-1.js",
        "index.html",
        "lessons/one/index.html",
    ]


def test_what_only_the_grader_needs_is_not_exported(built: Path, tmp_path: Path) -> None:
    (built / "pyodide").mkdir()
    for name in ("started.bin", "pyodide.mjs"):
        (built / "pyodide" / name).write_text("")
    export_site(tmp_path / "public", built)
    assert sorted(path.name for path in (tmp_path / "public" / "pyodide").iterdir()) == ["pyodide.mjs"]


def test_a_page_knows_that_it_is_exported_and_the_rest_is_as_it_was(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_bytes('<!doctype html>\n<html lang="en">…</html>'.encode())
    (site / "main.js").write_bytes(b"'<html lang'\r\n")
    export_site(tmp_path / "public", site)
    page = (tmp_path / "public" / "index.html").read_bytes().decode()
    assert page == '<!doctype html>\n<html data-offline lang="en">…</html>'
    assert (tmp_path / "public" / "main.js").read_bytes() == b"'<html lang'\r\n"


@pytest.mark.parametrize("made", [False, True])
def test_it_goes_into_a_new_or_an_empty_folder(built: Path, tmp_path: Path, made: bool) -> None:
    target = tmp_path / "deep" / "public"
    if made:
        target.mkdir(parents=True)
    assert export_site(target, built) == 3
    found = content(target)
    assert found.pop(".nojekyll") == ""
    assert json.loads(found.pop(MARKER))["files"] == sorted(found)
    assert found == {name: name for name in ("assets/main-1.js", "index.html", "lessons/one/index.html")}


def test_a_second_export_replaces_the_first_and_leaves_the_rest(built: Path, tmp_path: Path) -> None:
    target = tmp_path / "public"
    export_site(target, built)
    (target / "CNAME").write_text("example.org")
    (built / "assets/main-1.js").rename(built / "assets/main-2.js")
    export_site(target, built)
    names = content(target).keys()
    assert "assets/main-2.js" in names
    assert "assets/main-1.js" not in names
    assert (target / "CNAME").read_text() == "example.org"


def test_somebody_elses_folder_is_refused_and_left_as_it_is(built: Path, tmp_path: Path) -> None:
    target = tmp_path / "thesis"
    target.mkdir()
    (target / "chapter1.tex").write_text("…")
    with pytest.raises(SiteError, match="not empty, and not from an earlier export"):
        export_site(target, built)
    assert content(target) == {"chapter1.tex": "…"}


def test_a_foreign_file_in_the_way_is_refused_before_anything_is_written(built: Path, tmp_path: Path) -> None:
    target = tmp_path / "public"
    export_site(target, built)
    (target / "lessons/two").mkdir()
    (target / "lessons/two/index.html").write_text("somebody's own")
    (built / "lessons/two").mkdir()
    (built / "lessons/two/index.html").write_text("ours")
    (built / "index.html").write_text("new")
    with pytest.raises(SiteError, match=r"two/index.html is not from an earlier export"):
        export_site(target, built)
    assert content(target)["lessons/two/index.html"] == "somebody's own"
    assert content(target)["index.html"] == "index.html"


@pytest.mark.parametrize("marker", ["{", "[]", '{"files": 3}', '{"files": [3]}'])
def test_a_marker_that_cannot_be_read_is_refused(built: Path, tmp_path: Path, marker: str) -> None:
    target = tmp_path / "public"
    target.mkdir()
    (target / MARKER).write_text(marker)
    with pytest.raises(SiteError, match="cannot be read"):
        export_site(target, built)


def test_a_marker_cannot_make_us_delete_elsewhere(built: Path, tmp_path: Path) -> None:
    target = tmp_path / "public"
    target.mkdir()
    (tmp_path / "precious").write_text("…")
    (target / MARKER).write_text('{"files": ["../precious", "/etc/hosts"]}')
    export_site(target, built)
    assert (tmp_path / "precious").exists()


def test_a_file_is_no_folder(built: Path, tmp_path: Path) -> None:
    (tmp_path / "public").write_text("")
    with pytest.raises(SiteError, match="is a file"):
        export_site(tmp_path / "public", built)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc, where not even root may write")
def test_a_folder_that_cannot_be_written_is_told(built: Path) -> None:
    with pytest.raises(SiteError, match="cannot write"):
        export_site(Path("/proc/self/public"), built)


@pytest.mark.skipif(sys.platform == "win32", reason="limits on files are a matter of POSIX")
def test_an_export_that_broke_off_is_taken_up_by_the_same_command(built: Path, tmp_path: Path) -> None:
    (built / "zz-large.html").write_text("x" * 500_000)
    target, script = (
        tmp_path / "public",
        """
import resource, signal, sys
from pathlib import Path
from gradwalk.learn.built_site import export_site
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
export_site(sys.argv[2], Path(sys.argv[1]))
""",
    )
    for room in (0, 100_000, 100_000):  # not even for the list; not for the large file; and so again
        command = [sys.executable, "-c", script, str(built), str(target), str(room)]
        run = subprocess.run(command, capture_output=True, text=True)
        assert "SiteError: cannot write to" in run.stderr
        assert "the same command will do" in run.stderr
    (target / "CNAME").write_text("example.org")
    (built / "index.html").write_text("newer")
    export_site(target, built)
    assert content(target)["index.html"] == "newer"
    assert content(target)["CNAME"] == "example.org"
    assert not list(target.glob(".gradwalk-*"))


def test_a_path_through_a_file_is_told(built: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SiteError, match=r"cannot (write|read)"):
        export_site(tmp_path / "file" / "public", built)
