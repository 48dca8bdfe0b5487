"""The resources of an office: windows, documents and all others that the MCP servers of its Computers list."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from mcp import types
from pydantic import BaseModel, ValidationError

from a2c_smcp.bridge.jsonrpc_errors import invalid_params
from a2c_smcp.bridge.office_catalog import ComputerResources, OfficeCatalog
from a2c_smcp.bridge.office_client import OfficeClient
from a2c_smcp.bridge.tools import COMPUTER, MCP_SERVER
from a2c_smcp.bridge.uris import DOCUMENT, SCHEME, ResourceAddress, origin_of, parse_address, qualify, scheme_of
from a2c_smcp.errors import BadRequest, DocumentNotFound, NotFound, SMCPError
from a2c_smcp.smcp import ReadResourceRet

Key: TypeAlias = tuple[str, str, str]
"""A Computer, one of its MCP servers, and the URI of a resource or a template there."""

MAX_VALUES: Final = 100
"""MCP's limit of the values in a completion."""

_WORDS: Final = ("name", "title", "description", "mimeType")


class OfficeResources:
    """Lists and reads resources."""

    def __init__(self, office: OfficeClient, catalog: OfficeCatalog) -> None:
        self._office = office
        self._catalog = catalog

    async def keys(self) -> list[Key]:
        """Return the keys of all resources, sorted."""
        return sorted((name, *own) for name, has in (await self._catalog.all_listed()).items() for own in has.resources)

    async def template_keys(self) -> list[Key]:
        """Return the keys of all templates, sorted."""
        return sorted((name, *own) for name, has in (await self._catalog.all_listed()).items() for own in has.templates)

    async def described(self, keys: Iterable[Key]) -> list[dict[str, Any]]:
        """Return the entries of resources for `resources/list`."""
        listed = await self._catalog.all_listed()
        found = ((key, _of(listed, key).resources.get(key[1:])) for key in keys)
        return [_described(types.Resource, "uri", key, own) for key, own in found if own is not None]

    async def templates_described(self, keys: Iterable[Key]) -> list[dict[str, Any]]:
        """Return the entries of templates for `resources/templates/list`."""
        listed = await self._catalog.all_listed()
        found = ((key, _of(listed, key).templates.get(key[1:])) for key in keys)
        return [_described(types.ResourceTemplate, "uriTemplate", key, own) for key, own in found if own is not None]

    async def read(self, uri: str, meta: Mapping[str, Any] | None = None) -> tuple[ResourceAddress, ReadResourceRet]:
        """Return the parsed URI and the result of its MCP server.

        Args:
            meta: The `_meta` of the request.

        Raises:
            BadRequest: Several MCP servers have this resource; the details list their URIs.
            NotFound: No Computer has the resource.
            SMCPError: The error of the Computer.
        """
        address = parse_address(uri)
        if address.computer is not None:
            return address, await self._read(address.computer, address.uri, address.server, meta)
        if uri.startswith(f"{SCHEME}:"):
            raise BadRequest(f"{uri[:200]!r} is not a URI of this office: use a2c://COMPUTER/@SERVER/SCHEME/...")
        owners = await self.owners(uri)
        if len(owners) == 1:
            return address, await self._read(*owners[0], meta)
        if owners:
            raise _several(uri, [qualify(name, uri, server) for name, _, server in owners])
        return address, await self._try_all(uri, meta)

    async def owners(self, uri: str) -> list[tuple[str, str, str | None]]:
        """Return who lists a URI: Computer, URI, and the MCP server; None lets the Computer find the server.

        If no server lists it, return the Computers that list a resource of the same scheme and authority.
        """
        listed = await self._catalog.all_listed()
        exact = [(name, own) for name, has in listed.items() for own in (*has.resources, *has.templates)]
        found = [(name, server) for name, (server, listed_uri) in exact if listed_uri == uri]
        if found and scheme_of(uri) == DOCUMENT:
            # A Computer finds the server of a document itself.
            return [(name, uri, None) for name in dict.fromkeys(name for name, _ in found)]
        if found:
            return [(name, uri, server) for name, server in dict.fromkeys(found)]
        origin = origin_of(uri)
        return [(name, uri, None) for name, has in listed.items() if origin in has.origins]

    async def _read(
        self, computer: str, uri: str, server: str | None, meta: Mapping[str, Any] | None
    ) -> ReadResourceRet:
        try:
            return await self._office.read_result(computer, uri, mcp_server=server, meta=meta)
        except BadRequest as error:
            names = (error.details or {}).get("mcp_servers")
            if server is not None or not isinstance(names, list):
                raise
            raise _several(uri, [qualify(computer, uri, str(name)) for name in names]) from None

    async def _try_all(self, uri: str, meta: Mapping[str, Any] | None) -> ReadResourceRet:
        """Try one Computer after the other: a template or an unlisted resource may match."""
        problem: SMCPError = NotFound(f"No Computer of this office has {uri[:200]!r}")
        for name in await self._catalog.computers():
            try:
                return await self._read(name, uri, None, meta)
            except SMCPError as error:  # MCP servers report missing resources in many ways
                if isinstance(problem, (NotFound, DocumentNotFound)):
                    problem = error
        raise problem


