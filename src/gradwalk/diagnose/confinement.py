"""What the operating system keeps an engine from, without needing any rights: memory, time, files, network, processes.

All of it is asked for by the process itself, before it reads a line of the engine's, and cannot be taken back. What a
system does not have is left out; `confine` says what there was. Linux has the most: Landlock (which files), seccomp
(which system calls), a death with the parent. Everywhere else there are limits on time and memory at best.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import struct
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

__all__ = ["WAYS", "confine", "end_with_parent", "libraries", "limit_resources"]

#: What `confine` may have found, as a report says it.
WAYS = {
    "landlock": "files kept away by Landlock",
    "seccomp": "network and processes by seccomp",
    "limits": "time and memory by limits",
    "pyodide": "everything by Pyodide inside Deno, which may read Pyodide and nothing else",
}

LARGEST_FILE = 2**23  # bytes of a file that an engine writes into its own folder, which is thrown away
OPEN_FILES = 256
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def confine(
    readable: Iterable[Path], writable: Iterable[Path], memory: int, seconds: float, parent: int | None = None
) -> list[str]:
    """Give up, for the rest of this process, whatever an engine does not need; gives the names of what took hold.

    >>> import subprocess, sys
    >>> script = '''
    ... from gradwalk.diagnose.confinement import confine, libraries
    ... used = confine(libraries([]), [], 2**30, 10.0)
    ... try:
    ...     open("/etc/passwd").close()
    ... except OSError as error:
    ...     print("landlock" in used)
    ... '''
    >>> said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    >>> said.stdout in ("True\\n", ""), said.stderr  # nothing is printed where the system has no Landlock
    (True, '')
    """
    # anonymous memory that is shared counts as address space only; without the filter that must be kept short itself
    program = _program(platform.machine(), os.getpid()) if _libc is not None else []
    used = ["limits"] if limit_resources(memory, seconds, memory * (8 if program else 2)) else []
    if end_with_parent(parent) and _libc is not None:
        _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)  # nobody reads this memory through /proc
        used += ["landlock"] if _landlock(readable, writable) else []
        used += ["seccomp"] if _seccomp(program) else []
    return used


def end_with_parent(parent: int | None = None) -> bool:
    """Let this process end when the one that started it does, and gain no rights; false where that cannot be asked.

    `parent` is the number of that one, which may have ended already.

    >>> import subprocess, sys
    >>> script = "from gradwalk.diagnose.confinement import end_with_parent; print(end_with_parent())"
    >>> said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout
    >>> said in ("True\\n", "False\\n")
    True
    """
    if _libc is None:
        return False
    _libc.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0)
    if parent not in (None, os.getppid()):
        os._exit(1)
    return bool(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)


def limit_resources(memory: int, seconds: float, address_space: int | None = None) -> bool:
    """Let this process have so many bytes of its own and so many seconds of processor time, where that can be asked.

    >>> import subprocess, sys
    >>> script = "from gradwalk.diagnose.confinement import limit_resources as limit; limit(2**28, 9.0); [0] * 10**9"
    >>> "MemoryError" in subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stderr
    True
    """
    try:
        import resource
    except ImportError:  # Windows
        return False
    wanted = {
        "RLIMIT_CPU": int(seconds) + 1,
        "RLIMIT_DATA": memory,
        "RLIMIT_AS": address_space or memory * 8,
        "RLIMIT_FSIZE": LARGEST_FILE,
        "RLIMIT_NOFILE": OPEN_FILES,
        "RLIMIT_CORE": 0,
        "RLIMIT_MSGQUEUE": 0,
        "RLIMIT_MEMLOCK": 2**20,
    }
    for name, size in wanted.items():
        with contextlib.suppress(ValueError, OSError, AttributeError):
            resource.setrlimit(getattr(resource, name), (size, size))
    return True


def libraries(hidden: Iterable[Path]) -> Iterator[Path]:
    """What a Python reads to run and to import what is installed, less the `hidden` folders.

    >>> any(Path(os.__file__).is_relative_to(path) for path in libraries([]))
    True
    """
    hidden = [path.resolve() for path in hidden]
    roots = {sys.prefix, sys.base_prefix, sys.exec_prefix, *sysconfig.get_paths().values(), *sys.path}
    roots |= {"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share", "/etc/fonts", "/etc/ld.so.cache"}
    roots |= {
        "/etc/localtime",
        "/proc/cpuinfo",
        "/proc/meminfo",
        "/sys/devices/system/cpu",
        "/dev/urandom",
        "/dev/zero",
    }
    for root in sorted(roots):
        path = Path(root)
        if root and path.is_absolute() and path.exists() and path.resolve() != Path(path.anchor):
            yield from _without(path.resolve(), hidden)


def _without(path: Path, hidden: list[Path]) -> Iterator[Path]:
    """A folder; or, if something hidden lies in it, what lies beside that."""
    if any(path.is_relative_to(each) for each in hidden):
        return
    if not any(each.is_relative_to(path) for each in hidden):
        yield path
        return
    with contextlib.suppress(OSError):
        for entry in path.iterdir():
            yield from _without(entry, hidden)


# --- Linux: which files -----------------------------------------------------------------------------------------------

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP = 1, 4, 38, 22
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same numbers on every machine
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_FILE, _TRUNCATE = 16, 32, 128, 256, 1 << 14
_READING = _EXECUTE | _READ_FILE | _READ_DIR  # to map a library is to execute it
_FOR_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
#: By version: which rights to files there are, to the network (connect, bind), and what else a domain shuts in.
_ALL_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_NETWORK, _ABSTRACT_SOCKETS_AND_SIGNALS = 3, 3


def _landlock(readable: Iterable[Path], writable: Iterable[Path]) -> bool:
    assert _libc is not None
    version = _libc.syscall(_CREATE_RULESET, None, 0, 1)
    if version < 1:
        return False
    rights = _ALL_RIGHTS[max(v for v in _ALL_RIGHTS if v <= version)]
    wanted = struct.pack("QQQ", rights, _NETWORK, _ABSTRACT_SOCKETS_AND_SIGNALS)
    rules = _libc.syscall(_CREATE_RULESET, wanted, 24 if version >= 6 else 16 if version >= 4 else 8, 0)
    if rules < 0:
        return False
    writing = _READING | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_FILE | _TRUNCATE
    allowed = [*((path, _READING) for path in readable), *((path, writing) for path in writable)]
    allowed.append((Path(os.devnull), _READ_FILE | _WRITE_FILE))
    for path, access in allowed:
        with contextlib.suppress(OSError):
            _allow(rules, path, access & rights)
    held: bool = _libc.syscall(_RESTRICT_SELF, rules, 0) == 0
    os.close(rules)
    return held


def _allow(rules: int, path: Path, access: int) -> None:
    assert _libc is not None
    handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not path.is_dir():
            access &= _FOR_FILES
        _libc.syscall(_ADD_RULE, rules, 1, struct.pack("=Qi", access, handle), 0)
    finally:
        os.close(handle)


# --- Linux: which system calls ----------------------------------------------------------------------------------------

#: Calls that are refused, with their numbers on x86-64 and on 64-bit ARM (None where there is none).
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    # the network; a pair of connected sockets of one's own is allowed
    "socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201),
    # processes, one's own and others
    "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281), "ptrace": (101, 117),
    "tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424), "pidfd_getfd": (438, 438), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "process_madvise": (440, 440), "kcmp": (312, 272),
    "setsid": (112, 157), "setpgid": (109, 154), "unshare": (272, 97), "setns": (308, 268),
    "setpriority": (141, 140), "sched_setscheduler": (144, 119), "sched_setattr": (314, 274), "ioprio_set": (251, 30),
    # one's own limits and rights
    "setrlimit": (160, 164), "setuid": (105, 146), "setgid": (106, 144), "setreuid": (113, 145), "setregid": (114, 143),
    "setresuid": (117, 147), "setresgid": (119, 149), "setgroups": (116, 159), "capset": (126, 91),
    "personality": (135, 92),
    # what Landlock does not see: owners, rights, times, attributes of files
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None),
    "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54), "utime": (132, None), "utimes": (235, None),
    "futimesat": (261, None), "utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189, 6),
    "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "flock": (73, 32),
    # memory that no limit sees, and what outlives the process
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "shmat": (30, 196),
    "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180), "add_key": (248, 217), "request_key": (249, 218),
    "keyctl": (250, 219), "timer_create": (222, 107),
    # the machine, and doors into the kernel that an engine has no use for
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "reboot": (169, 142),
    "swapon": (167, 224), "swapoff": (168, 225), "sethostname": (170, 161), "setdomainname": (171, 162),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266), "adjtimex": (159, 171),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "syslog": (103, 116),
    "io_setup": (206, 0), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "quotactl": (179, 60),
    "acct": (163, 89), "iopl": (172, None), "ioperm": (173, None), "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265), "fanotify_init": (300, 262), "open_tree": (428, 428), "move_mount": (429, 429),
    "fsopen": (430, 430), "mount_setattr": (442, 442), "vhangup": (153, 58), "sync": (162, 81), "seccomp": (317, 277),
}  # fmt: skip
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_ALLOW, _REFUSE, _END = 0x7FFF0000, 0x00050000, 0x80000000
_EPERM, _ENOSYS, _ENOMEM = 1, 38, 12
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16  # where these stand in what the filter is shown
_F_SETOWN, _F_SETSIG, _F_SETOWN_EX, _FIOSETOWN, _SIOCSPGRP, _FIOASYNC, _TIOCSTI = (
    8,
    10,
    15,
    0x8901,
    0x8902,
    0x5452,
    0x5412,
)
_CLONE_THREAD, _SHARED_AND_ANONYMOUS, _PR_SET_NAME, _PR_SET_VMA = 0x10000, 0x21, 15, 0x53564D41


def _seccomp(program: list[tuple[int, int, int, int]]) -> bool:
    assert _libc is not None
    if not program:
        return False
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in program)
    text = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxP", len(program), ctypes.addressof(text))
    return bool(_libc.prctl(_PR_SET_SECCOMP, 2, header, 0, 0) == 0)


def _program(machine: str, pid: int) -> list[tuple[int, int, int, int]]:
    """The filter, as the kernel's packet filter has it: load a word, compare it, skip so many instructions, return."""
    if machine not in _MACHINES:
        return []
    column, audited = _MACHINES[machine]

    def argument(i: int) -> tuple[int, int, int, int]:
        return _LOAD, 0, 0, _ARGUMENTS + 8 * i  # its lower half, on machines that store that first

    def refuse(error: int) -> tuple[int, int, int, int]:
        return _RETURN, 0, 0, _REFUSE | error

    allow = (_RETURN, 0, 0, _ALLOW)
    number = (_LOAD, 0, 0, _NUMBER)
    program = [(_LOAD, 0, 0, _MACHINE), (_EQUAL, 1, 0, audited), (_RETURN, 0, 0, _END), number]
    if machine == "x86_64":
        program += [(_AT_LEAST, 0, 1, 0x40000000), refuse(_EPERM)]  # the same calls under other numbers
    for numbers in _REFUSED.values():
        if numbers[column] is not None:
            program += [(_EQUAL, 0, 1, numbers[column] or 0), refuse(_EPERM)]
    special = {
        "clone": ((56, 220), [argument(0), (_ANY_BIT, 1, 0, _CLONE_THREAD), refuse(_EPERM), allow]),  # threads are fine
        "clone3": ((435, 435), [refuse(_ENOSYS)]),  # its flags cannot be seen; the C library then takes the older one
        "kill": ((62, 129), [argument(0), (_EQUAL, 1, 0, pid), refuse(_EPERM), allow]),
        "tgkill": ((234, 131), [argument(0), (_EQUAL, 1, 0, pid), refuse(_EPERM), allow]),
        "prctl": ((157, 167), [argument(0), (_EQUAL, 2, 0, _PR_SET_NAME), (_EQUAL, 1, 0, _PR_SET_VMA), refuse(_EPERM),
                               allow]),
        "prlimit64": ((302, 261), [argument(2), (_EQUAL, 0, 2, 0), (_LOAD, 0, 0, _ARGUMENTS + 20), (_EQUAL, 1, 0, 0),
                                   refuse(_EPERM), allow]),  # to ask is fine, to set is not
        # a descriptor that sends signals to somebody else when there is something to read
        "fcntl": ((72, 25), [argument(1), (_EQUAL, 3, 0, _F_SETOWN), (_EQUAL, 2, 0, _F_SETOWN_EX),
                             (_EQUAL, 1, 0, _F_SETSIG), allow, refuse(_EPERM)]),
        "ioctl": ((16, 29), [argument(1), (_EQUAL, 4, 0, _FIOSETOWN), (_EQUAL, 3, 0, _SIOCSPGRP),
                             (_EQUAL, 2, 0, _FIOASYNC), (_EQUAL, 1, 0, _TIOCSTI), allow, refuse(_EPERM)]),
        "mmap": ((9, 222), [argument(3), (0x54, 0, 0, _SHARED_AND_ANONYMOUS), (_EQUAL, 0, 1, _SHARED_AND_ANONYMOUS),
                            refuse(_ENOMEM), allow]),
    }  # fmt: skip
    for numbers, body in special.values():
        program += [(_EQUAL, 0, len(body), numbers[column] or 0), *body]
    return [*program, allow]
