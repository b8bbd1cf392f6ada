"""The server of the course: its own files, to this machine, GET and HEAD, with the right headers."""

from __future__ import annotations

import errno
import gzip
import http.client
import os
import re
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_string
from pathlib import Path

import pytest

from gradwalk.learn.answers import GUARDS, POLICY, answer
from gradwalk.learn.built_site import SiteError
from gradwalk.learn.server import BREATH, HOST, TRIED, CourseServer, make_server

ROOT = Path(__file__).resolve().parents[1]
FILES = {
    "index.html": b"<!doctype html>start",
    "404.html": b'<!doctype html><a href="./">start</a>',
    "lessons/one/index.html": b"<!doctype html>one",
    "es/404.html": b'<!doctype html><a href="./">inicio</a><a href="../">start</a>',
    "assets/main-ABCD1234.js": b"export {};" * 500,
    "assets/site-ABCD1234.css": b"body {}",
    "assets/serif-ABCD1234.woff2": b"woff",
    "assets/engine-ABCD1234.whl": b"PK",
    "pyodide/314.0.7/pyodide.mjs": b"export {};",
    "pyodide/314.0.7/pyodide.asm.wasm": b"\0asm",
    "pyodide/314.0.7/python_stdlib.zip": b"PK",
    "pyodide/314.0.7/pyodide-lock.json": b"{}",
    "icon.svg": b"<svg/>",
    "site.webmanifest": b"{}",
    ".built-from": b"hidden",
    "notes.py": b"of no type that the site has",
    "empty/readme.txt": b"a folder without a page",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CourseServer]:
    folder = tmp_path_factory.mktemp("server")
    for name, content in FILES.items():
        path = folder / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (folder / "secret.html").write_text("outside")
    (folder / "site" / "out.html").symlink_to(folder / "secret.html")
    with running(folder / "site") as server:
        yield server


