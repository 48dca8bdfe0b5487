"""Documents and windows as MCP resources: list, templates, read, completion."""

import logging
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import mcp.types as t
from mcp import MCPError
from mcp.server.context import ServerRequestContext

from a2c_smcp.docserver.ports import DocumentSource
from a2c_smcp.docserver.windows import OfferedWindow, OfferedWindows
from a2c_smcp.documents.model import Document
from a2c_smcp.errors import BadRequest, DocumentError, SMCPError, to_wire
from a2c_smcp.uris.dpe import build_dpe_uri, parse_dpe_uri

log = logging.getLogger(__name__)

PAGE_SIZE: Final = 250
"""Documents per page of `resources/list`."""

MAX_VALUES: Final = 100
"""MCP's limit of the values in a completion."""

MAX_PAGES: Final = 20
"""Pages that are read to complete an element without a page index."""

NOT_FOUND: Final = -32002
"""MCP's code for a missing resource until 2025-11-25; later versions use invalid params."""

JSON: Final = "application/json"

_CURSOR = re.compile("after-([0-9]{1,9})")
_NUMBER = re.compile("[0-9]{1,9}")

Context = ServerRequestContext[Any, Any]


class DocumentResources:
    """The documents and windows of a server; both are optional."""

    def __init__(self, documents: DocumentSource | None, windows: OfferedWindows | None = None) -> None:
        self.documents = documents
        self.windows = windows

    def owns(self, uri: str) -> bool:
        """Whether a URI belongs to this host, whether it exists or not."""
        try:
            if self.documents is not None and parse_dpe_uri(uri).host.lower() == self.documents.host.lower():
                return True
        except SMCPError:
            pass
        return self.windows is not None and self.windows.find(uri) is not None

    def gave(self, cursor: str) -> bool:
        """Whether a cursor is from `list`."""
        return _CURSOR.fullmatch(cursor) is not None

    async def listed(self, _: Context, params: t.PaginatedRequestParams) -> t.ListResourcesResult:
        """`resources/list`: windows, the catalogue, and each document by its level 1 URI."""
        offset = _offset(params.cursor)
        resources: list[t.Resource] = []
        if offset == 0:
            resources += [_window(window) for window in self.windows or ()]
        following = None
        async with as_mcp_errors():
            if self.documents is not None:
                if offset == 0:
                    resources.append(_catalogue(self.documents.host))
                found = await self.documents.documents(offset, PAGE_SIZE + 1)
                resources += map(_document, found[:PAGE_SIZE])
                following = f"after-{offset + PAGE_SIZE}" if len(found) > PAGE_SIZE else None
        return t.ListResourcesResult(resources=resources, next_cursor=following)

    async def templates(self, _: Context, __: t.PaginatedRequestParams) -> t.ListResourceTemplatesResult:
        """`resources/templates/list`: pages and elements."""
        found = [] if self.documents is None else _templates(self.documents.host)
        return t.ListResourceTemplatesResult(resource_templates=found)

    async def read(self, ctx: Context, params: t.ReadResourceRequestParams) -> t.ReadResourceResult:
        """`resources/read`: a window, or level 0 to 3 of the documents."""
        async with as_mcp_errors():
            if self.windows is not None and (window := self.windows.find(params.uri)) is not None:
                return _contents(params.uri, "text/plain", await window.text())
            if self.documents is None or params.uri.lower().startswith("window:"):
                raise not_found(params.uri, ctx.protocol_version)
            reading = await self.documents.read(params.uri)
            return _contents(params.uri, reading.mime_type, reading.text)

    async def complete(self, _: Context, params: t.CompleteRequestParams) -> t.CompleteResult:
        """`completion/complete`: `doc_ref`, then `page_index`, then `element_id`, each for the values chosen before."""
        async with as_mcp_errors():
            return t.CompleteResult(completion=await self._completion(params))

    async def _completion(self, params: t.CompleteRequestParams) -> t.Completion:
        documents, ref = self.documents, params.ref
        if documents is None or not isinstance(ref, t.ResourceTemplateReference) or not self.templated(ref.uri):
            return _offered([])
        known = (params.context.arguments if params.context else None) or {}
        doc_ref, page, prefix = known.get("doc_ref", ""), known.get("page_index", ""), params.argument.value
        try:
            match params.argument.name:
                case "doc_ref":
                    return _offered(await documents.complete_refs(prefix))
                case "page_index" if doc_ref:
                    return _offered(await documents.complete_pages(doc_ref, prefix))
                case "element_id" if doc_ref and _NUMBER.fullmatch(page):
                    return _offered(await documents.complete_elements(doc_ref, int(page), prefix))
                case "element_id" if doc_ref:
                    return await _of_all_pages(documents, doc_ref, prefix)
        except SMCPError:  # an error is of no use while the user is typing
            pass
        return _offered([])

    def templated(self, uri: str) -> bool:
        """Whether a URI is a template of this server."""
        documents = self.documents
        return documents is not None and any(one.uri_template == uri for one in _templates(documents.host))


