"""What a document calls its pages: "iv", "A-3"."""

from typing import Final

from a2c_smcp.documents.pdf.cleaning import clean
from a2c_smcp.documents.pdf.engine import Engine

_AHEAD: Final = 32
_MAX_LENGTH: Final = 20


class Labels:
    """The labels of the pages of an open document.

    Where pages are read in turn, the labels of the next ones are asked for together: a question right after another
    takes a sixth of the time that it takes right after a page, which has filled the processor's caches.
    """

    def __init__(self, engine: Engine, document: int, page_count: int) -> None:
        self._engine, self._document, self._page_count = engine, document, page_count
        self._known: dict[int, str] = {}
        self._has_any: bool | None = None

    def of(self, index: int) -> str:
        """Return the label of a page; empty where it has none."""
        # Labels begin with the first page, so that a file without one there has none.
        if self._has_any is None:
            self._has_any = bool(self._ask(0))
        if not self._has_any:
            return ""
        if index not in self._known:
            end = min(index + _AHEAD, self._page_count) if index - 1 in self._known else index + 1
            self._known = {number: self._ask(number) for number in range(index, end)}
        return self._known[index]

    def _ask(self, index: int) -> str:
        engine = self._engine
        return clean(engine.string(engine.FPDF_GetPageLabel, self._document, index)).strip()[:_MAX_LENGTH]
