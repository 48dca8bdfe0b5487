"""An MCP server for existing documents: folders of files, or any other `DocumentSource`."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Final

from mcp.server.lowlevel import Server

from a2c_smcp import __version__
from a2c_smcp.docserver.attachment import attach_resources
from a2c_smcp.docserver.change_notifier import DocumentChangeNotifier
from a2c_smcp.docserver.ports import DocumentSource
from a2c_smcp.docserver.process import run
from a2c_smcp.docserver.resources import DocumentResources
from a2c_smcp.docserver.tools import DocumentTools
from a2c_smcp.docserver.web import Address, Admission, announcement, serve_http
from a2c_smcp.documents.service import DocumentService
from a2c_smcp.uris.dpe import build_dpe_uri
from a2c_smcp.web.mcp_stdio import serve_stdio

NAME: Final = "a2c-docs"
HOST: Final = "a2c.docs"
"""Default host of URIs; `a2c docs` uses the same."""

_INSTRUCTIONS: Final = """\
Documents, their pages and elements are resources. {catalogue} lists all documents; {catalogue}/DOC_REF?depth=pages \
shows the pages of one, {catalogue}/DOC_REF/pages/0?format=markdown reads a page (counted from 0), and \
{catalogue}/DOC_REF/elements/ID an element in full. search_documents finds words in all of them."""


def document_server(documents: DocumentSource, notifier: DocumentChangeNotifier) -> Server[Any]:
    """Return an MCP server for documents: resources, completion, tools, notifications.

    Clients get the changes that are reported to `notifier`.
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
    """Serve folders of files until the client disconnects or a signal arrives.

    Args:
        host: Authority of the URIs, preferably a reversed domain name.
        http: `HOST:PORT` to listen on; without it the server uses standard input and output.
        admission: Access rules for HTTP; by default clients need a generated token, which is printed on standard
            error.
        ready: Called with the URL once clients can connect over HTTP.
        options: Options of `DocumentService`: `cache`, `excludes`, `ocr`, `passwords`, `workers` …

    Raises:
        BadRequest: A folder does not exist, or an option is not valid.
    """
    address = Address.parse(http) if http is not None else None
    service = DocumentService(folders, host=host, **options)
    door = admission or Admission.generated()
    announce = announcement(door.token) if admission is None else None

    def on_ready(url: str) -> None:
        if announce is not None:
            announce(url)
        ready(url)

    run(serve_documents(service, address=address, admission=door, ready=on_ready))


async def serve_documents(
    opening: AbstractAsyncContextManager[DocumentSource],
    *,
    address: Address | None = None,
    admission: Admission | None = None,
    ready: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve documents until the client disconnects or the task is cancelled, on stdio or at `address`.

    Raises:
        InvalidConfig: The address cannot be used, or is reachable from other machines without a token.
    """
    door = admission or Admission()
    if address is not None:
        door.check(address)
    notifier = DocumentChangeNotifier()
    async with opening as documents:
        unsubscribe = documents.on_change(lambda changes: notifier.documents_changed(documents.host, changes))
        server = document_server(documents, notifier)
        try:
            if address is None:
                await serve_stdio(server)
            else:
                await serve_http(server, address, door, ready=ready, closing=notifier.close)
        finally:
            unsubscribe()
