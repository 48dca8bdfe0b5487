"""An MCP server over documents that are there already: folders of files, or anything else that is `DocumentSource`."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Final

from mcp.server.lowlevel import Server

from a2c_smcp import __version__
from a2c_smcp.docserver.attachment import attach_resources
from a2c_smcp.docserver.change_notifier import DocumentChangeNotifier
from a2c_smcp.docserver.ports import DocumentSource
from a2c_smcp.docserver.process import run, serve_stdio
from a2c_smcp.docserver.resources import DocumentResources
from a2c_smcp.docserver.tools import DocumentTools
from a2c_smcp.docserver.web import Address, Admission, announcement, serve_http
from a2c_smcp.documents.service import DocumentService
from a2c_smcp.uris.dpe import build_dpe_uri

NAME: Final = "a2c-docs"
HOST: Final = "a2c.docs"
"""The host of URIs, unless told otherwise; `a2c docs` has the same."""

_INSTRUCTIONS: Final = """\
Documents, their pages and elements are resources. {catalogue} lists all documents; {catalogue}/DOC_REF?depth=pages \
shows the pages of one, {catalogue}/DOC_REF/pages/0?format=markdown reads a page (counted from 0), and \
{catalogue}/DOC_REF/elements/ID an element in full. search_documents finds words in all of them."""


def document_server(documents: DocumentSource, notifier: DocumentChangeNotifier) -> Server[Any]:
    """Return an MCP server that offers these documents: resources, completion, tools, notifications.

    Clients are told what `notifier` is told.
    """
    tools = DocumentTools(documents)
    server: Server[Any] = Server(
        NAME,
        version=__version__,
        title="Documents",
        instructions=_INSTRUCTIONS.format(catalogue=build_dpe_uri(documents.host)),
        on_list_tools=tools.list,
        on_call_tool=tools.call,
    )
    attach_resources(server, DocumentResources(documents), notifier)
    return server


def serve(
    *folders: str | Path,
    host: str = HOST,
    http: str | None = None,
    admission: Admission | None = None,
    ready: Callable[[str], None] = lambda _: None,
    **options: Any,
) -> None:
    """Serve folders of files until the client leaves or a signal comes.

    Args:
        host: The authority of the URIs, best a reversed domain name.
        http: `HOST:PORT` to listen on; otherwise the client is at standard input and output.
        admission: Who may come in over HTTP; by default clients that send a new token, which is printed on standard
            error.
        ready: Called with the URL once clients can connect over HTTP.
        options: Those of `DocumentService`: `cache`, `excludes`, `ocr`, `passwords`, `workers` …

    Raises:
        BadRequest: A folder does not exist, or an option cannot be used.
    """
    address = Address.parse(http) if http is not None else None
    service = DocumentService(folders, host=host, **options)
    door = admission or Admission.generated()
    announce = announcement(door.token) if admission is None else None

    def begun(url: str) -> None:
        if announce is not None:
            announce(url)
        ready(url)

    run(serve_documents(service, address=address, admission=door, ready=begun))


async def serve_documents(
    opening: AbstractAsyncContextManager[DocumentSource],
    *,
    address: Address | None = None,
    admission: Admission | None = None,
    ready: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve documents until the client leaves or this is cancelled, over standard input and output or at `address`.

    Raises:
        InvalidConfig: The address cannot be used, or is open to others without a token.
    """
    door = admission or Admission()
    if address is not None:
        door.check(address)
    notifier = DocumentChangeNotifier()
    async with opening as documents:
        forget = documents.on_change(lambda changes: notifier.documents_changed(documents.host, changes))
        server = document_server(documents, notifier)
        try:
            if address is None:
                await serve_stdio(server)
            else:
                await serve_http(server, address, door, ready=ready, closing=notifier.close)
        finally:
            forget()
