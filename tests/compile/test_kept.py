"""Machine code on disk: only what is this user's own, whole, and in its place is ever run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from gradwalk.compile.native import kept, objects
from gradwalk.compile.native.kept import MachineCode

CODE = MachineCode(["exp"], b"machine code")
posix = pytest.mark.skipif(os.name == "nt", reason="modes and owners are a matter of POSIX")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRADWALK_CACHE", str(tmp_path / "kept"))
    kept._say.cache_clear()  # the next test may have a folder of the same name
    kept.write("one", CODE)
    assert kept.read("one") == CODE
    return tmp_path / "kept"


def test_what_is_damaged_counts_as_missing(place: Path) -> None:
    file = place / "one.bin"
    whole = file.read_bytes()
    head, content = whole[len(kept.MAGIC) :].split(b"\n", 1)
    facts = json.loads(head)

    def with_head(head: bytes) -> bytes:
        return kept.MAGIC + head + b"\n" + content

    others = [{**facts, "symbol": "two"}, {**facts, "symbol": None}, {**facts, "sha256": 0}, {**facts, "outside": None}]
    others += [{**facts, "outside": "exp"}, {**facts, "outside": [1]}, {"sha256": facts["sha256"]}, {}]
    heads = [json.dumps(other).encode() for other in others]
    heads += [b"[]", b"null", b"1", b'"text"', b"", b"\xff", b"[" * 100_000, b"{" * 5, b"NaN", head[:-1]]
    damaged = [whole[:-1], whole[:40], b"", b"\n", whole[:-1] + b"?", b"something else" + whole, *map(with_head, heads)]
    for text in damaged:
        file.write_bytes(text)
        assert kept.read("one") is None, text[:80]
    file.write_bytes(whole)
    assert kept.read("one") == CODE
    file.unlink()
    assert kept.read("one") is None
    file.mkdir()
    assert kept.read("one") is None


@posix
@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777, 0o1777])
def test_a_folder_that_others_can_write_to_is_not_used_and_it_is_said_why(place: Path, mode: int) -> None:
    place.chmod(mode)
    with pytest.warns(RuntimeWarning, match=r"not used, and compiled anew: other users can write to .*; chmod go-w "):
        assert kept.read("one") is None
    with warnings.catch_warnings():  # said once
        kept.write("two", CODE)
        assert kept.read("one") is None
    assert not (place / "two.bin").exists()
    place.chmod(0o755)
    assert kept.read("one") == CODE


@posix
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(place: Path) -> None:
    (place / "one.bin").unlink()
    os.mkfifo(place / "one.bin")
    assert kept.read("one") is None
    kept.write("one", CODE)
    assert kept.read("one") == CODE


@posix
@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_file_that_others_can_write_to_is_not_used(place: Path, mode: int) -> None:
    (place / "one.bin").chmod(mode)
    with pytest.warns(RuntimeWarning, match=r"other users can write to a file in .*; chmod go-w .*\*\.bin"):
        assert kept.read("one") is None


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("whose", ["folder", "file"])
def test_what_belongs_to_another_user_is_not_used(place: Path, whose: str) -> None:
    os.chown(place if whose == "folder" else place / "one.bin", 12345, -1)
    with pytest.warns(RuntimeWarning, match=r"belongs to another user; name a folder of your own in GRADWALK_CACHE"):
        assert kept.read("one") is None
    link = place.parent / "link"
    link.symlink_to(place)
    os.environ["GRADWALK_CACHE"] = str(link)  # put back by the fixture
    with pytest.warns(RuntimeWarning, match="another user"):
        assert kept.read("one") is None


def test_what_was_never_finished_is_cleared_away_when_it_is_old(place: Path) -> None:
    old, young, foreign = place / "tmpold.part", place / "tmpyoung.part", place / "mine.txt"
    for path in (old, young, foreign):
        path.write_text("half")
    os.utime(old, (time.time() - 2 * kept.OLD,) * 2)
    kept._tidy.cache_clear()
    kept.write("two", CODE)
    assert {path.name for path in place.iterdir()} == {"one.bin", "two.bin", "tmpyoung.part", "mine.txt"}
    (place / "one.bin").rename(place / "gradwalk_one.bin")
    kept.clear()
    assert {path.name for path in place.iterdir()} == {"two.bin", "mine.txt"}


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"XDG_CACHE_HOME": "", "HOME": "/some/home"}, "/some/home/.cache/gradwalk/native"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/some/home"}, "/some/home/.cache/gradwalk/native"),
        ({"XDG_CACHE_HOME": "/xdg", "HOME": "/some/home"}, "/xdg/gradwalk/native"),
        ({"HOME": "/some/home"}, "/some/home/.cache/gradwalk/native"),
        ({"GRADWALK_CACHE": "", "HOME": "/some/home"}, "/some/home/.cache/gradwalk/native"),
        ({"GRADWALK_CACHE": "/chosen", "XDG_CACHE_HOME": "/xdg"}, "/chosen"),
        ({"GRADWALK_CACHE": "~/chosen", "HOME": "/some/home"}, "/some/home/chosen"),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="folders as on Linux")
def test_the_folder(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], expected: str) -> None:
    for name in ("GRADWALK_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name)
    for name, x in environment.items():
        monkeypatch.setenv(name, x)
    assert str(kept.folder()) == expected


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can become a user without a home")
def test_without_a_home_nothing_is_kept_and_everything_works() -> None:
    script = """
import os
from gradwalk.compile.native import kept
os.setuid(54321)  # whom no list of users knows
assert kept.folder() is None
kept.write("one", kept.MachineCode([], b""))
assert kept.read("one") is None
kept.clear()
"""
    unset = ("HOME", "GRADWALK_CACHE", "XDG_CACHE_HOME")
    environment = {name: x for name, x in os.environ.items() if name not in unset}
    run = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def times(factor: str) -> objects.Native:
    return objects.generated("test kept", f"def kernel(at, unused):\n    x = doubles(at)\n    x[0] = x[0] * {factor}\n")


def result(native: objects.Native) -> float:
    x = np.array([3.0])
    objects.call(native)(x.ctypes.data, 0)
    return float(x[0])


def test_files_that_were_swapped_are_compiled_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADWALK_CACHE", str(tmp_path))
    natives = [times("2.0"), times("5.0")]
    assert [result(native) for native in natives] == [6.0, 15.0]
    first, second = tmp_path.glob("*.bin")
    texts = first.read_bytes(), second.read_bytes()
    first.write_bytes(texts[1])
    second.write_bytes(texts[0])
    for native in natives:
        del objects._addresses[native]
    compiled = objects.record["compiled"]
    assert [result(native) for native in natives] == [6.0, 15.0]
    assert objects.record["compiled"] == compiled + 2
    there = kept.read(first.stem)
    assert there is not None
    assert kept.read(second.stem) is not None
    assert objects._link("gradwalk_of_another_name", there) == 0
    assert objects._link(first.stem, there._replace(outside=["no_such_function"])) == 0


@pytest.mark.parametrize(
    ("name", "same"), [("NUMBA_CPU_NAME", False), ("NUMBA_CPU_FEATURES", False), ("NUMBA_NUM_THREADS", True)]
)
def test_what_numba_is_told_of_the_processor_is_part_of_the_name(
    monkeypatch: pytest.MonkeyPatch, name: str, same: bool
) -> None:
    before = objects._surroundings.__wrapped__()
    monkeypatch.setenv(name, "1")
    assert (objects._surroundings.__wrapped__() == before) == same
