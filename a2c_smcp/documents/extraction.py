"""One way from a file to what is in it: remembered on disk, else read by a worker, once for all who ask.

A request that has ended two workers is not tried again for a day or until the file changes. A page that does so hides
neither the document nor its other pages; where five pages have done so, no further page of the file is read unless
somebody asks for that page. What a password opened is never written to the disk, nor is an answer that may be another
the next time.
"""

import asyncio
import hashlib
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from a2c_smcp.common.callbacks import without_message
from a2c_smcp.documents import codec
from a2c_smcp.documents.catalogue import CataloguedFile
from a2c_smcp.documents.codec import Record
from a2c_smcp.documents.descriptors import regular_file
from a2c_smcp.documents.files import Signature, signature_in, signature_of
from a2c_smcp.documents.fingerprint import code_fingerprint, content_of
from a2c_smcp.documents.formats.base import Description, OpenOptions
from a2c_smcp.documents.formats.registry import registered
from a2c_smcp.documents.in_flight import InFlightRequest, Outcome
from a2c_smcp.documents.model import PageEntry
from a2c_smcp.documents.opening import CANNOT, Unsupported
from a2c_smcp.documents.page_elements import page_of
from a2c_smcp.documents.store import Result, Store
from a2c_smcp.documents.worker_main import Operation, WorkerRequest
from a2c_smcp.documents.workers import FileChanged, Unreadable, WorkerEnded, WorkerPool

if TYPE_CHECKING:
    from a2c_smcp.documents.ocr.base import OcrPolicy

DEADLINE: Final = 30.0
OCR_DEADLINE: Final = 180.0
WRITE_AFTER: Final = 0.05
STRIKES: Final = 2
FILE_STRIKES: Final = 5
QUARANTINED: Final = "it has ended its parser {} times and is left alone until the file changes"
TOO_MANY: Final = "{} of its pages have ended their parser, and no others are read unless they are asked for"

_log = logging.getLogger(__name__)

T = TypeVar("T")


class LeftAlone(WorkerEnded):
    """The page was not tried, because others of its file have ended too many workers."""


class _File(NamedTuple):
    """What is in a file that looks like this, and what it shares with those that read the same."""

    signature: Signature
    content: bytes
    identity: bytes


class _Look(NamedTuple):
    """What is remembered before a worker is asked."""

    file: _File
    key: bytes
    known: bytes | None = None
    strikes: int = 0
    file_strikes: int = 0


