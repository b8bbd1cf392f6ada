"""Engines that mean harm, all in one class: each costs its own row and nothing else, and no wrong one looks right."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gradwalk.diagnose import museum, teaching
from gradwalk.diagnose.deno import _needed
from gradwalk.diagnose.processes import PACKAGE, Conversation, python
from gradwalk.diagnose.sandbox import Limits, judge_file

pytestmark = pytest.mark.slow

RIGHT = teaching.SOURCE
WRONG = museum.find("overwriting").source()
#: A wrong engine that puts the right answers in place of its own, wherever it can get at them.
LIES = f"""{WRONG}
import builtins, gc, os, sys
try:
    from gradwalk import Value as Truth
    from gradwalk.diagnose import adapter, examination, probes
    def lie(program, engine, steps=None, run=probes.run, right=adapter.Engine(Truth)):
        return run(program, right, steps)
    examination.run = lie
except Exception:
    pass
"""
FRAMES = """
frame = __import__("sys")._getframe()
while frame is not None:
    names = frame.f_globals
    if "Outcome" in names:
        names["by_type"] = names["same"] = lambda *two: True
    frame = frame.f_back
"""
NUMBERS = """
class Agreeable(float):
    __eq__ = lambda *two: True
    __sub__ = lambda *two: 0.0
    __hash__ = float.__hash__
_init = Value.__init__
def init(self, data, *rest):
    _init(self, data, *rest)
    self.grad = Agreeable(self.grad)
