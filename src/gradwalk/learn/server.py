"""Serves the built site on this machine: its own files and nothing else, to this machine and nobody else.

Only GET and HEAD are answered. Every answer carries a strict content security policy: scripts, styles, fonts and
requests come from this server alone; `wasm-unsafe-eval` is what Pyodide needs, and no more. Files whose names change
with their content are kept by the browser for good; pages are asked for again each time.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import re
import socket
import sys
from functools import lru_cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from gradwalk.learn.built_site import SiteError

__all__ = ["HOST", "POLICY", "CourseServer", "make_server"]

HOST = "127.0.0.1"
#: Kept equal to web/builder/template.mjs by a test; frame-ancestors works in a header only.
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
TRIED = 20  # ports, one after the other, before giving up

TYPES = {
    ".bin": "application/octet-stream",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".whl": "application/zip",
    ".woff2": "font/woff2",
    ".zip": "application/zip",
}
SHRINKS = {".css", ".html", ".js", ".json", ".mjs", ".svg", ".txt", ".webmanifest"}
NEVER_CHANGES = re.compile(r"assets/|pyodide/[\d.]+/")  # hashed names, and a folder named by its version


class CourseServer(ThreadingHTTPServer):
    """Serves one folder; `address` is where a browser finds it.

    >>> import tempfile, urllib.request
    >>> with tempfile.TemporaryDirectory() as folder, CourseServer(Path(folder), port=0) as server:
    ...     server.address.startswith("http://127.0.0.1:")
    True
    """

    daemon_threads = True
    allow_reuse_address = os.name != "nt"  # there it would let two servers have the same port

    def __init__(self, site: Path, port: int) -> None:
        self.site = site.resolve()
        super().__init__((HOST, port), _Handler)

    @property
    def address(self) -> str:
        """Where a browser finds the site.

        >>> with CourseServer(Path("."), port=0) as server:
        ...     server.address == f"http://127.0.0.1:{server.server_address[1]}/"
        True
        """
        return f"http://{HOST}:{self.server_address[1]}/"

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that goes away is no error; anything else is told on stderr.

        >>> with CourseServer(Path("."), port=0) as server:
        ...     try:
        ...         raise BrokenPipeError
        ...     except BrokenPipeError:
        ...         server.handle_error(None, None)
        """
        if not isinstance(sys.exception(), (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


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


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    server: CourseServer

    def version_string(self) -> str:
        return "gradwalk"

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def _refuse(self) -> None:
        self.close_connection = True  # its body, if it has one, is not read
        self._send(HTTPStatus.METHOD_NOT_ALLOWED, b"only GET and HEAD\n", ".txt", {"Allow": "GET, HEAD"}, body=True)

    do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_TRACE = do_CONNECT = _refuse  # noqa: N815

    def _answer(self, *, body: bool) -> None:
        found = self._found()
        if found is None:
            self._missing(body=body)
        elif found.is_dir():
            place = {"Location": f"{urlsplit(self.path).path}/"}
            self._send(HTTPStatus.MOVED_PERMANENTLY, b"", ".txt", place, body=body)
        else:
            self._file(found, body=body)

    def _found(self) -> Path | None:
        """The file that a request means, or the folder whose last slash it forgot; never anything outside the site."""
        path = unquote(urlsplit(self.path).path, errors="surrogateescape")
        parts = path.split("/")[1:]
        if not path.startswith("/") or any(part.startswith(".") or re.search(r"[\\:\0]", part) for part in parts):
            return None
        if "" in parts[:-1]:
            return None
        try:
            found = self.server.site.joinpath(*parts).resolve()
            if path.endswith("/"):
                found = found / "index.html"
            if not found.is_relative_to(self.server.site):
                return None  # a link that leads out
            if found.is_dir():
                return found if (found / "index.html").is_file() else None
            return found if found.is_file() and found.suffix in TYPES else None
        except (OSError, ValueError):
            return None

    def _file(self, found: Path, *, body: bool) -> None:
        state = found.stat()
        tag = f'"{state.st_mtime_ns:x}-{state.st_size:x}"'
        lasting = NEVER_CHANGES.match(found.relative_to(self.server.site).as_posix())
        headers = {"ETag": tag, "Cache-Control": "public, max-age=31536000, immutable" if lasting else "no-cache"}
        if tag in self.headers.get("If-None-Match", ""):
            self._send(HTTPStatus.NOT_MODIFIED, b"", found.suffix, headers, body=False)
            return
        if found.suffix in SHRINKS:
            headers["Vary"] = "Accept-Encoding"
            if "gzip" in self.headers.get("Accept-Encoding", ""):
                headers["Content-Encoding"] = "gzip"
                self._send(HTTPStatus.OK, _shrunk(found, state.st_mtime_ns), found.suffix, headers, body=body)
                return
        self._send(HTTPStatus.OK, found.read_bytes(), found.suffix, headers, body=body)

    def _missing(self, *, body: bool) -> None:
        """The site's own page for it, in the language of the address; its links are made to begin at the root."""
        folder = re.match(r"/([a-z]{2,3})/", urlsplit(self.path).path)
        home = folder[0] if folder and (self.server.site / folder[1] / "404.html").is_file() else "/"
        page = self.server.site / home[1:] / "404.html"
        text, ending = "there is no page here\n", ".txt"
        if page.is_file():
            written = page.read_text(encoding="utf-8")
            text, ending = written.replace('="../', '="/').replace('="./', f'="{home}'), ".html"
        self._send(HTTPStatus.NOT_FOUND, text.encode(), ending, {"Cache-Control": "no-cache"}, body=body)

    def _send(self, status: HTTPStatus, content: bytes, ending: str, headers: dict[str, str], *, body: bool) -> None:
        self.send_response(status)
        if status != HTTPStatus.NOT_MODIFIED:
            self.send_header("Content-Type", TYPES[ending])
            self.send_header("Content-Length", str(len(content)))
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the terminal is for the address."""


@lru_cache(maxsize=64)
def _shrunk(path: Path, changed: int) -> bytes:
    return gzip.compress(path.read_bytes(), compresslevel=6)
