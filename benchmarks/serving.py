"""Loads the course's server: a thousand browsers at once, each over a connection of its own.

    python benchmarks/serving.py [--connections N] [--requests N] [--out FOLDER]

The server runs in a process of its own, as `gradwalk learn` does; the browsers are another. Each opens a connection,
all at the same moment, and asks for files of the course in turn. The first time is from the wish for a connection to
the last byte of the answer, the others are from the request on. Exits with 1 if an answer is wrong or missing, or if
the slowest hundredth took longer than a second.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

from gradwalk.learn.built_site import find_site, site_files

LIMIT = 1.0  # seconds, for 99 of 100 answers
LARGE = 2_000_000  # bytes: what one fetches once, and a thousand times over would measure the memory's speed


def main() -> int:
    """Measure, print, and write serving.json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=1000)
    parser.add_argument("--requests", type=int, default=3, help="how many answers each connection asks for")
    parser.add_argument("--out", type=Path, default=Path("out/bench"))
    options = parser.parse_args()
    if options.connections < 1 or options.requests < 1:
        parser.error("--connections and --requests must be at least 1")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 2 * options.connections + 100)), hard))

    with subprocess.Popen(
        [sys.executable, "-u", "-m", "gradwalk", "learn", "--port", "0", "--no-browser"],
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            found = re.search(r"http://127\.0\.0\.1:(\d+)/", server.stdout.readline())
            if found is None:
                raise SystemExit("the server did not say where it is")
            figures = asyncio.run(load(int(found[1]), paths(), options.connections, options.requests))
        finally:
            server.terminate()
    print(
        f"{figures['connections']} connections, {figures['answers']} answers in {figures['seconds']:.2f} s; "
        f"median {figures['median'] * 1e3:.0f} ms, p99 {figures['p99'] * 1e3:.0f} ms, slowest "
        f"{figures['slowest'] * 1e3:.0f} ms; {figures['errors']} errors"
    )
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "serving.json").write_text(json.dumps(figures, indent=1) + "\n")
    return int(figures["errors"] > 0 or figures["p99"] > LIMIT)


def paths() -> dict[str, int]:
    """What is asked for: every file but the largest, each with its size."""
    site = find_site()
    sizes = {f"/{path.as_posix()}": (site / path).stat().st_size for path in site_files(site)}
    return {path: size for path, size in sizes.items() if size < LARGE}


async def load(port: int, wanted: dict[str, int], connections: int, requests: int) -> dict[str, float]:
    """Ask from all connections at once; how long the answers took."""
    files, start = list(wanted.items()), asyncio.Event()

    async def browser(number: int) -> list[float]:
        await start.wait()
        taken, began = [], time.perf_counter()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for turn in range(requests):
            path, size = files[(number * requests + turn) % len(files)]
            writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", head)
            if not head.startswith(b"HTTP/1.1 200 ") or length is None or int(length[1]) != size:
                raise ValueError(head.decode())
            await reader.readexactly(size)
            taken.append(time.perf_counter() - began)
            began = time.perf_counter()
        writer.close()
        return taken

    tasks = [asyncio.create_task(browser(i)) for i in range(connections)]
    await asyncio.sleep(0)
    began = time.perf_counter()
    start.set()
    results = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 120)
    seconds = time.perf_counter() - began
    taken = sorted(t for times in results if isinstance(times, list) for t in times)
    errors = [error for error in results if isinstance(error, BaseException)]
    for error in errors[:3]:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
    return {
        "connections": connections,
        "answers": len(taken),
        "errors": len(errors),
        "seconds": seconds,
        "median": taken[len(taken) // 2] if taken else 0.0,
        "p99": taken[len(taken) * 99 // 100] if taken else float("inf"),
        "slowest": taken[-1] if taken else float("inf"),
    }


if __name__ == "__main__":
    sys.exit(main())
