from __future__ import annotations

import json
import math
import os
import stat
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradwalk import store
from gradwalk.errors import ModelFileError, SettingError

STATE = {"w.0": 0.1, "w.1": -2.5, "b": 0.0}


def bits(state: dict[str, float]) -> dict[str, bytes]:
    return {name: struct.pack("d", x) for name, x in state.items()}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.json"


@pytest.fixture
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


# --- there and back ----------------------------------------------------------------------------------------------


@settings(deadline=None)  # a disk may take its time
@given(st.dictionaries(st.text(), st.floats(allow_nan=False) | st.just(math.nan)))
def test_every_number_and_name_comes_back_to_the_last_bit(state: dict[str, float]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store.write(state, Path(folder) / "model.json")
        found = store.read(Path(folder) / "model.json")
    assert list(found) == list(state)
    assert bits(found) == bits(state)


def test_the_file_is_readable_json(path: Path) -> None:
    store.write({"w": 0.1, "x": math.nan, "y": math.inf, "z": -math.inf}, path)

    def refuse(text: str) -> float:
        raise AssertionError(f"{text} is no JSON")

    document = json.loads(path.read_text(), parse_constant=refuse)
    assert document == {
        "format": "gradwalk model",
        "version": 1,
        "parameters": {"w": 0.1, "x": "nan", "y": "inf", "z": "-inf"},
    }
    assert len(path.read_text().splitlines()) == 10  # a line for each parameter, for people and for diff


def test_a_file_written_by_hand_may_hold_whole_numbers_and_other_white_space(path: Path) -> None:
    path.write_text('{"parameters": {"w": 1, "b": -0.0},\n"version": 1,   "format": "gradwalk model"}')
    assert bits(store.read(path)) == bits({"w": 1.0, "b": -0.0})


# --- writing -----------------------------------------------------------------------------------------------------


def test_an_old_file_is_replaced_and_nothing_else_is_left(path: Path) -> None:
    store.write({"old": 1.0}, path)
    store.write(STATE, path)
    assert store.read(path) == STATE
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.usefixtures("usual_umask")
def test_permissions_are_those_of_any_new_file_or_of_the_old_one(path: Path) -> None:
    store.write(STATE, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    path.chmod(0o600)
    store.write(STATE, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_goes_on_pointing_at_its_file(path: Path) -> None:
    link = path.with_name("latest.json")
    link.symlink_to(path.name)
    store.write({"old": 1.0}, link)  # the file need not be there yet
    store.write(STATE, link)
    assert link.is_symlink()
    assert store.read(path) == STATE


def test_a_name_as_long_as_a_name_can_be(tmp_path: Path) -> None:
    path = tmp_path / ("m" * 250 + ".json")
    store.write(STATE, path)
    assert store.read(path) == STATE
    with pytest.raises(ModelFileError, match="File name too long"):
        store.write(STATE, tmp_path / ("m" * 300))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("broken", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["full", "ctrl-c"])
def test_a_write_that_fails_leaves_the_old_file_and_no_draft(
    path: Path, monkeypatch: pytest.MonkeyPatch, broken: str, error: BaseException
) -> None:
    store.write(STATE, path)

    def fail(*_: Any) -> None:
        raise error

    with monkeypatch.context() as patch:
        if broken == "fsync":
            patch.setattr(os, "fsync", fail)
        else:
            patch.setattr(Path, "replace", fail)
        expected = ModelFileError if isinstance(error, OSError) else KeyboardInterrupt
        with pytest.raises(expected) as caught:
            store.write({"new": 1.0}, path)
    if isinstance(error, OSError):
        assert str(caught.value) == f"could not save the model to {path}: No space left on device"
    assert store.read(path) == STATE
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_that_cannot_be_flushed_does_not_matter(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> int:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        store.write(STATE, path)
    assert store.read(path) == STATE


def test_places_that_cannot_be_written_to(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        ModelFileError, match=r"could not save the model to .*model\.json: there is no folder .*nowhere; make"
    ):
        store.write(STATE, path.parent / "nowhere" / "model.json")
    with pytest.raises(ModelFileError, match="it is a folder; give a file name in it"):
        store.write(STATE, path.parent)
    pipe = path.with_name("pipe")
    os.mkfifo(pipe)
    with pytest.raises(ModelFileError, match="it is not an ordinary file"):
        store.write(STATE, pipe)
    assert pipe.is_fifo()
    pipe.unlink()
    with pytest.raises(ModelFileError, match="embedded null"):
        store.write(STATE, f"{path}\0")
    store.write(STATE, path)
    with pytest.raises(ModelFileError, match="Not a directory"):
        store.write(STATE, path / "model.json")
    monkeypatch.setattr(os, "access", lambda *_: False)  # as for a read-only file; root may write to those
    with pytest.raises(ModelFileError, match="the file is read-only"):
        store.write({"new": 1.0}, path)
    assert store.read(path) == STATE
    assert list(path.parent.iterdir()) == [path]


# --- reading -----------------------------------------------------------------------------------------------------


def test_places_that_cannot_be_read(path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"could not read the model file .*model\.json: No such file or directory"):
        store.read(path)
    with pytest.raises(ModelFileError, match=r"could not read the model file .*: Is a directory"):
        store.read(path.parent)
    with pytest.raises(ModelFileError, match="embedded null"):
        store.read("\0")


FOREIGN = {
    "text": b"# A read-me, not a model\n",
    "binary": bytes(range(256)),
    "pickle": b"\x80\x04\x95\x10\x00\x00\x00",
    "not utf-8": b'{"parameters": "\xff\xfe"}',
    "a list": b"[1, 2, 3]",
    "a number": b"3.5",
    "other JSON": b'{"weights": [1.0]}',
    "another format": b'{"format": "somebody else\'s model", "version": 1, "parameters": {}}',
    "brackets": b"[" * 100_000,
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN.keys())
def test_files_of_other_kinds(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(
        ModelFileError, match=r"model\.json is not a gradwalk model file \(.*; give a file made by save\(\)"
    ):
        store.read(path)


@pytest.mark.parametrize("content", [b"", b" \n"])
def test_an_empty_file(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="it is empty"):
        store.read(path)


@pytest.mark.parametrize("version", [0, 2, "1", 1.0, True, None, [1]])
def test_files_of_another_version(path: Path, version: Any) -> None:
    path.write_text(json.dumps({"format": "gradwalk model", "version": version, "parameters": {}}))
    with pytest.raises(ModelFileError, match=r"of version .*, and this gradwalk reads version 1"):
        store.read(path)


DAMAGED = {
    '{"w": NaN}': "truncated or damaged .NaN is no JSON",
    '{"w": Infinity}': "truncated or damaged .Infinity is no JSON",
    '{"w": 1.0, "w": 2.0}': "truncated or damaged .'w' stands in it twice",
    '{"w": 0.1.2}': "truncated or damaged",
    '{"w": "one"}': 'w is "one", which is not a number',
    '{"w": "NaN"}': 'w is "NaN", which is not a number',
    '{"w": null}': "w is null, which is not a number",
    '{"w": true}': "w is true, which is not a number",
    '{"w": [1.0]}': r"w is \[1.0\], which is not a number",
    '{"w": {"deep": "%s"}}' % ("x" * 100): r"w is \{.*\.\.\., which is not a number",
    '{"w": 1e999}': "w is too large for a float",
    '{"w": 1%s}' % ("0" * 400): "w is too large for a float",
    '{"w": 1%s}' % ("0" * 5000): "damaged",
    "[]": 'it has no "parameters"',
    "null": 'it has no "parameters"',
}


@pytest.mark.parametrize(("parameters", "message"), DAMAGED.items(), ids=[text[:24] for text in DAMAGED])
def test_damaged_files(path: Path, parameters: str, message: str) -> None:
    path.write_text(f'{{"format": "gradwalk model", "version": 1, "parameters": {parameters}}}')
    with pytest.raises(ModelFileError, match=message) as caught:
        store.read(path)
    assert "save the model again" in str(caught.value)


def test_a_file_without_parameters_at_all(path: Path) -> None:
    path.write_text('{"format": "gradwalk model", "version": 1}')
    with pytest.raises(ModelFileError, match='it has no "parameters"'):
        store.read(path)


class BytesPath:
    def __fspath__(self) -> bytes:
        return b"model.json"


@pytest.mark.parametrize("path", [None, 3, "", b"model.json", BytesPath()], ids=lambda path: type(path).__name__)
def test_what_is_no_path(path: Any) -> None:
    for action in (lambda: store.read(path), lambda: store.write(STATE, path)):
        with pytest.raises(SettingError, match=r"a model file has a path such as 'model\.json', not"):
            action()
