"""Folders as documents: which files there are, and what is at any `dpe://` URI below them.

Everything is read when it is asked for. A file that cannot be read stays in the catalogue without pages, and its
summary says why; the others go on.
"""

import difflib
import hashlib
import logging
import os
import re
import unicodedata
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeAlias

from a2c_smcp.documents.formats.base import Description, Format, OpenDocument, PagedDocument
from a2c_smcp.documents.formats.registry import format_of
from a2c_smcp.documents.model import Document, Element, Page, PageEntry
from a2c_smcp.documents.render import Renderer, renderer_for
from a2c_smcp.errors import BadRequest, DocumentError, DocumentNotFound, ElementNotFound, PageOutOfRange
from a2c_smcp.uris.dpe import DEFAULT_FORMAT, ParsedDPEUri, build_dpe_uri, parse_dpe_uri
from a2c_smcp.uris.dpe import Format as ReplyFormat

MAX_OPEN: Final = 16
"""How many documents stay parsed; the least recently read leaves first."""

_MAX_REF: Final = 48
_DIGEST: Final = 6
_SUFFIX = re.compile(r"\.[a-z0-9]{1,8}\Z")
_UNSAFE = re.compile(r"[^a-z0-9._]+")

_Signature: TypeAlias = tuple[int, int, int]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that is a document; `relative` is its path below the root, with slashes."""

    path: Path
    relative: str
    format: Format
    file_type: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What is at a URI, as MCP resource contents tell it, and what it is called."""

    uri: str
    mime_type: str
    text: str
    title: str


@dataclass(frozen=True, slots=True)
class _Opened:
    signature: _Signature
    document: Document
    parts: OpenDocument
    problem: str = ""


class Library:
    """The documents in some folders (or single files), served under one host.

    Raises:
        BadRequest: A root does not exist.
        InvalidDPEUri: The host cannot stand in a URI.
    """

    def __init__(self, roots: Iterable[str | Path], *, host: str) -> None:
        self.host = parse_dpe_uri(build_dpe_uri(host)).host
        self._roots = [_existing(Path(root)) for root in roots]
        self._files: Mapping[str, SourceFile] = {}
        self._opened: OrderedDict[str, _Opened] = OrderedDict()
        self._described: dict[str, tuple[_Signature, Document]] = {}
        self.refresh()

    def refresh(self) -> None:
        """Look at the folders again."""
        self._files = assign_refs(find_files(self._roots))
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
        if known and known[0] == _signature(file.path):
            return known[1]
        return self._open(doc_ref).document

    def entries(self, doc_ref: str, offset: int, limit: int) -> Sequence[PageEntry]:
        """Return that part of a document's page index.

        Raises:
            DocumentNotFound: There is none of that reference.
        """
        return self._open(doc_ref).parts.entries(offset, limit)

    def page(self, doc_ref: str, index: int) -> Page:
        """Return a page.

        Raises:
            DocumentNotFound: There is no such document.
            PageOutOfRange: It has fewer pages.
        """
        opened = self._open(doc_ref)
        count = opened.document.page_count
        if not 0 <= index < count:
            why = opened.problem or f"it has {count} {'page' if count == 1 else 'pages'}, counted from 0"
            raise PageOutOfRange(
                f"{doc_ref!r} has no page {index}: {why}",
                details={"doc_ref": doc_ref, "page_index": index, "page_count": count},
            )
        with _still_there(doc_ref):
            return opened.parts.page(index)

    def element(self, doc_ref: str, element_id: str) -> tuple[int, Element]:
        """Return an element in full, with the index of its page.

        Raises:
            DocumentNotFound: There is no such document.
            ElementNotFound: It has no such element.
        """
        opened = self._open(doc_ref)
        with _still_there(doc_ref):
            found = opened.parts.find(element_id)
        if found is None:
            why = f": {opened.problem}" if opened.problem else ""
            raise ElementNotFound(
                f"{doc_ref!r} has no element {element_id!r}{why}",
                details={"doc_ref": doc_ref, "element_id": element_id, "page_count": opened.document.page_count},
            )
        return found

    def read(self, uri: str, *, default_format: ReplyFormat = DEFAULT_FORMAT) -> Reading:
        """Return what is at a `dpe://` URI, in the format it asks for.

        Raises:
            InvalidDPEUri: The URI breaks a rule.
            DocumentNotFound: It leads to no document of this library.
            PageOutOfRange: The document has fewer pages.
            ElementNotFound: The document has no such element.
        """
        parsed = parse_dpe_uri(uri)
        if parsed.host.lower() != self.host.lower():
            raise DocumentNotFound(
                f"There are no documents at {parsed.host!r}; here they are at {self.uri}",
                details={"host": parsed.host, "known_host": self.host},
            )
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
            nearest = difflib.get_close_matches(doc_ref, self.refs[:1_000], n=3)
            hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
            raise DocumentNotFound(
                f"There is no document {doc_ref!r} at {self.uri}{hint}",
                details={"doc_ref": doc_ref, "nearest": nearest} if nearest else {"doc_ref": doc_ref},
            )
        return file

    def _open(self, doc_ref: str) -> _Opened:
        file = self._file(doc_ref)
        signature = _signature(file.path)
        if signature is None:
            raise DocumentNotFound(f"The file of {doc_ref!r} is gone", details={"doc_ref": doc_ref})
        opened = self._opened.pop(doc_ref, None)
        if opened is None or opened.signature != signature:
            parts, problem = _parts(file)
            document = self._describe(doc_ref, file, signature, parts.describe())
            opened = _Opened(signature, document, parts, problem)
            self._described[doc_ref] = signature, document
        self._opened[doc_ref] = opened
        while len(self._opened) > MAX_OPEN:
            self._opened.popitem(last=False)
        return opened

    def _describe(self, doc_ref: str, file: SourceFile, signature: _Signature, known: Description) -> Document:
        return Document(
            host=self.host,
            doc_ref=doc_ref,
            file_uri=file.path.as_uri(),
            file_type=file.file_type,
            title=known.title or file.path.stem,
            page_count=known.page_count,
            keywords=known.keywords,
            summary=known.summary,
            last_modified=_iso(signature[0]),
        )


