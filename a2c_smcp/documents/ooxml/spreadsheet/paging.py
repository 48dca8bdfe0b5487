"""A workbook as pages: each sheet is read when it is asked for, and the last few stay."""

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from a2c_smcp.documents.formats.base import Description
from a2c_smcp.documents.formats.elements import clip
from a2c_smcp.documents.model import Element, Page, PageEntry
from a2c_smcp.documents.ooxml.drafts import page_of
from a2c_smcp.documents.ooxml.drawings import mime_type_of
from a2c_smcp.documents.ooxml.package import open_package
from a2c_smcp.documents.ooxml.properties import Properties
from a2c_smcp.documents.ooxml.spreadsheet.page import BuiltPage
from a2c_smcp.documents.ooxml.spreadsheet.rows import SheetRow
from a2c_smcp.documents.ooxml.spreadsheet.tables import WINDOW_ID, TablePlan, linked, window_at

KEPT_PAGES: Final = 4


class SheetPages(ABC):
    """The pages of a workbook of so many sheets."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._built: OrderedDict[int, BuiltPage] = OrderedDict()

    def entries(self, offset: int, limit: int) -> Sequence[PageEntry]:
        """Return that part of the page index."""
        return [self.page(index).entry for index in range(offset, min(offset + limit, self._count))]

    def page(self, index: int) -> Page:
        """Return a sheet."""
        return self._page(index).page

    def find(self, element_id: str) -> tuple[int, Element] | None:
        """Return an element, or a window of a table that its page does not show."""
        index = page_of(element_id)
        if index is None or index >= self._count:
            return None
        built = self._page(index)
        found = next((element for element in built.page.elements if element.id == element_id), None)
        if found is not None:
            return index, found
        match = WINDOW_ID.fullmatch(element_id)
        plan = built.plans.get(match[1]) if match else None
        if match is None or plan is None or int(match[2]) > plan.total:
            return None
        first = int(match[2])
        plan, rows = self._rows_of(index, plan, first)
        window = linked(window_at(rows, plan, first), match[1])
        if not window.content["rows"]:  # the sheet ends before the row that it was said to have
            return None
        return index, Element(element_id, "table", window.content, window.summary, window.metadata)

    @abstractmethod
    def _build(self, index: int) -> BuiltPage:
        """Read a sheet."""

    @abstractmethod
    def _rows_of(self, index: int, plan: TablePlan, first: int) -> tuple[TablePlan, Mapping[int, SheetRow]]:
        """Read the rows of a table's window that begins with row `first`, and return how they are to be read."""

    def _page(self, index: int) -> BuiltPage:
        built = self._built.pop(index, None) or self._build(index)
        self._built[index] = built
        while len(self._built) > KEPT_PAGES:
            self._built.popitem(last=False)
        return built


class PackagePages(SheetPages):
    """The pages of a workbook that is a package of parts."""

    def __init__(self, path: Path, titles: Sequence[str], properties: Properties) -> None:
        super().__init__(len(titles))
        self._path = path
        self._titles = titles
        self._properties = properties

    def describe(self) -> Description:
        """Return the properties and the names of the sheets."""
        return described(self._titles, self._properties)

    def element_image(self, element_id: str) -> tuple[str, bytes] | None:
        """Return the picture of an image element."""
        index = page_of(element_id)
        if index is None or index >= len(self._titles):
            return None
        part = self._page(index).pictures.get(element_id)
        if part is None:
            return None
        with open_package(self._path) as package:
            return mime_type_of(part), package.read(part)


def described(titles: Sequence[str], properties: Properties | None = None) -> Description:
    """Return what the catalogue says of a workbook: its sheets, and its properties where it has any."""
    count = f"{len(titles)} {'sheet' if len(titles) == 1 else 'sheets'}: {', '.join(titles[:40])}"
    about = properties.about if properties else ""
    return Description(
        title=properties.title if properties else "",
        page_count=len(titles),
        keywords=(properties.keywords if properties else ()) or tuple(titles[:12]),
        summary=clip(f"{about}. {count}" if about else count, 200),
    )
