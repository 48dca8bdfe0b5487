"""The process in which files are parsed: it reads requests from its input until that ends, and answers each in turn.

    request   length, pickle of the fields of a `WorkerRequest`, the first one of a `Setup`; the sender is trusted
    answer    length of the head, length of the body, head (JSON), body (bytes); the first one says it is ready

The head is empty, `{"passing": true}` where the answer may be another the next time, or `{"error": why, "kind": …}`;
what a parser of hostile files writes is only ever read as JSON. A head `{"ask": number}` is no answer yet: that OCR
engine of the request is to be asked for the text on the picture in the body, and the next message is what it said. A
process that has grown large ends after its answer.
"""

import json
import os
import pickle
import signal
import socket
import struct
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, NamedTuple, TypeAlias

from a2c_smcp.documents import codec
from a2c_smcp.documents.descriptors import Descriptor, HeldPath
from a2c_smcp.documents.files import Signature, signature_in, signature_of
from a2c_smcp.documents.formats.base import HasOutline, Illustrated, OpenOptions, Rendered
from a2c_smcp.documents.formats.registry import format_of, formats, register
from a2c_smcp.documents.ocr.base import OcrPolicy, TransientOcrError, ask_through
from a2c_smcp.documents.opening import Opened, Unsupported, open_file, reason_of
from a2c_smcp.documents.sandbox import Confinement, confine
from a2c_smcp.errors import DocumentError

Operation: TypeAlias = Literal["describe", "entries", "page", "find", "render", "image", "outline"]

MAX_OPEN: Final = 4
"""How many documents a worker keeps open; the least recently read is closed first."""

MAX_BODY: Final = 64 << 20
"""The largest answer: a page of more text than this is no page."""

GRACE: Final = 5
"""How many seconds after its deadline a worker ends itself, should nobody be left to end it."""

PASSING: Final = "passing"
"""Whether an answer may be another the next time, in its head."""

NOT_HELD: Final = "not held"
"""The kind of an error after which the request is sent again, together with the open file."""

REQUEST_HEAD: Final = struct.Struct(">I")
ANSWER_HEAD: Final = struct.Struct(">II")


@dataclass(frozen=True, slots=True)
class Setup:
    """What a worker is told once: formats from elsewhere, how much memory it may map, and from where on it is tired."""

    modules: tuple[str, ...]
    memory: int
    tired: int
    sandbox: bool = True


class WorkerRequest(NamedTuple):
    """One thing to do with one file; `options` are None where they are the usual ones.

    Attributes:
        root: The folder that the file is opened below, by default the one it is in.
        held: The open file comes along, on the socket for descriptors.
    """

    operation: Operation
    path: str
    signature: Signature
    arguments: tuple[Any, ...]
    options: OpenOptions | None
    seconds: float
    root: str = ""
    held: bool = False


class OcrReply(NamedTuple):
    """What an OCR service said of a picture: its text, or why there is none."""

    text: str
    error: str = ""
    missing: bool = False
    passing: bool = False


class FileReplaced(DocumentError):
    """The file is not the one that was asked for, or a link has taken its place."""


class NotHeld(DocumentError):
    """The document is not open here, and its file did not come along."""


class WorkerLoop:
    """The documents a worker has open.

    Args:
        descriptors: Where open files come from; without it files are opened by their paths.
    """

    def __init__(self, descriptors: socket.socket | None = None) -> None:
        self._descriptors = descriptors
        self._opened: OrderedDict[str, tuple[Signature, OpenOptions | None, Opened]] = OrderedDict()

    def answer(self, request: WorkerRequest) -> tuple[dict[str, Any], bytes]:
        """Return head and body of the answer, whatever the parser does."""
        try:
            body = _OPERATIONS[request.operation](self._open(request), *request.arguments)
            if len(body) > MAX_BODY:
                return _error(f"it is larger than {MAX_BODY >> 20} MiB", "unreadable"), b""
        except ModuleNotFoundError as error:
            return _error(reason_of(error), "missing"), b""
        except NotHeld:
            return _error("the file is not open", NOT_HELD), b""
        except FileReplaced:
            return _error("the file has changed", "changed"), b""
        except Unsupported as error:
            return _error(error.message, "unsupported"), b""
        except Exception as error:  # noqa: BLE001 - the wall
            kind = "passing" if isinstance(error, OSError | MemoryError) else "unreadable"
            return _error(reason_of(error), kind), b""
        return {PASSING: True} if isinstance(body, codec.Passing) else {}, body

    def _open(self, request: WorkerRequest) -> Opened:
        held = self._received(request)
        known = self._opened.pop(request.path, None)
        if known and known[0] == request.signature == _look_of(request.path) and known[1] == request.options:
            opened = known[2]
        else:
            if known:
                known[2].close()
            opened = self._checked(held or request.path, request)
            if not opened.lasting:
                return opened
        self._opened[request.path] = request.signature, request.options, opened
        while len(self._opened) > MAX_OPEN:
            self._opened.popitem(last=False)[1][2].close()
        return opened

    def _received(self, request: WorkerRequest) -> HeldPath | None:
        if not request.held or self._descriptors is None:
            return None
        _, numbers, _, _ = socket.recv_fds(self._descriptors, 1, 1)
        if len(numbers) != 1:
            raise NotHeld
        return HeldPath(request.path, Descriptor(numbers[0]))

    def _checked(self, place: HeldPath | str, request: WorkerRequest) -> Opened:
        if isinstance(place, str) and self._descriptors is not None:
            raise NotHeld
        path = Path(place) if isinstance(place, str) else place
        named = format_of(path.name)
        if named is None:
            raise DocumentError("it is of no known file type")
        if _state_of(path) != request.signature:
            raise FileReplaced
        opened = open_file(path, named, request.options or OpenOptions())
        if _state_of(path) != request.signature:
            opened.close()
            raise FileReplaced
        return opened


