"""The Computer: offers many MCP servers to Agents, for applications that embed it and for the command line."""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, cast

from a2c_smcp.common.debounce import Debouncer
from a2c_smcp.common.state import state_folder
from a2c_smcp.computer.changes import ChangeListener, ChangeListeners, UpdateKind
from a2c_smcp.computer.config import ConfigDiff, ConfigFile, LiveConfig
from a2c_smcp.computer.config.models import ComputerConfig, MCPServerConfig, MCPServerInput
from a2c_smcp.computer.config.problems import invalid
from a2c_smcp.computer.config.public_view import public_config
from a2c_smcp.computer.desktop.collector import DesktopCollector
from a2c_smcp.computer.finder.collector import FinderCollector
from a2c_smcp.computer.inputs import Inputs, InputSource, Variables, standard_sources, workspace_of
from a2c_smcp.computer.mcp.manager import ServerManager
from a2c_smcp.computer.mcp.server_run import Timing
from a2c_smcp.computer.office.additional_office import AdditionalOffice, send_update
from a2c_smcp.computer.office.client import SMCPComputerClient
from a2c_smcp.computer.office.handlers import HANDLERS
from a2c_smcp.computer.ports import Json, ServerState
from a2c_smcp.computer.resources.agent_subscriptions import AgentSubscriptions, AllSubscriptions
from a2c_smcp.computer.resources.cache import ResourceCache
from a2c_smcp.computer.resources.reading import ResourceReader
from a2c_smcp.computer.tools.calls import ToolCalls
from a2c_smcp.computer.tools.confirmation import Confirm
from a2c_smcp.computer.tools.consent import AutoApply, ConsentFile, ToolChange
from a2c_smcp.computer.tools.journal import CallJournal
from a2c_smcp.computer.tools.progress import CallObserver, ProgressReports
from a2c_smcp.computer.tools.shaping import shaping_problems
from a2c_smcp.computer.tools.tool_cache import ToolCache
from a2c_smcp.errors import BadRequest, InvalidConfig, NotInOffice
from a2c_smcp.smcp import GetComputerConfigRet, GetFinderRet, SMCPTool, ToolCallReq
from a2c_smcp.types import SERVER_NAME, Desktop

logger = logging.getLogger(__name__)

SAVE_SECONDS: Final = 5.0
MIN_DIGEST: Final = 8


