"""Putting values into a server's configuration. Pure: who knows the values is asked by the caller.

A resolved copy is as good as any configuration, but shows none of its values in `repr`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, cast

from pydantic import ValidationError

from a2c_smcp.computer.config.field_types import PLACEHOLDER
from a2c_smcp.computer.config.models import (
    BaseMCPServerConfig,
    ConfigModel,
    MCPServerConfig,
    MCPServerStdioConfig,
    MCPServerStdioParameters,
    MCPServerStreamableHttpConfig,
    MCPServerStreamableHttpParameters,
    MCPSSEConfig,
    MCPSSEParameters,
    strings_of,
)
from a2c_smcp.computer.config.problems import JsonPath, invalid, path_text, problems_of, quoted

_IDENTITY: Final = ("name", "type")
_INPUT: Final = "input:"


class _Mute(ConfigModel):
    def __repr_args__(self) -> Iterator[tuple[str, str]]:
        if name := vars(self).get("name"):
            yield "name", name


class _StdioParameters(_Mute, MCPServerStdioParameters): ...


class _StreamableParameters(_Mute, MCPServerStreamableHttpParameters): ...


class _SSEParameters(_Mute, MCPSSEParameters): ...


class _ResolvedStdio(_Mute, MCPServerStdioConfig):
    server_parameters: _StdioParameters


class _ResolvedStreamable(_Mute, MCPServerStreamableHttpConfig):
    server_parameters: _StreamableParameters


class _ResolvedSSE(_Mute, MCPSSEConfig):
    server_parameters: _SSEParameters


_RESOLVED: Final[dict[str, type[BaseMCPServerConfig]]] = {
    "stdio": _ResolvedStdio,
    "streamable": _ResolvedStreamable,
    "sse": _ResolvedSSE,
}


@dataclass(frozen=True, slots=True)
class Use:
    """One placeholder in a configuration: where it stands, and what is between its braces."""

    place: JsonPath
    inner: str

    @property
    def input_id(self) -> str | None:
        """The input that it names, if it names one."""
        return self.inner.removeprefix(_INPUT) if self.inner.startswith(_INPUT) else None

    @property
    def where(self) -> str:
        """The place as people write it."""
        return path_text(self.place)


def uses_of(config: MCPServerConfig) -> list[Use]:
    """Return the placeholders of a server that are to be resolved.

    Inputs count in every text but the server's name; variables only in what it runs with, because a script may well
    have a `${…}` of its own.
    """
    return [
        use
        for place, text in strings_of(config.model_dump(mode="json"))
        for found in PLACEHOLDER.finditer(text)
        if _counts(use := Use(place, found["name"]))
    ]


def with_values(config: MCPServerConfig, value_of: Callable[[str], str | None]) -> MCPServerConfig:
    """Return a copy in which each placeholder has its value, and that is valid.

    Values are put in as they are: a placeholder inside one stays. So does one whose value is None.

    Raises:
        InvalidConfig: With its values the configuration breaks a rule, told without them.
    """

    def fill(value: Any, place: JsonPath = ()) -> Any:
        match value:
            case str():
                return PLACEHOLDER.sub(lambda found: _value(place, found["name"], found[0]), value)
            case dict():
                return {key: fill(item, (*place, key)) for key, item in value.items()}
            case list():
                return [fill(item, (*place, index)) for index, item in enumerate(value)]
            case _:
                return value

    def _value(place: JsonPath, inner: str, written: str) -> str:
        value = value_of(inner) if _counts(Use(place, inner)) else None
        return written if value is None else value

    model = _RESOLVED[config.type]
    try:
        return cast("MCPServerConfig", model.model_validate(fill(config.model_dump())))
    except ValidationError as error:
        # Without its cause, which holds the values.
        raise invalid(source_of(config), problems_of(error, model)) from None


def source_of(config: MCPServerConfig) -> str:
    """Return what errors about a server begin with."""
    return f"server {quoted(config.name)}"


def _counts(use: Use) -> bool:
    if use.place[0] in _IDENTITY:
        return False
    return use.input_id is not None or use.place[0] == "server_parameters"
