"""Completing the variables of a resource template, by the MCP servers that offer it."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from mcp import types

from a2c_smcp.bridge.directory import Directory
from a2c_smcp.bridge.office import Office
from a2c_smcp.bridge.problems import invalid_params
from a2c_smcp.bridge.uris import place_of
from a2c_smcp.errors import BadRequest, NotFound

MOST: Final = 100
"""MCP's own limit of the values in a completion."""


class Completer:
    """Answers `completion/complete`."""

    def __init__(self, office: Office, directory: Directory) -> None:
        self._office = office
        self._directory = directory

    async def complete(
        self, params: types.CompleteRequestParams, meta: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return a completion; of a template that several MCP servers offer, what all of them know.

        Raises:
            MCPError: An office has no prompts, and no such template.
            SMCPError: What the MCP server answered.
        """
        if not isinstance(params.ref, types.ResourceTemplateReference):
            raise invalid_params(NotFound("An office has no prompts; only resource templates can be completed"))
        place = place_of(params.ref.uri)
        computers = await self._directory.all_listed()
        askers = [
            (name, server)
            for name, has in computers.items()
            if place.computer in (None, name)
            for server, template in has.templates
            if template == place.uri and place.server in (None, server)
        ]
        if not askers:
            raise invalid_params(BadRequest(f"There is no resource template {params.ref.uri[:200]!r} in this office"))
        argument = {"name": params.argument.name, "value": params.argument.value}
        context = {"arguments": dict(params.context.arguments)} if params.context and params.context.arguments else None
        found = await asyncio.gather(
            *(
                self._office.complete(
                    name, server, {"type": "ref/resource", "uri": place.uri}, argument, context, meta=meta
                )
                for name, server in askers
            ),
            return_exceptions=True,
        )
        answers = [one["completion"] for one in found if not isinstance(one, BaseException)]
        if not answers:
            raise next(one for one in found if isinstance(one, BaseException))
        return merged(answers)


def merged(completions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return one completion of several: every value once, and true to MCP's limits."""
    lists = [[value for value in one.get("values") or () if isinstance(value, str)] for one in completions]
    values = list(dict.fromkeys(value for values in lists for value in values))
    more = len(values) > MOST or any(one.get("hasMore") is True for one in completions)
    total = completions[0].get("total") if len(completions) == 1 else None if more else len(values)
    known = {"total": total} if isinstance(total, int) else {}
    return {"values": values[:MOST], **known, "hasMore": more}
