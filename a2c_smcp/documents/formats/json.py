"""JSON and JSON Lines: records as tables, objects by their keys, the rest as it is written."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from a2c_smcp.documents.data.lines import JsonLines
from a2c_smcp.documents.data.structure import code_elements, elements_of_value, shape_of
from a2c_smcp.documents.formats.base import Description, OpenDocument, PagedDocument, suffix_of
from a2c_smcp.documents.formats.decoding import encoding_of, read_text
from a2c_smcp.documents.formats.elements import ElementMaker, clip
from a2c_smcp.documents.web.sections import sections_of
from a2c_smcp.errors import DocumentError

MAX_BYTES: Final = 32 << 20
UNDIVIDED: Final = 6_000
MAX_LINES_BYTES: Final = 1 << 30

_LINES: Final = frozenset({"jsonl", "ndjson"})


class JsonFormat:
    """JSON, GeoJSON and JSON Lines."""

    def file_type(self, name: str) -> str | None:
        """Accept `.json`, `.geojson`, `.jsonl` and `.ndjson`."""
        suffix = suffix_of(name)
        return "json" if suffix in ("json", "geojson") else "jsonl" if suffix in _LINES else None

    def open(self, path: Path) -> OpenDocument:
        """Read a JSON file whole; count the lines of JSON Lines."""
        if suffix_of(path.name) in _LINES:
            if path.stat().st_size > MAX_LINES_BYTES:
                raise DocumentError(f"larger than the {MAX_LINES_BYTES >> 20} MiB that are read of this file type")
            return JsonLines(path, encoding_of(path))
        return _document(read_text(path, MAX_BYTES))


FORMAT: Final = JsonFormat()


def _document(text: str) -> OpenDocument:
    maker = ElementMaker()
    if not text.strip():
        return PagedDocument(Description(summary="Empty file"), [])
    try:
        value = json.loads(text, parse_int=_number)
    except RecursionError as error:
        raise DocumentError("its values nest too deeply") from error
    except json.JSONDecodeError as error:
        # Settings with comments and files cut short are still worth reading.
        pages = sections_of(list(code_elements(text, maker)))
        told = f"Not valid JSON (line {error.lineno}: {error.msg}); shown as it is written"
        return PagedDocument(Description("", len(pages), (), told), pages)
    elements = list(elements_of_value(value, maker))
    description = _describe(value)
    pages = sections_of(elements, title=description.title or "Content", undivided=UNDIVIDED)
    return PagedDocument(replace(description, page_count=len(pages)), pages)


def _number(written: str) -> int | str:
    # Python refuses to read integers of thousands of digits, for they take very long.
    return int(written) if len(written) < 4_000 else written


def _describe(value: Any) -> Description:
    title = ""
    keywords: tuple[str, ...] = ()
    if isinstance(value, dict):
        named = (value.get(key) for key in ("title", "name"))
        title = next((text for text in named if isinstance(text, str)), "")
        keywords = tuple(value)[:20]
    elif isinstance(value, list):
        keywords = tuple(dict.fromkeys(key for item in value[:50] if isinstance(item, dict) for key in item))[:20]
    return Description(clip(title, 200), 0, keywords, clip(shape_of(value), 200))