class Computer:
    """MCP servers with their tools, windows and documents, and the membership in an office.

    An async context manager: entering starts the servers in the background (`settled` waits for them) and watches the
    configuration file; leaving stops everything.

    Args:
        config: A configuration, or its file: native, Claude Desktop's or VS Code's.
        name: The Computer's name in its office.
        confirm: Asks the owner about calls of tools without `auto_apply`; without it they are refused.
        sources: The sources of input values; by default environment, keyring and the inputs' own commands.
        observer: Called at every step of every tool call.
        timing: Timeouts and restart delays of the servers.
        state: The folder for the tool definitions that `auto_apply` is valid for; by default the user's state folder
            (`XDG_STATE_HOME`). Used only with a configuration file.
        journal: The journal of calls or its folder, so that no call runs twice across restarts. Without it, results
            are kept while the process runs.
    """

    def __init__(
        self,
        config: ComputerConfig | ConfigFile | str | PathLike[str] | None = None,
        *,
        name: str = "computer",
        confirm: Confirm | None = None,
        sources: Sequence[InputSource] | None = None,
        observer: CallObserver | None = None,
        timing: Timing | None = None,
        state: str | PathLike[str] | None = None,
        journal: CallJournal | str | PathLike[str] | None = None,
    ) -> None:
        self.name = name
        self.journal = journal if journal is None or isinstance(journal, CallJournal) else CallJournal(journal)
        self._listeners = ChangeListeners()
        file = _file_of(config)
        workspace = workspace_of(file.path.absolute()) if file is not None else Path.cwd()
        self.inputs = Inputs(
            sources=standard_sources(workspace=Path(workspace)) if sources is None else sources,
            variables=Variables(os.environ, workspace, Path.home(), Path.cwd()),
        )
        self.inputs.on_change = lambda: self._listeners.notify("inputs")
        self.settings = LiveConfig(
            config if isinstance(config, ComputerConfig) else None,
            file=file,
            apply=self._apply,
            report=lambda _: self._listeners.notify("configuration"),
        )
        self.servers = ServerManager(_ServerEvents(self), resolve=self.inputs.resolve, timing=timing)
        self.tool_cache = ToolCache(self.servers, {}, on_changed=self._tools_changed)
        self._additional: list[AdditionalOffice] = []
        self._reports = ProgressReports(lambda: self)
        consent_file = ConsentFile(Path(state) if state is not None else state_folder(), file.path) if file else None
        self._consent = AutoApply(consent_file, on_change=lambda: self._consent_saves.trigger("consent"))
        self._consent_saves: Debouncer[str] = Debouncer(self._save_consent)
        self.calls = ToolCalls(
            self.servers,
            self.tool_cache,
            confirm=confirm,
            auto_apply=self._consent,
            observer=observer,
            reports=self._reports,
            journal=self.journal,
        )
        self.resource_cache = ResourceCache(self.servers)
        self.windows = DesktopCollector(self.resource_cache, lambda: self._announce("desktop"))
        self.documents = FinderCollector(self.resource_cache, lambda: self._announce("finder"))
        self.resources = ResourceReader(self.resource_cache)
        self.all_subscriptions = AllSubscriptions()
        self.subscriptions = AgentSubscriptions(
            self.servers, self.resources.server_of, lambda: self._announce("resources"), self.all_subscriptions
        )
        self.client: SMCPComputerClient | None = None
        self._pushes: Debouncer[UpdateKind] = Debouncer(self._push, held=True)
        self._listings: Debouncer[str] = Debouncer(self._list_tools)
        self._introduced: set[SERVER_NAME] = set()
        self._office = ""
        self._instructed: dict[SERVER_NAME, str] = {}
        self._watch_task: asyncio.Task[None] | None = None

    # Lifecycle

    async def start(self) -> None:
        """Read the configuration, start its servers in the background, and watch the file.

        Raises:
            InvalidConfig: The configuration cannot be used, or a strict journal cannot be opened.
        """
        await asyncio.to_thread(self._consent.load)
        await self._open_journal()
        await self.settings.load()
        self._watch_task = asyncio.create_task(self.settings.watch(), name="a2c-settings")

    async def settled(self) -> None:
        """Wait until no server is starting, and a few seconds for the lists of their tools and resources."""
        await self.servers.settled()
        with suppress(TimeoutError):
            async with asyncio.timeout(self.resource_cache.limits.reply):
                await asyncio.gather(self.tool_cache.tools(), self.resource_cache.settled())

    async def close(self) -> None:
        """Leave the office and stop every server."""
        if self._watch_task is not None:
            self._watch_task.cancel()
            with suppress(asyncio.CancelledError):
                await self._watch_task
        for office in list(self._additional):
            await office.close()
        if self.client is not None:
            await self.client.close()
        await self._pushes.close()
        await self._listings.close()
        await self.calls.aclose()
        await self._reports.aclose()
        await self.tool_cache.aclose()
        await self.windows.close()
        await self.documents.close()
        await self.subscriptions.close()
        await self.resource_cache.close()
        await self.servers.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(SAVE_SECONDS):
                await self._consent_saves.drained()
        await self._consent_saves.close()
        if self.journal is not None:
            await self.journal.close()

    async def _open_journal(self) -> None:
        journal = self.journal
        if journal is None:
            return
        try:
            await journal.open()
        except OSError:
            if journal.strict:
                problem = f"The journal of tool calls in {journal.folder} cannot be used: {journal.problem}"
                raise InvalidConfig(problem) from None
            logger.warning(
                "journal not available: folder=%s reason=%s; a call could run again after a restart",
                journal.folder,
                journal.problem,
            )

    async def __aenter__(self) -> Self:
        try:
            await self.start()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def connect(
        self, url: str, office_id: str | None = None, *, wait: bool = True, scope: str | None = None, **options: Any
    ) -> None:
        """Connect to a server, join an office, and stay connected.

        Args:
            wait: Whether to wait until that is done and to raise if it fails; otherwise it is retried in the
                background.
            scope: The identity of the server in the journal; by default its URL. It separates the calls of servers.
            options: Options of `SMCPComputerClient`: `token`, `api_key`, `headers`, …

        Raises:
            SMCPError: The server refused.
            ConnectionError: The server cannot be reached.
        """
        if self.client is not None:
            await self.client.close()
        if self.journal is not None:
            self.journal.scope = url if scope is None else scope
        on_joined: Callable[[str], Awaitable[None] | None] | None = options.pop("on_joined", None)
        on_lost: Callable[[], None] | None = options.pop("on_lost", None)

        def joined(office: str) -> Awaitable[None] | None:
            self._pushes.release()
            return on_joined(office) if on_joined is not None else None

        def left() -> None:
            self._pushes.hold()
            if on_lost is not None:
                on_lost()

        self.client = SMCPComputerClient(
            self,
            url=url,
            name=self.name,
            office_id=office_id,
            on_joined=joined,
            on_lost=left,
            **options,
        )
        await self.client.connect(wait=wait)

    async def serve_office(
        self, url: str, office_id: str, *, consent_of: str | None = None, **options: Any
    ) -> AdditionalOffice:
        """Serve an additional office besides that of `connect`, until the returned object is closed.

        An office has one Agent, so this lets several Agents of one owner use the Computer at the same time. They share
        tools, windows and documents; calls and subscriptions are separate.

        Args:
            consent_of: An office whose standing consent ("always") is valid here, too.
            options: Options of `SMCPComputerClient`: `token`, `api_key`, `headers`, …

        Raises:
            SMCPError: The server refused.
            ConnectionError: The server cannot be reached.
        """
        office = AdditionalOffice(self, url, office_id, on_close=self._additional.remove, **options)
        self._additional.append(office)
        if consent_of is not None:
            self.calls.consent.same_as[office_id] = consent_of
        try:
            await office.client.connect()
        except BaseException:
            await office.close()
            raise
        return office

    async def send_progress(self, office_id: str, report: Mapping[str, Any]) -> None:
        """Send the progress of a call to the Agent of an office; dropped if the Computer is not there."""
        clients = [office.client for office in self._additional]
        for client in clients if self.client is None else [self.client, *clients]:
            await client.send_progress(office_id, report)

    async def disconnect(self) -> None:
        """Leave the office and end the connection; the servers keep running."""
        client, self.client = self.client, None
        if client is not None:
            await client.close()
        self._pushes.hold()

    async def join(self, office_id: str) -> None:
        """Join an office and leave the current one.

        Raises:
            NotInOffice: There is no connection.
            SMCPError: The server refused.
        """
        await self._connected().join(office_id)

    async def leave(self) -> None:
        """Leave the office and stay connected.

        Raises:
            NotInOffice: There is no connection.
        """
        await self._connected().leave()

    def _connected(self) -> SMCPComputerClient:
        if self.client is None:
            raise NotInOffice("Connect to a server first")
        return self.client

    # Services, for its owner and for Agents

    def status(self) -> Json:
        """Return the state of the connection and of every server, and problems for the owner, as JSON."""
        running = {status.name for status in self.servers.statuses() if status.state is ServerState.RUNNING}
        return {
            "name": self.name,
            "connection": asdict(self.client.status) if self.client is not None else None,
            "servers": [asdict(status) for status in self.servers.statuses()],
            "undeclared": self.resource_cache.undeclared,
            "claimed_twice": self.resource_cache.claimed_twice(),
            "left_out": {"windows": dict(self.windows.left_out), "documents": dict(self.documents.left_out)},
            "tool_names": [asdict(problem) for problem in self.tool_cache.problems],
            "changed_tools": [asdict(change) for change in self.changed_tools()],
            "unlisted": {name: why for name, why in self.tool_cache.failures.items() if name in running},
            "journal": self.journal.problem if self.journal is not None else None,
            "configuration": {"problem": self.settings.problem, "notes": list(self.settings.notes)},
        }

    def missing_inputs(self) -> Sequence[MCPServerInput]:
        """Return the inputs without a value that servers wait for or failed without."""
        return self.inputs.missing(self._waiting_servers())

    async def set_input(self, input_id: str, value: str) -> None:
        """Set the value of an input, and restart the servers that failed without it.

        Raises:
            InvalidConfig: There is no such input, or the value is not among its options.
        """
        starting = {status.name for status in self.servers.statuses() if status.state is ServerState.STARTING}
        waiting = {
            config.name
            for config in self._waiting_servers()
            if config.name not in starting and input_id in {one.id for one in self.inputs.missing([config])}
        }
        self.inputs.set(input_id, value)
        for name in sorted(waiting):
            await self.servers.restart(name)

    def _waiting_servers(self) -> list[MCPServerConfig]:
        idle = (ServerState.RUNNING, ServerState.DISABLED)
        names = {status.name for status in self.servers.statuses() if status.state not in idle}
        return [config for name, config in self.settings.config.servers.items() if name in names]

    def changed_tools(self) -> list[ToolChange]:
        """Return the tools with `auto_apply` whose definition changed; their calls need confirmation."""
        routes = {id(route): route for route in self.tool_cache.catalogue.routes.values()}.values()
        return [change for route in routes if (change := self._consent.changes(route)) is not None]

    async def accept_tool(self, name: str, digest: str) -> ToolChange:
        """Make `auto_apply` valid for the current definition of a tool, and return the accepted change.

        Args:
            digest: The fingerprint of the definition that the owner has seen (`ToolChange.digest`), or at least its
                first eight characters, because the server may change the tool again meanwhile.

        Raises:
            BadRequest: The tool has not changed, has no `auto_apply`, or has changed again.
            ToolNotFound: There is no such tool.
        """
        route = await self.tool_cache.resolve(name)
        change = self._consent.changes(route)
        if change is None:
            raise BadRequest(f"The definition of {name!r} has not changed since auto_apply was set, or it has none")
        if len(digest) < MIN_DIGEST or not change.digest.startswith(digest):
            raise BadRequest(f"The definition of {name!r} is not the one with this fingerprint; see what changed")
        self._consent.accept(route)
        return change

    async def tools(self) -> list[SMCPTool]:
        """Return the tools that Agents may call."""
        return await self.tool_cache.tools()

    async def call_tool(self, request: ToolCallReq) -> Json:
        """Run a tool as an Agent would: see `ToolCalls.run`."""
        return await self.calls.run(request, office=self._office)

    async def desktop(self, size: int | None = None, window: str | None = None) -> list[Desktop]:
        """Return the rendered windows, the most relevant first."""
        return await self.windows.desktop(size, window, self.calls.history.servers())

    async def finder(
        self,
        keywords: Sequence[str] | None = None,
        file_type: str | None = None,
        offset: int = 0,
        limit: int = 20,
    ) -> GetFinderRet:
        """Return a page of the catalogue of documents."""
        found = await self.documents.find(keywords, file_type, offset, limit, self.calls.history.servers())
        page: GetFinderRet = {"documents": found.documents, "total_count": found.total}
        return page | {"unavailable": found.unavailable} if found.unavailable else page

    async def read(self, uri: str, mcp_server: SERVER_NAME | None = None) -> list[Json]:
        """Return the contents of a resource of any scheme.

        Raises:
            BadRequest: Several servers serve it: pass `mcp_server`.
        """
        return cast("list[Json]", (await self.resources.read(uri, mcp_server))["contents"])

    def config(self) -> GetComputerConfigRet:
        """Return the configuration as Agents see it: placeholders unresolved, literal secrets redacted.

        It includes the `instructions` of running servers.
        """
        found = public_config(self.settings.config)
        for name, text in self._instructions().items():
            if name in found["servers"]:
                found["servers"][name]["instructions"] = text
        return found

    def _instructions(self) -> dict[SERVER_NAME, str]:
        found = ((name, session.instructions) for name, session in self.servers.all().items())
        return {name: text for name, text in found if text is not None}

    # Handler of the client's requests

    async def answer(self, event: str, request: dict[str, Any]) -> dict[str, Any]:
        """Handle a validated `client:*` request.

        Raises:
            SMCPError: The Agent gets it as an error ack.
        """
        answer = HANDLERS.get(event)
        if answer is None:
            raise BadRequest(f"This computer does not know {event}; it may be older than its agent")
        return await answer(self, request)

    async def cancel(self, agent: str, req_id: str) -> None:
        """Cancel a call at its MCP server; an unknown or finished one is ignored."""
        self.calls.cancel(agent, req_id, office=self._office)

    def office_changed(self, office_id: str | None) -> None:
        """The Computer serves another office: drop the subscriptions of the previous office's Agent."""
        if self._office and office_id != self._office:
            self.subscriptions.drop()
        self._office = office_id or ""

    # Changes

    def on_change(self, listener: ChangeListener) -> Callable[[], None]:
        """Call `listener` with the kind of each change, in the event loop; return an unsubscribe function.

        `servers`: the state of an MCP server. `configuration`: whether the file can be used. `inputs`: which have no
        value. The other kinds are announced to the office as well. The calls are not debounced, so an expensive
        listener should debounce them.
        """
        return self._listeners.add(listener)

    def _announce(self, kind: UpdateKind) -> None:
        self._pushes.trigger(kind)
        if kind != "resources":  # each office has its own subscriptions
            for office in self._additional:
                office.announce(kind)
        self._listeners.notify(kind)

    async def _apply(self, changes: ConfigDiff, config: ComputerConfig) -> None:
        if problems := await asyncio.to_thread(shaping_problems, config):
            raise invalid(self.settings.source, problems)
        for name in changes.removed:
            self.calls.history.forget(name)
            self._introduced.discard(name)
        self.inputs.configure(config.inputs, self.settings.format)
        self._consent.configure(config.servers)
        await self.servers.apply(config, changes)
        if changes.config_changed:
            self._announce("config")
        self.tool_cache.configure(config.servers, announce=changes.tools_may_have_changed)

    def _server_changed(self) -> None:
        # The configuration that Agents read includes the instructions.
        if self._instructed != (now := self._instructions()):
            self._instructed = now
            self._announce("config")

    def _tools_changed(self, server: SERVER_NAME | None = None) -> None:
        self._announce("tool_list")
        if server is None:
            return
        self._listings.trigger("tools")
        if server not in self._introduced:
            # Agents of release 0.1 and 0.2 do not know `update_tool_list` and would never see these tools.
            self._introduced.add(server)
            self._announce("config")

    async def _list_tools(self, _: str) -> None:
        # List before the first request, so that name clashes are logged, once for all servers that start together.
        await self.servers.settled()
        await self.tool_cache.tools()

    async def _save_consent(self, _: str) -> None:
        await self._consent.save(self.settings.file_servers)

    async def _push(self, kind: UpdateKind) -> None:
        await send_update(self._connected(), self.subscriptions, kind)
        logger.debug("update sent: kind=%s", kind, extra={"update": kind})


