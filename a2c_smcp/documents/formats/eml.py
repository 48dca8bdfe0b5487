"""Mail: the message is the first page, a message inside it and each text attached a further one.

What is attached appears as an element: pictures, sound and film as such, the rest as widgets of the type `attachment`.
"""

from pathlib import Path
from typing import Final

from a2c_smcp.documents.formats.base import OpenDocument, suffix_of
from a2c_smcp.documents.mail.message import open_mail
from a2c_smcp.errors import DocumentError

MAX_BYTES: Final = 64 << 20


class MailFormat:
    """Messages as RFC 5322 writes them, and web pages saved as one."""

    def file_type(self, name: str) -> str | None:
        """Accept `.eml`, and `.mht` and `.mhtml` for saved web pages."""
        return {"eml": "eml", "mht": "mhtml", "mhtml": "mhtml"}.get(suffix_of(name))

    def open(self, path: Path) -> OpenDocument:
        """Read and parse the whole file."""
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise DocumentError(f"larger than the {MAX_BYTES >> 20} MiB that are read of this file type")
        return open_mail(data)


FORMAT: Final = MailFormat()
