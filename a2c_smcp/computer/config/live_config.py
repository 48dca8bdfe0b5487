"""The configuration that a Computer runs with: its file, edits at run time, or both."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Final, TypeAlias

from a2c_smcp.common.callbacks import notify_guarded
from a2c_smcp.computer.config.config_file import ConfigFile
from a2c_smcp.computer.config.diff import ConfigDiff, diff_configs
from a2c_smcp.computer.config.edits import ConfigEdit, NotSaved
from a2c_smcp.computer.config.loaders import ConfigFormat, LoadedConfig
from a2c_smcp.computer.config.models import ComputerConfig, MCPServerConfig, MCPServerInput
from a2c_smcp.computer.config.problems import Problem, invalid, quoted
from a2c_smcp.errors import InvalidConfig
from a2c_smcp.types import SERVER_NAME

log = logging.getLogger(__name__)

ApplyConfig: TypeAlias = Callable[[ConfigDiff, ComputerConfig], Awaitable[None]]
"""Applies a configuration to the Computer, given the difference. It should not wait for servers to be ready."""

ReportProblem: TypeAlias = Callable[[str | None], None]
"""Called with the reason why the file cannot be used, and with None once it can."""

STAYS: Final = "The previous configuration stays active."
_OTHER_PROGRAMS: Final = {"claude": "Claude Desktop", "vscode": "VS Code"}


@dataclass(frozen=True, slots=True)
class EditResult:
    """The result of an edit.

    Attributes:
        saved: Whether the file contains it.
        note: Why a requested save did not happen.
    """

    changes: ConfigDiff
    saved: bool = False
    note: str | None = None


class LiveConfig:
    """Holds the configuration and applies changes of the file and edits to it, one at a time and in order.

    Edits override the file. On request they are saved to it if it is native; a file of another program is never
    rewritten. When the file changes, the unsaved edits are applied to its new content.

    Args:
        config: The initial configuration; with a file, initial edits on top of it.
        file: The configuration file.
        apply: Applies a configuration to the Computer. If it raises, the change is discarded.
        report: Called about problems of the file while it is watched.
    """

    def __init__(
        self,
        config: ComputerConfig | None = None,
        *,
        file: ConfigFile | None = None,
        apply: ApplyConfig,
        report: ReportProblem | None = None,
    ) -> None:
        start = config or ComputerConfig()
        self._file = file
        self._apply = apply
        self._report = report
        self._base = ComputerConfig() if file else start
        self._edit = ConfigEdit.of(start) if file else ConfigEdit()
        self._loaded: LoadedConfig | None = None
        self._config = ComputerConfig()
        self._problem: str | None = None
        self._lock = asyncio.Lock()

    @property
    def config(self) -> ComputerConfig:
        """The configuration in effect."""
        return self._config

    @property
    def format(self) -> ConfigFormat:
        """The format of the file, which decides the meaning of `${NAME}`; "native" without a file."""
        return self._loaded.format if self._loaded else "native"

    @property
    def source(self) -> str:
        """The name of the configuration in errors: the path of the file, if there is one."""
        return str(self._file.path) if self._file is not None else "configuration"

    @property
    def file_servers(self) -> frozenset[SERVER_NAME]:
        """The names of the servers in the file."""
        return frozenset(self._loaded.config.servers) if self._loaded else frozenset()

    @property
    def notes(self) -> tuple[str, ...]:
        """What was ignored in the file, and why."""
        return self._loaded.notes if self._loaded else ()

    @property
    def problem(self) -> str | None:
        """Why the file cannot be used now; the last valid configuration stays in effect."""
        return self._problem

    async def load(self) -> EditResult:
        """Read the file, if there is one, and apply it.

        Raises:
            InvalidConfig: The file cannot be used.
        """
        async with self._lock:
            if self._file is not None:
                self._loaded = await asyncio.to_thread(self._file.load)
                self._set_problem(None)
            base = self._loaded.config if self._loaded else self._base
            return EditResult(await self._apply_over(base, self._edit))

    async def watch(self) -> None:
        """Apply changes of the file until cancelled. An invalid file is reported and not applied."""
        if self._file is None:
            return
        async with aclosing(self._file.watch()) as states:
            async for state in states:
                async with self._lock:
                    await self._file_changed(self._file, state)

    async def add_server(self, server: MCPServerConfig, *, save: bool = False) -> EditResult:
        """Add a server.

        Raises:
            InvalidConfig: There is one of that name.
        """
        async with self._lock:
            if server.name in self._config.servers:
                raise _invalid_edit(
                    f"there is a server {quoted(server.name)} already; update it, or choose another name"
                )
            return await self._change(ConfigEdit(servers={server.name: server}), save=save)

    async def update_server(self, server: MCPServerConfig, *, save: bool = False) -> EditResult:
        """Replace the settings of the server of that name.

        Raises:
            InvalidConfig: There is none.
        """
        async with self._lock:
            self._check_exists(server.name)
            return await self._change(ConfigEdit(servers={server.name: server}), save=save)

    async def remove_server(self, name: SERVER_NAME, *, save: bool = False) -> EditResult:
        """Remove a server.

        Raises:
            InvalidConfig: There is none of that name.
        """
        async with self._lock:
            self._check_exists(name)
            return await self._change(ConfigEdit(servers={name: None}), save=save)

    async def enable(self, name: SERVER_NAME, *, save: bool = False) -> EditResult:
        """Start a server that is disabled.

        Raises:
            InvalidConfig: There is none of that name.
        """
        return await self._set_disabled(name, disabled=False, save=save)

    async def disable(self, name: SERVER_NAME, *, save: bool = False) -> EditResult:
        """Stop a server and keep its settings.

        Raises:
            InvalidConfig: There is none of that name.
        """
        return await self._set_disabled(name, disabled=True, save=save)

    async def set_inputs(self, inputs: Iterable[MCPServerInput], *, save: bool = False) -> EditResult:
        """Replace the definitions of all inputs.

        Raises:
            InvalidConfig: Two have one id.
        """
        wanted = list(inputs)
        by_id = {entry.id: entry for entry in wanted}
        if len(by_id) < len(wanted):
            raise _invalid_edit("two inputs have one id; give each its own")
        async with self._lock:
            removed = dict.fromkeys(entry.id for entry in self._config.inputs)
            return await self._change(ConfigEdit(inputs={**removed, **by_id}), save=save)

    async def _set_disabled(self, name: SERVER_NAME, *, disabled: bool, save: bool) -> EditResult:
        async with self._lock:
            self._check_exists(name)
            return await self._change(ConfigEdit(disabled={name: disabled}), save=save)

    async def _change(self, edit: ConfigEdit, *, save: bool) -> EditResult:
        changes = await self._apply_over(self._base, self._edit.then(edit))
        if not save:
            return EditResult(changes)
        try:
            loaded = await asyncio.to_thread(self._saved, edit)
        except NotSaved as reason:
            return EditResult(changes, note=f"not saved: {reason}")
        except InvalidConfig:
            return EditResult(changes, note="not saved: the file has problems; fix them, and save again")
        except OSError as problem:
            return EditResult(changes, note=f"not saved: {problem.strerror or type(problem).__name__}")
        self._loaded = loaded
        # The file may have been edited since it was read: apply that as well.
        await self._apply_over(loaded.config, self._edit.without(edit))
        return EditResult(changes, saved=True)

    def _saved(self, edit: ConfigEdit) -> LoadedConfig:
        if self._file is None:
            raise NotSaved("there is no file")
        if self.format != "native":
            raise NotSaved(
                f"the file is one of {_OTHER_PROGRAMS[self.format]}, and those are never rewritten; "
                "the change holds until the Computer stops"
            )
        return self._file.save(edit)

    async def _apply_over(self, base: ComputerConfig, edit: ConfigEdit) -> ConfigDiff:
        config = edit.over(base)
        changes = diff_configs(self._config, config)
        if changes:
            await self._apply(changes, config)
        self._base, self._edit, self._config = base, edit, config
        return changes

    async def _file_changed(self, file: ConfigFile, state: LoadedConfig | InvalidConfig) -> None:
        if isinstance(state, InvalidConfig):
            self._reject(state.message)
            return
        # An edit that was saved while this change waited for the lock must not be undone.
        with suppress(InvalidConfig):
            state = await asyncio.to_thread(file.latest, state)
        before, self._loaded = self._loaded, state
        try:
            await self._apply_over(state.config, self._edit)
        except InvalidConfig as problem:
            self._loaded = before
            self._reject(problem.message)
        except Exception as problem:
            self._loaded = before
            log.exception("configuration not applied: source=%s", self.source)
            self._reject(f"{self.source}: could not be applied ({type(problem).__name__}); see the log")
        else:
            self._set_problem(None)

    def _reject(self, problem: str) -> None:
        text = f"{problem}\n{STAYS}"
        log.warning("configuration change rejected: %s", text)
        self._set_problem(text)

    def _set_problem(self, problem: str | None) -> None:
        if problem != self._problem:
            self._problem = problem
            if self._report is not None:
                notify_guarded(log, "a listener for configuration problems", self._report, problem)

    def _check_exists(self, name: SERVER_NAME) -> None:
        if name not in self._config.servers:
            raise _invalid_edit(f"there is no server {quoted(name)}; check its name")


def _invalid_edit(line: str) -> InvalidConfig:
    return invalid("configuration", [Problem("", line)])
