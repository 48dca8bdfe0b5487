"""Web pages: sections are pages, the main content comes first, navigation and the like last."""

from pathlib import Path
from typing import Final

from a2c_smcp.documents.formats.base import OpenDocument, PagedDocument, suffix_of
from a2c_smcp.documents.web.page import web_page
from a2c_smcp.documents.web.parse import decode
from a2c_smcp.errors import DocumentError

MAX_BYTES: Final = 32 << 20


class HtmlFormat:
    """HTML and XHTML."""

    def file_type(self, name: str) -> str | None:
        """Accept `.html`, `.htm`, `.xhtml` and `.xht`."""
        return "html" if suffix_of(name) in ("html", "htm", "xhtml", "xht") else None

    def open(self, path: Path) -> OpenDocument:
        """Read and parse the whole file."""
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise DocumentError(f"larger than the {MAX_BYTES >> 20} MiB that are read of this file type")
        return PagedDocument(*web_page(decode(data)))


FORMAT: Final = HtmlFormat()