class TemplateCompleter:
    """Answers `completion/complete`."""

    def __init__(self, office: OfficeClient, catalog: OfficeCatalog) -> None:
        self._office = office
        self._catalog = catalog

    async def complete(
        self, params: types.CompleteRequestParams, meta: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return a completion; for a template that several MCP servers offer, merge theirs.

        Raises:
            MCPError: The reference is a prompt, or no MCP server offers the template.
            SMCPError: The error of the MCP server.
        """
        if not isinstance(params.ref, types.ResourceTemplateReference):
            raise invalid_params(NotFound("An office has no prompts: only resource templates can be completed"))
        address = parse_address(params.ref.uri)
        computers = await self._catalog.all_listed()
        owners = [
            (name, server)
            for name, has in computers.items()
            if address.computer in (None, name)
            for server, template in has.templates
            if template == address.uri and address.server in (None, server)
        ]
        if not owners:
            raise invalid_params(BadRequest(f"There is no resource template {params.ref.uri[:200]!r} in this office"))
        argument = {"name": params.argument.name, "value": params.argument.value}
        context = {"arguments": dict(params.context.arguments)} if params.context and params.context.arguments else None
        found = await asyncio.gather(
            *(
                self._office.complete(
                    name, server, {"type": "ref/resource", "uri": address.uri}, argument, context, meta=meta
                )
                for name, server in owners
            ),
            return_exceptions=True,
        )
        answers = [one["completion"] for one in found if not isinstance(one, BaseException)]
        if not answers:
            raise next(one for one in found if isinstance(one, BaseException))
        return merged(answers)


def merged(completions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Merge completions: every value once, within MCP's limits."""
    lists = [[value for value in one.get("values") or () if isinstance(value, str)] for one in completions]
    values = list(dict.fromkeys(value for values in lists for value in values))
    more = len(values) > MAX_VALUES or any(one.get("hasMore") is True for one in completions)
    total = completions[0].get("total") if len(completions) == 1 else None if more else len(values)
    known = {"total": total} if isinstance(total, int) else {}
    return {"values": values[:MAX_VALUES], **known, "hasMore": more}


def _several(uri: str, theirs: list[str]) -> BadRequest:
    return BadRequest(
        f"{len(theirs)} MCP servers of this office have {uri[:200]!r}: say which with {' or '.join(theirs[:5])}",
        details={"uris": theirs[:20]},
    )


def _of(listed: Mapping[str, ComputerResources], key: Key) -> ComputerResources:
    return listed.get(key[0]) or ComputerResources()


def _described(kind: type[BaseModel], field: str, key: Key, own: Mapping[str, Any]) -> dict[str, Any]:
    computer, server, uri = key
    meta = own.get("_meta")
    name = own.get("name")
    ours = {
        field: qualify(computer, uri, server),
        "name": name if isinstance(name, str) and name else uri,
        "_meta": {**(meta if isinstance(meta, Mapping) else {}), COMPUTER: computer, MCP_SERVER: server},
    }
    try:
        kind.model_validate({**own, **ours}, by_name=False)
    except ValidationError:
        # What one server gets wrong must not make the whole list unreadable.
        return {field: own[field] for field in _WORDS if isinstance(own.get(field), str)} | ours
    return {**own, **ours}
