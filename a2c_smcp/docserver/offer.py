"""For authors of MCP servers: documents and windows in a few lines.

offer = Offer("com.example.weather")
offer.put("forecast", "# Forecast\\n\\nRain until Friday.")
offer.run()
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer

from a2c_smcp.docserver.attachment import attach_resources
from a2c_smcp.docserver.change_notifier import DocumentChangeNotifier
from a2c_smcp.docserver.memory_documents import Content, ContentFactory, DocumentProperties, MemoryDocuments
from a2c_smcp.docserver.process import run
from a2c_smcp.docserver.resources import DocumentResources
from a2c_smcp.docserver.web import Address, Admission, announcement, serve_http
from a2c_smcp.docserver.windows import OfferedWindows, WindowRenderer
from a2c_smcp.errors import BadRequest
from a2c_smcp.web.mcp_changes import EventBus
from a2c_smcp.web.mcp_stdio import serve_stdio

_ContentFactory = TypeVar("_ContentFactory", bound=ContentFactory)
_WindowRenderer = TypeVar("_WindowRenderer", bound=WindowRenderer)


class Offer:
    """Documents at `dpe://HOST/…` and windows at `window://HOST/…` of an MCP server.

    Clients are notified of changes that they subscribed to. All methods may be called from any thread, before and while
    a server runs.

    Args:
        host: Authority of all URIs, preferably a reversed domain name.

    Attributes:
        bus: For an `MCPServer`: `MCPServer(name, subscriptions=offer.bus)`.

    Raises:
        InvalidDPEUri: The host is not valid in a URI.
    """

    def __init__(self, host: str) -> None:
        self._documents = MemoryDocuments(host)
        self._windows = OfferedWindows(self._documents.host)
        self._notifier = DocumentChangeNotifier()
        # Without documents no catalogue is listed.
        self._resources = DocumentResources(None, self._windows)
        self._documents.on_change(lambda changes: self._notifier.documents_changed(self._documents.host, changes))

    @property
    def host(self) -> str:
        """The authority of all URIs."""
        return self._documents.host

    @property
    def bus(self) -> EventBus:
        """Where changes are published."""
        return self._notifier.bus

    # Documents

    def put(
        self,
        doc_ref: str,
        content: Content | ContentFactory,
        *,
        title: str = "",
        keywords: Iterable[str] = (),
        summary: str = "",
        file_uri: str = "",
        file_type: str = "md",
    ) -> None:
        """Add or replace the document at `dpe://HOST/DOC_REF`.

        Args:
            content: Markdown; or a sequence of `Page`; or of `Element`, for a single page; or a function that returns
                one of these, called at the first read and again after `changed`.
            file_uri: URI of the original file; by default the document's own URI.

        Raises:
            BadRequest: The content is not valid.
            InvalidDPEUri: The `doc_ref` is not valid in a URI.
        """
        described = DocumentProperties(title, tuple(keywords), summary, file_uri, file_type)
        self._resources.documents = self._documents
        self._documents.put(doc_ref, content, described)

    def remove(self, doc_ref: str) -> None:
        """Remove a document if it exists."""
        self._documents.remove(doc_ref)

    def document(self, doc_ref: str, **properties: Any) -> Callable[[_ContentFactory], _ContentFactory]:
        """Decorate a function that returns the content of a document; `properties` are the options of `put`."""

        def decorate(factory: _ContentFactory) -> _ContentFactory:
            self.put(doc_ref, factory, **properties)
            return factory

        return decorate

    # Windows

    def window(
        self, path: str, *, priority: int | None = None, fullscreen: bool = False, name: str = ""
    ) -> Callable[[_WindowRenderer], _WindowRenderer]:
        """Decorate a function that returns the text of the window at `window://HOST/PATH`, called at each read.

        Raises:
            InvalidWindowUri: The path or the priority (0 to 100) is not valid.
        """

        def decorate(render: _WindowRenderer) -> _WindowRenderer:
            self._windows.open(path, render, priority=priority, fullscreen=fullscreen, name=name)
            self._notifier.list_changed()
            return render

        return decorate

    def close(self, path: str) -> None:
        """Remove a window if it exists."""
        if self._windows.close(path):
            self._notifier.list_changed()

    def changed(self, name: str) -> None:
        """Report that a window (by its path) or a document (by its `doc_ref`) has new content.

        Raises:
            BadRequest: Neither a window nor a document has that name.
        """
        window, document = self._windows.has(name), self._documents.has(name)
        if not window and not document:
            raise BadRequest(f"No window or document is named {name!r}")
        if window:
            self._notifier.window_changed(self._windows, name)
        if document:
            self._documents.changed(name)

    # Serving

    def attach(self, server: Server[Any] | MCPServer[Any]) -> None:
        """Add documents and windows to your own server, a low-level `Server` of `mcp` or an `MCPServer`.

        The server keeps its own resources. If it serves `subscriptions/listen`, it must use `bus`.
        """
        attach_resources(server, self._resources, self._notifier)

    def server(self, name: str = "", *, version: str = "", instructions: str | None = None) -> Server[Any]:
        """Return an MCP server with documents and windows; its default name is the host."""
        made: Server[Any] = Server(name or self.host, version=version, instructions=instructions)
        self.attach(made)
        return made

    def run(
        self, name: str = "", *, http: str | None = None, admission: Admission | None = None, version: str = ""
    ) -> None:
        """Serve until the client disconnects or a signal arrives: over standard input and output, or over HTTP.

        Args:
            http: `HOST:PORT` to listen on; the URL is then printed on standard error.
            admission: Access rules for HTTP; by default clients need a generated token, which is printed too.
        """
        server = self.server(name, version=version)
        if http is None:
            run(serve_stdio(server))
            return
        door = admission or Admission.generated()
        ready = announcement(None if admission else door.token)
        run(serve_http(server, Address.parse(http), door, ready=ready, closing=self._notifier.close))
