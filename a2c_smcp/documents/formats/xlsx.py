"""Excel workbooks: a sheet is a page, its regions of cells are tables.

Small sheets are read whole when they are asked for. Of a long one a page shows the start, and each window of it is an
element of its own (`p0-tbl-001-r101`) that is read by streaming up to its rows: the sheet is never held.
"""

from collections import OrderedDict
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from a2c_smcp.documents.formats.base import Description, OpenDocument, suffix_of
from a2c_smcp.documents.formats.elements import clip
from a2c_smcp.documents.model import Element, Page, PageEntry
from a2c_smcp.documents.ooxml.charts import Lookup
from a2c_smcp.documents.ooxml.drafts import page_of
from a2c_smcp.documents.ooxml.drawings import mime_type_of
from a2c_smcp.documents.ooxml.package import Package, open_package
from a2c_smcp.documents.ooxml.properties import Properties, read_properties
from a2c_smcp.documents.ooxml.spreadsheet import objects
from a2c_smcp.documents.ooxml.spreadsheet.margins import margins_of
from a2c_smcp.documents.ooxml.spreadsheet.page import BuiltPage, SheetContent, build_page, compacted
from a2c_smcp.documents.ooxml.spreadsheet.pieces import Pieces
from a2c_smcp.documents.ooxml.spreadsheet.references import parse_range
from a2c_smcp.documents.ooxml.spreadsheet.rows import RowReader, finish
from a2c_smcp.documents.ooxml.spreadsheet.tables import WINDOW_ID, WINDOW_ROWS, Plan, linked, widened, window_at
from a2c_smcp.documents.ooxml.spreadsheet.workbook import Sheet, Workbook, range_values, read_workbook
from a2c_smcp.documents.ooxml.xml import attribute, child

WHOLE_BYTES: Final = 4 << 20
"""A sheet of at most this much XML, some ten thousand rows, is read whole."""

SURVEY_BYTES: Final = 16 << 20
"""A sheet of at most this much XML is looked through for its end and what stands there; that needs no parsing."""

KEPT_PAGES: Final = 4

_CLOSE_ENOUGH: Final = 1.5


class XlsxFormat:
    """Office Open XML workbooks, with macros or without."""

    def file_type(self, name: str) -> str | None:
        """Accept `.xlsx`, `.xlsm` and their templates."""
        return {"xlsx": "xlsx", "xltx": "xlsx", "xlsm": "xlsm", "xltm": "xlsm"}.get(suffix_of(name))

    def open(self, path: Path) -> OpenDocument:
        """Read the list of sheets."""
        with open_package(path) as package:
            return XlsxDocument(path, read_workbook(package), read_properties(package))


FORMAT: Final = XlsxFormat()