def _state_of(path: Path) -> Signature | None:
    return signature_in(path.stat()) if isinstance(path, HeldPath) else signature_of(path)


def _look_of(path: str) -> Signature | None:
    """Return the signature of a file that is open: as long as it is the same file, the way to it may be another."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return signature_in(status)


def main() -> None:
    """Serve until the input ends. The argument is the socket that brings descriptors, where there is one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the service, with which its workers end
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not get between the answers
    requests = sys.stdin.buffer
    setup: Setup | None = _receive(requests)
    if setup is None:
        return
    _confine(setup.memory)
    for module in setup.modules:
        register(module)
    formats()  # found before the first deadline runs
    # Before there are threads: they would keep what this one gives up.
    confinement = confine(map(_folder_of, setup.modules)) if setup.sandbox else Confinement()
    _end_with(requests)
    _send(answers, {}, json.dumps(asdict(confinement)).encode())
    policies: list[OcrPolicy] = []
    ask_through(lambda spec, png: _ask(requests, answers, policies[-1].engines.index(spec), png))
    desk = WorkerLoop(socket.socket(fileno=int(sys.argv[1])) if len(sys.argv) > 1 else None)
    while (fields := _receive(requests)) is not None:
        request = WorkerRequest(*fields)
        policies[:] = [request.options.ocr] if request.options is not None and request.options.ocr is not None else []
        _alarm(request.seconds + GRACE)
        head, body = desk.answer(request)
        _send(answers, head, body)
        _alarm(0)
        if _peak() > setup.tired and resident() > setup.tired:
            return


def _folder_of(module: str) -> str:
    return os.path.dirname(sys.modules[module].__file__ or "")  # noqa: PTH120


def _ask(requests: BinaryIO, answers: BinaryIO, number: int, png: bytes) -> str:
    _send(answers, {"ask": number}, png)
    said = OcrReply(*_receive(requests))
    if said.missing:
        raise ModuleNotFoundError(said.error)
    if said.error:
        raise TransientOcrError(said.error) if said.passing else DocumentError(said.error)
    return said.text


def resident() -> int:
    """Return how many bytes of memory this process holds; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", "rb", buffering=0) as file:  # noqa: PTH123 - thousands a second
            return int(file.read(128).split()[1]) * 4096
    except (OSError, ValueError, IndexError):
        return 0


def _peak() -> int:
    """Return how many bytes of memory this process has held at the most, which costs a tenth of what `resident` does.

    Where the system favours whoever writes to a pipe, the reader waits until the writer does: each step counts.
    """
    try:
        import resource  # noqa: PLC0415
    except ImportError:
        return sys.maxsize
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10


def _send(answers: BinaryIO, head: Mapping[str, Any], body: bytes) -> None:
    written = json.dumps(head).encode() if head else b""
    # All at once, so that the other end is woken once.
    answers.write(b"".join([ANSWER_HEAD.pack(len(written), len(body)), written, body]))
    answers.flush()


def pack(message: WorkerRequest | Setup | OcrReply) -> bytes:
    """Return a message as the worker receives it: without the keys of OCR services, which it does not need."""
    if isinstance(message, WorkerRequest) and message.options is not None and message.options.ocr is not None:
        message = message._replace(options=replace(message.options, ocr=message.options.ocr.without_keys))
    # A tuple needs no class to be looked up at the other end.
    data = pickle.dumps(message if isinstance(message, Setup) else tuple(message))
    return REQUEST_HEAD.pack(len(data)) + data


def _receive(requests: BinaryIO) -> Any:
    head = requests.read(REQUEST_HEAD.size)
    if len(head) < REQUEST_HEAD.size:
        return None
    return pickle.loads(requests.read(REQUEST_HEAD.unpack(head)[0]))  # noqa: S301 - our parent


def _end_with(requests: BinaryIO) -> None:
    """End this process as soon as nobody is left at the other end, also in the middle of a request."""
    try:
        import select  # noqa: PLC0415

        poll = select.poll()
    except (ImportError, AttributeError):  # Windows: the end is seen after the request
        return
    poll.register(requests, 0)  # nothing but the hang-up

    def watch() -> None:
        poll.poll()
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def _confine(memory: int) -> None:
    try:
        import resource  # noqa: PLC0415
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _alarm(seconds: float) -> None:
    # The default action of the alarm ends the process even inside a library that never gives the interpreter back.
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _error(why: str, kind: str) -> dict[str, Any]:
    return {"error": why, "kind": kind}


def _render(opened: Opened, index: int, dpi: int) -> bytes:
    if not isinstance(opened.parts, Rendered):
        raise Unsupported(f"pages of {opened.file_type} files have no look of their own")
    return opened.parts.render(index, dpi)


def _image(opened: Opened, element_id: str) -> bytes:
    found = opened.parts.element_image(element_id) if isinstance(opened.parts, Illustrated) else None
    return codec.encode_picture(found)


def _outline(opened: Opened) -> bytes:
    return codec.encode_outline(opened.parts.outline() if isinstance(opened.parts, HasOutline) else ())


_OPERATIONS: Final[Mapping[Operation, Callable[..., bytes]]] = {
    "describe": lambda opened, *parts: codec.encode_record(
        codec.record_of(opened, without_pages=codec.WITHOUT_PAGES in parts)
    ),
    "entries": lambda opened, offset, limit: codec.encode_entries(opened.parts.entries(offset, limit)),
    "page": lambda opened, index: codec.encode_page(opened.parts.page(index)),
    "find": lambda opened, element_id: codec.encode_found(opened.parts.find(element_id)),
    "render": _render,
    "image": _image,
    "outline": _outline,
}