class Extraction:
    """Reads files for one service.

    Args:
        ocr: How text in pictures is recognized.
        passwords: Gives the password of an encrypted document by its `doc_ref`; it may block.
        deadline: Seconds a request may take; by default more where text may have to be recognized.
    """

    def __init__(
        self,
        pool: WorkerPool,
        store: Store,
        *,
        ocr: "OcrPolicy | None" = None,
        passwords: Callable[[str], str | None] | None = None,
        deadline: float | None = None,
    ) -> None:
        self._pool = pool
        self._store = store
        self._ocr = ocr
        self._passwords = passwords
        self._deadline = deadline or (DEADLINE if ocr is None else OCR_DEADLINE)
        self._disk = ThreadPoolExecutor(1, "a2c-documents-store")
        self._files: dict[str, _File] = {}
        self._unlocked: dict[str, tuple[Signature, str]] = {}
        self._asking: dict[CataloguedFile, asyncio.Task[str | None]] = {}
        self._in_flight: dict[bytes, InFlightRequest] = {}
        self._struck: set[bytes] = set()
        self._unwritten: dict[bytes, tuple[CataloguedFile, Result]] = {}
        self._writing: asyncio.Task[None] | None = None
        told = "" if ocr is None else ocr.fingerprint
        self._salt = code_fingerprint(registered()) + told.encode()

    def is_private(self, source: CataloguedFile) -> bool:
        """Whether a password opened this document."""
        return self._password(source) is not None

    def identity(self, source: CataloguedFile) -> bytes | None:
        """Return what a document shares with those that read the same, None where that is not known yet."""
        file = self._file_of(source)
        return None if file is None else file.identity

    def _file_of(self, source: CataloguedFile) -> _File | None:
        known = self._files.get(source.path)
        return known if known and known.signature == source.signature else None

    async def recall(self, sources: Sequence[CataloguedFile]) -> list[tuple[CataloguedFile, Record]]:
        """Return what the disk remembers of these documents."""

        def work() -> list[tuple[CataloguedFile, Record]]:
            contents = self._store.contents({source.path: source.signature for source in sources})
            keyed = []
            for source in sources:
                if source.path in contents:
                    file = self._files[source.path] = self._identify(source, contents[source.path])
                    keyed.append((source, _key(file, ("describe",))))
            known = self._store.get_many([key for _, key in keyed])
            records = [(source, codec.decode_record(known[key])) for source, key in keyed if key in known]
            # A password may have come since.
            return [(source, record) for source, record in records if not record.locked or self._passwords is None]

        return await self._on_disk(work)

    async def record(self, source: CataloguedFile) -> Record:
        """Return what a document is as a whole; what cannot be read says why.

        Raises:
            FileChanged: The file is another one now.
        """
        record = await self._describe(source, self._password(source))
        if not record.locked or self._passwords is None or self._password(source) is not None:
            return record
        asking = self._asking.get(source)
        if asking is None:
            asking = asyncio.create_task(self._ask_password(self._passwords, source.doc_ref))
            self._asking[source] = asking
            asking.add_done_callback(lambda _: self._asking.pop(source, None))
        password = await asyncio.shield(asking)
        if not password:
            return record
        unlocked = await self._describe(source, password)
        if not unlocked.locked:
            self._unlocked[source.path] = source.signature, password
        return unlocked

    async def entries(self, source: CataloguedFile, offset: int, limit: int) -> list[PageEntry]:
        """Return that part of the page index; a page that cannot be read is in it, and says so.

        Raises:
            FileChanged: The file is another one now.
        """
        try:
            found = codec.decode_entries(await self.read(source, "entries", offset, limit))
        except LeftAlone:
            return [PageEntry(index, f"Page {index + 1}") for index in range(offset, offset + limit)]
        except (Unreadable, WorkerEnded) as error:
            if limit == 1:
                return [PageEntry(offset, CANNOT + error.message, 0)]
            return [entry for index in range(offset, offset + limit) for entry in await self.entries(source, index, 1)]
        return [entry if entry.element_count is not None else await self._counted(source, entry) for entry in found]

    async def _counted(self, source: CataloguedFile, entry: PageEntry) -> PageEntry:
        """Return the entry of a page that only OCR can count: as it was read, where it was."""
        look = await self._look(source, ("page", entry.index), self._password(source))
        return entry if look.known is None else codec.decode_page(look.known).entry

    @staticmethod
    async def _ask_password(passwords: Callable[[str], str | None], doc_ref: str) -> str | None:
        try:
            return await asyncio.to_thread(passwords, doc_ref)
        except Exception as problem:  # noqa: BLE001 - theirs; and whatever it says may hold the password
            told = without_message(problem)
            _log.warning("The password of a document could not be asked for", exc_info=told, extra={"doc": doc_ref})
            return None

    async def read(
        self, source: CataloguedFile, operation: Operation, *arguments: Any, background: bool = False
    ) -> bytes:
        """Return what a worker answers to that request, or has answered before.

        Raises:
            FileChanged: The file is another one now.
            Unreadable: The parser gave up.
            WorkerEnded: The worker did, now or the times before.
            Unsupported: The format cannot do that.
        """
        return await self._read(source, operation, arguments, self._password(source), background=background)

    def forget(self, paths: Sequence[str], moved: Mapping[str, str]) -> None:
        """Delete what is known of files that are gone or no longer shared, on disk too.

        Args:
            moved: Those that are at another path now.
        """
        gone = set(paths)
        for path in paths:
            self._files.pop(path, None)
            self._unlocked.pop(path, None)
        self._unwritten = {key: kept for key, kept in self._unwritten.items() if kept[0].path not in gone}
        if paths:
            self._disk.submit(self._store.forget, paths, moved)

    async def forget_others(self, roots: Sequence[Path], sources: Sequence[CataloguedFile]) -> None:
        """Delete what the disk remembers of files in these folders that are no longer there, or no longer shared."""
        await self._on_disk(lambda: self._store.forget_others(roots, [source.path for source in sources]))

    async def close(self) -> None:
        """Let everything on its way to the disk arrive."""
        for flight in self._in_flight.values():
            flight.cancel()
        asking = list(self._asking.values())
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
        if self._writing is not None:
            self._writing.cancel()
            await asyncio.gather(self._writing, return_exceptions=True)
        await self._write()
        await self._on_disk(self._store.close)
        self._disk.shutdown()

    async def clear(self) -> None:
        """Forget what the disk remembers."""
        self._unwritten.clear()
        await self._on_disk(self._store.clear)

    async def _describe(self, source: CataloguedFile, password: str | None) -> Record:
        try:
            return codec.decode_record(await self._read(source, "describe", (), password, background=False))
        except (Unreadable, WorkerEnded) as error:
            problem = CANNOT + error.message
            failed = Record(Description(summary=problem), source.file.file_type, problem, lasting=False)
            if isinstance(error, Unreadable):
                return failed
        try:  # what ended the worker was a page, and the document has others
            parts = (codec.WITHOUT_PAGES,)
            return codec.decode_record(await self._read(source, "describe", parts, password, background=False))
        except (Unreadable, Unsupported, WorkerEnded):
            return failed

    async def _read(
        self,
        source: CataloguedFile,
        operation: Operation,
        arguments: tuple[Any, ...],
        password: str | None,
        *,
        background: bool,
    ) -> bytes:
        look = await self._look(source, (operation, *arguments), password)
        if look.known is not None:
            return look.known
        if look.strikes >= STRIKES:
            raise WorkerEnded(QUARANTINED.format(look.strikes))
        if look.file_strikes >= FILE_STRIKES and (background or operation == "entries"):
            raise LeftAlone(TOO_MANY.format(look.file_strikes))
        flight = self._in_flight.get(look.key)
        if flight is None:
            options = None if password is None and self._ocr is None else OpenOptions(password, self._ocr)
            request = WorkerRequest(
                operation, source.path, source.signature, arguments, options, self._deadline, source.file.root
            )
            flight = self._pool.begin(
                request,
                background=background,
                landed=lambda outcome: self._land(outcome, look, source, request, background=background),
            )
            self._in_flight[look.key] = flight
        return await flight.wait()

    async def _look(self, source: CataloguedFile, request: tuple[Any, ...], password: str | None) -> _Look:
        """Return what is remembered; the disk is not asked for what it cannot know.

        Whether the file is still the same is seen here by whoever asks the disk, else by the worker.
        """
        file = self._file_of(source)
        if file is None:  # a large one takes a while, and nobody else should wait for it
            look = await asyncio.to_thread(self._look_on_disk, source, None, request, password)
            self._files[source.path] = look.file
            return look
        key = _key(file, request, password)
        if password is not None or (key not in self._unwritten and self._is_new(key, file)):
            return _Look(file, key)
        return await self._on_disk(lambda: self._look_on_disk(source, file, request, password))

    def _is_new(self, key: bytes, file: _File) -> bool:
        keys = key, file.identity
        return self._struck.isdisjoint(keys) and self._store.is_new(*keys)

    def _look_on_disk(
        self, source: CataloguedFile, file: _File | None, request: tuple[Any, ...], password: str | None
    ) -> _Look:
        if signature_of(source.file.path) != source.signature:
            raise FileChanged
        if file is None:
            content = self._store.contents({source.path: source.signature}).get(source.path) or self._hash(source)
            file = self._identify(source, content)
        key = _key(file, request, password)
        if password is not None:
            return _Look(file, key)
        unwritten = self._unwritten.get(key)
        known = unwritten[1].value if unwritten else self._store.get(key)
        if known is not None:
            return _Look(file, key, known)
        return _Look(file, key, None, *self._store.strikes(key, file.identity))

    @staticmethod
    def _hash(source: CataloguedFile) -> bytes:
        try:
            opened, status = regular_file(source.file.root, source.file.relative)
            if signature_in(status) != source.signature:
                raise FileChanged
            content = content_of(opened.number, source.signature)
        except OSError:
            # What may not be read has no content; the worker will say why.
            return hashlib.sha256(repr((source.path, source.signature)).encode("utf-8", "surrogatepass")).digest()
        if signature_in(os.fstat(opened.number)) != source.signature:
            raise FileChanged
        return content

    def _land(
        self, outcome: Outcome, look: _Look, source: CataloguedFile, request: WorkerRequest, *, background: bool
    ) -> None:
        """Remember how a request went, before those who wait for it are told."""
        self._in_flight.pop(look.key, None)
        if isinstance(outcome, WorkerEnded):
            self._strike(look, request)
        elif source.path not in self._files:  # it was removed meanwhile
            return
        elif isinstance(outcome, bytes) and _is_kept(request, outcome):
            file = source.path, source.signature, look.file.content
            self._keep_soon(source, Result(look.key, outcome, background, file))
        elif request.operation == "describe":  # what is remembered of it is of an earlier version
            self._disk.submit(self._store.forget, [source.path])

    def _keep_soon(self, source: CataloguedFile, result: Result) -> None:
        """Write results together, and not while somebody waits for one of them."""
        self._unwritten[result.key] = source, result
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_later())

    async def _write_later(self) -> None:
        while self._unwritten:
            await asyncio.sleep(WRITE_AFTER)
            await self._write()
        self._writing = None

    async def _write(self) -> None:
        unwritten = dict(self._unwritten)
        if unwritten:
            await self._on_disk(lambda: self._store.put(_still_true(list(unwritten.values()))))
        for key in unwritten:
            self._unwritten.pop(key, None)

    def _strike(self, look: _Look, request: WorkerRequest) -> None:
        """Count what ended a worker: the request, and the file once for each of its pages."""
        identity = look.file.identity
        self._struck.update((look.key, identity))  # so that whoever asks next asks the disk, which by then has counted
        page = page_in(request)

        def count() -> None:
            self._store.strike(look.key)
            if page is not None and self._store.strike(_key(look.file, ("strikes of page", page))) == 1:
                self._store.strike(identity)

        self._disk.submit(count)

    def _identify(self, source: CataloguedFile, content: bytes) -> _File:
        # The name decides the format, and some formats show it.
        name = source.file.path.name.encode("utf-8", "surrogatepass")
        identity = hashlib.sha256(b"\0".join([self._salt, content, name])).digest()
        return _File(source.signature, content, identity)

    def _password(self, source: CataloguedFile) -> str | None:
        known = self._unlocked.get(source.path)
        return known[1] if known and known[0] == source.signature else None

    async def _on_disk(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._disk, work)


