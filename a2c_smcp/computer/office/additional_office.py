"""Additional offices of a Computer, and the updates that an office gets.

Every connection belongs to one office. All offices share the tools, windows and documents of the Computer; calls,
their progress and subscriptions belong to the Agent of one office.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from a2c_smcp.common.debounce import Debouncer
from a2c_smcp.computer.changes import UpdateKind
from a2c_smcp.computer.office.client import SMCPComputerClient
from a2c_smcp.computer.office.handlers import HANDLERS
from a2c_smcp.computer.ports import Json
from a2c_smcp.computer.resources.agent_subscriptions import AgentSubscriptions, AllSubscriptions
from a2c_smcp.computer.resources.reading import ResourceReader
from a2c_smcp.computer.tools.calls import ToolCalls
from a2c_smcp.errors import BadRequest
from a2c_smcp.smcp import GetComputerConfigRet, GetFinderRet, SMCPTool, ToolCallReq
from a2c_smcp.types import Desktop


class SharedComputer(Protocol):
    """The Computer, which all offices share."""

    name: str
    calls: ToolCalls
    resources: ResourceReader
    all_subscriptions: AllSubscriptions
    servers: Any

    async def tools(self) -> list[SMCPTool]:
        """Return the tools that may be called."""

    async def desktop(self, size: int | None, window: str | None) -> list[Desktop]:
        """Return the rendered windows."""

    async def finder(
        self, keywords: Sequence[str] | None, file_type: str | None, offset: int, limit: int
    ) -> GetFinderRet:
        """Return a page of the catalogue of documents."""

    def config(self) -> GetComputerConfigRet:
        """Return the configuration without secrets."""


async def send_update(client: SMCPComputerClient, subscriptions: AgentSubscriptions, kind: UpdateKind) -> None:
    """Announce a change to an office.

    Raises:
        SMCPError: It could not be sent; resource updates stay pending.
    """
    if kind != "resources":
        await client.emit_update(kind)
        return
    reports = subscriptions.take()
    while reports:
        try:
            await client.emit_update("resources", reports[0])
        except BaseException:
            subscriptions.restore(reports)
            raise
        del reports[0]


class AdditionalOffice:
    """A Computer's membership in an additional office, created by `Computer.serve_office`.

    Args:
        on_close: Called with this object once it is closed.
        options: Options of `SMCPComputerClient`.
    """

    def __init__(
        self,
        computer: SharedComputer,
        url: str,
        office_id: str,
        *,
        on_close: Callable[["AdditionalOffice"], None] = lambda _: None,
        **options: Any,
    ) -> None:
        self.office_id = office_id
        self.resources = computer.resources
        self._computer = computer
        self._on_close = on_close
        self._closed = False
        self.subscriptions = AgentSubscriptions(
            computer.servers,
            computer.resources.server_of,
            lambda: self.announce("resources"),
            computer.all_subscriptions,
        )
        self._pushes: Debouncer[UpdateKind] = Debouncer(self._push, held=True)
        self.client = SMCPComputerClient(
            self,
            url=url,
            name=computer.name,
            office_id=office_id,
            on_joined=lambda _: self._pushes.release(),
            on_lost=self._pushes.hold,
            **options,
        )

    def announce(self, kind: UpdateKind) -> None:
        """Announce a change to this office."""
        self._pushes.trigger(kind)

    async def close(self) -> None:
        """Leave the office. Replies to calls of its Agent are dropped."""
        if self._closed:
            return
        self._closed = True
        await self.client.close()
        await self._pushes.close()
        await self.subscriptions.end()
        await self.subscriptions.close()
        self._computer.calls.consent.same_as.pop(self.office_id, None)
        self._on_close(self)

    async def _push(self, kind: UpdateKind) -> None:
        await send_update(self.client, self.subscriptions, kind)

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
        """Cancel a call of this office's Agent; an unknown or finished one is ignored."""
        self._computer.calls.cancel(agent, req_id, office=self.office_id)

    def office_changed(self, office_id: str | None) -> None:
        """Do nothing: this object serves a single office."""

    # Services

    async def call_tool(self, request: ToolCallReq) -> Json:
        """Run a tool for the Agent of this office."""
        return await self._computer.calls.run(request, office=self.office_id)

    async def tools(self) -> list[SMCPTool]:
        """Return the tools of the Computer."""
        return await self._computer.tools()

    async def desktop(self, size: int | None, window: str | None) -> list[Desktop]:
        """Return the windows of the Computer."""
        return await self._computer.desktop(size, window)

    async def finder(
        self, keywords: Sequence[str] | None, file_type: str | None, offset: int, limit: int
    ) -> GetFinderRet:
        """Return a page of the Computer's catalogue."""
        return await self._computer.finder(keywords, file_type, offset, limit)

    def config(self) -> GetComputerConfigRet:
        """Return the configuration of the Computer."""
        return self._computer.config()
