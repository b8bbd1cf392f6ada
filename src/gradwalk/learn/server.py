"""Serves the built site on this machine: its own files and nothing else, to this machine and nobody else.

Connections are taken here, requests read, and answers sent; what the answer is stands in `answers.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from http import HTTPStatus
from pathlib import Path
from typing import Self

from gradwalk.learn.answers import answer
from gradwalk.learn.built_site import SiteError

__all__ = ["HOST", "CourseServer", "make_server", "read_head"]

HOST = "127.0.0.1"
TRIED = 20  # ports, one after the other, before giving up
WAITING = 1024  # connections that may wait to be taken; beyond that a system lets them try again after a second
PATIENCE = 30  # seconds for a request to come, and for each part of an answer to be taken
LINGER = 1
BREATH = 0.1  # seconds before the next try, when the system has no file left to give
SPARE = 64  # files that the rest of the process may have open
CHUNK = LONGEST_LINE = 1 << 16  # bytes
MOST_LINES = 100  # of a request


class CourseServer:
    """Serves one folder; `address` is where a browser finds it.

    One thread does it all: a thousand threads would spend their time waiting for each other.

    >>> with CourseServer(Path("."), port=0) as server:
    ...     server.address.startswith("http://127.0.0.1:")
    True
    """

    def __init__(self, site: Path, port: int) -> None:
        self.site = site.resolve()
        self._socket = socket.create_server((HOST, port), backlog=WAITING)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over = threading.Event()
        self._stop = asyncio.Event()

    @property
    def server_address(self) -> tuple[str, int]:
        """The name and the port it listens on.

        >>> with CourseServer(Path("."), port=0) as server:
        ...     server.server_address[0]
        '127.0.0.1'
        """
        host, port = self._socket.getsockname()
        return host, port

    @property
    def address(self) -> str:
        """Where a browser finds the site.

        >>> with CourseServer(Path("."), port=0) as server:
        ...     server.address == f"http://127.0.0.1:{server.server_address[1]}/"
        True
        """
        return f"http://{HOST}:{self.server_address[1]}/"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def serve_forever(self) -> None:
        """Answer whoever asks, until Ctrl-C, or until `shutdown` is called in another thread.

        >>> with CourseServer(Path("."), port=0) as server:
        ...     server.shutdown()
        ...     server.serve_forever()
        """
        asyncio.run(self._serve())

    def shutdown(self) -> None:
        """Let `serve_forever` come to its end, now or when it begins.

        >>> with CourseServer(Path("."), port=0) as server:
        ...     server.shutdown()
        """
        self._over.set()
        with contextlib.suppress(RuntimeError):  # it has ended by itself
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._stop.set)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        with self._socket.dup() as own:
            own.setblocking(False)
            taking = asyncio.create_task(self._take(own))
            try:
                if not self._over.is_set():
                    await self._stop.wait()
            finally:
                taking.cancel()
                await asyncio.wait([taking])

    async def _take(self, listening: socket.socket) -> None:
        """Take connections while there is room for them; the others wait.

        asyncio's own server takes as many as it can. Without a file left it tries at once again, and prints each try.
        """
        room, loop, open_now = asyncio.Semaphore(_room()), asyncio.get_running_loop(), set[asyncio.Task[None]]()
        while True:
            await room.acquire()
            try:
                connection, _ = await loop.sock_accept(listening)
            except OSError:  # no more files, or a browser that has gone before it was taken
                room.release()
                await asyncio.sleep(BREATH)
                continue
            task = asyncio.create_task(self._connection(connection))
            open_now.add(task)  # a loop alone would not keep it
            task.add_done_callback(open_now.discard)
            task.add_done_callback(lambda _: room.release())

    async def _connection(self, connection: socket.socket) -> None:
        """One browser's requests, one after the other. One that goes away is no error."""
        try:
            reader, writer = await asyncio.open_connection(sock=connection, limit=LONGEST_LINE)
        except OSError:
            connection.close()
            return
        try:
            while await self._answered(reader, writer):
                pass
            writer.write_eof()
            async with asyncio.timeout(LINGER):  # else what it still sends would cut off what it is being told
                while await reader.read(CHUNK):
                    pass
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answered(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether another one may follow."""
        async with asyncio.timeout(PATIENCE):
            head, wrong = await read_head(reader)
            if not head and not wrong:
                return False
            told = answer(self.site, head, wrong)
            left = told.unread
            while left > 0:  # it means nothing here, and must not be taken for the next request
                left -= len(await reader.readexactly(min(left, CHUNK)))
        with told:
            writer.write(told.content)
            left = told.length
            while left > 0 and told.file:  # the largest file has 9 MB, and a class asks for it at once
                chunk = told.file.read(min(left, CHUNK))
                if not chunk:  # cut short meanwhile: what was promised cannot be kept
                    writer.transport.abort()
                    return False
                writer.write(chunk)
                left -= len(chunk)
                await self._taken(writer)
            await self._taken(writer)
        return not told.last

    async def _taken(self, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(PATIENCE):
            await writer.drain()


async def read_head(reader: asyncio.StreamReader) -> tuple[bytes, HTTPStatus | None]:
    """A request up to the empty line behind its headers; if that never comes, what is wrong; nothing if it was the end.

    >>> async def read(content):
    ...     reader = asyncio.StreamReader()
    ...     reader.feed_data(content)
    ...     reader.feed_eof()
    ...     return await read_head(reader)
    >>> asyncio.run(read(b"GET / HTTP/1.1\\r\\n\\r\\nGET /next"))
    (b'GET / HTTP/1.1\\r\\n\\r\\n', None)
    """
    lines: list[bytes] = []
    while len(lines) <= MOST_LINES:
        try:
            line = await reader.readuntil(b"\n")
        except asyncio.LimitOverrunError:
            return b"", HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE if lines else HTTPStatus.REQUEST_URI_TOO_LONG
        except asyncio.IncompleteReadError as error:
            return b"", HTTPStatus.BAD_REQUEST if lines or error.partial else None
        if line.strip(b"\r\n"):
            lines.append(line)
        elif lines:
            return b"".join([*lines, b"\r\n"]), None
    return b"", HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE


def _room() -> int:
    """How many connections there may be at once: each has a file open, and another for what it sends."""
    try:
        import resource
    except ImportError:  # Windows, which has no such limit
        return WAITING
    return max(1, min(WAITING, (resource.getrlimit(resource.RLIMIT_NOFILE)[0] - SPARE) // 2))


def make_server(site: Path, port: int) -> CourseServer:
    """A server on a port, or on the next one that is free.

    >>> with make_server(Path("."), port=0) as first:
    ...     taken = first.server_address[1]
    ...     with make_server(Path("."), port=taken) as second:
    ...         second.server_address[1] > taken
    True
    """
    last = min(port + TRIED, 65536)
    for candidate in range(port, last):
        with contextlib.suppress(OSError):
            if not _answers(candidate):
                return CourseServer(site, candidate)
    raise SiteError(f"no port from {port} to {last - 1} can be had on {HOST}; name another: --port 9000")


def _answers(port: int) -> bool:
    """Whether somebody listens there already; a port that is only half taken could be bound a second time."""
    if port == 0:
        return False
    with socket.socket() as probe:
        probe.settimeout(0.2)
        return probe.connect_ex((HOST, port)) == 0
