"""For authors of MCP servers: documents and windows in a few lines.

offer = Offer("com.example.weather")
offer.put("forecast", "# Forecast\\n\\nRain until Friday.")
offer.run()
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer

from a2c_smcp.docserver.assembly import equip
from a2c_smcp.docserver.herald import Bus, Herald
from a2c_smcp.docserver.resources import Resources
from a2c_smcp.docserver.running import run, serve_stdio
from a2c_smcp.docserver.shelf import Content, Facts, Maker, Shelf
from a2c_smcp.docserver.web import Address, Admission, announcement, serve_http
from a2c_smcp.docserver.windows import Paint, Windows
from a2c_smcp.errors import BadRequest

_Maker = TypeVar("_Maker", bound=Maker)
_Paint = TypeVar("_Paint", bound=Paint)


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
        self._shelf = Shelf(host)
        self._windows = Windows(self._shelf.host)
        self._herald = Herald()
        # Without documents there is no catalogue to list.
        self._resources = Resources(None, self._windows)
        self._shelf.on_change(lambda changes: self._herald.documents_changed(self._shelf.host, changes))

    @property
    def host(self) -> str:
        """The authority of all URIs."""
        return self._shelf.host

    @property
    def bus(self) -> Bus:
        """Where changes are published."""
        return self._herald.bus

    # Documents

    def put(
        self,
        doc_ref: str,
        content: Content | Maker,
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
        facts = Facts(title, tuple(keywords), summary, file_uri, file_type)
        self._resources.documents = self._shelf
        self._shelf.put(doc_ref, content, facts)

    def remove(self, doc_ref: str) -> None:
        """Take a document away; one that is not there is no mistake."""
        self._shelf.remove(doc_ref)

    def document(self, doc_ref: str, **facts: Any) -> Callable[[_Maker], _Maker]:
        """Decorate a function that returns a document's content; `facts` are those of `put`."""

        def decorate(maker: _Maker) -> _Maker:
            self.put(doc_ref, maker, **facts)
            return maker

        return decorate

    # Windows

    def window(
        self, path: str, *, priority: int | None = None, fullscreen: bool = False, name: str = ""
    ) -> Callable[[_Paint], _Paint]:
        """Decorate a function that returns the text of the window at `window://HOST/PATH`, called at each look.

        Raises:
            InvalidWindowUri: The path or the priority (0 to 100) breaks a rule.
        """

        def decorate(paint: _Paint) -> _Paint:
            self._windows.open(path, paint, priority=priority, fullscreen=fullscreen, name=name)
            self._herald.list_changed()
            return paint

        return decorate

    def close(self, path: str) -> None:
        """Take a window away; one that is not there is no mistake."""
        if self._windows.close(path):
            self._herald.list_changed()

    def changed(self, name: str) -> None:
        """Say that a window (by its path) or a document (by its `doc_ref`) would show something else now.

        Raises:
            BadRequest: There is nothing of that name.
        """
        window, document = self._windows.has(name), self._shelf.has(name)
        if not window and not document:
            raise BadRequest(f"There is no window and no document {name!r}")
        if window:
            self._herald.window_changed(self._windows, name)
        if document:
            self._shelf.changed(name)

    # Serving

    def attach(self, server: Server[Any] | MCPServer[Any]) -> None:
        """Add all of this to a server of your own, of `mcp`'s low-level kind or an `MCPServer`.

        What it offers itself goes on being offered. If it serves `subscriptions/listen`, it must do so on `bus`.
        """
        equip(server, self._resources, self._herald)

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
        run(serve_http(server, Address.parse(http), door, ready=ready, closing=self._herald.close))
