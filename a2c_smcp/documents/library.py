"""Folders as documents, read in this process: which files there are, and what is at any `dpe://` URI below them.

Everything is read when it is asked for. A file that cannot be read stays in the catalogue without pages, and its
summary says why; the others go on. `DocumentService` does the same with walls around the parsers, and with a memory.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from a2c_smcp.documents import reading
from a2c_smcp.documents.excludes import Excludes
from a2c_smcp.documents.files import Signature, SourceFile, existing, find_files, signature_of
from a2c_smcp.documents.formats.base import OpenDocument, OpenOptions
from a2c_smcp.documents.model import Document, Element, Page, PageEntry
from a2c_smcp.documents.opening import Opened, open_file, reason_of
from a2c_smcp.documents.reading import Reading
from a2c_smcp.documents.refs import assign_refs
from a2c_smcp.documents.render import Renderer, renderer_for
from a2c_smcp.errors import DocumentError, DocumentNotFound
from a2c_smcp.uris.dpe import DEFAULT_FORMAT, ParsedDPEUri, build_dpe_uri, parse_dpe_uri
from a2c_smcp.uris.dpe import Format as ReplyFormat

if TYPE_CHECKING:
    from a2c_smcp.documents.ocr.base import OcrPolicy

MAX_OPEN: Final = 16
"""How many documents stay parsed; the least recently read leaves first."""


@dataclass(frozen=True, slots=True)
class _Entry:
    signature: Signature
    document: Document
    opened: Opened


class Library:
    """The documents in some folders (or single files), served under one host.

    Args:
        excludes: Patterns as in a `.gitignore` for what to leave out.
        ocr: How text in pictures is recognized.
        passwords: Gives the password of an encrypted document by its `doc_ref`.

    Raises:
        BadRequest: A root does not exist, or a pattern is none.
        InvalidDPEUri: The host cannot stand in a URI.
    """

    def __init__(
        self,
        roots: Iterable[str | Path],
        *,
        host: str,
        excludes: Sequence[str] = (),
        ocr: "OcrPolicy | None" = None,
        passwords: Callable[[str], str | None] | None = None,
    ) -> None:
        self.host = parse_dpe_uri(build_dpe_uri(host)).host
        self._roots = [existing(root) for root in roots]
        self._excludes = Excludes.of(excludes)
        self._options = OpenOptions(ocr=ocr)
        self._passwords = passwords
        self._files: Mapping[str, SourceFile] = {}
        self._opened: OrderedDict[str, _Entry] = OrderedDict()
        self._described: dict[str, tuple[Signature, Document]] = {}
        self.refresh()

    def refresh(self) -> None:
        """Look at the folders again."""
        self._files = assign_refs(find_files(self._roots, self._excludes))
        self._described = {ref: known for ref, known in self._described.items() if ref in self._files}

    @property
    def uri(self) -> str:
        """The URI of the catalogue."""
        return build_dpe_uri(self.host)

    @property
    def refs(self) -> Sequence[str]:
        """The `doc_ref` of every document, in the order of the catalogue."""
        return tuple(self._files)

    def documents(self, offset: int = 0, limit: int | None = None) -> list[Document]:
        """Return that part of the catalogue, which is in the order of the paths."""
        end = None if limit is None else offset + limit
        found = []
        for ref in self.refs[offset:end]:
            try:
                found.append(self.document(ref))
            except DocumentNotFound:  # the file has gone since the folders were looked at
                continue
        return found

    def document(self, doc_ref: str) -> Document:
        """Return what the catalogue says of a document.

        Raises:
            DocumentNotFound: There is none of that reference.
        """
        file = self._file(doc_ref)
        known = self._described.get(doc_ref)
        if known and known[0] == signature_of(file.path):
            return known[1]
        return self._open(doc_ref).document

    def entries(self, doc_ref: str, offset: int, limit: int) -> Sequence[PageEntry]:
        """Return that part of a document's page index; a page that cannot be read is in it, and says so.

        Raises:
            DocumentNotFound: There is none of that reference.
        """
        entry = self._open(doc_ref)
        try:
            with _wall(doc_ref, "The page index"):
                return entry.opened.parts.entries(offset, limit)
        except DocumentNotFound:
            raise
        except DocumentError:
            window = range(entry.document.page_count)[offset : offset + limit]
        return [_entry(doc_ref, entry.opened.parts, index) for index in window]

    def page(self, doc_ref: str, index: int) -> Page:
        """Return a page.

        Raises:
            DocumentNotFound: There is no such document.
            PageOutOfRange: It has fewer pages.
            DocumentError: The page cannot be made out.
        """
        entry = self._open(doc_ref)
        count = entry.document.page_count
        if not 0 <= index < count:
            raise reading.no_page(doc_ref, index, count, entry.opened.problem)
        with _wall(doc_ref, f"Page {index}"):
            return entry.opened.parts.page(index)

    def element(self, doc_ref: str, element_id: str) -> tuple[int, Element]:
        """Return an element in full, with the index of its page.

        Raises:
            DocumentNotFound: There is no such document.
            ElementNotFound: It has no such element.
            DocumentError: The element cannot be made out.
        """
        entry = self._open(doc_ref)
        with _wall(doc_ref, f"Element {element_id!r}"):
            found = entry.opened.parts.find(element_id)
        if found is None:
            raise reading.no_element(doc_ref, element_id, entry.document.page_count, entry.opened.problem)
        return found

    def read(self, uri: str, *, default_format: ReplyFormat = DEFAULT_FORMAT) -> Reading:
        """Return what is at a `dpe://` URI, in the format it asks for.

        Raises:
            InvalidDPEUri: The URI breaks a rule.
            DocumentNotFound: It leads to no document of this library.
            PageOutOfRange: The document has fewer pages.
            ElementNotFound: The document has no such element.
            DocumentError: What is there cannot be made out.
        """
        parsed = reading.parse_at(uri, self.host)
        renderer = renderer_for(parsed.query_params.get("format", default_format))
        text, title = self._render(parsed, renderer)
        return Reading(uri, renderer.MIME_TYPE, text, title)

    def _render(self, uri: ParsedDPEUri, renderer: Renderer) -> tuple[str, str]:
        if uri.doc_ref is None:
            self.refresh()
            return renderer.render_catalogue(self.documents()), self.host
        document = self.document(uri.doc_ref)
        if uri.page_index is not None:
            page = self.page(uri.doc_ref, uri.page_index)
            wanted = uri.categories if "categories" in uri.query_params else None
            return renderer.render_page(document, page, wanted), page.title
        if uri.element_id is not None:
            index, element = self.element(uri.doc_ref, uri.element_id)
            return renderer.render_element(document, index, element), element.summary
        if uri.depth == "pages":
            entries = self.entries(uri.doc_ref, uri.offset, uri.limit)
            return renderer.render_document_with_pages(document, entries, uri.offset, uri.limit), document.title
        return renderer.render_document(document), document.title

    def _file(self, doc_ref: str) -> SourceFile:
        if doc_ref not in self._files:
            self.refresh()
        file = self._files.get(doc_ref)
        if file is None:
            raise reading.no_document(doc_ref, self.host, self.refs)
        return file

    def _open(self, doc_ref: str) -> _Entry:
        file = self._file(doc_ref)
        signature = signature_of(file.path)
        if signature is None:
            raise reading.gone(doc_ref)
        entry = self._opened.pop(doc_ref, None)
        if entry is None or entry.signature != signature:
            if entry is not None:
                entry.opened.close()
            opened = self._unlock(doc_ref, file)
            document = reading.describe(self.host, doc_ref, file, signature, opened.description, opened.file_type)
            entry = _Entry(signature, document, opened)
            self._described[doc_ref] = signature, document
        self._opened[doc_ref] = entry
        while len(self._opened) > MAX_OPEN:
            self._opened.popitem(last=False)[1].opened.close()
        return entry

    def _unlock(self, doc_ref: str, file: SourceFile) -> Opened:
        named = file.format, file.file_type
        opened = open_file(file.path, named, self._options)
        if not opened.locked or self._passwords is None:
            return opened
        password = self._passwords(doc_ref)
        return open_file(file.path, named, replace(self._options, password=password)) if password else opened


def _entry(doc_ref: str, parts: OpenDocument, index: int) -> PageEntry:
    try:
        with _wall(doc_ref, f"Page {index}"):
            return parts.page(index).entry
    except DocumentNotFound:
        raise
    except DocumentError as error:
        return PageEntry(index, error.message, 0)


@contextmanager
def _wall(doc_ref: str, what: str) -> Iterator[None]:
    """Tell what a parser did wrong as one sentence, and a file that went away as a document that is not found."""
    try:
        yield
    except (DocumentNotFound, ModuleNotFoundError):
        raise
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise reading.gone(doc_ref) from error
    except Exception as error:
        raise reading.unreadable(doc_ref, what, reason_of(error)) from error
