"""PDF: a page is a page; what is on it is worked out when it is read (see `documents.pdf`)."""

from pathlib import Path
from typing import Final

from a2c_smcp.documents.formats.base import OpenDocument, OpenOptions, suffix_of
from a2c_smcp.documents.pdf.document import PdfDocument


class PdfFormat:
    """Portable Document Format, encrypted files included."""

    def file_type(self, name: str) -> str | None:
        """Accept `.pdf`."""
        return "pdf" if suffix_of(name) == "pdf" else None

    def open(self, path: Path, *, options: OpenOptions = OpenOptions()) -> OpenDocument:  # noqa: B008
        """Open the file; no page is parsed."""
        return PdfDocument(path, options)


FORMAT: Final = PdfFormat()
