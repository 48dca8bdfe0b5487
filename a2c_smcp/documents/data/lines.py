"""JSON Lines: a page for every few hundred lines, read when it is asked for."""

import json
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Final

from a2c_smcp.documents.data.structure import are_records, code_elements, records_table, written
from a2c_smcp.documents.formats.base import Description
from a2c_smcp.documents.formats.elements import clip
from a2c_smcp.documents.model import Element, Page, PageEntry
from a2c_smcp.documents.page_elements import PageElementMaker, page_of
from a2c_smcp.errors import DocumentError

LINES_A_PAGE: Final = 200
MAX_LINE: Final = 4 << 20
MAX_PAGE: Final = 32 << 20
PAGES_KEPT: Final = 4


class JsonLines:
    """A file of one JSON value a line; only the places where pages begin are held."""

    def __init__(self, path: Path, encoding: str) -> None:
        self._path = path
        self._encoding = encoding
        self._count = 0
        self._starts: list[int] = []
        self._survey()
        self.page = lru_cache(PAGES_KEPT)(self._read)

    def describe(self) -> Description:
        """Return how many records there are, and the keys of the first."""
        first = self._values(0)[0] if self._starts else []
        keys = tuple(dict.fromkeys(key for value in first[:20] if isinstance(value, dict) for key in value))
        told = f"{self._count} records: {', '.join(keys)}" if keys else f"{self._count} values"
        return Description("", len(self._starts), keys[:20], clip(told if self._starts else "Empty file", 200))

    def entries(self, offset: int, limit: int) -> Sequence[PageEntry]:
        """Return that part of the page index; its lines are read."""
        return [self.page(index).entry for index in range(len(self._starts))[offset : offset + limit]]

    def find(self, element_id: str) -> tuple[int, Element] | None:
        """Return an element with the index of its page."""
        index = page_of(element_id)
        if index is None or index >= len(self._starts):
            return None
        return next(((index, element) for element in self.page(index).elements if element.id == element_id), None)

    def _survey(self) -> None:
        with self._path.open("rb") as file:
            place = 0
            while line := file.readline(MAX_LINE + 1):
                if len(line) > MAX_LINE:
                    raise DocumentError(f"a line is longer than the {MAX_LINE >> 20} MiB that are read")
                if line.strip():
                    if self._count % LINES_A_PAGE == 0:
                        self._starts.append(place)
                    self._count += 1
                place += len(line)

    def _values(self, index: int) -> tuple[list[Any], list[str]]:
        """Return the values of a page, and the lines that are none."""
        values: list[Any] = []
        broken: list[str] = []
        size = 0
        with self._path.open("rb") as file:
            file.seek(self._starts[index])
            filled = (line for line in iter(file.readline, b"") if line.strip())
            for line in islice(filled, LINES_A_PAGE):
                size += len(line)
                if size > MAX_PAGE:
                    raise DocumentError(f"a page of it is larger than the {MAX_PAGE >> 20} MiB that are read")
                text = line.decode(self._encoding, errors="replace").strip().lstrip("\ufeff")
                try:
                    values.append(json.loads(text))
                except (ValueError, RecursionError):
                    broken.append(text)
        return values, broken

    def _read(self, index: int) -> Page:
        values, broken = self._values(index)
        maker = PageElementMaker(index)
        first = index * LINES_A_PAGE
        elements: list[Element] = []
        if are_records(values):
            elements.append(maker.make("table", records_table(values, offset=first, total=self._count)))
        elif values:
            elements += code_elements("\n".join(written(value, indent=None) for value in values), maker)
        if broken:
            elements += code_elements("\n".join(broken), maker, "text")
        last = min(first + LINES_A_PAGE, self._count)
        return Page(index, f"Records {first + 1}–{last}", tuple(elements))