async def _of_all_pages(documents: DocumentSource, doc_ref: str, prefix: str) -> t.Completion:
    """Complete an element of any of the first pages of a document."""
    found: set[str] = set()
    pages = await documents.complete_pages(doc_ref, "")
    for index in range(min(len(pages), MAX_PAGES)):
        with suppress(DocumentError):  # skip a page that cannot be read
            found.update(await documents.complete_elements(doc_ref, index, prefix))
    return _offered(sorted(found), complete=len(pages) <= MAX_PAGES)


def _offered(values: list[str], *, complete: bool = True) -> t.Completion:
    total = len(values) if complete else None
    return t.Completion(values=values[:MAX_VALUES], total=total, has_more=len(values) > MAX_VALUES or not complete)


def _offset(cursor: str | None) -> int:
    if cursor is None:
        return 0
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise MCPError(t.INVALID_PARAMS, "Invalid cursor: list again without a cursor")
    return int(match[1])


def _window(window: OfferedWindow) -> t.Resource:
    return t.Resource(uri=window.uri, name=window.name, description=window.description or None, mime_type="text/plain")


def _catalogue(host: str) -> t.Resource:
    return t.Resource(
        uri=build_dpe_uri(host),
        name=host,
        title=f"Documents of {host}",
        description="Every document with its title, summary and number of pages.",
        mime_type=JSON,
    )


def _document(document: Document) -> t.Resource:
    modified = document.last_modified
    return t.Resource(
        uri=build_dpe_uri(document.host, document.doc_ref),
        name=document.title or document.doc_ref,
        description=document.summary or None,
        mime_type=JSON,
        annotations=t.Annotations(last_modified=modified) if modified else None,
    )


def _templates(host: str) -> list[t.ResourceTemplate]:
    base = f"{build_dpe_uri(host)}/{{doc_ref}}"
    return [
        t.ResourceTemplate(
            uri_template=f"{base}/pages/{{page_index}}",
            name="page",
            title="Page of a document",
            description="Its elements in reading order. Query: format=json|markdown|text, categories=table,chart,…",
            mime_type=JSON,
        ),
        t.ResourceTemplate(
            uri_template=f"{base}/elements/{{element_id}}",
            name="element",
            title="Element of a document",
            description="One heading, table, chart … in full. Query: format=json|markdown|text",
            mime_type=JSON,
        ),
    ]


def _contents(uri: str, mime_type: str, text: str) -> t.ReadResourceResult:
    return t.ReadResourceResult(contents=[t.TextResourceContents(uri=uri, mime_type=mime_type, text=text)])


def mcp_error(error: SMCPError) -> MCPError:
    """Return the error for a client, without local paths."""
    body = to_wire(error)["error"]
    if isinstance(error, DocumentError) and error.code > 4200:
        code = error.code
    else:
        code = t.INVALID_PARAMS if isinstance(error, BadRequest) else t.INTERNAL_ERROR
    return MCPError(code, body["message"], body.get("details"))


def not_found(uri: str, protocol_version: str) -> MCPError:
    """Return the error for an unknown URI."""
    code = t.INVALID_PARAMS if protocol_version >= "2026" else NOT_FOUND
    return MCPError(code, "Resource not found", {"uri": uri})


@asynccontextmanager
async def as_mcp_errors() -> AsyncIterator[None]:
    """Convert exceptions in the block to MCP errors; unexpected ones without their message."""
    try:
        yield
    except SMCPError as error:
        raise mcp_error(error) from error
    except MCPError:
        raise
    except Exception as error:
        log.exception("request failed: unexpected error")
        raise MCPError(t.INTERNAL_ERROR, "Internal error: see the log of the server") from error