class XlsxDocument:
    """A workbook; each call reads the sheet it needs."""

    def __init__(self, path: Path, workbook: Workbook, properties: Properties) -> None:
        self._path = path
        self._workbook = workbook
        self._properties = properties
        self._built: OrderedDict[int, BuiltPage] = OrderedDict()

    def describe(self) -> Description:
        """Return the properties and the names of the sheets."""
        names = [sheet.title for sheet in self._workbook.sheets]
        count = f"{len(names)} {'sheet' if len(names) == 1 else 'sheets'}: {', '.join(names[:40])}"
        about = self._properties.about
        return Description(
            title=self._properties.title,
            page_count=len(names),
            keywords=self._properties.keywords or tuple(names[:12]),
            summary=clip(f"{about}. {count}" if about else count, 200),
        )

    def entries(self, offset: int, limit: int) -> Sequence[PageEntry]:
        """Return that part of the page index."""
        count = len(self._workbook.sheets)
        return [self.page(index).entry for index in range(offset, min(offset + limit, count))]

    def page(self, index: int) -> Page:
        """Return a sheet."""
        return self._page(index).page

    def find(self, element_id: str) -> tuple[int, Element] | None:
        """Return an element, or a window of a table that its page does not show."""
        index = page_of(element_id)
        if index is None or index >= len(self._workbook.sheets):
            return None
        built = self._page(index)
        found = next((element for element in built.page.elements if element.id == element_id), None)
        if found is not None:
            return index, found
        window = WINDOW_ID.fullmatch(element_id)
        plan = built.plans.get(window[1]) if window else None
        if window is None or plan is None or int(window[2]) > plan.total:
            return None
        element = self._window(index, window[1], plan, int(window[2]))
        return (index, element) if element.content["rows"] else None

    def element_image(self, element_id: str) -> tuple[str, bytes] | None:
        """Return the picture of an image element."""
        index = page_of(element_id)
        if index is None or index >= len(self._workbook.sheets):
            return None
        part = self._page(index).pictures.get(element_id)
        if part is None:
            return None
        with open_package(self._path) as package:
            return mime_type_of(part), package.read(part)

    def _page(self, index: int) -> BuiltPage:
        built = self._built.pop(index, None)
        if built is None:
            sheet = self._workbook.sheets[index]
            with open_package(self._path) as package:
                built = build_page(index, sheet.title, self._content(package, sheet))
        self._built[index] = built
        while len(self._built) > KEPT_PAGES:
            self._built.popitem(last=False)
        return built

    def _content(self, package: Package, sheet: Sheet) -> SheetContent:
        content = SheetContent(sheet.name, {})
        if not sheet.part:
            return content
        self._read_cells(package, sheet, content)
        content.declared = objects.declared_tables(package, sheet.part)
        self._read_below(package, sheet, content)
        content.pivots = list(objects.pivot_tables(package, sheet.part))
        content.comments = list(objects.comments(package, sheet.part))
        content.drawings = list(objects.drawings(package, sheet.part, self._lookup(package)))
        content.controls = list(objects.controls(package, sheet.part))
        return content

    def _lookup(self, package: Package) -> Lookup:
        return lambda reference: range_values(package, self._workbook, reference)

    def _read_cells(self, package: Package, sheet: Sheet, content: SheetContent) -> None:
        pieces = Pieces(package, sheet.part, "row", "sheetData")
        reader = RowReader(pieces)
        size = package.size(sheet.part)
        if size <= WHOLE_BYTES:
            rows = finish(reader.rows(), package, self._workbook.reading)
        else:
            raw = list(islice(reader.rows(), WINDOW_ROWS + 2))
            rows = finish(raw, package, self._workbook.reading)
            if len(raw) == WINDOW_ROWS + 2:  # else that was all, and the rest is only formatted
                content.last_row, content.is_exact = _end_of(pieces, reader, raw[-1].number, size)
        content.rows = {row.number: row for row in rows}
        if pieces.tail:
            root = pieces.tail_tree()
            content.tail = objects.read_tail(root, package, sheet.part)
            content.tail.header, content.tail.footer = margins_of(root, sheet.name)

    def _read_below(self, package: Package, sheet: Sheet, content: SheetContent) -> None:
        """Read what follows a declared table that is longer than the start of its sheet."""
        seen = max(content.rows, default=0)
        bottom = max((table.area.bottom for table in content.declared if table.area.bottom >= seen), default=0)
        if not 0 < bottom < content.last_row:
            return
        reader = RowReader(Pieces(package, sheet.part, "row", "sheetData"))
        raw = list(islice(reader.rows(bottom + 1), WINDOW_ROWS + 2))
        below = {row.number: row for row in finish(raw, package, self._workbook.reading)}
        content.rows = {**content.rows, **below}
        if len(raw) < WINDOW_ROWS + 2:
            content.last_row, content.is_exact = max(content.rows), True

    def _window(self, index: int, table_id: str, plan: Plan, first: int) -> Element:
        sheet = self._workbook.sheets[index]
        start = plan.body + first - 1
        with open_package(self._path) as package:
            if plan.origin:
                plan, rows = compacted(self._content(package, sheet))
            else:
                reader = RowReader(Pieces(package, sheet.part, "row", "sheetData"))
                raw = islice(reader.rows(start), WINDOW_ROWS + 1)
                rows = {row.number: row for row in finish(raw, package, self._workbook.reading)}
        window = linked(window_at(rows, widened(plan, rows), first), table_id)
        return Element(f"{table_id}-r{first}", "table", window.content, window.summary, window.metadata)


def _end_of(pieces: Pieces, reader: RowReader, seen: int, size: int) -> tuple[int, bool]:
    """Return the last row of a long sheet, and whether that is sure.

    What a sheet says of its own size is often wrong, so it has to agree with the size of the part; else the sheet is
    looked through.
    """
    told = child(pieces.head_tree(), "dimension")
    area = parse_range(attribute(told, "ref")) if told is not None else None
    expected = size / pieces.bytes_an_item()
    if size > SURVEY_BYTES and area and expected / _CLOSE_ENOUGH <= area.bottom <= expected * _CLOSE_ENOUGH:
        return area.bottom, False
    return max(seen, reader.end()), True
