"""The pages of one PDF as Markdown and pictures, by the document core, in a worker process for each core.

A page that is done is kept beside the pictures, under a name made of the file's contents, the settings and the reading
code: a run that was killed goes on where it was, and one that is repeated does nothing twice. A page whose OCR failed
for a reason that may pass is not kept.
"""

import asyncio
import hashlib
import json
import logging
import os
import shutil
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any, Final, TypeAlias, TypeVar

from a2c_smcp.common.callbacks import notify_guarded
from a2c_smcp.digest.folders import STATE, directory, is_own_file, write
from a2c_smcp.digest.framework_protocol import Progress
from a2c_smcp.documents import codec
from a2c_smcp.documents.files import Signature, signature_of
from a2c_smcp.documents.fingerprint import code_fingerprint
from a2c_smcp.documents.formats.base import OpenOptions, OutlineEntry
from a2c_smcp.documents.model import PENDING, Document, Element, Page, is_pending
from a2c_smcp.documents.ocr.base import LOCAL_MEMORY, OcrPolicy
from a2c_smcp.documents.render.markdown import render_page
from a2c_smcp.documents.worker_main import Operation, WorkerRequest
from a2c_smcp.documents.workers import MEMORY, TIRED, FileChanged, WorkerPool
from a2c_smcp.errors import BadRequest, DocumentError

_log = logging.getLogger(__name__)

MAX_WORKERS: Final = 8
PAGE_SECONDS: Final = 120.0
OCR_SECONDS: Final = 600.0
FORM: Final = 2
"""Of what is kept; a run does not read what one of another form left."""

HEADER_WITHIN: Final = 1024
"""Where a PDF says that it is one: some have junk before."""

About: TypeAlias = tuple[str, int, Sequence[OutlineEntry]]
"""Title, number of pages, table of contents."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ExtractionSettings:
    """How pages are read. A run with others is another run."""

    dpi: int = 180
    password: str | None = None
    ocr: OcrPolicy | None = None
    images: bool = True


@dataclass(frozen=True, slots=True)
class PageRead:
    """A page and what became of it.

    Attributes:
        elements: What stands on it, without what stands at the edge of every page.
        by: How its text was read.
        problem: Why it could not be read; a page that was read and is empty has none.
        no_image: Why it could not be drawn.
    """

    number: int
    elements: tuple[Element, ...] = ()
    image: Path | None = None
    by: str = "text"
    problem: str = ""
    no_image: str = ""

    @property
    def text(self) -> str:
        """The page as Markdown."""
        return render_page(_NOBODY, Page(self.number - 1, "", self.elements))


@dataclass(frozen=True, slots=True)
class PdfExtract:
    """What was read of a PDF."""

    title: str
    page_count: int
    outline: Sequence[OutlineEntry]
    pages: Sequence[PageRead]
    reused: int = 0

    @property
    def contents(self) -> list[dict[str, Any]]:
        """The outline as JSON: entries that lead to a page, counted from 1."""
        return [
            {"title": entry.title, "page": entry.page_index + 1, "level": entry.level}
            for entry in self.outline
            if entry.page_index is not None
        ]


def extract(
    pdf: Path,
    out_dir: Path,
    settings: ExtractionSettings,
    *,
    numbers: Iterable[int] | None = None,
    progress: Progress | None = None,
) -> PdfExtract:
    """Read pages of a PDF (numbered from 1), all by default; blocks, from any thread.

    Raises:
        DocumentError: The file cannot be read at all; a page that cannot says so itself.
        BadRequest: There is no such file.
    """
    return blocking(_extract(pdf, out_dir, settings, numbers, progress))


def blocking(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, also where this thread runs an event loop already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    outcome: list[Callable[[], T]] = []

    def run() -> None:
        try:
            value = asyncio.run(work)
            outcome.append(lambda: value)
        except BaseException as problem:  # noqa: BLE001 - raised in the thread that waits
            caught = problem

            def fail() -> T:
                raise caught

            outcome.append(fail)

    thread = Thread(target=run, name="a2c-digest")
    thread.start()
    thread.join()
    return outcome[0]()


async def _extract(
    pdf: Path, out_dir: Path, settings: ExtractionSettings, numbers: Iterable[int] | None, progress: Progress | None
) -> PdfExtract:
    path, signature = _found(pdf)
    kept = KeptPages(out_dir, await asyncio.to_thread(key_of, path, settings))
    async with AsyncExitStack() as stack:
        readers = [PdfWorker(str(path), signature, settings) for _ in range(min(os.cpu_count() or 1, MAX_WORKERS))]
        for reader in readers:
            stack.push_async_callback(reader.close)
        title, count, outline = kept.about() or await _about(readers[0], path, kept)
        wanted = list(range(1, count + 1)) if numbers is None else [n for n in numbers if 1 <= n <= count]
        pages = {page.number: page for page in map(kept.get, wanted) if page is not None and page.fits(settings)}
        reused = len(pages)
        tell = _teller(progress, reused, len(wanted))
        waiting = iter([number for number in wanted if number not in pages])
        try:
            async with asyncio.TaskGroup() as group:
                for reader in readers:
                    group.create_task(_work(reader, waiting, out_dir, kept, pages, tell))
        except BaseExceptionGroup as group_of:
            raise _first_of(group_of) from None
    return PdfExtract(title, count, outline, [pages[number].read for number in wanted], reused)


def _first_of(error: BaseException) -> BaseException:
    """Return what went wrong first: of tasks that are cancelled for it nobody has to know."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _found(pdf: Path) -> tuple[Path, Signature]:
    path = pdf.expanduser().resolve()
    signature = signature_of(path)
    if signature is None or not path.is_file():
        raise BadRequest(f"There is no file {pdf.name!r}")
    return path, signature


