"""Documents as the console shows them: pages with each element as HTML, where elements are, and their pictures."""

import asyncio
import base64
import binascii
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from a2c_smcp.common.durations import seconds_text
from a2c_smcp.computer.computer import Computer
from a2c_smcp.computer.tools.catalogue import MCP_TOOL_ANNOTATION
from a2c_smcp.documents.content import validate_content
from a2c_smcp.documents.model import Element
from a2c_smcp.documents.render.html import to_html
from a2c_smcp.documents.render.markdown import element_markdown
from a2c_smcp.errors import BadRequest, NotFound, SMCPError, ToolFailed
from a2c_smcp.types import CATEGORIES
from a2c_smcp.uris.dpe import ParsedDPEUri, build_dpe_uri, parse_dpe_uri

RENDER: Final = "render_page"
PICTURE: Final = "get_element_image"
SEARCH: Final = "search_documents"
"""Tools that a server of documents may offer beside its resources; `a2c docs serve` does."""

MAX_BOXES: Final = 300
AT_ONCE: Final = 8
MIN_DPI, MAX_DPI = 40, 220
PATIENCE: Final = 60.0
# Nothing that a browser would run: no SVG.
_PICTURES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"})


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
    return {**page, "elements": [element_view(element) for element in _elements(page)]}


def element_view(element: Mapping[str, Any]) -> dict[str, Any]:
    """Return an element with its content as HTML; whatever its server made of it."""
    return {**{key: value for key, value in element.items() if key != "content"}, "html": _html(element)}


def _elements(page: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = page.get("elements")
    return [element for element in listed if isinstance(element, Mapping)] if isinstance(listed, list) else []


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


async def boxes_of(computer: Computer, uri: str) -> dict[str, list[float]]:
    """Return where the elements of a page are on its picture: left, top, width and height as parts of the page."""
    parsed = _page_uri(uri)
    page = readable(await computer.read(uri))
    names = [str(element["element_id"]) for element in _elements(page) if element.get("element_id")][:MAX_BOXES]
    turn = asyncio.Semaphore(AT_ONCE)

    async def box(name: str) -> list[float] | None:
        async with turn:
            try:
                where = build_dpe_uri(parsed.host, parsed.doc_ref, f"elements/{name}")
                return _box(readable(await computer.read(where)).get("metadata"))
            except SMCPError:
                return None

    found = await asyncio.gather(*map(box, names))
    return {name: place for name, place in zip(names, found, strict=True) if place is not None}


def _box(metadata: object) -> list[float] | None:
    if not isinstance(metadata, Mapping):
        return None
    try:
        left, top, right, bottom = (float(edge) for edge in metadata["bbox"])
        width, height = float(metadata["page_width"]), float(metadata["page_height"])
    except (KeyError, TypeError, ValueError):
        return None
    if not (0 < width < 1e6 and 0 < height < 1e6 and left < right and top < bottom):
        return None
    return [round(part, 5) for part in (left / width, top / height, (right - left) / width, (bottom - top) / height)]


async def image_of(computer: Computer, server: str, uri: str, dpi: int) -> tuple[str, bytes]:
    """Return a page, or an element that is an image, as a picture, where its MCP server can give one.

    Raises:
        NotFound: It cannot.
    """
    parsed = parse_dpe_uri(uri)
    if parsed.element_id is not None:
        return _picture(
            await _ask(computer, server, PICTURE, {"doc_ref": parsed.doc_ref, "element_id": parsed.element_id})
        )
    page = _page_uri(uri)
    dpi = min(max(dpi, MIN_DPI), MAX_DPI)
    arguments = {"doc_ref": page.doc_ref, "page_index": page.page_index, "dpi": dpi}
    return _picture(await _ask(computer, server, RENDER, arguments))


async def search(computer: Computer, words: str, limit: int) -> list[dict[str, Any]]:
    """Return places in documents that have these words, of every server that can search, the best of each first."""
    servers = [server for server in computer.servers.all() if _looks(computer, await computer.tools(), server, SEARCH)]
    found = await asyncio.gather(
        *(_ask(computer, server, SEARCH, {"query": words, "limit": limit}) for server in servers),
        return_exceptions=True,
    )
    hits: list[dict[str, Any]] = []
    for server, result in zip(servers, found, strict=True):
        if isinstance(result, BaseException):
            if not isinstance(result, SMCPError):
                raise result
            continue
        places = (result.get("structuredContent") or {}).get("hits")
        hits += [{**place, "server": server} for place in places or () if isinstance(place, dict)]
    return hits


async def _ask(computer: Computer, server: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    session = computer.servers.get(server)
    if session is None or not _looks(computer, await computer.tools(), server, tool):
        raise NotFound("The MCP server of this document gives no pictures")
    try:
        async with asyncio.timeout(PATIENCE):
            return await session.call_tool(tool, arguments)
    except TimeoutError:
        raise ToolFailed(f"The MCP server did not answer within {seconds_text(PATIENCE)}") from None


def _looks(computer: Computer, tools: Iterable[Mapping[str, Any]], server: str, name: str) -> bool:
    """Whether a server offers this tool, allowed by the owner, and one that only looks: it is called unasked."""
    listed = {
        route.listed
        for route in computer.tool_cache.catalogue.routes.values()
        if route.server == server and route.tool == name
    }
    for tool in tools:
        if tool["name"] in listed:
            annotations = json.loads(tool["meta"].get(MCP_TOOL_ANNOTATION) or "{}")
            return annotations.get("readOnlyHint") is True
    return False


def _picture(result: Mapping[str, Any]) -> tuple[str, bytes]:
    for block in result.get("content") or ():
        if block.get("type") == "image" and block.get("mimeType") in _PICTURES and not result.get("isError"):
            try:
                return str(block["mimeType"]), base64.b64decode(block["data"])
            except (KeyError, TypeError, binascii.Error):
                break
    raise NotFound("There is no picture of this")


def _page_uri(uri: str) -> ParsedDPEUri:
    parsed = parse_dpe_uri(uri)
    if parsed.doc_ref is None or parsed.page_index is None:
        raise BadRequest("Only pages have pictures")
    return parsed
