"""Tools with which a model reads windows and documents, for clients that do not give resources to models."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias

from a2c_smcp.bridge.office_catalog import OfficeCatalog
from a2c_smcp.bridge.office_client import OfficeClient
from a2c_smcp.bridge.resources import OfficeResources
from a2c_smcp.bridge.uris import qualify
from a2c_smcp.errors import BadRequest, NotFound

Arguments: TypeAlias = Mapping[str, Any]
Result: TypeAlias = dict[str, Any]

MAX_DOCUMENTS: Final = 100
"""Maximum number of documents per Computer in one result."""

_COMPUTER: Final = {"type": "string", "description": "Only this Computer; all of them by default."}


def _tool(name: str, title: str, description: str, required: tuple[str, ...] = (), **properties: Any) -> Result:
    schema: Result = {"type": "object", "properties": properties}
    return {
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": schema | ({"required": list(required)} if required else {}),
        "annotations": {"title": title, "readOnlyHint": True, "openWorldHint": False},
    }


TOOLS: Final = (
    _tool(
        "a2c_desktop",
        "Look at the desktops",
        "Read what the Computers of this office show in their windows, the most important first.",
        computer=_COMPUTER,
        size={"type": "integer", "minimum": 1, "description": "The most windows of each Computer."},
    ),
    _tool(
        "a2c_find_documents",
        "Find documents",
        "Find documents on the Computers of this office. Read one with a2c_read; /pages/N behind its uri is a page "
        "(counted from 0), ?format=markdown gives Markdown, ?depth=pages the index of its pages.",
        computer=_COMPUTER,
        keywords={"type": "array", "items": {"type": "string"}, "description": "Any of these in title or summary."},
        file_type={"type": "string", "description": "Such as pdf, docx, xlsx, md."},
        limit={"type": "integer", "minimum": 1, "maximum": MAX_DOCUMENTS, "description": "The most of each Computer."},
    ),
    _tool(
        "a2c_read",
        "Read a resource",
        "Read a document, a part of one, a window or any other resource of this office by its URI.",
        required=("uri",),
        uri={"type": "string", "description": "As listed or found: a2c://COMPUTER/@SERVER/SCHEME/..."},
    ),
)
NAMES: Final = frozenset(tool["name"] for tool in TOOLS)


class ReadingTools:
    """Runs the tools."""

    def __init__(self, office: OfficeClient, catalog: OfficeCatalog, resources: OfficeResources) -> None:
        self._office = office
        self._catalog = catalog
        self._resources = resources
        self._tools: Mapping[str, Callable[[Arguments], Awaitable[Result]]] = {
            "a2c_desktop": self._desktop,
            "a2c_find_documents": self._find,
            "a2c_read": self._read,
        }

    async def call(self, name: str, arguments: Arguments) -> Result:
        """Return the result of a tool for `tools/call`.

        Raises:
            BadRequest: An argument has the wrong type.
            SMCPError: The error of a Computer.
        """
        return await self._tools[name](arguments)

    async def _desktop(self, arguments: Arguments) -> Result:
        size = _of_type(arguments, "size", int)
        names = await self._selected(arguments)
        desktops = await asyncio.gather(*(self._office.get_desktop(name, size=size) for name in names))
        content = [
            _text(f"[{name}] {window}") for name, windows in zip(names, desktops, strict=True) for window in windows
        ]
        return {"content": content or [_text("No Computer of this office shows a window.")], "isError": False}

    async def _find(self, arguments: Arguments) -> Result:
        keywords = _of_type(arguments, "keywords", list)
        if keywords is not None and not all(isinstance(word, str) for word in keywords):
            raise BadRequest("keywords must be a list of strings")
        file_type, limit = _of_type(arguments, "file_type", str), _of_type(arguments, "limit", int)
        names = await self._selected(arguments)
        found = await asyncio.gather(
            *(
                self._office.get_finder(name, keywords=keywords, file_type=file_type, limit=limit or 20)
                for name in names
            )
        )
        documents = [
            {"computer": name, **document, "uri": qualify(name, document["uri"], document.get("server"))}
            for name, page in zip(names, found, strict=True)
            for document in page["documents"]
        ]
        lines = [f"{one['uri']}  {one.get('title', '')} ({one.get('file_type', '?')})" for one in documents]
        total = sum(page["total_count"] for page in found)
        return {
            "content": [_text("\n".join([f"{len(documents)} of {total} documents", *lines]))],
            "structuredContent": {"documents": documents, "total_count": total},
            "isError": False,
        }

    async def _read(self, arguments: Arguments) -> Result:
        uri = _of_type(arguments, "uri", str)
        if not uri:
            raise BadRequest("uri is required: the resource to read")
        _, found = await self._resources.read(uri)
        return {"content": [_block(uri, content) for content in found["contents"]], "isError": False}

    async def _selected(self, arguments: Arguments) -> list[str]:
        computer = _of_type(arguments, "computer", str)
        names = await self._catalog.computers()
        if computer is None:
            return names
        if computer not in names:
            raise NotFound(f"There is no Computer {computer[:100]!r} in this office", details={"computers": names[:20]})
        return [computer]


def _of_type(arguments: Arguments, name: str, kind: type[Any]) -> Any:
    value = arguments.get(name)
    if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
        raise BadRequest(f"{name} must be of type {kind.__name__}")
    return value


def _text(text: str) -> Result:
    return {"type": "text", "text": text}


def _block(uri: str, content: Mapping[str, Any]) -> Result:
    text, blob, kind = content.get("text"), content.get("blob"), str(content.get("mimeType") or "")
    if isinstance(text, str):
        return _text(text)
    if isinstance(blob, str) and kind.startswith(("image/", "audio/")):
        return {"type": kind.partition("/")[0], "data": blob, "mimeType": kind}
    return {"type": "resource", "resource": {**content, "uri": uri, "blob": blob if isinstance(blob, str) else ""}}