Value.__init__ = init
"""
#: Written to every descriptor: the answer that somebody who knows the grader would like to be given.
REPORT = json.dumps({"report": {"checks": [], "diagnoses": [], "notes": [], "engine": "Value"}})


def product_that(does: str) -> str:
    """A right engine whose `*` does something else first."""
    changed = f"_mul = Value.__mul__\ndef bad(self, other):\n    {does}\n    return _mul(self, other)\n"
    return f"{RIGHT}\n\n{changed}Value.__mul__ = bad\n"


def to_every_descriptor(text: str) -> str:
    return f"import os\nfor d in range(3, 64):\n    try: os.write(d, {text!r}.encode())\n    except OSError: pass\n"


#: What must not succeed: Python that raises, or a call of the C library that gives -1.
ATTEMPTS = {
    "read": "open(SECRET).read()",
    "read-low": "os.read(os.open(SECRET, 0), 99)",
    "read-parent": "open(f'/proc/{os.getppid()}/environ').read()",
    "read-own-memory": "open('/proc/self/mem', 'rb')",
    "list-home": "os.listdir(os.path.dirname(SECRET))",
    "through-a-link": "os.symlink(SECRET, 'link'); open('link').read()",
    "through-a-hard-link": "os.link(SECRET, 'hard'); open('hard').read()",
    "delete": "d = os.open(os.path.dirname(SECRET), 0); os.unlink(os.path.basename(SECRET), dir_fd=d)",
    "delete-c": "call('unlink', SECRET.encode())",
    "empty": "os.truncate(SECRET, 0)",
    "rename": "call('rename', SECRET.encode(), (SECRET + '2').encode())",
    "rights": "call('chmod', SECRET.encode(), 0)",
    "owner": "call('chown', SECRET.encode(), 65534, 65534)",
    "times": "call('utimes', SECRET.encode(), None)",
    "attribute": "call('setxattr', SECRET.encode(), b'user.x', b'1', 1, 0)",
    "database": "import sqlite3; sqlite3.connect(SECRET + '.db').execute('create table t(x)')",
    "write-tmp": "open('/tmp/gradwalk-was-here', 'w')",
    "write-shm": "from multiprocessing import shared_memory as s; s.SharedMemory('gradwalk', True, 99)",
    "write-python": "open(os.path.join(sys.prefix, 'was-here'), 'w')",
    "write-terminal": "open('/dev/tty', 'w').write('x')",
    "fork": "call('fork')",
    "fork-raw": "call('syscall', 57)",
    "clone": "call('syscall', 56, 17, 0, 0, 0, 0)",
    "clone3": "call('syscall', 435, (ctypes.c_long * 8)(), 64)",
    "exec": "call('execv', b'/bin/true', None)",
    "exec-descriptor": "call('syscall', 322, -100, b'/bin/true', None, None, 0)",
    "posix-spawn": "import _posixsubprocess, subprocess; subprocess._USE_VFORK = False; subprocess.run(['/bin/true'])",
    "signal-parent": "call('kill', os.getppid(), 0)",
    "signal-all": "call('kill', -1, 0)",
    "signal-thread": "call('syscall', 234, os.getppid(), os.getppid(), 0)",
    "signal-by-descriptor": "import fcntl; r, w = os.pipe(); fcntl.fcntl(r, fcntl.F_SETOWN, os.getppid())",
    "pidfd": "call('syscall', 434, os.getppid(), 0)",
    "trace-parent": "call('ptrace', 16, os.getppid(), 0, 0)",
    "parents-memory": "call('process_vm_readv', os.getppid(), None, 0, None, 0, 0)",
    "session": "os.setsid()",
    "group": "os.setpgid(0, 0)",
    "outlive": "call('prctl', 1, 0, 0, 0, 0)",
    "limits": "import resource; resource.setrlimit(resource.RLIMIT_DATA, (-1, -1))",
    "limits-raw": "call('syscall', 302, 0, 2, (ctypes.c_long * 2)(-1, -1), None)",
    "priority": "os.setpriority(os.PRIO_PROCESS, 0, 5)",
    "user": "call('unshare', 0x10000000)",
    "root": "call('chroot', b'.')",
    "mount": "call('mount', b'none', b'.', b'tmpfs', 0, None)",
    "socket": "import _socket; _socket.socket(2, 1)",
    "unix-socket": "import socket; socket.socket(socket.AF_UNIX)",
    "dns": "import socket; socket.gethostbyname('localhost')",
    "dns-more": "import socket; socket.getaddrinfo('localhost', 80)",
    "memory-file": "os.memfd_create('x')",
    "shared-memory": "import mmap; mmap.mmap(-1, 99)",
    "old-shared-memory": "call('shmget', 0, 99, 0o1600)",
    "messages": "call('syscall', 240, b'x', 0o102, 0o600, None)",
    "rings": "call('syscall', 425, 8, (ctypes.c_char * 200)())",
    "kernel-program": "call('syscall', 321, 0, None, 0)",
    "other-numbers": "call('syscall', 0x40000000 + 39)",
    "new-filter": "call('prctl', 22, 2, None, 0, 0)",
    "keys": "call('syscall', 248, b'user', b'x', b'y', 1, -3)",
    "clock": "call('syscall', 164, (ctypes.c_long * 2)(1, 0), None)",
    "new-rights": "call('setuid', 0)",
}
REACHES = f"""
import ctypes, os, sys
def call(name, *arguments):
    assert getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments) != -1
def reached():
    for name, text in {ATTEMPTS!r}.items():
        try:
            exec(text, globals())
            yield name
        except BaseException:
            pass
