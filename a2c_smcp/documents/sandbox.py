"""What a worker gives up before it reads its first file: rights, the file system, the network, other programs.

On Linux, as far as the kernel knows it: `no_new_privs`; Landlock, which leaves reading Python, its libraries and fonts,
and nothing else of the file system; a seccomp filter without sockets, new programs and processes, signals to others,
files opened for writing, and system administration. Documents come as open descriptors, which none of this touches.
What is refused fails with an error, so that a parser that tries is told so like any other failure.
"""

import ctypes
import errno
import mimetypes
import os
import platform
import struct
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import a2c_smcp

OFF: Final = "A2C_DOCS_SANDBOX"
"""The variable that leaves workers without it, set to `off`."""

LIBRARIES: Final = (
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/nix/store"),
    *("/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo", "/usr/share/locale", "/usr/share/mime"),
    *("/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/X11/fonts", "/etc/fonts", "/usr/share/fontconfig"),
    *("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu", "/sys/fs/cgroup"),
    *("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"),
)
"""What libraries read of an ordinary system beside Python's own files."""

_PR_SET_SECCOMP: Final = 22
_PR_SET_NO_NEW_PRIVS: Final = 38
_PR_GET_NO_NEW_PRIVS: Final = 39

# Landlock has the same numbers on every architecture.
_CREATE_RULESET: Final = 444
_ADD_RULE: Final = 445
_RESTRICT_SELF: Final = 446
_ABI: Final = 1  # LANDLOCK_CREATE_RULESET_VERSION
_PATH_BENEATH: Final = 1
_READ_FILE: Final = 1 << 2
_READ_DIR: Final = 1 << 3
_RIGHTS: Final = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""How many rights over files each version can take away."""

_ARCHITECTURES: Final[Mapping[str, tuple[int, int]]] = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""The number by which the filter knows an architecture, and its column in `_REFUSED`."""

_SECCOMP: Final = (317, 277)
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_CLONE_THREAD: Final = 0x10000
_NEVER: Final = -1

# Name: number on x86_64, on aarch64. Those with a condition follow below.
# fmt: off
_REFUSED: Final[Mapping[str, tuple[int, int]]] = {
    # the network
    "socket": (41, 198), "socketpair": (53, 199), "bind": (49, 200), "listen": (50, 201), "accept": (43, 202),
    "accept4": (288, 242), "connect": (42, 203), "sendto": (44, 206), "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
    # programs and processes
    "execve": (59, 221), "execveat": (322, 281), "fork": (57, _NEVER), "vfork": (58, _NEVER),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440), "process_mrelease": (448, 448),
    "migrate_pages": (256, 238), "move_pages": (279, 239), "setpriority": (141, 140), "ioprio_set": (251, 30),
    "sched_setparam": (142, 118), "sched_setscheduler": (144, 119), "sched_setattr": (314, 274),
    # the file system
    "creat": (85, _NEVER), "truncate": (76, 45), "rename": (82, _NEVER), "renameat": (264, 38),
    "renameat2": (316, 276), "link": (86, _NEVER), "linkat": (265, 37), "symlink": (88, _NEVER),
    "symlinkat": (266, 36), "unlink": (87, _NEVER), "unlinkat": (263, 35), "rmdir": (84, _NEVER),
    "mkdir": (83, _NEVER), "mkdirat": (258, 34), "mknod": (133, _NEVER), "mknodat": (259, 33),
    "chmod": (90, _NEVER), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, _NEVER), "fchown": (93, 55), "lchown": (94, _NEVER), "fchownat": (260, 54),
    "utime": (132, _NEVER), "utimes": (235, _NEVER), "futimesat": (261, _NEVER), "utimensat": (280, 88),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16), "removexattrat": (466, 466),
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264), "quotactl": (179, 60),
    # what goes around the filter, or around Landlock
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "personality": (135, 92),
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39),
    "pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428), "move_mount": (429, 429),
    "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442),
    # shared memory and messages, keys, the system
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "msgget": (68, 186), "msgsnd": (69, 189),
    "msgrcv": (70, 188), "msgctl": (71, 187), "semget": (64, 190), "semop": (65, 193), "semctl": (66, 191),
    "mq_open": (240, 180), "mq_unlink": (241, 181),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "syslog": (103, 116),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106), "acct": (163, 89),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142),
    "swapon": (167, 224), "swapoff": (168, 225), "sethostname": (170, 161), "setdomainname": (171, 162),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171),
    "iopl": (172, _NEVER), "ioperm": (173, _NEVER),
}
# fmt: on
_UNKNOWN: Final = {"clone3": (435, 435), "openat2": (437, 437)}
"""Calls whose arguments a filter cannot see: answered as by an older kernel, libraries then use those below."""
_OPEN, _OPENAT, _CLONE = (2, _NEVER), (257, 56), (56, 220)
_KILL, _TGKILL, _PRLIMIT = (62, 129), (234, 131), (302, 261)

_LOAD, _EQUAL, _ABOVE, _BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW: Final = 0x7FFF0000
_KILL_PROCESS: Final = 0x80000000
_ERRNO: Final = 0x00050000


@dataclass(frozen=True, slots=True)
class Confinement:
    """What is in force; `landlock` is the version of the kernel's Landlock, 0 without."""

    no_new_privs: bool = False
    landlock: int = 0
    seccomp: bool = False


