"""One resource as a value and as text: the forms in which an Agent gets it, too."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from a2c_smcp.cli.terminal import Terminal, printable
from a2c_smcp.documents.library import Library
from a2c_smcp.uris.dpe import Format

_TEXTS: Final = {"text/markdown": "content_markdown", "text/plain": "content_text"}


def read(library: Library, uri: str, *, default_format: Format) -> dict[str, Any]:
    """Return what is at `uri`: JSON as it is, text under `content_markdown` or `content_text`."""
    reading = library.read(uri, default_format=default_format)
    if reading.mime_type in _TEXTS:
        return {_TEXTS[reading.mime_type]: reading.text, "title": reading.title, "uri": reading.uri}
    value: dict[str, Any] = json.loads(reading.text)
    return value


def lines(value: Mapping[str, Any], terminal: Terminal) -> Iterator[str]:
    """Yield the text of what was read; for a terminal without what could drive it."""
    text = next((value[key] for key in _TEXTS.values() if key in value), None)
    if text is None:
        text = json.dumps(value, ensure_ascii=False, indent=2)
    yield printable(text) if terminal.tty else text