def check_pdf(path: Path) -> None:
    """Look at the beginning of a file, as readers of PDF do.

    Raises:
        BadRequest: It is no PDF, or nobody may read it.
    """
    try:
        with path.open("rb") as file:
            beginning = file.read(HEADER_WITHIN)
    except OSError as error:
        raise BadRequest(f"{path.name!r} cannot be read: {error.strerror}") from None
    if beginning and b"%PDF-" not in beginning:
        raise BadRequest(f"{path.name!r} is no PDF")


async def _about(reader: "PdfWorker", path: Path, kept: "KeptPages") -> About:
    record = codec.decode_record(await reader.ask("describe"))
    if record.problem:
        raise DocumentError(record.problem)
    outline = codec.decode_outline(await reader.ask("outline"))
    about = record.description.title or path.stem, record.description.page_count, outline
    kept.put_about(about)
    return about


def _teller(progress: Progress | None, done: int, total: int) -> Callable[[], None]:
    state = [done]
    if progress is not None:
        notify_guarded(_log, "a progress callback", progress, "pages", done, total)

    def tell() -> None:
        state[0] += 1
        if progress is not None:
            notify_guarded(_log, "a progress callback", progress, "pages", state[0], total)

    return tell


async def _work(
    reader: "PdfWorker",
    waiting: Iterator[int],
    out_dir: Path,
    kept: "KeptPages",
    pages: "dict[int, KeptPage]",
    tell: Callable[[], None],
) -> None:
    for number in waiting:
        page = await reader.read(number, out_dir)
        if not page.problem and not page.no_image and not is_pending(page.elements):
            await asyncio.to_thread(kept.put, page)
        pages[number] = KeptPage(page)
        tell()


def content_of(pdf: Path) -> str:
    """Return a name for the bytes of a file."""
    digest = hashlib.sha256()
    with pdf.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


