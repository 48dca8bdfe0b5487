"""What `a2c up` starts, and what it tells others to type: configurations and command lines."""

import logging
import os
import platform
import shlex
import shutil
import stat
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from a2c_smcp.cli.up_home import digests_folder
from a2c_smcp.cli.up_trust import Trust, describe
from a2c_smcp.common.child_python import FOLDER, python_path
from a2c_smcp.common.state import state_folder
from a2c_smcp.computer.config.files import read_text
from a2c_smcp.computer.config.models import MCPServerStdioConfig, MCPServerStdioParameters, ToolMeta
from a2c_smcp.computer.inputs import (
    InputSource,
    Secret,
    parse_input_options,
    read_input_file,
    standard_sources,
    workspace_of,
)
from a2c_smcp.documents.files import existing
from a2c_smcp.errors import BadRequest, InvalidConfig

log = logging.getLogger(__name__)

OFFICE: Final = "home"
DOCUMENTS: Final = "documents"
DEMO: Final = "demo"
FOUND: Final = ("mcp.json", ".vscode/mcp.json")
"""Where a configuration is looked for, below the current folder."""

READING: Final = ("search_documents", "render_page", "get_element_image")
"""Tools of the document server that change nothing: an Agent may call them without being asked about."""

PASSED_ON: Final = ("A2C_LLM_", "A2C_DOCS_OCR_KEY", "A2C_DOCS_SANDBOX", "PYTHONPATH")
"""The beginnings of variables that the document server gets too."""


@dataclass(frozen=True, slots=True)
class OfficeAccess:
    """How a client reaches the office."""

    url: str
    office: str
    token_file: Path

    mcp: str = ""
    """Where MCP clients that speak HTTP find it."""
    mcp_token: str = field(default="", repr=False)
    alone: bool = True
    """Whether no other `a2c up` of this user runs, so that commands find this one without being told."""

    @property
    def words(self) -> list[str]:
        """The options of commands that join it; address and token of the only one that runs are found without."""
        return [] if self.alone else ["--url", self.url]


@dataclass(frozen=True, slots=True)
class UpPlan:
    """What is started, decided before anything is."""

    name: str
    roots: tuple[Path, ...]
    state: Path
    digests: Path
    config: Path | None
    trust: Trust | None
    """The user's consent, for a configuration that was found."""
    sources: tuple[InputSource, ...]
    notes: tuple[str, ...]

    def demonstrated(self, folder: Path) -> "UpPlan":
        """The same with the documents of the demonstration, whose digests go with it."""
        return replace(self, roots=(*self.roots, folder / "demo"), digests=folder / "digests")


Ask: TypeAlias = Callable[[Path, Sequence[str]], bool]
"""Shows a user what a configuration starts, and returns whether to use it."""


def make_plan(arguments: Namespace, env: Mapping[str, str], ask: Ask | None = None) -> UpPlan:
    """Return what a command line asks for.

    Args:
        ask: Asks about a configuration that was found and that the user has not seen; None with nobody to ask.

    Raises:
        BadRequest: A folder does not exist, or may not be read.
        InvalidConfig: The configuration that was named cannot be used; one that was found is told of instead.
    """
    roots = tuple(_readable(folder) for folder in arguments.folder or ["."])
    state = Path(arguments.state).expanduser().absolute() if arguments.state else state_folder(env)
    digests = Path(arguments.digests).expanduser().absolute() if arguments.digests else digests_folder(state, roots)
    found = _config(arguments, state, ask)
    workspace = Path(workspace_of(found.path.absolute())) if found.path is not None else Path.cwd()
    notes = list(found.notes)
    if Path.home().resolve() in roots:
        notes.append("this offers all of your home folder: name the folders that Agents may read")
    return UpPlan(
        name=arguments.name or platform.node() or "computer",
        roots=roots,
        state=state,
        digests=digests,
        config=found.path,
        trust=found.trust,
        sources=standard_sources(_given_inputs(arguments), env=env, workspace=workspace),
        notes=tuple(notes),
    )


def _given_inputs(arguments: Namespace) -> dict[str, Secret]:
    given = read_input_file(arguments.input_file) if arguments.input_file is not None else {}
    return given | parse_input_options(arguments.input or ())


def _readable(folder: str) -> Path:
    try:
        root = existing(folder)
    except BadRequest as error:
        raise BadRequest(f"{error.message}: check the path; without one, this folder is offered") from None
    if not os.access(root, os.R_OK | os.X_OK if root.is_dir() else os.R_OK):
        raise BadRequest(f"{root} may not be read: change its permissions, or name another folder")
    return root


