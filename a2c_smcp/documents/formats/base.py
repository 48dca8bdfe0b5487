"""What a format must offer.

A module of this package that defines `FORMAT` is a format; nothing else needs to know of it. Formats that read their
whole file build a `PagedDocument`; formats of large files implement `OpenDocument` and read only what is asked for.

A file that cannot be read raises `DocumentError` with a message that says why, without the path: the library adds it.
One that only lacks its password raises `PasswordNeeded`.

What only some formats can do stands in the small Protocols `Rendered`, `Illustrated`, `HasOutline`, `Closable` and
`DescribedFromMetadata`: an open document that has the method offers it.
"""

import importlib
import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from a2c_smcp.common.extras import install_hint
from a2c_smcp.documents.model import Element, Page, PageEntry
from a2c_smcp.errors import DocumentError

if TYPE_CHECKING:
    from a2c_smcp.documents.ocr.base import OcrPolicy


@dataclass(frozen=True, slots=True)
class OpenOptions:
    """What a reader gives along with a file.

    Attributes:
        password: For an encrypted file. It is never written, logged or shown.
        ocr: Who recognizes text in pictures, None where nobody may.
    """

    password: str | None = field(default=None, repr=False)
    ocr: "OcrPolicy | None" = None


class PasswordNeeded(DocumentError):
    """The file is encrypted, and there was no password or a wrong one."""


@dataclass(frozen=True, slots=True)
class Description:
    """What a format knows of a document as a whole; an empty title lets the library use the file's name."""

    title: str = ""
    page_count: int = 0
    keywords: tuple[str, ...] = ()
    summary: str = ""


class OpenDocument(Protocol):
    """A document whose parts can be read: a page costs that page, and `describe` none where that would be dear."""

    def describe(self) -> Description:
        """Return what the catalogue says of it."""
        ...

    def entries(self, offset: int, limit: int) -> Sequence[PageEntry]:
        """Return that part of the page index; past the end it is empty."""
        ...

    def page(self, index: int) -> Page:
        """Return a page, whose index is known to be within the page count."""
        ...

    def find(self, element_id: str) -> tuple[int, Element] | None:
        """Return an element in full, with the index of its page."""
        ...


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A line of a table of contents; `level` counts from 1, `page_index` is None where it leads nowhere."""

    title: str
    page_index: int | None
    level: int = 1


@runtime_checkable
class Rendered(Protocol):
    """A document whose pages have a look."""

    def render(self, index: int, dpi: int) -> bytes:
        """Return a page as PNG."""
        ...


@runtime_checkable
class Illustrated(Protocol):
    """A document with embedded pictures."""

    def element_image(self, element_id: str) -> tuple[str, bytes] | None:
        """Return the MIME type and the bytes of an element's picture; None for an element without one."""
        ...


@runtime_checkable
class HasOutline(Protocol):
    """A document with a table of contents of its own."""

    def outline(self) -> Sequence[OutlineEntry]:
        """Return it in reading order."""
        ...


@runtime_checkable
class DescribedFromMetadata(Protocol):
    """A document that can be described although one of its pages ends every parser."""

    def describe_from_metadata(self) -> Description:
        """Return what the catalogue says of it; no page is read."""
        ...


@runtime_checkable
class Closable(Protocol):
    """A document that holds something back: a parser, a mapped file."""

    def close(self) -> None:
        """Let go of it; the document is not used any more."""
        ...


class Format(Protocol):
    """A kind of file.

    One that can use a password or recognize text takes `open(path, *, options=OpenOptions())` instead.
    """

    def file_type(self, name: str) -> str | None:
        """Return the file type ("md", "csv") of a file called `name`, None when it is not of this format."""
        ...

    def open(self, path: Path) -> OpenDocument:
        """Open a file of this format.

        Raises:
            DocumentError: It cannot be read; the message says why.
            ModuleNotFoundError: A library is missing; the message names the install command.
        """
        ...


def open_document(known: Format, path: Path, options: OpenOptions) -> OpenDocument:
    """Open a file, with the options where its format takes any.

    Raises:
        DocumentError: It cannot be read; the message says why.
        ModuleNotFoundError: A library is missing; the message names the install command.
    """
    opener: Any = known.open
    return opener(path, options=options) if _takes_options(type(known)) else opener(path)  # type: ignore[no-any-return]


@cache
def _takes_options(kind: type[Format]) -> bool:
    return "options" in inspect.signature(kind.open).parameters


class PagedDocument:
    """An `OpenDocument` that is whole in memory: for formats whose files are small."""

    def __init__(self, description: Description, pages: Sequence[Page]) -> None:
        self._description = description
        self._pages = tuple(pages)
        self._elements = {element.id: (page.index, element) for page in self._pages for element in page.elements}

    def describe(self) -> Description:
        """Return what the catalogue says of it."""
        return self._description

    def entries(self, offset: int, limit: int) -> Sequence[PageEntry]:
        """Return that part of the page index."""
        return [page.entry for page in self._pages[offset : offset + limit]]

    def page(self, index: int) -> Page:
        """Return a page."""
        return self._pages[index]

    def find(self, element_id: str) -> tuple[int, Element] | None:
        """Return an element with the index of its page."""
        return self._elements.get(element_id)


def suffix_of(name: str) -> str:
    """Return the lower-case end of a file name after its last dot, without the dot; a leading dot does not count."""
    return Path(name).suffix.lower().removeprefix(".")


def require(module: str, extra: str) -> Any:
    """Import a library that only some installations have.

    Raises:
        ModuleNotFoundError: It is missing; the message names the install command.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        message = f"the module {error.name!r} is not installed: {install_hint(extra)}"
        raise ModuleNotFoundError(message, name=error.name) from error
