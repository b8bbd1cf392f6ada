"""`gradwalk learn`: serves until Ctrl-C, says where; exports; and says what to do when the site is not built."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gradwalk.cli import learn, main
from gradwalk.learn.built_site import SiteError
from gradwalk.learn.server import CourseServer, make_server

#: The command with another site and no real browser: opening one writes its address to a file.
PROGRAM = """
import sys, webbrowser
from pathlib import Path
from gradwalk.cli import learn, main
site, opened, *words = sys.argv[1:]
learn.find_site = lambda: Path(site)
webbrowser.open = lambda address: bool(Path(opened).write_text(address))
sys.exit(main(["learn", *words]))
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "index.html").write_text("<!doctype html>the course")
    return folder


@contextmanager
def running(site: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command, and what it has said up to the address."""
    command = [sys.executable, "-u", "-c", PROGRAM, str(site), str(site.parent / "opened"), *words]
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100", "BROWSER": "any"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout
        said = ""
        while "http://" not in said:
            line = process.stdout.readline()
            assert line, process.stderr and process.stderr.read()
            said += line
        try:
            yield process, said
        finally:
            process.kill()


def address_in(said: str) -> str:
    found = re.search(r"http://127\.0\.0\.1:\d+/", said)
    assert found, said
    return found[0]


def test_it_serves_opens_the_browser_and_ends_cleanly_with_ctrl_c(site: Path) -> None:
    with running(site, "--port", "0") as (process, said):
        address = address_in(said)
        with urllib.request.urlopen(address, timeout=20) as answer:
            assert answer.read() == b"<!doctype html>the course"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert (site.parent / "opened").read_text() == address
    assert "The course is closed" in out
    assert err == ""


def test_no_browser_and_a_taken_port(site: Path) -> None:
    with make_server(site, port=0) as other:
        taken = other.server_address[1]
        with running(site, "--no-browser", "--port", str(taken)) as (process, said):
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=30)
    assert f"port {taken} is taken" in said
    assert int(address_in(said).rsplit(":", 1)[1].rstrip("/")) > taken
    assert not (site.parent / "opened").exists()


def test_it_says_where_when_no_browser_can_be_opened(
    site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(server: CourseServer) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(learn, "find_site", lambda: site)
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    monkeypatch.setattr(CourseServer, "serve_forever", interrupted)
    assert main(["learn", "--port", "0"]) == 0
    said = capsys.readouterr().out
    assert address_in(said)
    assert "open the address yourself" in said
    assert "The course is closed" in said


def test_export(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(learn, "find_site", lambda: site)
    target = tmp_path / "public [1]"
    assert main(["learn", "--export", str(target)]) == 0
    assert (target / "index.html").exists()
    where, command = capsys.readouterr().out.splitlines()  # each in one line, however long the folder's name is
    assert where == f"1 files are in {target}: put them on any web host, under any address"
    assert command.endswith(f"python -m http.server -b 127.0.0.1 -d '{target}'")  # to copy: quoted for the shell
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("…")
    assert main(["learn", "--export", str(tmp_path / "mine")]) == 2
    assert "not empty" in capsys.readouterr().err


def test_a_site_that_is_not_built(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def missing() -> Path:
        raise SiteError("the course is not built: make site")

    monkeypatch.setattr(learn, "find_site", missing)
    assert main(["learn"]) == 2
    assert capsys.readouterr().err == "gradwalk learn: the course is not built: make site\n"


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_a_port_is_a_port(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", "--port", port]) == 2
    assert "whole number from 0 to 65535" in capsys.readouterr().err


def test_it_is_the_first_command_told(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    assert re.search(r"gradwalk (\w+)\s", capsys.readouterr().out.split("\n\n")[1])[1] == "learn"  # type: ignore[index]


def test_without_a_screen_no_browser_takes_over_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    assert not learn._has_screen()
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert learn._has_screen()