def _config(arguments: Namespace, state: Path, ask: Ask | None) -> "FoundConfig":
    if arguments.config is not None:
        return FoundConfig(Path(arguments.config).expanduser())
    if arguments.no_config:
        return FoundConfig()
    found = find_config(Path.cwd())
    if found.path is None:
        return found
    name, trust = found.path.relative_to(Path.cwd()), Trust(state, found.path)
    try:
        text, _ = read_text(found.path)
        starts = describe(text, str(found.path))
    except InvalidConfig as error:
        said = f"{error.message}; its MCP servers are not started: fix it, and start again"
        return FoundConfig(None, (*found.notes, said))
    if not trust.covers(text):
        if not arguments.trust and not (ask is not None and ask(found.path, starts)):
            said = (
                f"{name} was found here and is not used: you have not agreed to what it starts. "
                f"Run a2c up at a terminal to see it, or pass --trust, or --config {name}"
            )
            log.warning("configuration not used: path=%s reason=not trusted", found.path)
            return FoundConfig(None, (*found.notes, said))
        trust.add(text)
    said = f"{name} is in this folder, and you trust it: its MCP servers are started; --no-config starts none of them"
    return FoundConfig(found.path, (*found.notes, said), trust)


@dataclass(frozen=True, slots=True)
class FoundConfig:
    """A configuration that lies here, and what to say about it."""

    path: Path | None = None
    notes: tuple[str, ...] = field(default=())
    trust: Trust | None = field(default=None, compare=False)


def find_config(folder: Path) -> FoundConfig:
    """Return the configuration in a folder; one that other users could have written is left alone."""
    there = [folder / name for name in FOUND if (folder / name).is_file()]
    notes = [f"{path.relative_to(folder)} is left alone: others can write it" for path in there if _is_foreign(path)]
    ours = [path for path in there if not _is_foreign(path)]
    notes += [f"{path.relative_to(folder)} is left alone: --config names one file" for path in ours[1:]]
    return FoundConfig(ours[0] if ours else None, tuple(notes))


def _is_foreign(path: Path) -> bool:
    if not hasattr(os, "getuid"):
        return False
    status = path.stat()
    return status.st_uid not in (os.getuid(), 0) or bool(status.st_mode & stat.S_IWOTH)


def document_server(
    name: str, folders: Sequence[Path], options: Sequence[str], env: Mapping[str, str]
) -> MCPServerStdioConfig:
    """Return the configuration of the document server on these folders."""
    words = ["docs", "serve", *options, "--", *map(str, folders)]
    return MCPServerStdioConfig(
        name=name,
        server_parameters=MCPServerStdioParameters(
            command=sys.executable,
            args=["-P", "-m", "a2c_smcp.cli", *words],
            env=_passed_on(env) or None,
            cwd=FOLDER,
        ),
        tool_meta={tool: ToolMeta(auto_apply=True) for tool in READING},
    )


def demo_server(name: str, env: Mapping[str, str]) -> MCPServerStdioConfig:
    """Return the configuration of the MCP server with windows that `--demo` adds."""
    return MCPServerStdioConfig(
        name=name,
        server_parameters=MCPServerStdioParameters(
            command=sys.executable,
            args=["-P", "-m", "a2c_smcp.cli.demo_server"],
            env=_passed_on(env) or None,
            cwd=FOLDER,
        ),
    )


def _passed_on(env: Mapping[str, str]) -> dict[str, str]:
    passed = {key: value for key, value in env.items() if key.startswith(PASSED_ON)}
    if path := python_path(passed.pop("PYTHONPATH", "")):
        passed["PYTHONPATH"] = path  # it may be relative, and the server runs in another folder
    return passed


def free_name(wanted: str, taken: Sequence[str]) -> str:
    """Return a name for a server that no other has."""
    return wanted if wanted not in taken else free_name(f"a2c-{wanted}", taken)


def program() -> list[str]:
    """Return the words that run `a2c` from anywhere, whatever the search path of whoever runs them."""
    beside = Path(sys.executable).with_name("a2c.exe" if sys.platform == "win32" else "a2c")
    return [str(beside)] if beside.is_file() else [sys.executable, "-P", "-m", "a2c_smcp.cli"]


def typed() -> list[str]:
    """Return the words that run `a2c` from this shell."""
    return ["a2c"] if shutil.which("a2c") == (own := program())[0] else own


def http_config(seat: OfficeAccess) -> dict[str, Any]:
    """Return what to put into the configuration of an MCP client that speaks HTTP, in the form of VS Code."""
    server = {"type": "http", "url": seat.mcp, "headers": {"Authorization": f"Bearer {seat.mcp_token}"}}
    return {"servers": {f"a2c-{seat.office}": server}}


def client_config(seat: OfficeAccess) -> dict[str, Any]:
    """Return what to put into the configuration of a client that starts programs, in the form of Claude Desktop."""
    command, *first = program()
    words = [*first, "mcp", *seat.words, "--reading-tools"]
    return {"mcpServers": {f"a2c-{seat.office}": {"command": command, "args": words}}}


def agent_command(seat: OfficeAccess) -> str:
    """Return a command line to try the office with."""
    return shlex.join([*typed(), "agent", "finder", *seat.words])
