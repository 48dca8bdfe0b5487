"""The resources of an office: windows, documents and whatever else its Computers' MCP servers list."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from mcp import types
from pydantic import BaseModel, ValidationError

from a2c_smcp.bridge.directory import Directory, Listed
from a2c_smcp.bridge.office import Office
from a2c_smcp.bridge.tools import COMPUTER
from a2c_smcp.bridge.uris import SCHEME, Place, origin_of, place_of, qualify
from a2c_smcp.errors import BadRequest, DocumentNotFound, NotFound, SMCPError

Key: TypeAlias = tuple[str, str]
"""A Computer and what one of its MCP servers calls a resource or a template."""

_WORDS: Final = ("name", "title", "description", "mimeType")


class Resources:
    """Lists and reads."""

    def __init__(self, office: Office, directory: Directory) -> None:
        self._office = office
        self._directory = directory

    async def keys(self) -> list[Key]:
        """Return what there is, in order."""
        return sorted(
            (name, uri) for name, has in (await self._directory.all_listed()).items() for uri in has.resources
        )

    async def template_keys(self) -> list[Key]:
        """Return which templates there are, in order."""
        return sorted(
            (name, uri) for name, has in (await self._directory.all_listed()).items() for uri in has.templates
        )

    async def described(self, keys: Iterable[Key]) -> list[dict[str, Any]]:
        """Return resources as `resources/list` gives them."""
        listed = await self._directory.all_listed()
        found = ((key, _of(listed, key).resources.get(key[1])) for key in keys)
        return [_described(types.Resource, "uri", key, own) for key, own in found if own is not None]

    async def templates_described(self, keys: Iterable[Key]) -> list[dict[str, Any]]:
        """Return templates as `resources/templates/list` gives them."""
        listed = await self._directory.all_listed()
        found = ((key, _of(listed, key).templates.get(key[1])) for key in keys)
        return [_described(types.ResourceTemplate, "uriTemplate", key, own) for key, own in found if own is not None]

    async def read(self, uri: str) -> tuple[Place, list[dict[str, Any]]]:
        """Return what a URI means and the contents there.

        Raises:
            BadRequest: It names no Computer, and several have such a resource; the details name theirs.
            NotFound: No Computer has it.
            SMCPError: What the Computer answered.
        """
        place = place_of(uri)
        if place.computer is not None:
            return place, await self._office.read_contents(place.computer, place.uri)
        if uri.startswith(f"{SCHEME}:"):
            raise BadRequest(f"{uri[:200]!r} is no URI of this office: a2c://COMPUTER/SCHEME/...")
        owners = await self.owners(uri)
        if len(owners) == 1:
            return place, await self._office.read_contents(owners[0], uri)
        if owners:
            theirs = [qualify(name, uri) for name in owners]
            raise BadRequest(
                f"{len(owners)} Computers have {uri[:200]!r}: say which with {' or '.join(theirs[:5])}",
                details={"uris": theirs[:20]},
            )
        return place, await self._ask_around(uri)

    async def owners(self, uri: str) -> list[str]:
        """Return the Computers that list a URI; if none does, those that list something of the same place."""
        listed = await self._directory.all_listed()
        exact = [name for name, has in listed.items() if uri in has.resources or uri in has.templates]
        if exact:
            return exact
        origin = origin_of(uri)
        return [name for name, has in listed.items() if origin in has.origins]

    async def _ask_around(self, uri: str) -> list[dict[str, Any]]:
        """Ask one Computer after the other: a template, or something unlisted, may serve it."""
        problem: SMCPError = NotFound(f"No Computer of this office has {uri[:200]!r}")
        for name in await self._directory.computers():
            try:
                return await self._office.read_contents(name, uri)
            except SMCPError as error:  # MCP servers have many ways to say that they have not got it
                if isinstance(problem, (NotFound, DocumentNotFound)):
                    problem = error
        raise problem


def _of(listed: Mapping[str, Listed], key: Key) -> Listed:
    return listed.get(key[0]) or Listed()


def _described(kind: type[BaseModel], field: str, key: Key, own: Mapping[str, Any]) -> dict[str, Any]:
    computer, uri = key
    meta = own.get("_meta")
    name = own.get("name")
    ours = {
        field: qualify(computer, uri),
        "name": name if isinstance(name, str) and name else uri,
        "_meta": {**(meta if isinstance(meta, Mapping) else {}), COMPUTER: computer},
    }
    try:
        kind.model_validate({**own, **ours}, by_name=False)
    except ValidationError:
        # What one server gets wrong must not make the whole list unreadable.
        return {field: own[field] for field in _WORDS if isinstance(own.get(field), str)} | ours
    return {**own, **ours}
