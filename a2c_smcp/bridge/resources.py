"""The resources of an office: windows, documents and whatever else its Computers' MCP servers list."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from mcp import types
from pydantic import BaseModel, ValidationError

from a2c_smcp.bridge.changes import DOCUMENT, scheme_of
from a2c_smcp.bridge.directory import Directory, Listed
from a2c_smcp.bridge.office import Office
from a2c_smcp.bridge.tools import COMPUTER, MCP_SERVER
from a2c_smcp.bridge.uris import SCHEME, Place, origin_of, place_of, qualify
from a2c_smcp.errors import BadRequest, DocumentNotFound, NotFound, SMCPError
from a2c_smcp.smcp import ReadResourceRet

Key: TypeAlias = tuple[str, str, str]
"""A Computer, one of its MCP servers, and what that calls a resource or a template."""

_WORDS: Final = ("name", "title", "description", "mimeType")


class Resources:
    """Lists and reads."""

    def __init__(self, office: Office, directory: Directory) -> None:
        self._office = office
        self._directory = directory

    async def keys(self) -> list[Key]:
        """Return what there is, in order."""
        return sorted(
            (name, *own) for name, has in (await self._directory.all_listed()).items() for own in has.resources
        )

    async def template_keys(self) -> list[Key]:
        """Return which templates there are, in order."""
        return sorted(
            (name, *own) for name, has in (await self._directory.all_listed()).items() for own in has.templates
        )

    async def described(self, keys: Iterable[Key]) -> list[dict[str, Any]]:
        """Return resources as `resources/list` gives them."""
        listed = await self._directory.all_listed()
        found = ((key, _of(listed, key).resources.get(key[1:])) for key in keys)
        return [_described(types.Resource, "uri", key, own) for key, own in found if own is not None]

    async def templates_described(self, keys: Iterable[Key]) -> list[dict[str, Any]]:
        """Return templates as `resources/templates/list` gives them."""
        listed = await self._directory.all_listed()
        found = ((key, _of(listed, key).templates.get(key[1:])) for key in keys)
        return [_described(types.ResourceTemplate, "uriTemplate", key, own) for key, own in found if own is not None]

    async def read(self, uri: str, meta: Mapping[str, Any] | None = None) -> tuple[Place, ReadResourceRet]:
        """Return what a URI means and what its MCP server answers.

        Args:
            meta: The `_meta` of the request.

        Raises:
            BadRequest: Several MCP servers have such a resource, and the URI does not say which; the details name
                theirs.
            NotFound: No Computer has it.
            SMCPError: What the Computer answered.
        """
        place = place_of(uri)
        if place.computer is not None:
            return place, await self._read(place.computer, place.uri, place.server, meta)
        if uri.startswith(f"{SCHEME}:"):
            raise BadRequest(f"{uri[:200]!r} is no URI of this office: a2c://COMPUTER/@SERVER/SCHEME/...")
        owners = await self.owners(uri)
        if len(owners) == 1:
            return place, await self._read(*owners[0], meta)
        if owners:
            raise _several(uri, [qualify(name, uri, server) for name, _, server in owners])
        return place, await self._ask_around(uri, meta)

    async def owners(self, uri: str) -> list[tuple[str, str, str | None]]:
        """Return who lists a URI: Computer, URI, and the MCP server unless the Computer is to find it.

        If nobody does, those are returned that list something of the same place.
        """
        listed = await self._directory.all_listed()
        exact = [(name, own) for name, has in listed.items() for own in (*has.resources, *has.templates)]
        found = [(name, server) for name, (server, listed_uri) in exact if listed_uri == uri]
        if found and scheme_of(uri) == DOCUMENT:
            # A Computer knows itself which of its servers owns a document.
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

    async def _ask_around(self, uri: str, meta: Mapping[str, Any] | None) -> ReadResourceRet:
        """Ask one Computer after the other: a template, or something unlisted, may serve it."""
        problem: SMCPError = NotFound(f"No Computer of this office has {uri[:200]!r}")
        for name in await self._directory.computers():
            try:
                return await self._read(name, uri, None, meta)
            except SMCPError as error:  # MCP servers have many ways to say that they have not got it
                if isinstance(problem, (NotFound, DocumentNotFound)):
                    problem = error
        raise problem


def _several(uri: str, theirs: list[str]) -> BadRequest:
    return BadRequest(
        f"{len(theirs)} MCP servers of this office have {uri[:200]!r}: say which with {' or '.join(theirs[:5])}",
        details={"uris": theirs[:20]},
    )


def _of(listed: Mapping[str, Listed], key: Key) -> Listed:
    return listed.get(key[0]) or Listed()


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
