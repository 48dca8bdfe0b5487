"""Documents as the console shows them: pages with each element as HTML, and their pictures."""

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from a2c_smcp.computer.computer import Computer
from a2c_smcp.documents.content import validate_content
from a2c_smcp.documents.model import Element
from a2c_smcp.documents.render.html import to_html
from a2c_smcp.documents.render.markdown import element_markdown
from a2c_smcp.errors import BadRequest, NotFound, SMCPError, ToolFailed
from a2c_smcp.types import CATEGORIES
from a2c_smcp.uris.dpe import parse_dpe_uri

RENDER: Final = "render_page"


def readable(contents: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the JSON of a resource.

    Raises:
        ToolFailed: It is none.
    """
    try:
        value = json.loads(contents[0]["text"])
    except (IndexError, KeyError, TypeError, ValueError):
        raise ToolFailed("The MCP server answered something that is no JSON") from None
    if not isinstance(value, dict):
        raise ToolFailed("The MCP server answered no JSON object")
    return value


def page_view(page: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page with its elements as HTML."""
    elements = [element for element in page.get("elements") or () if isinstance(element, Mapping)]
    return {**page, "elements": [element_view(element) for element in elements]}


def element_view(element: Mapping[str, Any]) -> dict[str, Any]:
    """Return an element with its content as HTML; whatever its server made of it."""
    return {**{key: value for key, value in element.items() if key != "content"}, "html": _html(element)}


def _html(element: Mapping[str, Any]) -> str:
    category, content = element.get("category"), element.get("content")
    if category in CATEGORIES and isinstance(content, Mapping):
        try:
            validate_content(category, content)
            made = Element(str(element.get("element_id") or "x"), category, content, str(element.get("summary") or ""))
            return to_html(element_markdown(made))
        except (SMCPError, KeyError, TypeError, ValueError):
            pass  # another server's idea of that category
    return to_html(f"```json\n{json.dumps(content, ensure_ascii=False, indent=2)}\n```")


async def image_of(computer: Computer, server: str, uri: str, dpi: int) -> tuple[str, bytes]:
    """Return a page as a picture, where its MCP server can draw pages.

    Raises:
        NotFound: It cannot.
    """
    parsed = parse_dpe_uri(uri)
    if parsed.doc_ref is None or parsed.page_index is None:
        raise BadRequest("Only pages have pictures")
    session = computer.servers.get(server)
    if session is None:
        raise NotFound(f"There is no MCP server {server!r}")
    arguments = {"doc_ref": parsed.doc_ref, "page_index": parsed.page_index, "dpi": min(max(dpi, 40), 200)}
    result = await session.call_tool(RENDER, arguments)
    for block in result.get("content") or ():
        if block.get("type") == "image" and not result.get("isError"):
            return str(block.get("mimeType") or "image/png"), base64.b64decode(block["data"])
    raise NotFound("This document has no page pictures")
