"""The benchmarks run, compare like with like, and write what they say they write. No time is asserted here."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import build_site
import pytest
import soak
from contest import shown
from measure import bytes_a_node, check_that_they_agree, interleaved
from workloads import Engine, Job, chain, gpt_name, gradwalk_engine, micrograd_engine, moons, torch_engine

from gradwalk import Value

pytestmark = pytest.mark.native

ROOT = Path(__file__).resolve().parents[1]


def test_make_bench_prints_a_table_and_writes_json_and_a_plot(tmp_path: Path) -> None:
    command = [sys.executable, "benchmarks/run.py", "--quick", "--repeats", "1", "--out", str(tmp_path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr[-2000:]
    assert "faster" in run.stdout
    figures = json.loads((tmp_path / "eager.json").read_text())
    assert {row["peer"] for row in figures["times"]} == {"micrograd", "torch scalars"}
    assert all(row["ratio"] == pytest.approx(row["peer_ms"] / row["ms"]) for row in figures["times"])
    assert [row["length"] for row in figures["chain"]] == [100, 1000, 10000]
    assert (tmp_path / "eager.png").read_bytes().startswith(b"\x89PNG")


def test_growth_of_the_compiled_path_is_measured_and_plotted(tmp_path: Path) -> None:
    command = [sys.executable, "benchmarks/compiled.py", "--quick", "--only", "growth", "--out", str(tmp_path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr[-2000:]
    rows = json.loads((tmp_path / "compiled.json").read_text())["growth"]
    assert [row["nodes"] for row in rows] == [644, 9660]
    assert all(row[name] > 0 for row in rows for name in ("trace", "analysis", "replay"))
    assert (tmp_path / "compiled.png").read_bytes().startswith(b"\x89PNG")


def test_bad_repeats_are_refused() -> None:
    run = subprocess.run(
        [sys.executable, "benchmarks/run.py", "--repeats", "0"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 2
    assert "--repeats must be at least 1, not 0" in run.stderr


@pytest.mark.parametrize("workload", [lambda e: moons(e, 3), lambda e: gpt_name(e, 1), lambda e: chain(e, 50)])
def test_every_engine_computes_the_same(workload: object) -> None:
    check_that_they_agree([workload(engine()) for engine in (gradwalk_engine, micrograd_engine, torch_engine)])  # type: ignore[operator]


def test_engines_that_differ_are_not_compared() -> None:
    def job(name: str, factor: float) -> Job:
        x = Value(3.0)
        return Job(Engine(name, Value, Value.exp, Value.log), lambda: x * factor * x * (1 / factor), [x])

    check_that_they_agree([job("one", 1.0), job("other", 2.0)])

    y = Value(3.0)
    wrong = Job(Engine("wrong", Value, Value.exp, Value.log), lambda: y * y.detach(), [y])
    with pytest.raises(AssertionError, match=r"one and wrong differ in gradient 0: 6.0, 3.0"):
        check_that_they_agree([job("one", 1.0), wrong])
    with pytest.raises(AssertionError, match="differ in the loss"):
        check_that_they_agree([job("one", 1.0), Job(wrong.engine, lambda: y * y * y, [y])])


def test_the_whole_graph_is_weighed() -> None:
    nodes, built, walked = bytes_a_node(chain(gradwalk_engine(), 1000))
    assert nodes == 1002
    assert 100 < built < walked < 200
    assert bytes_a_node(chain(micrograd_engine(), 300))[1] > 3 * built


def test_the_collector_is_on_again_afterwards() -> None:
    import gc

    ticks: list[int] = []
    job = chain(gradwalk_engine(), 10)
    best = interleaved([job, job], 2, collector=False, tick=lambda: ticks.append(1))
    assert gc.isenabled()
    assert len(best) == 2
    assert len(ticks) == 4


def test_the_readmes_figures_are_those_of_the_kept_run() -> None:
    figures = json.loads((ROOT / "benchmarks" / "results" / "eager.json").read_text())
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for row in figures["times"]:
        state = "on" if row["collector"] else "off"
        shown = f"| {row['workload']} | {row['peer']} | {state} | {row['peer_ms']:.0f} ms | {row['ms']:.0f} ms | "
        assert f"{shown}**{row['ratio']:.1f}×** |" in text
    ours, theirs = figures["memory"][:2]
    assert f"takes {ours['built']:.0f} bytes in a graph that was just built and {ours['walked']:.0f} once it is" in text
    assert f"(micrograd: {theirs['built']:.0f} and {theirs['walked']:.0f})" in text
    assert f"a million products costs {figures['chain'][-1]['microseconds_a_node']:.2f} µs a node" in text


def test_the_readmes_figures_of_the_compiled_path_are_those_of_the_kept_run() -> None:
    figures = json.loads((ROOT / "benchmarks" / "results" / "compiled.json").read_text())
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for row in figures["figures"]:
        assert row["ratio"] == pytest.approx(row["peer_seconds"] / row["seconds"])
        ratio = f"{row['ratio']:,.2g}" if row["ratio"] < 10 else f"{row['ratio']:,.0f}"
        times = f"{shown(row['peer_seconds'])} | {shown(row['seconds'])}"
        assert f"| {row['what']} | {row['peer']} | {times} | **{ratio}×** |" in text
    first, warm, cold, node = (row["seconds"] for row in figures["limits"])
    words = " ".join(text.split())
    assert f"with its 65,000 operations, takes {1e3 * first:.0f} ms" in words
    assert f"through its first native step after {warm:.1f} s" in words
    assert f"on the machine, after {cold:.0f} s" in words
    assert f"costs {1e9 * node:.1f} ns a node" in words
    largest = figures["growth"][-1]
    assert largest["nodes"] > 9e6
    assert f"traced in {largest['trace']:.0f} s, analysed in {largest['analysis']:.1f} s" in words
    assert f"replayed in {1e3 * largest['replay']:.1f} ms" in words


def test_the_readmes_figures_of_tensors_are_those_of_the_kept_run() -> None:
    figures = json.loads((ROOT / "benchmarks" / "results" / "tensors.json").read_text())
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for row in figures["figures"]:
        times = f"{shown(row['peer_seconds'])} | {shown(row['seconds'])}"
        assert f"| {row['what']} | {row['peer']} | {times} | **{row['ratio']:.2g}×** |" in text
    forward, back = ([1e6 * row[way] for row in figures["ops"]] for way in ("forward", "back"))
    most = f"takes {min(forward):.1f} to {max(forward):.1f} µs forward and {min(back):.1f} to {max(back):.1f} µs back"
    assert most in " ".join(text.split())


def test_tensors_are_measured_against_those_that_are_installed(tmp_path: Path) -> None:
    command = [sys.executable, "benchmarks/tensors.py", "--only", "W1", "--repeats", "1", "--out", str(tmp_path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr[-2000:]
    rows = json.loads((tmp_path / "tensors.json").read_text())["figures"]
    assert {"torch", "ours, in scalars"} <= {row["peer"] for row in rows}
    assert all(row["ratio"] == pytest.approx(row["peer_seconds"] / row["seconds"]) for row in rows)


def test_the_figures_of_scaling_out_are_those_of_the_kept_run() -> None:
    figures = json.loads((ROOT / "benchmarks" / "results" / "scale.json").read_text())
    text = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    for name, title in (
        ("one worker", "`workers=1`"),
        ("processes", "processes (joblib)"),
        ("dask", "Dask"),
        ("ray", "Ray"),
    ):
        row = figures["rows"][name]
        times = f"{row['start_s']:.1f} s | {row['job_ms']:.2f} ms | {row['trainings_s']:.1f} s | {row['gain']:.2f}×"
        assert f"| {title} | {times} |" in text
    bare = figures["rows"]["two loops"]
    assert f"| two plain loops, in two processes | | | {bare['trainings_s']:.1f} s | {bare['gain']:.2f}× | |" in text
    job, training = figures["rows"]["dask"]["job_ms"] / 1e3, figures["training_s"]
    assert f"out {1 / job:.0f} jobs a second, and keep {training / job:.0f} workers busy" in " ".join(text.split())
    assert f"on 2,000 workers {1e6 * training / 2000:.0f} s" in text
    assert f"costs {figures['kept_ms']:.1f} ms more" in text


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.parametrize("job", soak.JOBS)
def test_each_part_of_the_soak_works_and_leaves_no_file(job: Callable[..., None], tmp_path: Path) -> None:
    if job is soak.serve and not build_site.is_fresh():
        pytest.skip("the site is not built from these sources: make site")
    job(random.Random(0), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_soak_passes_what_keeps_nothing(tmp_path: Path) -> None:
    figures = soak.soak(0, tmp_path, [soak.train, soak.travel])
    assert figures["failures"] == []
    assert figures["rounds"] == 20


def test_the_soak_notices_what_is_kept(tmp_path: Path) -> None:
    kept: list[object] = []

    def keep(draw: random.Random, folder: Path) -> None:
        kept.append([Value(1.0) for _ in range(10_000)])
        kept.append(b"x" * (4 << 20))
        kept.append((folder / f"{len(kept)}").open("w"))

    figures = soak.soak(0, tmp_path, [keep])
    for file in kept[2::3]:
        file.close()  # type: ignore[attr-defined]
    for word in ("memory grew", "blocks of small objects grew", "open files:", "left behind:"):
        assert any(failure.startswith(word) for failure in figures["failures"]), word
