"""Resource requests of Agents: finds the MCP server of a URI and passes the request on to it."""

import asyncio
from collections.abc import Awaitable, Iterable, Sequence
from typing import Final, TypeVar
from urllib.parse import quote

from a2c_smcp.common.cached_fetch import run_within
from a2c_smcp.computer.finder.summaries import merge_catalogues
from a2c_smcp.computer.ports import Json, McpSession
from a2c_smcp.computer.resources.cache import CachedServer, ResourceCache
from a2c_smcp.computer.resources.listing import DPE, origin_of, scheme_of
from a2c_smcp.computer.resources.templates import fits, literal_length
from a2c_smcp.errors import BadRequest, DocumentNotFound, NotFound, RequestTimeout, SMCPError
from a2c_smcp.types import SERVER_NAME
from a2c_smcp.uris.dpe import ParsedDPEUri, parse_dpe_uri

T = TypeVar("T")

TIMEOUT: Final = 60.0
"""The timeout of a request of an Agent to an MCP server, in seconds."""

_ASCII: Final = "".join(map(chr, range(0x21, 0x7F)))

EXPIRE_AFTER: Final = 5.0
"""The age from which a list of a server without `listChanged` is read again for an unknown URI, in seconds."""


class ResourceReader:
    """Handles `read_resource`, `get_resources`, `get_resource_templates` and `complete`; replies lack the `req_id`.

    Replies of an MCP server, including errors, are passed on unchanged.
    """

    def __init__(self, cache: ResourceCache, *, timeout: float = TIMEOUT) -> None:
        self._cache = cache
        self._timeout = timeout
        self._late: set[SERVER_NAME] = set()

    async def read(self, uri: str, mcp_server: SERVER_NAME | None = None, meta: Json | None = None) -> Json:
        """Return `{"contents": […], "meta"?: {…}}` of a resource of any scheme.

        Args:
            mcp_server: The MCP server to read from; by default the one that serves the URI.
            meta: The `_meta` of the request.

        Raises:
            InvalidDPEUri: A `dpe://` URI is invalid; no MCP server was asked.
            DocumentNotFound: No MCP server serves the host of a `dpe://` URI.
            BadRequest: Several MCP servers serve the URI; `details` name them.
            NotFound: No MCP server serves the URI, or it is ambiguous; `details` name candidates.
            RequestTimeout: The MCP server did not answer in time.
            SMCPError: The MCP server's error reply.
        """
        parsed = parse_dpe_uri(uri) if scheme_of(uri) == DPE else None
        if mcp_server is not None:
            session = self._session(mcp_server)
            server = self._cache.get(mcp_server)
            listed = _listed_as(uri, server.known.resources) if server is not None else None
            return await self._with_timeout(mcp_server, session.read(listed or uri, meta=meta))
        if parsed is not None:
            return await self._read_document(uri, parsed, meta)
        listed, servers = await self._servers_of(uri)
        if len(servers) == 1:
            return await self._with_timeout(servers[0].name, servers[0].session.read(listed, meta=meta))
        return await self._only_of(servers, listed, meta)

    async def server_of(self, uri: str) -> SERVER_NAME:
        """Return the MCP server that serves a URI, without reading it; raises like `read`."""
        if scheme_of(uri) == DPE:
            parsed = parse_dpe_uri(uri)
            servers = await self._servers_of_document(uri, parsed)
            if not servers:
                raise DocumentNotFound(f"No MCP server of this Computer serves dpe://{parsed.host}")
            return servers[0].name
        (server,) = _only(uri, list((await self._servers_of(uri))[1]))
        return server.name

    async def get_resources(self, mcp_server: SERVER_NAME, cursor: str | None = None) -> Json:
        """Return a page of the server's resources: `{"resources": […], "next_cursor"?: …}`.

        Raises:
            NotFound: The Computer has no MCP server of that name.
            SMCPError: The MCP server's error reply.
        """
        session = self._session(mcp_server)
        page, following = await self._with_timeout(mcp_server, session.list_resources(cursor))
        return {"resources": page} | _next(following)

    async def get_resource_templates(self, mcp_server: SERVER_NAME, cursor: str | None = None) -> Json:
        """Return a page of the server's templates: `{"resource_templates": […], "next_cursor"?: …}`.

        Raises:
            NotFound: The Computer has no MCP server of that name.
            SMCPError: The MCP server's error reply.
        """
        session = self._session(mcp_server)
        page, following = await self._with_timeout(mcp_server, session.list_resource_templates(cursor))
        return {"resource_templates": page} | _next(following)

    async def complete(
        self,
        mcp_server: SERVER_NAME | None,
        ref: Json,
        argument: Json,
        context: Json | None = None,
        meta: Json | None = None,
    ) -> Json:
        """Return `{"completion": {…}}` of MCP's `completion/complete`.

        Args:
            mcp_server: The MCP server to ask; by default the one that offers what `ref` refers to.

        Raises:
            BadRequest: Several MCP servers offer it; `details` name them.
            NotFound: The Computer has no MCP server of that name, or none that offers it.
            SMCPError: The MCP server's error reply.
        """
        name = mcp_server if mcp_server is not None else await self._offering(ref)
        session = self._session(name)
        return {"completion": await self._with_timeout(name, session.complete(ref, argument, context, meta=meta))}

    async def _offering(self, ref: Json) -> SERVER_NAME:
        if ref.get("type") == "ref/resource":
            uri = str(ref.get("uri", ""))
            names = [server.name for server, texts in (await self._templates()).items() if uri in texts]
        else:
            uri = str(ref.get("name", ""))
            names = [server.name for server in self._running() if "prompts" in server.session.status.capabilities]
        if len(names) == 1:
            return names[0]
        if names:
            raise _ambiguous(uri, names)
        raise NotFound(f"No MCP server of this Computer offers {uri[:200]!r}", details={"ref": uri[:200]})

    # Documents

    async def _read_document(self, uri: str, parsed: ParsedDPEUri, meta: Json | None) -> Json:
        servers = await self._servers_of_document(uri, parsed)
        if not servers:
            unasked = [server.name for server in self._cache.servers() if server.absent or server.problem is not None]
            raise DocumentNotFound(
                f"No MCP server of this Computer serves dpe://{parsed.host}",
                details={"host": parsed.host} | ({"unavailable": unasked} if unasked else {}),
            )
        if parsed.level == 0 and len(servers) > 1:
            return {"contents": await self._merged(uri, servers, meta)}
        return await self._first_of(servers, uri, meta)

    async def _servers_of_document(self, uri: str, parsed: ParsedDPEUri) -> Sequence[CachedServer]:
        """Return the servers of the host, those that list the document first."""

        def owns(server: CachedServer) -> bool:
            return parsed.doc_ref in server.known.hosts.get(parsed.host, ())

        def serving() -> list[CachedServer]:
            return [server for server in self._running() if parsed.host in server.known.hosts]

        if parsed.doc_ref is None or not any(map(owns, serving())):
            await self._refresh()
        if not serving():
            await self._read_old_lists_again()
        servers = serving() or await self._fitting(uri)
        return sorted(servers, key=owns, reverse=True)  # stable: otherwise in the order of the configuration

    async def _merged(self, uri: str, servers: Sequence[CachedServer], meta: Json | None) -> list[Json]:
        replies: dict[SERVER_NAME, list[Json]] = {}
        errors: list[SMCPError] = []

        async def ask(server: CachedServer) -> None:
            try:
                replies[server.name] = (await server.session.read(uri, meta=meta))["contents"]
            except SMCPError as error:
                errors.append(error)

        await run_within(map(ask, servers), self._cache.limits.reply)
        if not replies:
            raise errors[0] if errors else _timed_out(", ".join(server.name for server in servers))
        names = [server.name for server in servers]
        answered = [replies[name] for name in names if name in replies]
        missing = [name for name in names if name not in replies]
        return await asyncio.to_thread(merge_catalogues, uri, answered, missing)

    # Any other scheme

    async def _servers_of(self, uri: str) -> tuple[str, Sequence[CachedServer]]:
        """Return the URI to request, and the servers that may serve it: by list, template or origin.

        Raises:
            BadRequest: Several servers list it.
        """
        for prepare in (_nothing, self._refresh, self._read_old_lists_again):
            await prepare()
            if listing := [server for server in self._running() if uri in server.known.resources]:
                return uri, _only(uri, listing)
        spelled = {server: _listed_as(uri, server.known.resources) for server in self._running()}
        if found := {server: listed for server, listed in spelled.items() if listed is not None}:
            (server,) = _only(uri, list(found))
            return found[server], [server]
        if fitting := await self._fitting(uri):
            return uri, fitting
        near = await self._near(uri)
        if len(near) == 1:
            return uri, near
        raise _not_served(uri, near)

    async def _fitting(self, uri: str) -> list[CachedServer]:
        """Return the servers with the most specific template: the one with the longest literal part."""
        templates = await self._templates()
        lengths = {
            server: max((literal_length(template) for template in texts if fits(uri, template)), default=-1)
            for server, texts in templates.items()
        }
        longest = max(lengths.values(), default=-1)
        return [server for server, length in lengths.items() if length == longest >= 0]

    async def _near(self, uri: str) -> list[CachedServer]:
        """Return the servers with resources of the same origin; if there are none, of the same scheme."""
        templates = await self._templates()
        origin, scheme = origin_of(uri), scheme_of(uri)
        origins = {
            server: server.known.origins.union(map(origin_of, templates.get(server, ()))) for server in self._running()
        }
        same_place = [server for server, found in origins.items() if origin in found]
        return same_place or [server for server, found in origins.items() if scheme in map(scheme_of, found)]

    # Asking

    def _session(self, name: SERVER_NAME) -> McpSession:
        server = self._cache.get(name)
        if server is None:
            names = [server.name for server in self._cache.servers()]
            raise NotFound(
                f"This Computer has no MCP server {name!r}", details={"mcp_server": name, "mcp_servers": names}
            )
        return server.session

    def _running(self) -> list[CachedServer]:
        return [server for server in self._cache.servers() if server.running]

    async def _first_of(self, servers: Sequence[CachedServer], uri: str, meta: Json | None) -> Json:
        """Return the reply of the first server that has the document."""
        first: SMCPError | None = None
        for server in servers:
            try:
                return await self._with_timeout(server.name, server.session.read(uri, meta=meta))
            except DocumentNotFound as error:
                first = first or error
        raise first or _not_served(uri, servers)

    async def _only_of(self, servers: Sequence[CachedServer], uri: str, meta: Json | None) -> Json:
        """Return the reply of the only one of these servers that has the resource.

        Raises:
            BadRequest: Several have it.
            SMCPError: None has it.
        """
        answers: dict[SERVER_NAME, Json] = {}
        errors: list[SMCPError] = []

        async def ask(server: CachedServer) -> None:
            try:
                answers[server.name] = await server.session.read(uri, meta=meta)
            except SMCPError as error:
                errors.append(error)

        await run_within(map(ask, servers), self._timeout)
        if len(answers) == 1:
            return next(iter(answers.values()))
        if answers:
            raise _ambiguous(uri, list(answers))
        raise errors[0] if errors else _timed_out(", ".join(server.name for server in servers))

    async def _refresh(self) -> None:
        """Read the changed lists, and wait `limits.reply` seconds at most; wait for a late server only once."""
        stale = [server for server in self._running() if server.fresh() is None]
        await run_within([_list(server) for server in stale if server.name not in self._late], self._cache.limits.reply)
        self._late = {server.name for server in stale if server.fresh() is None and server.problem is None}

    async def _read_old_lists_again(self) -> None:
        for server in self._running():
            server.expire_if_older(EXPIRE_AFTER)
        await self._refresh()

    async def _templates(self) -> dict[CachedServer, list[str]]:
        found: dict[CachedServer, list[str]] = {}

        async def ask(server: CachedServer) -> None:
            templates = (template.get("uriTemplate") for template in await server.templates())
            found[server] = [template for template in templates if isinstance(template, str)]

        servers = self._running()
        await run_within(map(ask, servers), self._cache.limits.reply)
        return {server: found[server] for server in servers if server in found}

    async def _with_timeout(self, server: SERVER_NAME, request: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(self._timeout):
                return await request
        except SMCPError:
            raise
        except TimeoutError:
            raise _timed_out(server) from None


async def _list(server: CachedServer) -> None:
    try:
        await server.listing()
    except SMCPError:
        return  # `server.problem` has the reason


async def _nothing() -> None:
    return


def _listed_as(uri: str, listed: Iterable[str]) -> str | None:
    """Return the listed URI that differs only in percent-encoding: many clients encode non-ASCII characters."""
    if "%" not in uri:
        return None
    wanted = quote(uri, safe=_ASCII)
    unusual = (own for own in listed if " " in own or not own.isascii())
    return next((own for own in unusual if quote(own, safe=_ASCII) == wanted), None)


def _only(uri: str, servers: list[CachedServer]) -> list[CachedServer]:
    if len(servers) > 1:
        raise _ambiguous(uri, [server.name for server in servers])
    return servers


def _ambiguous(uri: str, names: list[SERVER_NAME]) -> BadRequest:
    return BadRequest(
        f"{len(names)} MCP servers of this Computer serve {uri[:200]!r}: name one of them in mcp_server "
        f"({', '.join(names)})",
        details={"uri": uri[:200], "mcp_servers": names},
    )


def _next(cursor: str | None) -> Json:
    return {} if cursor is None else {"next_cursor": cursor}


def _timed_out(servers: str) -> RequestTimeout:
    return RequestTimeout(f"The MCP server did not answer in time: {servers}", details={"mcp_server": servers})


def _not_served(uri: str, near: Iterable[CachedServer]) -> NotFound:
    names = [server.name for server in near]
    scheme = scheme_of(uri)
    if names:
        why = f"its URI is in no list, and several MCP servers offer {scheme}: resources ({', '.join(names)})"
    else:
        why = f"no MCP server of this Computer offers {scheme}: resources" if scheme else "its URI has no scheme"
    return NotFound(
        f"No MCP server to read this from: {why}", details={"uri": uri[:200], "scheme": scheme, "mcp_servers": names}
    )