def find_files(roots: Iterable[Path]) -> Iterator[SourceFile]:
    """Yield the documents below `roots`, in the order of their paths; each file once.

    Hidden files and folders are left out, and so are symbolic links: whatever they lead to is found where it
    is, or is outside.
    """
    seen: set[Path] = set()
    for root in roots:
        for path in _walk(root):
            known = format_of(path.name)
            if known and path not in seen:
                seen.add(path)
                relative = path.name if path == root else path.relative_to(root).as_posix()
                yield SourceFile(path, relative, *known)


def assign_refs(files: Iterable[SourceFile]) -> dict[str, SourceFile]:
    """Return the files by their `doc_ref`: short, URL-safe, and made of the path alone.

    Where two paths would share one, the first keeps it and the others get a digest of their paths.
    """
    refs: dict[str, SourceFile] = {}
    for file in files:
        ref, length = ref_of(file.relative), _DIGEST
        while ref in refs:
            # Equal relative paths differ only in their roots.
            seed = file.relative if length == _DIGEST else str(file.path)
            ref = ref_of(file.relative, digest=_digest(seed, length))
            length += 2
        refs[ref] = file
    return refs


def ref_of(relative: str, digest: str = "") -> str:
    """Return a key for a path: lower case, `-` for what may not stand in a URL, and a digest where that loses much."""
    folded = unicodedata.normalize("NFKD", relative).encode("ascii", "ignore").decode().lower()
    suffix = match[0] if (match := _SUFFIX.search(folded)) else ""
    key = _UNSAFE.sub("-", folded.removesuffix(suffix)).strip("-.")
    if not digest and (not relative.isascii() or not key or len(key) > _MAX_REF):
        digest = _digest(unicodedata.normalize("NFC", relative), _DIGEST)
    if digest:
        key = f"{key[: _MAX_REF - len(digest)].strip('-.') or 'doc'}-{digest}"
    return key + suffix


def _walk(root: Path) -> Iterator[Path]:
    if root.is_file():
        yield root
        return
    waiting = _entries(root)
    while waiting:
        entry = waiting.pop()
        if entry.is_dir(follow_symlinks=False):
            waiting += _entries(entry.path)
        elif entry.is_file(follow_symlinks=False):
            yield Path(entry.path)


def _entries(folder: str | Path) -> "list[os.DirEntry[str]]":
    """Return what is in a folder, last name first, because it is taken from the end."""
    try:
        with os.scandir(folder) as entries:
            visible = [entry for entry in entries if not entry.name.startswith(".")]
    except OSError:  # a folder that may not be looked into
        return []
    return sorted(visible, key=lambda entry: entry.name, reverse=True)


def _existing(root: Path) -> Path:
    try:
        return root.resolve(strict=True)
    except OSError as error:
        raise BadRequest(f"There is no folder {str(root)!r}") from error


def _signature(path: Path) -> _Signature | None:
    """Return what changes when a file does; None where it is gone or a link has taken its place."""
    try:
        if path.resolve(strict=True) != path:
            return None
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


@contextmanager
def _still_there(doc_ref: str) -> Iterator[None]:
    """Tell a file that went away while it was read as a document that is not found."""
    try:
        yield
    except OSError as error:
        raise DocumentNotFound(f"The file of {doc_ref!r} is gone", details={"doc_ref": doc_ref}) from error


def _parts(file: SourceFile) -> tuple[OpenDocument, str]:
    try:
        return file.format.open(file.path), ""
    except ModuleNotFoundError:  # the installation is at fault, not the file
        raise
    except DocumentError as error:
        reason = error.message
    except OSError as error:
        reason = error.strerror or type(error).__name__
    except Exception as error:  # noqa: BLE001 - the wall between one hostile file and all others
        _log.info("A parser failed", extra={"doc": file.relative}, exc_info=True)
        reason = f"the parser failed ({type(error).__name__})"
    problem = f"Cannot be read: {reason}"
    return PagedDocument(Description(summary=problem), ()), problem


def _iso(nanoseconds: int) -> str | None:
    try:
        moment = datetime.fromtimestamp(nanoseconds // 1_000_000_000, UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return moment.isoformat().replace("+00:00", "Z")


def _digest(text: str, length: int) -> str:
    # File names that are no UTF-8 reach Python with lone surrogates.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]
