"""A format whose files say what their parser is to do wrong: `describe loop` or `page crash`, a line each."""

import ctypes
import os
import signal
import socket
import stat
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from a2c_smcp.documents.formats.base import Description, OpenDocument, OpenOptions, PasswordNeeded
from a2c_smcp.documents.model import Element, Page, PageEntry
from a2c_smcp.errors import DocumentError

SUFFIX: Final = ".misbehaving"
PASSWORD: Final = "open sesame"


class MisbehavingFormat:
    def file_type(self, name: str) -> str | None:
        return "misbehaving" if name.endswith(SUFFIX) else None

    def open(self, path: Path, *, options: OpenOptions = OpenOptions()) -> OpenDocument:  # noqa: B008
        plan = dict(line.split(maxsplit=1) for line in path.read_text(encoding="utf-8").splitlines() if " " in line)
        if plan.get("open") == "locked" and options.password != PASSWORD:
            raise PasswordNeeded("it is encrypted: a password opens it")
        if plan.get("title") == "ocr":
            plan["title"] = options.ocr.fingerprint if options.ocr else "nobody reads pictures"
        if plan.get("open") in _DEEDS:
            misbehave(plan["open"])
        return Telling(plan) if "metadata" in plan else Misbehaving(plan)


FORMAT: Final = MisbehavingFormat()


class Misbehaving:
    """Three pages, of which `page N` names one that does not behave."""

    def __init__(self, plan: Mapping[str, str]) -> None:
        self._plan = plan

    def describe(self) -> Description:
        misbehave(self._plan.get("describe", ""))
        return Description(title=self._plan.get("title", "Fine"), page_count=3, summary=f"by {os.getpid()}")

    def entries(self, offset: int, limit: int) -> Sequence[PageEntry]:
        return [self.page(index).entry for index in range(3)[offset : offset + limit]]

    def page(self, index: int) -> Page:
        misbehave(self._plan.get(f"page{index}", ""))
        if peek := self._plan.get("peek"):
            return Page(index, "Peeked", (Element("p0", "text", {"text": Path(peek).read_text("utf-8")}, "Words"),))
        words = self._plan.get("words", "Nothing to see")
        return Page(index, f"Page {index}", (Element(f"p{index}", "text", {"text": words}, "Words"),))

    def find(self, element_id: str) -> tuple[int, Element] | None:
        misbehave(self._plan.get("find", ""))
        return next(((n, self.page(n).elements[0]) for n in range(3) if element_id == f"p{n}"), None)

    def render(self, index: int, dpi: int) -> bytes:
        misbehave(self._plan.get("render", ""))
        return b"\x89PNG" + bytes([index, dpi])

    def element_image(self, element_id: str) -> tuple[str, bytes] | None:
        return ("image/png", b"picture") if element_id == "p0" else None


class Telling(Misbehaving):
    """One that can be described without its pages."""

    def describe_from_metadata(self) -> Description:
        return Description(title=self._plan["metadata"], page_count=3)


def misbehave(deed: str) -> None:
    if deed:
        _DEEDS[deed]()


def _loop() -> None:
    while True:
        pass


def _hold_the_interpreter() -> None:
    # A function of C that never gives the interpreter back, as some parsers do.
    ctypes.PyDLL(None).sleep(600)


def _eat() -> None:
    bytearray(64 << 30)


def _crash() -> None:
    ctypes.string_at(0)


def _nest() -> None:
    _nest()


def _fail() -> None:
    raise KeyError("/a/secret/place")


def _break() -> None:
    raise DocumentError("its heart is broken")


def _index() -> None:
    raise IndexError("a bug in a parser")


def _deny() -> None:
    raise PermissionError(13, "Permission denied", "/a/secret/place")


def _lose() -> None:
    raise OSError(5, "Input/output error")


def _miss() -> None:
    raise ModuleNotFoundError("the module 'x' is not installed: pip install x", name="x")


def _connect() -> None:
    with socket.socket() as line:
        line.connect(("127.0.0.1", 9))


def _connect_by_its_own_socket() -> None:
    # The one that brings descriptors is the only one there is.
    own = next(number for number in range(3, 64) if Path(f"/proc/self/fd/{number}").exists() and _is_socket(number))
    with socket.socket(fileno=os.dup(own)) as line:
        line.sendall(b"x")


def _is_socket(number: int) -> bool:
    return stat.S_ISSOCK(os.fstat(number).st_mode)


def _exec() -> None:
    os.execv("/bin/sh", ["sh", "-c", "exit 3"])


def _start() -> None:
    subprocess.run(["/bin/true"], check=True)


def _write() -> None:
    Path("/dev/shm/a2c-written-by-a-worker").write_text("x", encoding="utf-8")


def _thread() -> None:
    done = threading.Event()
    threading.Thread(target=done.set).start()
    if not done.wait(60):
        raise DocumentError("no thread was started")


def _print() -> None:
    print("noise between the answers", flush=True)  # noqa: T201
    os.write(1, b"more of it")


_DEEDS: Final[Mapping[str, Callable[[], None]]] = {
    "loop": _loop,
    "hold": _hold_the_interpreter,
    "eat": _eat,
    "crash": _crash,
    "exit": lambda: os._exit(3),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "stop": lambda: os.kill(os.getpid(), signal.SIGTERM),
    "interrupt": lambda: os.kill(os.getpid(), signal.SIGINT),
    "nest": _nest,
    "fail": _fail,
    "break": _break,
    "print": _print,
    "connect": _connect,
    "send": _connect_by_its_own_socket,
    "exec": _exec,
    "start": _start,
    "fork": lambda: os._exit(0) if os.fork() == 0 else None,
    "write": _write,
    "chmod": lambda: os.chmod("/proc/self/cwd", 0o755),  # noqa: PTH101
    "signal": lambda: os.kill(os.getppid(), signal.SIGCONT),
    "spy": lambda: print(Path(f"/proc/{os.getppid()}/environ").read_bytes()),  # noqa: T201
    "look": lambda: print(os.listdir("/home")),  # noqa: T201, PTH208
    "thread": _thread,
    "index": _index,
    "deny": _deny,
    "lose": _lose,
    "miss": _miss,
    "sleep": lambda: time.sleep(600),
}