def confine(readable: Iterable[str] = ()) -> Confinement:
    """Give up what a parser does not need, for this thread and those it starts; return what that is.

    Args:
        readable: Files and folders that may be read beside Python and the system's libraries.
    """
    if sys.platform != "linux":
        return Confinement()
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    if not _succeeds(libc.prctl, _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        return Confinement()
    sys.dont_write_bytecode = True
    landlock = _restrict_files(libc, [*python_files(), *LIBRARIES, *readable])
    return Confinement(no_new_privs=True, landlock=landlock, seccomp=_filter_calls(libc))


def python_files() -> Iterator[str]:
    """Yield the folders of the standard library, of installed packages and of this one."""
    for paths in (sysconfig.get_paths(), sysconfig.get_paths(vars={"base": sys.base_prefix})):
        yield from (paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    for prefix in {sys.prefix, sys.base_prefix}:
        yield from (os.path.join(prefix, name) for name in ("lib", "lib64", "pyvenv.cfg"))  # noqa: PTH118
    for entry in sys.path:
        if Path(entry).name in ("site-packages", "dist-packages", "lib-dynload") or entry.endswith(".zip"):
            yield entry
    yield str(Path(a2c_smcp.__file__).parent)
    yield from filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep))
    yield from map(str, mimetypes.knownfiles)


def _succeeds(function: Any, *arguments: int) -> bool:
    return bool(function(arguments[0], *(ctypes.c_ulong(value) for value in arguments[1:])) == 0)


def _restrict_files(libc: Any, readable: Iterable[str]) -> int:
    """Leave nothing of the file system but reading these places; return the version in force, 0 for none."""
    version: int = libc.syscall(ctypes.c_long(_CREATE_RULESET), None, ctypes.c_size_t(0), ctypes.c_uint(_ABI))
    if version < 1:
        return 0
    rights = (1 << _RIGHTS.get(version, max(_RIGHTS.values()))) - 1
    # From version 4 on, TCP; from version 6 on, signals and abstract sockets to those outside.
    fields = [rights, 0b11, 0b11][: 1 if version < 4 else 2 if version < 6 else 3]
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    ruleset: int = libc.syscall(
        ctypes.c_long(_CREATE_RULESET), attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint(0)
    )
    if ruleset < 0:
        return 0
    try:
        for place in readable:
            _allow_reading(libc, ruleset, place)
        done: int = libc.syscall(ctypes.c_long(_RESTRICT_SELF), ctypes.c_int(ruleset), ctypes.c_uint(0))
    finally:
        os.close(ruleset)
    return version if done == 0 else 0


def _allow_reading(libc: Any, ruleset: int, place: str) -> None:
    try:
        opened = os.open(place, os.O_PATH | os.O_CLOEXEC)
    except (OSError, ValueError):  # not on this system
        return
    try:
        rights = _READ_FILE | _READ_DIR if os.path.isdir(place) else _READ_FILE  # noqa: PTH112
        rule = struct.pack("=Qi", rights, opened)
        libc.syscall(
            ctypes.c_long(_ADD_RULE), ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), rule, ctypes.c_uint(0)
        )
    finally:
        os.close(opened)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def _filter_calls(libc: Any) -> bool:
    known = _ARCHITECTURES.get(platform.machine())
    if known is None or sys.byteorder != "little" or struct.calcsize("P") != 8:
        return False
    code = filter_program(*known, os.getpid())
    program = _Program(len(code) // 8, code)
    # To every thread there is; libraries may have started some.
    call, all_threads = _SECCOMP[known[1]], 1
    done: int = libc.syscall(ctypes.c_long(call), ctypes.c_uint(1), ctypes.c_uint(all_threads), ctypes.byref(program))
    return done == 0


def filter_program(architecture: int, column: int, pid: int) -> bytes:
    """Return the instructions of the filter, of eight bytes each."""
    lines: list[tuple[int, int, int, int]] = [
        (_LOAD, 0, 0, 4),  # the architecture
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, 0),  # the number of the call
    ]
    if column == 0:  # the calls of x32 have numbers of their own
        lines += [(_ABOVE, 0, 1, 0x40000000), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]
    for calls, number in ((_REFUSED, errno.EPERM), (_UNKNOWN, errno.ENOSYS)):
        for call in calls.values():
            if call[column] != _NEVER:
                lines += [(_EQUAL, 0, 1, call[column]), (_RETURN, 0, 0, _ERRNO | number)]
    for call, argument in ((_OPEN, 1), (_OPENAT, 2)):
        lines += _where(call[column], argument, [(_BITS, 0, 1, _WRITING), (_RETURN, 0, 0, _ERRNO | errno.EACCES)])
    lines += _where(_CLONE[column], 0, [(_BITS, 1, 0, _CLONE_THREAD), (_RETURN, 0, 0, _ERRNO | errno.EPERM)])
    for call in (_KILL, _TGKILL):
        lines += _where(call[column], 0, [(_EQUAL, 1, 0, pid), (_RETURN, 0, 0, _ERRNO | errno.EPERM)])
    own = [(_EQUAL, 2, 0, 0), (_EQUAL, 1, 0, pid), (_RETURN, 0, 0, _ERRNO | errno.EPERM)]
    lines += _where(_PRLIMIT[column], 0, own)
    lines.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *line) for line in lines)


def _where(call: int, argument: int, then: list[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
    """Return instructions that look at the lower half of an argument of one call, and else go on."""
    if call == _NEVER:
        return []
    inner = [(_LOAD, 0, 0, 16 + 8 * argument), *then, (_RETURN, 0, 0, _ALLOW)]
    return [(_EQUAL, 0, len(inner), call), *inner]