@contextmanager
def running(site: Path) -> Iterator[CourseServer]:
    with make_server(site, port=0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def ask(server: CourseServer, path: str, method: str = "GET", **headers: str) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection(HOST, server.server_address[1], timeout=10)
    connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body


@pytest.mark.parametrize(
    ("path", "type"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/index.html", "text/html; charset=utf-8"),
        ("/lessons/one/", "text/html; charset=utf-8"),
        ("/lessons/one/?from=mail", "text/html; charset=utf-8"),
        ("/assets/main-ABCD1234.js", "text/javascript; charset=utf-8"),
        ("/assets/site-ABCD1234.css", "text/css; charset=utf-8"),
        ("/assets/serif-ABCD1234.woff2", "font/woff2"),
        ("/assets/engine-ABCD1234.whl", "application/zip"),
        ("/pyodide/314.0.7/pyodide.mjs", "text/javascript; charset=utf-8"),
        ("/pyodide/314.0.7/pyodide.asm.wasm", "application/wasm"),
        ("/pyodide/314.0.7/python_stdlib.zip", "application/zip"),
        ("/pyodide/314.0.7/pyodide-lock.json", "application/json; charset=utf-8"),
        ("/icon.svg", "image/svg+xml"),
        ("/site.webmanifest", "application/manifest+json"),
    ],
)
def test_files_come_with_their_type(server: CourseServer, path: str, type: str) -> None:
    response, body = ask(server, path)
    name = path.split("?")[0].lstrip("/")
    assert response.status == 200
    assert response.headers["Content-Type"] == type
    assert body == FILES[name + "index.html" if not name or name.endswith("/") else name]


@pytest.mark.parametrize("path", ["/", "/nothing", "/assets/main-ABCD1234.js", "/lessons/one"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_every_answer_is_guarded(server: CourseServer, path: str, method: str) -> None:
    headers = ask(server, path, method)[0].headers
    assert headers["Content-Security-Policy"] == POLICY
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cross-Origin-Opener-Policy"] == headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "Python" not in headers["Server"]


def test_the_policy_is_strict_and_the_pages_say_the_same() -> None:
    assert "unsafe-inline" not in POLICY
    assert re.findall(r"'(?:wasm-)?unsafe-\w+'", POLICY) == ["'wasm-unsafe-eval'"]
    assert "http" not in POLICY
    template = (ROOT / "web/builder/template.mjs").read_text(encoding="utf-8")
    in_pages = "".join(re.findall(r'"([^"]*)"', template[template.index("POLICY =") : template.index("const ICONS")]))
    assert in_pages + "; frame-ancestors 'none'" == POLICY


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.html", "/..%2fsecret.html", "/%2e%2e/secret.html", "/assets/../../secret.html", "//secret.html",
        "/assets/..%5c..%5csecret.html", "/..\\secret.html", "/%2e%2e%2fsecret.html", "/out.html", "/.built-from",
        "/lessons/.hidden/", "/notes.py", "/empty/", "/empty", "/index.html%00.js", "/index.html/", "/C:/secret.html",
        "/" + "a" * 5000, "/%ff%fe", "secret.html", "/lessons//one/", "/assets/", "/assets", "http://localhost/secret.html",
    ],
)  # fmt: skip
def test_nothing_else_is_ever_served(server: CourseServer, path: str) -> None:
    response, body = ask(server, path)
    assert response.status == 404
    assert body == b'<!doctype html><a href="/">start</a>'  # the site's own page, with links that work from anywhere
    assert b"outside" not in body


@pytest.mark.parametrize("path", ["/es/nada/", "/es/lessons/nada/a/b/", "/es/../secret.html", "/es/assets/x.js"])
def test_what_is_missing_is_told_in_the_language_of_its_address(server: CourseServer, path: str) -> None:
    response, body = ask(server, path)
    assert response.status == 404
    assert body == b'<!doctype html><a href="/es/">inicio</a><a href="/">start</a>'


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_only_get_and_head(server: CourseServer, method: str) -> None:
    response, _ = ask(server, "/", method)
    assert response.status == 405
    assert response.headers["Allow"] == "GET, HEAD"


@pytest.mark.parametrize("path", ["/", "/assets/main-ABCD1234.js", "/nothing"])
def test_head_says_what_get_would(server: CourseServer, path: str) -> None:
    (get, _), (head, body) = ask(server, path), ask(server, path, "HEAD")
    assert body == b""
    assert head.status == get.status
    for name in ("Content-Type", "Content-Length", "Cache-Control", "ETag"):
        assert head.headers[name] == get.headers[name]


@pytest.mark.parametrize("path", ["/", "/lessons/one/", "/icon.svg"])
def test_pages_are_asked_for_again_and_answered_briefly(server: CourseServer, path: str) -> None:
    response, _ = ask(server, path)
    assert response.headers["Cache-Control"] == "no-cache"
    again, body = ask(server, path, If_None_Match=response.headers["ETag"])
    assert (again.status, body) == (304, b"")


@pytest.mark.parametrize("path", ["/assets/main-ABCD1234.js", "/pyodide/314.0.7/pyodide.asm.wasm"])
def test_names_that_change_with_their_content_are_kept_for_good(server: CourseServer, path: str) -> None:
    assert ask(server, path)[0].headers["Cache-Control"] == "public, max-age=31536000, immutable"


def test_text_is_sent_small_to_those_who_take_it(server: CourseServer) -> None:
    response, body = ask(server, "/assets/main-ABCD1234.js", Accept_Encoding="gzip, br")
    assert response.headers["Content-Encoding"] == "gzip"
    assert response.headers["Vary"] == "Accept-Encoding"
    assert len(body) < len(FILES["assets/main-ABCD1234.js"]) / 10
    assert gzip.decompress(body) == FILES["assets/main-ABCD1234.js"]
    assert "Content-Encoding" not in ask(server, "/pyodide/314.0.7/pyodide.asm.wasm", Accept_Encoding="gzip")[0].headers


@pytest.mark.parametrize(
    ("told", "taken"),
    [
        ("gzip", True), ("GZIP", True), ("x-gzip", True), ("*", True), ("br;q=1.0, gzip;q=0.8, *;q=0.1", True),
        ("gzip ; q = 0.5", True), ("identity;q=0.5, gzip;q=0.5", True), ("*;q=0.001", True), ("gzip;q=1.000", True),
        ("identity;q=0, *", True), ("*;q=0, gzip", True), ("gzip;q=0.5, *;q=0.5", True), ("gzip;q=0.5, *", False),
        ("identity;q=0", False), ("*;q=0, identity", False),  # the file as it is, better than no file
        ("", False), ("br", False), ("gzip;q=0", False), ("gzip;q=0.000, *", False), ("*;q=0", False),
        ("identity, gzip;q=0.5", False), ("gzip;q=nan", False), ("gzip;q=2", False), ("gzip;q=-1", False),
        ("notgzip", False), ("gzip=1", False), (";q=1,,gzip;;", False), ("gzip;q=0.0001", False),
    ],
)  # fmt: skip
def test_encodings_are_weighed(server: CourseServer, told: str, taken: bool) -> None:
    response, body = ask(server, "/assets/main-ABCD1234.js", Accept_Encoding=told)
    assert (response.headers["Content-Encoding"] == "gzip") == taken
    assert (gzip.decompress(body) if taken else body) == FILES["assets/main-ABCD1234.js"]


def test_a_folder_without_its_slash_is_sent_on(server: CourseServer) -> None:
    response, _ = ask(server, "/lessons/one")
    assert (response.status, response.headers["Location"]) == (301, "/lessons/one/")


def test_it_listens_to_this_machine_only(server: CourseServer) -> None:
    assert server.server_address[0] == "127.0.0.1"


def test_nonsense_does_not_stop_it(server: CourseServer) -> None:
    for garbage in (b"\0\1\2\r\n\r\n", b"GET\r\n\r\n", b"BREW / HTTP/1.1\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b""):
        with socket.create_connection(server.server_address, timeout=10) as connection:
            connection.sendall(garbage)
            connection.shutdown(socket.SHUT_WR)
            assert b"outside" not in connection.recv(10_000)
    assert ask(server, "/")[0].status == 200


def answers(server: CourseServer, sent: bytes) -> tuple[list[bytes], bytes]:
    """The status lines of everything that comes back for these bytes, and all of it."""
    with socket.create_connection(server.server_address, timeout=10) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        received = b""
        while part := connection.recv(1 << 20):
            received += part
    return re.findall(rb"HTTP/1\.[01] (\d+)", received), received


@pytest.mark.parametrize(
    ("request_line", "host", "status"),
    [
        ("GET / HTTP/1.1", "127.0.0.1:8264", b"200"), ("GET / HTTP/1.1", "LOCALHOST", b"200"),
        ("GET / HTTP/1.1", "localhost.:1", b"200"), ("GET / HTTP/1.1", "[::1]:8264", b"200"),
        ("HEAD / HTTP/1.1", "localhost", b"200"), ("GET http://localhost:8264/ HTTP/1.1", "evil.example", b"200"),
        ("GET / HTTP/1.0", None, b"200"), ("GET / HTTP/1.1", "evil.example", b"421"),
        ("GET / HTTP/1.1", "localhost.evil.example", b"421"), ("GET / HTTP/1.1", "evil.localhost", b"421"),
        ("GET / HTTP/1.1", "127.0.0.1.evil.example:8264", b"421"), ("GET / HTTP/1.1", "evil@127.0.0.1", b"421"),
        ("GET / HTTP/1.1", "localhost:8264\r\nHost: evil.example", b"400"), ("GET / HTTP/1.1", "", b"421"),
        ("GET / HTTP/1.1", "127.0.0.1:", b"421"), ("GET / HTTP/1.1", "localhost:１", b"421"),
        ("GET / HTTP/1.1", None, b"400"), ("GET http://evil.example/ HTTP/1.1", "localhost", b"421"),
        ("GET http://[/ HTTP/1.1", "localhost", b"400"), ("GET http:/// HTTP/1.1", "localhost", b"421"),
        ("POST / HTTP/1.1", "evil.example", b"421"), ("GET / HTTP/1.0", "evil.example", b"421"),
        ("BREW / HTTP/1.1", "localhost", b"501"), ("GET / HTTP/9.9", "localhost", b"505"),
        ("GET /" + "a" * 70_000 + " HTTP/1.1", "localhost", b"414"), ("GET / HTTP/1.1 x", "localhost", b"400"),
        ("GET / HTTP/1.1", "localhost\r\nX: " + "a" * 70_000, b"431"),
        ("GET / HTTP/1.1", "localhost" + "\r\nX: 1" * 200, b"431"), ("GET /", "localhost", b"400"),
        ("\0", None, b"400"), ("\r\n\r\nGET / HTTP/1.1", "localhost", b"200"),
        ("GET / HTTP/1.1\nHost: localhost", "", b"400"), ("GET /\0 HTTP/1.1", "localhost", b"400"),
        ("GET / HTTP/1.1", "localhost\rX: 1", b"400"), ("GET / HTTP/1.1\r", "localhost", b"400"),
    ],
)  # fmt: skip
def test_every_answer_is_for_this_machine_and_guarded(
    server: CourseServer, request_line: str, host: str | None, status: bytes
) -> None:
    sent = f"{request_line}\r\n" + ("" if host is None else f"Host: {host}\r\n") + "\r\n"
    found, received = answers(server, sent.encode())
    assert found == [status]
    head = received.split(b"\r\n\r\n")[0].decode()
    assert [f"{name}: {value}" in head for name, value in GUARDS.items()] == [True] * len(GUARDS)
    assert "Python" not in head
    assert status != b"421" or b"--export" in received


#: A value that starts on the next line: newer Pythons read it as it is meant, and older ones tell us that it is odd.
FOLDED = [b"200", b"200"] if message_from_string("X:\r\n 4")["X"] == "4" else [b"400"]


@pytest.mark.parametrize(
    ("headers", "body", "statuses"),
    [
        ("Content-Length: {length}", "GET /nothing HTTP/1.1\r\nHost: evil\r\n\r\n", [b"200", b"200"]),
        ("Content-Length: {length}", "x" * 200_000, [b"200", b"200"]),
        ("Content-Length: 0", "", [b"200", b"200"]),
        ("Content-Length: {length}\r\nContent-Length: {length}", "body", [b"200", b"200"]),
        ("Content-Length: 4\r\nContent-Length: 5", "body", [b"400"]),
        ("Content-Length: +4", "body", [b"400"]),
        ("Content-Length: 0x4", "body", [b"400"]),
        ("Content-Length: 1_0", "body", [b"400"]),
        ("Content-Length: -1", "body", [b"400"]),
        ("Content-Length: 99999999999", "body", [b"400"]),
        ("Content-Length: {length}\r\nTransfer-Encoding: chunked", "4\r\nbody\r\n0\r\n\r\n", [b"400"]),
        ("no header\r\nContent-Length: {length}", "body", [b"400"]),
        ("Content-Length : {length}", "body", [b"400"]),
        (" Content-Length: {length}", "body", [b"400"]),
        ("X: 1\r\n: 2\r\nContent-Length: {length}", "body", [b"400"]),
        ("Content-Length:\r\n {length}", "body", FOLDED),
        ("Content-Length: 4\r\n 4", "body", [b"400"]),
        ("X-Y: \x80\r\nContent-Length: {length}", "body", [b"200", b"200"]),
        ("Transfer-Encoding: chunked", "4\r\nbody\r\n0\r\n\r\n", [b"400"]),
        ("X: 1\rContent-Length: {length}", "body", [b"400"]),
        ("X: 1\r\r\nContent-Length: {length}", "body", [b"400"]),
        ("X: \0\r\nContent-Length: {length}", "body", [b"400"]),
        ("Content-Length: 4\r\nExpect: 100-continue", "", [b"200"]),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_body_is_never_the_next_request(
    server: CourseServer, method: str, headers: str, body: str, statuses: list[bytes]
) -> None:
    first = f"{method} / HTTP/1.1\r\nHost: localhost\r\n{headers.format(length=len(body))}\r\n\r\n{body}"
    expected = [b"405" if method == "POST" and statuses[0] == b"200" else statuses[0], *statuses[1:]]
    assert answers(server, (first + "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").encode())[0] == expected


def test_a_hundred_browsers_at_once_are_all_answered(server: CourseServer) -> None:
    connections = [socket.create_connection(server.server_address, timeout=10) for _ in range(150)]
    for connection in connections:
        connection.sendall(b"GET / HTTP/1.0\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    for connection in connections:
        with connection, connection.makefile("rb") as answer:
            assert answer.read().endswith(FILES["index.html"])


def test_more_browsers_than_there_is_room_for_take_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradwalk.learn.server._room", lambda: 2)
    (tmp_path / "index.html").write_bytes(FILES["index.html"])
    with running(tmp_path) as server:
        connections = [socket.create_connection(server.server_address, timeout=10) for _ in range(7)]
        for connection in connections:
            connection.sendall(b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")
        for connection in connections:
            with connection, connection.makefile("rb") as answer:
                assert answer.read().endswith(FILES["index.html"])


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit there")
def test_without_a_file_left_it_waits_for_one_in_silence(
    server: CourseServer, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    with socket.socket() as connection:
        connection.settimeout(10)
        used = os.dup(0)  # every lower number is taken
        os.close(used)
        resource.setrlimit(resource.RLIMIT_NOFILE, (used, before[1]))
        try:
            connection.connect(server.server_address)
            connection.sendall(b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")
            connection.settimeout(3 * BREATH)
            with pytest.raises(TimeoutError):
                connection.recv(1)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
        connection.settimeout(10)
        assert connection.recv(12) == b"HTTP/1.1 200"
    assert (caplog.records, capfd.readouterr()) == ([], ("", ""))


def test_a_file_that_cannot_be_opened_now_is_not_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "index.html").write_bytes(FILES["index.html"])

    def refuse(*_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(Path, "open", refuse)
    with answer(tmp_path, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n") as told:
        head = told.content.split(b"\r\n\r\n")[0].decode()
    assert head.startswith("HTTP/1.1 503 ")
    assert "Retry-After: 1" in head
    assert [f"{name}: {value}" in head for name, value in GUARDS.items()] == [True] * len(GUARDS)


def test_it_stops_in_silence_while_browsers_are_connected(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "index.html").write_bytes(FILES["index.html"])
    with socket.socket() as connection, running(tmp_path) as server:
        connection.settimeout(10)
        connection.connect(server.server_address)
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(12) == b"HTTP/1.1 200"  # and it may ask again
    assert (caplog.records, capfd.readouterr()) == ([], ("", ""))


def test_a_connection_is_used_again(server: CourseServer) -> None:
    connection = http.client.HTTPConnection(HOST, server.server_address[1], timeout=10)
    for _ in range(3):
        connection.request("GET", "/")
        assert connection.getresponse().read() == FILES["index.html"]
    connection.close()


def test_a_taken_port_leads_to_the_next(tmp_path: Path) -> None:
    with make_server(tmp_path, port=0) as first, make_server(tmp_path, port=first.server_address[1]) as second:
        assert first.server_address[1] < second.server_address[1] < first.server_address[1] + TRIED


def test_when_no_port_can_be_had_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradwalk.learn.server.TRIED", 1)
    with make_server(tmp_path, port=0) as first, pytest.raises(SiteError, match=r"no port from \d+ to \d+ .*--port"):
        make_server(tmp_path, port=first.server_address[1])