def _key(file: _File, request: tuple[Any, ...], password: str | None = None) -> bytes:
    told = file.identity + repr(request).encode("utf-8", "surrogatepass")
    secret = b"" if password is None else b"\0" + password.encode()
    return hashlib.blake2b(told + secret, digest_size=32).digest()


def page_in(request: WorkerRequest) -> int | None:
    """Return the one page that a request is about; None where it is about several, or the document as a whole."""
    match request.operation, request.arguments:
        case ("page" | "render", (int(index), *_)):
            return index
        case ("entries", (int(index), 1)):
            return index
        case ("find" | "image", (str(element_id), *_)):
            return page_of(element_id)
    return None


def _is_kept(request: WorkerRequest, answer: bytes) -> bool:
    if (request.options is not None and request.options.password is not None) or isinstance(answer, codec.Passing):
        return False
    # Nor is there an end to the elements that are not there.
    return codec.decode_record(answer).lasting if request.operation == "describe" else answer != codec.NOTHING


def _still_true(results: Sequence[tuple[CataloguedFile, Result]]) -> list[Result]:
    # Read from a file that was written meanwhile, one would be remembered for the wrong content.
    looks = {source.path: signature_of(source.file.path) for source, _ in results}
    return [result for source, result in results if looks[source.path] == source.signature]