class PdfWorker:
    """One worker process with the PDF open."""

    def __init__(self, path: str, signature: Signature, settings: ExtractionSettings) -> None:
        extra = LOCAL_MEMORY if settings.ocr is not None and settings.ocr.is_local else 0
        self._pool = WorkerPool(1, memory=MEMORY + extra, tired=TIRED + extra)
        self._path, self._signature, self._settings = path, signature, settings
        self._options = OpenOptions(password=settings.password, ocr=settings.ocr)

    async def ask(self, operation: Operation, *arguments: Any) -> bytes:
        """Return the bytes of an answer."""
        seconds = OCR_SECONDS if operation == "page" and self._settings.ocr is not None else PAGE_SECONDS
        return await self._pool.call(
            WorkerRequest(operation, self._path, self._signature, arguments, self._options, seconds)
        )

    async def read(self, number: int, out_dir: Path) -> PageRead:
        """Read one page; what cannot be read is told in its `problem`."""
        image, no_image = None, ""
        if self._settings.images:
            try:
                drawn = await self.ask("render", number - 1, self._settings.dpi)
                image = await asyncio.to_thread(write, out_dir / f"page{number}.png", drawn)
            except DocumentError as error:
                no_image = _why(error)
        try:
            page = codec.decode_page(await self.ask("page", number - 1))
        except DocumentError as error:
            return PageRead(number, (), image, "none", _why(error), no_image)
        body = tuple(element for element in page.elements if element.category not in ("header", "footer"))
        if body and all(PENDING in element.metadata for element in body):
            why = str(body[0].metadata.get("ocr_note") or "OCR failed")
            return PageRead(number, (), image, "none", why, no_image)
        return PageRead(number, body, image, _by(page), no_image=no_image)

    async def close(self) -> None:
        """End the process."""
        await self._pool.close()


def _why(error: DocumentError) -> str:
    return "the file was replaced or deleted while it was read" if isinstance(error, FileChanged) else error.message


_NOBODY: Final = Document(host="x", doc_ref="x", file_uri="", file_type="pdf", title="", page_count=0)


def _by(page: Page) -> str:
    engines = {element.metadata["ocr"]["engine"] for element in page.elements if "ocr" in element.metadata}
    return f"ocr:{'+'.join(sorted(map(str, engines)))}" if engines else "text"


def key_of(pdf: Path, settings: ExtractionSettings) -> str:
    """Return a name for this file read in this way."""
    ocr = settings.ocr.fingerprint if settings.ocr is not None else "none"
    facts = f"{FORM} {code_fingerprint().hex()} {content_of(pdf)} {settings.dpi} {ocr}"
    return hashlib.sha256(facts.encode()).hexdigest()[:24] + ("" if settings.images else "-text")


@dataclass(frozen=True, slots=True)
class KeptPage:
    """A page as it is kept."""

    read: PageRead

    @property
    def number(self) -> int:
        """The number of the page."""
        return self.read.number

    def fits(self, settings: ExtractionSettings) -> bool:
        """Whether its picture is still there."""
        return not settings.images or (self.read.image is not None and is_own_file(self.read.image))


class KeptPages:
    """Pages of earlier runs with the same key.

    Those of other keys are forgotten, since their pictures are replaced; runs with and without pictures do not touch
    each other's.
    """

    def __init__(self, out_dir: Path, key: str) -> None:
        out_dir.mkdir(parents=True, exist_ok=True)
        self._out_dir = out_dir
        state = directory(out_dir, STATE)
        for other in state.glob("*"):
            if other.name != key and len(other.name) == len(key) and other.is_dir() and not other.is_symlink():
                shutil.rmtree(other, ignore_errors=True)
        self._folder = directory(state, key)

    def about(self) -> About | None:
        """Return what is known of the document as a whole."""
        try:
            value = json.loads((self._folder / "about.json").read_text(encoding="utf-8"))
            return str(value["title"]), int(value["page_count"]), [OutlineEntry(*entry) for entry in value["outline"]]
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put_about(self, about: About) -> None:
        """Keep what is known of the document as a whole."""
        outline = [[entry.title, entry.page_index, entry.level] for entry in about[2]]
        value = {"title": about[0], "page_count": about[1], "outline": outline}
        write(self._folder / "about.json", json.dumps(value, ensure_ascii=False).encode())

    def get(self, number: int) -> KeptPage | None:
        """Return a page, None where it is not done."""
        try:
            value = json.loads(self._path(number).read_text(encoding="utf-8"))
            image = self._out_dir / str(value["image"]) if value["image"] else None
            page = codec.decode_page(value["page"].encode("utf-8", "surrogatepass"))
            return KeptPage(PageRead(number, page.elements, image, str(value["by"])))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def put(self, page: PageRead) -> None:
        """Keep a page that is done."""
        encoded = codec.encode_page(Page(page.number - 1, "", page.elements)).decode("utf-8", "surrogatepass")
        value = {"page": encoded, "image": page.image.name if page.image is not None else None, "by": page.by}
        write(self._path(page.number), json.dumps(value).encode())

    def _path(self, number: int) -> Path:
        return self._folder / f"page-{number}.json"
