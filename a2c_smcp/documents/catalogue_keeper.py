"""Keeping the catalogue of a service true: scanning, describing, indexing and watching, all in the background."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from a2c_smcp.common.callbacks import notify_guarded
from a2c_smcp.documents import resource_reading
from a2c_smcp.documents.catalogue import CatalogueChanges, CataloguedFile, DocumentCatalogue, scan
from a2c_smcp.documents.codec import Record
from a2c_smcp.documents.excludes import Excludes
from a2c_smcp.documents.extraction import Extraction
from a2c_smcp.documents.indexing import Indexer
from a2c_smcp.documents.watching import bursts
from a2c_smcp.documents.workers import FileChanged

CHEAP_SCAN: Final = 0.02
"""Folders that can be looked at in less time than this are looked at whenever somebody asks for all of them."""

STALE: Final = 1.0
"""Otherwise, where nobody watches, what was seen is good for so many seconds."""

SETTLE: Final = 0.25
"""Some editors move the old file away before they write the new one: only what is still gone after this time is."""

RETRY: Final = 10.0
"""Seconds until a file whose problem may pass is tried again by whoever asks for it."""

BACKLOG: Final = 64
"""While more documents than this wait to be described, none is indexed."""

REINDEX: Final = 2.0
"""Seconds that indexing goes on after a change before it begins anew with what is there now."""

_log = logging.getLogger(__name__)


class CatalogueKeeper:
    """The catalogue of a service and the tasks that keep it.

    Args:
        at_once: How many documents are described at a time.
    """

    def __init__(
        self,
        catalogue: DocumentCatalogue,
        roots: Sequence[Path],
        excludes: Excludes,
        extraction: Extraction,
        indexer: Indexer,
        *,
        host: str,
        at_once: int,
        watch: bool,
        index: bool,
    ) -> None:
        self.catalogue = catalogue
        self._roots = roots
        self._excludes = excludes
        self._extraction = extraction
        self._indexer = indexer
        self._host = host
        self._watch = watch
        self._index = index
        self._at_once = at_once
        self._gate = asyncio.Semaphore(at_once)
        self._scanning = asyncio.Lock()
        self._scans = 0
        self._scan_cost = 0.0
        self._scanned_at = 0.0
        self._describing: dict[CataloguedFile, asyncio.Task[None]] = {}
        self._tried: dict[CataloguedFile, float] = {}
        self._waited_since: float | None = None
        self._changed = asyncio.Event()
        self._to_index = asyncio.Event()
        self._indexed = asyncio.Event()
        self._handlers: list[Callable[[CatalogueChanges], None]] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Look at the folders, then go on in the background."""
        await self.refresh()
        await self._extraction.forget_others(self._roots, tuple(self.catalogue.sources))
        for source, record in await self._extraction.recall(self.catalogue.window()):
            self._learn(source, record)
        self._go_on(self._describe_all())
        if self._index:
            self._go_on(self._index_all())
        if self._watch:
            self._go_on(self._watch_all())

    async def close(self) -> None:
        """Stop everything."""
        tasks = [*self._tasks, *self._describing.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def on_change(self, handler: Callable[[CatalogueChanges], None]) -> Callable[[], None]:
        """Call a handler after each change; return what ends that."""
        self._handlers.append(handler)

        def end() -> None:
            if handler in self._handlers:
                self._handlers.remove(handler)

        return end

    async def refresh(self, *, settle: bool = False) -> None:
        """Look at the folders; a scan that somebody else began after this was asked for does as well."""
        asked = self._scans
        async with self._scanning:
            if self._scans > asked:
                return
            self._scans += 1
            sources = await self._scan()
            if settle and any(ref not in sources for ref in self.catalogue.refs):
                await asyncio.sleep(SETTLE)
                sources = await self._scan()
            self._take_over(sources)

    async def freshen(self) -> None:
        """Look at the folders if that is cheap, or if nobody else does."""
        age = time.monotonic() - self._scanned_at
        if self._scan_cost <= CHEAP_SCAN or (not self._watch and age > STALE):
            await self.refresh()

    async def source(self, doc_ref: str) -> CataloguedFile:
        """Return a document's file.

        Raises:
            DocumentNotFound: There is none of that reference.
        """
        source = self.catalogue.source(doc_ref)
        if source is None:
            await self.refresh()
            source = self.catalogue.source(doc_ref)
        if source is None:
            raise resource_reading.no_document(doc_ref, self._host, self.catalogue.refs)
        return source

    async def record(self, source: CataloguedFile) -> Record:
        """Return what a document is as a whole, for somebody who waits for it.

        Raises:
            FileChanged: The file is another one now.
        """
        known = self.catalogue.record(source.doc_ref) if self.catalogue.source(source.doc_ref) == source else None
        if known is not None and (not _may_pass(known) or time.monotonic() - self._tried.get(source, 0.0) < RETRY):
            return known
        record = await self._extraction.record(source)
        self._learn(source, record)
        return record

    async def described(self, sources: Iterable[CataloguedFile], patience: float) -> None:
        """Wait until the catalogue knows these documents, or until patience ends: once for all that is to be described.

        A list of many pages would else be waited for page by page.
        """
        now = time.monotonic()
        if self._waited_since is None or not self._describing:
            self._waited_since = now
        unknown = [source for source in sources if self.catalogue.record(source.doc_ref) is None]
        left = self._waited_since + patience - now
        if unknown and left > 0:
            await asyncio.wait(set(map(self._describe_soon, unknown)), timeout=left)

    async def wait_until_indexed(self, patience: float) -> None:
        """Wait until everything can be searched, or until patience ends."""
        if not self._index:
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._indexed.wait(), patience)

    def reindex(self) -> None:
        """Bring the index up to date once more."""
        self._indexed.clear()
        self._to_index.set()

    def _learn(self, source: CataloguedFile, record: Record) -> None:
        if _may_pass(record):
            self._tried[source] = time.monotonic()
        if self.catalogue.learn(source, record):
            self._tell(CatalogueChanges(updated=(source.doc_ref,)))
        self._to_index.set()
        self._indexed.clear()

    def _describe_soon(self, source: CataloguedFile) -> "asyncio.Task[None]":
        task = self._describing.get(source)
        if task is None:
            task = asyncio.create_task(self._describe(source))
            self._describing[source] = task
            task.add_done_callback(lambda _: self._describing.pop(source, None))
        return task

    async def _describe(self, source: CataloguedFile) -> None:
        async with self._gate:
            if self.catalogue.source(source.doc_ref) != source or self.catalogue.record(source.doc_ref) is not None:
                return
            try:
                self._learn(source, await self._extraction.record(source))
            except FileChanged:
                self._go_on(self.refresh())
            except Exception:  # noqa: BLE001 - one document must not stop the others
                _log.exception("A document could not be described", extra={"doc": source.doc_ref})

    async def _describe_all(self) -> None:
        while True:
            self._changed.clear()
            running: set[asyncio.Task[None]] = set()
            for source in self.catalogue.sources:
                if self.catalogue.record(source.doc_ref) is None:
                    running.add(self._describe_soon(source))
                if len(running) >= self._at_once:
                    _, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            await self._changed.wait()

    async def _index_all(self) -> None:
        while True:
            self._to_index.clear()
            described = [
                (source, document)
                for source in self.catalogue.sources
                if (document := self.catalogue.document(source.doc_ref)) is not None
            ]
            known = [found for found in described if not self._is_unread(found[0])]
            if len(self.catalogue) - len(described) > BACKLOG:  # who asks for the catalogue comes before who searches
                await asyncio.sleep(STALE / 2)
                continue
            work = asyncio.create_task(self._indexer.bring_up(known, total=len(self.catalogue)))
            more = asyncio.create_task(self._to_index.wait())
            try:
                await asyncio.wait({work, more}, return_when=asyncio.FIRST_COMPLETED)
                await asyncio.wait({work}, timeout=REINDEX)
                if work.done():
                    _report(work)
                    if not self._to_index.is_set() and len(described) == len(self.catalogue):
                        self._indexed.set()  # as far as it can be for now
                    await asyncio.wait({more}, timeout=self._indexer.retry_in)
            finally:
                work.cancel()
                more.cancel()
                await asyncio.gather(work, more, return_exceptions=True)

    def _is_unread(self, source: CataloguedFile) -> bool:
        """Whether how many pages a document has is not known, for a reason that may pass."""
        record = self.catalogue.record(source.doc_ref)
        return record is not None and bool(record.problem) and not record.lasting

    async def _watch_all(self) -> None:
        async for _ in bursts(self._roots):
            await self.refresh(settle=True)
            # A file that is written all the time must not keep a large tree under constant watch.
            await asyncio.sleep(min(self._scan_cost * 4, 0.5))

    async def _scan(self) -> dict[str, CataloguedFile]:
        began = time.perf_counter()
        sources = await asyncio.to_thread(scan, self._roots, self._excludes, self.catalogue.sources)
        self._scan_cost = time.perf_counter() - began
        self._scanned_at = time.monotonic()
        return sources

    def _take_over(self, sources: dict[str, CataloguedFile]) -> None:
        before = {source.doc_ref: source for source in self.catalogue.sources}
        changes = self.catalogue.update(sources)
        if not changes:
            return
        for ref in (*changes.removed, *changes.updated):
            self._tried.pop(before[ref], None)
        self._forget([before[ref] for ref in changes.removed], sources)
        self._changed.set()
        self._to_index.set()
        self._indexed.clear()
        if self._scans > 1:  # the first scan is no change
            self._tell(changes)

    def _forget(self, removed: Sequence[CataloguedFile], present: dict[str, CataloguedFile]) -> None:
        # A file that only moved looks as it did; what was read of it is good at its new place.
        places = {source.signature: source.path for source in present.values()} if removed else {}
        paths = {source.path for source in present.values()} if removed else set()
        gone = [source for source in removed if source.path not in paths]  # else it only has another reference
        moved = {source.path: places[source.signature] for source in gone if source.signature in places}
        self._extraction.forget([source.path for source in gone], moved)

    def _tell(self, changes: CatalogueChanges) -> None:
        for handler in tuple(self._handlers):
            notify_guarded(_log, "a handler of changed documents", handler, changes)

    def _go_on(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        _report(task)


def _may_pass(record: Record) -> bool:
    return bool(record.problem) and (record.locked or not record.lasting)


def _report(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("updating the catalogue failed", exc_info=error)
