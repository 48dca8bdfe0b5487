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
from a2c_smcp.docserver.process import run, serve_stdio
from a2c_smcp.docserver.resources import DocumentResources
from a2c_smcp.docserver.web import Address, Admission, announcement, serve_http
from a2c_smcp.docserver.windows import OfferedWindows, WindowRenderer
from a2c_smcp.errors import BadRequest
from a2c_smcp.web.mcp_changes import EventBus

_ContentFactory = TypeVar("_ContentFactory", bound=ContentFactory)
_WindowRenderer = TypeVar("_WindowRenderer", bound=WindowRenderer)


class Offer:
    """What one MCP server offers: documents at `dpe://HOST/…`, windows at `window://HOST/…`.

    Whatever changes is told to the clients that follow it. All methods may be called from any thread, before and while
    a server runs.

    Args:
        host: The authority of all URIs, best a reversed domain name.

    Attributes:
        bus: For an `MCPServer`: `MCPServer(name, subscriptions=offer.bus)`.

    Raises:
        InvalidDPEUri: The host cannot stand in a URI.
    """

    def __init__(self, host: str) -> None:
        self._shelf = MemoryDocuments(host)
        self._windows = OfferedWindows(self._shelf.host)
        self._notifier = DocumentChangeNotifier()
        # Without documents there is no catalogue to list.
        self._resources = DocumentResources(None, self._windows)
        self._shelf.on_change(lambda changes: self._notifier.documents_changed(self._shelf.host, changes))

    @property
    def host(self) -> str:
        """The authority of all URIs."""
        return self._shelf.host

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
        """Put a document at `dpe://HOST/DOC_REF`, in place of one that is there.

        Args:
            content: Markdown; or a sequence of `Page`; or of `Element`, for a single page; or a function that returns
                one of these, called when somebody looks and again after `changed`.
            file_uri: Where the original is; by default the document's own URI.

        Raises:
            BadRequest: The content is not sound.
            InvalidDPEUri: The `doc_ref` cannot stand in a URI.
        """
        facts = DocumentProperties(title, tuple(keywords), summary, file_uri, file_type)
        self._resources.documents = self._shelf
        self._shelf.put(doc_ref, content, facts)

    def remove(self, doc_ref: str) -> None:
        """Take a document away; one that is not there is no mistake."""
        self._shelf.remove(doc_ref)

    def document(self, doc_ref: str, **facts: Any) -> Callable[[_ContentFactory], _ContentFactory]:
        """Decorate a function that returns a document's content; `facts` are those of `put`."""

        def decorate(maker: _ContentFactory) -> _ContentFactory:
            self.put(doc_ref, maker, **facts)
            return maker

        return decorate

    # Windows

    def window(
        self, path: str, *, priority: int | None = None, fullscreen: bool = False, name: str = ""
    ) -> Callable[[_WindowRenderer], _WindowRenderer]:
        """Decorate a function that returns the text of the window at `window://HOST/PATH`, called at each look.

        Raises:
            InvalidWindowUri: The path or the priority (0 to 100) breaks a rule.
        """

        def decorate(paint: _WindowRenderer) -> _WindowRenderer:
            self._windows.open(path, paint, priority=priority, fullscreen=fullscreen, name=name)
            self._notifier.list_changed()
            return paint

        return decorate

    def close(self, path: str) -> None:
        """Take a window away; one that is not there is no mistake."""
        if self._windows.close(path):
            self._notifier.list_changed()

    def changed(self, name: str) -> None:
        """Say that a window (by its path) or a document (by its `doc_ref`) would show something else now.

        Raises:
            BadRequest: There is nothing of that name.
        """
        window, document = self._windows.has(name), self._shelf.has(name)
        if not window and not document:
            raise BadRequest(f"There is no window and no document {name!r}")
        if window:
            self._notifier.window_changed(self._windows, name)
        if document:
            self._shelf.changed(name)

    # Serving

    def attach(self, server: Server[Any] | MCPServer[Any]) -> None:
        """Add all of this to a server of your own, of `mcp`'s low-level kind or an `MCPServer`.

        What it offers itself goes on being offered. If it serves `subscriptions/listen`, it must do so on `bus`.
        """
        attach_resources(server, self._resources, self._notifier)

    def server(self, name: str = "", *, version: str = "", instructions: str | None = None) -> Server[Any]:
        """Return an MCP server with all of this, named like the host unless told otherwise."""
        made: Server[Any] = Server(name or self.host, version=version, instructions=instructions)
        self.attach(made)
        return made

    def run(
        self, name: str = "", *, http: str | None = None, admission: Admission | None = None, version: str = ""
    ) -> None:
        """Serve until the client leaves or a signal comes: over standard input and output, or over HTTP.

        Args:
            http: `HOST:PORT` to listen on; the URL is then printed on standard error.
            admission: Who may come in over HTTP; by default clients that send a new token, which is printed too.
        """
        server = self.server(name, version=version)
        if http is None:
            run(serve_stdio(server))
            return
        door = admission or Admission.generated()
        ready = announcement(None if admission else door.token)
        run(serve_http(server, Address.parse(http), door, ready=ready, closing=self._notifier.close))
