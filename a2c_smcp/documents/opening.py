"""The wall between a file and everything else: whatever a parser does with it, one sentence comes out."""

import logging
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from a2c_smcp.documents.formats.base import (
    Closable,
    DescribedFromMetadata,
    Description,
    Format,
    OpenDocument,
    OpenOptions,
    PagedDocument,
    PasswordNeeded,
    open_document,
)
from a2c_smcp.documents.formats.registry import format_of_file
from a2c_smcp.errors import DocumentError

CANNOT: Final = "Cannot be read: "

_log = logging.getLogger(__name__)


class Unsupported(DocumentError):
    """The format cannot do that."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A file that was opened, or why it could not be. Opening reads no page: `describe` may.

    Attributes:
        problem: A sentence for the reader; the document then has no pages.
        locked: A password might help.
        lasting: The same bytes would give the same again; what the disk refused may come back.
    """

    parts: OpenDocument
    file_type: str
    problem: str = ""
    locked: bool = False
    lasting: bool = True

    def close(self) -> None:
        """Let go of what the document holds."""
        if isinstance(self.parts, Closable):
            self.parts.close()


def open_file(path: Path, named: tuple[Format, str], options: OpenOptions) -> Opened:
    """Open a file whose name belongs to the format `named`; its bytes may choose another.

    Raises:
        ModuleNotFoundError: A library is missing; the message names the install command. The installation is at
            fault, not the file.
    """
    file_type = named[1]
    try:
        known, file_type = format_of_file(path) or named
        parts = open_document(known, path, options)
        return Opened(parts, file_type)
    except ModuleNotFoundError:
        raise
    except Exception as error:  # noqa: BLE001 - the wall
        return _problem(error, file_type)


def describe(opened: Opened, *, without_pages: bool = False) -> tuple[Opened, Description]:
    """Return what the catalogue says of a file; where its parser fails over that, it counts as not opened.

    Args:
        without_pages: Read none of its pages, because one of them has ended a worker.

    Raises:
        ModuleNotFoundError: A library is missing; the message names the install command.
        Unsupported: The format cannot describe a file without its pages.
    """
    if opened.problem:
        return opened, Description(summary=opened.problem)
    if without_pages and not isinstance(opened.parts, DescribedFromMetadata):
        raise Unsupported(f"{opened.file_type} files are not described without their pages")
    try:
        if without_pages and isinstance(opened.parts, DescribedFromMetadata):
            return opened, opened.parts.describe_from_metadata()
        return opened, opened.parts.describe()
    except ModuleNotFoundError:
        raise
    except Exception as error:  # noqa: BLE001 - the wall
        failed = _problem(error, opened.file_type)
        if not without_pages and not failed.locked and isinstance(opened.parts, DescribedFromMetadata):
            told, description = describe(opened, without_pages=True)
            return replace(told, lasting=told.lasting and failed.lasting), description
        return failed, Description(summary=failed.problem)


def reason_of(error: Exception) -> str:
    """Return why something could not be read, without a path or anything else of the host."""
    match error:
        case DocumentError():
            return error.message
        case OSError():
            return error.strerror or type(error).__name__
        case MemoryError():
            return "it needs more memory than a document is given"
        case RecursionError():
            return "it is nested too deep"
        case ModuleNotFoundError():
            return str(error)
    _log.info("A parser failed", exc_info=error)
    return f"the parser failed ({type(error).__name__})"


def wants_password(error: Exception) -> bool:
    """Whether a password might help: formats that cannot say so by the class of the error say it in words."""
    return isinstance(error, PasswordNeeded) or (type(error) is DocumentError and "password" in error.message.lower())


def _problem(error: Exception, file_type: str) -> Opened:
    problem = CANNOT + reason_of(error)
    return Opened(
        PagedDocument(Description(summary=problem), ()),
        file_type,
        problem,
        locked=wants_password(error),
        lasting=not isinstance(error, OSError | MemoryError),
    )
