"""Inserts values into a server's configuration. Pure: the caller supplies the values.

A resolved copy is a normal configuration whose `repr` contains no values.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath, PureWindowsPath
from typing import Any, Final, cast

from pydantic import ValidationError

from a2c_smcp.computer.config.field_types import PLACEHOLDER
from a2c_smcp.computer.config.loaders import ConfigFormat
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


class _HidesValues(ConfigModel):
    def __repr_args__(self) -> Iterator[tuple[str, str]]:
        if name := vars(self).get("name"):
            yield "name", name


class _StdioParameters(_HidesValues, MCPServerStdioParameters): ...


class _StreamableParameters(_HidesValues, MCPServerStreamableHttpParameters): ...


class _SSEParameters(_HidesValues, MCPSSEParameters): ...


class _ResolvedStdio(_HidesValues, MCPServerStdioConfig):
    server_parameters: _StdioParameters


class _ResolvedStreamable(_HidesValues, MCPServerStreamableHttpConfig):
    server_parameters: _StreamableParameters


class _ResolvedSSE(_HidesValues, MCPSSEConfig):
    server_parameters: _SSEParameters


_RESOLVED: Final[dict[str, type[BaseMCPServerConfig]]] = {
    "stdio": _ResolvedStdio,
    "streamable": _ResolvedStreamable,
    "sse": _ResolvedSSE,
}


@dataclass(frozen=True, slots=True)
class PlaceholderUse:
    """One placeholder in a configuration: its path and the text between its braces."""

    place: JsonPath
    inner: str

    @property
    def input_id(self) -> str | None:
        """The id of the input that it refers to, if it does."""
        return self.inner.removeprefix(_INPUT) if self.inner.startswith(_INPUT) else None

    @property
    def where(self) -> str:
        """The path as people write it."""
        return path_text(self.place)


def placeholders_of(config: MCPServerConfig) -> list[PlaceholderUse]:
    """Return the placeholders of a server to resolve.

    Inputs are resolved in every field except the server's name and type; variables only in its parameters, because a
    script may contain its own `${…}`.
    """
    return [
        use
        for place, text in strings_of(config.model_dump(mode="json"))
        for found in PLACEHOLDER.finditer(text)
        if _is_resolved(use := PlaceholderUse(place, found["name"]))
    ]


def with_values(config: MCPServerConfig, value_of: Callable[[str], str | None]) -> MCPServerConfig:
    """Return a validated copy in which each placeholder is replaced by its value.

    Placeholders inside values are not resolved. A placeholder whose value is None is kept.

    Raises:
        InvalidConfig: The resolved configuration is invalid; the error does not contain values.
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
        value = value_of(inner) if _is_resolved(PlaceholderUse(place, inner)) else None
        return written if value is None else value

    model = _RESOLVED[config.type]
    try:
        return cast("MCPServerConfig", model.model_validate(fill(config.model_dump())))
    except ValidationError as error:
        # Without the cause, which contains the values.
        raise invalid(source_of(config), problems_of(error, model)) from None


def source_of(config: MCPServerConfig) -> str:
    """Return the beginning of errors about a server."""
    return f"server {quoted(config.name)}"


def _is_resolved(use: PlaceholderUse) -> bool:
    if use.place[0] in _IDENTITY:
        return False
    return use.input_id is not None or use.place[0] == "server_parameters"


_SHELL: Final = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?P<dash>:-(?P<default>.*))?", re.DOTALL)
_EDITOR_ONLY: Final = re.compile(
    r"(?:config|command|extensionInstallFolder|workspaceFolder|workspaceFolderBasename):.*"
    r"|file|fileWorkspaceFolder|relativeFile|relativeFileDirname|fileBasename|fileBasenameNoExtension|fileExtname"
    r"|fileDirname|fileDirnameBasename|lineNumber|columnNumber|selectedText|execPath|defaultBuildTask",
    re.DOTALL,
)


class Unresolved(Exception):
    """A placeholder has no value; the message says why and how to fix it, and never contains a value."""


@dataclass(frozen=True, slots=True)
class Variables:
    """The values of the variables of one configuration.

    Attributes:
        workspace: The value of `${workspaceFolder}`.
        cwd: The value of `${cwd}`.
        dialect: The format of the file, which decides the meaning of `${NAME}`.
    """

    env: Mapping[str, str] = field(repr=False)
    workspace: PurePath
    home: PurePath
    cwd: PurePath
    dialect: ConfigFormat = "native"

    def expand(self, inner: str) -> str | None:
        """Return the value of `${inner}`, or None if it is not a variable and is kept as written.

        Raises:
            Unresolved: The variable has no value.
        """
        if inner.startswith("env:"):
            return self.env.get(inner.removeprefix("env:"), "")
        if (folder := self._predefined(inner)) is not None:
            return folder
        shell = _SHELL.fullmatch(inner) if self.dialect != "vscode" else None
        if shell is not None and shell["name"] in self.env:
            return self.env[shell["name"]]
        if _EDITOR_ONLY.fullmatch(inner):
            raise Unresolved(f"${{{_short(inner)}}} is known to an editor only; write what it stands for")
        if shell is None:
            return None
        if shell["dash"]:
            return shell["default"]
        name = shell["name"]
        raise Unresolved(
            f"the environment has no variable {quoted(name)}; set it, or write ${{{_short(name)}:-default}}"
        )

    def _predefined(self, inner: str) -> str | None:
        match inner:
            case "workspaceFolder":
                return str(self.workspace)
            case "workspaceFolderBasename":
                return self.workspace.name
            case "userHome":
                return str(self.home)
            case "cwd":
                return str(self.cwd)
            case "pathSeparator" | "/":
                return "\\" if isinstance(self.workspace, PureWindowsPath) else "/"
            case _:
                return None


def env_name(inner: str) -> str | None:
    """Return the environment variable that `${inner}` refers to, if it does."""
    if inner.startswith("env:"):
        return inner.removeprefix("env:")
    shell = _SHELL.fullmatch(inner)
    return shell["name"] if shell else None


def workspace_of(config_file: PurePath) -> PurePath:
    """Return the workspace of a configuration file: its folder, or the parent of an editor's folder."""
    folder = config_file.parent
    return folder.parent if folder.name in {".vscode", ".cursor"} else folder


def _short(text: str) -> str:
    return quoted(text)[1:-1]