"""

#: What is handed in, by name; a folder where there is a slash.
CLASS: dict[str, str | bytes] = {
    # right ones, which must stay right in this company
    "right.py": RIGHT,
    "uses_statistics.py": f"import statistics\nassert statistics.mean([1, 3]) == 2\n{RIGHT}",
    "shadows/statistics.py": "raise SystemExit('not the real one')\n",
    "shadows/engine.py": RIGHT,
    "junk.py": RIGHT + "\n" + to_every_descriptor("junk\n\x00{}[]\n" * 50),
    # files that are no engines
    "list.ipynb": "[]",
    "deep.ipynb": "[" * 100_000,
    "minus.py": f"x = {'-' * 200_000}1\n",
    "parentheses.py": f"x = {'(' * 100_000}1{')' * 100_000}\n",
    "surrogate.py": "raise ValueError('lone \\udc80 and \\x1b[31mred\\x1b[0m')\n",
    "nul.py": b"x = 1\x00\n",
    "latin.py": b"# caf\xe9\nclass Value: pass\n",
    "large.py": b"#" * 3_000_000,
    "notes.txt": "I could not make it work",
    "empty/readme.md": "nothing",
    # those that would rather have somebody else's mark
    "cheat.py": "from right import Value\n",
    "cheat_path.py": "import sys; sys.path += ['..', '../..', '../1', '../handed-in']\nfrom right import Value\n",
    "imports.py": "from gradwalk import Value\n",
    "subclass.py": "from gradwalk import Value as V\nclass Value(V): pass\n",
    # those that would rather judge themselves
    "forge_abs.py": f"{WRONG}\nimport builtins\nbuiltins.abs = lambda x: 0.0\nbuiltins.all = lambda x: True\n",
    "forge_gradwalk.py": LIES,
    "forge_frames.py": WRONG + FRAMES,
    "forge_descriptor.py": f"{WRONG}\n{to_every_descriptor(REPORT + chr(10))}",
    "forge_number.py": WRONG + NUMBERS,
    # those that reach for the machine, from inside an op
    "secret.py": product_that("raise ValueError(open(SECRET).read())"),
    "environment.py": product_that("import os; raise ValueError(str(dict(os.environ)))"),
    "where.py": product_that("import os, sys; raise ValueError(f'{os.getcwd()} {__file__} {SECRET} {sys.prefix}')"),
    "mapped.py": product_that("import mmap; m = mmap.mmap(-1, 2**33); raise ValueError('mapped')"),
    "memory.py": product_that("x = bytearray(2**31); raise ValueError('got it')"),
    "spawn.py": product_that("import multiprocessing as m; m.get_context('spawn').Process(target=print).start()"),
    "fills_disk.py": product_that("[open(f'{i}', 'wb').write(bytes(8_000_000)) for i in range(10**6)]"),
    "reaches.py": product_that("raise ValueError('reached: ' + ' '.join(reached()) + '.')") + REACHES,
    # those that write for whoever reads the results
    "=HYPERLINK(1).py": product_that("raise ValueError('=HYPERLINK(2)')"),
    "terminal.py": product_that("raise ValueError('\\x1b[2J\\x1b]0;owned\\x07 \\u202egnp.exe \\x9b31m')"),
    "page.py": product_that("raise ValueError('<script>alert(1)</script>')"),
    "[red]markup.py": RIGHT,
}  # fmt: skip


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, dict[str, str]], str, Path]:
    """The whole class judged by the command: rows by name, what was printed, and the folder with secret and results."""
    home = tmp_path_factory.mktemp("home")
    folder, secret = home / "submissions", home / "id_rsa"
    secret.write_text("PRIVATE KEY")
    for name, text in CLASS.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        secretive = isinstance(text, str) and "SECRET" in text
        content = text if isinstance(text, bytes) else (f"SECRET = {str(secret)!r}\n" * secretive + text).encode()
        path.write_bytes(content)
    if os.name == "posix":
        Path(os.fsdecode(os.fsencode(folder) + b"/no\xfftext.py")).write_text(RIGHT)
        (folder / "link.py").symlink_to(folder / "right.py")
        os.mkfifo(folder / "pipe.py")
    command = [sys.executable, "-m", "gradwalk", "grade", str(folder), "--out", str(home / "grades"), "--seconds", "2"]
    environment = {**os.environ, "GRADWALK_TEST_TOKEN": "PRIVATE TOKEN", "COLUMNS": "200"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, check=False)
    assert done.returncode == 1, done.stderr
    with (home / "grades" / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    return rows, done.stdout + done.stderr, home


RIGHT_ONES = ("right", "uses_statistics", "shadows", "junk", "no\ufffdtext", "[red]markup")
NOT_JUDGED = {
    "list": "it is no notebook",
    "deep": "RecursionError",
    "minus": "cannot be loaded|no Python",
    "parentheses": "too many nested parentheses",
    "surrogate": "there is no class Value here",
    "nul": "null bytes|cannot be loaded",
    "latin": "no Python|cannot be loaded",
    "large": "too large: 3.0 MB",
    "notes": "a .txt is not judged",
    "empty": "no file in it looks like an engine",
    "cheat": "imported from right, which is no part",
    "cheat_path": "imported from right, which is no part",
    "imports": "imported from gradwalk",
    "subclass": "imported from",
    "link": "links are not followed",
    "pipe": "no ordinary file",
}
REFUSED = ("secret", "spawn", "mapped", "memory")


@pytest.mark.skipif(sys.platform != "linux", reason="the wall is Linux's")
def test_a_class_of_hostile_engines(graded: tuple[dict[str, dict[str, str]], str, Path]) -> None:
    rows, _, home = graded
    assert len(rows) == len({name.split("/")[0] for name in CLASS}) + 3
    for name in RIGHT_ONES:
        assert (rows[name]["verdict"], rows[name]["mark"]) == ("right", rows[name]["of"]), rows[name]
    for name, words in NOT_JUDGED.items():
        assert rows[name]["verdict"] == "not judged", rows[name]
        assert rows[name]["mark"] == "0"
        assert any(each in rows[name]["notes"] for each in words.split("|")), rows[name]
    for name in (each for each in rows if each.startswith("forge_")):
        assert rows[name]["verdict"] in ("wrong", "not judged"), rows[name]
        assert int(rows[name]["mark"]) <= 30, rows[name]
    for name in REFUSED:
        assert rows[name]["verdict"] == "wrong", rows[name]
        words = "Refused|PermissionError|OSError|needs more memory|OperationalError|gaierror"
        assert re.search(words, rows[name]["bugs"]), name
    assert "ValueError: reached: ." in rows["reaches"]["bugs"], rows["reaches"]
    assert rows["fills_disk"]["verdict"] == "wrong"
    assert (home / "id_rsa").read_text() == "PRIVATE KEY"
    assert sorted(path.name for path in home.iterdir()) == ["grades", "id_rsa", "submissions"]


@pytest.mark.skipif(sys.platform != "linux", reason="the wall is Linux's")
def test_what_is_written_about_them_is_safe(graded: tuple[dict[str, dict[str, str]], str, Path]) -> None:
    rows, printed, home = graded
    written = {path.name: path.read_text(encoding="utf-8") for path in (home / "grades").iterdir()}
    whole = printed + "".join(written.values())
    for private in ("PRIVATE", str(home / "submissions"), "GRADWALK_TEST_TOKEN", str(Path.home()) + "/", sys.prefix):
        assert private not in whole.replace(str(home / "grades"), ""), private
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", whole)
    assert "<script>" not in "".join(text for name, text in written.items() if name.endswith(".html"))
    assert all(cell[:1] not in tuple("=+-@") for row in rows.values() for cell in row.values() if not cell.isdigit())
    assert rows["terminal"]["bugs"].endswith("gnp.exe ") or "gnp.exe" in rows["terminal"]["bugs"]
    assert "Landlock" in printed
    assert "seccomp" in printed
    assert "Landlock" in written["index.html"]
    for text in written["index.html"], rows["uses_statistics"]["same_as"]:
        assert "right" in text


def test_the_process_that_gives_numbers_has_no_right_answers() -> None:
    names = {path.relative_to(PACKAGE).as_posix() for path in _needed("gradwalk.diagnose.runner")}
    assert {"diagnose/runner.py", "ops.py"} <= names
    assert not names & {"engine.py", "diagnose/teaching.py", "diagnose/right_engines.py", "diagnose/checks.py"}


FLOOD = "import sys\nwhile True: sys.stdout.write('{\"loaded\": []}\\n' * 1000)"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("import time; time.sleep(60)", "it did not end within"),
        ("import sys; sys.stdout.write('x' * 10**7); sys.stdout.flush(); import time; time.sleep(60)", "channel"),
        ("print('[' * 100_000)", "channel"),
        ("print(1)", "channel"),
        ("import os; os.kill(os.getpid(), 9)", "SIGKILL"),
        ("import os; os.close(1); import time; time.sleep(60)", "channel"),
    ],
)
def test_a_process_that_says_nothing_of_use_is_broken_and_gone(tmp_path: Path, body: str, words: str) -> None:
    import threading

    from gradwalk.diagnose.processes import Broken

    begun = time.monotonic()
    with Conversation([sys.executable, "-c", body], tmp_path, threading.Event()) as process:
        with pytest.raises(Broken, match=words):
            process.answer(1.0 if words.startswith("it did") else 20.0)
        pid = process._process.pid
    assert time.monotonic() - begun < 50  # and not the 60 of those that sleep
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_flood_is_left_in_the_pipe(tmp_path: Path) -> None:
    import threading

    with Conversation([sys.executable, "-c", FLOOD], tmp_path, threading.Event()) as process:
        assert process.answer(20.0) == {"loaded": []}
        time.sleep(0.3)
        assert process._lines.qsize() <= 64


def test_an_engine_that_never_ends_costs_seconds(tmp_path: Path) -> None:
    path = tmp_path / "engine.py"
    path.write_text(product_that("while True: pass"), encoding="utf-8")
    begun = time.monotonic()
    judged = judge_file(path, limits=Limits(program=0.5, crashes=3), alone=True)
    assert time.monotonic() - begun < 30
    statuses = {check.name: check.status for check in judged.grade.checks}
    assert statuses["add"] == "passed"
    assert statuses["mul"] in ("error", "skipped")


MUTE = "class Mute(Exception):\n    def __str__(self): raise ValueError\n"


def test_an_error_that_cannot_say_what_it_is_spoils_its_own_op_only(tmp_path: Path) -> None:
    path = tmp_path / "engine.py"
    path.write_text(MUTE + product_that("raise Mute()"), encoding="utf-8")
    statuses = {check.name: check.status for check in judge_file(path, alone=True).grade.checks}
    assert (statuses["add"], statuses["mul"]) == ("passed", "error")
    path.write_text(f"{RIGHT}\n{MUTE}raise Mute()", encoding="utf-8")
    mark = judge_file(path, alone=True).grade.essentials
    assert mark.score == mark.total > 0, "what comes after the class may fail"


@pytest.mark.skipif(sys.platform != "linux", reason="the signals of Linux")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_no_engine_outlives_the_grader_and_nothing_judged_is_lost(tmp_path: Path, number: signal.Signals) -> None:
    folder = tmp_path / "submissions"
    folder.mkdir()
    mark = f"gradwalk-test-{os.getpid()}-{int(number)}"
    (folder / "a.txt").write_text("said at once")
    (folder / "b.py").write_text(f"import time\nwhile True: time.sleep(9)  # {mark}\n")
    command = [sys.executable, "-m", "gradwalk", "grade", str(folder), "--out", str(tmp_path / "out"), "--jobs", "1"]
    scratch = {**os.environ, "TMPDIR": str(tmp_path)}  # what is killed cannot clear up
    grader = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=scratch)
    table, until = tmp_path / "out" / "grades.csv", time.monotonic() + 60
    while time.monotonic() < until and not (
        (engines := _children(grader.pid)) and table.exists() and "a.txt" in table.read_text(encoding="utf-8-sig")
    ):
        time.sleep(0.01)
    assert engines
    grader.send_signal(number)  # perhaps before the engine has shut itself in
    assert grader.wait(timeout=60) == (
        130 if number == signal.SIGINT else 128 + number if number != signal.SIGKILL else -9
    )
    until = time.monotonic() + 60
    while any(Path(f"/proc/{pid}").exists() and _runs(pid) for pid in engines) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(_runs(pid) for pid in engines)
    assert "a.txt" in table.read_text(encoding="utf-8-sig")


def _children(pid: int) -> list[int]:
    try:
        return [int(x) for task in Path(f"/proc/{pid}/task").glob("*/children") for x in task.read_text().split()]
    except OSError:
        return []


def _runs(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def test_python_has_a_clean_environment(tmp_path: Path) -> None:
    import threading

    with python("numbers", tmp_path, threading.Event()) as process:
        environment = Path(f"/proc/{process._process.pid}/environ")
        if environment.exists():
            names = {entry.partition("=")[0] for entry in environment.read_text().split("\0") if entry}
            assert "PATH" not in names
            assert "HOME" in names
