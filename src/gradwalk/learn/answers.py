"""What the course's server answers: files of the site, or a few words why not.

Only GET and HEAD are answered, and only to whoever asked for this machine by a name of its own: a page from elsewhere
whose name was made to point here gets nothing. Every answer, errors too, carries a strict content security policy:
scripts, styles, fonts and requests come from this server alone; `wasm-unsafe-eval` is what Pyodide needs, and no more.
Files whose names change with their content are kept by the browser for good; pages are asked for again each time.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import re
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import IO, Self
from urllib.parse import unquote, urlsplit

from gradwalk.learn.requests import body_length, objection, takes_gzip

__all__ = ["GUARDS", "POLICY", "Answer", "answer"]

#: Kept equal to web/builder/template.mjs by a test; frame-ancestors works in a header only.
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
#: On every answer.
GUARDS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

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
ODD = re.compile(rb"\0|\r(?!\n)")  # people differ on whether a header ends there
NEVER_CHANGES = re.compile(r"assets/|pyodide/[\d.]+/")  # hashed names, and a folder named by its version


@dataclass
class Answer:
    """The answer to a request: bytes, and `length` bytes of `file` behind them, if there is one.

    >>> with answer(Path("."), b"GET /nothing HTTP/1.0\\r\\n\\r\\n") as missing:
    ...     missing.content.splitlines()[0], missing.last
    (b'HTTP/1.1 404 Not Found', True)
    """

    content: bytes
    file: IO[bytes] | None
    length: int
    unread: int  # bytes that came with the request, and are to be dropped
    last: bool  # whether the connection ends with it

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.file:
            self.file.close()


def answer(site: Path, head: bytes, wrong: HTTPStatus | None = None) -> Answer:
    """What to say to a request, given up to the empty line behind its headers; or to one that had something `wrong`.

    >>> answer(Path("."), b"", HTTPStatus.BAD_REQUEST).content.splitlines()[0]
    b'HTTP/1.1 400 Bad Request'
    """
    handler = _Handler(site, head, wrong)
    content = handler.wfile.getvalue()
    return Answer(content, handler.file, handler.length, handler.unread, handler.close_connection)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    default_request_version = "HTTP/1.0"  # of a request that names none: older answers have no headers
    wfile: io.BytesIO

    def __init__(self, site: Path, head: bytes, wrong: HTTPStatus | None) -> None:
        self.site = site
        self.rfile, self.wfile = io.BytesIO(head), io.BytesIO()
        self.file: IO[bytes] | None = None
        self.length = self.unread = 0
        self.close_connection = True
        self.command, self.requestline, self.request_version = "", "", self.default_request_version
        if not wrong and (len(head.split(b"\n", 1)[0].split()) != 3 or ODD.search(head)):
            wrong = HTTPStatus.BAD_REQUEST  # of a time before headers, or nonsense
        if wrong:
            self.send_error(wrong)
        else:
            self.handle_one_request()

    def version_string(self) -> str:
        return "gradwalk"

    def _refuse(self) -> None:
        if self._sound():
            self._say(HTTPStatus.METHOD_NOT_ALLOWED, "only GET and HEAD\n", {"Allow": "GET, HEAD"})

    do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_TRACE = do_CONNECT = _refuse  # noqa: N815

    def handle_expect_100(self) -> bool:
        return True  # see _sound

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the standard library says of a request that it cannot read."""
        self.close_connection = True
        self._say(HTTPStatus(code), f"{message or HTTPStatus(code).phrase}\n")

    def do_GET(self) -> None:
        if not self._sound():
            return
        found = self._found()
        if found is None:
            self._missing()
        elif found.is_dir():
            place = {"Location": f"{urlsplit(self.path).path}/"}
            self._send(HTTPStatus.MOVED_PERMANENTLY, b"", ".txt", place)
        else:
            try:
                file = found.open("rb")
            except OSError as error:
                if error.errno in (errno.EMFILE, errno.ENFILE):  # it is there, but too many files are open
                    self._say(HTTPStatus.SERVICE_UNAVAILABLE, "too busy; try again\n", {"Retry-After": "1"})
                else:  # it has just gone, or is not for us to read
                    self._missing()
                return
            if not self._opened(found, file):
                file.close()

    do_HEAD = do_GET  # noqa: N815

    def _sound(self) -> bool:
        """Whether the request may be answered; if not, it has been told why."""
        wrong = objection(self.path, self.request_version, self.headers)
        length = body_length(self.headers)
        if length is None or "Expect" in self.headers:  # who asks whether to send a body gets the answer instead of it
            self.close_connection = True
        else:
            self.unread = length
        if wrong:
            self._say(wrong[0], f"{wrong[1]}\n")
        return wrong is None

    def _found(self) -> Path | None:
        """The file that a request means, or the folder whose last slash it forgot; never anything outside the site."""
        path = unquote(urlsplit(self.path).path, errors="surrogateescape")
        parts = path.split("/")[1:]
        if not path.startswith("/") or any(part.startswith(".") or re.search(r"[\\:\0]", part) for part in parts):
            return None
        if "" in parts[:-1]:
            return None
        try:
            found = self.site.joinpath(*parts).resolve()
            if path.endswith("/"):
                found = found / "index.html"
            if not found.is_relative_to(self.site):
                return None  # a link that leads out
            if found.is_dir():
                return found if (found / "index.html").is_file() else None
            return found if found.is_file() and found.suffix in TYPES else None
        except (OSError, ValueError):
            return None

    def _opened(self, found: Path, file: IO[bytes]) -> bool:
        """Answer with a file; whether it is still to be read."""
        state = os.fstat(file.fileno())
        tag = f'"{state.st_mtime_ns:x}-{state.st_size:x}"'
        lasting = NEVER_CHANGES.match(found.relative_to(self.site).as_posix())
        headers = {"ETag": tag, "Cache-Control": "public, max-age=31536000, immutable" if lasting else "no-cache"}
        if found.suffix in SHRINKS:
            headers["Vary"] = "Accept-Encoding"
        if tag in self.headers.get("If-None-Match", ""):
            self._send(HTTPStatus.NOT_MODIFIED, b"", found.suffix, headers)
            return False
        if found.suffix in SHRINKS and takes_gzip(self.headers):
            headers["Content-Encoding"] = "gzip"
            self._send(HTTPStatus.OK, _shrunk(found, state.st_mtime_ns), found.suffix, headers)
            return False
        self._begin(HTTPStatus.OK, state.st_size, found.suffix, headers)
        if self.command == "HEAD":
            return False
        self.file, self.length = file, state.st_size
        return True

    def _missing(self) -> None:
        """The site's own page for it, in the language of the address; its links are made to begin at the root."""
        folder = re.match(r"/([a-z]{2,3})/", urlsplit(self.path).path)
        home = folder[0] if folder and (self.site / folder[1] / "404.html").is_file() else "/"
        page = self.site / home[1:] / "404.html"
        text, ending = "there is no page here\n", ".txt"
        if page.is_file():
            written = page.read_text(encoding="utf-8")
            text, ending = written.replace('="../', '="/').replace('="./', f'="{home}'), ".html"
        self._send(HTTPStatus.NOT_FOUND, text.encode(), ending, {"Cache-Control": "no-cache"})

    def _say(self, status: HTTPStatus, text: str, headers: dict[str, str] | None = None) -> None:
        """A few words instead of a file."""
        self._send(status, text.encode(), ".txt", headers or {})

    def _send(self, status: HTTPStatus, content: bytes, ending: str, headers: dict[str, str]) -> None:
        self._begin(status, len(content), ending, headers)
        if self.command != "HEAD":
            self.wfile.write(content)

    def _begin(self, status: HTTPStatus, length: int, ending: str, headers: dict[str, str]) -> None:
        """Everything that stands before the content."""
        self.send_response(status)
        if status != HTTPStatus.NOT_MODIFIED:
            headers = {"Content-Type": TYPES[ending], "Content-Length": str(length), **headers}
        if self.close_connection:
            headers = {**headers, "Connection": "close"}
        for name, value in {**headers, **GUARDS}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the terminal is for the address."""


@lru_cache(maxsize=256)
def _shrunk(path: Path, changed: int) -> bytes:
    return gzip.compress(path.read_bytes(), compresslevel=6)
