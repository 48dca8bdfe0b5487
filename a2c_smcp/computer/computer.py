"""The Computer: many MCP servers as one voice, for applications that embed it and for the command line."""

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

from a2c_smcp.common.debounce import Debouncer, UpdateKind
from a2c_smcp.common.state import state_folder
from a2c_smcp.computer.changes import ChangeListener, ChangeListeners
from a2c_smcp.computer.config import ConfigDiff, ConfigFile, LiveConfig
from a2c_smcp.computer.config.models import ComputerConfig, MCPServerConfig, MCPServerInput
from a2c_smcp.computer.config.problems import invalid
from a2c_smcp.computer.config.public_view import public_config
from a2c_smcp.computer.desktop.collector import DesktopCollector
from a2c_smcp.computer.finder.collector import FinderCollector
from a2c_smcp.computer.inputs import Inputs, Source, Variables, standard_sources, workspace_of
from a2c_smcp.computer.mcp.manager import ServerManager
from a2c_smcp.computer.mcp.server_run import Timing
from a2c_smcp.computer.office.additional_office import FurtherOffice, send_update
from a2c_smcp.computer.office.client import SMCPComputerClient
from a2c_smcp.computer.office.handlers import HANDLERS
from a2c_smcp.computer.ports import Json, ServerState
from a2c_smcp.computer.resources.agent_subscriptions import AgentSubscriptions, AllWatches
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
    """MCP servers, their tools, windows and documents, and a seat in an office.

    An async context manager: entering starts the servers of the configuration (in the background; `settled` waits for
    them) and follows its file; leaving ends everything that was started.

    Args:
        config: A configuration, or the file that holds it: native, Claude Desktop's or VS Code's.
        name: What the Computer is called in its office.
        confirm: Asks the owner about calls of tools without `auto_apply`; without it they are refused.
        sources: Where the values of inputs come from; by default environment, keyring and the inputs' own commands.
        observer: Told of every step of every tool call.
        timing: How servers are started, watched and started again.
        state: The folder in which it remembers which definition of a tool `auto_apply` holds for; by default the user's
            own (`XDG_STATE_HOME`). Only a configuration file needs it.
        journal: Where calls are recorded, so that none runs twice when the Computer is killed and started again; or
            the folder for that. Without it, results are remembered for as long as the process lives.
    """

    def __init__(
        self,
        config: ComputerConfig | ConfigFile | str | PathLike[str] | None = None,
        *,
        name: str = "computer",
        confirm: Confirm | None = None,
        sources: Sequence[Source] | None = None,
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
        self.inputs.on_change = lambda: self._listeners.tell("inputs")
        self.settings = LiveConfig(
            config if isinstance(config, ComputerConfig) else None,
            file=file,
            apply=self._apply,
            report=lambda _: self._listeners.tell("configuration"),
        )
        self.servers = ServerManager(_ServerEvents(self), resolve=self.inputs.resolve, timing=timing)
        self.box = ToolCache(self.servers, {}, on_late=self._tools_changed)
        self._further: list[FurtherOffice] = []
        self._reports = ProgressReports(lambda: self)
        remembered = ConsentFile(Path(state) if state is not None else state_folder(), file.path) if file else None
        self._consent = AutoApply(remembered, on_change=lambda: self._consents.trigger("consent"))
        self._consents: Debouncer[str] = Debouncer(self._save_consent)
        self.calls = ToolCalls(
            self.servers,
            self.box,
            confirm=confirm,
            auto_apply=self._consent,
            observer=observer,
            reports=self._reports,
            journal=self.journal,
        )
        self.index = ResourceCache(self.servers)
        self.windows = DesktopCollector(self.index, lambda: self._tell("desktop"))
        self.documents = FinderCollector(self.index, lambda: self._tell("finder"))
        self.resources = ResourceReader(self.index)
        self.all_watches = AllWatches()
        self.watches = AgentSubscriptions(
            self.servers, self.resources.server_of, lambda: self._tell("resources"), self.all_watches
        )
        self.client: SMCPComputerClient | None = None
        self._pushes: Debouncer[UpdateKind] = Debouncer(self._push, held=True)
        self._listings: Debouncer[str] = Debouncer(self._list_tools)
        self._introduced: set[SERVER_NAME] = set()
        self._office = ""
        self._instructed: dict[SERVER_NAME, str] = {}
        self._watching: asyncio.Task[None] | None = None

    # Beginning and end

    async def start(self) -> None:
        """Read the configuration, start its servers in the background, and follow the file from then on.

        Raises:
            InvalidConfig: The configuration cannot be used, or a strict journal cannot be opened.
        """
        await asyncio.to_thread(self._consent.load)
        await self._open_journal()
        await self.settings.load()
        self._watching = asyncio.create_task(self.settings.watch(), name="a2c-settings")

    async def settled(self) -> None:
        """Wait until no server is starting any more, and for a few seconds until each has listed what it offers."""
        await self.servers.settled()
        with suppress(TimeoutError):
            async with asyncio.timeout(self.index.limits.reply):
                await asyncio.gather(self.box.tools(), self.index.settled())

    async def close(self) -> None:
        """Leave the office and end every server."""
        if self._watching is not None:
            self._watching.cancel()
            with suppress(asyncio.CancelledError):
                await self._watching
        for further in list(self._further):
            await further.close()
        if self.client is not None:
            await self.client.close()
        await self._pushes.close()
        await self._listings.close()
        await self.calls.aclose()
        await self._reports.aclose()
        await self.box.aclose()
        await self.windows.close()
        await self.documents.close()
        await self.watches.close()
        await self.index.close()
        await self.servers.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(SAVE_SECONDS):
                await self._consents.drained()
        await self._consents.close()
        if self.journal is not None:
            await self.journal.close()

    async def _open_journal(self) -> None:
        journal = self.journal
        if journal is None:
            return
        try:
            await journal.open()
        except OSError:
            problem = f"The journal of tool calls in {journal.folder} cannot be used: {journal.problem}"
            if journal.strict:
                raise InvalidConfig(problem) from None
            logger.warning("%s; a call could run again after a restart", problem)

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
        """Connect to a server and join an office; from then on stay connected.

        Args:
            wait: Whether to return only when that is done, and to raise if it fails; otherwise it is tried for ever in
                the background.
            scope: What the journal takes the server for; by default its URL. Calls of one server are never taken for
                those of another.
            options: As those of `SMCPComputerClient`: `token`, `api_key`, `headers`, …

        Raises:
            SMCPError: The server refused.
            ConnectionError: There is no such server.
        """
        if self.client is not None:
            await self.client.close()
        if self.journal is not None:
            self.journal.scope = url if scope is None else scope
        told: Callable[[str], Awaitable[None] | None] | None = options.pop("on_joined", None)
        lost: Callable[[], None] | None = options.pop("on_lost", None)

        def joined(office: str) -> Awaitable[None] | None:
            self._pushes.release()
            return told(office) if told is not None else None

        def left() -> None:
            self._pushes.hold()
            if lost is not None:
                lost()

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

    async def attend(self, url: str, office_id: str, *, consent_of: str | None = None, **options: Any) -> FurtherOffice:
        """Serve one more office, beside that of `connect`, until what is returned is closed.

        An office has one Agent: this is how several Agents of one owner use the Computer at the same time. Each sees
        the same tools, windows and documents; calls and subscriptions are its own.

        Args:
            consent_of: An office whose standing consent ("always") holds here, too.
            options: As those of `SMCPComputerClient`: `token`, `api_key`, `headers`, …

        Raises:
            SMCPError: The server refused.
            ConnectionError: There is no such server.
        """
        further = FurtherOffice(self, url, office_id, on_close=self._further.remove, **options)
        self._further.append(further)
        if consent_of is not None:
            self.calls.gate.same_as[office_id] = consent_of
        try:
            await further.client.connect()
        except BaseException:
            await further.close()
            raise
        return further

    async def send_progress(self, office_id: str, report: Mapping[str, Any]) -> None:
        """Tell the Agent of an office how far a call is; without a seat there nobody is told."""
        clients = [further.client for further in self._further]
        for client in clients if self.client is None else [self.client, *clients]:
            await client.send_progress(office_id, report)

    async def disconnect(self) -> None:
        """Leave the office and end the connection; the servers go on."""
        client, self.client = self.client, None
        if client is not None:
            await client.close()
        self._pushes.hold()

    async def join(self, office_id: str) -> None:
        """Join an office, leaving the one it is in.

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

    # What it offers, for its owner as for Agents

    def status(self) -> Json:
        """Return the state of the connection, of every server, and whatever its owner should know, as JSON."""
        running = {status.name for status in self.servers.statuses() if status.state is ServerState.RUNNING}
        return {
            "name": self.name,
            "connection": asdict(self.client.status) if self.client is not None else None,
            "servers": [asdict(status) for status in self.servers.statuses()],
            "undeclared": self.index.undeclared,
            "claimed_twice": self.index.claimed_twice(),
            "left_out": {"windows": dict(self.windows.left_out), "documents": dict(self.documents.left_out)},
            "tool_names": [asdict(problem) for problem in self.box.problems],
            "changed_tools": [asdict(change) for change in self.changed_tools()],
            "unlisted": {name: why for name, why in self.box.failures.items() if name in running},
            "journal": self.journal.problem if self.journal is not None else None,
            "configuration": {"problem": self.settings.problem, "notes": list(self.settings.notes)},
        }

    def missing_inputs(self) -> Sequence[MCPServerInput]:
        """Return the inputs without a value for which servers wait, or without which they failed to start."""
        return self.inputs.missing(self._waiting_servers())

    async def set_input(self, input_id: str, value: str) -> None:
        """Give an input a value, and start the servers that failed for want of it.

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
        """Return the tools with `auto_apply` whose definition changed since; their calls need confirmation."""
        routes = {id(route): route for route in self.box.catalogue.routes.values()}.values()
        return [change for route in routes if (change := self._consent.changes(route)) is not None]

    async def accept_tool(self, name: str, digest: str) -> ToolChange:
        """Let `auto_apply` hold for the definition that a tool has now, and return what had changed.

        Args:
            digest: The fingerprint of the definition that the owner has seen (`ToolChange.digest`), or its first eight
                characters or more: a server may change the tool once more before the owner accepts it.

        Raises:
            BadRequest: The tool has not changed since `auto_apply` was set, has none, or has changed once more.
            ToolNotFound: There is no such tool.
        """
        route = await self.box.resolve(name)
        change = self._consent.changes(route)
        if change is None:
            raise BadRequest(f"The definition of {name!r} has not changed since auto_apply was set, or it has none")
        if len(digest) < MIN_DIGEST or not change.digest.startswith(digest):
            raise BadRequest(f"The definition of {name!r} is not the one with this fingerprint; see what changed")
        self._consent.accept(route)
        return change

    async def tools(self) -> list[SMCPTool]:
        """Return the tools that Agents may call."""
        return await self.box.tools()

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
        """Return the contents of a resource of any scheme that a server serves.

        Raises:
            BadRequest: Several servers serve it: name one.
        """
        return cast("list[Json]", (await self.resources.read(uri, mcp_server))["contents"])

    def config(self) -> GetComputerConfigRet:
        """Return the configuration as Agents see it: placeholders unresolved, literal secrets redacted.

        A server that runs and has `instructions` for models has them there, too.
        """
        found = public_config(self.settings.config)
        for name, text in self._instructions().items():
            if name in found["servers"]:
                found["servers"][name]["instructions"] = text
        return found

    def _instructions(self) -> dict[SERVER_NAME, str]:
        found = ((name, session.instructions) for name, session in self.servers.all().items())
        return {name: text for name, text in found if text is not None}

    # The answerer of the client

    async def answer(self, event: str, request: dict[str, Any]) -> dict[str, Any]:
        """Answer a validated `client:*` request.

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
        """The Computer serves another office: what was kept for the Agent of the former is nobody's."""
        if self._office and office_id != self._office:
            self.watches.drop()
        self._office = office_id or ""

    # What changes

    def on_change(self, listener: ChangeListener) -> Callable[[], None]:
        """Call `listener` with what has just changed, from within the event loop; return what ends that.

        `servers`: the state of an MCP server. `configuration`: whether the file can be used. `inputs`: which have no
        value. The others are what the office is told of as well; each change is told on its own, so a listener that
        does much should collect them.
        """
        return self._listeners.add(listener)

    def _tell(self, kind: UpdateKind) -> None:
        self._pushes.trigger(kind)
        if kind != "resources":  # each office is told of its own subscriptions
            for further in self._further:
                further.tell(kind)
        self._listeners.tell(kind)

    async def _apply(self, changes: ConfigDiff, config: ComputerConfig) -> None:
        if problems := await asyncio.to_thread(shaping_problems, config):
            raise invalid(self.settings.source, problems)
        for name in changes.removed:
            self.calls.history.forget(name)
            self._introduced.discard(name)
        self.inputs.configure(config.inputs, self.settings.format)
        self._consent.configure(config.servers)
        await self.servers.apply(config)
        self.box.configure(config.servers)
        if changes.config_changed:
            self._tell("config")
        if changes.tools_may_have_changed:
            self._tell("tool_list")

    def _server_changed(self) -> None:
        # Agents read the instructions of servers from the configuration.
        if self._instructed != (now := self._instructions()):
            self._instructed = now
            self._tell("config")

    def _tools_changed(self, server: SERVER_NAME | None = None) -> None:
        self._tell("tool_list")
        if server is not None and server not in self._introduced:
            # Agents of release 0.1 and 0.2 do not know `update_tool_list`, and would never see these tools.
            self._introduced.add(server)
            self._tell("config")

    async def _list_tools(self, _: str) -> None:
        # Before anybody asks: its owner is to know of names that clash, once for all servers that start together.
        await self.servers.settled()
        await self.box.tools()

    async def _save_consent(self, _: str) -> None:
        await self._consent.save(self.settings.file_servers)

    async def _push(self, kind: UpdateKind) -> None:
        await send_update(self._connected(), self.watches, kind)
        logger.debug("The office was told", extra={"update": kind})


def _file_of(config: ComputerConfig | ConfigFile | str | PathLike[str] | None) -> ConfigFile | None:
    if isinstance(config, ConfigFile):
        return config
    return None if config is None or isinstance(config, ComputerConfig) else ConfigFile(config)


class _ServerEvents:
    """Hears what happens at the MCP servers, and passes it on to the rooms it concerns."""

    def __init__(self, computer: Computer) -> None:
        self._computer = computer

    def tools_changed(self, server: SERVER_NAME) -> None:
        self._computer.box.tools_changed(server)
        self._computer._tools_changed(server)  # noqa: SLF001
        self._computer._listings.trigger("tools")  # noqa: SLF001

    def resources_changed(self, server: SERVER_NAME) -> None:
        self._computer.index.resources_changed(server)
        for watches in self._computer.all_watches.offices:
            watches.list_changed(server)

    def resource_updated(self, server: SERVER_NAME, uri: str) -> None:
        self._computer.index.resource_updated(server, uri)
        for watches in self._computer.all_watches.offices:
            watches.updated(server, uri)

    def status_changed(self, server: SERVER_NAME) -> None:
        self._computer.index.status_changed(server)
        for watches in self._computer.all_watches.offices:
            watches.status_changed(server)
        self._computer._listeners.tell("servers")  # noqa: SLF001
        self._computer._server_changed()  # noqa: SLF001
