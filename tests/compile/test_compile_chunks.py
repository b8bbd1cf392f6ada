"""Batches that are not in memory: chunks, np.memmap, Dask arrays; the sum stays right."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradwalk
from gradwalk import Value, optim
from gradwalk.compile.call import chunks as chunking
from gradwalk.errors import InputSizeError, NotANumberError, SettingError

from_array: Any = import_module("dask.array").from_array
ROWS = 1003


@pytest.fixture
def data() -> tuple[Any, Any]:
    numbers = np.random.default_rng(1).normal(size=(ROWS, 3))
    return numbers, numbers.sum(1)


def functions(batch: str) -> tuple[Any, list[Value]]:
    ws = [Value(0.1), Value(-0.2), Value(0.3)]

    def loss(x: Any, y: Any) -> Any:
        return (ws[0] * x[0] + ws[1] * x[1] + (ws[2] * x[2]).tanh() - y) ** 2

    return gradwalk.compile(loss, batch=batch), ws


def found(result: Any, ws: list[Value]) -> list[float]:
    for w in ws:
        w.grad = 0.0
    result.backward()
    return [result.data, *(w.grad for w in ws)]


def cut(X: Any, y: Any, rows: int) -> Iterator[tuple[Any, Any]]:
    for start in range(0, len(X), rows):
        yield X[start : start + rows], y[start : start + rows]


@pytest.mark.parametrize("batch", ["sum", "mean"])
@pytest.mark.parametrize("rows", [100, 1003, 5000])
def test_chunks_of_any_size_add_up_to_the_whole(data: tuple[Any, Any], batch: str, rows: int) -> None:
    loss, ws = functions(batch)
    expected = found(loss(*data), ws)
    told: list[tuple[int, int, int]] = []
    assert found(loss.over(cut(*data, rows), progress=lambda *n: told.append(n)), ws) == pytest.approx(
        expected, rel=1e-12
    )
    assert told[-1] == (-(-ROWS // rows), 0, 0)
    assert found(loss.over(list(cut(*data, rows))), ws) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("batch", ["sum", "mean"])
def test_a_memmap_and_a_dask_array_are_taken_in_pieces(
    data: tuple[Any, Any], batch: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loss, ws = functions(batch)
    expected = found(loss(*data), ws)
    monkeypatch.setattr(chunking, "BYTES", 100 * 3 * 8)
    seen: list[int] = []
    run = loss.__call__
    on_disk = np.memmap(tmp_path / "X", np.float64, "w+", shape=data[0].shape)
    on_disk[:] = data[0]
    monkeypatch.setattr(chunking.ChunkSum, "add", _counting(chunking.ChunkSum.add, seen))
    assert found(loss(on_disk, data[1]), ws) == pytest.approx(expected, rel=1e-12)
    assert seen == [100] * 10 + [3]
    assert found(loss(x=on_disk, y=data[1].tolist()), ws) == pytest.approx(expected, rel=1e-12)
    lazy = from_array(data[0], chunks=(77, 3))
    assert found(loss(lazy, from_array(data[1], chunks=50)), ws) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(InputSizeError, match=r"here are \[3, 1003\]"):
        loss(on_disk, data[1][:3])
    del run


def _counting(add: Any, seen: list[int]) -> Any:
    def counted(self: Any, result: Any, samples: int) -> None:
        seen.append(samples)
        add(self, result, samples)

    return counted


def test_a_training_over_chunks_is_the_training_over_the_whole(data: tuple[Any, Any]) -> None:
    ends = []
    for chunked in (False, True):
        loss, ws = functions("mean")
        descent = optim.Adam(ws, lr=0.05)
        for _ in range(5):
            total = loss.over(cut(*data, 300)) if chunked else loss(*data)
            descent.zero_grad()
            total.backward()
            descent.step()
        ends.append([w.data for w in ws])
    assert ends[0] == pytest.approx(ends[1], rel=1e-10)


def test_the_sum_is_a_value_like_any_other(data: tuple[Any, Any]) -> None:
    loss, ws = functions("sum")
    expected = found(loss(*data), ws)
    chunked = loss.over(cut(*data, 300))
    assert found(chunked * 2.0 + 1.0, ws)[1:] == pytest.approx([2 * x for x in expected[1:]], rel=1e-12)
    gradwalk.zero_grad(chunked)
    assert [w.grad for w in ws] == [0.0] * 3
    chunked.backward()
    chunked.backward(0.5)
    assert ws[0].grad == pytest.approx(1.5 * expected[1], rel=1e-12)
    handle = chunked.register_hook(lambda gradient: 10 * gradient)
    assert found(chunked, ws)[1:] == pytest.approx([10 * x for x in expected[1:]], rel=1e-12)
    handle.remove()
    ws[0].data = 5.0  # too late for what was computed
    assert found(chunked, ws)[1:] == pytest.approx(expected[1:], rel=1e-12)


def test_hooks_on_parameters_are_called_once_for_all_chunks(data: tuple[Any, Any]) -> None:
    loss, ws = functions("sum")
    expected = found(loss(*data), ws)
    seen: list[float] = []
    ws[0].register_hook(seen.append)
    ws[0].register_hook(lambda gradient: 10 * gradient)
    chunked = found(loss.over(cut(*data, 300)), ws)
    assert seen == pytest.approx(expected[1:2], rel=1e-12)
    assert chunked == pytest.approx([expected[0], 10 * expected[1], *expected[2:]], rel=1e-12)


def test_what_observers_see_adds_up_too(data: tuple[Any, Any]) -> None:
    loss, ws = functions("mean")
    X, y = data[0][:20], data[1][:20]
    expected = found(loss(X, y), ws)
    with gradwalk.anomaly():
        watched = loss.over(cut(X, y, 7))
    assert found(watched, ws) == pytest.approx(expected, rel=1e-12)
    with gradwalk.no_grad():
        assert loss.over(cut(X, y, 7)).data == pytest.approx(expected[0], rel=1e-12)


def test_what_is_no_chunk_is_refused(data: tuple[Any, Any]) -> None:
    loss, _ = functions("sum")
    for wrong, words in (
        ([data[0]], "a chunk is a tuple"),
        ({"x": data[0]}, "over.. takes chunks"),
        (3, "over.. takes"),
    ):
        with pytest.raises(SettingError, match=words):
            loss.over(wrong)
    with pytest.raises(InputSizeError, match="no chunks"):
        loss.over([])
    each, _ = functions("each")
    with pytest.raises(SettingError, match="one chunk at a time"):
        each.over(cut(*data, 10))
    pair = gradwalk.compile(lambda x: (x, x * x), batch="sum")
    with pytest.raises(SettingError, match="one number"):
        pair.over([([1.0, 2.0],)])
    with pytest.raises((NotANumberError, SettingError)):
        loss.over([("x", "y")])


def test_gradients_that_are_infinite_are_added_up_without_a_warning() -> None:
    """As they are in the plain function: inf and -inf make nan."""
    w, v = Value(2.0), gradwalk.Tensor(np.array([1.0, 2.0], "float32"))
    total = gradwalk.compile(lambda x: w / x, batch="sum")
    each = gradwalk.compile(lambda x: w / x, batch="each")
    by_array = gradwalk.compile(lambda x: (v / x).sum())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for f in (total, each):
            w.grad = 0.0
            for x in (0.0, -0.0):
                f(np.array([x, 1.0])).backward()
            assert np.isnan(w.grad)
        w.grad = 0.0
        total.over([(np.array([x, 1.0]),) for x in (0.0, -0.0)], progress=False).backward()
        assert np.isnan(w.grad)
        for x in (0.0, -0.0):
            by_array(gradwalk.Tensor(np.array([x, 1.0], "float32"))).backward()
        assert np.isnan(v.grad.tolist()[0])