def _file_of(config: ComputerConfig | ConfigFile | str | PathLike[str] | None) -> ConfigFile | None:
    if isinstance(config, ConfigFile):
        return config
    return None if config is None or isinstance(config, ComputerConfig) else ConfigFile(config)


class _ServerEvents:
    """Forwards the events of the MCP servers to the parts of the Computer that they concern."""

    def __init__(self, computer: Computer) -> None:
        self._computer = computer

    def tools_changed(self, server: SERVER_NAME) -> None:
        self._computer.tool_cache.tools_changed(server)

    def resources_changed(self, server: SERVER_NAME) -> None:
        self._computer.resource_cache.resources_changed(server)
        for subscriptions in self._computer.all_subscriptions.offices:
            subscriptions.list_changed(server)

    def resource_updated(self, server: SERVER_NAME, uri: str) -> None:
        self._computer.resource_cache.resource_updated(server, uri)
        for subscriptions in self._computer.all_subscriptions.offices:
            subscriptions.updated(server, uri)

    def status_changed(self, server: SERVER_NAME) -> None:
        self._computer.resource_cache.status_changed(server)
        for subscriptions in self._computer.all_subscriptions.offices:
            subscriptions.status_changed(server)
        self._computer._listeners.notify("servers")  # noqa: SLF001
        self._computer._server_changed()  # noqa: SLF001
