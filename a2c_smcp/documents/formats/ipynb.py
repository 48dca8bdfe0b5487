"""Notebooks: the headings of their text begin pages; cells and what they put out are elements."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from a2c_smcp.documents.embedded_markdown import elements_of_markdown
from a2c_smcp.documents.formats.base import Description, OpenDocument, PagedDocument, suffix_of
from a2c_smcp.documents.formats.decoding import read_text
from a2c_smcp.documents.formats.elements import ElementMaker, clip
from a2c_smcp.documents.model import Element, Page
from a2c_smcp.documents.notebook.outputs import PICTURES, Outputs, joined, picture_bytes
from a2c_smcp.documents.web.sections import sections_of
from a2c_smcp.errors import DocumentError

MAX_BYTES: Final = 64 << 20
MAX_CELLS: Final = 20_000


class NotebookFormat:
    """Jupyter notebooks of the versions 2, 3 and 4."""

    def file_type(self, name: str) -> str | None:
        """Accept `.ipynb`."""
        return "ipynb" if suffix_of(name) == "ipynb" else None

    def open(self, path: Path) -> OpenDocument:
        """Read and parse the whole file."""
        try:
            notebook = json.loads(read_text(path, MAX_BYTES))
        except (ValueError, RecursionError) as error:
            raise DocumentError("not a notebook: it is no JSON") from error
        if not isinstance(notebook, dict) or not isinstance(_cells(notebook), list):
            raise DocumentError("not a notebook: it has no cells")
        return Notebook(notebook)


FORMAT: Final = NotebookFormat()


class Notebook(PagedDocument):
    """A notebook whose pictures can be had."""

    def __init__(self, notebook: Mapping[str, Any]) -> None:
        self._maker = ElementMaker()
        self._outputs = Outputs(self._maker)
        cells = [cell for cell in _cells(notebook)[:MAX_CELLS] if isinstance(cell, dict)]
        language = _language(notebook)
        elements = [part for number, cell in enumerate(cells) for part in self._cell(cell, number, language)]
        pages = sections_of(elements)
        super().__init__(_describe(notebook, elements, pages, language), pages)

    def element_image(self, element_id: str) -> tuple[str, bytes] | None:
        """Return a picture that a cell put out, or that is attached to one."""
        found = self._outputs.pictures.get(element_id)
        data = picture_bytes(*found) if found else None
        return (found[0], data) if found and data is not None else None

    def _cell(self, cell: Mapping[str, Any], number: int, language: str) -> Iterator[Element]:
        source = joined(cell.get("source", cell.get("input")))
        match cell.get("cell_type"):
            case "markdown":
                yield from self._markdown(cell, source)
            case "heading":
                level = cell.get("level", 1)
                yield self._maker.make(
                    "heading", {"level": level if isinstance(level, int) and level > 0 else 1, "text": source}
                )
            case "code":
                if source.strip():
                    metadata: dict[str, Any] = {"cell": number}
                    count = cell.get("execution_count", cell.get("prompt_number"))
                    if isinstance(count, int):
                        metadata["execution_count"] = count
                    content = {"text": source.rstrip(), "language": str(cell.get("language") or language)}
                    yield self._maker.make("code", content, metadata)
                for output in cell.get("outputs") or ():
                    if isinstance(output, dict):
                        yield from self._outputs.read(output, number)
            case _:
                if source.strip():
                    yield self._maker.make("code", {"text": source.rstrip()}, {"cell": number})

    def _markdown(self, cell: Mapping[str, Any], source: str) -> Iterator[Element]:
        attached = cell.get("attachments")
        for element in elements_of_markdown(source, self._maker):
            url = str(element.content.get("url", ""))
            kinds = attached.get(url.removeprefix("attachment:")) if isinstance(attached, dict) else None
            if element.category == "image" and isinstance(kinds, dict):
                kind = next((kind for kind in PICTURES if kind in kinds), None)
                if kind:
                    self._outputs.pictures[element.id] = (kind, joined(kinds[kind]))
            yield element


def _cells(notebook: Mapping[str, Any]) -> Any:
    if "cells" in notebook:
        return notebook["cells"]
    sheets = notebook.get("worksheets")
    if not isinstance(sheets, list):
        return None
    return [cell for sheet in sheets if isinstance(sheet, dict) for cell in sheet.get("cells") or ()]


def _language(notebook: Mapping[str, Any]) -> str:
    metadata = notebook.get("metadata")
    for key in ("language_info", "kernelspec"):
        part = metadata.get(key) if isinstance(metadata, dict) else None
        if isinstance(part, dict):
            named = part.get("name") if key == "language_info" else part.get("language")
            if isinstance(named, str) and named:
                return named.lower()
    return "python"


def _describe(notebook: Mapping[str, Any], elements: list[Element], pages: list[Page], language: str) -> Description:
    metadata = notebook.get("metadata")
    own = metadata.get("title") if isinstance(metadata, dict) else None
    headings = [element for element in elements if element.category == "heading"]
    top = min(headings, key=lambda heading: heading.content["level"], default=None)
    title = own if isinstance(own, str) and own else top.content["text"] if top else ""
    prose = next((element.content["text"] for element in elements if element.category == "text"), "")
    start = prose or (elements[0].summary if elements else "Empty notebook")
    titles = dict.fromkeys([language, *(page.title for page in pages if page.title not in ("", title))])
    return Description(clip(title, 200), len(pages), tuple(titles)[:12], clip(start, 200))
