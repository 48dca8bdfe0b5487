"""What a format must offer.

A module of this package that defines `FORMAT` is a format; nothing else needs to know of it. Formats that read their
whole file build a `PagedDocument`; formats of large files implement `OpenDocument` and read only what is asked for.

A file that cannot be read raises `DocumentError` with a message that says why, without the path: the library adds it.
"""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from a2c_smcp.documents.model import Element, Page, PageEntry


@dataclass(frozen=True, slots=True)
class Description:
    """What a format knows of a document as a whole; an empty title lets the library use the file's name."""

    title: str = ""
    page_count: int = 0
    keywords: tuple[str, ...] = ()
    summary: str = ""


class OpenDocument(Protocol):
    """A document whose parts can be read. It holds no file open between calls."""

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


class Format(Protocol):
    """A kind of file."""

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
        message = f"the module {error.name!r} is not installed: pip install 'a2c-smcp[{extra}]'"
        raise ModuleNotFoundError(message, name=error.name) from error
